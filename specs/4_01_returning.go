package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// returning holds the specs of sections 3.1 and 4.1 on clients that come, go
// and come back: what is left of them, and that they are served as before.
func returning(b *probe.Broker, v version) {
	Describe("3.2.2 CONNACK", func() {
		It("has Session Present 0 where only clean Sessions were before", v.Statement("v311/MQTT-3.2.2-3", "v5/MQTT-3.2.2-3"), func() {
			id := b.ClientID()
			for range 2 {
				b.Connect("clean", probe.ID(id)).Subscribe(b.Topic(), 1).Disconnect()
			}
			_, ack := present(b, "later", probe.ID(id), probe.Persistent)
			Expect(ack.SessionPresent()).To(BeFalse(), "nothing is stored")
		})
	})

	Describe("3.1.4 CONNECT", func() {
		It("resumes a Session for which messages of each QoS wait", v.Statement("v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"), func() {
			for _, qos := range []byte{0, 1, 2} {
				topic, id := b.Topic(), b.ClientID()
				b.Connect("sub", probe.ID(id), probe.Persistent).Subscribe(topic, qos).Disconnect()
				b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "waits"})
				c := b.Open("again")
				c.Send(b.ConnectPacket(probe.ID(id), probe.Persistent))
				Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "what waits is no reason to refuse the client")
				if qos > 0 {
					Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "waits")), "what waited at QoS %d comes", qos)
				}
			}
		})
	})

	Describe("3.1.2 Will", Patient, func() {
		It("may have any bytes for its payload", v.Statement("v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"), func() {
			for _, payload := range []string{"", "t\x0a\x80\xff", "\x00", "\xed\xa0\x80"} {
				c := b.Open("client")
				c.Send(b.ConnectPacket(probe.WithWill(wire.Will{Topic: b.Topic("will"), QoS: 1, Payload: []byte(payload)})))
				Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "the payload of a will is binary data")
				c.Disconnect()
			}
		})

		It("is thrown away on a DISCONNECT with which the client closes", v.Statement("v311/MQTT-3.14.4-3", "v5/MQTT-3.14.4-3"), func() {
			topic := b.Topic("will")
			for range 3 {
				sub := leaves(b, topic, wire.Bytes(b.Version, wire.Disconnect{}))
				Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "no will after DISCONNECT")
				sub.Disconnect()
			}
		})
		if v.is5() {
			returningWithDelay(b)
			undefinedCodes(b, v)
		}
	})

	Describe("4.1 Session State", func() {
		It("serves a client whose connection is taken over again and again", v.Statement("v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"), func() {
			id, topic := b.ClientID(), b.Topic()
			b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1)
			pub := b.Connect("pub")
			for _, name := range []string{"second", "third", "fourth"} {
				c := resumed(b, name, id)
				pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "to the " + name})
				comes(c, "to the "+name, "the subscription lives on the "+name+" connection")
			}
		})
	})
}

// comes asserts that the next message is the one with a payload, and sees its
// exchange to the end.
func comes(c *probe.Client, payload, why string) {
	GinkgoHelper()
	a := c.Answer(wire.PUBLISH)
	Expect(a).To(probe.BePacket(HaveField("Payload", payload)), why)
	c.Acknowledge(a.Packet.(wire.Publish))
	c.Ping()
}

func returningWithDelay(b *probe.Broker) {
	It("that is put off takes nothing from a client that is back", v5.Statement("v5/MQTT-4.5.0-1"), func() {
		id, topic := b.ClientID(), b.Topic()
		session := probe.Properties(wire.Property{ID: wire.SessionExpiryInterval, Int: 300})
		for _, name := range []string{"first", "second", "third"} {
			c := b.Connect(name, probe.ID(id), session, gone(b.Topic("will"), delay(200))).Subscribe(topic, 1)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "to the " + name})
			comes(c, "to the "+name, "the subscription brings messages")
			c.Drop()
		}
	})

	It("that was put off and published is not published again when the client is back", Timing, v5.Statement("v5/MQTT-3.1.2-10"), func() {
		id, topic := b.ClientID(), b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("first", probe.ID(id), probe.Persistent, gone(topic, delay(1))).Drop()
		a := willArrives(b, v5, sub, 1)
		if !a.Came {
			probe.Inconclusive("the will does not come")
		}
		sub.Acknowledge(a.Packet.(wire.Publish))
		resumed(b, "again", id).Disconnect()
		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the will is published once")
	})
}

// undefinedCodes is about DISCONNECT with codes that the text does not have: the
// will goes with the code 0x00 only.
func undefinedCodes(b *probe.Broker, v version) {
	It("is published after a DISCONNECT with an undefined code", Timing, v.Statement("v5/MQTT-3.1.2-8"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		want := []string{}
		for _, code := range []byte{0x01, 0x05, 0x7f, 0xba, 0xff} {
			for _, raw := range [][]byte{{0xe0, 1, code}, {0xe0, 2, code, 0}} {
				will := fmt.Sprintf("after % x", raw)
				c := b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte(will)}))
				c.SendBytes(raw)
				c.Drop()
				want = append(want, will)
			}
		}
		got := []string{}
		for range want {
			a := willArrives(b, v, sub, 0)
			will, ok := a.Packet.(wire.Publish)
			if !ok {
				break
			}
			sub.Acknowledge(will)
			got = append(got, will.Payload)
		}
		Expect(got).To(ConsistOf(want), "only the code 0x00 throws the will away")
	})
}
