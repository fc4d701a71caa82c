package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// filters returns n Topic Filters below a topic.
func filters(topic string, n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("%s/%d", topic, i))
	}
	return list
}

// largeAnswers are about answers that have nothing which could be left out.
func largeAnswers(b *probe.Broker, v version) {
	const limited = "v5/MQTT-3.1.2-24"
	for _, n := range []int{1, 4} {
		It(fmt.Sprintf("of %d leaves no room for CONNACK", n), v.Statement(limited), func() {
			b.Connect("twin").Disconnect()
			c := b.Open("client")

			c.Send(b.ConnectPacket(packetLimit(n)), wire.Pingreq{})

			c.Answer(wire.PINGRESP)
			keepsTo(c, n)
		})
	}

	for _, c := range []struct {
		kind   wire.Type
		key    string
		asking func(id uint16, filters []string) wire.Packet
	}{
		{wire.SUBACK, "v5/MQTT-3.8.4-1", func(id uint16, filters []string) wire.Packet {
			p := wire.Subscribe{ID: id}
			for _, f := range filters {
				p.Subscriptions = append(p.Subscriptions, wire.Subscription{Filter: f})
			}
			return p
		}},
		{wire.UNSUBACK, "v5/MQTT-3.10.4-4", func(id uint16, filters []string) wire.Packet {
			return wire.Unsubscribe{ID: id, Filters: filters}
		}},
	} {
		It("is the size of the largest "+c.kind.String(), v.Statement(limited, c.key), func() {
			limit := max(sizeOf(b.Connect("asking"), wire.CONNACK), 10)
			client := b.Connect("client", packetLimit(limit))
			topic := b.Topic()
			const header = 5 // of both, with a Property Length of 0

			client.Send(c.asking(client.NextID(), filters(topic, limit-header)))
			probe.For(c.key).Expect(client.Answer(c.kind)).To(probe.BeA(c.kind), "one of exactly that size is sent")
			client.Send(c.asking(client.NextID(), filters(topic, limit-header+1)))
			client.BeforePing()

			keepsTo(client, limit)
		})
	}
}

// serverLimit holds the specs of section 3.2.2.3.6: the Maximum Packet Size
// that the server announces.
func serverLimit(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.2.2.3.6 Maximum Packet Size of the server", func() {
		const key, row, answered = "v5/MQTT-3.2.2-15", "v5/3.2.2.3.6-packet-too-large", "v5/MQTT-3.3.4-1"
		It("is the size of the largest PUBLISH that is taken", v.Statement(answered), func() {
			small, limit := limiting(b)
			topic := b.Topic()
			sub, pub := small.Connect("sub").Subscribe(topic, 1), small.Connect("pub")

			p := publishOf(limit, b.Version, topic)
			pub.Send(p)

			Expect(pub.Answer(wire.PUBACK)).To(probe.BeA(wire.PUBACK), "a packet of exactly that size is taken")
			Expect(sub.Arrival()).To(probe.BePacket(HaveField("Payload", p.Payload)))
		})

		It("ends the connection of a client that sends a larger PUBLISH", v.Statement(key), func() {
			refusedTooLarge(b, key, nil, func(topic string, limit int) wire.Packet { return publishOf(limit+1, b.Version, topic) })
		})
		It("ends the connection of a client that sends a larger SUBSCRIBE", v.Statement(key), func() {
			refusedTooLarge(b, key, nil, func(topic string, limit int) wire.Packet {
				p := wire.Subscribe{ID: 99}
				for _, f := range filters(topic, limit/len(topic)+1) {
					p.Subscriptions = append(p.Subscriptions, wire.Subscription{Filter: f})
				}
				return p
			})
		})
		It("ends the connection of a client that sends a larger PUBLISH with the code 0x95", v.Statement(row, "v5/3.14.2.1-disconnect-code-95"), func() {
			refusedTooLarge(b, row, []byte{0x95}, func(topic string, limit int) wire.Packet { return publishOf(limit+1, b.Version, topic) })
		})
	})
}

// limiting returns a broker with a Maximum Packet Size in CONNACK that is soon
// reached: the one under test, or a variant.
func limiting(b *probe.Broker) (*probe.Broker, int) {
	GinkgoHelper()
	for _, candidate := range []func() *probe.Broker{
		func() *probe.Broker { return b },
		func() *probe.Broker { return b.Variant("small-packets") },
	} {
		small := candidate()
		if n := small.Connect("asking").Limit(wire.MaximumPacketSize, 0); n > 0 && n <= 1<<20 {
			return small, int(n)
		}
	}
	probe.Unsupported("CONNACK has no Maximum Packet Size of at most a megabyte")
	return nil, 0
}

// publishOf returns a PUBLISH at QoS 1 of a certain size.
func publishOf(size int, v wire.Version, topic string) wire.Publish {
	p := wire.Publish{Topic: topic, QoS: 1, ID: 99}
	for n := max(0, size-len(topic)-16); len(wire.Bytes(v, p)) < size; n++ {
		p.Payload = filler(n)
	}
	return p
}

// refusedTooLarge asserts that a packet above the limit of the server ends the
// connection and reaches nobody.
func refusedTooLarge(b *probe.Broker, key string, codes []byte, broken func(topic string, limit int) wire.Packet) {
	GinkgoHelper()
	small, limit := limiting(b)
	topic := b.Topic()
	watch, sub, pub := small.Bystander(), small.Connect("sub").Subscribe(topic, 1), small.Connect("pub")
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "valid twin"})
	takes(sub, "valid twin")

	pub.SendBytes(wire.Bytes(b.Version, broken(topic, limit)))

	probe.Reaction(key).Expect(pub).To(probe.BeClosed(), "the server ends the connection")
	probe.Reaction(key).Expect(sub.DeliveredBefore(small.Connect("later").Sentinel(topic, 1))).To(BeEmpty(), "nothing of it is delivered")
	advisedCode(pub, key, codes...)
	watch.Unharmed()
}
