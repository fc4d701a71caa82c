package core

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// subscription is one Topic Filter of a Session with its options.
type subscription struct {
	session           *session // nil for the entry of a share
	filter            string   // as the client wrote it, with $share
	match             string   // what Topic Names are matched against
	qos               byte     // granted
	noLocal           bool
	retainAsPublished bool
	identifier        uint32 // 0 for none
	share             *share // nil for a subscription that is not shared
}

// subscribe carries out SUBSCRIBE: each filter in order, one SUBACK with one
// code for each. [v311/MQTT-3.8.4-1] [v311/MQTT-3.8.4-2] [v311/MQTT-3.8.4-4] [v311/MQTT-3.8.4-5]
// [v311/MQTT-2.3.1-7] [v5/MQTT-3.8.4-1] [v5/MQTT-3.8.4-2] [v5/MQTT-3.8.4-5] [v5/MQTT-3.8.4-6] [v5/MQTT-2.2.1-6]
func (s *Server) subscribe(c *conn, p *packet.Subscribe) {
	identifier, ok := s.identifierOf(c, p)
	if !ok {
		return
	}
	if s.inUse(c, p.ID) {
		s.send(c, &packet.Suback{ID: p.ID, Codes: slices.Repeat([]packet.ReasonCode{packet.PacketIdentifierInUse}, len(p.Subscriptions))})
		return
	}
	codes := make([]packet.ReasonCode, 0, len(p.Subscriptions))
	var fresh []*subscription
	for i, asked := range s.rules.subscribed(p.Subscriptions) {
		code, sub := s.subscribeOne(c, asked, s.rules.keptIdentifier(c.session, i, asked.Filter, identifier))
		if c.ended {
			return
		}
		codes = append(codes, code)
		if sub != nil {
			fresh = append(fresh, sub)
		}
	}
	if s.policy.Welcome == "before-suback" {
		s.greet(c.session, fresh) // [v311/3.8.4-publish-before-suback] [v5/3.8.4-publish-before-suback]
		fresh = nil
	}
	if s.rules.answersSubscribe(p) {
		// [v311/MQTT-3.9.3-1] [v5/MQTT-3.9.3-1]
		s.send(c, &packet.Suback{ID: s.rules.subackID(p.ID), Codes: s.rules.subackCodes(codes)})
	}
	if s.policy.Welcome == "later" {
		s.greetLater(c, fresh)
		return
	}
	s.greet(c.session, fresh)
}

// inUse tells whether an open publication of the client has the Packet
// Identifier, and the server refuses a request for that.
// [v5/2.2.1-identifier-set-shared] [v5/3.9.3-suback-code-91] [v5/3.11.3-unsuback-code-91]
func (s *Server) inUse(c *conn, id uint16) bool {
	return c.five() && c.session.pending[id] && s.policy.IdentifierInUse == "refused"
}

// identifierOf returns the Subscription Identifier of a SUBSCRIBE, which holds
// for all its filters; 0 for none. [v5/3.8.2.1.2-subscription-id-all-filters]
func (s *Server) identifierOf(c *conn, p *packet.Subscribe) (identifier uint32, ok bool) {
	ids := p.Properties.SubscriptionIdentifiers
	if len(ids) == 0 {
		return 0, true // also taken away from a subscription [v5/3.8.2.1.2-subscription-id-removed-by-resubscribe]
	}
	if !s.policy.SubscriptionIdentifiers && s.rules.enforcesIdentifiers {
		// [v5/3.2.2.3.12-subscription-id-not-supported]
		s.fail(c, packet.SubscriptionIdentifiersNotSupported, "Subscription Identifiers are not available")
		return 0, false
	}
	return ids[0], true
}

