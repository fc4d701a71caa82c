package specs

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// packetSize holds the specs of section 3.1.2.11.4: the Maximum Packet Size
// that the client announces.
func packetSize(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.1.2.11.4 Maximum Packet Size of the client", func() {
		exactSize(b, v)
		largeMessages(b, v)
		largeAnswers(b, v)
		discarded(b, v)
		sharedTooLarge(b, v)
	})
}

// smallLimit is a Maximum Packet Size that leaves room for CONNACK and for the
// topics of the suite, and whose packets have a Remaining Length of one byte.
const smallLimit = 120

// packetLimit announces a Maximum Packet Size in CONNECT.
func packetLimit(n int) probe.Option {
	return probe.Properties(wire.Property{ID: wire.MaximumPacketSize, Int: uint32(n)})
}

// filler is a payload of n bytes.
func filler(n int) string { return strings.Repeat("x", n) }

// small and large are payloads below and above smallLimit.
const small = "small"

var large = filler(smallLimit)

// keepsTo asserts that no packet on a connection is larger than a limit.
func keepsTo(c *probe.Client, limit int) {
	GinkgoHelper()
	for _, r := range c.History() {
		Expect(len(r.Raw)).To(BeNumerically("<=", limit), "%s is not larger than the Maximum Packet Size", r.Type)
	}
}

// sizeOf returns the size of the first packet of a kind on a connection.
func sizeOf(c *probe.Client, kind wire.Type) int {
	GinkgoHelper()
	for _, r := range c.History() {
		if r.Type == kind {
			return len(r.Raw)
		}
	}
	probe.Inconclusive("there is no %s", kind)
	return 0
}

// payloadFor publishes a message and returns the length of the payload with
// which its delivery would have a certain size.
func payloadFor(size int, pub, sub *probe.Client, topic string, qos byte) int {
	GinkgoHelper()
	pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: small})
	a := sub.Arrival()
	if !a.Came {
		probe.Inconclusive("the set-up needs a small message, but %s", a.GomegaString())
	}
	return len(small) + size - len(a.Raw)
}

func exactSize(b *probe.Broker, v version) {
	const limited, arrives = "v5/MQTT-3.1.2-24", "v5/MQTT-4.5.0-1"
	for _, qos := range []byte{0, 1, 2} {
		It("is the size of the largest message that comes at QoS "+digit(qos), v.Statement(limited, arrives), func() {
			topic := b.Topic()
			sub := b.Connect("sub", packetLimit(smallLimit)).Subscribe(topic, qos)
			pub := b.Connect("pub")
			n := payloadFor(smallLimit, pub, sub, topic, qos)
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: filler(n + 1)})
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: filler(n)})

			got := collected(sub, pub.Sentinel(topic, qos), 1)

			keepsTo(sub, smallLimit)
			probe.For(arrives).Expect(got).To(ContainElement(HaveField("Payload", HaveLen(n))), "a message of exactly that size is delivered")
		})
	}

	It("counts the Subscription Identifier", v.Statement(limited), func() {
		b.Lacking("subscription-ids")
		topic := b.Topic()
		sub := b.Connect("sub", packetLimit(smallLimit))
		sub.SubscribeWith(wire.Subscribe{
			Properties:    wire.Properties{{ID: wire.SubscriptionIdentifier, Int: 268435455}},
			Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}},
		})
		pub := b.Connect("pub")
		n := payloadFor(smallLimit, pub, sub, topic, 1)
		for i := range 8 {
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: filler(n + i)})
		}

		sub.DeliveredBefore(pub.Sentinel(topic, 1))

		keepsTo(sub, smallLimit)
	})

	It("counts the Topic Alias", v.Statement(limited), func() {
		topic := b.Topic()
		sub := b.Connect("sub", packetLimit(smallLimit), aliasMaximum(10)).Subscribe(topic+"/0", 1)
		pub := b.Connect("pub")
		n := payloadFor(smallLimit, pub, sub, topic+"/0", 1)
		for i := range 6 {
			name := fmt.Sprintf("%s/%d", topic, i)
			sub.Subscribe(name, 1)
			pub.Publish(wire.Publish{Topic: name, QoS: 1, Payload: filler(n + i)})
		}

		sub.DeliveredBefore(pub.SentinelAside(sub))

		keepsTo(sub, smallLimit)
		if !slices.ContainsFunc(delivered(sub), func(p wire.Publish) bool { return p.Properties.Number(wire.TopicAlias, 0) > 0 }) {
			probe.Unsupported("the server uses no Topic Alias")
		}
	})
}

