package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// connectFreedoms observes what section 3.1 leaves to a server, and judges what
// belongs to the Session that it stores.
func connectFreedoms(b *probe.Broker, v version) {
	Describe("3.1 CONNECT", func() {
		whatIsStored(b, v)
		restarted(b, v)
	})
}

func whatIsStored(b *probe.Broker, v version) {
	offline := []string{"v311/3.1.2.4-qos0-offline", "v5/4.1-qos0-offline-optional"}
	It("tell whether messages at QoS 0 wait for an absent client", v.Observation(offline...), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 1)
		sub.Disconnect()
		pub := b.Connect("pub")
		settled(b, pub, wire.Publish{Topic: topic, Payload: "at QoS 0"})

		again := resume("again")

		kept := map[bool]string{true: "are kept", false: "are dropped"}[len(again.DeliveredBefore(pub.Sentinel(topic, 1))) > 0]
		probe.Observe(v.key(offline...), "messages at QoS 0 for an absent client %s", kept)
	})

	if v.is5() {
		return
	}
	It("stores which QoS 2 messages have come and are not released", v.Statement("v311/3.1.2.4-inbound-qos2-in-session"), func() {
		topic, id := b.Topic(), b.ClientID()
		sub := b.Connect("sub").Subscribe(topic, 1)
		pub := b.Connect("pub", probe.ID(id), probe.Persistent)
		pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 9, Payload: "once"})
		if !pub.Answer(wire.PUBREC).Came {
			probe.Inconclusive("no PUBREC in the set-up")
		}
		pub.Drop()

		again := resumed(b, "again", id)
		again.Send(wire.Ack{Type: wire.PUBREL, ID: 9})

		Expect(again.Answer(wire.PUBCOMP)).To(probe.BePacket(HaveField("ID", uint16(9))), "PUBREL is answered with PUBCOMP")
		Expect(collected(sub, b.Connect("end").Sentinel(topic, 1), 1)).To(HaveExactElements(HaveField("Payload", "once")), "the message comes, and once")
	})
}

// restarted observes what a server does with wills when it goes down.
func restarted(b *probe.Broker, v version) {
	keys := []string{"v311/3.1.2.5-will-after-restart", "v5/3.1.2.5-will-after-restart"}
	It("tell what becomes of a will when the broker is restarted", Serial, v.Observation(keys...), func() {
		if b.Restart == nil {
			probe.SkipFor("needs a way to restart the broker")
		}
		topic, id := b.Topic("will"), b.ClientID()
		b.Connect("sub", probe.ID(id), probe.Persistent).Subscribe(topic, 1)
		b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")}))
		if err := b.Restart(false); err != nil {
			probe.Inconclusive("the broker was not restarted: %v", err)
		}

		again := b.Connect("again", probe.ID(id), probe.Persistent).Subscribe(topic, 1)

		what := map[bool]string{true: "is published", false: "is not published"}[len(again.DeliveredBefore(b.Connect("end").Sentinel(topic, 1))) > 0]
		probe.Observe(v.key(keys...), "the will of a client that was connected %s", what)
	})
}
