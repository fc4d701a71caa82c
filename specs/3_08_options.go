package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// options holds the specs of section 3.8.3.1: the Subscription Options, most of
// which MQTT 5.0 alone has, with what section 3.3.1.3 says of Retain Handling.
func options(b *probe.Broker, v version) {
	Describe("3.8.3.1 Subscription Options", func() { keptQoS(b, v) })
	if !v.is5() {
		return
	}
	Describe("3.8.3.1 Retain Handling", func() {
		BeforeEach(func() { b.Lacking("retain") })
		retainHandlingNew(b, v)
		retainHandlingExisting(b, v)
	})
	Describe("3.8.3.1 No Local", func() {
		noLocal(b, v)
		noLocalFreedoms(b, v)
	})
	Describe("3.8.3.1 Subscription Options", func() {
		keptOptions(b, v)
		brokenOptions(b, v)
	})
}

// asking returns a SUBSCRIBE for one filter at QoS 1 with a Retain Handling.
func asking(filter string, handling byte) wire.Subscribe {
	return wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: filter, QoS: 1, RetainHandling: handling}}}
}

// keptRetained publishes retained messages and makes sure that a client that asks for
// one gets it: without that nothing can be said of one that does not.
func keptRetained(b *probe.Broker, topics ...string) {
	GinkgoHelper()
	pub := b.Connect("keeper")
	for _, topic := range topics {
		keeps(b, pub, toKeep(topic, 1, topic))
	}
}

// getsRetained asserts that a client gets the retained messages that keptRetained made
// on the topics, in any order.
func getsRetained(c *probe.Client, key, why string, topics ...string) {
	GinkgoHelper()
	for _, topic := range topics {
		a := c.AnswerWhere(hasPayload(topic), wire.PUBLISH)
		probe.For(key).Expect(a).To(probe.BeA(wire.PUBLISH), "%s: the retained message of %s", why, topic)
		c.Acknowledge(a.Packet.(wire.Publish))
	}
}

// bringsNone asserts that the retained message that keptRetained made on a topic
// has not come up to a sentinel, nor up to a PINGRESP behind it: no order binds
// what is retained to what is published.
func bringsNone(c, pub *probe.Client, topic, why string) {
	GinkgoHelper()
	got := c.DeliveredBefore(pub.Sentinel(topic, 1))
	Expect(append(got, afterPing(c)...)).NotTo(ContainElement(HaveField("Payload", topic)), why)
}

// takes waits for a message that the set-up needs.
func takes(c *probe.Client, want string) {
	GinkgoHelper()
	if p := c.Delivery(); p.Payload != want {
		probe.Inconclusive("%s: the set-up needs the message %q, but %s came", c.Name(), want, p)
	}
}

// found waits for a message with a payload that the set-up needs, and returns
// it.
func found(c *probe.Client, payload string) wire.Publish {
	GinkgoHelper()
	a := c.AnswerWhere(hasPayload(payload), wire.PUBLISH)
	if !a.Came {
		probe.Inconclusive("%s: the set-up needs the message %q, but %s", c.Name(), payload, a.GomegaString())
	}
	p := a.Packet.(wire.Publish)
	c.Acknowledge(p)
	return p
}

