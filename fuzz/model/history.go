// Package model judges what a broker sent in a conversation: whether the
// specification allows it, given what the clients sent. It looks back over the
// whole log and claims only what is sure: what a client sent has been dealt
// with at some time between its sending and the answer or the fence that was
// seen, and whatever the specification leaves to a server stays open.
package model

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// never is the place of an event that was not seen.
const never = int(^uint(0) >> 1)

// history is a log in the terms of the protocol. Places are indexes of events.
type history struct {
	log          *play.Log
	conns        []*conn
	subs         []*subscription
	publications []*publication
	tainted      bool // some client broke the rules
}

// conn is one connection.
type conn struct {
	index    int
	version  wire.Version
	opened   int
	connect  *wire.Connect // nil until one was sent
	asked    int           // place of the CONNECT
	accepted int           // place of the success CONNACK, or never
	refused  bool          // by a CONNACK with another code
	connack  wire.Connack
	taint    int  // from here on the client breaks rules: never if it does not
	bye      int  // place of the client's DISCONNECT
	quiet    bool // that asks for no will
	cut      int  // place of the end by the player
	ended    int  // place of the end by the broker
	held     bool // some connection of the client acknowledges nothing, and
	holds    bool // it is this one
	fences   []int
	requests []*request
	received []delivery
	before   *conn // the connection whose Session this one may resume
	muddled  bool  // the order of the connections of this client is not sure
	id       string
	framer   []byte
	partial  int // place of the beginning of framer
	largest  []sized
}

// request is a packet of the client that is answered.
type request struct {
	at       int
	kind     wire.Type // of the answer
	id       uint16
	codes    int      // that the answer has
	filters  []string // of UNSUBSCRIBE
	answered int
	answer   wire.Packet
}

// subscription is one filter of a SUBSCRIBE.
type subscription struct {
	conn    *conn
	at      int // SUBSCRIBE sent
	granted int // SUBACK seen with a grant, or never
	refused bool
	qos     byte // granted, or asked for while that is not known
	filter  string
	match   string
	shared  bool
	noLocal bool
	asIs    bool // Retain As Published
	handles byte
	ids     wire.Properties
	leaving int // UNSUBSCRIBE sent
	left    int // UNSUBACK seen
	again   bool
}

// publication is one PUBLISH of a client, or a will.
type publication struct {
	conn       *conn
	at         int
	done       int // surely dealt with, and taken over
	topic      string
	payload    string
	qos        byte
	retain     bool
	will       bool
	properties wire.Properties
	size       int
	id         uint16 // Packet Identifier
	fresh      int    // times that it was sent again where it may count as new
}

// delivery is a PUBLISH of the broker.
type delivery struct {
	at      int
	packet  wire.Publish
	topic   string // with the Topic Alias resolved
	unknown bool   // by an alias that was never set
}

// read makes a history of a log.
func read(log *play.Log) *history {
	h := &history{log: log}
	for i, c := range log.Conns {
		h.conns = append(h.conns, &conn{
			index: i, version: c.Version, accepted: never, taint: never, bye: never, cut: never, ended: never, opened: never, asked: never,
		})
	}
	aliases := make([]map[uint32]string, len(h.conns))
	for at, e := range log.Events {
		c := h.conns[e.Conn]
		switch e.Kind {
		case play.Opened:
			c.opened = at
		case play.Sent:
			h.sent(c, at, e)
		case play.Received:
			if aliases[e.Conn] == nil {
				aliases[e.Conn] = map[uint32]string{}
			}
			h.received(c, at, e.Packet, aliases[e.Conn])
		case play.Fenced:
			c.fences = append(c.fences, at)
		case play.Cut:
			c.cut = min(c.cut, at)
		case play.Ended:
			c.ended = min(c.ended, at)
		}
	}
	for _, st := range log.Script {
		for _, c := range h.conns {
			c.held = c.held || st.Op == script.Hold && st.Client == log.Conns[c.index].Client
		}
	}
	h.holding()
	for _, c := range h.conns {
		if len(c.framer) > 0 {
			h.taint(c, c.partial)
		}
	}
	h.announced()
	h.chain()
	return h
}

// holding notes which connections acknowledge nothing: of each client the latest
// that was open at the step.
func (h *history) holding() {
	for i, st := range h.log.Script {
		if st.Op != script.Hold {
			continue
		}
		var latest *conn
		for _, c := range h.conns {
			if c.opened < never && h.log.Conns[c.index].Client == st.Client && h.log.Events[c.opened].Step < i {
				latest = c
			}
		}
		if latest != nil {
			latest.holds = true
		}
	}
}

// taint notes that the client has broken a rule: what it sends from then on
// may be dealt with or not, and nothing is due to it.
func (h *history) taint(c *conn, at int) {
	c.taint = min(c.taint, at)
	h.tainted = true
}

