package core

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// match is what the subscriptions of one Session say of one message.
type match struct {
	session *session
	subs    []*subscription
}

// deliverAll adds a message to each Session with a matching subscription,
// connected or not, and returns how many there are.
// [v311/MQTT-3.3.2-3] [v311/MQTT-4.5.0-1] [v5/MQTT-3.3.2-3] [v5/MQTT-4.5.0-1]
// [v5/3.3.4-many-subscribers] [v5/4.8.1-own-copy] [v5/4.8.2-shared-and-plain] [v5/4.8.2-groups-independent]
func (s *Server) deliverAll(m *message) int {
	found := map[*session]*match{}
	var shared []*share
	s.subs.Match(s.rules.routedTopic(m.topic), func(_, _ string, sub *subscription) {
		if sub.session == nil {
			shared = append(shared, sub.share)
			return
		}
		add(found, sub)
	})
	s.rules.matched(s, m, found)
	matches := make([]*match, 0, len(found))
	for _, x := range found {
		matches = append(matches, x)
	}
	slices.SortFunc(matches, func(a, b *match) int { return cmp.Compare(a.session.id, b.session.id) })
	takers := 0
	for _, x := range matches {
		if s.deliverTo(x, m) {
			takers++
		}
	}
	slices.SortFunc(shared, func(a, b *share) int { return cmp.Compare(a.id, b.id) })
	for _, sh := range slices.Compact(shared) {
		if s.deliverShared(sh, m) {
			takers++
		}
	}
	return takers
}

func add(found map[*session]*match, sub *subscription) {
	x := found[sub.session]
	if x == nil {
		x = &match{session: sub.session}
		found[sub.session] = x
	}
	x.subs = append(x.subs, sub)
}

// deliverTo adds a message to one Session: one copy at the highest QoS of the
// matching subscriptions with all their identifiers, or by policy a copy for
// each. [v311/MQTT-3.3.5-1] [v311/3.3.5-extra-copies] [v5/MQTT-3.3.4-2] [v5/MQTT-3.3.4-3]
// [v5/MQTT-3.3.4-4] [v5/MQTT-3.3.4-5] [v5/3.3.4-extra-copies]
func (s *Server) deliverTo(x *match, m *message) bool {
	matching := len(x.subs)
	subs := slices.DeleteFunc(x.subs, func(sub *subscription) bool { return s.rules.local(sub, m) })
	if len(subs) == 0 || s.deniedTopic(x.session.user, m.topic) || len(subs) < matching && s.policy.NoLocalOverlap == "any" {
		return false
	}
	slices.SortFunc(subs, func(a, b *subscription) int { return cmp.Compare(a.filter, b.filter) })
	for _, some := range s.rules.overlapCopies(s.policy.Overlap == "each", subs) {
		qos := some[0].qos
		for _, sub := range some[1:] {
			qos = s.rules.overlapQoS(qos, sub.qos)
		}
		for range s.rules.copies(m) {
			d := s.liveDelivery(m, qos, some, subs)
			s.enqueue(x.session, d)
			if m.qos == 1 && d.qos == 0 && s.policy.DowngradedDuplicates == "yes" {
				s.enqueue(x.session, d) // [v311/3.8.4-duplicates-when-downgraded] [v5/3.8.4-duplicates-when-downgraded]
			}
		}
	}
	return true
}

// overlapCopies shares the matching subscriptions of a Session out among the
// copies of a message: one copy for all, or one for each.
func overlapCopies(each bool, subs []*subscription) [][]*subscription {
	if !each {
		return [][]*subscription{subs}
	}
	var copies [][]*subscription
	for i := range subs {
		copies = append(copies, subs[i:i+1])
	}
	return copies
}

// identifiers returns the Subscription Identifiers of subscriptions. Equal ones
// stand several times. [v5/3.3.4-subscription-id-same-value]
func identifiers(subs []*subscription) []uint32 {
	var ids []uint32
	for _, sub := range subs {
		if sub.identifier != 0 {
			ids = append(ids, sub.identifier)
		}
	}
	return ids
}

// local tells whether No Local keeps a message from a subscription: it
// compares Client Identifiers, not connections.
// [v5/MQTT-3.8.3-3] [v5/3.8.3.1-no-local-client-id-not-connection]
func local(sub *subscription, m *message) bool {
	return sub.noLocal && m.publisher == sub.session.id
}

