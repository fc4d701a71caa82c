package core

import (
	"cmp"
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// delivery is a message on its way to one client.
type delivery struct {
	message  *message
	qos      byte
	retain   bool
	subIDs   []uint32
	share    *share // the shared subscription it came by, or nil
	id       uint16 // Packet Identifier once it is sent at QoS 1 or 2
	sent     bool
	released bool // PUBREC came: PUBREL is what is sent again
}

// match is what the subscriptions of one Session say of one message.
type match struct {
	session *session
	subs    []*subscription
}

// deliverAll adds a message to each Session with a matching subscription and
// returns how many there are. [v311/MQTT-3.3.2-3] [v5/MQTT-4.5.0-1]
func (s *Server) deliverAll(m *message) int {
	bySession := map[*session]*match{}
	var shared []*share
	s.subs.Match(s.rules.routedTopic(m.topic), func(_, _ string, sub *subscription) {
		if sub.share != nil {
			shared = append(shared, sub.share)
			return
		}
		x := bySession[sub.session]
		if x == nil {
			x = &match{session: sub.session}
			bySession[sub.session] = x
		}
		x.subs = append(x.subs, sub)
	})
	s.rules.matched(s, m, bySession)
	matches := make([]*match, 0, len(bySession))
	for _, x := range bySession {
		matches = append(matches, x)
	}
	slices.SortFunc(matches, func(a, b *match) int { return cmp.Compare(a.session.id, b.session.id) })
	takers := 0
	for _, x := range matches {
		if s.deliverTo(x, m) {
			takers++
		}
	}
	slices.SortFunc(shared, func(a, b *share) int { return cmp.Compare(a.filter, b.filter) })
	for _, sh := range slices.Compact(shared) {
		if s.deliverShared(sh, m) {
			takers++
		}
	}
	return takers
}

// deliverTo adds a message to one Session: one copy at the highest QoS of the
// matching subscriptions with all their identifiers, or a copy for each.
// [v311/MQTT-3.3.5-1] [v5/MQTT-3.3.4-2] [v5/MQTT-3.3.4-3] [v5/MQTT-3.3.4-4] [v5/MQTT-3.3.4-5]
func (s *Server) deliverTo(x *match, m *message) bool {
	subs := slices.DeleteFunc(x.subs, func(sub *subscription) bool {
		// [v5/MQTT-3.8.3-3]
		return sub.noLocal && m.publisher == x.session.id && s.rules.honoursNoLocal
	})
	if len(subs) == 0 {
		return false
	}
	slices.SortFunc(subs, func(a, b *subscription) int { return cmp.Compare(a.filter, b.filter) })
	if s.policy.Overlap == "each" {
		for _, sub := range subs {
			s.enqueue(x.session, s.liveDelivery(m, sub.qos, []*subscription{sub}))
		}
		return true
	}
	qos := subs[0].qos
	for _, sub := range subs {
		qos = s.rules.overlapQoS(qos, sub.qos)
	}
	for range s.rules.copies(m) {
		s.enqueue(x.session, s.liveDelivery(m, qos, subs))
	}
	return true
}

// liveDelivery makes the delivery of a message that has just been published.
func (s *Server) liveDelivery(m *message, granted byte, subs []*subscription) *delivery {
	d := &delivery{message: m, qos: s.rules.deliveredQoS(m.qos, granted)}
	for _, sub := range subs {
		// [v311/MQTT-3.3.1-9] [v5/MQTT-3.3.1-12] [v5/MQTT-3.3.1-13]
		if sub.retainAsPublished && m.retain && s.rules.honoursRetainAsPublished {
			d.retain = true
		}
		if sub.identifier != 0 && s.rules.sendsSubscriptionIDs {
			d.subIDs = append(d.subIDs, sub.identifier)
		}
	}
	d.retain = s.rules.liveRetain(m, d.retain)
	return d
}

// enqueue adds a delivery to a Session and sends what may be sent.
// [v311/MQTT-3.1.2-5] [v5/MQTT-4.5.0-1]
func (s *Server) enqueue(se *session, d *delivery) {
	away := se.conn == nil
	if away && d.qos == 0 && s.policy.QoS0Offline == "drop" {
		return // [v311/3.1.2.4-qos0-offline] [v5/4.1-qos0-offline-optional]
	}
	if away && !s.rules.storesOffline(d) || len(se.queue) >= maxQueue {
		return
	}
	se.queue = append(se.queue, d)
	s.flush(se)
}

// flush sends what a Session has queued, as far as the client's window is
// open; QoS 0 needs no window. [v5/MQTT-3.3.4-9] [v5/MQTT-4.9.0-1] [v5/MQTT-4.9.0-2] [v311/MQTT-4.6.0-6] [v5/MQTT-4.6.0-5]
func (s *Server) flush(se *session) {
	c := se.conn
	if c == nil || c.state != established || c.ended {
		return
	}
	waiting := se.queue[:0:0]
	for _, d := range s.rules.sendOrder(se.queue) {
		switch {
		case c.ended:
			waiting = append(waiting, d)
		case d.qos == 0:
			s.transmit(c, d)
		case len(se.open) >= c.receiveMax && s.rules.honoursReceiveMaximum:
			waiting = append(waiting, d)
		case s.expired(d.message):
		default:
			id, ok := s.freeID(se)
			if !ok {
				waiting = append(waiting, d)
				continue
			}
			d.id = id
			se.open = append(se.open, d)
			if !s.transmit(c, d) {
				// [v5/MQTT-3.1.2-25]: as if it had been sent
				se.open = slices.DeleteFunc(se.open, func(o *delivery) bool { return o == d })
			}
		}
	}
	se.queue = waiting
}

// transmit sends the PUBLISH of a delivery and reports whether it went out.
func (s *Server) transmit(c *conn, d *delivery) bool {
	m := d.message
	if s.expired(m) {
		return true
	}
	p := &packet.Publish{
		// [v311/MQTT-3.3.1-1] [v311/MQTT-3.3.1-2] [v311/MQTT-3.3.1-3] [v5/MQTT-3.3.1-1] [v5/MQTT-3.3.1-2] [v5/MQTT-3.3.1-3]
		Dup: s.rules.dup(d), QoS: d.qos, Retain: d.retain,
		Topic: s.rules.deliveredTopic(m.topic), ID: d.id, Payload: s.rules.deliveredPayload(m.payload),
	}
	if c.five() {
		p.Properties = s.rules.deliveredProperties(m.properties)
		p.Properties.SubscriptionIdentifiers = d.subIDs
		if m.expiry != nil {
			// [v5/MQTT-3.3.2-6]
			left := s.rules.expiryLeft(*m.expiry, s.sinceArrival(m))
			p.Properties.MessageExpiryInterval = &left
		}
		s.applyAlias(c, p)
	}
	d.sent = true
	return s.send(c, p)
}

// applyAlias replaces a Topic Name that the client has seen by a Topic Alias,
// within the client's maximum. [v5/MQTT-3.1.2-26] [v5/MQTT-3.1.2-27]
func (s *Server) applyAlias(c *conn, p *packet.Publish) {
	most := s.rules.aliasMaximum(c.aliasMax)
	if most == 0 || s.policy.OutgoingAliases == "never" {
		return
	}
	if c.aliasesOut == nil {
		c.aliasesOut = map[string]uint16{}
	}
	alias, known := c.aliasesOut[p.Topic]
	if !known {
		if len(c.aliasesOut) >= int(most) {
			return
		}
		alias = uint16(len(c.aliasesOut) + 1)
		// Only a packet that goes out makes the alias known to the client.
		p.Properties.TopicAlias = &alias
		if c.maxPacket > 0 && packet.Size(packet.V5, p) > int(c.maxPacket) {
			p.Properties.TopicAlias = nil
			return
		}
		c.aliasesOut[p.Topic] = alias
		return
	}
	p.Properties.TopicAlias = &alias
	p.Topic = ""
}

// resume sends again what is open, in its first order, and then what is
// queued. [v311/MQTT-4.4.0-1] [v311/MQTT-4.6.0-1] [v311/MQTT-4.6.0-6] [v5/MQTT-4.4.0-1] [v5/MQTT-4.6.0-1]
func (s *Server) resume(se *session) {
	c := se.conn
	for _, d := range s.rules.resendOrder(se.open) {
		switch {
		case c.ended || !s.rules.resends(d):
		case d.released:
			s.send(c, &packet.Ack{Kind: packet.PUBREL, ID: s.rules.resentID(d.id)})
		default:
			resent := *d
			resent.id = s.rules.resentID(d.id)
			s.transmit(c, &resent)
		}
	}
	s.flush(se)
}

// acknowledge carries out PUBACK, PUBREC, PUBREL and PUBCOMP.
func (s *Server) acknowledge(c *conn, p *packet.Ack) {
	se := c.session
	if p.Kind == packet.PUBREL {
		s.release(c, p.ID)
		return
	}
	i := slices.IndexFunc(se.open, func(d *delivery) bool { return d.id == p.ID })
	if i < 0 {
		if p.Kind == packet.PUBREC {
			s.unknownPubrec(c, p)
		}
		return // [v5/3.4-ack-unknown-identifier]
	}
	d := se.open[i]
	switch {
	case p.Kind == packet.PUBACK && d.qos == 1, p.Kind == packet.PUBCOMP && d.released:
		// [v311/MQTT-4.3.2-1] [v311/MQTT-4.3.3-1] [v5/MQTT-4.3.2-3] [v5/MQTT-4.3.3-6]
		s.finish(se, i)
	case p.Kind == packet.PUBREC && d.qos == 2 && c.five() && p.Code >= 0x80:
		s.finish(se, i) // [v5/MQTT-4.3.3-3] [v5/MQTT-4.8.2-6]
	case p.Kind == packet.PUBREC && d.qos == 2:
		// [v311/MQTT-4.3.3-1] [v311/MQTT-4.6.0-4] [v5/MQTT-4.3.3-4] [v5/MQTT-4.6.0-4]
		d.released = s.rules.remembersPubrec
		if s.rules.sendsPubrel {
			s.send(c, &packet.Ack{Kind: packet.PUBREL, ID: s.rules.releaseID(p.ID)})
		}
	default:
		// [v5/4.3-wrong-ack-type]
		s.fail(c, packet.ProtocolError, "this is not the acknowledgement that the exchange asks for")
	}
}

// unknownPubrec answers a PUBREC whose delivery is not known. [v5/4.4-pubrec-for-unknown]
func (s *Server) unknownPubrec(c *conn, p *packet.Ack) {
	if p.Code >= 0x80 {
		return
	}
	rel := &packet.Ack{Kind: packet.PUBREL, ID: p.ID}
	if c.five() {
		rel.Code = packet.PacketIdentifierNotFound
	}
	s.send(c, rel)
}

// finish ends an exchange and gives its place to what waits.
func (s *Server) finish(se *session, i int) {
	if !s.rules.finishes {
		return
	}
	se.open = slices.Delete(se.open, i, i+1)
	s.flush(se)
}