// sent takes what was written on a connection apart into packets.
func (h *history) sent(c *conn, at int, e play.Event) {
	if len(c.framer) == 0 {
		c.partial = at
	}
	c.framer = append(c.framer, e.Bytes...)
	for len(c.framer) > 0 {
		size, ok := wire.FrameSize(c.framer)
		if !ok || size > len(c.framer) {
			if len(c.framer) > 5 && !ok {
				h.taint(c, at)
			}
			return
		}
		h.packet(c, at, c.framer[:size])
		c.framer, c.partial = c.framer[size:], at
	}
}

// packet notes one packet of a client.
func (h *history) packet(c *conn, at int, raw []byte) {
	body := wire.Body(raw)
	d := packet.Decoder{Version: packet.Version(c.version), From: packet.FromClient}
	if _, err := d.Decode(raw[0], body); err != nil {
		h.taint(c, at)
	}
	if len(wire.WithBody(raw[:1:1], body)) != len(raw) {
		h.taint(c, at) // a Remaining Length longer than need be
	}
	p, _ := wire.Parse(raw[0], body, c.version)
	if _, first := p.(wire.Connect); first == (c.connect != nil) || c.bye < never {
		h.taint(c, at) // CONNECT comes first, and once, and nothing behind DISCONNECT
	}
	if odd(p) {
		h.taint(c, at)
	}
	switch p := p.(type) {
	case wire.Connect:
		h.connecting(c, at, p)
	case wire.Publish:
		h.publishing(c, at, p, len(raw))
	case wire.Subscribe:
		h.subscribing(c, at, p)
	case wire.Unsubscribe:
		h.unsubscribing(c, at, p)
	case wire.Ack:
		h.acknowledging(c, at, p)
	case wire.Disconnect:
		c.bye, c.quiet = at, p.Code == 0
		if c.connect != nil && p.Code == 0 {
			return
		}
	case wire.Pingreq:
		c.requests = append(c.requests, &request{at: at, kind: wire.PINGRESP, answered: never})
	case wire.Auth:
		h.taint(c, at)
	}
	c.largest = append(c.largest, sized{at, len(raw)})
}

func (h *history) connecting(c *conn, at int, p wire.Connect) {
	if c.connect != nil {
		return
	}
	c.connect, c.asked, c.id = &p, at, p.ClientID
	if p.Level != 0 && p.Level != byte(c.version) || p.Username != nil || p.Password != nil {
		h.taint(c, at)
	}
	if _, given := p.Properties.First(wire.AuthenticationMethod); given {
		h.taint(c, at)
	}
	c.requests = append(c.requests, &request{at: at, kind: wire.CONNACK, answered: never})
	if w := p.Will; w != nil {
		h.publications = append(h.publications, &publication{
			conn: c, at: at, done: never, topic: w.Topic, payload: string(w.Payload), qos: w.QoS, retain: w.Retain, will: true, properties: w.Properties,
		})
	}
}

func (h *history) publishing(c *conn, at int, p wire.Publish, size int) {
	if _, alias := p.Properties.First(wire.TopicAlias); alias {
		h.taint(c, at)
	}
	repeats := h.repeats(c, p)
	if p.QoS > 0 && (c.inUse(p.ID) || !repeats && h.inUse(c, p.ID)) || deep(p.Topic) {
		h.taint(c, at)
	}
	if !repeats {
		h.publications = append(h.publications, &publication{
			conn: c, at: at, done: never, topic: p.Topic, payload: p.Payload, qos: p.QoS, retain: p.Retain, properties: p.Properties, size: size, id: p.ID,
		})
	}
	switch p.QoS {
	case 1:
		c.requests = append(c.requests, &request{at: at, kind: wire.PUBACK, id: p.ID, answered: never})
	case 2:
		c.requests = append(c.requests, &request{at: at, kind: wire.PUBREC, id: p.ID, answered: never})
	}
}

// repeats tells whether a PUBLISH is an earlier one of the client, sent again on
// a new connection. At QoS 1, or where no Session was there, it counts as new.
func (h *history) repeats(c *conn, p wire.Publish) bool {
	if !p.Dup || p.QoS == 0 {
		return false
	}
	for _, m := range h.publications {
		if m.conn != c && !m.will && m.conn.connect != nil && c.connect != nil && m.conn.connect.ClientID == c.connect.ClientID && m.conn.connect.ClientID != "" &&
			m.id == p.ID && m.qos == p.QoS && m.topic == p.Topic && m.payload == p.Payload {
			if p.QoS == 1 || c.accepted == never || !c.connack.SessionPresent() {
				m.fresh++
			}
			return true
		}
	}
	return false
}

