package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// atOnce bounds how many topics of the server a spec looks at.
const atOnce = 10

// served returns the messages that the server has on $SYS for a client that
// subscribes, one for each topic. Without any the spec ends as unsupported.
func served(b *probe.Broker) []wire.Publish {
	GinkgoHelper()
	c := b.Connect("looks")
	said, granted := answered(c, asked(c, "$SYS/#", 0))
	if !granted {
		ungranted("filter $SYS/#", said)
	}
	a := c.Within(b.Timeout/2, wire.PUBLISH)
	first, ok := a.Packet.(wire.Publish)
	if !a.Came || !ok {
		probe.Unsupported("the server has no message on $SYS/# for a client that subscribes")
	}
	c.Ping()
	list, seen := []wire.Publish{}, map[string]bool{}
	for _, p := range append([]wire.Publish{first}, c.Pending()...) {
		if strings.HasPrefix(p.Topic, "$SYS/") && !seen[p.Topic] {
			seen[p.Topic] = true
			list = append(list, p)
		}
	}
	return list
}

// servedRetained returns some topics of the server that have a retained message.
func servedRetained(b *probe.Broker) []wire.Publish {
	GinkgoHelper()
	list := []wire.Publish{}
	for _, p := range served(b) {
		if p.Retain && len(list) < atOnce {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		probe.Unsupported("the server retains nothing on $SYS topics")
	}
	return list
}

// serverTopics judges the topics that the server itself publishes on.
func serverTopics(b *probe.Broker, v version) {
	It("of the server on $SYS do not match #, +/# and +/...", Serial, v.Statement(rootWildcards...), func() {
		list := servedRetained(b)
		joins := b.Connect("joins").Subscribe("#", 0).Subscribe("+/#", 0)
		for _, p := range list {
			joins.Subscribe(firstLevelWild(p.Topic), 0)
		}
		withoutDollar(joins.DeliveredBefore(b.Connect("end").SentinelAside(joins)), "#, +/# or +/...")
	})

	It("of the server on $SYS match filters that name it", v.Statement(dollarExplicit...), func() {
		for _, p := range servedRetained(b) {
			above := p.Topic[:strings.LastIndex(p.Topic, "/")]
			for _, filter := range []string{p.Topic, above + "/+", above + "/#"} {
				sub := b.Connect("sub").Subscribe(filter, 0)
				came := sub.AnswerWhere(onTopic(p.Topic), wire.PUBLISH)
				probe.Warns(v.key(dollarExplicit...)).Expect(came).To(probe.BeA(wire.PUBLISH), "%s brings the message of %s", filter, p.Topic)
			}
		}
	})

	It("of the server on $SYS come to a client that subscribes to $SYS/# beside #", Serial, v.Statement(append(dollarExplicit, rootWildcards...)...), func() {
		want := servedRetained(b)[0].Topic
		id := b.ClientID()
		both := b.Connect("both", probe.ID(id), probe.Persistent).Subscribe("#", 0)
		topics := func() []string { return topicsOf(both.DeliveredBefore(b.Connect("end").SentinelAside(both))) }
		probe.For(v.key(rootWildcards...)).Expect(topics()).NotTo(ContainElement(HavePrefix("$")), "# alone brings nothing that begins with $")
		both.Subscribe("$SYS/#", 0)
		brings := func(why string) {
			GinkgoHelper()
			probe.Warns(v.key(dollarExplicit...)).Expect(both.AnswerWhere(onTopic(want), wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), why)
		}
		brings("$SYS/# brings it beside #")
		topics()
		both.Unsubscribe("#")
		both.Subscribe("$SYS/#", 0)
		brings("$SYS/# brings it without #")
		both.Unsubscribe("$SYS/#")
		both.Disconnect() // what is on its way is lost with the connection
		both = resumed(b, "both again", id).Subscribe("#", 0)
		probe.For(v.key(rootWildcards...)).Expect(topics()).NotTo(ContainElement(HavePrefix("$")), "without $SYS/# nothing that begins with $ comes")
	})

	matter := []string{"v311/4.7.3-case-sensitive", "v5/4.7.3-case-sensitive"}
	It("of the server on $SYS do not match $sys/#", v.Statement(matter...), func() {
		servedRetained(b)
		sub := b.Connect("sub").Subscribe("$sys/#", 0)
		got := topicsOf(sub.DeliveredBefore(b.Connect("end").SentinelAside(sub)))
		Expect(got).NotTo(ContainElement(HavePrefix("$SYS")), "$sys is another name")
	})

	live := []string{"v311/MQTT-3.3.1-9", "v5/MQTT-3.3.1-12"}
	It("of the server on $SYS have RETAIN 0 when their value changes", Timing, v.Statement(live...), func() {
		b.Lacking("retain")
		served(b)
		sub := b.Connect("sub").Subscribe("$SYS/#", 0)
		pass(b, 2.9)
		sub.Ping()
		stored, judged := map[string]bool{}, 0
		for _, p := range sub.Pending() {
			// What comes behind the retained message of a topic is new.
			if stored[p.Topic] {
				judged++
				Expect(p).To(HaveField("Retain", false), "the subscription was there before the message")
			}
			stored[p.Topic] = stored[p.Topic] || p.Retain
		}
		if judged == 0 {
			probe.Unsupported("nothing that is retained on $SYS changed within three seconds")
		}
	})
}

// onTopic picks the messages of a topic.
func onTopic(name string) func(wire.Received) bool {
	return func(r wire.Received) bool {
		p, ok := r.Packet.(wire.Publish)
		return ok && p.Topic == name
	}
}

// topicsOf returns the Topic Names of messages.
func topicsOf(list []wire.Publish) []string {
	names := []string{}
	for _, p := range list {
		names = append(names, p.Topic)
	}
	return names
}

// serverTopicFreedoms looks at what the server publishes on $SYS, and at what
// becomes of clients' messages there. They get no root wildcard to see
// [dollarHidden].
func serverTopicFreedoms(b *probe.Broker, v version) {
	other := []string{"v311/4.7.2-dollar-other-use", "v5/4.7.2-dollar-other-use"}
	It("tell whether the server publishes on $SYS", v.Observation(other...), func() {
		c := b.Connect("client")
		if said, granted := answered(c, asked(c, "$SYS/#", 2)); !granted {
			probe.Observe(v.key(other...), "the filter $SYS/# is refused: %s", said)
			return
		}
		first, ok := c.Within(b.Timeout/2, wire.PUBLISH).Packet.(wire.Publish)
		if !ok {
			probe.Observe(v.key(other...), "nothing comes on $SYS/# at once")
			return
		}
		probe.Observe(v.key(other...), "on $SYS/# there are messages at once, at QoS %d, on %s", first.QoS, scale(served(b)))
	})

	It("tell what becomes of a client's message on $SYS", v.Observation(dollarExchange...), func() {
		topic := "$SYS/" + b.Topic()
		sub := listeners(b, topic)[0]
		said, _ := publishAs(b, wire.Publish{Topic: topic, QoS: 1, Payload: "stranger"})
		passed := gather(b, b.Connect("end"), 0, sub).total() > 0
		probe.Observe(v.prefix+"/4.7.2-sys-publish", "a client's message on a $SYS topic of its own is %s, and %s", said, map[bool]string{true: "passed on", false: "not passed on"}[passed])
	})

	It("tell whether a client can pose as the server on $SYS", Serial, v.Observation(dollarExchange...), func() {
		b.Lacking("retain")
		own := servedRetained(b)[0]
		sub := listeners(b, own.Topic)[0]
		said, _ := publishAs(b, wire.Publish{Topic: own.Topic, QoS: 1, Payload: "posed"})
		passed := poses(gather(b, b.Connect("end"), 0, sub)[0])
		if len(b.Variants) == 0 {
			// What the server has retained is not ours to replace.
			probe.Observe(v.prefix+"/4.7.2-sys-pose", "a client's message on a $SYS topic of the server is %s, and %s", said, control(passed, false, false))
			return
		}
		defer publishAs(b, wire.Publish{Topic: own.Topic, QoS: 1, Retain: true, Payload: own.Payload})
		publishAs(b, wire.Publish{Topic: own.Topic, QoS: 1, Retain: true, Payload: "posed"})
		replaced := poses(fromStore(gather(b, b.Connect("end"), 0, listeners(b, own.Topic)[0])[0]))
		publishAs(b, wire.Publish{Topic: own.Topic, QoS: 1, Retain: true})
		deleted := len(fromStore(gather(b, b.Connect("end"), 0, listeners(b, own.Topic)[0])[0])) == 0
		probe.Observe(v.prefix+"/4.7.2-sys-pose", "a client's message on a $SYS topic of the server is %s, and %s", said, control(passed, replaced, deleted))
	})
}

// poses tells whether a message of a client that poses as the server came.
func poses(list []wire.Publish) bool {
	for _, p := range list {
		if p.Payload == "posed" {
			return true
		}
	}
	return false
}

// control tells in words what a client can do to the topics of the server.
func control(passed, replaced, deleted bool) string {
	var can []string
	for _, c := range []struct {
		can  bool
		what string
	}{{passed, "reaches its subscribers"}, {replaced, "replaces its retained message"}, {deleted, "deletes its retained message when it is empty"}} {
		if c.can {
			can = append(can, c.what)
		}
	}
	if len(can) == 0 {
		return "has no effect"
	}
	return strings.Join(can, ", ")
}

// scale tells in words on how many topics there are messages: it depends on what
// has happened at the broker.
func scale(list []wire.Publish) string {
	kept := "retained"
	for _, p := range list {
		if !p.Retain {
			kept = "some of them not retained"
		}
	}
	switch n := len(list); {
	case n >= 100:
		return "hundreds of topics, " + kept
	case n >= 10:
		return "tens of topics, " + kept
	}
	return "a few topics, " + kept
}
