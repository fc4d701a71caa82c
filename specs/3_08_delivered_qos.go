package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// qosAlongPaths holds the specs of section 3.8.4 on the QoS of a delivery, for
// every way in which a message comes to a subscriber and publishers of both
// versions.
func qosAlongPaths(b *probe.Broker, v version) {
	Describe("3.8.4 Delivered QoS", func() {
		for _, p := range pathsTo(v, pathRepeated) {
			for _, other := range []bool{false, true} {
				if p.name == pathLive.name && !other {
					continue // section 3.8 has them one by one
				}
				name := "is the lower of the published and the granted for a message " + p.name
				if other {
					name += ", from a publisher of the other version"
				}
				It(name, v.Statement("v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"), func() {
					from := b
					if other {
						from = inOther(b)
					}
					for _, l := range p.levels() {
						m := message(b)
						m.QoS = l.published
						sub := p.carry(journey{from: from, to: b, message: m, asked: &l.granted})

						a := sub.Answer(wire.PUBLISH)
						if !a.Came {
							probe.Inconclusive("no message came: %s", a.GomegaString())
						}
						Expect(a).To(probe.BePacket(HaveField("QoS", min(l.published, l.granted))), "published at QoS %d, granted QoS %d", l.published, l.granted)
						l.comesOnce(v, sub, a, from, p.name == pathRetained.name)
					}
				})
			}
		}
	})
}

// levels are the QoS of a publication and of a subscription.
type levels struct{ published, granted byte }

// comesOnce judges whether a message that a client has got comes to it again,
// though nothing was lost: not when the delivery is at QoS 2, nor by way of being
// sent again in MQTT 5.0. One that was published at QoS 2 should not, and one at
// QoS 0 comes at most once. Of QoS 1 more is not said, and of a retained message
// a copy may come because it was published as well.
func (l levels) comesOnce(v version, sub *probe.Client, first probe.Answer, from *probe.Broker, retained bool) {
	GinkgoHelper()
	sub.Acknowledge(first.Packet.(wire.Publish))
	topic := first.Packet.(wire.Publish).Topic
	more := []wire.Publish{}
	for _, p := range sub.DeliveredBefore(from.Connect("end").SentinelAside(sub)) {
		if p.Topic == topic {
			more = append(more, p)
		}
	}
	key := v.key("v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8")
	switch delivered := min(l.published, l.granted); {
	case delivered == 2 && !retained:
		Expect(more).To(BeEmpty(), "a message at QoS 2 comes once")
	case delivered == 2, delivered == 0 && l.published != 1:
		probe.Warns(key).Expect(more).To(BeEmpty(), "published at QoS %d, granted QoS %d: it comes once", l.published, l.granted)
	case v.is5():
		probe.For("v5/MQTT-4.4.0-1").Expect(more).NotTo(ContainElement(HaveField("Dup", true)), "nothing is sent again while the connection lasts")
	}
}

// levels returns the pairs at which a message has to come along a path: what is
// retained at QoS 0 may be dropped [section 3.3.1.3], and what is to be
// delivered at QoS 0 need not wait for an absent client [sections 3.1.2.4, 4.1].
func (p path) levels() []levels {
	var list []levels
	for _, published := range []byte{0, 1, 2} {
		for _, granted := range []byte{0, 1, 2} {
			dropped := p.name == pathRetained.name && published == 0 || p.name == pathQueued.name && min(published, granted) == 0
			if !dropped {
				list = append(list, levels{published, granted})
			}
		}
	}
	return list
}