// liveDelivery makes the delivery of a message that has just been published,
// because of some of all subscriptions of the client that match.
func (s *Server) liveDelivery(m *message, granted byte, subs, all []*subscription) *delivery {
	d := &delivery{message: m, subs: subs, subIDs: s.rules.identifiers(m, subs, all), qos: s.rules.deliveredQoS(m, granted)}
	for _, sub := range subs {
		// RETAIN is kept if one of the subscriptions wants it so.
		// [v311/MQTT-3.3.1-9] [v5/MQTT-3.3.1-12] [v5/MQTT-3.3.1-13]
		if sub.retainAsPublished && m.retain && s.rules.honoursRetainAsPublished {
			d.retain = true
		}
	}
	d.retain = s.rules.liveRetain(m, d.retain)
	return d
}

// enqueue adds a delivery to a Session and sends what may be sent.
// [v311/MQTT-3.1.2-5] [v5/MQTT-4.5.0-1]
func (s *Server) enqueue(se *session, d *delivery) {
	c := se.conn
	if c == nil && (d.qos == 0 && s.policy.QoS0Offline == "drop" || !s.rules.storesOffline(d)) {
		return // [v311/3.1.2.4-qos0-offline] [v5/4.1-qos0-offline-optional]
	}
	if d.qos == 0 && c != nil && c.state == established && se.queued0 == 0 && !s.holdsQoS0(c) {
		if d.share != nil {
			c.lastShared = d
		}
		if !c.slow && !s.transmit(c, d) {
			s.rules.discarded(s, c, d)
		}
		return
	}
	if se.push(d) {
		s.flush(se)
	}
}

// windowOpen tells whether the send quota of a connection is not used up.
func (c *conn) windowOpen() bool { return c.inFlight < c.quota }

// holdsQoS0 tells whether messages at QoS 0, which need no quota, wait for it
// all the same. [v5/4.9-qos0-while-blocked]
func (s *Server) holdsQoS0(c *conn) bool {
	return c.five() && !c.windowOpen() && s.policy.QoS0WhileBlocked == "hold"
}

// flush sends what a Session has to send again and what it has queued, in its
// order, as far as the client's window is open. Only PUBLISH waits for the
// window. [v5/MQTT-3.3.4-10] [v5/MQTT-4.9.0-3]
// [v5/MQTT-3.3.4-9] [v5/MQTT-4.9.0-1] [v5/MQTT-4.9.0-2] [v311/MQTT-4.6.0-5] [v311/MQTT-4.6.0-6]
// [v5/MQTT-4.6.0-5] [v5/MQTT-4.6.0-6]
func (s *Server) flush(se *session) {
	c := se.conn
	for c != nil && c.state == established && !c.ended && !c.slow && se.conn == c {
		open := c.windowOpen()
		if len(se.resend) > 0 {
			d := se.resend[0]
			if !open && s.rules.limitsResends && s.rules.honoursReceiveMaximum(d) {
				return
			}
			se.resend = se.resend[1:]
			if !d.finished {
				s.sendAgain(c, se, d)
			}
			continue
		}
		if len(se.queue) == 0 {
			return
		}
		i := s.rules.nextInQueue(se.queue)
		if last := len(se.queue) - 1; s.policy.ShareOrder == "latest-first" && se.queue[last].share != nil {
			i = last // [v5/4.6-shared-order]
		}
		d := se.queue[i]
		if d.qos > 0 && !open && s.rules.honoursReceiveMaximum(d) {
			return
		}
		se.remove(i)
		s.sendFirst(c, se, d)
	}
}

// sendFirst sends a delivery for the first time, if it is still wanted. One
// that is too large for the client counts as sent and done. [v5/MQTT-3.1.2-25]
func (s *Server) sendFirst(c *conn, se *session, d *delivery) {
	if s.expired(d.message) {
		return // [v5/MQTT-3.3.2-5]
	}
	if s.policy.PacketIDs == "lowest" {
		se.nextID = 0
	}
	if d.qos > 0 && !se.start(d, c, &s.rules) {
		return
	}
	if !s.transmit(c, d) {
		s.rules.discarded(s, c, d)
	}
}

// sendAgain repeats a PUBLISH under its Packet Identifier.
// [v311/MQTT-4.4.0-1] [v5/MQTT-4.4.0-1]
func (s *Server) sendAgain(c *conn, se *session, d *delivery) {
	d.takeQuota(c)
	s.rules.renumbers(&se.outbox, d)
	d.subIDs = s.resentIdentifiers(se, d)
	if !s.transmit(c, d) {
		s.rules.discarded(s, c, d)
	}
}

