package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// disconnect holds the specs of section 3.14.
func disconnect(b *probe.Broker, v version) {
	Describe("3.14 DISCONNECT", func() {
		keys := []string{"v311/MQTT-3.14.1-1", "v5/MQTT-3.14.1-1"}
		It("with flag bits is no DISCONNECT: the connection ends and the will is published", v.Statement(keys...), func() {
			topic := b.Topic("will")
			sub := b.Connect("sub").Subscribe(topic, 1)
			b.Connect("twin", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("twin")})).Disconnect()
			if len(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))) > 0 {
				probe.Inconclusive("no will tells what a DISCONNECT was taken for: a valid one does not throw it away")
			}
			watcher, breaker := testator(b, "broken")
			breaker.SendBytes(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic(), QoS: 3, ID: 1}))
			if !willArrives(b, v, watcher, 0).Came {
				probe.Inconclusive("no will tells what a DISCONNECT was taken for: none is published of a client that breaks the format otherwise")
			}
			c := b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")}))

			c.SendBytes([]byte{0xe1, 0})

			probe.Reaction(v.key(keys...)).Expect(c).To(probe.BeClosed(), "a malformed packet closes the connection")
			probe.Reaction(v.key(keys...)).Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(HaveField("Payload", "gone")), "the will is published")
		})

		It("ends the connection from the server's side, if the client does not end it", v.Statement("v311/3.14.4-server-closes", "v5/3.14.4-receiver-closes"), func() {
			c := b.Connect("client")
			c.Send(wire.Disconnect{})
			probe.Warns(v.key("v311/3.14.4-server-closes", "v5/3.14.4-receiver-closes")).Expect(c).To(probe.BeEnded(b.Timeout), "the server closes if the client has not")
		})

		if !v.is5() {
			It("with a body ends the connection", v.Statement("v311/3.14-disconnect-length"), func() {
				_, c := testator(b, "will of the clumsy")

				c.SendBytes([]byte{0xe0, 1, 0})

				probe.Reaction("v311/3.14-disconnect-length").Expect(c).To(probe.BeClosed(), "a DISCONNECT of Remaining Length 1 is malformed, or a DISCONNECT all the same")
			})
		}

		It("ends what is sent behind it", v.Statement("v311/3.14.4-nothing-after", "v5/3.14.4-nothing-processed-after"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 1)
			c := b.Connect("client")
			c.Send(wire.Disconnect{}, wire.Publish{Topic: topic, QoS: 1, ID: 1, Payload: "behind DISCONNECT"})
			c.Within(b.Timeout, wire.PUBACK)

			got := sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))
			probe.Reaction(v.key("v311/3.14.4-nothing-after", "v5/3.14.4-nothing-processed-after")).Expect(got).To(BeEmpty(), "nothing behind DISCONNECT is carried out")
		})
	})
}

// watched returns a client with a will, who watches for it, and its topic.
func watched(b *probe.Broker) (client, sub *probe.Client, topic string) {
	GinkgoHelper()
	topic = b.Topic("will")
	sub = b.Connect("sub").Subscribe(topic, 1)
	client = b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")}))
	return client, sub, topic
}
