package probe

import (
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Client is one network connection to the broker.
type Client struct {
	b    *Broker
	name string
	url  string
	conn *wire.Conn

	connect   wire.Connect // as sent
	accepted  bool         // a CONNACK with code 0 came
	ended     bool         // the tester ended the connection
	tail      []byte       // what was sent of a packet that is not complete
	nextID    uint16
	sentinels int
	asides    uint16            // subscriptions made for sentinels
	granted   map[string]byte   // by Topic Filter
	aliases   map[uint32]string // Topic Names
}

// Name returns the name that the client has in traces.
func (c *Client) Name() string { return c.name }

// ID returns the Client Identifier that the client sent.
func (c *Client) ID() string { return c.connect.ClientID }

// Granted returns the QoS that the broker granted for a filter.
func (c *Client) Granted(filter string) byte { return c.granted[filter] }

// Send writes packets, all in one write, and waits for no answer. A write
// that fails because the broker has closed is no fault: what follows shows it.
// A packet that asks for what the broker said in CONNACK that it does not offer
// ends the spec as unsupported; a spec that is about such packets sends them
// with Force.
func (c *Client) Send(packets ...wire.Packet) {
	ginkgo.GinkgoHelper()
	for _, p := range packets {
		c.honour(p)
	}
	c.Force(packets...)
}

// Force is Send also for what the broker said that it does not offer.
func (c *Client) Force(packets ...wire.Packet) {
	var all []byte
	for _, p := range packets {
		all = p.Append(all, c.b.Version)
		c.note(p)
	}
	c.frame(all)
	_ = c.conn.Send(packets...)
}

// SendBytes writes bytes as they are.
func (c *Client) SendBytes(raw ...[]byte) {
	var all []byte
	for _, r := range raw {
		all = append(all, r...)
	}
	c.noteBytes(c.frame(all))
	_ = c.conn.SendBytes(all)
}

// SendSplit writes the bytes n at a time.
func (c *Client) SendSplit(raw []byte, n int) {
	c.noteBytes(c.frame(raw))
	_ = c.conn.SendSplit(raw, n)
}

// frame follows the borders of what was sent, to know whether the broker is
// left in the middle of a packet, and returns the packets that are complete.
func (c *Client) frame(sent []byte) (whole [][]byte) {
	c.tail = append(c.tail, sent...)
	for {
		size, ok := wire.FrameSize(c.tail)
		if !ok || len(c.tail) < size {
			return whole
		}
		whole = append(whole, c.tail[:size])
		c.tail = c.tail[size:]
	}
}

// NextID returns a Packet Identifier that the client has not used yet.
func (c *Client) NextID() uint16 {
	c.nextID++
	if c.nextID == 0 {
		c.nextID = 1
	}
	return c.nextID
}

// Connack waits for the CONNACK that the set-up needs.
func (c *Client) Connack() wire.Connack {
	ginkgo.GinkgoHelper()
	return need[wire.Connack](c, wire.CONNACK)
}

// Subscribe subscribes and waits until the filter is granted at that QoS. A
// refusal or a lower grant is a freedom: the spec ends as unsupported.
func (c *Client) Subscribe(filter string, qos byte) *Client {
	ginkgo.GinkgoHelper()
	c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: filter, QoS: qos}}})
	return c
}

// SubscribeWith sends the SUBSCRIBE, with a Packet Identifier if it has none,
// and waits until every filter is granted as asked.
func (c *Client) SubscribeWith(p wire.Subscribe) wire.Suback {
	ginkgo.GinkgoHelper()
	return c.subscribe(p, false)
}

// identifierInUse is the code of a SUBACK that refuses no filter but the Packet
// Identifier. [v5/3.9.3-suback-code-91]
const identifierInUse = 0x91

// subscribe is SubscribeWith; a lower grant will do where that is said.
func (c *Client) subscribe(p wire.Subscribe, lower bool) wire.Suback {
	ginkgo.GinkgoHelper()
	if p.ID == 0 {
		p.ID = c.NextID()
	}
	c.grantable(p, lower)
	c.Send(p)
	ack := need[wire.Suback](c, wire.SUBACK)
	if len(ack.Codes) != len(p.Subscriptions) {
		Inconclusive("%s: SUBACK has %d codes for %d filters", c.name, len(ack.Codes), len(p.Subscriptions))
	}
	for i, code := range ack.Codes {
		s := p.Subscriptions[i]
		if code == identifierInUse {
			Inconclusive("%s: the broker refused the filter %q as if Packet Identifier %d were in use", c.name, s.Filter, p.ID)
		}
		if code >= 0x80 {
			Unsupported("the broker refused the filter %q with SUBACK code 0x%02x", s.Filter, code)
		}
		if code < s.QoS && !lower {
			Unsupported("the broker granted QoS %d where QoS %d was asked for (filter %q)", code, s.QoS, s.Filter)
		}
		c.granted[s.Filter] = code
	}
	return ack
}

