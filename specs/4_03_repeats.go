package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// repeatedPublications holds the specs of section 4.3.3 on publications at QoS 2 that are
// repeated, interrupted or released late: what brokers most often get wrong.
func repeatedPublications(b *probe.Broker, v version) {
	Describe("4.3 QoS", func() {
		once := []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10"}
		It("2 knows a repetition on every later connection of the Session", v.Statement(once...), func() {
			id, topic := b.ClientID(), b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 2)
			open := wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: "once"}
			half(b, id, open)
			open.Dup = true
			for _, name := range []string{"second", "third", "fourth"} {
				c := resumed(b, name, id)
				c.Send(open)
				Expect(c.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("ID", open.ID)), "each repetition is answered with PUBREC")
				if name == "fourth" {
					c.Send(wire.Ack{Type: wire.PUBREL, ID: open.ID})
					c.Awaits(wire.PUBCOMP)
				}
				c.Drop()
			}
			Expect(collected(sub, b.Connect("pub").SentinelAside(sub), 1)).To(HaveExactElements(HaveField("Payload", "once")), "it is passed on once")
		})

		It("2 knows a repetition also after a while", Timing, v.Statement(once...), func() {
			id, topic := b.ClientID(), b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 2)
			open := wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: "once"}
			half(b, id, open)
			pass(b, 2)
			again := resumed(b, "again", id)
			open.Dup = true
			again.Send(open)
			Expect(again.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("ID", open.ID)), "the message is known")
			again.Send(wire.Ack{Type: wire.PUBREL, ID: open.ID})
			again.Awaits(wire.PUBCOMP)
			Expect(collected(sub, b.Connect("pub").SentinelAside(sub), 1)).To(HaveExactElements(HaveField("Payload", "once")), "it is passed on once")
		})

		if v.is5() {
			repeatedLive(b)
			manyOpen(b)
		}
		interrupted(b, v)
		releasedLater(b, v)
	})
}

// repeatedLive observes repetitions on a live connection, which MQTT 5.0
// forbids the client.
func repeatedLive(b *probe.Broker) {
	key := "v5/MQTT-4.3.3-10"
	It("2 may bear a client that repeats on a live connection", v5.Observation(key), func() {
		pub, topic := b.Connect("pub"), b.Topic()
		answered := 0
		for range 4 {
			pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 7, Dup: answered > 0, Payload: "once"})
			if a := pub.Answer(wire.PUBREC); !a.Came {
				break
			}
			answered++
		}
		probe.Observe(key, "of three repetitions on a live connection, which the client may not send, %d are answered", max(0, answered-1))
	})
}

// manyOpen opens many publications, within what the broker announced. Whether
// it takes so many is its own affair; the standing check of PUBREC judges with
// what code it refuses.
func manyOpen(b *probe.Broker) {
	key := "v5/3.4.2.1-puback-pubrec-code-00"
	It("2 that is open 150 times is answered as section 3.5 has it", v5.Statement(key), func() {
		b.Lacking("qos2")
		pub, topic := b.Connect("pub"), b.Topic()
		n := min(150, int(pub.Limit(wire.ReceiveMaximum, 65535)))
		for i := range n {
			pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: uint16(1 + i), Payload: "open"})
		}
		for range n {
			a := pub.Answer(wire.PUBREC)
			rec, ok := a.Packet.(wire.Ack)
			if !ok {
				probe.Unsupported("the broker takes fewer than %d open publications: %s", n, a.GomegaString())
			}
			Expect(rec.Code).NotTo(BeElementOf(byte(0x93), byte(0x96)), "a code of DISCONNECT has no place in PUBREC")
		}
	})
}

// interrupted is about a PUBLISH of which the server got but a part: the client
// sends it again, with DUP 1.
func interrupted(b *probe.Broker, v version) {
	for _, qos := range []byte{1, 2} {
		It(digit(qos)+" takes a message with DUP 1 that had not come whole before", v.Statement("v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1"), func() {
			id, topic := b.ClientID(), b.Topic()
			sub := b.Connect("sub").Subscribe(topic, qos)
			pub := b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(b.Topic("own"), 1) // a Session that holds something
			open := wire.Publish{Topic: topic, QoS: qos, ID: 7, Payload: "cut off at first"}
			whole := wire.Bytes(b.Version, open)
			pub.SendBytes(whole[:len(whole)-1])
			pub.Drop()

			open.Dup = true
			resumed(b, "again", id).Publish(open)

			Expect(collected(sub, b.Connect("pub").SentinelAside(sub), 1)).To(HaveExactElements(HaveField("Payload", open.Payload)), "it is passed on")
		})
	}
}

