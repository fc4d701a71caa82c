package specs

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// acknowledgements holds the specs of section 4.4 on what a delivery that is
// open or settled does in the next connection, and of acknowledgements that
// fit no delivery.
func acknowledgements(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("4.4 Acknowledgement", func() {
		settledByError(b)
		withoutSession(b)
		lateRelease(b)
		wrongKind(b)
		ofNothing(b)
	})
}

func settledByError(b *probe.Broker) {
	for _, c := range []struct {
		qos  byte
		kind wire.Type
	}{{1, wire.PUBACK}, {2, wire.PUBREC}} {
		It("with a code of 0x80 or above settles a delivery at QoS "+digit(c.qos), v5.Statement("v5/MQTT-4.4.0-2"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, c.qos)
			pub := b.Connect("pub")
			for i, code := range []byte{0x80, 0x83, 0x97} {
				pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: fmt.Sprint(i)})
				sub.Send(wire.Ack{Type: c.kind, ID: sub.Unacknowledged().ID, Code: code})
				sub.Ping()
			}
			pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: "open"})
			sub.Unacknowledged()
			sub.Drop()

			got := payloads(collected(resume("again"), pub.Sentinel(topic, c.qos), 1))
			if !slices.Contains(got, "open") {
				probe.Inconclusive("what is open is not sent again either")
			}
			Expect(got).To(HaveExactElements("open"), "what is settled is not sent again")
		})
	}
}

func withoutSession(b *probe.Broker) {
	It("that is missing is forgotten with the Session", v5.Statement("v5/MQTT-4.4.0-1", "v5/4.4-no-session-no-resend"), func() {
		topic, id := b.Topic(), b.ClientID()
		sub := b.Connect("sub", probe.ID(id), probe.Persistent).Subscribe(topic, 2)
		settled(b, b.Connect("pub"), wire.Publish{Topic: topic, QoS: 1, Payload: "1"}, wire.Publish{Topic: topic, QoS: 1, Payload: "2"})
		settled(b, b.Connect("pub"), wire.Publish{Topic: topic, QoS: 2, Payload: "3"}, wire.Publish{Topic: topic, QoS: 2, Payload: "4"})
		sub.Unacknowledged()
		sub.Ping()
		sub.Drop()

		clean := b.Connect("clean", probe.ID(id)).Subscribe(topic, 2)

		Expect(clean.DeliveredBefore(b.Connect("end").Sentinel(topic, 2))).To(BeEmpty(), "nothing is sent again with Clean Start 1")
	})
}

// lateRelease is about a PUBREL that the server does not, or no longer, wait for.
func lateRelease(b *probe.Broker) {
	for _, used := range []bool{true, false} {
		what := map[bool]string{true: "whose exchange is complete", false: "that was never used"}[used]
		It("of PUBREL comes in the next connection also for an identifier "+what, v5.Statement("v5/MQTT-4.3.3-11", "v5/MQTT-3.7.2-1", "v5/4.4-pubrel-for-unknown", "v5/3.6.2.1-pubrel-pubcomp-code-92"), func() {
			id := b.ClientID()
			pub := b.Connect("pub", probe.ID(id), probe.Persistent)
			if used {
				pub.Publish(wire.Publish{Topic: b.Topic(), QoS: 2, ID: 9, Payload: "once"})
			}
			pub.Drop()

			again := resumed(b, "again", id)
			again.Send(wire.Ack{Type: wire.PUBREL, ID: 9})

			Expect(again.Answer(wire.PUBCOMP)).To(probe.BePacket(And(HaveField("ID", uint16(9)), HaveField("Code", BeElementOf(byte(0x00), byte(0x92))))), "PUBCOMP with 0x00 or 0x92")
			Expect(again).To(probe.BeAlive(), "a PUBREL during recovery is no error")
		})
	}
}

// wrongKind is about acknowledgements of the other QoS than that of the
// delivery. A broker that closes, or ignores them, is right.
func wrongKind(b *probe.Broker) {
	key := "v5/4.3-wrong-ack-type"
	for _, c := range []struct {
		qos  byte
		kind wire.Type
	}{{1, wire.PUBREC}, {1, wire.PUBCOMP}, {2, wire.PUBACK}, {2, wire.PUBCOMP}} {
		It(fmt.Sprintf("by %s does not settle a delivery at QoS %d", c.kind, c.qos), v5.Statement(key), func() {
			topic, watch := b.Topic(), b.Bystander()
			sub, resume := away(b, topic, c.qos)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: "open"})

			sub.Unacknowledged()
			sub.Drop()
			again := resume("again")

			again.Send(wire.Ack{Type: c.kind, ID: again.Unacknowledged().ID})
			again.BeforePing() // or the close
			again.Drop()

			probe.Warns(key).Expect(resume("last").Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "open")), "the delivery is still open")
			watch.Unharmed()
		})
	}
}

// ofNothing observes what acknowledgements bring whose identifier is not in use.
func ofNothing(b *probe.Broker) {
	for _, c := range []struct {
		key  string
		kind wire.Type
	}{
		{"v5/3.4-ack-unknown-identifier", wire.PUBACK},
		{"v5/4.4-pubrec-for-unknown", wire.PUBREC},
	} {
		It(fmt.Sprintf("by %s of an identifier that is not in use", c.kind), v5.Observation(c.key), func() {
			watch := b.Bystander()
			client := b.Connect("client")
			client.Send(wire.Ack{Type: c.kind, ID: 77})

			value := "is ignored"
			for _, r := range client.BeforePing() {
				switch p := r.Packet.(type) {
				case wire.Ack:
					value = fmt.Sprintf("is answered with %s 0x%02x", p.Type, p.Code)
				}
			}
			if client.Gone() {
				value = "closes the connection"
			}
			watch.Unharmed()
			probe.Observe(c.key, "%s for a Packet Identifier that is not in use %s", c.kind, value)
		})
	}
}
