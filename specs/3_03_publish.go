package specs

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// publishing holds the specs of sections 3.3.2 to 3.3.5: the Topic Name, the
// answers, and what the server does with overlapping subscriptions.
func publishing(b *probe.Broker, v version) {
	Describe("3.3.2 PUBLISH topic", func() { publishTopic(b, v) })

	for _, c := range []struct {
		qos  byte
		kind wire.Type
	}{{1, wire.PUBACK}, {2, wire.PUBREC}} {
		It("3.3.4 answers a PUBLISH at QoS "+digit(c.qos)+" with "+c.kind.String(), v.Statement("v311/MQTT-3.3.4-1", "v5/MQTT-3.3.4-1"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 1) // it is about the publisher
			pub := b.Connect("pub")

			pub.Send(wire.Publish{Topic: topic, QoS: c.qos, ID: 7, Payload: "acknowledged"})

			Expect(pub.Answer(wire.PUBACK, wire.PUBREC)).To(And(probe.BeA(c.kind), probe.BePacket(HaveField("ID", uint16(7)))))
			if c.qos == 2 {
				pub.Send(wire.Ack{Type: wire.PUBREL, ID: 7})
			}
			Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "acknowledged")), "what is acknowledged has happened")
		})
	}

	It("3.3.4 does not answer a PUBLISH at QoS 0", v.Statement("v311/MQTT-3.3.4-1", "v5/MQTT-3.3.4-1"), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 0)
		pub := b.Connect("pub")

		pub.Send(wire.Publish{Topic: topic, Payload: "unanswered"})

		Expect(pub.BeforePing()).To(BeEmpty(), "PINGRESP is the next packet")
		Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "unanswered")))
	})

	overlapping(b, v)
	deniedPublish(b, v)
}

func publishTopic(b *probe.Broker, v version) {
	utf8Keys := []string{"v311/MQTT-3.3.2-1", "v5/MQTT-3.3.2-1"}
	It("that is ill-formed closes the connection", v.Statement(utf8Keys...), func() {
		refusedPublish(b, v.key(utf8Keys...), "a Topic Name that is no UTF-8 closes the connection", func(topic string) []byte {
			return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/\xff", QoS: 1, ID: 9})
		})
	})
	It("that goes beyond the packet closes the connection", v.Statement(utf8Keys...), func() {
		refusedPublish(b, v.key(utf8Keys...), "a Topic Name longer than the packet closes the connection", func(topic string) []byte {
			return wire.Bytes(b.Version, wire.Frame{Type: wire.PUBLISH, Body: join([]byte{0, 200}, []byte(topic))})
		})
	})

	for _, wild := range []string{"/+", "/#", "/a+b"} {
		keys := []string{"v311/MQTT-3.3.2-2", "v5/MQTT-3.3.2-2"}
		It("with the wildcard '"+wild+"' closes the connection", v.Statement(keys...), func() {
			refusedPublish(b, v.key(keys...), "a Topic Name with a wildcard closes the connection", func(topic string) []byte {
				return wire.Bytes(b.Version, wire.Publish{Topic: topic + wild, QoS: 0, Payload: "wild"})
			})
		})
	}

	keys := []string{"v311/MQTT-3.3.2-3", "v5/MQTT-3.3.2-3"}
	It("reaches only clients whose filter matches it", v.Statement(keys...), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic+"/a/+", 1)
		other := b.Connect("other").Subscribe(topic+"/other", 1)
		pub := b.Connect("pub")
		for _, t := range []string{"/a/b/c", "/A/b", "/a", "/x", "/a/b"} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 1, Payload: t})
		}

		Expect(collected(sub, pub.Sentinel(topic+"/a/b", 1), 1)).To(
			HaveExactElements(And(HaveField("Topic", topic+"/a/b"), HaveField("Payload", "/a/b"))), "only the topic that matches")
		Expect(other.DeliveredBefore(pub.Sentinel(topic+"/other", 1))).To(BeEmpty(), "nothing for another filter")
	})
}

func overlapping(b *probe.Broker, v version) {
	for _, asked := range []byte{2, 1} {
		It("3.3.5 delivers at the highest QoS of overlapping subscriptions, "+digit(asked), v.Statement("v311/MQTT-3.3.5-1", "v5/MQTT-3.3.4-2"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic+"/b", 0).Subscribe(topic+"/#", asked).Subscribe(topic+"/+", 1)
			highest := max(sub.Granted(topic+"/#"), sub.Granted(topic+"/+"))
			pub := b.Connect("pub")

			pub.Publish(wire.Publish{Topic: topic + "/b", QoS: 2, Payload: "overlap"})

			first := sub.Arrival()
			if !first.Came {
				probe.Inconclusive("no copy of the message comes: %s", first.GomegaString())
			}
			qos := []byte{first.Packet.(wire.Publish).QoS}
			for _, p := range sub.DeliveredBefore(pub.SentinelAside(sub)) {
				qos = append(qos, p.QoS)
			}
			for slices.Max(qos) < highest { // no order binds the copies to the sentinel
				late := sub.Arrival()
				if !late.Came {
					break
				}
				qos = append(qos, late.Packet.(wire.Publish).QoS)
			}
			Expect(qos).To(ContainElement(highest), "one copy comes at the highest QoS")
			Expect(qos).To(HaveEach(BeNumerically("<=", highest)), "no copy comes above the QoS granted")
			Expect(len(qos)).To(BeNumerically("<=", 3), "at most one copy for each subscription: %v", qos)
		})
	}
}

func deniedPublish(b *probe.Broker, v version) {
	if v.is5() {
		return
	}
	for _, qos := range []byte{1, 2} {
		It("3.3.5 acknowledges a PUBLISH that is not authorized at QoS "+digit(qos)+" as usual, or closes", v.Statement("v311/MQTT-3.3.5-2"), func() {
			guarded := b.Variant("users")
			users := probe.Credentials(b.Users.Username, b.Users.Password)
			topic := b.Users.DeniedPublish[0]
			sub := guarded.Connect("sub", users).Subscribe(topic, 2)
			pub := guarded.Connect("pub", users)
			pub.Publish(wire.Publish{Topic: b.Topic(), QoS: qos, Payload: "allowed twin"})

			pub.Send(wire.Publish{Topic: topic, QoS: qos, ID: 99, Payload: "denied"})

			a := pub.Answer(wire.PUBACK, wire.PUBREC)
			kind := map[byte]wire.Type{1: wire.PUBACK, 2: wire.PUBREC}[qos]
			Expect(a.Came && a.Type == kind || a.Closed).To(BeTrue(), "%s or the close, not %s", kind, a.GomegaString())
			aside := guarded.Connect("aside", users)
			Expect(sub.DeliveredBefore(aside.SentinelAside(sub))).To(BeEmpty(), "nobody gets it")
		})
	}
}
