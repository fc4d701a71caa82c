package model

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/topic"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// deliveries judges every message that a client got: that it was published so,
// and that a subscription of the client brought it.
func (h *history) deliveries(j *judgement, prefix string) {
	for _, c := range h.conns {
		if c.before == nil && c.connack.SessionPresent() {
			continue // the Session is not of this conversation
		}
		copies := map[*publication]int{}
		for _, d := range c.received {
			if d.unknown || !strings.HasPrefix(d.topic, prefix+"/") {
				continue // an alias is the business of the format rules; others talk as well
			}
			m := h.origin(j, c, d)
			if m == nil {
				continue
			}
			subs := h.candidates(c, d, m)
			if len(subs) == 0 {
				if !h.broken(c, d.at) { // a broken SUBSCRIBE may have been carried out in part
					j.find(c, d.at, "undue-delivery", "a message on %q, which no subscription of the client matches", d.topic)
				}
				continue
			}
			if !h.only(m) {
				continue // which of them it is cannot be told
			}
			h.flags(j, c, d, m, subs)
			h.leftWill(j, c, d, m)
			h.properties(j, c, d, m)
			if !d.packet.Dup {
				copies[m]++
			}
			h.count(j, c, d, m, subs, copies[m])
		}
	}
}

// broken tells whether a client of the Session had broken a rule before.
func (h *history) broken(c *conn, at int) bool {
	for _, x := range h.conns {
		if x.taint < at && c.reuses(x) {
			return true
		}
	}
	return false
}

// origin returns the publication that a delivery belongs to.
func (h *history) origin(j *judgement, c *conn, d delivery) *publication {
	var other *publication
	for _, m := range h.publications {
		if m.payload != d.packet.Payload || m.at > d.at {
			continue
		}
		if m.topic == d.topic {
			return m
		}
		other = m
	}
	switch {
	case h.tainted:
		// What a broker makes of a broken packet is not known.
	case other != nil && d.packet.Payload != "":
		j.find(c, d.at, "wrong-topic", "a message comes on %q that was published to %q", d.topic, other.topic)
	default:
		j.find(c, d.at, "unknown-message", "a message on %q that nobody has published so", d.topic)
	}
	return nil
}

// candidates are the subscriptions of the client's Session that may have
// brought the message.
func (h *history) candidates(c *conn, d delivery, m *publication) []*subscription {
	var list []*subscription
	for _, s := range h.subs {
		switch {
		case s.at > d.at || s.refused || !c.reuses(s.conn):
		case s.left < m.at && s.left < never && !m.retain:
		case s.left < m.at && s.left < never && m.retain && s.left < d.at && !h.later(s, d.at):
		case !topic.Match(s.match, d.topic):
		default:
			list = append(list, s)
		}
	}
	return list
}

// later tells whether the same filter was subscribed again by d.
func (h *history) later(s *subscription, at int) bool {
	for _, other := range h.subs {
		if other != s && other.conn.id == s.conn.id && other.filter == s.filter && other.at > s.left && other.at < at {
			return true
		}
	}
	return false
}

// flags judges QoS, RETAIN, DUP and No Local of a delivery [sections 3.3.1,
// 3.8.3 and 3.8.4].
func (h *history) flags(j *judgement, c *conn, d delivery, m *publication, subs []*subscription) {
	var most byte
	retains, local := m.retain, true
	for _, s := range subs {
		most = max(most, s.qos)
		local = local && s.noLocal
	}
	switch {
	case d.packet.QoS > min(m.qos, most):
		j.find(c, d.at, "qos-too-high", "a message published at QoS %d comes at QoS %d, granted is QoS %d", m.qos, d.packet.QoS, most)
	case d.packet.Retain && !retains:
		j.find(c, d.at, "retain-flag", "a message comes with RETAIN 1 that was published with RETAIN 0")
	case d.packet.Dup && d.packet.QoS == 0:
		j.find(c, d.at, "dup-qos0", "a message at QoS 0 comes with DUP 1")
	case d.packet.Dup && h.alone(c) && h.first(c, d):
		j.find(c, d.at, "dup-first", "the first delivery of a message has DUP 1")
	case local && !m.will && !d.packet.Retain && h.alone(m.conn) && m.conn.id == c.id && m.conn.id[0] != 0:
		j.find(c, d.at, "no-local", "the client gets its own message by a subscription with No Local")
	}
}

// first tells whether nothing came on the connection before under the same
// Packet Identifier.
func (h *history) first(c *conn, d delivery) bool {
	for _, other := range c.received {
		if other.at < d.at && other.packet.ID == d.packet.ID && other.packet.QoS > 0 {
			return false
		}
	}
	return true
}

// unaltered are the properties that travel with a message [section 3.3.2.3].
var unaltered = []wire.PropertyID{wire.PayloadFormatIndicator, wire.ContentType, wire.ResponseTopic, wire.CorrelationData, wire.UserProperty}

