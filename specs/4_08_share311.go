package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// shared311 looks at what $share means to clients of MQTT 3.1.1, which does not
// know it: whatever a server makes of it is a freedom.
func shared311(b *probe.Broker, v version) {
	use := v.Observation("v311/4.7.2-dollar-other-use")
	observe := func(name, value string) { probe.Observe("v311/4.7.2-share-"+name, "%s", value) }
	It("may mean anything", use, func() {
		topic := b.Topic()
		observe("filter", "a filter $share/g/...: "+meaning(b, group("g", topic), topic))
	})
	for _, form := range []struct{ name, filter string }{{"no-name", "$share//T"}, {"no-filter", "$share/T"}, {"empty-filter", "$share/T/"}} {
		It("may mean anything where MQTT 5.0 knows no such filter: "+form.filter, use, func() {
			observe(form.name, "a filter "+strings.Replace(form.filter, "T", "...", 1)+": "+meaning(b, filterFor(form.filter, b.ClientID()), b.Topic()))
		})
	}

	shared311Bound(b, v)

	for _, f := range shareFreedoms {
		It("may tell "+f.what, use, func() {
			grouped(b)
			observe(f.name, ofGroups+f.look(b))
		})
	}
	for _, d := range share311Differences {
		It("may be as in MQTT 5.0 or not: "+d.what, use, func() {
			grouped(b)
			observe(d.name, ofGroups+d.look(b))
		})
	}
}

// shared311Bound judges what groups do not change where there are some: what
// holds of publishers and of plain subscriptions.
func shared311Bound(b *probe.Broker, v version) {
	It("is nothing to the publisher: each message is acknowledged", v.Statement("v311/MQTT-3.3.4-1"), func() {
		grouped(b)
		acknowledgedThroughout(b)
	})

	It("leaves plain topics of the members to each of them", v.Statement("v311/MQTT-4.5.0-1"), func() {
		grouped(b)
		topic := b.Topic()
		pair := []*probe.Client{b.Connect("one"), b.Connect("two")}
		for _, c := range pair {
			c.Subscribe(group("g", topic+"/work"), 1).Subscribe(topic+"/command", 1)
		}
		shareOut(b, topic+"/work", 6, 1, pair...)
		got := handOut(b, topic+"/command", 3, 1, 2, pair...)
		Expect(got.all()).To(ConsistOf("1", "1", "2", "2", "3", "3"), "each client gets each command")
	})
}

// grouped ends the spec where the broker does not group clients of MQTT 3.1.1
// by $share.
func grouped(b *probe.Broker) {
	GinkgoHelper()
	topic := b.Topic()
	if means := meaning(b, group("g", topic), topic); means != meansShared {
		probe.Unsupported("$share in MQTT 3.1.1 is %s", means)
	}
}

