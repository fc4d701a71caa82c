package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// comesAgain holds specs on what may come again and what may not, when a client
// repeats what it publishes or comes back for what it subscribed to.
func comesAgain(b *probe.Broker, v version) {
	Describe("4.3 QoS", func() {
		It("0 brings nothing again that the client had read before it was away", v.Statement("v311/MQTT-4.3.1-1", "v5/MQTT-4.3.1-1"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, 0)
			pub := b.Connect("pub")
			for i := range 10 {
				pub.Publish(wire.Publish{Topic: topic, QoS: byte(i % 3), Payload: fmt.Sprint(i)})
				found(sub, fmt.Sprint(i)) // some come twice at QoS 0
			}
			sub.Drop()
			again := resume("again")
			again.Ping()
			Expect(again.DeliveredBefore(pub.Sentinel(topic, 0))).To(BeEmpty(), "at most once")
		})

		It("2 brings a message once to who takes it at QoS 0, however often it is repeated", v.Statement("v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10"), func() {
			id, topic := b.ClientID(), b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 0)
			open := wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: "once"}
			half(b, id, open)
			open.Dup = true
			resumed(b, "again", id).Publish(open)
			Expect(collected(sub, b.Connect("pub").SentinelAside(sub), 1)).To(HaveExactElements(HaveField("Payload", "once")), "it is passed on once")
		})
	})

	Describe("3.3.1 PUBLISH flags", func() {
		It("DUP is 0 also on what the publisher repeats itself", v.Statement("v311/MQTT-3.3.1-3", "v5/MQTT-3.3.1-3"), func() {
			id, topic := b.ClientID(), b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 1)
			open := wire.Publish{Topic: topic, QoS: 1, ID: 7, Payload: "repeated"}
			first := b.Connect("first", probe.ID(id), probe.Persistent)
			first.Send(open)
			first.Drop()
			open.Dup = true
			resumed(b, "again", id).Publish(open)
			got := collected(sub, b.Connect("pub").SentinelAside(sub), 1)
			Expect(got).NotTo(BeEmpty(), "it is delivered, once or twice")
			Expect(got).To(HaveEach(HaveField("Dup", false)), "no delivery is a repetition of the server's")
		})

		identifierAgain(b, v)
	})

	Describe("3.10 UNSUBSCRIBE", func() {
		It("that is sent together with its SUBSCRIBE ends it", v.Statement("v311/MQTT-3.10.4-2", "v5/MQTT-3.10.4-2"), func() {
			topic := b.Topic()
			c, pub := b.Connect("client"), b.Connect("pub")
			c.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}}, wire.Unsubscribe{ID: 2, Filters: []string{topic}})
			c.Awaits(wire.SUBACK)
			c.Awaits(wire.UNSUBACK)
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})
			Expect(c.DeliveredBefore(pub.SentinelAside(c))).To(BeEmpty(), "there is no subscription any more")
		})
	})
	if !v.is5() {
		return
	}
	key := "v5/MQTT-3.3.1-13"
	It("3.8.3.1 Retain As Published may hold for one of the filters that match", v.Observation(key), func() {
		b.Lacking("retain", "wildcard")
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic+"/a", 1)
		c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: topic + "/#", QoS: 1, RetainAsPublished: true}}})
		retained(b.Connect("pub"), topic+"/a", 1, "kept")
		flags := []bool{}
		for _, p := range c.DeliveredBefore(b.Connect("end").SentinelAside(c)) {
			flags = append(flags, p.Retain)
		}
		probe.Observe(key, "of two matching filters one has Retain As Published: the copies have RETAIN %v", flags)
	})
}

// identifierAgain is about a Packet Identifier that a delivery was sent again
// under, and that is free after that.
func identifierAgain(b *probe.Broker, v version) {
	for _, c := range []struct {
		qos  byte
		keys []string
	}{
		{1, []string{"v311/MQTT-4.3.2-1", "v5/MQTT-4.3.2-2"}},
		{2, []string{"v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-2"}},
	} {
		It("DUP is 0 on a new message under the Packet Identifier of one that came again at QoS "+digit(c.qos), v.Statement(c.keys...), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, c.qos)
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: "comes again"})
			sub.Unacknowledged()
			sub.Drop()
			sub = resume("again")
			again := sub.Delivery()
			if !again.Dup {
				probe.Inconclusive("the set-up needs a message that is sent again with DUP 1")
			}

			Expect(comesRound(b, pub, sub, again)).To(HaveField("Dup", false), "it is sent for the first time")
		})
	}
}

// comesRound publishes until a delivery has the Packet Identifier of an earlier
// one, which is done with: first in the same Session, then in a new one of the
// client. A server that numbers its deliveries up to 65535 comes to it in
// neither, unless it counts by Session.
func comesRound(b *probe.Broker, pub, sub *probe.Client, earlier wire.Publish) wire.Publish {
	GinkgoHelper()
	const most = 20
	for range most {
		pub.Publish(wire.Publish{Topic: earlier.Topic, QoS: earlier.QoS, Payload: "in the same Session"})
		if p := sub.Delivery(); p.ID == earlier.ID {
			return p
		}
	}
	sub.Disconnect()
	anew := b.Connect("anew", probe.ID(sub.ID())).Subscribe(earlier.Topic, earlier.QoS)
	for range most {
		pub.Publish(wire.Publish{Topic: earlier.Topic, QoS: earlier.QoS, Payload: "in a new Session"})
		if p := anew.Delivery(); p.ID == earlier.ID {
			return p
		}
	}
	probe.Unsupported("the broker did not use the Packet Identifier %d again for %d messages, nor in a new Session", earlier.ID, most)
	return wire.Publish{}
}
