package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// flowControl holds the specs of section 4.9: how many QoS 1 and 2 messages
// are open at a time, in either direction.
func flowControl(b *probe.Broker, v version) {
	Describe("4.9 Flow control", func() {
		howManyAreOpen(b, v)
		if !v.is5() {
			return
		}
		sendQuota(b, v)
		quotaReturned(b, v)
		quotaReset(b, v)
		whileBlocked(b, v)
		serverReceiveMaximum(b, v)
	})
}

// howManyAreOpen observes the window of a server that nothing limits.
func howManyAreOpen(b *probe.Broker, v version) {
	keys := []string{"v311/4.3-window", "v5/3.1.2.11.3-receive-maximum-default"}
	It("leaves open what the client has announced no limit for", v.Observation(keys...), func() {
		const n = 100
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		numbered(b.Connect("pub"), topic, 1, n)

		sub.Unacknowledged()
		open := 1 + len(afterPing(sub))

		probe.Observe(v.key(keys...), "%d of %d deliveries are open at once", open, n)
	})
}

// narrow is a client with a Receive Maximum, and a witness without one whose
// deliveries tell that the broker has got round to passing messages on.
type narrow struct {
	*probe.Client
	b        *probe.Broker
	id       string
	topic    string
	pub      *probe.Client
	witness  *probe.Client
	messages int
}

// takesAtOnce connects a client that takes n deliveries at a time, with a
// persistent subscription at QoS 2.
func takesAtOnce(b *probe.Broker, n uint32) *narrow {
	GinkgoHelper()
	c := &narrow{b: b, id: b.ClientID(), topic: b.Topic()}
	c.Client = b.Connect("sub", probe.ID(c.id), probe.Persistent, receiveMaximum(n)).Subscribe(c.topic, 2)
	c.witness = b.Connect("witness").Subscribe(c.topic, 2)
	c.pub = b.Connect("pub")
	return c
}

func receiveMaximum(n uint32) probe.Option {
	return probe.Properties(wire.Property{ID: wire.ReceiveMaximum, Int: n})
}

// publish has messages published, one at each QoS given, up to their arrival at
// the witness.
func (c *narrow) publish(levels ...byte) {
	GinkgoHelper()
	for _, qos := range levels {
		c.pub.Publish(wire.Publish{Topic: c.topic, QoS: qos, Payload: fmt.Sprint(c.messages)})
		c.messages++
		c.witness.Delivery()
	}
}

// arrived waits for the next delivery and returns it with all that come up to a
// PINGRESP.
func (c *narrow) arrived() []wire.Publish {
	GinkgoHelper()
	return append([]wire.Publish{c.Unacknowledged()}, afterPing(c.Client)...)
}

// again drops the connection and resumes the Session with another Receive
// Maximum.
func (c *narrow) again(n uint32) {
	GinkgoHelper()
	c.Drop()
	c.Client = resumed(c.b, "again", c.id, receiveMaximum(n))
}

// follows asserts that quota which was given back is used. A broker that ends
// the connection instead is not judged.
func (c *narrow) follows(key, why string) wire.Publish {
	GinkgoHelper()
	a := c.Answer(wire.PUBLISH)
	if a.Closed {
		probe.Inconclusive("the broker ended the connection")
	}
	probe.For(key).Expect(a).To(probe.BeA(wire.PUBLISH), why)
	return a.Packet.(wire.Publish)
}

// expectWithin asserts that no more than so many deliveries are open while all
// messages are acknowledged, one after the other.
func (c *narrow) expectWithin(most uint32) {
	GinkgoHelper()
	open := []wire.Publish{}
	for range c.messages {
		if len(open) == 0 {
			open = append(open, c.Unacknowledged())
		}
		open = append(open, afterPing(c.Client)...)
		Expect(len(open)).To(BeNumerically("<=", most), "%d are open", len(open))
		c.Acknowledge(open[0])
		open = open[1:]
	}
}

// mixed returns n levels of QoS, 1 and 2 by turns.
func mixed(n uint32) []byte {
	levels := make([]byte, n)
	for i := range levels {
		levels[i] = 1 + byte(i%2)
	}
	return levels
}

