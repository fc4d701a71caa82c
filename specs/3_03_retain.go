package specs

import (
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// retain holds the specs of section 3.3.1.3.
func retain(b *probe.Broker, v version) {
	Describe("3.3.1.3 RETAIN", func() {
		BeforeEach(func() { b.Lacking("retain") })
		retainStored(b, v)
		retainFlag(b, v)
		retainRemoved(b, v)
	})
}

// retained publishes a message with RETAIN 1.
func retained(c *probe.Client, topic string, qos byte, payload string) {
	GinkgoHelper()
	c.Publish(toKeep(topic, qos, payload))
}

// settled publishes messages and returns when an onlooker has got each, and a new
// subscription what is to be retained; it tells whether one has. A server may
// acknowledge a message before it looks up who gets it, and one that subscribes
// meanwhile gets it, too.
func settled(b *probe.Broker, pub *probe.Client, messages ...wire.Publish) (stores bool) {
	GinkgoHelper()
	stores = true
	for _, p := range messages {
		looks := onlooker(b, p.Topic)
		pub.Publish(p)
		sees(b, looks, p.Payload)
		if p.Retain && p.Payload != "" && stores {
			stores = findable(b, p.Topic, p.Payload)
		}
	}
	return stores
}

// keeps is settled for retained messages without which there is nothing to judge.
func keeps(b *probe.Broker, pub *probe.Client, messages ...wire.Publish) {
	GinkgoHelper()
	if !settled(b, pub, messages...) {
		probe.Inconclusive("the set-up needs messages that are retained, but a new subscription does not get them")
	}
}

// findable waits until a new subscription gets a retained message, tells whether one
// does, and accuses nobody: a server may store it some time after it has passed it on.
func findable(b *probe.Broker, topic, payload string) bool {
	GinkgoHelper()
	return inTime(b, func(wait time.Duration) bool {
		finder := b.Connect("finder").Subscribe(topic, 0)
		defer finder.Drop()
		return finder.WithinWhere(wait, hasPayload(payload), wire.PUBLISH).Came
	})
}

// inTime tries something until it is so, a few times within the patience that a broker
// is due: each is given its part of that.
func inTime(b *probe.Broker, so func(wait time.Duration) bool) bool {
	const times = 8
	for range times {
		if so(b.Timeout / times) {
			return true
		}
	}
	return false
}

// onlooker is a client that gets the messages on a topic for sees, and nothing that is
// retained where it can say so. At QoS 0 it uses no quota up.
func onlooker(b *probe.Broker, topic string) *probe.Client {
	GinkgoHelper()
	c := b.Connect("onlooker")
	s := wire.Subscription{Filter: topic}
	if b.V5() {
		s.RetainHandling = 2
	}
	c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{s}})
	return c
}

// sees waits until an onlooker has got a message because it was published. In MQTT
// 3.1.1 one with RETAIN 1 may have come because the subscription is new, ahead of it
// (see live), or it has that bit by another fault, and no more comes.
func sees(b *probe.Broker, looks *probe.Client, payload string) {
	GinkgoHelper()
	if found(looks, payload).Retain && !b.V5() {
		looks.Within(b.Timeout/4, wire.PUBLISH)
	}
	looks.Drop()
}

// fromStore leaves of messages those with RETAIN 1: the others may have been on their
// way when the subscription was made.
func fromStore(list []wire.Publish) []wire.Publish {
	return slices.DeleteFunc(slices.Clone(list), func(p wire.Publish) bool { return !p.Retain })
}

// toKeep is a message to be retained.
func toKeep(topic string, qos byte, payload string) wire.Publish {
	return wire.Publish{Topic: topic, QoS: qos, Retain: true, Payload: payload}
}

// welcome subscribes a new client and returns what the retained store has for
// the filter, up to a sentinel on a topic that the filter matches.
func welcome(b *probe.Broker, filter string, qos byte, sentinel string) []wire.Publish {
	GinkgoHelper()
	c := b.Connect("later").Subscribe(filter, qos)
	c.Ping() // the sentinel has another publisher: it could overtake
	return c.DeliveredBefore(b.Connect("end").Sentinel(sentinel, 1))
}

// welcomed is welcome where some messages have to come. No order binds them to
// the sentinel, so those that it has overtaken are waited for.
func welcomed(b *probe.Broker, filter, sentinel string, messages int) []wire.Publish {
	GinkgoHelper()
	return welcomedAt(b, filter, 1, sentinel, messages)
}

// welcomedAt is welcomed for a subscription at another QoS.
func welcomedAt(b *probe.Broker, filter string, qos byte, sentinel string, messages int) []wire.Publish {
	GinkgoHelper()
	return greeted(b, sentinel, messages, wire.Subscription{Filter: filter, QoS: qos})
}