// subscribeOne makes or replaces one subscription. It returns the code and the
// subscription if retained messages are due to it.
func (s *Server) subscribeOne(c *conn, asked packet.Subscription, identifier uint32) (packet.ReasonCode, *subscription) {
	se := c.session
	name, inner, shared, err := s.rules.parsedShare(asked.Filter)
	if !c.five() && (s.policy.Share311 == "plain" || err != nil) {
		// MQTT 3.1.1 knows no shared subscriptions: these are plain filters.
		inner, shared, err = asked.Filter, false, nil
	}
	if proposed, ok := proposedForm(asked.Filter); ok && s.policy.ShareForms != "plain" {
		if s.policy.ShareForms == "refused" {
			return s.refuseFilter(c, packet.TopicFilterInvalid), nil
		}
		name, inner, shared = strings.TrimSuffix(asked.Filter, proposed), proposed, true
	}
	if err == nil {
		err = topic.ValidFilter(inner)
	}
	if err != nil && !s.rules.takesBadFilter(inner, err) {
		// [v311/MQTT-4.7.1-2] [v311/MQTT-4.7.1-3] [v5/MQTT-4.7.1-1] [v5/MQTT-4.7.1-2] [v5/MQTT-4.8.2-2]
		return s.refuseFilter(c, packet.TopicFilterInvalid), nil
	}
	if !s.offered(c, asked, inner, shared) {
		return s.refuseFilter(c, packet.ImplementationSpecificError), nil
	}
	if s.policy.DeniedSubscribe == "refused" && s.deniedTopic(se.user, inner) {
		return s.refuseFilter(c, packet.NotAuthorized), nil // [v311/4.7.3-selective-authorization] [v5/3.9.3-suback-code-87]
	}
	old := se.subs[asked.Filter]
	if old == nil && len(se.subs) >= maxSubscriptions {
		return s.refuseFilter(c, packet.QuotaExceeded), nil
	}
	sub := &subscription{
		session: se, filter: asked.Filter, match: inner, qos: s.grantedQoS(c, asked.QoS),
		noLocal: asked.NoLocal, retainAsPublished: asked.RetainAsPublished, identifier: identifier,
	}
	// [v311/MQTT-3.8.4-3] [v5/MQTT-3.8.4-3] [v5/4.8.1-one-subscription-per-filter]
	if old != nil && !s.rules.replaces(s, old, sub) {
		return packet.ReasonCode(sub.qos), s.due(old, asked.RetainHandling, true)
	}
	if old != nil {
		s.removeSubscription(se, old)
	}
	shareID := ""
	if shared {
		shareID = s.rules.shareID(name, inner)
	}
	s.addSubscription(se, sub, shareID)
	if shared && !c.five() {
		return packet.ReasonCode(sub.qos), s.due311(sub)
	}
	if shared && s.rules.sharedGetsNoRetained {
		// [v5/3.8.4-no-retained-for-shared-new] [v5/3.8.4-no-retained-for-shared-existing] [v5/4.8.2-no-retained]
		return packet.ReasonCode(sub.qos), nil
	}
	return packet.ReasonCode(sub.qos), s.due(sub, asked.RetainHandling, old != nil)
}

// grantedQoS returns the QoS of a subscription: what was asked for, or less.
// [v311/3.8.4-lower-qos] [v311/MQTT-3.8.4-5] [v5/3.8.4-lower-qos-granted] [v5/MQTT-3.2.2-10] [v5/MQTT-3.8.4-7]
func (s *Server) grantedQoS(c *conn, asked byte) byte {
	most := s.policy.GrantedQoS311 // a Maximum QoS is not known to MQTT 3.1.1
	if c.five() {
		most = min(s.policy.MaximumQoS, s.policy.GrantedQoS5)
	}
	return s.rules.grantedQoS(asked, min(asked, byte(most)))
}

// offered tells whether the server offers what a filter asks for. In MQTT 5.0
// what CONNACK said is not available is a Protocol Error, and so is No Local
// on a shared subscription: then the connection has ended.
func (s *Server) offered(c *conn, asked packet.Subscription, inner string, shared bool) bool {
	switch {
	case shared && !s.policy.Shared && c.five() && s.rules.enforcesShared:
		// [v5/3.2.2.3.13-shared-not-supported]
		s.fail(c, packet.SharedSubscriptionsNotSupported, "shared subscriptions are not available")
		return false
	case shared && asked.NoLocal && s.rules.refusesSharedNoLocal:
		// [v5/MQTT-3.8.3-4] [v5/3.8.3.1-no-local-shared]
		s.fail(c, packet.ProtocolError, "No Local is set on a shared subscription")
		return false
	case strings.ContainsAny(inner, "#+") && !s.policy.Wildcards && s.rules.enforcesWildcards:
		if c.five() {
			// [v5/3.2.2.3.11-wildcard-not-supported]
			s.fail(c, packet.WildcardSubscriptionsNotSupported, "wildcard subscriptions are not available")
		}
		return false // [v311/MQTT-3.8.3-2]
	}
	return !shared || c.five() || s.policy.Share311 != "refused"
}

