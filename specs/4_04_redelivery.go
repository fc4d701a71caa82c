package specs

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// redelivery holds the specs of sections 4.4 to 4.6 and of the DUP flag on
// what is sent again.
func redelivery(b *probe.Broker, v version) {
	Describe("4.4 Redelivery", func() {
		resends(b, v)
		received(b, v)
	})
	Describe("4.6 Message ordering", func() { ordering(b, v) })
}

func resends(b *probe.Broker, v version) {
	for _, qos := range []byte{1, 2} {
		It("3.3.1.1 has DUP 1 at QoS "+digit(qos), v.Statement("v311/MQTT-3.3.1-1", "v5/MQTT-3.3.1-1"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, qos)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "open"})
			sub.Unacknowledged()
			sub.Drop()

			a := resume("again").Answer(wire.PUBLISH)
			if !a.Came {
				probe.Inconclusive("what is open does not come again")
			}
			Expect(a).To(probe.BePacket(And(HaveField("Payload", "open"), HaveField("Dup", true))), "what is sent again has DUP 1")
		})

		It("has the old Packet Identifier at QoS "+digit(qos)+", also at a second resume", v.Statement("v311/MQTT-4.4.0-1", "v5/MQTT-4.4.0-1"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, qos)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "open"})
			id := sub.Unacknowledged().ID
			sub.Drop()
			for _, name := range []string{"second", "third"} {
				c := resume(name)
				Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(And(HaveField("Payload", "open"), HaveField("ID", id))), "the message comes again under its identifier")
				c.Drop()
			}
		})
	}

	It("of PUBREL has the old Packet Identifier", v.Statement("v311/MQTT-4.4.0-1", "v5/MQTT-4.4.0-1"), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 2)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "open"})
		id := sub.Unacknowledged().ID
		sub.Send(wire.Ack{Type: wire.PUBREC, ID: id})
		if !sub.Answer(wire.PUBREL).Came {
			probe.Inconclusive("no PUBREL in the set-up")
		}
		sub.Drop()
		for _, name := range []string{"second", "third"} {
			c := resume(name)
			Expect(c.Answer(wire.PUBREL)).To(probe.BePacket(HaveField("ID", id)), "PUBREL comes again under its identifier")
			c.Drop()
		}
	})

	if !v.is5() {
		It("keeps the identifiers of open deliveries", v.Statement("v311/MQTT-2.3.1-4"), func() {
			const n = 3
			topic := b.Topic()
			sub, resume := away(b, topic, 1)
			pub := b.Connect("pub")
			for i := range n {
				pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: fmt.Sprint(i)})
			}
			sub.Unacknowledged()
			sub.Ping()
			sub.Drop()
			ids := map[string]uint16{} // others may be under way
			for _, r := range sub.History() {
				if p, ok := r.Packet.(wire.Publish); ok {
					ids[p.Payload] = p.ID
				}
			}

			again := resume("again")
			for _, p := range readOn(again, nil, func(got []wire.Publish) bool { return len(different(got)) >= n }) {
				if id, sent := ids[p.Payload]; sent {
					Expect(p.ID).To(Equal(id), "the identifier of %q is the old one", p.Payload)
					delete(ids, p.Payload)
				}
			}
			if len(ids) > 0 {
				probe.Inconclusive("what is open does not come again")
			}
		})
	}
}

func received(b *probe.Broker, v version) {
	It("4.5 adds a message to the Session of every matching client, present or away", v.Statement("v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1", "v5/3.3.4-many-subscribers", "v5/4.8.1-own-copy"), func() {
		topic := b.Topic()
		present := []*probe.Client{b.Connect("one").Subscribe(topic, 1), b.Connect("two").Subscribe(topic, 2)}
		sub1, resume1 := away(b, topic, 1)
		sub1.Disconnect()
		sub2, resume2 := away(b, topic, 2)
		sub2.Drop()

		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "at 1"})
		pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "at 2"})

		for _, c := range append(present, resume1("three"), resume2("four")) {
			for _, want := range []string{"at 1", "at 2"} {
				a := c.AnswerWhere(hasPayload(want), wire.PUBLISH)
				Expect(a).To(probe.BeA(wire.PUBLISH), "%s gets the message %s", c.Name(), want)
				c.Acknowledge(a.Packet.(wire.Publish))
			}
		}
	})
}

