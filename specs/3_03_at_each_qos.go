package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// atEachQoS holds specs of section 3.3 whose rules hold at every QoS, where
// some servers keep a message apart until it is released.
func atEachQoS(b *probe.Broker, v version) {
	Describe("3.3.1.1 DUP", func() {
		keys := []string{"v311/MQTT-3.3.1-2", "v5/MQTT-3.3.1-2"}
		It("1 at QoS 0 closes the connection", v.Statement(keys...), func() {
			topic := b.Topic()
			watch, pub := b.Bystander(), b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, Payload: "valid twin"})
			pub.SendBytes(wire.Bytes(b.Version, wire.Publish{Topic: topic, Dup: true, Payload: "broken"}))
			probe.Warns(v.key(keys...)).Expect(pub).To(probe.BeClosed(), "DUP is 0 at QoS 0")
			watch.Unharmed()
		})
	})
	if !v.is5() {
		return
	}
	Describe("3.3.2.3 PUBLISH Properties", func() {
		for _, qos := range []byte{0, 2} {
			for _, u := range unaltered {
				It(u.what+" comes unaltered at QoS "+digit(qos), v.Statement(u.key), func() {
					carriedAt(b, qos, u.sent)
				})
			}
			It("User Properties all come at QoS "+digit(qos), v.Statement("v5/MQTT-3.3.2-17"), func() {
				carriedAt(b, qos, pair("name", "value"))
			})
		}

		empty := v.key("v5/MQTT-4.7.3-1")
		It("Response Topic that is empty closes the connection", v.Statement(empty), func() {
			refusedPublish(b, empty, "the Response Topic has at least one character", func(topic string) []byte {
				return withProperties(b, topic, wire.Property{ID: wire.ResponseTopic})
			})
		})
	})
	Describe("3.3.2.3.3 Message Expiry Interval", func() {
		It("comes with a message until it is over", Timing, v.Statement("v5/MQTT-3.3.2-6"), func() {
			b.Lacking("retain")
			topic, pub := b.Topic(), b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Retain: true, Payload: "soon over", Properties: wire.Properties{lifetime(2)}})
			clock, came, due := b.Connect("clock"), 0, 1
			for range 6 {
				clock.Within(b.Seconds(0.3), wire.DISCONNECT)
				for _, p := range welcomed(b, topic, topic, due) {
					came++
					Expect(intervals(p)).To(HaveLen(1), "what is left of two seconds, 0 or 1 among them, comes with the message")
				}
				due = 0 // it may be over from now on
			}
			if came == 0 {
				probe.Inconclusive("the retained message never came")
			}
		})
	})
}

// carriedAt asserts that a property comes with a message at a QoS.
func carriedAt(b *probe.Broker, qos byte, sent wire.Property) {
	GinkgoHelper()
	m := message(b, sent)
	m.QoS = qos
	got := pathLive.along(b, m)
	Expect(values(got.Properties, sent.ID)).To(ContainElements(values(wire.Properties{sent}, sent.ID)), "published at QoS %d", qos)
}

// subscriptionValues holds specs of section 3.8 on values at their borders and
// on No Local.
func subscriptionValues(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.8.2.1.2 Subscription Identifier", func() {
		It("is any from 1 to 268435455", v.Statement("v5/3.8.2.1.2-subscription-id-range", "v5/MQTT-3.3.4-3"), func() {
			b.Lacking("subscription-ids")
			for _, id := range []uint32{1, 127, 128, 16383, 16384, 2097151, 2097152, 268435454, 268435455} {
				topic := b.Topic()
				c := b.Connect("client")
				c.Send(wire.Subscribe{ID: 1, Properties: wire.Properties{{ID: wire.SubscriptionIdentifier, Int: id}}, Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}})
				a := c.Answer(wire.SUBACK)
				Expect(a).To(probe.BePacket(HaveField("Codes", HaveExactElements(BeNumerically("<", 0x80)))), "the identifier %d is taken", id)
				b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "to it"})
				Expect(values(c.Delivery().Properties, wire.SubscriptionIdentifier)).To(Equal([]string{fmt.Sprint(id)}), "it comes back with a message")
			}
		})
	})

	Describe("3.8.3.1 No Local", func() {
		It("1 keeps the client's own messages away whatever their properties", v.Statement("v5/MQTT-3.8.3-3"), func() {
			topic := b.Topic()
			c, other := b.Connect("client"), b.Connect("other")
			c.SubscribeWith(deaf(topic))
			for _, u := range unaltered {
				c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "own", Properties: wire.Properties{u.sent}})
			}
			Expect(c.DeliveredBefore(other.Sentinel(topic, 1))).To(BeEmpty(), "only what others publish comes")
		})
	})
}
