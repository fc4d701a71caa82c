package generate

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// client is what the generator knows of one client: enough to send what is
// legal at the moment.
type client struct {
	index   int
	w       *writer
	version wire.Version
	state   State
	id      string
	filters []string
	open2   []uint16 // QoS 2 publications sent, PUBREL not
	freed   []uint16 // PUBREL sent
	nextID  uint16
	hold    bool
	quota   int            // QoS 1 and 2 publications since the last fence
	unacked []wire.Publish // those of them that are not known to be acknowledged
}

func (c *client) five() bool { return c.version == wire.V5 }

// open makes a connection and, mostly, sends CONNECT on it.
func (c *client) open() {
	w := c.w
	c.version = w.versions[w.IntN(len(w.versions))]
	c.reset()
	c.state = Fresh
	w.step(script.Step{Client: c.index, Op: script.Open, Version: c.version})
	if c.w.c.Broken == c.index && w.chance(15) {
		return // what comes first is not CONNECT
	}
	c.connect()
}

// reset forgets what ends with a connection.
func (c *client) reset() {
	c.open2, c.freed, c.hold, c.quota = nil, nil, false, 0
}

func (c *client) connect() {
	w := c.w
	p := wire.Connect{CleanStart: w.chance(50), KeepAlive: 600}
	// The Client Identifiers are four: take-over and resuming are common.
	owner := c.index
	if w.chance(15) {
		owner = w.IntN(4)
	}
	p.ClientID = w.c.Prefix + "-" + script.Name(owner)
	if w.chance(5) {
		p.ClientID, p.CleanStart = "", true
	}
	if p.CleanStart || p.ClientID != c.id {
		c.filters, c.unacked = nil, nil
	}
	c.id = p.ClientID
	if w.chance(25) {
		p.Will = &wire.Will{Topic: w.topic(), Payload: []byte(w.payload()), QoS: byte(w.IntN(3)), Retain: w.chance(30)}
	}
	if c.five() {
		p.Properties = c.connectProperties()
		if p.Will != nil && w.chance(20) {
			p.Will.Properties = wire.Properties{{ID: wire.WillDelayInterval, Int: 1}}
		}
	}
	c.send(p)
	c.state = Connected
	c.resend()
}

// resend sends what may not have been acknowledged again, as a client does that
// goes on with its Session.
func (c *client) resend() {
	again := c.unacked
	c.unacked = nil
	if len(again) == 0 || c.w.chance(20) {
		return
	}
	c.w.fence(c)
	for _, p := range again {
		p.Dup, p.Properties = true, nil
		c.quota++
		if p.QoS == 2 {
			c.open2 = append(c.open2, p.ID)
		}
		c.send(p)
	}
}

func (c *client) connectProperties() wire.Properties {
	w := c.w
	var ps wire.Properties
	if w.chance(60) {
		ps = append(ps, wire.Property{ID: wire.SessionExpiryInterval, Int: []uint32{0, 1, 60, 0xffffffff}[w.IntN(4)]})
	}
	if w.chance(20) {
		ps = append(ps, wire.Property{ID: wire.ReceiveMaximum, Int: []uint32{1, 2, 10, 65535}[w.IntN(4)]})
	}
	if w.chance(20) {
		ps = append(ps, wire.Property{ID: wire.TopicAliasMaximum, Int: []uint32{0, 1, 3}[w.IntN(3)]})
	}
	if w.chance(10) {
		ps = append(ps, wire.Property{ID: wire.MaximumPacketSize, Int: []uint32{64, 200, 1 << 20}[w.IntN(3)]})
	}
	if w.chance(10) {
		ps = append(ps, wire.Property{ID: wire.RequestProblemInformation, Int: uint32(w.IntN(2))})
	}
	if w.chance(10) {
		ps = append(ps, wire.Property{ID: wire.UserProperty, Pair: [2]string{"k", "v"}})
	}
	w.Shuffle(len(ps), func(i, j int) { ps[i], ps[j] = ps[j], ps[i] })
	return ps
}

// turn is one to three legal packets, or the end of the connection.
func (c *client) turn() {
	w := c.w
	if c.state == Closed {
		c.open()
		return
	}
	if c.state == Fresh {
		c.connect()
		return
	}
	if w.chance(8) {
		c.leave()
		return
	}
	for range 1 + w.pick(5, 3, 2) {
		c.legal()
		if c.state != Connected {
			return
		}
	}
}

// leave ends the connection in one of the ways that a client has.
func (c *client) leave() {
	w := c.w
	switch w.pick(4, 3, 3, 2) {
	case 0:
		d := wire.Disconnect{}
		if c.five() && w.chance(30) {
			d.Code = 0x04
		}
		c.send(d)
		w.step(script.Step{Client: c.index, Op: script.Finish})
		c.state = Closed
	case 1:
		w.step(script.Step{Client: c.index, Op: script.Finish})
		c.state = Closed
	case 2:
		w.step(script.Step{Client: c.index, Op: script.Reset})
		c.state = Closed
	default:
		c.open() // a second connection of the same program
	}
}