// share311Differences are what section 4.8.2 of MQTT 5.0 settles, looked at in
// MQTT 3.1.1.
var share311Differences = []shareFreedom{
	{name: "identity", what: "what makes a group", look: func(b *probe.Broker) string {
		topic := b.Topic()
		got := handOut(b, topic, 4, 1, 2, joined(b, "in g", group("g", topic)), joined(b, "in h", group("h", topic)))
		if len(got[0]) == 4 && len(got[1]) == 4 {
			return "groups of different names get a copy each"
		}
		return "groups of different names do not get a copy each"
	}},
	{name: "plain", what: "a plain subscription beside a group", look: func(b *probe.Broker) string {
		topic := b.Topic()
		got := handOut(b, topic, 4, 1, 2, joined(b, "client", group("g", topic)).Subscribe(topic, 1))
		return "a client with a group and a plain subscription gets each message " + times(got.total()/4)
	}},
	{name: "root-wildcard", what: "a filter that begins with a wildcard", look: func(b *probe.Broker) string {
		topic := b.DollarTopic("x")
		c := joined(b, "client", group("g", firstLevelWild(topic)))
		exact := listeners(b, topic)
		pub := b.Connect("pub")
		publishAnywhere(b, pub, topic)
		came := gather(b, pub, 0, c).total() > 0
		carried(gather(b, pub, 0, exact...).total() > 0, "passes no message of clients on")
		return map[bool]string{true: "$share/g/+/t matches $x/t", false: "$share/g/+/t does not match $x/t"}[came]
	}},
	{name: "retained", what: "who gets retained messages", look: retainedForGroup},
	{name: "resubscribe", what: "a member that subscribes again", look: func(b *probe.Broker) string {
		topic := b.Topic()
		c := joined(b, "client", group("g", topic)).Subscribe(group("g", topic), 1)
		got := shareOut(b, topic, 4, 1, c)
		c.Unsubscribe(group("g", topic))
		if left := handOut(b, topic, 4, 1, 0, c); left.total() > 0 {
			return "a member that subscribed twice is still one after UNSUBSCRIBE"
		}
		return "a member that subscribed twice gets each message " + times(got.total()/4)
	}},
	{name: "leaving", what: "a member whose Session has ended", look: func(b *probe.Broker) string {
		topic := b.Topic()
		gone, stays := joined(b, "gone", group("g", topic)), joined(b, "stays", group("g", topic))
		gone.Drop()
		if got := shareOut(b, topic, 10, 1, stays); len(got.lost(10)) > 0 {
			return "some messages are lost with a member that has gone"
		}
		return "the members that are left get all messages"
	}},
	{name: "last", what: "messages that wait when the last member leaves", look: func(b *probe.Broker) string {
		topic := b.Topic()
		sole := joined(b, "sole", group("g", topic), probe.Persistent)
		sole.Disconnect()
		shareOut(b, topic, 4, 1)
		b.Connect("clean", probe.ID(sole.ID())).Disconnect()
		if gather(b, b.Connect("pub"), 0, joined(b, "joins", group("g", topic))).total() > 0 {
			return "messages that wait outlive the last member"
		}
		return "messages that wait are deleted with the last member"
	}},
	{name: "qos2-begun", what: "a QoS 2 delivery that has begun when the Session ends", look: func(b *probe.Broker) string {
		topic := b.Topic()
		one, two := b.Connect("one").Subscribe(group("g", topic), 2), b.Connect("two").Subscribe(group("g", topic), 2)
		taker, other, _ := begunByOne(b, one, two, topic, true)
		taker.Drop()
		if gather(b, b.Connect("pub"), 0, other).total() > 0 {
			return "a QoS 2 delivery that has begun goes to another member when the Session ends"
		}
		return "a QoS 2 delivery that has begun goes to nobody else"
	}},
	{name: "leading-slash", what: "a filter with a slash at the beginning", look: func(b *probe.Broker) string {
		topic := b.Topic()
		c := joined(b, "client", group("g", "/"+topic))
		pub := b.Connect("pub")
		publishAnywhere(b, pub, topic)
		publishAnywhere(b, pub, "/"+topic)
		switch got := gather(b, pub, 0, c).all(); {
		case len(got) == 2:
			return "$share/g//t matches t and /t"
		case len(got) == 1:
			return "$share/g//t matches " + map[bool]string{true: "t", false: "/t"}[got[0] == topic]
		}
		return "$share/g//t matches neither t nor /t"
	}},
}

// retainedForGroup tells which of two members that join one after the other get
// the retained message of the topic.
func retainedForGroup(b *probe.Broker) string {
	b.Lacking("retain")
	topic := b.Topic()
	keptRetained(b, topic)
	got := [2]int{}
	for i, name := range []string{"creator", "second"} {
		got[i] = gather(b, b.Connect("pub"), 0, joined(b, name, group("g", topic))).total()
	}
	switch got {
	case [2]int{0, 0}:
		return "no member gets retained messages when it joins"
	case [2]int{1, 0}:
		return "only the member that creates the group gets retained messages"
	case [2]int{1, 1}:
		return "each member gets retained messages when it joins"
	}
	return "some members get retained messages when they join"
}
