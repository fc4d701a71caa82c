package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// removal holds the specs of the codes that UNSUBACK has in MQTT 5.0: section
// 3.11.3.
func removal(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.11.3 UNSUBACK", func() {
		It("has its codes in the order of the filters", v.Statement("v5/MQTT-3.11.3-1"), func() {
			c := b.Connect("client").Subscribe(b.Topic(), 0)
			one, two := b.Topic(), b.Topic()
			held, unknown := removed(c.Subscribe(one, 0), one)[0], removed(c, b.Topic())[0]
			if held == unknown {
				probe.Unsupported("the broker answers 0x%02x whether there was a subscription or not", held)
			}
			c.Subscribe(one, 0).Subscribe(two, 0)
			Expect(removed(c, one, b.Topic(), b.Topic())).To(HaveExactElements(held, unknown, unknown), "the filter that was held stands first")
			Expect(removed(c, b.Topic(), b.Topic(), two)).To(HaveExactElements(unknown, unknown, held), "the filter that was held stands last")
		})

		key := "v5/3.11.3-unsuback-code-11"
		It("has 0x11 where there was no subscription, and only there", v.Statement(key), func() {
			topic := b.Topic()
			c := b.Connect("client").Subscribe(topic, 0)
			Expect(removed(c, topic)).NotTo(ContainElement(byte(0x11)), "there was a subscription")
			probe.Warns(key).Expect(removed(c, topic)).To(HaveExactElements(byte(0x11)), "it was removed before")
			probe.Warns(key).Expect(removed(c, b.Topic())).To(HaveExactElements(byte(0x11)), "there was none")
		})

		It("comes also for an UNSUBSCRIBE with User Properties that repeat", v.Statement("v5/3.10.2.1.2-user-property-repeats"), func() {
			topic := b.Topic()
			c := b.Connect("client").Subscribe(topic, 0)
			c.Send(wire.Unsubscribe{ID: c.NextID(), Filters: []string{topic}, Properties: wire.Properties{{ID: wire.UserProperty, Pair: [2]string{"a", "1"}}}})
			c.Awaits(wire.UNSUBACK)
			p := wire.Unsubscribe{ID: c.NextID(), Filters: []string{topic}}
			for _, pair := range [][2]string{{"a", "1"}, {"a", "1"}, {"b", "2"}} {
				p.Properties = append(p.Properties, wire.Property{ID: wire.UserProperty, Pair: pair})
			}
			c.Send(p)
			Expect(c.Answer(wire.UNSUBACK)).To(probe.BePacket(HaveField("ID", p.ID)))
		})
	})
}

// removed unsubscribes and returns the codes of the UNSUBACK, one for each filter.
func removed(c *probe.Client, filters ...string) []byte {
	GinkgoHelper()
	c.Send(wire.Unsubscribe{ID: c.NextID(), Filters: filters})
	a := c.Answer(wire.UNSUBACK)
	ack, ok := a.Packet.(wire.Unsuback)
	if !a.Came || !ok || len(ack.Codes) != len(filters) {
		probe.Inconclusive("%s: the set-up needs an UNSUBACK with %d codes, but %s", c.Name(), len(filters), a.GomegaString())
	}
	return ack.Codes
}