// announced taints clients that asked for what the broker said in CONNACK that
// it does not offer, also where they could not know it yet.
func (h *history) announced() {
	for _, c := range h.conns {
		limit := func(id wire.PropertyID, most uint32) uint32 { return c.connack.Properties.Number(id, most) }
		for _, p := range c.largest {
			if uint64(p.size) > uint64(limit(wire.MaximumPacketSize, 0xffffffff)) {
				h.taint(c, p.at)
			}
		}
		for _, m := range h.publications {
			if m.conn == c && (uint32(m.qos) > limit(wire.MaximumQoS, 2) || m.retain && limit(wire.RetainAvailable, 1) == 0) {
				h.taint(c, m.at)
			}
		}
		for _, s := range h.subs {
			if s.conn != c {
				continue
			}
			if s.shared && limit(wire.SharedSubscriptionAvailable, 1) == 0 ||
				strings.ContainsAny(s.match, "#+") && limit(wire.WildcardSubscriptionAvailable, 1) == 0 ||
				len(s.ids) > 0 && limit(wire.SubscriptionIdentifierAvailable, 1) == 0 {
				h.taint(c, s.at)
			}
		}
	}
}

// sized is the size of one packet sent.
type sized struct{ at, size int }

// inUse tells whether a Packet Identifier of the client awaits an answer.
func (c *conn) inUse(id uint16) bool {
	for _, r := range c.requests {
		if r.id == id && id != 0 && (r.answered == never || r.kind == wire.PUBREC && !c.released(id, r.at)) {
			return true
		}
	}
	return false
}

// inUse tells whether a Packet Identifier is in use in the Session of a connection,
// also by what a connection before has left open.
func (h *history) inUse(c *conn, id uint16) bool {
	for _, d := range h.conns {
		if d == c && d.inUse(id) || d != c && c.connect != nil && d.connect != nil && c.connect.ClientID != "" && d.id == c.id && d.leftOpen(id) {
			return true
		}
	}
	return false
}

// leftOpen tells whether a publication with the identifier was not completed.
func (c *conn) leftOpen(id uint16) bool {
	for _, r := range c.requests {
		if r.id == id && (r.kind == wire.PUBACK && r.answered == never || r.kind == wire.PUBREC && !c.released(id, r.at)) {
			return true
		}
	}
	return false
}

// released tells whether PUBREL and PUBCOMP have passed since.
func (c *conn) released(id uint16, since int) bool {
	for _, r := range c.requests {
		if r.kind == wire.PUBCOMP && r.id == id && r.at > since && r.answered < never {
			return true
		}
	}
	return false
}

// deep tells whether a topic has more levels than every server has to take: the
// specification knows no limit, and servers have one.
func deep(name string) bool { return strings.Count(name, "/") > 100 }

func (h *history) subscribing(c *conn, at int, p wire.Subscribe) {
	if h.inUse(c, p.ID) {
		h.taint(c, at)
	}
	c.requests = append(c.requests, &request{at: at, kind: wire.SUBACK, id: p.ID, codes: len(p.Subscriptions), answered: never})
	for _, s := range p.Subscriptions {
		inner, shared, bad := filter(s.Filter, c.version)
		if bad {
			h.taint(c, at)
		}
		sub := &subscription{
			conn: c, at: at, granted: never, qos: s.QoS, filter: s.Filter, match: inner, shared: shared,
			noLocal: s.NoLocal, asIs: s.RetainAsPublished, handles: s.RetainHandling, leaving: never, left: never,
			ids: p.Properties.Every(wire.SubscriptionIdentifier),
		}
		for _, old := range h.subs {
			sub.again = sub.again || old.conn.id == c.id && old.filter == s.Filter
		}
		h.subs = append(h.subs, sub)
	}
}

// filter takes a Topic Filter apart. It is bad if it is none, or if what it means is
// the server's choice.
func filter(text string, v wire.Version) (inner string, shared, bad bool) {
	if v != wire.V5 {
		return text, false, topic.ValidFilter(text) != nil || deep(text) || strings.HasPrefix(text, "$share")
	}
	_, inner, shared, err := topic.ParseShared(text)
	return inner, shared, err != nil || topic.ValidFilter(inner) != nil || deep(inner)
}

func (h *history) unsubscribing(c *conn, at int, p wire.Unsubscribe) {
	for _, f := range p.Filters {
		_, _, bad := filter(f, c.version)
		if bad {
			h.taint(c, at)
		}
	}
	if h.inUse(c, p.ID) {
		h.taint(c, at)
	}
	c.requests = append(c.requests, &request{at: at, kind: wire.UNSUBACK, id: p.ID, codes: len(p.Filters), filters: p.Filters, answered: never})
	for _, sub := range h.subs {
		for _, f := range p.Filters {
			if sub.conn.id == c.id && sub.filter == f {
				sub.leaving = min(sub.leaving, at)
			}
		}
	}
}

// acknowledging notes a PUBREL, which is answered; that other acknowledgements
// answer something is the business of the player, which sends them.
func (h *history) acknowledging(c *conn, at int, p wire.Ack) {
	if p.Type == wire.PUBREL {
		known := false
		for _, r := range c.requests {
			known = known || r.kind == wire.PUBREC && r.id == p.ID && r.answered < at
		}
		if !known {
			h.taint(c, at)
		}
		c.requests = append(c.requests, &request{at: at, kind: wire.PUBCOMP, id: p.ID, answered: never})
		return
	}
	if !h.log.Events[at].Auto {
		h.taint(c, at)
	}
}