func sendQuota(b *probe.Broker, v version) {
	for _, most := range []uint32{1, 3} {
		It(fmt.Sprintf("starts each connection with a send quota of at least 1 and at most the Receive Maximum, %d", most),
			v.Statement("v5/MQTT-4.9.0-1"), func() {
				sub := takesAtOnce(b, most)
				sub.publish(mixed(most + 3)...)
				Expect(sub.Answer(wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), "the quota is not 0")
				Expect(1+len(afterPing(sub.Client))).To(BeNumerically("<=", most), "no more come at first than the Receive Maximum")
				sub.again(most)
				Expect(len(sub.arrived())).To(BeNumerically("<=", most), "nor on the next connection")
			})
	}

	for _, qos := range []byte{1, 2} {
		It("sends nothing more at QoS 1 and 2 once the quota is used up by a delivery at QoS "+digit(qos), v.Statement("v5/MQTT-4.9.0-2"), func() {
			sub := takesAtOnce(b, 1)
			sub.publish(qos, 1, 2, qos)
			for range 4 {
				open := sub.Unacknowledged()
				Expect(afterPing(sub.Client)).To(BeEmpty(), "one is open, and the Receive Maximum is 1")
				sub.Acknowledge(open)
			}
		})
	}

	for _, most := range []uint32{1, 2, 10} {
		It(fmt.Sprintf("has never more deliveries open than the Receive Maximum, %d", most), v.Statement("v5/MQTT-3.3.4-9"), func() {
			sub := takesAtOnce(b, most)
			sub.publish(mixed(2*most + 3)...)
			sub.expectWithin(most)
		})
	}

	It("has never more deliveries open than the Receive Maximum of a Session that is resumed with a larger one", v.Statement("v5/MQTT-3.3.4-9"), func() {
		sub := takesAtOnce(b, 2)
		sub.publish(1, 1, 1, 1, 1, 1, 1, 1)
		sub.arrived()
		sub.again(3)
		sub.expectWithin(3)
	})

	It("counts a delivery at QoS 2 up to PUBCOMP", v.Statement("v5/MQTT-3.3.4-9", "v5/4.9-quota-pubrec-error"), func() {
		sub := takesAtOnce(b, 2)
		sub.publish(2, 2, 2, 2, 2)
		open := sub.arrived()
		for _, p := range open {
			sub.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})
			if !sub.Answer(wire.PUBREL).Came {
				probe.Inconclusive("no PUBREL in the set-up")
			}
		}

		open = append(open, afterPing(sub.Client)...)

		Expect(len(open)).To(BeNumerically("<=", 2), "PUBREC with a code below 0x80 gives no quota back")
	})
}

// quotaReturned is about the acknowledgements that give quota back.
func quotaReturned(b *probe.Broker, v version) {
	acks := "v5/4.9-quota-puback-error"
	It("gets quota back by PUBACK, whatever its code", v.Statement(acks), func() {
		sub := takesAtOnce(b, 1)
		codes := []byte{0x00, 0x80, 0x83, 0x97}
		sub.publish(1, 1, 1, 1, 1)
		open := sub.Unacknowledged()
		for _, code := range codes {
			sub.Send(wire.Ack{Type: wire.PUBACK, ID: open.ID, Code: code})
			open = sub.follows(acks, fmt.Sprintf("PUBACK 0x%02x lets the next one come", code))
		}
	})

	It("gets quota back by PUBCOMP, whatever its code", v.Statement(acks), func() {
		sub := takesAtOnce(b, 1)
		sub.publish(2, 2, 2)
		open := sub.Unacknowledged()
		for _, code := range []byte{0x00, 0x92} {
			sub.Send(wire.Ack{Type: wire.PUBREC, ID: open.ID})
			if !sub.Answer(wire.PUBREL).Came {
				probe.Inconclusive("no PUBREL in the set-up")
			}
			sub.Send(wire.Ack{Type: wire.PUBCOMP, ID: open.ID, Code: code})
			open = sub.follows(acks, fmt.Sprintf("PUBCOMP 0x%02x lets the next one come", code))
		}
	})

	recs := "v5/4.9-quota-pubrec-error"
	It("gets quota back by a PUBREC of 0x80 or above", v.Statement(recs, "v5/MQTT-3.3.4-9"), func() {
		sub := takesAtOnce(b, 1)
		sub.publish(2, 2, 2, 2)
		open := sub.Unacknowledged()
		for _, code := range []byte{0x80, 0x83, 0x97} {
			sub.Send(wire.Ack{Type: wire.PUBREC, ID: open.ID, Code: code})
			open = sub.follows(recs, fmt.Sprintf("PUBREC 0x%02x lets the next one come", code))
		}
		Expect(afterPing(sub.Client)).To(BeEmpty(), "one is open, and the Receive Maximum is 1")
	})

	most := "v5/4.9-quota-not-above-initial"
	It("gets no more quota by acknowledgements of what is settled", v.Statement(most), func() {
		sub := takesAtOnce(b, 1)
		sub.publish(1)
		settled := wire.Ack{Type: wire.PUBACK, ID: sub.Delivery().ID}
		sub.Ping()
		sub.Send(settled, settled, settled)
		if sub.BeforePing(); sub.Gone() {
			probe.Unsupported("the broker ends a connection with an acknowledgement of what is settled")
		}
		sub.publish(1, 2, 1)

		Expect(sub.arrived()).To(HaveLen(1), "the Receive Maximum is 1")
	})

	It("gets no more quota when a PUBREL that is sent again is answered", v.Statement(most), func() {
		sub := takesAtOnce(b, 1)
		sub.publish(2)
		id := sub.Unacknowledged().ID
		sub.Send(wire.Ack{Type: wire.PUBREC, ID: id})
		sub.Answer(wire.PUBREL)
		sub.again(1)
		if !sub.Answer(wire.PUBREL).Came {
			probe.Inconclusive("no PUBREL on the second connection")
		}
		sub.Send(wire.Ack{Type: wire.PUBCOMP, ID: id})
		sub.Ping()
		sub.publish(1, 2, 1)

		Expect(sub.arrived()).To(HaveLen(1), "the Receive Maximum is 1")
	})
}