func retainHandlingNew(b *probe.Broker, v version) {
	for _, handling := range []byte{0, 1} {
		It(fmt.Sprintf("%d gives new subscriptions the retained messages that match", handling),
			v.Statement(map[byte]string{0: "v5/MQTT-3.3.1-9", 1: "v5/MQTT-3.3.1-10"}[handling]), func() {
				key := map[byte]string{0: "v5/MQTT-3.3.1-9", 1: "v5/MQTT-3.3.1-10"}[handling]
				topic := b.Topic()
				all := []string{topic + "/one", topic + "/two", topic + "/three"}
				keptRetained(b, all...)
				c := b.Connect("client")
				filters := all
				if handling == 0 {
					filters = []string{topic + "/+"} // the statement speaks of all that match
				}
				for _, filter := range filters {
					c.SubscribeWith(asking(filter, handling))
				}
				getsRetained(c, key, "the subscription is new", all...)
			})
	}

	It("1 takes an overlapping filter for a new subscription", v.Statement("v5/MQTT-3.3.1-10"), func() {
		topic := b.Topic()
		keptRetained(b, topic+"/one")
		c := b.Connect("client")
		takes(c.Subscribe(topic+"/+", 1), topic+"/one")
		c.SubscribeWith(asking(topic+"/one", 1))
		getsRetained(c, "v5/MQTT-3.3.1-10", "the filter is another one", topic+"/one")
	})

	It("2 brings no retained message, and what is published later", v.Statement("v5/MQTT-3.3.1-11"), func() {
		topic := b.Topic()
		keptRetained(b, topic)
		c, pub := b.Connect("client"), b.Connect("pub")
		c.SubscribeWith(asking(topic, 2))
		bringsNone(c, pub, topic, "no retained message comes")
		c.SubscribeWith(asking(topic, 2))
		bringsNone(c, pub, topic, "no retained message comes when it is repeated")
	})

	It("holds for each filter of a SUBSCRIBE by itself", v.Statement("v5/MQTT-3.3.1-11", "v5/MQTT-3.8.4-5"), func() {
		topic := b.Topic()
		keptRetained(b, topic+"/a", topic+"/b", topic+"/c")
		c := b.Connect("client")
		c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{
			{Filter: topic + "/a", QoS: 1}, {Filter: topic + "/b", QoS: 1, RetainHandling: 2}, {Filter: topic + "/c", QoS: 1}}})
		getsRetained(c, "v5/MQTT-3.8.4-5", "an entry with Retain Handling 0", topic+"/a", topic+"/c")
		bringsNone(c, b.Connect("pub"), topic+"/b", "an entry with Retain Handling 2 brings none")
	})

	only := "v5/3.8.3.1-retain-handling-only-at-subscribe"
	It("2 does not hold back what is retained later", v.Statement(only), func() {
		topic := b.Topic()
		c := b.Connect("client")
		c.SubscribeWith(asking(topic, 2))
		retained(b.Connect("pub"), topic, 1, "later")
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "later")), "a retained publication is forwarded as any other")
	})

	It("has no effect when a Session is resumed", v.Statement(only), func() {
		topic := b.Topic()
		keptRetained(b, topic)
		c, resume := away(b, topic, 1)
		takes(c, topic)
		c.Disconnect()
		again := resume("again")
		bringsNone(again, b.Connect("pub"), topic, "no SUBSCRIBE, no retained message")
	})
}

func retainHandlingExisting(b *probe.Broker, v version) {
	It("0 sends the retained messages again for an existing subscription", v.Statement("v5/MQTT-3.8.4-4", "v5/MQTT-3.3.1-9"), func() {
		topic := b.Topic()
		all := []string{topic + "/one", topic + "/two", topic + "/three"}
		keptRetained(b, all...)
		c := b.Connect("client").Subscribe(topic+"/+", 1)
		for range all {
			c.Delivery()
		}
		for range 2 {
			c.SubscribeWith(asking(topic+"/+", 0))
			getsRetained(c, "v5/MQTT-3.8.4-4", "Retain Handling 0 sends them each time", all...)
		}
	})

	It("1 brings nothing for an existing subscription", v.Statement("v5/MQTT-3.3.1-10"), func() {
		topic := b.Topic()
		keptRetained(b, topic)
		c, pub := b.Connect("client").Subscribe(topic, 1), b.Connect("pub")
		takes(c, topic)
		c.SubscribeWith(asking(topic, 1))
		bringsNone(c, pub, topic, "the subscription existed")
		c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: topic, QoS: 0, RetainAsPublished: true, RetainHandling: 1}}})
		bringsNone(c, pub, topic, "the subscription existed, with other options")
	})

	It("1 brings nothing for a subscription of a Session that is resumed", v.Statement("v5/MQTT-3.3.1-10"), func() {
		topic := b.Topic()
		keptRetained(b, topic)
		c, resume := away(b, topic, 1)
		takes(c, topic)
		c.Disconnect()
		again, pub := resume("again"), b.Connect("pub")
		again.DeliveredBefore(pub.Sentinel(topic, 1)) // what resuming brings is another matter
		again.SubscribeWith(asking(topic, 1))
		bringsNone(again, pub, topic, "the subscription is part of the Session")
	})

	It("1 brings the retained message again after UNSUBSCRIBE", v.Statement("v5/MQTT-3.3.1-10"), func() {
		topic := b.Topic()
		keptRetained(b, topic)
		c, pub := b.Connect("client"), b.Connect("pub")
		c.SubscribeWith(asking(topic, 1))
		getsRetained(c, "v5/MQTT-3.3.1-10", "the subscription is new", topic)
		c.Unsubscribe(topic)
		end := pub.SentinelAside(c)
		settled(b, pub, wire.Publish{Topic: topic, QoS: 1, Payload: "unsubscribed"})
		if len(c.DeliveredBefore(end)) > 0 {
			probe.Inconclusive("the set-up needs a subscription that UNSUBSCRIBE has removed, but messages still come")
		}
		c.SubscribeWith(asking(topic, 1))
		getsRetained(c, "v5/MQTT-3.3.1-10", "the subscription was removed", topic)
	})
}
