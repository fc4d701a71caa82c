package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// identifiers holds the specs of section 2.2.1 (2.3.1 in MQTT 3.1.1) on whose
// Packet Identifiers are in use, and for how long.
func identifiers(b *probe.Broker, v version) {
	Describe("2.2.1 Packet Identifier", func() {
		unusedIdentifiers(b, v)
		freedIdentifiers(b, v)
		bothDirections(b, v)
		if v.is5() {
			sharedByCommands(b)
		}
	})
}

// owners are the payloads of the messages whose deliveries are open, by Packet
// Identifier.
type owners map[uint16]string

// expectOwn asserts that no open message but the message itself has its
// Packet Identifier, and takes it in.
func (o owners) expectOwn(list ...wire.Publish) {
	GinkgoHelper()
	for _, p := range list {
		owner, used := o[p.ID]
		Expect(used && owner != p.Payload).To(BeFalse(), "the identifier %d of %q is that of %q, which is open", p.ID, p.Payload, owner)
		o[p.ID] = p.Payload
	}
}

// unusedIdentifiers are those that the server chooses for new messages.
func unusedIdentifiers(b *probe.Broker, v version) {
	for _, qos := range []byte{1, 2} {
		key := "MQTT-4.3." + digit(1+qos) + "-1"
		It("is not in use when a new message at QoS "+digit(qos)+" gets it, also in a Session that is resumed", v.Statement("v311/"+key, "v5/"+key), func() {
			topic, open := b.Topic(), owners{}
			sub, resume := away(b, topic, 2)
			pub := b.Connect("pub")
			for i, level := range []byte{2, 1, qos, qos} {
				pub.Publish(wire.Publish{Topic: topic, QoS: level, Payload: "before " + fmt.Sprint(i)})
			}
			first := sub.Unacknowledged()
			open.expectOwn(append(afterPing(sub), first)...)
			if first.QoS == 2 {
				sub.Send(wire.Ack{Type: wire.PUBREC, ID: first.ID}) // open until PUBCOMP
				sub.Ping()
			}
			sub.Drop()

			again := resume("again")
			for i := range 4 {
				pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "after " + fmt.Sprint(i)})
			}
			open.expectOwn(afterPing(again)...)
		})
	}
}

// freedIdentifiers are those of commands that are finished.
func freedIdentifiers(b *probe.Broker, v version) {
	keys := []string{"v311/4.3.2-identifier-reuse", "v5/2.2.1-identifier-reuse"}
	It("is free again when its command is finished", v.Statement(keys...), func() {
		topic, filter := b.Topic(), b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		c := b.Connect("client").Subscribe(filter, 0)
		publishes(c, topic, c.NextID(), sub)
		for range 3 {
			c.Send(wire.Unsubscribe{ID: 1, Filters: []string{filter}})
			Expect(c.Answer(wire.UNSUBACK)).To(probe.BeA(wire.UNSUBACK), "UNSUBSCRIBE is answered")
			c.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: filter}}})
			Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("Codes", HaveExactElements(byte(0)))), "SUBSCRIBE is granted")
			expectPublishes(c, topic, 1, sub)
		}
	})
}

// publishes has messages at QoS 1 and 2 published under one identifier, up to
// their arrival. That an exchange works at all is the matter of other checks.
func publishes(c *probe.Client, topic string, id uint16, sub *probe.Client) {
	GinkgoHelper()
	for _, qos := range []byte{1, 2} {
		c.Publish(wire.Publish{Topic: topic, QoS: qos, ID: id, Payload: "at " + digit(qos)})
		sub.Delivery()
	}
}

// expectPublishes asserts of the same that it works.
func expectPublishes(c *probe.Client, topic string, id uint16, sub *probe.Client) {
	GinkgoHelper()
	for i, kind := range []wire.Type{wire.PUBACK, wire.PUBREC} {
		qos := byte(1 + i)
		c.Send(wire.Publish{Topic: topic, QoS: qos, ID: id, Payload: "at " + digit(qos)})
		Expect(c.Answer(kind)).To(probe.BePacket(And(HaveField("ID", id), HaveField("Code", BeNumerically("<", 0x80)))), "%s takes the message", kind)
		if qos == 2 {
			c.Send(wire.Ack{Type: wire.PUBREL, ID: id})
			Expect(c.Answer(wire.PUBCOMP)).To(probe.BePacket(HaveField("ID", id)), "the exchange is completed")
		}
		a := sub.Answer(wire.PUBLISH)
		Expect(a).To(probe.BePacket(HaveField("Payload", "at "+digit(qos))), "the message is passed on")
		sub.Acknowledge(a.Packet.(wire.Publish))
	}
}

// bothDirections is about equal identifiers of the client and the server.
func bothDirections(b *probe.Broker, v version) {
	keys := []string{"v311/2.3.1-directions-independent", "v5/2.2.1-identifier-directions-independent"}
	for _, qos := range []byte{1, 2} {
		It("of a delivery at QoS "+digit(qos)+" may be that of a publication of the client", v.Statement(keys...), func() {
			topic, other := b.Topic(), b.Topic()
			sub, resume := away(b, topic, qos)
			pub := b.Connect("pub").Subscribe(other, 2)
			publishes(sub, other, 60_000, pub)
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "open"})
			sub.Unacknowledged()
			sub.Drop()
			sub = resume("sub resumed")
			id := sub.Unacknowledged().ID // what is open is sent again
			if id == 0 {
				probe.Inconclusive("the delivery has no identifier")
			}

			expectPublishes(sub, other, id, pub)

			sub.Drop()
			Expect(resume("last").Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "open")), "the delivery is still open")
		})
	}
}

// sharedByCommands is about a client that uses an identifier for two commands
// at once.
func sharedByCommands(b *probe.Broker) {
	key := "v5/2.2.1-identifier-set-shared"
	It("of an open publication may not be that of a SUBSCRIBE, and harms it in no case", v5.Statement(key), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 2, ID: 2, Payload: "valid twin"})
		sub.Delivery()
		pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 1, Payload: "once"})
		if !pub.Answer(wire.PUBREC).Came {
			probe.Inconclusive("no PUBREC in the set-up")
		}

		pub.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: b.Topic()}}})

		if pub.Answer(wire.SUBACK).Closed {
			return
		}
		pub.Send(wire.Ack{Type: wire.PUBREL, ID: 1})
		probe.Warns(key).Expect(pub.Answer(wire.PUBCOMP)).To(probe.BePacket(HaveField("Code", byte(0))), "the publication is completed")
		probe.Warns(key).Expect(collected(sub, pub.Sentinel(topic, 2), 1)).To(HaveExactElements(HaveField("Payload", "once")), "it is passed on once")
	})
}