// greeted is welcomed for subscriptions that are made with one SUBSCRIBE.
func greeted(b *probe.Broker, sentinel string, messages int, asked ...wire.Subscription) []wire.Publish {
	GinkgoHelper()
	c := b.Connect("later")
	c.SubscribeWith(wire.Subscribe{Subscriptions: asked})
	c.Ping()
	return collected(c, b.Connect("end").Sentinel(sentinel, 1), messages)
}

// welcomedOn is welcomed for several topics, each by a filter of its own: brokers
// that find nothing retained by a wildcard are the matter of few checks.
func welcomedOn(b *probe.Broker, messages int, topics ...string) []wire.Publish {
	GinkgoHelper()
	var asked []wire.Subscription
	for _, topic := range topics {
		asked = append(asked, wire.Subscription{Filter: topic, QoS: 1})
	}
	return greeted(b, topics[0], messages, asked...)
}

// live is Answer for a message on a topic that was retained while a subscription
// was there. A server that looks retained messages up behind SUBACK may have found it
// there, too, and sends it twice: with RETAIN 1, and with RETAIN 0.
func live(c *probe.Client, topic string) probe.Answer {
	GinkgoHelper()
	first := c.AnswerWhere(onTopic(topic), wire.PUBLISH)
	if p, ok := first.Packet.(wire.Publish); ok && p.Retain {
		c.Acknowledge(p)
		if next := c.AnswerWhere(onTopic(topic), wire.PUBLISH); next.Came {
			return next
		}
	}
	return first
}

// collected returns what comes up to a sentinel, and of what has to come also
// what the sentinel has overtaken: it has another topic, QoS or publisher than
// the messages, so that no order binds it to them.
func collected(c *probe.Client, s probe.Sentinel, messages int) []wire.Publish {
	GinkgoHelper()
	return readOn(c, c.DeliveredBefore(s), func(got []wire.Publish) bool { return len(got) >= messages })
}

// distinct is collected for messages that may come more than once: it returns
// their payloads.
func distinct(c *probe.Client, s probe.Sentinel, messages int) []string {
	GinkgoHelper()
	return different(readOn(c, c.DeliveredBefore(s), func(got []wire.Publish) bool { return len(different(got)) >= messages }))
}

// different returns the payloads of messages, each once.
func different(list []wire.Publish) []string {
	var got []string
	for _, p := range list {
		got = append(got, p.Payload)
	}
	slices.Sort(got)
	return slices.Compact(got)
}

// mostRead bounds readOn: a broker may send without an end.
const mostRead = 1000

// readOn takes and acknowledges what comes besides the messages that a client has
// got, until that is complete or no more comes.
func readOn(c *probe.Client, got []wire.Publish, complete func([]wire.Publish) bool) []wire.Publish {
	GinkgoHelper()
	for len(got) < mostRead && !complete(got) {
		p, ok := c.Arrival().Packet.(wire.Publish)
		if !ok {
			break
		}
		got = append(got, p)
	}
	return got
}

func retainStored(b *probe.Broker, v version) {
	It("stores the message with its QoS for later subscribers", v.Statement("v311/MQTT-3.3.1-5", "v5/MQTT-3.3.1-5", "v5/3.2.2.3.5-retain-available-default"), func() {
		topic, pub := b.Topic(), b.Connect("pub")
		for _, qos := range []byte{1, 2} {
			settled(b, pub, toKeep(topic, qos, "kept at "+digit(qos)))
			got := welcomedAt(b, topic, 2, topic, 1)
			Expect(got).To(HaveExactElements(And(HaveField("Payload", "kept at "+digit(qos)), HaveField("QoS", qos))), "the message comes at the QoS it was published with")
		}
	})

	It("gives a new subscription the last message of each matching topic", v.Statement("v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9"), func() {
		topic, pub := b.Topic(), b.Connect("pub")
		settled(b, pub, toKeep(topic+"/one", 1, "A"), toKeep(topic+"/one", 1, "B"), toKeep(topic+"/two", 1, "C"))

		got := welcomed(b, topic+"/+", topic+"/end", 2)

		Expect(got).To(ConsistOf(HaveField("Payload", "B"), HaveField("Payload", "C")), "the last of each topic")
	})

	if v.is5() {
		return
	}
	It("at QoS 0 displaces the message that was there", v.Statement("v311/MQTT-3.3.1-7"), func() {
		topic, pub := b.Topic(), b.Connect("pub")
		keptRetained(b, topic)
		settled(b, pub, toKeep(topic, 0, "new"))

		Expect(welcome(b, topic, 1, topic)).NotTo(ContainElement(HaveField("Payload", topic)), "the old message is gone")
	})
}

