package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// blocked returns a client whose Receive Maximum of 1 is used up by a delivery,
// while more messages of that QoS wait for it: between levels no order holds.
func blocked(b *probe.Broker, qos byte) (sub *narrow, open wire.Publish) {
	GinkgoHelper()
	sub = takesAtOnce(b, 1)
	sub.publish(qos)
	sub.Delivery()
	sub.publish(qos, qos, qos)
	open = sub.Unacknowledged()
	if n := len(afterPing(sub.Client)); n > 0 {
		probe.Inconclusive("the set-up needs a quota that is used up, but %d more came", n)
	}
	return sub, open
}

// whileBlocked is about what goes on while the quota is used up.
func whileBlocked(b *probe.Broker, v version) {
	for _, qos := range []byte{1, 2} {
		It("answers every other packet while a delivery at QoS "+digit(qos)+" uses the quota up", v.Statement("v5/MQTT-3.3.4-10", "v5/MQTT-4.9.0-3"), func() {
			sub, open := blocked(b, qos)
			other := b.Topic()
			for _, c := range []exchange{
				{wire.Pingreq{}, wire.PINGRESP},
				{wire.Subscribe{ID: 11, Subscriptions: []wire.Subscription{{Filter: other}}}, wire.SUBACK},
				{wire.Unsubscribe{ID: 12, Filters: []string{other}}, wire.UNSUBACK},
				{wire.Publish{Topic: other, QoS: 1, ID: 13}, wire.PUBACK},
				{wire.Publish{Topic: other, QoS: 2, ID: 14}, wire.PUBREC},
				{wire.Ack{Type: wire.PUBREL, ID: 14}, wire.PUBCOMP},
			} {
				sub.Send(c.request)
				Expect(sub.Answer(c.answer)).To(probe.BeA(c.answer), "%s is not held back", c.answer)
			}
			if open.QoS == 2 {
				sub.Send(wire.Ack{Type: wire.PUBREC, ID: open.ID})
				Expect(sub.Answer(wire.PUBREL)).To(probe.BeA(wire.PUBREL), "PUBREL is not held back")
			}
		})
	}

	It("carries out what a client sends whose quota is used up", v.Statement("v5/MQTT-4.9.0-3", "v5/MQTT-3.3.4-10"), func() {
		sub, open := blocked(b, 1)
		there, back := b.Topic(), b.Topic()
		other := b.Connect("other").Subscribe(there, 2)
		for _, qos := range []byte{0, 1, 2} {
			sub.Send(wire.Publish{Topic: there, QoS: qos, ID: 20, Payload: "at " + digit(qos)})
			if qos == 2 && sub.Answer(wire.PUBREC).Came {
				sub.Send(wire.Ack{Type: wire.PUBREL, ID: 20})
			}
			a := other.Answer(wire.PUBLISH)
			Expect(a).To(probe.BePacket(HaveField("Payload", "at "+digit(qos))), "what the client publishes is passed on")
			other.Acknowledge(a.Packet.(wire.Publish))
		}
		sub.Subscribe(back, 1)
		other.Publish(wire.Publish{Topic: back, QoS: 1, Payload: "new"})
		sub.Acknowledge(open)
		got := []string{}
		for range 3 { // two waited before
			if a := sub.Answer(wire.PUBLISH); a.Came {
				got = append(got, a.Packet.(wire.Publish).Payload)
				sub.Acknowledge(a.Packet.(wire.Publish))
			}
		}
		if len(got) < 3 { // at QoS 0 it needs no quota
			other.Publish(wire.Publish{Topic: back, Payload: "light"})
			if sub.Answer(wire.PUBLISH).Came {
				probe.Inconclusive("the new subscription holds, but no quota came back for its message")
			}
		}
		Expect(got).To(ContainElement("new"), "the new subscription holds")
	})

	It("may send or hold messages at QoS 0 while the quota is used up", v.Observation("v5/4.9-qos0-while-blocked"), func() {
		sub, _ := blocked(b, 1)
		sub.publish(0)
		value := "wait"
		if len(afterPing(sub.Client)) > 0 {
			value = "are sent"
		}
		probe.Observe("v5/4.9-qos0-while-blocked", "messages at QoS 0 %s while the send quota of the client is used up", value)
	})
}

// exchange is a packet and the type of its answer.
type exchange struct {
	request wire.Packet
	answer  wire.Type
}
