package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// sessionState holds the specs of section 4.1, 3.1.2.4 in MQTT 3.1.1: what is
// part of the Session State, and what is not.
func sessionState(b *probe.Broker, v version) {
	Describe("4.1 Session State", func() {
		incomingState(b, v)
		retainedState(b, v)
		takenOverState(b, v)
	})
}

func incomingState(b *probe.Broker, v version) {
	keys := []string{"v311/3.1.2.4-inbound-qos2-in-session", "v5/4.1-qos2-receiver-state"}
	It("has the QoS 2 messages that are not completed", v.Statement(keys...), func() {
		id, topic := b.ClientID(), b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		open := wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: "once"}
		half(b, id, open)
		again := resumed(b, "again", id)
		open.Dup = true

		again.Send(open)

		Expect(again.Answer(wire.PUBREC)).To(probe.BePacket(HaveField("ID", open.ID)), "the message is known")
		again.Send(wire.Ack{Type: wire.PUBREL, ID: open.ID})
		Expect(again.Answer(wire.PUBCOMP)).To(probe.BePacket(HaveField("ID", open.ID)), "the exchange is completed")
		got := collected(sub, b.Connect("pub").SentinelAside(sub), 1)
		Expect(got).To(HaveExactElements(HaveField("Payload", "once")), "a message is passed on once")
	})

	It("loses them with a clean start", v.Statement("v311/MQTT-3.1.2-6", "v5/MQTT-3.1.2-4"), func() {
		id, topic := b.ClientID(), b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		half(b, id, wire.Publish{Topic: b.Topic(), QoS: 2, ID: 7, Payload: "of the old Session"})

		b.Connect("clean", probe.ID(id)).Publish(wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: "of the new Session"})

		got := collected(sub, b.Connect("pub").SentinelAside(sub), 1)
		Expect(got).To(HaveExactElements(HaveField("Payload", "of the new Session")), "the identifier is free in the new Session")
	})
}

// half publishes at QoS 2 in a Session that is stored, and drops the
// connection before PUBREL.
func half(b *probe.Broker, id string, p wire.Publish) {
	GinkgoHelper()
	c := b.Connect("first", probe.ID(id), probe.Persistent)
	c.Send(p)
	a := c.Answer(wire.PUBREC)
	if rec, ok := a.Packet.(wire.Ack); !a.Came || ok && rec.Code >= 0x80 {
		probe.Inconclusive("the set-up needs PUBREC without an error, but %s", a.GomegaString())
	}
	c.Drop()
}

func retainedState(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.2-7", "v5/4.1-retained-not-session", "v311/4.1-retained-until-deleted"}
	It("does not have the retained messages", v.Statement(keys...), func() {
		b.Lacking("retain")
		id, topic := b.ClientID(), b.Topic()
		clean := b.Connect("clean")
		settled(b, clean, toKeep(topic+"/clean", 1, "of clean"))
		clean.Disconnect()
		stored := b.Connect("stored", probe.ID(id), probe.Persistent)
		settled(b, stored, toKeep(topic+"/stored", 1, "of stored"))
		stored.Disconnect()
		b.Connect("over", probe.ID(id)).Disconnect()

		got := welcomedOn(b, 2, topic+"/clean", topic+"/stored")
		Expect(got).To(ConsistOf(HaveField("Payload", "of clean"), HaveField("Payload", "of stored")), "both outlive the Sessions")
	})
}

func takenOverState(b *probe.Broker, v version) {
	It("is not touched by the end of a connection that was taken over", Timing, v.Statement("v311/MQTT-4.1.0-2", "v5/MQTT-4.1.0-1"), func() {
		id, topic := b.ClientID(), b.Topic()
		older := b.Connect("older", probe.ID(id)).Subscribe(b.Topic(), 1)
		newer := b.Connect("newer", probe.ID(id)).Subscribe(topic, 1)
		if closed, _ := probe.BeClosed().Match(older); !closed {
			probe.Inconclusive("the older connection has not ended")
		}
		pass(b, 2)
		newer.Ping()

		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "still there"})

		Expect(newer.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "still there")), "the Session of the newer connection lives")
	})
}
