package model

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// received notes one packet of the broker.
func (h *history) received(c *conn, at int, r wire.Received, aliases map[uint32]string) {
	switch p := r.Packet.(type) {
	case wire.Connack:
		h.answer(c, at, wire.CONNACK, 0, p)
		c.connack = p
		if p.Code != 0 {
			c.refused = true
			return
		}
		c.accepted = min(c.accepted, at)
		if id, given := p.Properties.First(wire.AssignedClientIdentifier); given && c.id == "" {
			c.id = id.Str
		}
	case wire.Publish:
		d := delivery{at: at, packet: p, topic: p.Topic}
		if a, given := p.Properties.First(wire.TopicAlias); given {
			if p.Topic != "" {
				aliases[a.Int] = p.Topic
			} else {
				d.topic, given = aliases[a.Int]
				d.unknown = !given
			}
		}
		c.received = append(c.received, d)
	case wire.Ack:
		if p.Type == wire.PUBREL {
			return
		}
		h.answer(c, at, p.Type, p.ID, p)
	case wire.Suback:
		h.answer(c, at, wire.SUBACK, p.ID, p)
	case wire.Unsuback:
		h.answer(c, at, wire.UNSUBACK, p.ID, p)
	case wire.Pingresp:
		h.answer(c, at, wire.PINGRESP, 0, p)
	}
}

// answer notes the answer to the oldest request that it fits.
func (h *history) answer(c *conn, at int, kind wire.Type, id uint16, p wire.Packet) {
	for _, r := range c.requests {
		if r.kind != kind || r.id != id || r.answered < never {
			continue
		}
		r.answered, r.answer = at, p
		switch p := p.(type) {
		case wire.Suback:
			h.granted(c, r.at, at, p.Codes)
		case wire.Unsuback:
			for _, sub := range h.subs {
				if sub.conn.id == c.id && sub.leaving == r.at && !refuses(p, r.filters, sub.filter) && (sub.conn == c || sub.granted < r.at) {
					sub.left = at
				}
			}
		case wire.Ack:
			h.settled(c, r, at, p)
		}
		return
	}
}

// refuses tells whether an UNSUBACK says that a subscription stays.
func refuses(p wire.Unsuback, filters []string, filter string) bool {
	i := slices.Index(filters, filter)
	return i >= 0 && i < len(p.Codes) && p.Codes[i] >= 0x80
}

func (h *history) granted(c *conn, asked, at int, codes []byte) {
	i := 0
	for _, sub := range h.subs {
		if sub.conn != c || sub.at != asked || i >= len(codes) {
			continue
		}
		if code := codes[i]; code < 0x80 {
			sub.granted, sub.qos = at, code
		} else {
			sub.refused = true
		}
		i++
	}
}

// settled notes that a publication has surely been taken over.
func (h *history) settled(c *conn, r *request, at int, p wire.Ack) {
	for _, m := range h.publications {
		if m.conn != c || m.will || p.Code >= 0x80 {
			continue
		}
		switch {
		case p.Type == wire.PUBACK && m.qos == 1 && m.at == r.at && m.id == p.ID:
			m.done = min(m.done, at)
		case p.Type == wire.PUBCOMP && m.qos == 2 && m.done == never && m.id == p.ID && m.at < r.at:
			m.done = at
		}
	}
}
