package specs

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

var (
	rootWildcards  = []string{"v311/MQTT-4.7.2-1", "v5/MQTT-4.7.2-1"}
	dollarExplicit = []string{"v311/4.7.2-dollar-explicit-filter", "v5/4.7.2-dollar-explicit-filter"}
	dollarExchange = []string{"v311/4.7.2-dollar-exchange", "v5/4.7.2-dollar-exchange"}
)

// firstLevelWild is a filter that differs from a topic in its first level only.
func firstLevelWild(topic string) string {
	_, rest, _ := strings.Cut(topic, "/")
	return "+/" + rest
}

// rootFilters returns the filters that begin with a wildcard and match a topic
// but for its $. The first two see the traffic of everybody: specs that use
// them run alone.
func rootFilters(topic string) []string { return []string{"#", "+/#", firstLevelWild(topic)} }

// dollarHidden judges filters that begin with a wildcard against topics that
// begin with $, by whatever way a message comes to such a topic.
func dollarHidden(b *probe.Broker, v version) {
	for i, filter := range []string{"#", "+/#", "+/..."} {
		It("that begin with $ do not match "+filter, Serial, v.Statement(rootWildcards...), func() {
			topics := dollarNames(b)
			exact := listeners(b, topics...)
			root := b.Connect("root").Subscribe(rootFilters(topics[0])[i], 0)
			pub := b.Connect("pub")
			for _, t := range topics {
				publishAnywhere(b, pub, t)
			}
			withoutDollar(root.DeliveredBefore(pub.SentinelAside(root)), filter)
			carried(gather(b, pub, 0, exact...).total() > 0, "passes no message of clients on")
		})
	}

	It("that begin with $ do not match #, +/# and +/... when a message is retained", Serial, v.Statement(rootWildcards...), func() {
		b.Lacking("retain")
		topic := b.DollarTopic("r")
		publishAs(b, wire.Publish{Topic: topic, QoS: 1, Retain: true, Payload: "kept"})
		carried(listeners(b, topic)[0].Within(b.Timeout/4, wire.PUBLISH).Came, "keeps no retained message of clients")
		for _, filter := range rootFilters(topic) {
			joins := b.Connect("joins").Subscribe(filter, 0)
			withoutDollar(joins.DeliveredBefore(b.Connect("end").SentinelAside(joins)), filter)
		}
	})

	It("that begin with $ do not match #, +/# and +/... when a will is published", Serial, v.Statement(rootWildcards...), func() {
		topic := b.DollarTopic("w")
		exact, root := listeners(b, topic)[0], b.Connect("root")
		for _, filter := range rootFilters(topic) {
			root.Subscribe(filter, 0)
		}
		carried(leavesWill(b, topic, exact), "publishes no will of clients")
		withoutDollar(root.DeliveredBefore(b.Connect("end").SentinelAside(root)), "#, +/# or +/...")
	})

	if v.is5() {
		It("that begin with $ do not match a shared #, +/# or +/...", Serial, v.Statement("v5/MQTT-4.7.2-1"), func() {
			b.Lacking("shared")
			topic := b.DollarTopic("s")
			exact := listeners(b, topic)
			root, name := b.Connect("root"), b.ClientID()
			for _, filter := range rootFilters(topic) {
				root.Subscribe(group(name, filter), 0)
			}
			pub := b.Connect("pub")
			publishAnywhere(b, pub, topic)
			withoutDollar(root.DeliveredBefore(pub.SentinelAside(root)), "a shared #, +/# or +/...")
			carried(gather(b, pub, 0, exact...).total() > 0, "passes no message of clients on")
		})
	}
}

// dollarNames returns a topic of the spec's own that begins with $, and others
// that mean something special to some brokers.
func dollarNames(b *probe.Broker) []string {
	topic := b.DollarTopic("x")
	return []string{topic, "$" + topic, "$SYS/" + topic[1:], "$"}
}

// listeners connects a client for each topic that subscribes to just that, if
// the broker lets it.
func listeners(b *probe.Broker, topics ...string) []*probe.Client {
	GinkgoHelper()
	list, refused := []*probe.Client{}, ""
	for _, t := range topics {
		c := b.Connect("exact")
		said, granted := answered(c, asked(c, t, 1))
		if granted {
			list = append(list, c)
		} else if refused != noAnswer {
			refused = said
		}
	}
	if len(list) == 0 {
		ungranted("filter that begins with $", refused)
	}
	return list
}