// releasedLater is about a message that is released on another connection than
// it was published on: some servers pass it on only then.
func releasedLater(b *probe.Broker, v version) {
	It("2 is kept when the client releases a message on its next connection", v.Statement("v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"), func() {
		id, topic := b.ClientID(), b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		half(b, id, wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: "released later"})
		again := resumed(b, "again", id)
		again.Send(wire.Ack{Type: wire.PUBREL, ID: 7})
		released(again)

		Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(And(HaveField("Payload", "released later"), HaveField("QoS", byte(2)))), "published at QoS 2, granted QoS 2")
	})

	It("2 leaves RETAIN 1 to a message that the client releases on its next connection", v.Statement("v311/MQTT-3.3.1-5", "v5/MQTT-3.3.1-5"), func() {
		b.Lacking("retain")
		id, topic := b.ClientID(), b.Topic()
		looks := onlooker(b, topic)
		half(b, id, wire.Publish{Topic: topic, QoS: 2, ID: 7, Retain: true, Payload: "retained later"})
		again := resumed(b, "again", id)
		again.Send(wire.Ack{Type: wire.PUBREL, ID: 7})
		released(again)
		sees(b, looks, "retained later")
		findable(b, topic, "retained later")

		Expect(b.Connect("later").Subscribe(topic, 1).Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "retained later")), "it is retained")
	})
}

// released waits until the server has taken note that a message is released.
func released(c *probe.Client) {
	GinkgoHelper()
	if comp, ok := c.Awaits(wire.PUBCOMP).Packet.(wire.Ack); ok && comp.Code >= 0x80 {
		probe.Inconclusive("the set-up needs a message that the server knows, but PUBCOMP has code 0x%02x", comp.Code)
	}
}

// reconnecting holds the specs on Sessions that are resumed again and again,
// or while messages come.
func reconnecting(b *probe.Broker, v version) {
	Describe("4.4 Redelivery", func() {
		It("of all that is open happens on each connection", v.Statement("v311/MQTT-4.4.0-1", "v5/MQTT-4.4.0-1"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, 2)
			pub := b.Connect("pub")
			for i, qos := range []byte{1, 2, 1} {
				pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: fmt.Sprint(i)})
			}
			open := payloads(append([]wire.Publish{sub.Unacknowledged()}, afterPing(sub)...))
			for _, name := range []string{"second", "third", "fourth"} {
				sub.Drop()
				sub = resume(name)
				for _, payload := range open {
					Expect(sub.AnswerWhere(hasPayload(payload), wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), "what is open comes on the %s connection", name)
				}
			}
		})

		taken := []string{"v311/MQTT-3.1.2-4", "v5/MQTT-4.4.0-1"}
		It("happens when a connection is taken over, and nothing that waited is lost", v.Statement(taken...), func() {
			id, topic := b.ClientID(), b.Topic()
			b.Connect("sub", probe.ID(id), probe.Persistent).Subscribe(topic, 1)
			pub := b.Connect("pub")
			numbered(pub, topic, 1, 20)
			resumed(b, "over", id)
			numbered(pub, topic, 1, 5)
			over := resumed(b, "over again", id)

			Expect(distinct(over, pub.Sentinel(topic, 1), 20)).To(HaveLen(20), "each message comes to the connection that took over")
		})
	})

	Describe("4.6 Message ordering", func() {
		key := v.key("v311/MQTT-4.6.0-1", "v5/4.6-server-resend-order")
		It("has what was open before what came later", v.Statement("v311/MQTT-4.6.0-1", "v5/4.6-server-resend-order"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, 1)
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "0"})
			sub.Unacknowledged()
			sub.Drop()
			for _, later := range []string{"1", "2"} {
				pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: later})
			}

			got := payloads(collected(resume("again"), pub.Sentinel(topic, 1), 3))
			probe.Warns(key).Expect(got).To(Equal(numbers(3)), "in the order of their publication")
		})
	})
}
