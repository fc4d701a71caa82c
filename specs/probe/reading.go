package probe

import (
	"fmt"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Answer is what came of waiting for a packet: the packet, the end of the
// connection, or nothing.
type Answer struct {
	wire.Received
	Came   bool // a packet of the kind that was waited for
	Closed bool // the broker ended the connection first
	waited time.Duration
}

// GomegaString is how an Answer is shown in a failure.
func (a Answer) GomegaString() string {
	switch {
	case a.Came:
		return fmt.Sprint(a.Packet)
	case a.Closed:
		return "the connection was closed"
	default:
		return fmt.Sprintf("no such packet within %s", a.waited)
	}
}

// Answer waits for the next packet of one of the kinds, leaving all others for
// later reads. It asserts nothing: judge it with BeA, Came or its fields.
func (c *Client) Answer(kinds ...wire.Type) Answer {
	ginkgo.GinkgoHelper()
	return c.AnswerWhere(func(r wire.Received) bool { return true }, kinds...)
}

// AnswerWhere is Answer for packets that also satisfy a condition.
func (c *Client) AnswerWhere(match func(wire.Received) bool, kinds ...wire.Type) Answer {
	ginkgo.GinkgoHelper()
	c.b.spec.overdue()
	wait := c.b.Timeout
	short := !slices.ContainsFunc(kinds, func(k wire.Type) bool { return !c.b.Unseen[k.String()] })
	if short {
		wait = min(wait, unseenTimeout)
	}
	got, status := c.conn.Take(time.Now().Add(wait), func(r wire.Received) bool {
		return slices.Contains(kinds, r.Type) && match(r)
	})
	if status == wire.TimedOut && !short {
		c.lookRound()
		got, status = c.conn.Take(time.Now(), func(r wire.Received) bool {
			return slices.Contains(kinds, r.Type) && match(r)
		})
	}
	if status == wire.TimedOut {
		c.b.spec.expire(kinds)
		if short {
			Inconclusive("%s: no %s, and the broker has sent none in the whole run", c.name, kindNames(kinds))
		}
	}
	if ack, ok := got.Packet.(wire.Connack); ok && status == wire.Got {
		c.accepted = c.accepted || ack.Code == 0
	}
	return Answer{Received: got, Came: status == wire.Got, Closed: status == wire.Ended, waited: wait}
}

// Within is Answer with a wait of its own, for packets that only time brings
// or that need not come; when it expires nothing is counted against the broker.
func (c *Client) Within(wait time.Duration, kinds ...wire.Type) Answer {
	ginkgo.GinkgoHelper()
	return c.WithinWhere(wait, func(wire.Received) bool { return true }, kinds...)
}

// WithinWhere is Within for packets that also satisfy a condition.
func (c *Client) WithinWhere(wait time.Duration, match func(wire.Received) bool, kinds ...wire.Type) Answer {
	ginkgo.GinkgoHelper()
	c.b.spec.overdue()
	got, status := c.conn.Take(time.Now().Add(wait), func(r wire.Received) bool { return slices.Contains(kinds, r.Type) && match(r) })
	return Answer{Received: got, Came: status == wire.Got, Closed: status == wire.Ended, waited: wait}
}

// take is Within for the cleaner.
func (c *Client) take(wait time.Duration, kind wire.Type) {
	c.conn.Take(time.Now().Add(wait), func(r wire.Received) bool { return r.Type == kind })
}

// need waits for a packet that the set-up needs.
func need[P wire.Packet](c *Client, kind wire.Type) P {
	ginkgo.GinkgoHelper()
	a := c.Answer(kind)
	p, ok := a.Packet.(P)
	if !a.Came || !ok {
		Inconclusive("%s: the set-up needs %s, but %s", c.name, kind, a.GomegaString())
	}
	return p
}

// Awaits waits for a packet that the set-up needs.
func (c *Client) Awaits(kind wire.Type) Answer {
	ginkgo.GinkgoHelper()
	a := c.Answer(kind)
	if !a.Came {
		Inconclusive("%s: the set-up needs %s, but %s", c.name, kind, a.GomegaString())
	}
	return a
}

// Delivery waits for the next message and acknowledges it as its QoS asks.
func (c *Client) Delivery() wire.Publish {
	ginkgo.GinkgoHelper()
	p := c.Unacknowledged()
	c.Acknowledge(p)
	return p
}

// Unacknowledged waits for the next message and leaves it open.
func (c *Client) Unacknowledged() wire.Publish {
	ginkgo.GinkgoHelper()
	return need[wire.Publish](c, wire.PUBLISH)
}

// Arrival is Answer for the next message, which it acknowledges if it came.
func (c *Client) Arrival() Answer {
	ginkgo.GinkgoHelper()
	a := c.Answer(wire.PUBLISH)
	if p, ok := a.Packet.(wire.Publish); a.Came && ok {
		c.Acknowledge(p)
	}
	return a
}

// Acknowledge completes the exchange of a message that was delivered.
func (c *Client) Acknowledge(p wire.Publish) {
	ginkgo.GinkgoHelper()
	switch p.QoS {
	case 1:
		c.Send(wire.Ack{Type: wire.PUBACK, ID: p.ID})
	case 2:
		c.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})
		rel := c.AnswerWhere(func(r wire.Received) bool {
			a, ok := r.Packet.(wire.Ack)
			return ok && a.ID == p.ID
		}, wire.PUBREL)
		if !rel.Came {
			Inconclusive("%s: the set-up needs PUBREL, but %s", c.name, rel.GomegaString())
		}
		c.Send(wire.Ack{Type: wire.PUBCOMP, ID: p.ID})
	}
}

