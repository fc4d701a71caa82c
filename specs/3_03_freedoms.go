package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// publishFreedoms observes what sections 3.3 and 4.5 leave to a server, and
// judges messages that are legal and rarely seen.
func publishFreedoms(b *probe.Broker, v version) {
	Describe("3.3 PUBLISH", func() {
		namesOnTheWay(b, v)
		if !v.is5() {
			emptyPayloads(b, v)
			howManyCopies(b, v)
			uninvited(b, v)
		}
	})
	Describe("3.3.1.3 RETAIN", func() { howLongRetained(b, v) })
}

func namesOnTheWay(b *probe.Broker, v version) {
	keys := []string{"v311/3.3.2.1-topic-override", "v5/3.3.2.1-topic-mapping"}
	It("tell under which Topic Name a message is delivered", v.Observation(keys...), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic+"/#", 1)
		b.Connect("pub").Publish(wire.Publish{Topic: topic + "/name", QoS: 1, Payload: "named"})
		if got := sub.Delivery().Topic; got != topic+"/name" {
			probe.Observe(v.key(keys...), "a message for %q comes as one for %q", topic+"/name", got)
			return
		}
		probe.Observe(v.key(keys...), "a message comes under the Topic Name that it was published with")
	})
}

func emptyPayloads(b *probe.Broker, v version) {
	for _, qos := range []byte{0, 1, 2} {
		It("without a payload is delivered at QoS "+digit(qos), v.Statement("v311/3.3.3-empty-payload"), func() {
			topic := b.Topic()
			sub, pub := b.Connect("sub").Subscribe(topic, qos), b.Connect("pub")

			pub.Publish(wire.Publish{Topic: topic, QoS: qos})

			Expect(collected(sub, pub.Sentinel(topic, qos), 1)).To(HaveExactElements(
				And(HaveField("Topic", topic), HaveField("Payload", ""))), "an empty payload is one as well")
		})
	}
}

func howManyCopies(b *probe.Broker, v version) {
	It("tell how many copies overlapping subscriptions bring", v.Observation("v311/3.3.5-extra-copies"), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic+"/#", 1).Subscribe(topic+"/+", 1).Subscribe(topic+"/a", 1)
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic + "/a", QoS: 1, Payload: "overlap"})
		probe.Observe("v311/3.3.5-extra-copies", "a message for three subscriptions of a client comes %s", times(len(sub.DeliveredBefore(pub.SentinelAside(sub)))))
	})
}

func uninvited(b *probe.Broker, v version) {
	It("tell whether a client gets messages that it has not subscribed to", v.Observation("v311/4.5-server-made-subscription"), func() {
		c, pub := b.Connect("client"), b.Connect("pub")
		pub.Publish(wire.Publish{Topic: b.Topic(), QoS: 1, Payload: "for others"})
		names := []string{}
		for _, r := range c.BeforePing() {
			if p, ok := r.Packet.(wire.Publish); ok {
				names = append(names, p.Topic)
			}
		}
		if len(names) > 0 {
			probe.Observe("v311/4.5-server-made-subscription", "a client without subscriptions gets messages on %s", strings.Join(names, ", "))
			return
		}
		probe.Observe("v311/4.5-server-made-subscription", "a client without subscriptions gets nothing")
	})
}

func howLongRetained(b *probe.Broker, v version) {
	light := []string{"v311/3.3.1.3-qos0-retained-stored", "v5/3.3.1.3-retained-qos0-stored"}
	It("tell whether a message at QoS 0 is retained", v.Observation(light...), func() {
		b.Lacking("retain")
		topic, pub := b.Topic(), b.Connect("pub")
		settled(b, pub, toKeep(topic, 0, "light"))
		kept := map[bool]string{true: "is kept", false: "is dropped"}[len(welcome(b, topic, 1, topic)) > 0]
		probe.Observe(v.key(light...), "a retained message at QoS 0 %s", kept)
	})

	if v.is5() {
		return
	}
	It("keeps a message until a client deletes it", Timing, v.Statement("v311/4.1-retained-until-deleted"), func() {
		topic := b.Topic()
		keptRetained(b, topic)

		b.Connect("clock").Within(b.Seconds(2.5), wire.PUBLISH)

		probe.Warns("v311/4.1-retained-until-deleted").Expect(welcomed(b, topic, topic, 1)).To(HaveExactElements(HaveField("Payload", topic)), "the message is still there")
	})

	It("brings a new subscription all messages that match it", v.Statement("v311/3.8.4-new-subscription-retained"), func() {
		topic := b.Topic()
		keptRetained(b, topic+"/a", topic+"/a/b", topic+"/c", topic+"/other/c")

		c := b.Connect("later")
		c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: topic + "/a/#", QoS: 1}, {Filter: topic + "/c", QoS: 1}}})

		Expect(payloads(collected(c, b.Connect("end").Sentinel(topic+"/c", 1), 3))).To(
			ConsistOf(topic+"/a", topic+"/a/b", topic+"/c"), "those of both filters, and no other")
	})
}
