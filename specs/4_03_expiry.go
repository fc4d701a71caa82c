package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// expiryBegun is about exchanges at QoS 2 that go on when the time of the
// message is over. A twin whose time is not over shows that they go on at all.
func expiryBegun(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	const sender, receiver = "v5/MQTT-4.3.3-7", "v5/MQTT-4.3.3-13"
	Describe("4.3.3 Message Expiry Interval", func() {
		for _, kind := range []wire.Type{wire.PUBLISH, wire.PUBREL} {
			It("is nothing to what was sent once: "+kind.String()+" is sent again", Timing, v.Statement(sender), func() {
				twin := begun(b, 60, kind)
				brief := begun(b, 1, kind)
				pass(b, overdue)
				if a := twin().Answer(wire.PUBLISH, wire.PUBREL); a.Type != kind {
					probe.Inconclusive("what has not expired is not sent again either: %s", a.GomegaString())
				}

				Expect(brief().Answer(wire.PUBLISH, wire.PUBREL)).To(probe.BeA(kind), "the exchange had begun")
			})
		}

		for _, drops := range []bool{false, true} {
			name := map[bool]string{false: "on one connection", true: "in a resumed Session"}[drops]
			It("is nothing to the answers of the server: PUBREL gets PUBCOMP "+name, Timing, v.Statement(receiver), func() {
				twin := halfPublished(b, 60)
				brief := halfPublished(b, 1)
				pass(b, overdue)
				if ok, _ := probe.BePacket(HaveField("Code", byte(0))).Match(twin(drops)); !ok {
					probe.Inconclusive("the exchange of what has not expired is not completed either")
				}

				a := brief(drops)
				Expect(a).To(probe.BeA(wire.PUBCOMP), "the exchange is completed")
				probe.Warns(receiver).Expect(a).To(probe.BePacket(HaveField("Code", byte(0))), "the identifier is still known")
			})
		}
	})
}

// begun lets a client that stays away receive a QoS 2 message with a lifetime
// up to its PUBLISH or PUBREL, and returns how to resume it.
func begun(b *probe.Broker, seconds uint32, last wire.Type) (resume func() *probe.Client) {
	GinkgoHelper()
	topic := b.Topic()
	sub, again := away(b, topic, 2)
	b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "begun", Properties: wire.Properties{lifetime(seconds)}})
	id := sub.Unacknowledged().ID
	if last == wire.PUBREL {
		sub.Send(wire.Ack{Type: wire.PUBREC, ID: id})
		if !sub.Answer(wire.PUBREL).Came {
			probe.Inconclusive("no PUBREL in the set-up")
		}
	}
	sub.Drop()
	return func() *probe.Client { return again("again") }
}

// halfPublished publishes a QoS 2 message with a lifetime up to PUBREC, and returns
// how to go on, after a new connection or not, and get the answer to PUBREL.
func halfPublished(b *probe.Broker, seconds uint32) (release func(drops bool) probe.Answer) {
	GinkgoHelper()
	id := b.ClientID()
	pub := b.Connect("pub", probe.ID(id), probe.Persistent)
	pub.Send(wire.Publish{Topic: b.Topic(), QoS: 2, ID: 7, Payload: "begun", Properties: wire.Properties{lifetime(seconds)}})
	if a := pub.Answer(wire.PUBREC); !a.Came || a.Packet.(wire.Ack).Code >= 0x80 {
		probe.Inconclusive("no usable PUBREC in the set-up: %s", a.GomegaString())
	}
	return func(drops bool) probe.Answer {
		GinkgoHelper()
		if drops {
			pub.Drop()
			pub = resumed(b, "again", id)
		}
		pub.Send(wire.Ack{Type: wire.PUBREL, ID: 7})
		return pub.Answer(wire.PUBCOMP)
	}
}
