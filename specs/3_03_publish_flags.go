package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// publishFlags holds the specs of section 3.3.1: DUP, QoS and RETAIN of the
// fixed header.
func publishFlags(b *probe.Broker, v version) {
	Describe("3.3.1 PUBLISH flags", func() {
		dupFlag(b, v)
		qosBits(b, v)
	})
}

func dupFlag(b *probe.Broker, v version) {
	Describe("DUP", func() {
		for _, qos := range []byte{1, 2} {
			It("is 0 on the first delivery at QoS "+digit(qos)+", whatever the publisher sent",
				v.Statement("v311/MQTT-3.3.1-3", "v5/MQTT-3.3.1-3"), func() {
					topic := b.Topic()
					sub := b.Connect("sub").Subscribe(topic, qos)
					pub := b.Connect("pub")

					pub.Publish(wire.Publish{Topic: topic, QoS: qos, Dup: true, Payload: "first"})

					Expect(sub.Delivery()).To(And(HaveField("Payload", "first"), HaveField("Dup", false)))
					Expect(sub.DeliveredBefore(pub.Sentinel(topic, qos))).To(BeEmpty(), "one delivery only")
				})
		}

		It("is 0 on every delivery at QoS 0",
			v.Statement("v311/MQTT-3.3.1-2", "v5/MQTT-3.3.1-2"), func() {
				topic := b.Topic()
				sub := b.Connect("sub").Subscribe(topic, 0)
				pub := b.Connect("pub")

				pub.Publish(wire.Publish{Topic: topic, QoS: 0, Payload: "at 0"})
				Expect(sub.Delivery()).To(And(HaveField("Payload", "at 0"), HaveField("Dup", false)))
				pub.Publish(wire.Publish{Topic: topic, QoS: 1, Dup: true, Payload: "at 1"})
				Expect(sub.Delivery()).To(And(HaveField("Payload", "at 1"), HaveField("Dup", false)))
			})
	})
}

func qosBits(b *probe.Broker, v version) {
	It("with both QoS bits set closes the connection and reaches nobody",
		v.Statement("v311/MQTT-3.3.1-4", "v5/MQTT-3.3.1-4", "v5/3.3.1.2-qos-3"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 2)
			pub, watch := b.Connect("pub"), b.Bystander()
			pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "valid twin"})
			takes(sub, "valid twin")

			pub.Send(wire.Publish{Topic: topic, QoS: 3, ID: 77, Payload: "at QoS 3"})

			rejected := v.key("v311/MQTT-3.3.1-4", "v5/MQTT-3.3.1-4")
			probe.Reaction(rejected).Expect(pub).To(probe.BeClosed(), "QoS 3 closes the connection")
			Expect(sub.DeliveredBefore(b.Connect("later").Sentinel(topic, 2))).To(BeEmpty(), "nothing of it is delivered")
			watch.Unharmed()
		})
}

func digit(n byte) string { return string('0' + rune(n)) }
