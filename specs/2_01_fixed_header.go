package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// fixedHeader holds the specs of section 2.1 of MQTT 5.0, 2.2 of MQTT 3.1.1:
// what the server does with wrong flag bits and types. The flags of its own
// packets are judged by a standing check.
func fixedHeader(b *probe.Broker, v version) {
	Describe("2.1 Fixed header", func() {
		wrongFlags := v.key("v311/MQTT-2.2.2-2", "v5/MQTT-2.1.3-1")

		It("closes the connection on PINGREQ with flag bits", v.Statement("v311/MQTT-2.2.2-2", "v5/MQTT-2.1.3-1", "v5/2.1.3-invalid-flags"), func() {
			refusedPacket(b, wrongFlags, "PINGREQ with the flags 0001 closes the connection", []byte{0xc1, 0})
		})

		It("refuses CONNECT with flag bits", v.Statement("v311/MQTT-2.2.2-2", "v5/MQTT-2.1.3-1", "v5/2.1.3-invalid-flags"), func() {
			twin := b.ConnectPacket()
			b.Connect("twin", probe.ID(twin.ClientID)).Disconnect()
			refusedWithoutConnack(b, wrongFlags, "CONNECT with the flags 1111", wire.WithFlags(wire.Bytes(b.Version, twin), 0x0f))
		})

		It("closes the connection on PUBACK with flag bits", v.Statement("v311/MQTT-2.2.2-2", "v5/MQTT-2.1.3-1", "v5/2.1.3-invalid-flags"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 1)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
			open := sub.Unacknowledged()

			sub.SendBytes(wire.WithFlags(wire.Bytes(b.Version, wire.Ack{Type: wire.PUBACK, ID: open.ID}), 0x0f))

			probe.Reaction(wrongFlags).Expect(sub).To(probe.BeClosed(), "PUBACK with the flags 1111 closes the connection")
		})

		unnumberedTypes(b, v)
		remainingLength(b, v)
	})

	It("2.3.1 answers QoS 1 and 2 with the Packet Identifier of the PUBLISH",
		v.Statement("v311/MQTT-2.3.1-6", "v5/MQTT-2.2.1-5"), func() {
			pub := b.Connect("pub")
			for _, id := range []uint16{1, 0x1234, 65535} {
				pub.Send(wire.Publish{Topic: b.Topic(), QoS: 1, ID: id, Payload: "one"})
				repeats(pub, wire.PUBACK, id)
				pub.Send(wire.Publish{Topic: b.Topic(), QoS: 2, ID: id, Payload: "two"})
				repeats(pub, wire.PUBREC, id)
				pub.Send(wire.Ack{Type: wire.PUBREL, ID: id})
				repeats(pub, wire.PUBCOMP, id)
			}
		})

	It("2.3.1 sends PUBREL with the Packet Identifier of its delivery",
		v.Statement("v311/MQTT-2.3.1-6", "v5/MQTT-2.2.1-5"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 2)
			pub := b.Connect("pub")
			for range 3 {
				pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "two"})
				id := sub.Unacknowledged().ID
				sub.Send(wire.Ack{Type: wire.PUBREC, ID: id})
				repeats(sub, wire.PUBREL, id)
				sub.Send(wire.Ack{Type: wire.PUBCOMP, ID: id})
			}
		})

	It("2.3.1 answers SUBSCRIBE and UNSUBSCRIBE with their Packet Identifiers",
		v.Statement("v311/MQTT-2.3.1-7", "v5/MQTT-2.2.1-6"), func() {
			c := b.Connect("client")
			for _, id := range []uint16{1, 0x0102, 65535} {
				filter := b.Topic()
				c.Send(wire.Subscribe{ID: id, Subscriptions: []wire.Subscription{{Filter: filter}}})
				Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("ID", id)), "SUBACK repeats the identifier")
				c.Send(wire.Unsubscribe{ID: id, Filters: []string{filter}})
				Expect(c.Answer(wire.UNSUBACK)).To(probe.BePacket(HaveField("ID", id)), "UNSUBACK repeats the identifier")
			}
		})

	zeroIdentifiers(b, v)
	ownIdentifiers(b, v)
}