// refuseFilter returns the code for a filter that is not granted: MQTT 3.1.1
// has one only. [v311/MQTT-3.9.3-2] [v5/MQTT-3.9.3-2]
func (s *Server) refuseFilter(c *conn, code packet.ReasonCode) packet.ReasonCode {
	switch {
	case !c.five():
		return s.rules.failure
	case s.policy.SubackRefusal == "0x80":
		return packet.UnspecifiedError
	case s.policy.SubackRefusal == "0x83":
		return packet.ImplementationSpecificError
	}
	return code
}

// addSubscription enters a subscription, for a share where that is named.
func (s *Server) addSubscription(se *session, sub *subscription, shareID string) {
	se.subs[sub.filter] = sub
	s.ledger.subscription(se, sub.filter)
	if shareID != "" {
		s.join(sub, shareID)
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
	s.ledger.subscription(se, sub.filter)
	if sub.share != nil {
		s.leave(sub)
		return
	}
	s.subs.Remove(s.rules.storedFilter(sub.match), se.id)
}

// unsubscribe carries out UNSUBSCRIBE: each filter in order, compared
// character by character, and one UNSUBACK in any case.
// [v311/MQTT-3.10.4-1] [v311/MQTT-3.10.4-4] [v311/MQTT-3.10.4-5] [v311/MQTT-3.10.4-6]
// [v5/MQTT-3.10.4-1] [v5/MQTT-3.10.4-4] [v5/MQTT-3.10.4-5] [v5/MQTT-3.10.4-6]
func (s *Server) unsubscribe(c *conn, p *packet.Unsubscribe) {
	if s.inUse(c, p.ID) {
		s.send(c, &packet.Unsuback{ID: p.ID, Codes: slices.Repeat([]packet.ReasonCode{packet.PacketIdentifierInUse}, len(p.Filters))})
		return
	}
	se := c.session
	codes := make([]packet.ReasonCode, 0, len(p.Filters)) // [v5/MQTT-3.11.3-1] [v5/MQTT-3.11.3-2]
	removed := false
	for _, filter := range s.rules.unsubscribed(p.Filters) {
		code := packet.NoSubscriptionExisted
		if s.policy.UnsubscribeInvalid == "refused" && topic.ValidFilter(filter) != nil {
			code = packet.TopicFilterInvalid // [v5/3.11.3-unsuback-code-8f]
		}
		for _, sub := range s.rules.findSubscriptions(se, filter) {
			code, removed = packet.Success, true
			s.removeSubscription(se, sub) // [v311/MQTT-3.10.4-2] [v5/MQTT-3.10.4-2]
			s.rules.unsubscribedFrom(se, sub)
			if s.policy.UnsubscribeBuffered == "drop" {
				se.dropQueued(sub)
			}
		}
		codes = append(codes, code)
	}
	if removed || s.rules.answersUselessUnsubscribe {
		s.send(c, &packet.Unsuback{ID: s.rules.unsubackID(p.ID), Codes: s.rules.unsubackCodes(codes)})
	}
}

// dropQueued takes out of the queue what came by a subscription that is gone
// and by no other. [v311/3.10.4-buffered-messages] [v5/3.10.4-buffered-messages]
func (se *session) dropQueued(gone *subscription) {
	for i := 0; i < len(se.queue); {
		name := se.queue[i].message.topic
		wanted := !topic.Match(gone.match, name)
		for _, sub := range se.subs {
			wanted = wanted || topic.Match(sub.match, name)
		}
		if wanted {
			i++
		} else {
			se.remove(i)
		}
	}
}
