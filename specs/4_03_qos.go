package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// qosFlows holds the specs of section 4.3: the exchanges of the three levels,
// with the server as sender and as receiver.
func qosFlows(b *probe.Broker, v version) {
	Describe("4.3 QoS", func() {
		It("0 is delivered with QoS 0 and DUP 0", v.Statement("v311/MQTT-4.3.1-1", "v5/MQTT-4.3.1-1"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 0)
			pub := b.Connect("pub")
			for _, qos := range []byte{0, 1, 2} {
				pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: digit(qos)})
				// A message at QoS 1 may come twice to a subscription at QoS 0.
				Expect(sub.AnswerWhere(hasPayload(digit(qos)), wire.PUBLISH)).To(probe.BePacket(And(
					HaveField("QoS", byte(0)), HaveField("Dup", false))))
			}
		})
		senderQoS1(b, v)
		receiverQoS1(b, v)
		senderQoS2(b, v)
		receiverQoS2(b, v)
	})
}

// away opens a persistent subscription at a QoS and returns how to resume it.
func away(b *probe.Broker, topic string, qos byte) (sub *probe.Client, resume func(name string) *probe.Client) {
	GinkgoHelper()
	id := b.ClientID()
	sub = b.Connect("sub", probe.ID(id), probe.Persistent).Subscribe(topic, qos)
	return sub, func(name string) *probe.Client {
		GinkgoHelper()
		return resumed(b, name, id)
	}
}

// resumed connects again under a Client Identifier whose Session is stored. A
// Session that is not there is the matter of other checks.
func resumed(b *probe.Broker, name, id string, options ...probe.Option) *probe.Client {
	GinkgoHelper()
	c, ack := present(b, name, append(options, probe.ID(id), probe.Persistent)...)
	if !ack.SessionPresent() {
		probe.Inconclusive("%s: the set-up needs a Session that is resumed, but Session Present is 0", name)
	}
	return c
}

// firstSent succeeds for the first PUBLISH of a message at QoS 1 or 2.
func firstSent(qos byte) types.GomegaMatcher {
	return And(HaveField("QoS", qos), HaveField("Dup", false), HaveField("ID", Not(BeZero())))
}

func senderQoS1(b *probe.Broker, v version) {
	first := v.key("v311/MQTT-4.3.2-1", "v5/MQTT-4.3.2-2")
	It("1 is open until PUBACK, and finished with it", v.Statement("v311/MQTT-4.3.2-1", "v5/MQTT-4.3.2-3", "v5/MQTT-4.3.2-2"), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 1)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
		probe.For(first).Expect(sub.Unacknowledged()).To(firstSent(1), "the first packet has QoS 1, DUP 0 and an identifier")
		sub.Drop()

		again := resume("again")
		a := again.Answer(wire.PUBLISH)
		Expect(a).To(probe.BePacket(HaveField("Payload", "open")), "the message is open, so it comes again")
		again.Acknowledge(a.Packet.(wire.Publish))
		again.Ping()
		again.Drop()

		last := resume("last")
		Expect(last.DeliveredBefore(b.Connect("end").SentinelAside(last))).To(BeEmpty(), "PUBACK has finished it")
	})
}

func receiverQoS1(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-4.3.2-2", "v5/MQTT-4.3.2-5", "v5/MQTT-4.3.2-4", "v5/3.4.2.1-puback-pubrec-code-00"}
	It("1 gives the identifier free with PUBACK: what comes next is new, whatever DUP says", v.Statement(keys...), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		pub := b.Connect("pub")
		for i, dup := range []bool{false, false, true} {
			payload := "message " + digit(byte(i))
			pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 7, Dup: dup, Payload: payload})
			acked := probe.For(v.key("v311/MQTT-4.3.2-2", "v5/MQTT-4.3.2-4"))
			acked.Expect(pub.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("ID", uint16(7))), "it is acknowledged")
			a := sub.Answer(wire.PUBLISH)
			Expect(a).To(probe.BePacket(HaveField("Payload", payload)), "it is delivered as a new message")
			sub.Acknowledge(a.Packet.(wire.Publish))
		}
	})
}