func retainFlag(b *probe.Broker, v version) {
	for _, wild := range []bool{false, true} {
		name := map[bool]string{false: "an exact filter", true: "a wildcard"}[wild]
		It("is 1 on what a new subscription with "+name+" brings", v.Statement("v311/MQTT-3.3.1-8", "v5/3.3.1.3-retained-flag-on-subscribe"), func() {
			topic, pub := b.Topic(), b.Connect("pub")
			settled(b, pub, toKeep(topic+"/one", 1, "A"))
			filter := topic + "/one"
			if wild {
				settled(b, pub, toKeep(topic+"/two", 2, "B"))
				filter = topic + "/+"
			}

			c := b.Connect("later").Subscribe(filter, 1)

			for range map[bool]int{false: 1, true: 2}[wild] {
				a := c.Answer(wire.PUBLISH)
				Expect(a).To(probe.BePacket(HaveField("Retain", true)), "RETAIN is 1")
				c.Acknowledge(a.Packet.(wire.Publish))
			}
		})
	}

	for _, qos := range []byte{0, 1, 2} {
		It("is 0 on what an existing subscription gets at QoS "+digit(qos), v.Statement("v311/MQTT-3.3.1-9", "v5/MQTT-3.3.1-12"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 2)

			retained(b.Connect("pub"), topic, qos, "live")

			Expect(live(sub, topic)).To(probe.BePacket(And(HaveField("Payload", "live"), HaveField("Retain", false))), "RETAIN is 0")
		})
	}

	if v.is5() { // there it is a matter of Retain Handling
		return
	}
	It("is 1 on nothing that comes because a Session is resumed", v.Statement("v311/MQTT-3.3.1-9"), func() {
		topic := b.Topic()
		keptRetained(b, topic)
		c, resume := away(b, topic, 1)
		takes(c, topic)
		c.Ping() // it has PUBACK
		c.Disconnect()

		again := resume("again")

		got := append(again.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1)), afterPing(again)...)
		Expect(got).NotTo(ContainElement(And(HaveField("Retain", true), HaveField("Dup", false))), "no SUBSCRIBE, no retained message")
	})
}

func retainRemoved(b *probe.Broker, v version) {
	for _, qos := range []byte{0, 1, 2} {
		It("with an empty payload at QoS "+digit(qos)+" deletes the message", v.Statement("v311/MQTT-3.3.1-10", "v5/MQTT-3.3.1-6"), func() {
			topic, pub := b.Topic(), b.Connect("pub")
			settled(b, pub, toKeep(topic, 1, "to be deleted"))
			sub := b.Connect("sub").Subscribe(topic, 1)
			takes(sub, "to be deleted")

			retained(pub, topic, qos, "")
			pub.Ping()

			Expect(sub.AnswerWhere(hasPayload(""), wire.PUBLISH)).To(probe.BePacket(HaveField("Retain", false)), "it is forwarded as usual")
			var got []wire.Publish
			inTime(b, func(wait time.Duration) bool {
				if got = welcome(b, topic, 1, topic); len(got) > 0 {
					pub.Within(wait, wire.PUBLISH) // it may be deleted later than forwarded
				}
				return len(got) == 0
			})
			Expect(got).To(BeEmpty(), "a later subscriber gets nothing")
		})
	}

	It("with an empty payload is never stored", v.Statement("v311/MQTT-3.3.1-11", "v5/MQTT-3.3.1-7"), func() {
		topic, pub := b.Topic(), b.Connect("pub")
		retained(pub, topic+"/empty", 1, "")
		settled(b, pub, toKeep(topic+"/other", 1, "other"))

		got := welcomedOn(b, 1, topic+"/empty", topic+"/other")
		Expect(payloads(got)).To(ContainElement("other"), "the other message is stored")
		// No order binds the two topics: the empty one may still be on its way.
		Expect(fromStore(got)).NotTo(ContainElement(HaveField("Payload", "")), "no empty message is stored")
	})

	for _, qos := range []byte{0, 1, 2} {
		It("that is 0 at QoS "+digit(qos)+" leaves the store alone", v.Statement("v311/MQTT-3.3.1-12", "v5/MQTT-3.3.1-8"), func() {
			topic, pub := b.Topic(), b.Connect("pub")
			settled(b, pub,
				toKeep(topic+"/one", 1, "kept"),
				wire.Publish{Topic: topic + "/one", QoS: qos, Payload: "passing"},
				wire.Publish{Topic: topic + "/one", QoS: qos, Payload: ""},
				wire.Publish{Topic: topic + "/two", QoS: qos, Payload: "passing"})

			Expect(welcomedOn(b, 1, topic+"/two", topic+"/one")).To(HaveExactElements(HaveField("Payload", "kept")), "neither replaced, nor removed, nor stored")
		})
	}
}
