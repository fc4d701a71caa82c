package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// unsubscribe holds the specs of sections 3.10 and 3.11.
func unsubscribe(b *probe.Broker, v version) {
	Describe("3.10 UNSUBSCRIBE", func() {
		brokenUnsubscribe(b, v)
		unsuback(b, v)
		unsubscribed(b, v)
	})
}

func brokenUnsubscribe(b *probe.Broker, v version) {
	raw := func(filters ...string) []byte {
		return wire.Bytes(b.Version, wire.Unsubscribe{ID: 9, Filters: filters})
	}
	for _, flags := range []byte{0x0, 0x1, 0x3, 0x6, 0xf} {
		keys := []string{"v311/MQTT-3.10.1-1", "v5/MQTT-3.10.1-1"}
		It(fmt.Sprintf("with the flag bits %04b closes the connection", flags), v.Statement(keys...), func() {
			refusedPacket(b, v.key(keys...), "UNSUBSCRIBE has the flag bits 0010", wire.WithFlags(raw(b.Topic()), flags))
		})
	}

	keys := []string{"v311/MQTT-3.10.3-1", "v5/MQTT-3.10.3-1"}
	for _, bad := range illFormed {
		It("with "+bad.what+" in the filter closes the connection", v.Statement(keys...), func() {
			refusedPacket(b, v.key(keys...), "a Topic Filter that is no UTF-8 closes the connection", raw(b.Topic(bad.bytes)))
		})
	}
	It("with an ill-formed filter behind a good one closes the connection", v.Statement(keys...), func() {
		refusedPacket(b, v.key(keys...), "a Topic Filter that is no UTF-8 closes the connection", raw(b.Topic(), b.Topic("\xff")))
	})
	It("with a filter that is cut off closes the connection", v.Statement(keys...), func() {
		whole := raw(b.Topic())
		refusedPacket(b, v.key(keys...), "a Topic Filter that ends with the packet closes the connection", wire.Shorten(whole, len(wire.Body(whole))-2))
	})

	none := []string{"v311/MQTT-3.10.3-2", "v5/MQTT-3.10.3-2", "v5/3.10.3-no-payload"}
	It("without a filter closes the connection", v.Statement(none...), func() {
		refusedPacket(b, v.key(none...), "UNSUBSCRIBE without a Topic Filter closes the connection", raw())
	})
}

func unsuback(b *probe.Broker, v version) {
	It("is answered with an UNSUBACK of its Packet Identifier", v.Statement("v311/MQTT-3.10.4-4", "v5/MQTT-3.10.4-4"), func() {
		c := b.Connect("client")
		for _, id := range []uint16{1, 0x0102, 65535} {
			filter := b.Topic()
			c.Subscribe(filter, 0)
			c.Send(wire.Unsubscribe{ID: id, Filters: []string{filter}})
			Expect(c.Answer(wire.UNSUBACK)).To(probe.BePacket(HaveField("ID", id)))
		}
	})

	It("is answered also when no subscription is removed", v.Statement("v311/MQTT-3.10.4-5", "v5/MQTT-3.10.4-5"), func() {
		c := b.Connect("client")
		c.Send(wire.Unsubscribe{ID: 5, Filters: []string{b.Topic()}})
		Expect(c.Answer(wire.UNSUBACK)).To(probe.BePacket(HaveField("ID", uint16(5))))
	})

	It("with several filters works as several single ones, with one UNSUBACK", v.Statement("v311/MQTT-3.10.4-6", "v5/MQTT-3.10.4-6"), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic+"/a", 0).Subscribe(topic+"/b", 0).Subscribe(topic+"/c", 0)
		pub := b.Connect("pub")
		c.Send(wire.Unsubscribe{ID: 30, Filters: []string{topic + "/a", topic + "/b", topic + "/c"}})
		Expect(c.Answer(wire.UNSUBACK)).To(probe.BePacket(HaveField("ID", uint16(30))))
		for _, t := range []string{"/a", "/b", "/c"} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 0, Payload: t})
		}
		Expect(c.DeliveredBefore(pub.SentinelAside(c))).To(BeEmpty(), "all three are gone")
		Expect(c.BeforePing()).To(BeEmpty(), "there is one UNSUBACK")
	})
}

func unsubscribed(b *probe.Broker, v version) {
	It("removes the subscription whose filter is the same, and only that", v.Statement("v311/MQTT-3.10.4-1", "v5/MQTT-3.10.4-1", "v5/3.11.3-unsuback-code-00", "v5/3.11.3-one-code-each"), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic+"/a/+", 1).Subscribe(topic+"/a/b", 1).Subscribe(topic+"/A/b", 1)
		pub := b.Connect("pub")

		c.Unsubscribe(topic + "/a/+")
		c.Unsubscribe(topic+"/a/#", topic+"/a/b/", topic+"/a/B")

		for _, t := range []string{"/a/c", "/a/b", "/A/b"} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 1, Payload: t})
		}
		got := collected(c, pub.SentinelAside(c), 2)
		Expect(got).To(ConsistOf(HaveField("Payload", "/a/b"), HaveField("Payload", "/A/b")), "the other two are left")
	})

	It("ends new deliveries, also for a Session that is resumed", v.Statement("v311/MQTT-3.10.4-2", "v5/MQTT-3.10.4-2"), func() {
		id, topic := b.ClientID(), b.Topic()
		c := b.Connect("client", probe.ID(id), probe.Persistent).Subscribe(topic, 1)
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "before"})
		takes(c, "before")

		c.Unsubscribe(topic)

		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "after"})
		Expect(c.DeliveredBefore(pub.SentinelAside(c))).To(BeEmpty(), "nothing is delivered after UNSUBACK")
		c.Disconnect()
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "away"})
		again := resumed(b, "again", id)
		Expect(again.DeliveredBefore(pub.SentinelAside(again))).To(BeEmpty(), "nothing is queued after UNSUBACK")
	})

	keys := []string{"v311/MQTT-3.10.4-3", "v5/MQTT-3.10.4-3"}
	It("lets a QoS 2 delivery that has begun be completed", v.Statement(keys...), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic, 2)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "begun"})
		id := c.Unacknowledged().ID

		c.Unsubscribe(topic)
		c.Send(wire.Ack{Type: wire.PUBREC, ID: id})

		Expect(c.Answer(wire.PUBREL)).To(probe.BePacket(And(HaveField("ID", id), HaveField("Code", BeNumerically("<", 0x80)))), "the exchange goes on")
	})

	It("lets an open delivery be sent again when the Session is resumed", v.Statement(keys...), func() {
		client, topic := b.ClientID(), b.Topic()
		c := b.Connect("client", probe.ID(client), probe.Persistent).Subscribe(topic, 1)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "begun"})
		c.Unacknowledged()
		c.Unsubscribe(topic)
		c.Drop()

		again := resumed(b, "again", client)

		Expect(again.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "begun")), "the message is sent again")
	})
}