func senderQoS2(b *probe.Broker, v version) {
	sent := v.key("v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-2")
	dup := []string{"v311/MQTT-3.3.1-1", "v5/MQTT-3.3.1-1"}
	It("2 comes again before PUBREC", v.Statement(append(dup, "v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-3", "v5/MQTT-4.3.3-2")...), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 2)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "open"})
		first := sub.Unacknowledged()
		probe.For(sent).Expect(first).To(firstSent(2), "the first packet has QoS 2, DUP 0 and an identifier")
		sub.Drop()

		again := resume("again")

		a := again.Answer(wire.PUBLISH)
		probe.For(v.key("v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-3")).Expect(a).To(probe.BePacket(And(
			HaveField("Payload", "open"), HaveField("QoS", byte(2)), HaveField("ID", first.ID))), "it is not settled before PUBREC")
		probe.For(v.key(dup...)).Expect(a).To(probe.BePacket(HaveField("Dup", true)), "what is sent again has DUP 1")
	})

	answered, open := v.key("v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-4"), v.key("v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-5")
	keys := []string{"v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-6", "v5/MQTT-4.3.3-4", "v5/MQTT-4.3.3-5"}
	It("2 goes on with PUBREL once PUBREC has come, also after several connections", v.Statement(keys...), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 2)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "open"})
		id := sub.Unacknowledged().ID
		sub.Send(wire.Ack{Type: wire.PUBREC, ID: id})
		probe.For(answered).Expect(sub.Answer(wire.PUBREL)).To(probe.BePacket(HaveField("ID", id)), "PUBREC is answered with PUBREL")
		sub.Drop()
		for _, name := range []string{"second", "third"} {
			c := resume(name)
			a := c.Answer(wire.PUBLISH, wire.PUBREL)
			Expect(a).NotTo(probe.BeA(wire.PUBLISH), "only PUBREL is sent again")
			probe.For(open).Expect(a).To(probe.BePacket(HaveField("ID", id)), "PUBREL is sent again")
			c.Drop()
		}
		fourth := resume("fourth")
		probe.For(open).Expect(fourth.Answer(wire.PUBREL)).To(probe.BePacket(HaveField("ID", id)), "PUBREL is sent again")
		fourth.Send(wire.Ack{Type: wire.PUBCOMP, ID: id})
		fourth.Ping()
		fourth.Drop()

		last := resume("last")
		probe.For(open).Expect(last.BeforePing()).To(BeEmpty(), "PUBCOMP has finished it")
	})
}

func receiverQoS2(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10", "v5/MQTT-4.3.3-8", "v5/MQTT-4.3.3-11"}
	if !v.is5() {
		// A client of MQTT 5.0 may not repeat on a live connection.
		It("2 passes a message on once, however often it is repeated", v.Statement(keys...), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 2)
			pub := b.Connect("pub")
			for _, dup := range []bool{false, true, true} {
				pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 9, Dup: dup, Payload: "once"})
				Expect(pub.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("ID", uint16(9))), "each is answered with PUBREC")
			}
			for range 2 {
				pub.Send(wire.Ack{Type: wire.PUBREL, ID: 9})
				Expect(pub.Answer(wire.PUBCOMP)).To(probe.BePacket(HaveField("ID", uint16(9))), "each PUBREL is answered with PUBCOMP")
			}

			Expect(collected(sub, pub.Sentinel(topic, 2), 1)).To(HaveExactElements(HaveField("Payload", "once")), "one delivery")
		})
	}

	It("2 knows a repetition also across a resumed Session", v.Statement(keys...), func() {
		topic, id := b.Topic(), b.ClientID()
		sub := b.Connect("sub").Subscribe(topic, 2)
		pub := b.Connect("pub", probe.ID(id), probe.Persistent)
		pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 9, Payload: "once"})
		probe.For(v.key("v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-8")).Expect(pub.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("ID", uint16(9))), "PUBLISH is answered with PUBREC")
		pub.Drop()

		again := resumed(b, "again", id)
		again.Send(wire.Publish{Topic: topic, QoS: 2, ID: 9, Dup: true, Payload: "once"})
		Expect(again.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("ID", uint16(9))), "the repetition is answered with PUBREC")
		for range 2 {
			again.Send(wire.Ack{Type: wire.PUBREL, ID: 9})
			probe.For(v.key("v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-11")).Expect(again.Answer(wire.PUBCOMP)).To(probe.BePacket(HaveField("ID", uint16(9))), "each PUBREL is answered with PUBCOMP")
		}

		Expect(collected(sub, again.Sentinel(topic, 2), 1)).To(HaveExactElements(HaveField("Payload", "once")), "one delivery")
	})

	It("2 takes the identifier as new after PUBCOMP", v.Statement("v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-12"), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		pub := b.Connect("pub")
		for i, dup := range []bool{false, false, true} {
			pub.Publish(wire.Publish{Topic: topic, QoS: 2, ID: 9, Dup: dup, Payload: "message " + digit(byte(i))})
		}

		Expect(collected(sub, pub.Sentinel(topic, 2), 3)).To(HaveExactElements(
			HaveField("Payload", "message 0"), HaveField("Payload", "message 1"), HaveField("Payload", "message 2")), "three messages")
	})

	flags := []string{"v311/MQTT-3.6.1-1", "v5/MQTT-3.6.1-1"}
	for _, wrong := range []byte{0x0, 0x1, 0xa, 0xf} {
		It("2 ends on a PUBREL with the flag bits "+digit(wrong/8)+digit(wrong/4%2)+digit(wrong/2%2)+digit(wrong%2), v.Statement(flags...), func() {
			pub, watch := b.Connect("pub"), b.Bystander()
			pub.Publish(wire.Publish{Topic: b.Topic(), QoS: 2, Payload: "valid twin"})
			pub.Send(wire.Publish{Topic: b.Topic(), QoS: 2, ID: 77, Payload: "open"})
			if !pub.Answer(wire.PUBREC).Came {
				probe.Inconclusive("no PUBREC in the set-up")
			}

			pub.SendBytes(wire.WithFlags(wire.Bytes(b.Version, wire.Ack{Type: wire.PUBREL, ID: 77}), wrong))

			probe.Reaction(v.key(flags...)).Expect(pub).To(probe.BeClosed(), "PUBREL has the flag bits 0010")
			watch.Unharmed()
		})
	}
}
