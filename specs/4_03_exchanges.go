package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// qosExchanges holds the specs of section 4.3 on what the one version has and the
// other has not, and what is left to the server.
func qosExchanges(b *probe.Broker, v version) {
	Describe("4.3 Exchange", func() {
		whenPassedOn(b, v)
		if v.is5() {
			pubrecCodes(b)
			refusedIdentifier(b)
			acknowledgedWhen(b)
			return
		}
		It("with one client does not depend on that with another", v.Statement("v311/4.3-independent-receivers"), func() {
			const n = 30
			topic := b.Topic()
			others := []*probe.Client{b.Connect("at 0").Subscribe(topic, 0), b.Connect("at 1").Subscribe(topic, 1)}
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "twin"})
			for _, c := range others {
				c.Delivery()
			}
			silent := b.Connect("silent").Subscribe(topic, 2)
			for i := range n {
				pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: fmt.Sprint(i)})
				for _, c := range others {
					a := c.Answer(wire.PUBLISH)
					Expect(a).To(probe.BeA(wire.PUBLISH), "%s goes on", c.Name())
					c.Acknowledge(a.Packet.(wire.Publish))
				}
			}
			silent.Unacknowledged()
		})
	})
}

// whenPassedOn observes when a message at QoS 2 is passed on.
func whenPassedOn(b *probe.Broker, v version) {
	if v.is5() {
		return
	}
	key := "v311/4.3.3-onward-moment"
	It("at QoS 2 passes the message on at PUBLISH or at PUBREL", v.Observation(key), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		pub, aside := b.Connect("pub"), b.Connect("aside")
		at := "PUBREL"
		for id := range uint16(3) {
			pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 1 + id, Payload: "onward"})
			if !pub.Answer(wire.PUBREC).Came {
				probe.Inconclusive("no PUBREC in the set-up")
			}
			early := len(sub.DeliveredBefore(aside.Sentinel(topic, 2))) > 0
			pub.Send(wire.Ack{Type: wire.PUBREL, ID: 1 + id})
			if early {
				at = "PUBLISH" // once is enough: the sentinel may have overtaken the others
			} else {
				sub.Delivery()
			}
		}
		probe.Observe(key, "a message at QoS 2 is passed on at %s", at)
	})
}

// pubrecCodes is about the forms of a PUBREC that the server as sender gets.
func pubrecCodes(b *probe.Broker) {
	key := "v5/MQTT-4.3.3-4"
	It("at QoS 2 goes on with PUBREL after a PUBREC in each of its forms", v5.Statement(key), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		pub := b.Connect("pub")
		for _, form := range [][]byte{{}, {0x00}, {0x00, 0}, {0x00, 5, 0x1f, 0, 2, 'o', 'k'}, {0x00, 7, 0x26, 0, 1, 'a', 0, 1, 'b'}} {
			pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "open"})
			id := sub.Unacknowledged().ID

			sub.Send(wire.Frame{Type: wire.PUBREC, Body: append([]byte{byte(id >> 8), byte(id)}, form...)})

			Expect(sub.Answer(wire.PUBREL)).To(probe.BePacket(And(HaveField("ID", id), HaveField("Code", byte(0)))), "PUBREL follows, with the identifier")
			sub.Send(wire.Ack{Type: wire.PUBCOMP, ID: id})
			sub.Ping()
		}
	})

	It("at QoS 2 ends with a PUBREC of 0x80 or above", v5.Statement(key), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "open"})

		sub.Send(wire.Ack{Type: wire.PUBREC, ID: sub.Unacknowledged().ID, Code: 0x83})

		probe.Warns(key).Expect(sub.BeforePing()).NotTo(ContainElement(HaveField("Type", wire.PUBREL)), "no PUBREL follows")
	})
}

// refusedIdentifier is about the identifier of a publication that the server
// has refused.
func refusedIdentifier(b *probe.Broker) {
	key := "v5/MQTT-4.3.3-9"
	It("at QoS 2 leaves the identifier free when the server refuses the message", v5.Statement(key), func() {
		guarded := b.Variant("users")
		users := probe.Credentials(b.Users.Username, b.Users.Password)
		topic := b.Topic()
		sub := guarded.Connect("sub", users).Subscribe(topic, 2)
		pub := guarded.Connect("pub", users)
		pub.Send(wire.Publish{Topic: b.Users.DeniedPublish[0], QoS: 2, ID: 9, Payload: "denied"})
		a := pub.Answer(wire.PUBREC)
		if rec, ok := a.Packet.(wire.Ack); !a.Came || !ok || rec.Code < 0x80 {
			probe.Unsupported("the broker refuses no publication with a PUBREC: %s", a.GomegaString())
		}

		pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 9, Payload: "allowed"})

		Expect(pub.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("Code", BeNumerically("<", 0x80))), "it is taken as a new message")
		pub.Send(wire.Ack{Type: wire.PUBREL, ID: 9})
		Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "allowed")), "it is passed on")
	})
}

// acknowledgedWhen observes whether PUBACK waits for the message to be passed on.
func acknowledgedWhen(b *probe.Broker) {
	key := "v5/4.3.2-ownership"
	It("at QoS 1 is acknowledged before or after the message is passed on", v5.Observation(key), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic, 0)
		c.Send(wire.Publish{Topic: topic, QoS: 1, ID: 9, Payload: "own"})

		a := c.Answer(wire.PUBLISH, wire.PUBACK)
		if !a.Came || !c.Answer(wire.PUBLISH, wire.PUBACK).Came {
			probe.Inconclusive("the message is not acknowledged or not passed on")
		}
		probe.Observe(key, "a message at QoS 1 is %s", map[wire.Type]string{wire.PUBACK: "acknowledged before it is passed on", wire.PUBLISH: "passed on before it is acknowledged"}[a.Type])
	})
}
