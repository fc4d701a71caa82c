package wire

import (
	"bytes"
	"reflect"
	"strings"
	"unicode/utf8"
)

// asked is the version agreed on, as far as the first packet of the tester tells.
type asked byte

const (
	nothing asked = iota // no CONNECT was sent
	ours                 // a CONNECT with the name and level of the version
	foreign              // a CONNECT of another name or level, or with neither
)

// maxUnfinished bounds the sent bytes that are kept until their packet is whole.
const maxUnfinished = 4 << 20

// tester is what the tester has sent on the connection, as far as it matters
// for what the broker may send.
type tester struct {
	format  Version
	asked   asked
	broke   bool     // the tester broke a rule: what follows may be an odd answer
	left    bool     // the tester sent DISCONNECT
	lost    bool     // packet borders can no longer be told
	rest    []byte   // sent bytes that are no whole packet yet
	connect *Connect // the CONNECT whose limits hold

	published map[uint16]bool // identifiers of all PUBLISH at QoS 1 and 2
	let       map[uint16]bool // identifiers of all PUBREL
	requests  map[uint16][]request
	filters   map[string]bool // Topic Filters of all SUBSCRIBE
}

// request is a SUBSCRIBE or UNSUBSCRIBE that is not answered yet.
type request struct {
	packet  Type
	filters int
}

func newTester(v Version) tester {
	return tester{format: v, published: map[uint16]bool{}, let: map[uint16]bool{}, requests: map[uint16][]request{}, filters: map[string]bool{}}
}

// settle takes the oldest open request with the identifier away.
func (t *tester) settle(packet Type, id uint16) (filters int, ok bool) {
	list := t.requests[id]
	for i, q := range list {
		if q.packet == packet {
			t.requests[id] = append(list[:i:i], list[i+1:]...)
			return q.filters, true
		}
	}
	return 0, false
}

// sent learns from bytes that the tester sends, whole packets or not.
func (c *checker) sent(raw []byte) {
	if c.lost {
		return
	}
	b := raw
	if len(c.rest) > 0 {
		b = append(c.rest, raw...)
	}
	for {
		size, ok := FrameSize(b)
		if !ok && len(b) > 4 || len(b) > maxUnfinished && size > len(b) {
			c.lost, c.broke, c.rest = true, true, nil
			if c.asked == nothing {
				c.asked = foreign
			}
			return
		}
		if !ok || size > len(b) {
			c.rest = bytes.Clone(b)
			return
		}
		c.packet(b[:size])
		b = b[size:]
	}
}

// packet learns from one packet of the tester.
func (c *checker) packet(raw []byte) {
	n, used, _ := Varint(raw[1:])
	body := raw[1+used:]
	p, padded, err := decode(raw[0], body, c.format)
	padded = padded || used > varintSize(n)
	t := Type(raw[0] >> 4)
	legal := err == nil && !padded && (t == PUBLISH || raw[0]&0x0f == fixedFlags(t)) && !c.left
	if t == CONNECT {
		c.connecting(p, body, legal)
		return
	}
	if c.asked != ours {
		legal = false
	}
	if !c.learn(t, p, body) || !legal {
		c.broke = true
	}
}

// connecting learns from a CONNECT.
func (c *checker) connecting(p Packet, body []byte, legal bool) {
	connect, parsed := p.(Connect)
	if c.asked != nothing {
		// The second CONNECT of a connection: where it says something else, a
		// broker that lets it pass may keep to either.
		c.broke = true
		if c.connect != nil && !(parsed && reflect.DeepEqual(c.connect.Properties, connect.Properties)) {
			c.connect = nil
		}
		return
	}
	r := reader{b: body}
	name, level := r.string(), r.byte()
	if r.err != nil || name != "MQTT" || level != byte(c.format) {
		c.asked, c.broke = foreign, true
		return
	}
	c.asked = ours
	if !legal {
		c.broke = true
	}
	if parsed {
		c.connect = &connect
	}
}

// learn takes in a packet behind CONNECT and tells whether a client may send
// it there.
func (c *checker) learn(t Type, p Packet, body []byte) bool {
	switch p := p.(type) {
	case Publish:
		return c.publishing(p)
	case Ack:
		return c.acknowledging(p)
	case Subscribe:
		c.requests[p.ID] = append(c.requests[p.ID], request{SUBSCRIBE, len(p.Subscriptions)})
		for _, s := range p.Subscriptions {
			c.filters[s.Filter] = true
		}
		return p.ID != 0 && len(p.Subscriptions) > 0
	case Unsubscribe:
		c.requests[p.ID] = append(c.requests[p.ID], request{UNSUBSCRIBE, len(p.Filters)})
		return p.ID != 0 && len(p.Filters) > 0
	case Pingreq:
		return true
	case Disconnect:
		c.left = true
		return true
	case Auth:
		return c.format == V5
	case Frame:
		// A lenient broker may take a malformed acknowledgement for a good one.
		if ends := t == PUBACK || t == PUBREC || t == PUBCOMP; ends && len(body) >= 2 {
			delete(c.open, uint16(body[0])<<8|uint16(body[1]))
		}
	}
	return false
}

func (c *checker) publishing(p Publish) bool {
	if p.QoS > 0 {
		c.published[p.ID] = true
	}
	_, aliased := p.Properties.First(TopicAlias)
	return p.QoS < 3 && !(p.Dup && p.QoS == 0) && (p.QoS == 0 || p.ID != 0) && (p.Topic != "" || aliased) &&
		utf8.ValidString(p.Topic) && !strings.ContainsAny(p.Topic, "+#\x00")
}

// acknowledging frees the identifiers of deliveries, and tells whether the
// acknowledgement is in order.
func (c *checker) acknowledging(p Ack) bool {
	d, open := c.open[p.ID]
	switch p.Type {
	case PUBACK:
		delete(c.open, p.ID)
		return open && d.qos == 1
	case PUBREC:
		if p.Code >= 0x80 || d.qos == 1 {
			// An error ends the exchange [v5/MQTT-4.3.3-9].
			delete(c.open, p.ID)
		}
		return open && d.qos == 2
	case PUBCOMP:
		released := c.released[p.ID]
		delete(c.open, p.ID)
		delete(c.released, p.ID)
		return released
	default:
		c.let[p.ID] = true
		return p.ID != 0
	}
}
