package model

import (
	"fmt"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/reference/topic"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Compare returns in what two brokers acted otherwise in the same conversation,
// leaving out what the specification leaves to a server: how much is granted,
// how many copies of a message overlapping subscriptions bring, who of a share
// gets one, what is kept for a client that is away at QoS 0, and when a will
// comes. A difference is a question: the model has nothing against either.
func Compare(one, other *play.Log, prefix string) []Finding {
	if len(one.Conns) != len(other.Conns) {
		return nil
	}
	a, b := read(one), read(other)
	d := &difference{judgement: judgement{h: a, seen: map[string]bool{}}}
	for i := range a.conns {
		d.connection(a, b, a.conns[i], b.conns[i], prefix)
	}
	return d.findings
}

// difference collects differences.
type difference struct{ judgement }

func (d *difference) connection(a, b *history, x, y *conn, prefix string) {
	if x.connect == nil || y.connect == nil || x.muddled || y.muddled || x.id == "" {
		return
	}
	if (x.accepted < never) != (y.accepted < never) {
		if x.accepted == never && !turnedDown(x) || y.accepted == never && !turnedDown(y) {
			return // the player did not wait for the answer
		}
		if x.taint == never && y.taint == never && x.connect.ClientID != "" {
			d.find(x, 0, "connack", "CONNECT is accepted by one broker and refused by the other: %s, %s", accepted(x), accepted(y))
		} else if first := breach(a, x); first != "" {
			d.find(x, 0, "accepts-"+first, "a CONNECT that breaks the rules is accepted by one broker only: %s, %s", accepted(x), accepted(y))
		}
		return
	}
	if x.accepted == never {
		return
	}
	if x.taint < never || y.taint < never {
		if first := breach(a, x); first != "" && a.ends(x, b, y) && x.bye == never {
			d.find(x, 0, "reaction-"+first, "after a breach of the rules in %s the connection is %s by one broker, and %s by the other", strings.ToUpper(first), ending(x), ending(y))
		}
		return
	}
	if x.connack.SessionPresent() != y.connack.SessionPresent() && !a.tainted && !b.tainted {
		d.find(x, x.accepted, "session-present", "Session Present is %v at one broker and %v at the other", x.connack.SessionPresent(), y.connack.SessionPresent())
		return
	}
	if closed(x) != closed(y) {
		if !a.ends(x, b, y) {
			return
		}
		d.find(x, 0, "closed", "the connection is %s by one broker, and %s by the other", ending(x), ending(y))
		return
	}
	d.answers(x, y)
	d.messages(a, b, x, y, prefix)
}

// ends tells whether one of two brokers surely ended a connection and the other
// surely kept it: there the client got an answer at the end of the conversation.
// Where the client closes, the broker may have been about to.
func (a *history) ends(x *conn, b *history, y *conn) bool {
	return closed(x) && !closed(y) && b.stayed(y) || closed(y) && !closed(x) && a.stayed(x)
}

// turnedDown tells whether the broker did not take the CONNECT.
func turnedDown(c *conn) bool { return c.refused || closed(c) }

func accepted(c *conn) string {
	if c.accepted < never {
		return "accepted"
	}
	if len(c.requests) > 0 && c.requests[0].answered < never {
		return fmt.Sprintf("CONNACK 0x%02x", c.connack.Code)
	}
	return "no CONNACK"
}

// closed tells whether the broker ended the connection before the player did.
func closed(c *conn) bool { return c.ended < c.cut }

func ending(c *conn) string {
	if closed(c) {
		return "ended"
	}
	return "kept"
}

// breach names the first packet of a client that breaks the rules: its type and
// version.
func breach(h *history, c *conn) string {
	if c.taint >= len(h.log.Events) {
		return ""
	}
	e := h.log.Events[c.taint]
	if e.Kind != play.Sent || len(e.Bytes) == 0 {
		return ""
	}
	return strings.ToLower(wire.Type(e.Bytes[0] >> 4).String())
}

// answers compares the answers to requests: granted or refused.
func (d *difference) answers(x, y *conn) {
	if len(x.requests) != len(y.requests) {
		return
	}
	for i, r := range x.requests {
		q := y.requests[i]
		if r.kind != q.kind || r.answered == never || q.answered == never {
			continue
		}
		if one, other := refusals(r.answer), refusals(q.answer); one != other {
			kind := strings.ToLower(r.kind.String())
			d.find(x, r.answered, kind, "%s of one broker refuses %q, that of the other %q (each 1 is a refusal)", r.kind, one, other)
		}
	}
}

// refusals writes 1 for each thing that an answer refuses and 0 for the others.
func refusals(p wire.Packet) string {
	bit := func(refused bool) string {
		if refused {
			return "1"
		}
		return "0"
	}
	switch p := p.(type) {
	case wire.Ack:
		return bit(p.Code >= 0x80)
	case wire.Suback:
		text := ""
		for _, code := range p.Codes {
			text += bit(code >= 0x80)
		}
		return text
	case wire.Unsuback:
		text := ""
		for _, code := range p.Codes {
			text += bit(code >= 0x80)
		}
		return text
	}
	return ""
}

// messages compares which messages came, where both brokers granted the same and
// could not choose.
func (d *difference) messages(a, b *history, x, y *conn, prefix string) {
	if x.held || a.tainted || b.tainted || !a.stayed(x) || !b.stayed(y) || !plainGrants(a, b, x, y) {
		return
	}
	for _, m := range a.publications {
		if m.will || m.qos == 0 || !a.only(m) || !strings.HasPrefix(m.topic, prefix+"/") {
			continue
		}
		n := b.same(m)
		if n == nil || !a.certain(x, m) || !b.certain(y, n) {
			continue
		}
		if _, expires := m.properties.First(wire.MessageExpiryInterval); expires {
			continue
		}
		if one, other := a.came(x, m), b.came(y, n); one != other {
			d.find(x, m.done, "message", "a message on %q at QoS %d comes at one broker only (at the first: %v)", m.topic, m.qos, one)
		}
	}
}

// same returns what the client published here where it published m to the other
// broker, or nil.
func (h *history) same(m *publication) *publication {
	for _, n := range h.publications {
		if n.conn.index == m.conn.index && !n.will && n.topic == m.topic && n.payload == m.payload {
			return n
		}
	}
	return nil
}

// certain tells whether it is sure what a client got of a message: the message was
// dealt with before the last fence of the client, and no subscription of the client
// that matches it was being made meanwhile. A retained message may be another one
// when a later subscription looks for it.
func (h *history) certain(c *conn, m *publication) bool {
	if m.done == never || c.fences[len(c.fences)-1] < m.done {
		return false
	}
	for _, s := range h.subs {
		if c.reuses(s.conn) && (m.retain || s.at < m.done) && s.granted > m.at && topic.Match(s.match, m.topic) {
			return false
		}
	}
	return true
}

// plainGrants tells whether the subscriptions of the client are the same at both
// brokers, at QoS 1 or 2, and none of them is shared.
func plainGrants(a, b *history, x, y *conn) bool {
	if len(a.subs) != len(b.subs) {
		return false
	}
	for i, s := range a.subs {
		t := b.subs[i]
		if !x.reuses(s.conn) && !y.reuses(t.conn) {
			continue
		}
		if s.shared || s.refused || t.refused || s.qos == 0 || t.qos == 0 || s.granted == never || t.granted == never || s.leaving < never {
			return false
		}
	}
	return x.connect.Properties.Number(wire.MaximumPacketSize, 0) == 0
}
