package model

import (
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/reference/topic"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// takeovers judges that a connection ends when its Client Identifier connects
// again [section 3.1.4].
func (h *history) takeovers(j *judgement) {
	for _, c := range h.conns {
		for _, later := range h.conns {
			if c.connect == nil || later.connect == nil || later == c || c.id != later.id || c.connect.ClientID == "" ||
				c.accepted == never || later.accepted == never || later.asked < c.accepted || c.taint < never || later.taint < later.accepted {
				continue
			}
			for _, fence := range c.fences {
				if h.asked(c, fence) > later.accepted {
					j.missing(c, fence, "takeover-ignored", "the connection is served although its Client Identifier has connected again")
					break
				}
			}
		}
	}
}

// asked is the place of the PINGREQ that a fence has answered.
func (h *history) asked(c *conn, fence int) int {
	for i := fence; i >= 0; i-- {
		if e := h.log.Events[i]; e.Conn == c.index && e.Kind == play.Sent && e.Auto && len(e.Bytes) == 2 && e.Bytes[0] == 0xc0 {
			return i
		}
	}
	return -1
}

// resumed judges what a client that goes on with its Session gets: what was due
// while it was away or came in between, and at QoS 2 nothing that it has
// acknowledged already [sections 3.1.2.4, 4.3 and 4.4].
func (h *history) resumed(j *judgement) {
	for _, c := range h.conns {
		old := c.before
		if old == nil || c.muddled || old.muddled || c.clean() || c.accepted == never || old.accepted == never || !c.connack.SessionPresent() ||
			old.version != c.version || old.lifetime() < 60 || h.careless(c.id) {
			continue
		}
		h.sentAgain(j, old, c)
		if old.held || c.held {
			continue // what is due depends on what it has acknowledged
		}
		for _, m := range h.publications {
			if m.will || m.conn.taint <= m.at || m.qos == 0 || !h.only(m) {
				continue
			}
			h.again(j, old, c, m)
			if _, expires := m.properties.First(wire.MessageExpiryInterval); expires || m.retain || m.done == never || m.done > c.fencedLast() {
				continue
			}
			if s := h.stored(old, c, m); s != nil && h.stayed(c) && !h.came(old, m) && !h.came(c, m) {
				j.missing(c, m.done, "lost-on-resume", "a message on %q at QoS %d, which %q at QoS %d of the Session matches, has not come", m.topic, m.qos, s.filter, s.qos)
			}
		}
	}
}

func (c *conn) fencedLast() int {
	if len(c.fences) == 0 {
		return -1
	}
	return c.fences[len(c.fences)-1]
}

// sentAgain judges that what a client got and did not acknowledge comes again on
// the connection on which it goes on with the Session [section 4.4].
func (h *history) sentAgain(j *judgement, old, c *conn) {
	if c.holds || !h.stayed(c) {
		return
	}
	for _, d := range old.received {
		if d.at > c.asked || d.packet.QoS == 0 || d.unknown || h.acknowledged(old, d) || h.mayVanish(c, d) {
			continue
		}
		again := false
		for _, e := range c.received {
			again = again || e.topic == d.topic && e.packet.Payload == d.packet.Payload
		}
		if !again {
			j.missing(c, c.fencedLast(), "not-sent-again", "a message on %q at QoS %d came, was not acknowledged, and does not come again in the Session", d.topic, d.packet.QoS)
		}
	}
}

// acknowledged tells whether the client has sent PUBACK or PUBREC for a delivery.
func (h *history) acknowledged(c *conn, d delivery) bool {
	for _, e := range h.log.Events[d.at:] {
		if e.Conn == c.index && e.Kind == play.Sent && len(e.Bytes) >= 4 && (wire.Type(e.Bytes[0]>>4) == wire.PUBACK || wire.Type(e.Bytes[0]>>4) == wire.PUBREC) &&
			uint16(e.Bytes[2])<<8|uint16(e.Bytes[3]) == d.packet.ID {
			return true
		}
	}
	return false
}

// mayVanish tells whether a delivery need not be made again: the message expires,
// or another member of a group may get it.
func (h *history) mayVanish(c *conn, d delivery) bool {
	for _, m := range h.publications {
		if _, expires := m.properties.First(wire.MessageExpiryInterval); expires && m.payload == d.packet.Payload {
			return true
		}
	}
	for _, s := range h.subs {
		if s.shared && s.conn.id == c.id && topic.Match(s.match, d.topic) {
			return true
		}
	}
	_, expires := d.packet.Properties.First(wire.MessageExpiryInterval)
	return expires
}

// careless tells whether some connection of the client has broken a rule, or
// takes small packets only.
func (h *history) careless(id string) bool {
	n := 0
	for _, c := range h.conns {
		if c.connect == nil || c.id != id {
			continue
		}
		n++
		if c.taint < never || c.connect.Properties.Number(wire.MaximumPacketSize, 0) > 0 {
			return true
		}
	}
	return n != 2 // the Session has these two connections, and no other
}

// stored returns the subscription of the old connection by which a message is
// surely due to the Session.
func (h *history) stored(old, c *conn, m *publication) *subscription {
	if h.ownKeptOut(c, m) {
		return nil
	}
	for _, s := range h.subs {
		if s.conn == old && s.granted < m.at && s.granted < old.over() && s.qos > 0 && s.leaving == never && !s.shared && !s.noLocal &&
			!h.repeated(s) && topic.Match(s.match, m.topic) {
			return s
		}
	}
	return nil
}

// repeated tells whether the filter of a subscription was asked for again, on
// any connection of the Session.
func (h *history) repeated(s *subscription) bool {
	for _, other := range h.subs {
		if other != s && other.conn.id == s.conn.id && other.filter == s.filter {
			return true
		}
	}
	return false
}

// again judges that a delivery at QoS 2 whose PUBREC the server has got does not
// come once more.
func (h *history) again(j *judgement, old, c *conn, m *publication) {
	matches := 0
	for _, s := range h.subs {
		if (s.conn == old || s.conn == c) && topic.Match(s.match, m.topic) {
			matches++
		}
	}
	if matches != 1 || m.retain {
		return
	}
	for _, d := range old.received {
		if d.packet.QoS != 2 || d.packet.Payload != m.payload || d.topic != m.topic || !h.settledBy(old, d) {
			continue
		}
		for _, e := range c.received {
			if e.packet.QoS == 2 && e.packet.Payload == m.payload && e.topic == m.topic {
				j.find(c, e.at, "qos2-again", "a message at QoS 2 comes again, and its PUBREC has been taken on the connection before")
			}
		}
	}
}

// settledBy tells whether the PUBREC of a delivery was surely dealt with while
// the connection was there.
func (h *history) settledBy(c *conn, d delivery) bool {
	for i := d.at; i < len(h.log.Events); i++ {
		e := h.log.Events[i]
		if e.Conn != c.index || e.Kind != play.Sent || len(e.Bytes) < 4 || wire.Type(e.Bytes[0]>>4) != wire.PUBREC ||
			uint16(e.Bytes[2])<<8|uint16(e.Bytes[3]) != d.packet.ID {
			continue
		}
		for _, fence := range c.fences {
			if h.asked(c, fence) > i {
				return true
			}
		}
		return false
	}
	return false
}

// leftWill judges that no will comes of a connection that ended with DISCONNECT
// [section 3.14.4].
func (h *history) leftWill(j *judgement, c *conn, d delivery, m *publication) {
	left := m.conn
	if d.packet.Retain { // it may be one of another playing
		return
	}
	if !m.will || left.bye == never || left.taint < never || !left.quiet || !h.alone(left) {
		return
	}
	j.find(c, d.at, "will-after-disconnect", "the will of a client that has left with DISCONNECT comes")
}
