package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// groups judges what makes a Shared Subscription one of its own: its ShareName
// together with its Topic Filter.
func groups(b *probe.Broker, v version) {
	key := "v5/4.8.2-groups-independent"
	It("of one filter and several ShareNames get a copy each", v.Statement(key), func() {
		topic := b.Topic()
		one, two := joined(b, "one", group("g", topic)), joined(b, "two", group("g", topic))
		three, four := joined(b, "three", group("h", topic)), joined(b, "four", group("G", topic))
		got := handOut(b, topic, 10, 1, 3, one, two, three, four)
		got[:2].onceEach(probe.For(key), 10, "the group g")
		got[2:3].onceEach(probe.For(key), 10, "the group h")
		got[3:].onceEach(probe.For(key), 10, "the group G")
	})

	It("of one ShareName and several filters get a copy each", v.Statement(key), func() {
		topic := b.Topic()
		exact, plus, hash := joined(b, "exact", group("g", topic+"/a")), joined(b, "plus", group("g", topic+"/+")), joined(b, "hash", group("g", topic+"/#"))
		slash := joined(b, "slash", group("g", topic+"/a/"))
		got := handOut(b, topic+"/a", 10, 1, 3, exact, plus, hash, slash)
		for i, name := range []string{"the exact filter", "the filter with +", "the filter with #"} {
			got[i:i+1].onceEach(probe.For(key), 10, name)
		}
		Expect(got.payloads(3)).To(BeEmpty(), "the filter with a slash more is another one")
	})

	It("that a client is in alone bring it a copy each", v.Statement(key), func() {
		topic := b.Topic()
		c := joined(b, "client", group("g", topic)).Subscribe(group("h", topic), 1)
		got := handOut(b, topic, 3, 1, 2, c)
		Expect(got.all()).To(ConsistOf("1", "1", "2", "2", "3", "3"), "one copy for each of the two groups")
	})

	It("with the same members and overlapping filters get a copy each", v.Statement(key), func() {
		topic := b.Topic()
		pair := []*probe.Client{b.Connect("one"), b.Connect("two")}
		for _, c := range pair {
			c.Subscribe(group("g", topic+"/#"), 1).Subscribe(group("g", topic+"/a"), 1)
		}
		got := handOut(b, topic+"/a", 3, 1, 2, pair...)
		Expect(got.all()).To(ConsistOf("1", "1", "2", "2", "3", "3"), "each message is handed out twice")
	})

	It("share a message out among their own members", v.Statement(key), func() {
		topic := b.Topic()
		list := []*probe.Client{joined(b, "one", group("g", topic+"/a")), joined(b, "two", group("g", topic+"/a")), joined(b, "three", group("g", topic+"/+")), joined(b, "four", group("g", topic+"/+"))}
		got := handOut(b, topic+"/a", 10, 1, 2, list...)
		got[:2].onceEach(probe.For(key), 10, "the first pair")
		got[2:].onceEach(probe.For(key), 10, "the second pair")
	})

	for _, legal := range [][2]string{
		{"with a colon", "g:1"}, {"with a space", "a b"}, {"with a dollar sign", "$g"}, {"of one letter", "x"}, {"beyond ASCII", "übung-名"},
		{"of 1000 letters", strings.Repeat("n", 1000)}, {"that is $share again", "$share"}, {"of points", ".."},
	} {
		one := "v5/4.8.2-one-member-gets-it"
		It("may have a ShareName "+legal[0], v.Statement("v5/MQTT-4.8.2-2", one), func() {
			name := legal[1]
			topic := b.Topic()
			list := []*probe.Client{joined(b, "one", group(name, topic)), joined(b, "two", group(name, topic)), joined(b, "other", group("g", topic))}
			got := handOut(b, topic, 6, 1, 2, list...)
			got[:2].onceEach(probe.For(one), 6, "the group of that name")
		})
	}
}

