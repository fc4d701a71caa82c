package core

import (
	"cmp"
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// subscription is one Topic Filter of a Session with its options.
type subscription struct {
	session           *session
	filter            string // as the client wrote it, with $share
	match             string // what Topic Names are matched against
	qos               byte   // granted
	noLocal           bool
	retainAsPublished bool
	identifier        uint32 // 0 for none
	share             *share // nil for a subscription that is not shared
}

// subscribe carries out SUBSCRIBE: each filter in order, one SUBACK with one
// code for each. [v311/MQTT-3.8.4-1] [v311/MQTT-3.8.4-2] [v311/MQTT-3.8.4-4] [v311/MQTT-3.8.4-5]
// [v5/MQTT-3.8.4-1] [v5/MQTT-3.8.4-2] [v5/MQTT-3.8.4-5] [v5/MQTT-3.8.4-6]
func (s *Server) subscribe(c *conn, p *packet.Subscribe) {
	if len(p.Properties.SubscriptionIdentifiers) > 0 && !s.policy.SubscriptionIdentifiers {
		// [v5/3.2.2.3.12-subscription-id-not-supported]
		s.fail(c, packet.SubscriptionIdentifiersNotSupported, "Subscription Identifiers are not available")
		return
	}
	var identifier uint32
	if ids := p.Properties.SubscriptionIdentifiers; len(ids) > 0 {
		identifier = ids[0]
	}
	codes := make([]packet.ReasonCode, 0, len(p.Subscriptions))
	var welcome []*delivery
	for _, asked := range p.Subscriptions {
		code, retained := s.subscribeOne(c, asked, identifier)
		if c.ended {
			return
		}
		codes = append(codes, code)
		welcome = append(welcome, retained...)
	}
	// [v311/MQTT-3.9.3-1] [v5/MQTT-3.9.3-1]
	s.send(c, &packet.Suback{ID: s.rules.subackID(p.ID), Codes: s.rules.subackCodes(codes)})
	for _, d := range welcome {
		s.enqueue(c.session, d)
	}
}

// subscribeOne makes or replaces one subscription. It returns the code and the
// retained messages that are due.
func (s *Server) subscribeOne(c *conn, asked packet.Subscription, identifier uint32) (packet.ReasonCode, []*delivery) {
	se := c.session
	group, inner, shared, err := topic.ParseShared(asked.Filter)
	if !c.five() && (s.policy.Share311 == "plain" || err != nil) {
		// MQTT 3.1.1 knows no shared subscriptions: these are plain filters.
		group, inner, shared, err = "", asked.Filter, false, nil
	}
	if err == nil {
		err = topic.ValidFilter(inner)
	}
	if err != nil && !s.rules.takesBadFilter(asked.Filter) {
		return s.refuseFilter(c, packet.TopicFilterInvalid), nil // [v311/MQTT-4.7.1-2] [v5/MQTT-4.7.1-1]
	}
	if code, ok := s.allowed(c, asked, inner, shared); !ok {
		return s.refuseFilter(c, code), nil
	}
	if shared && asked.NoLocal && s.rules.refusesSharedNoLocal {
		s.fail(c, packet.ProtocolError, "No Local is set on a shared subscription") // [v5/MQTT-3.8.3-4]
		return 0, nil
	}
	sub := &subscription{
		session: se, filter: asked.Filter, match: inner,
		qos:     min(s.rules.grantedQoS(asked.QoS), byte(s.policy.MaximumQoS)), // [v5/3.8.4-lower-qos-granted]
		noLocal: asked.NoLocal, retainAsPublished: asked.RetainAsPublished, identifier: identifier,
	}
	if !c.five() {
		sub.qos = s.rules.grantedQoS(asked.QoS) // a limit on QoS is not known to MQTT 3.1.1
		if s.policy.GrantedQoS311 < 2 {
			sub.qos = min(sub.qos, byte(s.policy.GrantedQoS311)) // [v311/3.8.4-lower-qos]
		}
	}
	old := se.subs[asked.Filter]
	if old != nil {
		// [v311/MQTT-3.8.4-3] [v5/MQTT-3.8.4-3]
		if !s.rules.replaces {
			return packet.ReasonCode(old.qos), nil
		}
		s.removeSubscription(se, old)
	}
	s.addSubscription(se, sub, group, shared)
	if shared && s.rules.sharedGetsNoRetained { // [v5/3.8.4-no-retained-for-shared-new]
		return packet.ReasonCode(sub.qos), nil
	}
	return packet.ReasonCode(sub.qos), s.welcome(sub, asked.RetainHandling, old != nil)
}

// allowed tells whether the server offers what the filter asks for and the
// user may have it.
func (s *Server) allowed(c *conn, asked packet.Subscription, inner string, shared bool) (packet.ReasonCode, bool) {
	switch {
	case shared && !s.policy.Shared || shared && !c.five() && s.policy.Share311 == "refused":
		return packet.SharedSubscriptionsNotSupported, false // [v5/3.2.2.3.13-shared-not-supported]
	case hasWildcard(inner) && !s.policy.Wildcards && s.rules.enforcesWildcards:
		return packet.WildcardSubscriptionsNotSupported, false // [v311/MQTT-3.8.3-2] [v5/3.2.2.3.11-wildcard-not-supported]
	case c.session.user != nil && matchesAny(c.session.user.DeniedSubscribe, inner) && s.rules.enforcesPermissions:
		return packet.NotAuthorized, false
	}
	return 0, true
}

// refuseFilter returns the code for a filter that is not granted: MQTT 3.1.1
// has one only. [v311/MQTT-3.9.3-2] [v5/MQTT-3.9.3-2]
func (s *Server) refuseFilter(c *conn, code packet.ReasonCode) packet.ReasonCode {
	if c.five() {
		return code
	}
	return s.rules.failure
}

func hasWildcard(filter string) bool {
	return slices.ContainsFunc([]byte(filter), func(b byte) bool { return b == '#' || b == '+' })
}

// addSubscription enters a subscription.
func (s *Server) addSubscription(se *session, sub *subscription, group string, shared bool) {
	se.subs[sub.filter] = sub
	if shared {
		s.join(se, sub, group)
		return
	}
	s.subs.Add(s.rules.storedFilter(sub.match), se.id, sub)
}

// removeSubscription takes a subscription out. What is on its way already is
// completed. [v311/MQTT-3.10.4-3] [v5/MQTT-3.10.4-3]
func (s *Server) removeSubscription(se *session, sub *subscription) {
	if se.subs[sub.filter] == sub {
		delete(se.subs, sub.filter)
	}
	if sub.share != nil {
		s.leave(se, sub)
		return
	}
	s.subs.Remove(s.rules.storedFilter(sub.match), se.id)
}

// welcome returns the retained messages that a new subscription gets.
// [v311/MQTT-3.3.1-6] [v311/MQTT-3.3.1-8] [v5/MQTT-3.3.1-9] [v5/MQTT-3.3.1-10] [v5/MQTT-3.3.1-11] [v5/MQTT-3.8.4-4]
func (s *Server) welcome(sub *subscription, handling byte, existed bool) []*delivery {
	if !s.rules.sendsRetained(handling, existed) || !s.policy.Retain {
		return nil
	}
	var found []*message
	for _, m := range s.retained {
		if topic.Match(sub.match, m.topic) && !s.expired(m) {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *message) int { return cmp.Compare(a.serial, b.serial) })
	var list []*delivery
	for _, m := range s.rules.retainedFor(found) {
		d := &delivery{message: m, qos: s.rules.deliveredQoS(m.qos, sub.qos), retain: s.rules.welcomeRetain}
		if sub.identifier != 0 && s.rules.sendsSubscriptionIDs {
			d.subIDs = []uint32{sub.identifier}
		}
		list = append(list, d)
	}
	return list
}

// unsubscribe carries out UNSUBSCRIBE: each filter in order, compared
// character by character, and one UNSUBACK in any case.
// [v311/MQTT-3.10.4-1] [v311/MQTT-3.10.4-4] [v311/MQTT-3.10.4-5] [v311/MQTT-3.10.4-6]
// [v5/MQTT-3.10.4-1] [v5/MQTT-3.10.4-4] [v5/MQTT-3.10.4-5] [v5/MQTT-3.10.4-6]
func (s *Server) unsubscribe(c *conn, p *packet.Unsubscribe) {
	se := c.session
	codes := make([]packet.ReasonCode, 0, len(p.Filters)) // [v5/MQTT-3.11.3-1] [v5/MQTT-3.11.3-2]
	removed := false
	for _, filter := range s.rules.unsubscribed(p.Filters) {
		code := packet.NoSubscriptionExisted
		if sub := s.rules.findSubscription(se, filter); sub != nil {
			code, removed = packet.Success, true
			s.removeSubscription(se, sub) // [v311/MQTT-3.10.4-2] [v5/MQTT-3.10.4-2]
			if s.rules.unsubscribeDropsOpen {
				se.open = nil
			}
			if s.policy.UnsubscribeBuffered == "drop" {
				// [v311/3.10.4-buffered-messages] [v5/3.10.4-buffered-messages]
				se.queue = slices.DeleteFunc(se.queue, func(d *delivery) bool { return topic.Match(sub.match, d.message.topic) })
			}
		}
		codes = append(codes, code)
	}
	if removed || s.rules.answersUselessUnsubscribe {
		s.send(c, &packet.Unsuback{ID: s.rules.unsubackID(p.ID), Codes: codes})
	}
}