// Unsubscribe unsubscribes and waits for the UNSUBACK.
func (c *Client) Unsubscribe(filters ...string) {
	ginkgo.GinkgoHelper()
	c.Send(wire.Unsubscribe{ID: c.NextID(), Filters: filters})
	need[wire.Unsuback](c, wire.UNSUBACK)
}

// Publish publishes and completes the exchange that the QoS asks for. A
// Packet Identifier is chosen if there is none.
func (c *Client) Publish(p wire.Publish) {
	ginkgo.GinkgoHelper()
	if p.QoS > 0 && p.ID == 0 {
		p.ID = c.NextID()
	}
	c.Send(p)
	switch p.QoS {
	case 1:
		c.acknowledged(wire.PUBACK, p.ID)
	case 2:
		c.acknowledged(wire.PUBREC, p.ID)
		c.Send(wire.Ack{Type: wire.PUBREL, ID: p.ID})
		c.acknowledged(wire.PUBCOMP, p.ID)
	}
}

// acknowledged waits for an acknowledgement of success; another identifier, or
// a refusal by code, ends the spec.
func (c *Client) acknowledged(t wire.Type, id uint16) {
	ginkgo.GinkgoHelper()
	ack := need[wire.Ack](c, t)
	if ack.ID != id {
		Inconclusive("%s: %s has Packet Identifier %d, not %d", c.name, t, ack.ID, id)
	}
	if ack.Code >= 0x80 {
		Inconclusive("%s: the broker refused the message: %s with code 0x%02x", c.name, t, ack.Code)
	}
}

// Ping makes a round trip that the set-up needs: the broker has handled all
// that the client sent before.
func (c *Client) Ping() {
	ginkgo.GinkgoHelper()
	c.Send(wire.Pingreq{})
	need[wire.Pingresp](c, wire.PINGRESP)
}

// Disconnect sends DISCONNECT and ends the network connection.
func (c *Client) Disconnect() { c.DisconnectWith(wire.Disconnect{}) }

// DisconnectWith is Disconnect with a packet of the caller.
func (c *Client) DisconnectWith(p wire.Disconnect) {
	c.Send(p)
	c.ended = true
	c.awaitEnd(c.b.Timeout)
	_ = c.conn.Close()
}

// Drop ends the network connection without a DISCONNECT and waits a moment
// until the broker has noticed as far as can be told from outside.
func (c *Client) Drop() {
	c.ended = true
	_ = c.conn.CloseWrite()
	c.awaitEnd(150 * time.Millisecond)
	_ = c.conn.Close()
}

// Reset ends the network connection with a reset (RST).
func (c *Client) Reset() {
	c.ended = true
	_ = c.conn.Reset()
}

// CloseWrite ends the sending half of the connection (FIN); the client still reads.
func (c *Client) CloseWrite() { _ = c.conn.CloseWrite() }

func (c *Client) awaitEnd(wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-c.conn.Done():
		return true
	case <-timer.C:
		ended, _, _ := c.conn.Ended()
		return ended
	}
}

// startDrain asks for a sign that the broker has nothing more to send.
func (c *Client) startDrain() {
	if ended, _, _ := c.conn.Ended(); !ended && !c.ended && c.accepted && len(c.tail) == 0 {
		_ = c.conn.Send(wire.Pingreq{})
	}
}

func (c *Client) finishDrain(deadline time.Time) {
	if ended, _, _ := c.conn.Ended(); !ended && !c.ended && c.accepted && len(c.tail) == 0 {
		c.conn.Take(deadline, func(r wire.Received) bool { return r.Type == wire.PINGRESP })
	}
}

// farewell ends the connection in good manners, so that no will is left.
func (c *Client) farewell() {
	if ended, _, _ := c.conn.Ended(); !ended && !c.ended && c.accepted && len(c.tail) == 0 {
		_ = c.conn.Send(wire.Disconnect{})
	}
	_ = c.conn.Close()
}

// Gone tells whether the connection has ended.
func (c *Client) Gone() bool {
	ended, _, _ := c.conn.Ended()
	return ended
}

// Partial returns how many bytes the broker has sent of a packet that is not
// complete.
func (c *Client) Partial() int { return c.conn.Partial() }