// numbered publishes n messages with their numbers, in one write where the QoS
// allows it, and completes the exchanges.
func numbered(pub *probe.Client, topic string, qos byte, n int) {
	GinkgoHelper()
	for i := range n {
		pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: fmt.Sprint(i)})
	}
}

// payloads returns the payloads of messages, repeats left out.
func payloads(list []wire.Publish) []string {
	got := []string{}
	for _, p := range list {
		if !p.Dup || !slices.Contains(got, p.Payload) {
			got = append(got, p.Payload)
		}
	}
	return got
}

func numbers(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint(i)
	}
	return list
}

// rise asserts that n numbered messages came in their order. That some are lost is
// the matter of other checks.
func rise(list []wire.Publish, n int) {
	GinkgoHelper()
	got := payloads(list)
	came := slices.DeleteFunc(numbers(n), func(number string) bool { return !slices.Contains(got, number) })
	Expect(got).To(Equal(came), "the numbers rise")
	if len(came) < n {
		probe.Inconclusive("only %d of %d messages came", len(came), n)
	}
}

func ordering(b *probe.Broker, v version) {
	for _, qos := range []byte{0, 1, 2} {
		It("of messages of one client, topic and QoS "+digit(qos)+" is kept", v.Statement("v311/MQTT-4.6.0-6", "v5/MQTT-4.6.0-5"), func() {
			const n = 30
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, qos)
			pub := b.Connect("pub")
			numbered(pub, topic, qos, n)

			rise(collected(sub, pub.Sentinel(topic, qos), n), n)
		})
	}

	It("of what waits for a client that is away is kept", v.Statement("v311/MQTT-4.6.0-6", "v5/MQTT-4.6.0-5"), func() {
		const n = 5
		topic := b.Topic()
		sub, resume := away(b, topic, 1)
		sub.Disconnect()
		pub := b.Connect("pub")
		numbered(pub, topic, 1, n)

		again := resume("again")
		rise(collected(again, pub.Sentinel(topic, 1), n), n)
	})

	It("is kept on any topic, also through wildcards", v.Statement("v311/MQTT-4.6.0-5", "v5/MQTT-4.6.0-6"), func() {
		const n = 20
		base := b.Topic()
		sub := b.Connect("sub").Subscribe(base+"/#", 1)
		pub := b.Connect("pub")
		for _, topic := range []string{base, base + "/one", base + "/a/ b/$c"} {
			numbered(pub, topic, 1, n)
			rise(collected(sub, pub.Sentinel(topic, 1), n), n)
		}
	})

	It("of open messages is kept when they are sent again", v.Statement("v311/MQTT-4.6.0-1", "v5/4.6-server-resend-order"), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 1)
		numbered(b.Connect("pub"), topic, 1, 5)
		sub.Unacknowledged()
		sub.Ping()
		sub.Drop()

		again := resume("again")
		got := []string{}
		for range 5 {
			p := again.Unacknowledged()
			got = append(got, p.Payload)
			again.Acknowledge(p)
		}
		inOrder(v, "v311/MQTT-4.6.0-1").Expect(got).To(Equal(numbers(5)), "in their first order")
	})

	It("of PUBREL is that of PUBREC", v.Statement("v311/MQTT-4.6.0-4", "v5/4.6-server-resend-order"), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		numbered(b.Connect("pub"), topic, 2, 4)
		open := append([]wire.Publish{sub.Unacknowledged()}, afterPing(sub)...)
		recs, ids := []wire.Packet{}, []uint16{}
		for _, p := range open {
			recs, ids = append(recs, wire.Ack{Type: wire.PUBREC, ID: p.ID}), append(ids, p.ID)
		}

		sub.Send(recs...)

		got := []uint16{}
		for range ids {
			a := sub.Answer(wire.PUBREL)
			Expect(a).To(probe.BeA(wire.PUBREL), "each PUBREC is answered")
			got = append(got, a.Packet.(wire.Ack).ID)
		}
		inOrder(v, "v311/MQTT-4.6.0-4").Expect(got).To(Equal(ids), "in the order of the PUBRECs")
	})
}

// afterPing makes a round trip and returns the messages that have come.
func afterPing(c *probe.Client) []wire.Publish {
	GinkgoHelper()
	c.Ping()
	return c.Pending()
}

// inOrder grades the order of what a server sends again: MQTT 3.1.1 binds the
// server, MQTT 5.0 names the client only and is read as advice.
func inOrder(v version, key311 string) Gomega {
	if v.is5() {
		return probe.Warns("v5/4.6-server-resend-order")
	}
	return probe.For(key311)
}