// ungranted ends a spec for which a filter is refused. What is not answered at
// all is no refusal.
func ungranted(filter, said string) {
	GinkgoHelper()
	if said == noAnswer {
		probe.Inconclusive("no SUBACK for a %s", filter)
	}
	probe.Unsupported("the broker grants no %s: %s", filter, said)
}

// asked is a SUBSCRIBE for one filter.
func asked(c *probe.Client, filter string, qos byte) wire.Subscribe {
	return wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: filter, QoS: qos}}}
}

// withoutDollar asserts that no message came on a topic that begins with $.
func withoutDollar(got []wire.Publish, filter string) {
	GinkgoHelper()
	for _, p := range got {
		Expect(p.Topic).NotTo(HavePrefix("$"), "no topic that begins with $ matches %s", filter)
	}
}

// carried ends the spec where no topic with $ had a message that could have
// shown anything.
func carried(came bool, what string) {
	GinkgoHelper()
	if !came {
		probe.Unsupported("the broker %s on a topic that begins with $", what)
	}
}

// publishAs publishes at QoS 1 or 2 as a client of its own, since the broker may
// refuse it in any way, and tells in words what became of it; taken is false
// where it was refused.
func publishAs(b *probe.Broker, p wire.Publish) (said string, taken bool) {
	GinkgoHelper()
	stranger := b.Connect("stranger")
	want := map[byte]wire.Type{1: wire.PUBACK, 2: wire.PUBREC}[p.QoS]
	p.ID = 1
	stranger.Send(p)
	a := stranger.Answer(want, wire.DISCONNECT)
	switch ack := a.Packet.(type) {
	case wire.Disconnect:
		return fmt.Sprintf("refused with DISCONNECT 0x%02x", ack.Code), false
	case wire.Ack:
		if ack.Code >= 0x80 {
			return fmt.Sprintf("refused with %s 0x%02x", want, ack.Code), false
		}
		if p.QoS == 2 {
			stranger.Send(wire.Ack{Type: wire.PUBREL, ID: 1})
			stranger.Answer(wire.PUBCOMP)
		}
		return "acknowledged", true
	}
	if a.Closed {
		return "refused by the close", false
	}
	return "not answered", false
}

// leavesWill lets a client go that has a will on a topic, and tells whether a
// subscriber gets it.
func leavesWill(b *probe.Broker, topic string, exact *probe.Client) bool {
	GinkgoHelper()
	c := b.Open("client")
	c.Send(b.ConnectPacket(probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("will")})))
	if !granted(c.Answer(wire.CONNACK)) {
		probe.Unsupported("the broker refuses a Will Topic that begins with $")
	}
	c.Drop()
	return exact.Within(b.Timeout/2, wire.PUBLISH).Came
}

