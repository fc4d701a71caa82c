package specs

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// topicFreedoms observes what section 4.7 leaves to a server, and judges names
// that are legal and rarely seen.
func topicFreedoms(b *probe.Broker, v version) {
	Describe("4.7 Topics", func() {
		slash(b, v)
		dollarFreedoms(b, v)
		serverTopicFreedoms(b, v)
		manyLevels(b, v)
		if !v.is5() {
			wildcardsGranted(b, v)
			permissions(b, v)
		}
	})
}

func slash(b *probe.Broker, v version) {
	// The topic belongs to everybody: the message is known by its payload.
	It("may be a slash alone", v.Statement("v311/4.7.3-slash-only", "v5/4.7.3-slash-only"), func() {
		own := b.Topic()
		sub, pub := b.Connect("sub").Subscribe("/", 1), b.Connect("pub")

		pub.Send(wire.Publish{Topic: "/", QoS: 1, ID: 1, Payload: own})

		Expect(pub.Answer(wire.PUBACK)).To(probe.BeA(wire.PUBACK), "it is a Topic Name like any other")
		mine := func(p wire.Publish) bool { return p.Payload == own } // others publish there too
		got := readOn(sub, nil, func(got []wire.Publish) bool { return slices.ContainsFunc(got, mine) })
		Expect(got).To(ContainElement(And(HaveField("Payload", own), HaveField("Topic", "/"))), "the filter matches it")
	})
}

func manyLevels(b *probe.Broker, v version) {
	keys := []string{"v311/4.7.3-many-levels", "v5/4.7.3-many-levels"}
	It("tell how many levels a Topic Name may have", Serial, v.Observation(keys...), func() {
		defer untilFree(b)
		most := "none"
		for _, n := range []string{"100", "300", "1000", "10000"} {
			topic := b.Topic() + strings.Repeat("/l", map[string]int{"100": 97, "300": 297, "1000": 997, "10000": 9997}[n])
			if !exchanged(b, topic) {
				break
			}
			most = n
		}
		probe.Observe(v.key(keys...), "of topics with 100, 300, 1000 and 10000 levels, messages are passed on up to %s", most)
	})
}

// untilFree waits, within bounds, until the broker is done with what was sent: an
// ordinary SUBSCRIBE is answered. Some search a topic of n levels in n² steps, and
// nobody else is served meanwhile.
func untilFree(b *probe.Broker) {
	GinkgoHelper()
	c := b.Connect("free")
	c.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: b.Topic("free"), QoS: 0}}})
	c.Within(10*b.Timeout, wire.SUBACK)
}

// exchanged tells whether a message on a topic reaches who subscribes to it.
func exchanged(b *probe.Broker, topic string) bool {
	GinkgoHelper()
	sub, pub := b.Connect("sub"), b.Connect("pub")
	sub.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}})
	if ack, ok := sub.Answer(wire.SUBACK).Packet.(wire.Suback); !ok || len(ack.Codes) != 1 || ack.Codes[0] >= 0x80 {
		return false
	}
	pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 1, Payload: "deep"})
	if !pub.Answer(wire.PUBACK).Came {
		return false
	}
	return sub.Within(b.Timeout, wire.PUBLISH).Came
}

func wildcardsGranted(b *probe.Broker, v version) {
	for _, wild := range []string{"/+", "/#", "/+/x", "/+/#"} {
		It("may have wildcards in a filter: "+wild, v.Statement("v311/3.8.3-wildcards"), func() {
			c := b.Connect("client")
			probe.Warns("v311/3.8.3-wildcards").Expect(codeOf(c, b.Topic()+wild, 1)).To(BeNumerically("<", 0x80), "the filter is granted")
		})
	}
}

func permissions(b *probe.Broker, v version) {
	key := "v311/4.7.3-selective-authorization"
	It("tell how a filter is treated that the client may not subscribe to", v.Observation(key), func() {
		guarded := b.Variant("users")
		c := guarded.Connect("client", probe.Credentials(b.Users.Username, b.Users.Password)).Subscribe(b.Topic(), 1)
		said, _ := answered(c, asked(c, b.Users.DeniedSubscribe[0], 1))
		probe.Observe(key, "a filter that the user may not subscribe to: %s", said)
	})
}
