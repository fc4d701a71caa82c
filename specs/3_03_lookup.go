package specs

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// manyOthers is how many messages of others may come ahead of one at QoS 0
// before its absence says nothing.
const manyOthers = 100

// retainedLookup holds the specs of section 3.3.1.3 on which retained messages
// a new subscription finds, how many, and how they come.
func retainedLookup(b *probe.Broker, v version) {
	Describe("3.3.1.3 RETAIN", func() {
		BeforeEach(func() { b.Lacking("retain") })
		found := v.Statement("v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9", "v5/3.8.4-retained-for-new-subscription")
		for _, filter := range []string{"/+/b/#", "/+/+/c", "/#", "/+/#", "/x/+/+", "/+/b/c"} {
			It("1 lets "+filter+" find all messages below", found, func() {
				topic, pub := b.Topic(), b.Connect("pub")
				want := []string{topic + "/x/b/c", topic + "/y/b/c", topic + "/z/b/c"}
				if strings.HasPrefix(filter, "/x") {
					want = want[:1]
				}
				var messages []wire.Publish
				for _, t := range want {
					messages = append(messages, toKeep(t, 1, t))
				}
				settled(b, pub, messages...)
				c := b.Connect("later").Subscribe(topic+filter, 1)
				Expect(topicsTaken(c, len(want))).To(ConsistOf(want), "the filter matches all of them")
			})
		}

		It("1 lets # find a message", Serial, v.Statement("v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9", "v5/3.8.4-retained-for-new-subscription", "v5/4.7.1.2-hash-alone"), func() {
			topic := b.Topic()
			settled(b, b.Connect("pub"), toKeep(topic, 1, topic))
			c := b.Connect("later")
			c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: "#"}}})

			a := c.AnswerWhere(onTopic(topic), wire.PUBLISH)
			if others := len(c.Pending()); !a.Came && others > manyOthers {
				probe.Inconclusive("%d messages of others came for the filter #, and a broker may drop some at QoS 0: %s", others, a.GomegaString())
			}
			Expect(a).To(probe.BePacket(HaveField("Payload", topic)), "# matches it")
		})

		It("1 lets a filter find 250 messages", found, func() {
			const n = 250
			topic, pub := b.Topic(), b.Connect("pub")
			last := fmt.Sprintf("%s/%d", topic, n-1)
			looks := onlooker(b, last)
			at := min(25, int(pub.Limit(wire.ReceiveMaximum, 65535))) // in one write
			for first := 0; first < n; first += at {
				var packets []wire.Packet
				for i := first; i < min(n, first+at); i++ {
					packets = append(packets, wire.Publish{Topic: fmt.Sprintf("%s/%d", topic, i), QoS: 1, ID: pub.NextID(), Retain: true, Payload: "one of many"})
				}
				pub.Send(packets...)
				for range packets {
					if ack, ok := pub.Awaits(wire.PUBACK).Packet.(wire.Ack); ok && ack.Code >= 0x80 {
						probe.Unsupported("the broker retains fewer than %d messages: PUBACK with code 0x%02x", n, ack.Code)
					}
				}
			}
			sees(b, looks, "one of many")
			findable(b, last, "one of many")
			c := b.Connect("later").Subscribe(topic+"/+", 1)
			Expect(topicsTaken(c, n)).To(HaveLen(n), "each of the topics has its message")
		})

		for _, qos := range []byte{0, 1} {
			It("1 lets a wildcard find messages at no more than the granted QoS "+digit(qos), v.Statement("v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8", "v5/3.3.1.3-retained-qos-minimum"), func() {
				topic, pub := b.Topic(), b.Connect("pub")
				settled(b, pub, toKeep(topic+"/one", 1, "one"), toKeep(topic+"/two", 2, "two"))
				c := b.Connect("later").Subscribe(topic+"/+", qos)
				for range 2 {
					p := c.Delivery()
					Expect(p.QoS).To(BeNumerically("<=", qos), "%q comes at the QoS granted at most", p.Payload)
				}
			})
		}

		It("is 0 on what an existing subscription with a wildcard gets", v.Statement("v311/MQTT-3.3.1-9", "v5/MQTT-3.3.1-12"), func() {
			topic := b.Topic()
			subs := []*probe.Client{b.Connect("plus").Subscribe(topic+"/+", 1), b.Connect("hash").Subscribe(topic+"/#", 1)}
			retained(b.Connect("pub"), topic+"/a", 1, "live")
			for _, c := range subs {
				Expect(live(c, topic+"/a")).To(probe.BePacket(And(HaveField("Payload", "live"), HaveField("Retain", false))), "RETAIN is 0")
			}
		})

		It("1 keeps no message from the queue of a client that is away", v.Statement("v311/MQTT-3.1.2-5", "v5/MQTT-4.5.0-1"), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, 1)
			sub.Disconnect()
			retained(b.Connect("pub"), topic, 1, "while away")
			Expect(resume("again").Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "while away")), "it waited like any other")
		})
	})
}

// topicsTaken takes deliveries until n topics have come, and returns those.
func topicsTaken(c *probe.Client, n int) []string {
	GinkgoHelper()
	var names []string
	seen := map[string]bool{}
	for len(names) < n {
		a := c.Answer(wire.PUBLISH)
		p, ok := a.Packet.(wire.Publish)
		if !ok {
			break
		}
		c.Acknowledge(p)
		if !seen[p.Topic] {
			seen[p.Topic] = true
			names = append(names, p.Topic)
		}
	}
	return names
}