func (h *history) properties(j *judgement, c *conn, d delivery, m *publication) {
	if c.version != wire.V5 || m.conn.taint <= m.at {
		return
	}
	var sent wire.Properties
	if m.conn.version == wire.V5 {
		sent = m.properties
	}
	for _, id := range unaltered {
		if !equal(sent.Every(id), d.packet.Properties.Every(id)) {
			j.find(c, d.at, "property-"+strings.ReplaceAll(strings.ToLower(id.String()), " ", "-"), "%s of a message is not as it was published", id)
		}
	}
	before, had := sent.First(wire.MessageExpiryInterval)
	after, has := d.packet.Properties.First(wire.MessageExpiryInterval)
	if has && had && after.Int > before.Int {
		j.find(c, d.at, "property-message-expiry-interval", "the Message Expiry Interval of a message has grown")
	}
}

// only tells whether no other publication has the same topic and payload, as
// empty ones have.
func (h *history) only(m *publication) bool {
	for _, other := range h.publications {
		if other != m && other.payload == m.payload && other.topic == m.topic {
			return false
		}
	}
	return true
}

func equal(a, b wire.Properties) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Int != b[i].Int || a[i].Str != b[i].Str || string(a[i].Bin) != string(b[i].Bin) || a[i].Pair != b[i].Pair {
			return false
		}
	}
	return true
}

// count judges how many copies of a message come: at most one for each matching
// subscription, and one more for each time that the retained message was due.
// At QoS 1 more are permitted.
func (h *history) count(j *judgement, c *conn, d delivery, m *publication, subs []*subscription, copies int) {
	if m.conn.taint < never && m.at >= m.conn.taint {
		return
	}
	bound := len(subs)
	if m.retain {
		bound *= 2
	}
	bound *= 1 + m.fresh
	if m.will && !h.alone(m.conn) {
		bound *= 2 // each of several connections may have left one
	}
	switch {
	case d.packet.QoS == 1:
	case copies > bound:
		j.find(c, d.at, "too-many-copies", "%d copies of a message at QoS %d come, and %d subscriptions match", copies, d.packet.QoS, len(subs))
	case copies == 2 && !m.retain && len(subs) > 1:
		j.profile.saw("copies for overlapping subscriptions", "several")
	}
	if copies == 1 && len(subs) > 1 {
		j.profile.saw("messages that several subscriptions of a Session match", "seen")
	}
}

// losses judges that what was surely due has come [sections 4.3 and 4.5].
func (h *history) losses(j *judgement) {
	for _, c := range h.conns {
		if c.taint < never || c.held || !h.stayed(c) || !h.alone(c) || c.accepted == never {
			continue
		}
		if _, limited := c.connect.Properties.First(wire.MaximumPacketSize); limited {
			continue
		}
		for _, m := range h.publications {
			if s := h.due(c, m); s != nil && !h.came(c, m) {
				j.missing(c, m.done, "lost-message", "a message on %q at QoS %d, which %q at QoS %d matches, has not come", m.topic, m.qos, s.filter, s.qos)
			}
		}
	}
}

// stayed tells whether the connection was there, and fenced, until the end.
func (h *history) stayed(c *conn) bool {
	return len(c.fences) > 0 && h.log.Events[c.fences[len(c.fences)-1]].Step == len(h.log.Script)
}

// due returns a subscription by which the client surely has to get the message
// on this connection.
func (h *history) due(c *conn, m *publication) *subscription {
	if m.will || m.conn.taint <= m.at || m.done == never || m.qos == 0 || c.fences[len(c.fences)-1] < m.done {
		return nil
	}
	if _, expires := m.properties.First(wire.MessageExpiryInterval); expires {
		return nil
	}
	if h.ownKeptOut(c, m) {
		return nil
	}
	for _, s := range h.subs {
		if s.conn == c && s.granted < m.at && s.qos > 0 && s.leaving == never && !s.shared && !s.noLocal && !h.changed(s) && topic.Match(s.match, m.topic) {
			return s
		}
	}
	return nil
}

// ownKeptOut tells whether the message is the client's own, and some subscription
// with No Local matches it: by the words of section 3.8.3.1 the message may then
// stay away, although another subscription matches as well.
func (h *history) ownKeptOut(c *conn, m *publication) bool {
	for _, s := range h.subs {
		if s.noLocal && s.conn.id == c.id && m.conn.id == c.id && topic.Match(s.match, m.topic) {
			return true
		}
	}
	return false
}

// changed tells whether the subscription was asked for again: what it is now
// depends on which came last.
func (h *history) changed(s *subscription) bool {
	for _, other := range h.subs {
		if other != s && other.conn == s.conn && other.filter == s.filter {
			return true
		}
	}
	return false
}

func (h *history) came(c *conn, m *publication) bool {
	for _, d := range c.received {
		if d.topic == m.topic && d.packet.Payload == m.payload {
			return true
		}
	}
	return false
}