// legal sends one packet that a client may send now.
func (c *client) legal() {
	w := c.w
	switch w.pick(8, 4, 2, 2, 1, 1) {
	case 0:
		c.publish()
	case 1:
		c.subscribe()
	case 2:
		c.unsubscribe()
	case 3:
		c.release()
	case 4:
		c.send(wire.Pingreq{})
	default:
		if !c.hold {
			c.hold = true
			w.step(script.Step{Client: c.index, Op: script.Hold})
		}
	}
}

func (c *client) publish() {
	w := c.w
	p := wire.Publish{Topic: w.topic(), QoS: byte(w.IntN(3)), Retain: w.chance(15), Payload: w.payload()}
	if p.Retain && w.chance(30) {
		p.Payload = ""
	}
	if p.QoS > 0 {
		if c.quota++; c.quota > 8 {
			p.QoS = 0 // stays below what every server has to take
		} else {
			p.ID = c.freshID()
		}
	}
	if p.QoS == 2 {
		c.open2 = append(c.open2, p.ID)
	}
	if c.five() {
		p.Properties = c.publishProperties()
	}
	if p.QoS > 0 && len(p.Properties) == 0 && !p.Retain {
		c.unacked = append(c.unacked, p)
	}
	c.send(p)
}

func (c *client) publishProperties() wire.Properties {
	w := c.w
	var ps wire.Properties
	if w.chance(10) {
		ps = append(ps, wire.Property{ID: wire.MessageExpiryInterval, Int: 100})
	}
	if w.chance(10) {
		ps = append(ps, wire.Property{ID: wire.ContentType, Str: "text/plain"})
	}
	if w.chance(10) {
		ps = append(ps, wire.Property{ID: wire.ResponseTopic, Str: w.under("answer")}, wire.Property{ID: wire.CorrelationData, Bin: []byte{0, 1}})
	}
	for range w.pick(80, 10, 10) {
		ps = append(ps, wire.Property{ID: wire.UserProperty, Pair: [2]string{string(rune('j' + w.IntN(2))), string(rune('a' + w.IntN(26)))}})
	}
	return ps
}

func (c *client) subscribe() {
	w := c.w
	p := wire.Subscribe{ID: c.freshID()}
	for range 1 + w.pick(6, 2, 1) {
		s := wire.Subscription{Filter: w.filter(c.five()), QoS: byte(w.IntN(3))}
		if c.five() {
			s.NoLocal = !strings.HasPrefix(s.Filter, "$share/") && w.chance(10)
			s.RetainAsPublished = w.chance(20)
			s.RetainHandling = byte(w.pick(7, 2, 1))
		}
		if slices.ContainsFunc(p.Subscriptions, func(other wire.Subscription) bool { return other.Filter == s.Filter }) {
			continue
		}
		p.Subscriptions = append(p.Subscriptions, s)
		c.filters = append(c.filters, s.Filter)
	}
	if c.five() && w.chance(20) {
		p.Properties = wire.Properties{{ID: wire.SubscriptionIdentifier, Int: uint32(1 + w.IntN(3))}}
	}
	c.send(p)
}

func (c *client) unsubscribe() {
	w := c.w
	filter := w.filter(c.five())
	if len(c.filters) > 0 && w.chance(80) {
		i := w.IntN(len(c.filters))
		filter = c.filters[i]
		c.filters = slices.Delete(c.filters, i, i+1)
	}
	c.send(wire.Unsubscribe{ID: c.freshID(), Filters: []string{filter}})
}

// release goes on with a QoS 2 publication of the client. Its PUBREC must have
// come: the fence before sees to it.
func (c *client) release() {
	w := c.w
	if len(c.open2) == 0 {
		c.publish()
		return
	}
	w.fence(c)
	i := w.IntN(len(c.open2))
	id := c.open2[i]
	c.open2 = slices.Delete(c.open2, i, i+1)
	c.freed = append(c.freed, id)
	c.quota = max(0, c.quota-1)
	c.send(wire.Ack{Type: wire.PUBREL, ID: id})
}

func (c *client) freshID() uint16 {
	c.nextID++
	return c.nextID
}

// send writes a legal packet.
func (c *client) send(p wire.Packet) { c.write(wire.Bytes(c.version, p), Legal) }

// write writes bytes, now and then in pieces, and notes the cell.
func (c *client) write(b []byte, v Validity) {
	st := script.Step{Client: c.index, Op: script.Send, Bytes: b}
	if c.w.chance(3) {
		st.Split = c.w.split(len(b))
	}
	c.w.note(c, b, v)
	c.w.step(st)
}

// split is how many bytes of a packet are written at a time. Each piece takes a
// millisecond: a long packet is cut into a few.
func (w *writer) split(size int) int {
	if size <= 16 {
		return 1 + w.IntN(3)
	}
	return 1 + size/(2+w.IntN(3))
}