// transmit sends the PUBLISH of a delivery and reports whether it went out.
func (s *Server) transmit(c *conn, d *delivery) bool {
	p := s.publication(c, d)
	if c.five() {
		s.applyAlias(c, p)
	}
	stream := s.stream(d)
	d.sent = true
	return s.sendIn(c, p, stream)
}

// stream names the messages among which one keeps its place; without a name it is
// sent at once. At least those of one publisher on one topic at one QoS come in
// order, and so does what is sent again. [v311/MQTT-4.6.0-1] [v311/MQTT-4.6.0-6]
// [v5/MQTT-4.6.0-5]
func (s *Server) stream(d *delivery) string {
	switch m := d.message; {
	case d.sent, d.welcome && s.policy.Welcome == "later":
		return ""
	case s.policy.Overtaking == "by-topic":
		return m.topic
	case s.policy.Overtaking == "freely":
		return fmt.Sprintf("%s %d %s", m.topic, m.qos, m.publisher)
	}
	return ""
}

// publication is the PUBLISH of a delivery as the client gets it.
func (s *Server) publication(c *conn, d *delivery) *packet.Publish {
	m := d.message
	p := &packet.Publish{
		// [v311/MQTT-3.3.1-1] [v311/MQTT-3.3.1-2] [v311/MQTT-3.3.1-3] [v311/MQTT-4.3.1-1]
		// [v5/MQTT-3.3.1-1] [v5/MQTT-3.3.1-2] [v5/MQTT-3.3.1-3] [v5/MQTT-4.3.1-1]
		// [v5/MQTT-4.3.2-2] [v5/MQTT-4.3.3-2]
		Dup: s.rules.dup(d), QoS: d.qos, Retain: d.retain,
		Topic: s.rules.deliveredTopic(m.topic), ID: d.id, Payload: s.rules.deliveredPayload(m.payload),
	}
	if s.rules.hasProperties(c) {
		p.Properties = m.properties
		p.Properties.SubscriptionIdentifiers = d.subIDs
		if m.expiry != nil {
			// [v5/MQTT-3.3.2-6]
			left := s.rules.expiryLeft(*m.expiry, uint32(s.waited(m)/s.cfg.Second))
			p.Properties.MessageExpiryInterval = &left
		}
	}
	return p
}

// applyAlias replaces a Topic Name that the client has seen by a Topic Alias,
// within the client's maximum. An alias is known to the client once the
// packet with both has gone out.
// [v5/MQTT-3.1.2-26] [v5/MQTT-3.1.2-27] [v5/MQTT-3.3.2-8] [v5/MQTT-3.3.2-11]
func (s *Server) applyAlias(c *conn, p *packet.Publish) {
	most := s.rules.aliasesGiven(c.aliasMax)
	if most == 0 || s.policy.OutgoingAliases == "never" || s.policy.Overtaking != "never" {
		return
	}
	alias, known := c.aliasesOut[p.Topic]
	if known {
		p.Properties.TopicAlias = &alias
		p.Topic = ""
		return
	}
	if len(c.aliasesOut) >= int(most) {
		return
	}
	alias = s.rules.nextAlias(len(c.aliasesOut))
	p.Properties.TopicAlias = &alias
	if s.tooLarge(c, p) && s.rules.aliasesOnlySent {
		p.Properties.TopicAlias = nil
		return
	}
	c.aliasesOut[p.Topic] = alias
	s.rules.aliasGiven(c, alias, p.Topic)
}

// resentIdentifiers returns the Subscription Identifiers of a message that is
// sent again: those that it had, or by policy those that its subscriptions have
// by now. [v5/3.8.4-subscription-id-no-revert]
func (s *Server) resentIdentifiers(se *session, d *delivery) []uint32 {
	if s.policy.ResentIdentifiers == "current" {
		d.subIDs = current(se, d)
	}
	return s.rules.resentIdentifiers(se, d)
}

// current returns the identifiers that the subscriptions of a delivery have by now.
func current(se *session, d *delivery) []uint32 {
	var now []*subscription
	for _, sub := range d.subs {
		if sub = se.subs[sub.filter]; sub != nil {
			now = append(now, sub)
		}
	}
	return identifiers(now)
}