// repeats asserts that the next answer of a type has the Packet Identifier.
// That it comes at all is the matter of other checks.
func repeats(c *probe.Client, kind wire.Type, id uint16) {
	GinkgoHelper()
	a := c.Answer(kind)
	if !a.Came {
		probe.Inconclusive("no %s", kind)
	}
	Expect(a).To(probe.BePacket(HaveField("ID", id)), "%s repeats the identifier", kind)
}

// unnumberedTypes are packets that a client never sends.
func unnumberedTypes(b *probe.Broker, v version) {
	for _, c := range []struct {
		what   string
		packet wire.Packet
		v5     string
	}{
		{"CONNACK", wire.Connack{}, "v5/2.1.2-connack-from-client"},
		{"SUBACK", wire.Suback{ID: 1, Codes: []byte{0}}, "v5/2.1.2-suback-from-client"},
		{"UNSUBACK", wire.Unsuback{ID: 1, Codes: []byte{0}}, "v5/2.1.2-unsuback-from-client"},
		{"PINGRESP", wire.Pingresp{}, "v5/2.1.2-pingresp-from-client"},
	} {
		keys := []string{"v311/2.2.1-server-only-types", c.v5}
		It("closes the connection on "+c.what+" from a client", v.Statement(keys...), func() {
			refusedPacket(b, v.key(keys...), c.what+" from a client closes the connection", wire.Bytes(b.Version, c.packet))
		})
	}

	It("closes the connection on packet type 0", v.Statement("v311/2.2.1-reserved-types", "v5/2.1.2-packet-type-0"), func() {
		refusedPacket(b, v.key("v311/2.2.1-reserved-types", "v5/2.1.2-packet-type-0"), "packet type 0 closes the connection", []byte{0, 0})
	})
}

// zeroIdentifiers are packets whose Packet Identifier is 0. Only the client is
// bound, so a server that takes them is lenient.
func zeroIdentifiers(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-2.3.1-1", "v5/MQTT-2.2.1-3"}
	for _, c := range []struct {
		what   string
		packet func(topic string) wire.Packet
	}{
		{"PUBLISH at QoS 1", func(t string) wire.Packet { return wire.Publish{Topic: t, QoS: 1, Payload: "zero"} }},
		{"SUBSCRIBE", func(t string) wire.Packet { return wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: t}}} }},
		{"UNSUBSCRIBE", func(t string) wire.Packet { return wire.Unsubscribe{Filters: []string{t}} }},
	} {
		It("2.3.1 closes the connection on "+c.what+" with Packet Identifier 0", v.Statement(keys...), func() {
			refusedPacket(b, v.key(keys...), c.what+" with Packet Identifier 0 closes the connection", wire.Bytes(b.Version, c.packet(b.Topic())))
		})
	}
}

// ownIdentifiers are the identifiers that the server chooses.
func ownIdentifiers(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-2.3.1-4", "v5/MQTT-2.2.1-4"}
	It("2.3.1 gives open deliveries identifiers of their own", v.Statement(keys...), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		pub := b.Connect("pub")
		for range 3 {
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "at 1"})
			pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "at 2"})
		}
		first := sub.Unacknowledged()
		sub.Ping()
		seen := map[uint16]bool{first.ID: true}
		for _, p := range sub.Pending() {
			if p.Dup {
				continue
			}
			Expect(seen).NotTo(HaveKey(p.ID), "each open delivery has an identifier of its own")
			seen[p.ID] = true
		}
		Expect(seen).NotTo(HaveKey(uint16(0)), "no identifier is 0")
	})

	It("2.3.1 sends a QoS 0 PUBLISH without a Packet Identifier", v.Statement("v311/MQTT-2.3.1-5", "v5/MQTT-2.2.1-2"), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 0)
		for _, qos := range []byte{0, 1, 2} {
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "payload"})
			Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(And(HaveField("QoS", byte(0)), HaveField("Payload", "payload"))),
				"the payload begins right behind the header")
		}
	})
}