// largeMessages are about messages that come to the client in other ways than
// at once.
func largeMessages(b *probe.Broker, v version) {
	const limited = "v5/MQTT-3.1.2-24"
	It("holds for messages that were queued", v.Statement(limited), func() {
		topic, id := b.Topic(), b.ClientID()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 2).Disconnect()
		pub := b.Connect("pub")
		for _, qos := range []byte{1, 2} {
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: large})
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: small})
		}

		again := b.Connect("again", probe.ID(id), probe.Persistent, packetLimit(smallLimit))

		// No order binds messages of different QoS to each other.
		got := append(again.DeliveredBefore(pub.Sentinel(topic, 1)), again.DeliveredBefore(pub.Sentinel(topic, 2))...)
		keepsTo(again, smallLimit)
		probe.For("v5/MQTT-3.1.2-25").Expect(got).To(HaveExactElements(HaveField("Payload", small), HaveField("Payload", small)), "the others come")
	})

	It("holds for retained messages", v.Statement(limited), func() {
		b.Lacking("retain")
		topic, pub := b.Topic(), b.Connect("pub")
		settled(b, pub, toKeep(topic+"/a", 1, large), toKeep(topic+"/b", 1, small))

		sub := b.Connect("sub", packetLimit(smallLimit)).Subscribe(topic+"/a", 1).Subscribe(topic+"/b", 1)

		// No order binds what is retained to a sentinel.
		a := sub.AnswerWhere(hasPayload(small), wire.PUBLISH)
		probe.For("v5/MQTT-3.1.2-25").Expect(a).To(probe.BePacket(HaveField("Payload", small)), "the other one comes")
		sub.Acknowledge(a.Packet.(wire.Publish))
		sub.DeliveredBefore(pub.Sentinel(topic+"/b", 1))
		keepsTo(sub, smallLimit)
	})

	for _, qos := range []byte{1, 2} {
		It("holds for messages that are sent again at QoS "+digit(qos), v.Statement(limited), func() {
			topic, id := b.Topic(), b.ClientID()
			first := b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, qos)
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: large})
			first.Unacknowledged()
			first.Drop()

			again := b.Connect("again", probe.ID(id), probe.Persistent, packetLimit(smallLimit))

			again.DeliveredBefore(pub.Sentinel(topic, qos))
			keepsTo(again, smallLimit)
		})
	}
}

func discarded(b *probe.Broker, v version) {
	const done = "v5/MQTT-3.1.2-25"
	for _, qos := range []byte{1, 2} {
		It("lets a message that is too large take nothing of the Receive Maximum at QoS "+digit(qos), v.Statement(done), func() {
			topic := b.Topic()
			one := probe.Properties(wire.Property{ID: wire.ReceiveMaximum, Int: 1})
			sub := b.Connect("sub", packetLimit(smallLimit), one).Subscribe(topic, qos)
			pub := b.Connect("pub")
			for range 2 {
				pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: large})
			}
			pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: small})

			Expect(sub.Arrival()).To(probe.BePacket(HaveField("Payload", small)), "what is discarded counts as sent: the next message comes")
			Expect(sub).To(probe.BeAlive(), "and the client stays connected")
		})
	}

	for _, away := range []bool{false, true} {
		It("drops a message that is too large for good, "+map[bool]string{false: "also for a later connection", true: "also where it was queued"}[away], v.Statement(done), func() {
			topic, id := b.Topic(), b.ClientID()
			first := b.Connect("first", probe.ID(id), probe.Persistent, packetLimit(smallLimit)).Subscribe(topic, 1)
			pub := b.Connect("pub")
			if away {
				first.Drop()
			}
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: large})
			if away {
				first = b.Connect("second", probe.ID(id), probe.Persistent, packetLimit(smallLimit))
			}
			first.DeliveredBefore(pub.Sentinel(topic, 1))
			first.Disconnect()

			again := resumed(b, "again", id)

			Expect(again.DeliveredBefore(pub.Sentinel(topic, 1))).To(BeEmpty(), "what was discarded does not come on a connection without the limit")
		})
	}

	It("keeps a message that is too large from no other client", v.Statement(done), func() {
		topic := b.Topic()
		b.Connect("sub", packetLimit(smallLimit)).Subscribe(topic, 1)
		other, pub := b.Connect("other").Subscribe(topic, 1), b.Connect("pub")

		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: large})

		Expect(other.Arrival()).To(probe.BePacket(HaveField("Payload", large)), "a client without the limit gets it")
	})

	It("leaves a retained message that is too large where it is", v.Statement(done), func() {
		b.Lacking("retain")
		topic, pub := b.Topic(), b.Connect("pub")
		settled(b, pub, toKeep(topic, 1, large))
		b.Connect("sub", packetLimit(smallLimit)).Subscribe(topic, 1).Ping()

		Expect(b.Connect("other").Subscribe(topic, 1).Arrival()).To(probe.BePacket(HaveField("Payload", large)), "it is discarded for one client")
	})
}

func sharedTooLarge(b *probe.Broker, v version) {
	const key = "v5/3.1.2.11.4-shared-too-large"
	It("of one member of a shared subscription", v.Observation(key), func() {
		b.Lacking("shared")
		topic := b.Topic()
		filter := "$share/group/" + topic
		member := b.Connect("limited", packetLimit(smallLimit)).Subscribe(filter, 1)
		other, pub := b.Connect("other").Subscribe(filter, 1), b.Connect("pub")
		const all = 6
		for range all {
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: large})
		}
		got := len(other.DeliveredBefore(pub.SentinelAside(other)))
		member.Ping()
		switch {
		case got == all:
			probe.Observe(key, "a message that is too large for a member goes to another")
		case got == 0:
			probe.Observe(key, "a message that is too large for a member goes to nobody")
		default:
			probe.Observe(key, "a message that is too large for the member whose turn it is goes to nobody")
		}
	})
}
