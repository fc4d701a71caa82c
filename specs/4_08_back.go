package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// membersBack holds the specs of section 4.8.2 on members whose Session is
// resumed.
func membersBack(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("4.8.2 Shared Subscriptions", func() {
		BeforeEach(func() { b.Lacking("shared") })

		It("still have a member that comes back without subscribing", v.Statement("v5/MQTT-3.1.2-5", "v5/4.8.2-survives-creator"), func() {
			topic := b.Topic()
			c, resume := away(b, group("g", topic), 1)
			for _, name := range []string{"second", "third"} {
				c.Drop()
				c = resume(name)
				b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "to the " + name})
				comes(c, "to the "+name, "the subscription is part of the Session")
			}
		})

		It("send what waited for the only member, all of it", v.Statement("v5/MQTT-4.5.0-1"), func() {
			topic := b.Topic()
			c, resume := away(b, group("g", topic), 1)
			c.Disconnect()
			pub := b.Connect("pub")
			numbered(pub, topic, 1, 3)
			c = resume("again")
			got := map[string]bool{}
			for range 3 {
				a := c.Answer(wire.PUBLISH)
				Expect(a).To(probe.BeA(wire.PUBLISH), "each of the three comes")
				p := a.Packet.(wire.Publish)
				c.Acknowledge(p)
				got[p.Payload] = true
			}
			Expect(got).To(HaveLen(3))
			Expect(c).To(probe.BeAlive(), "the connection lasts")
		})

		It("send again what the only member has not acknowledged", v.Statement("v5/MQTT-4.4.0-1"), func() {
			topic := b.Topic()
			c, resume := away(b, group("g", topic), 1)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
			c.Unacknowledged()
			c.Drop()
			Expect(resume("again").Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "open")), "it is not done with by being sent")
		})
	})
}