// dollarNamed judges filters that name a first level with $.
func dollarNamed(b *probe.Broker, v version) {
	It("that begin with $ match a filter that begins with the same", v.Statement(dollarExplicit...), func() {
		topic := b.DollarTopic("x")
		above := strings.TrimSuffix(topic, "/x")
		for _, filter := range []string{topic, above + "/#", above + "/+", "$mqttcheck/+" + topic[strings.LastIndex(above, "/"):]} {
			sub := b.Connect("sub").Subscribe(filter, 1)
			publishAnywhere(b, sub, topic)
			a := sub.Within(b.Timeout, wire.PUBLISH)
			if filter == topic {
				carried(a.Came, "passes no message of clients on")
			}
			probe.Warns(v.key(dollarExplicit...)).Expect(a).To(probe.BeA(wire.PUBLISH), "%s matches by its first level", filter)
		}
	})

	It("that begin with $ come once to a client that subscribes to them beside #, which is left by itself", Serial, v.Statement(append(rootWildcards, dollarExplicit...)...), func() {
		topic, plain := b.DollarTopic("x"), b.Topic("plain")
		explicit := strings.TrimSuffix(topic, "x") + "#"
		exact, both := listeners(b, topic), b.Connect("both").Subscribe("#", 1).Subscribe(explicit, 1)
		pub := b.Connect("pub")
		at := func(filters string, want ...int) []int {
			return dollarAndPlain(b, pub, both, topic, plain, filters, want)
		}

		came := at("# and "+explicit, 1, 1)
		carried(gather(b, pub, 0, exact...).total() > 0, "passes no message of clients on")
		Expect(came[0]).To(BeNumerically("<=", 1), "a message comes once, for the filter that names its $")
		probe.Warns(v.key(dollarExplicit...)).Expect(came).To(Equal([]int{1, 1}), "both filters bring what they match")
		both.Unsubscribe("#")
		probe.Warns(v.key(dollarExplicit...)).Expect(at(explicit, 1, 0)).To(Equal([]int{1, 0}), "without #, what begins with $ still comes")
		both.Subscribe("#", 1).Unsubscribe(explicit)
		Expect(at("#", 0, 1)[0]).To(BeZero(), "# alone brings nothing that begins with $")
	})

	if v.is5() {
		inside := "v5/4.7.2-dollar-inside"
		It("that have a $ further behind are like any others", v.Statement(inside), func() {
			topic := b.Topic()
			for _, filter := range []string{topic + "/+", topic + "/#", "+/" + strings.TrimPrefix(topic, "mqttcheck/") + "/$x"} {
				matches(b, filter, []string{topic + "/$x"}, nil)
			}
		})
	}
}

// dollarAndPlain publishes to a topic with $ and to one without, and returns how
// often each comes to a client. It waits until each has come as often as wanted:
// no order binds them to a sentinel.
func dollarAndPlain(b *probe.Broker, pub, c *probe.Client, topic, plain, filters string, want []int) []int {
	GinkgoHelper()
	payload, topics := b.ClientID(), []string{topic, plain}
	for _, t := range topics {
		publishAs(b, wire.Publish{Topic: t, QoS: 1, Payload: payload + " for " + filters})
	}
	count := func(got []wire.Publish) []int {
		came := make([]int, len(topics))
		for _, p := range got {
			if i := slices.Index(topics, p.Topic); i >= 0 && strings.HasPrefix(p.Payload, payload) {
				came[i]++
			}
		}
		return came
	}
	return count(readOn(c, c.DeliveredBefore(pub.SentinelAside(c)), func(got []wire.Publish) bool {
		came := count(got)
		return came[0] >= want[0] && came[1] >= want[1]
	}))
}

// dollarFreedoms looks at what becomes of clients' messages on topics that begin
// with $, which a server should prevent and need not.
func dollarFreedoms(b *probe.Broker, v version) {
	It("tell whether clients exchange messages on topics that begin with $", v.Observation(dollarExchange...), func() {
		topic := b.DollarTopic("x")
		sub := listeners(b, topic)[0]
		said, _ := publishAs(b, wire.Publish{Topic: topic, QoS: 1, Payload: "dollar"})
		what := said + ", and not passed on"
		if gather(b, b.Connect("end"), 0, sub).total() > 0 {
			what = "passed on"
		}
		probe.Observe(v.key(dollarExchange...), "a client's message on a topic that begins with $ is %s", what)
	})

	It("tell whether clients' messages on topics that begin with $ are retained", v.Observation(dollarExchange...), func() {
		b.Lacking("retain")
		topic := b.DollarTopic("r")
		said, _ := publishAs(b, wire.Publish{Topic: topic, QoS: 1, Retain: true, Payload: "dollar"})
		what := said + ", and not kept"
		if len(fromStore(gather(b, b.Connect("end"), 0, listeners(b, topic)[0])[0])) > 0 {
			what = "kept"
		}
		probe.Observe(v.prefix+"/4.7.2-dollar-retained", "a client's retained message on a topic that begins with $ is %s", what)
	})

	It("tell whether a will on a topic that begins with $ is published", v.Observation(dollarExchange...), func() {
		topic := b.DollarTopic("w")
		what := map[bool]string{true: "published", false: "taken and not published"}[leavesWill(b, topic, listeners(b, topic)[0])]
		probe.Observe(v.prefix+"/4.7.2-dollar-will", "a will on a topic that begins with $ is %s", what)
	})
}