// besidePlain judges plain subscriptions beside groups.
func besidePlain(b *probe.Broker, v version) {
	key := "v5/4.8.2-shared-and-plain"
	for _, order := range [][]bool{{true, false}, {false, true}} {
		It("and a plain subscription of the same client bring a copy each, "+map[bool]string{true: "the group first", false: "the plain one first"}[order[0]], v.Statement(key), func() {
			topic := b.Topic()
			c := b.Connect("client")
			for _, shared := range order {
				c.Subscribe(map[bool]string{true: group("g", topic), false: topic}[shared], 1)
			}
			got := handOut(b, topic, 3, 1, 2, c)
			Expect(got.all()).To(ConsistOf("1", "1", "2", "2", "3", "3"), "one copy for the plain subscription, one for the group")
		})
	}

	It("and an overlapping plain subscription of a member do not disturb each other", v.Statement(key), func() {
		topic := b.Topic()
		both := joined(b, "both", group("g", topic+"/a")).Subscribe(topic+"/#", 1)
		other := joined(b, "other", group("g", topic+"/a"))
		got := handOut(b, topic+"/a", 10, 1, 2, both, other)
		twice, mine := got.doubledWithin(0), got.payloads(0)
		Expect(len(mine)-len(twice)).To(Equal(10), "the plain subscription brings every message once")
		Expect(got.total()).To(Equal(20), "the group shares every message out once")
	})

	It("in two groups and with a plain subscription a client gets one to three copies", v.Statement(key), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic, 1).Subscribe(group("g", topic), 1).Subscribe(group("h", topic), 1)
		g, h := joined(b, "in g", group("g", topic)), joined(b, "in h", group("h", topic))
		got := handOut(b, topic, 6, 1, 3, c, g, h)
		Expect(got.total()).To(Equal(18), "three copies of each message: plain, g and h")
		Expect(spread{got[1]}.doubled()).To(BeEmpty(), "one copy at most for the other member of g")
		Expect(spread{got[2]}.doubled()).To(BeEmpty(), "one copy at most for the other member of h")
		Expect(spread{got[0]}.lost(6)).To(BeEmpty(), "the plain subscription brings every message")
	})

	It("leave plain subscribers alone, also one that comes later", v.Statement(key), func() {
		topic := b.Topic()
		list := []*probe.Client{joined(b, "one", group("g", topic)), joined(b, "two", group("g", topic)), joined(b, "before", topic)}
		handOut(b, topic, 4, 1, 2, list...)
		list = append(list, joined(b, "later", topic))
		got := handOut(b, topic, 10, 1, 3, list...)
		got[:2].onceEach(probe.For(key), 10, "the group")
		got[2:3].onceEach(probe.For(key), 10, "the plain subscriber")
		got[3:].onceEach(probe.For(key), 10, "the plain subscriber that came later")
	})

	It("and plain topics divide work and commands among the same clients", v.Statement(key), func() {
		topic := b.Topic()
		pair := []*probe.Client{b.Connect("one"), b.Connect("two")}
		for _, c := range pair {
			c.Subscribe(group("g", topic+"/work"), 1).Subscribe(topic+"/command", 1)
		}
		shareOut(b, topic+"/work", 6, 1, pair...).onceEach(probe.For(key), 6, "work")
		got := handOut(b, topic+"/command", 3, 1, 2, pair...)
		Expect(got.all()).To(ConsistOf("1", "1", "2", "2", "3", "3"), "each client gets each command")
	})

	It("are left one by one, and the plain subscription by itself", v.Statement(key), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(group("g", topic), 1).Subscribe(group("h", topic), 1).Subscribe(topic, 1)
		for i, filter := range []string{group("g", topic), topic, group("h", topic)} {
			Expect(handOut(b, topic, 1, 1, 3-i, c).total()).To(Equal(3-i), "%d subscriptions are left", 3-i)
			c.Unsubscribe(filter)
		}
		nobodyGets(b, topic, "no subscription is left", c)
	})
}

// doubledWithin returns the payloads that one member got more than once.
func (s spread) doubledWithin(member int) []string { return s[member : member+1].doubled() }

// shareMatching judges that $share and the ShareName take no part in matching.
func shareMatching(b *probe.Broker, v version) {
	key := "v5/4.8.2-share-prefix-not-matched"
	for _, tail := range []string{"/+", "/#", "/a"} {
		It("match as the filter behind the ShareName: "+tail, v.Statement(key), func() {
			topic := b.Topic()
			list := []*probe.Client{joined(b, "one", group("g", topic+tail)), joined(b, "two", group("g", topic+tail))}
			pub := b.Connect("pub")
			for _, t := range []string{topic + "/a", group("g", topic+"/a"), topic + "x/a", topic + "/a"} {
				publishAnywhere(b, pub, t)
			}
			got := gather(b, pub, 2, list...)
			Expect(got.all()).To(And(ContainElement(topic+"/a"), HaveEach(topic+"/a")), "what the filter matches comes, and nothing else")
			for _, p := range append(got[0], got[1]...) {
				Expect(p.Topic).To(Equal(topic+"/a"), "the Topic Name is the one that was published to")
			}
		})
	}

	It("end the ShareName at the first slash", v.Statement(key), func() {
		topic := b.Topic()
		c := joined(b, "client", group("g", "h/i/j/"+topic))
		pub := b.Connect("pub")
		publishAnywhere(b, pub, topic)
		publishAnywhere(b, pub, "h/i/j/"+topic)
		Expect(gather(b, pub, 1, c).all()).To(ConsistOf("h/i/j/"+topic), "what stands behind the first slash is the filter")
	})

	first := "v5/4.8.2-empty-first-level"
	It("keep a slash at the beginning of the filter", v.Statement(first), func() {
		topic := b.Topic()
		c, pub := joined(b, "client", group("g", "/"+topic)), b.Connect("pub")
		publishAnywhere(b, pub, topic)
		publishAnywhere(b, pub, "/"+topic)
		Expect(gather(b, pub, 1, c).all()).To(ConsistOf("/"+topic), "only the topic with the slash comes")
	})
}

// publishAnywhere publishes a message at QoS 1 whose payload is its topic. A
// topic with $ may be refused in any way: for that there is a client by itself.
func publishAnywhere(b *probe.Broker, pub *probe.Client, topic string) {
	GinkgoHelper()
	message := wire.Publish{Topic: topic, QoS: 1, Payload: topic}
	if topic[0] != '$' {
		pub.Publish(message)
		return
	}
	message.ID = 1
	stranger := b.Connect("stranger")
	stranger.Send(message)
	stranger.Within(b.Timeout/4, wire.PUBACK, wire.DISCONNECT)
}