// DeliveredBefore returns the messages that the client gets before the
// sentinel does. To show that nothing was delivered, let the publisher send a
// sentinel after the message that must not arrive and expect an empty list: no
// waiting, and no false pass on a slow broker. A sentinel that does not come
// leaves the spec inconclusive.
func (c *Client) DeliveredBefore(s Sentinel) []wire.Publish {
	ginkgo.GinkgoHelper()
	s.send()
	c.settle()
	before := []wire.Publish{}
	for {
		a := c.Answer(wire.PUBLISH)
		p, ok := a.Packet.(wire.Publish)
		if !a.Came || !ok {
			Inconclusive("%s: the sentinel message did not arrive: %s", c.name, a.GomegaString())
		}
		c.Acknowledge(p)
		if p.Payload == s.payload {
			break
		}
		before = append(before, p)
	}
	if s.aside {
		c.Ping()
		for _, p := range c.Pending() {
			before = append(before, p)
			c.Acknowledge(p)
		}
	}
	return before
}

// Pending takes the messages that have already arrived.
func (c *Client) Pending() []wire.Publish {
	got := []wire.Publish{}
	for {
		r, status := c.conn.Take(time.Now(), func(r wire.Received) bool { return r.Type == wire.PUBLISH })
		if status != wire.Got {
			return got
		}
		if p, ok := r.Packet.(wire.Publish); ok {
			got = append(got, p)
		}
	}
}

// BeforePing makes a PINGREQ round trip and returns every packet that came
// before the PINGRESP: what the broker had to say to what was sent before. On
// a connection that ends instead it returns what came before the end.
func (c *Client) BeforePing() []wire.Received {
	ginkgo.GinkgoHelper()
	c.Send(wire.Pingreq{})
	c.settle()
	a := c.Answer(wire.PINGRESP)
	if !a.Came && !a.Closed {
		Inconclusive("%s: no PINGRESP within %s", c.name, a.waited)
	}
	before := []wire.Received{}
	for {
		r, status := c.conn.Take(time.Now(), func(r wire.Received) bool { return a.Closed || r.Seq < a.Seq })
		if status != wire.Got {
			return before
		}
		before = append(before, r)
	}
}

// History returns every packet that the broker has sent on the connection.
func (c *Client) History() []wire.Received { return c.conn.All() }

func (c *Client) settle() {
	if c.b.Settle > 0 {
		timer := time.NewTimer(c.b.Settle)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.conn.Done():
		}
	}
}

// Sentinel marks a point in the stream of messages.
type Sentinel struct {
	send    func()
	payload string
	aside   bool // on another topic than the message under test
}

// Sentinel prepares a message that c will publish after everything before it:
// on the same topic, at the same QoS and on a non-shared subscription it
// arrives last [v5/MQTT-4.6.0-5] [v311/MQTT-4.6.0-6].
func (c *Client) Sentinel(topic string, qos byte) Sentinel {
	c.sentinels++
	payload := fmt.Sprintf("sentinel-%s-%d", c.name, c.sentinels)
	return Sentinel{payload: payload, send: func() {
		ginkgo.GinkgoHelper()
		c.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: payload})
	}}
}

// asideIdentifiers is above the Packet Identifiers that deliveries to the client
// commonly have: some brokers refuse a SUBSCRIBE that has the identifier of one.
const asideIdentifiers = 60000

// SentinelAside prepares a sentinel for where the rule under test would stop
// one on the same topic: it goes to a further subscription of the receiver on
// a topic of its own, at QoS 1 where the broker has that, followed by a PINGREQ
// round trip. That is sound on a broker of one node; Settle gives several nodes
// time.
func (c *Client) SentinelAside(receiver *Client) Sentinel {
	ginkgo.GinkgoHelper()
	topic := c.b.Topic("sentinel")
	receiver.asides++
	id := asideIdentifiers + receiver.asides
	receiver.subscribe(wire.Subscribe{ID: id, Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}}, true)
	s := c.Sentinel(topic, min(1, c.MaximumQoS()))
	s.aside = true
	return s
}
