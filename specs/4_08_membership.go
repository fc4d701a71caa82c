package specs

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// joining judges how Sessions become members of a Shared Subscription, and
// that each is one only once.
func joining(b *probe.Broker, v version) {
	one := "v5/4.8.2-one-member-gets-it"
	for _, qos := range []byte{1, 2} {
		It("lose and double nothing at QoS "+digit(qos)+" when members come and go", v.Statement(one), func() {
			topic := b.Topic()
			filter := group("g", topic)
			names := []string{"one", "two", "three", "four"}
			now := []*probe.Client{b.Connect("zero").Subscribe(filter, qos)}
			for _, name := range names {
				now = append(now, b.Connect(name).Subscribe(filter, qos))
				shareOut(b, topic, 4, qos, now...).onceEach(probe.For(one), 4, name+" has come")
			}
			for len(now) > 1 {
				gone := now[0]
				now = now[1:]
				gone.Unsubscribe(filter)
				shareOut(b, topic, 4, qos, append([]*probe.Client{gone}, now...)...).onceEach(probe.For(one), 4, gone.Name()+" has gone")
			}
		})
	}

	It("lose and double nothing when members join while messages flow", v.Statement(one), func() {
		topic := b.Topic()
		now, pub := []*probe.Client{}, b.Connect("pub")
		for i, name := range []string{"one", "two", "three", "four"} {
			now = append(now, joined(b, name, group("g", topic)))
			burst(pub, topic, 40*i+1, 40*i+41)
		}
		gather(b, pub, 160, now...).onceEach(probe.For(one), 160, "nobody has left")
	})

	twice := "v5/4.8.2-resubscribe-no-double"
	It("count a member once that subscribes again", v.Statement(twice), func() {
		topic := b.Topic()
		filter := group("g", topic)
		c := joined(b, "client", filter).Subscribe(filter, 1).Subscribe(filter, 1)
		shareOut(b, topic, 5, 1, c).onceEach(probe.For(twice), 5, "three SUBSCRIBE, one member")
		c.Unsubscribe(filter)
		nobodyGets(b, topic, "the first UNSUBSCRIBE ends the membership", c)
	})

	It("keep a member that is away, and count it once when it subscribes again", v.Statement(twice), func() {
		topic := b.Topic()
		filter := group("g", topic)
		first := joined(b, "first", filter, probe.Persistent)
		first.Disconnect()
		again := resumed(b, "again", first.ID())
		shareOut(b, topic, 3, 1, again).onceEach(probe.For(twice), 3, "the member is back")
		again.Subscribe(filter, 1)
		shareOut(b, topic, 3, 1, again).onceEach(probe.For(twice), 3, "the member subscribed again")
		again.Unsubscribe(filter)
		nobodyGets(b, topic, "the first UNSUBSCRIBE ends the membership", again)
	})

	It("keep a member one member when its connection is taken over", v.Statement(twice, one), func() {
		topic := b.Topic()
		filter := group("g", topic)
		first, other := joined(b, "first", filter, probe.Persistent), joined(b, "other", filter)
		shareOut(b, topic, 4, 1, first, other)
		again := resumed(b, "again", first.ID())
		shareOut(b, topic, 10, 1, again, other).onceEach(probe.For(one), 10, "two members")
		again.Unsubscribe(filter)
		got := shareOut(b, topic, 10, 1, again, other)
		Expect(got.payloads(0)).To(BeEmpty(), "the client is no member any more")
		got[1:].onceEach(probe.For(twice), 10, "one member is left")
	})

	detach, survives := "v5/3.10.4-shared-detach", "v5/4.8.2-survives-creator"
	It("outlive the member that made them", v.Statement(detach, survives), func() {
		topic := b.Topic()
		creator, heir := joined(b, "creator", group("g", topic)), joined(b, "heir", group("g", topic))
		creator.Unsubscribe(group("g", topic))
		got := shareOut(b, topic, 10, 1, creator, heir)
		Expect(got.payloads(0)).To(BeEmpty(), "the client has left")
		got[1:].onceEach(probe.For(detach), 10, "the other member gets all")
		heir.Unsubscribe(group("g", topic))
		nobodyGets(b, topic, "the last member has left", creator, heir)
	})
}

// ending is a way in which the Session of a client ends.
type sessionEnding struct {
	name    string
	expiry  uint32 // of the Session while it lasts
	waits   bool
	happens func(b *probe.Broker, c *probe.Client)
}

var sessionEndings = []sessionEnding{
	{"with its connection", 0, false, func(b *probe.Broker, c *probe.Client) { noticed(b, c) }},
	{"by DISCONNECT with Session Expiry Interval 0", 3600, false, func(_ *probe.Broker, c *probe.Client) {
		c.DisconnectWith(wire.Disconnect{Properties: wire.Properties{expiryProperty(0)}})
	}},
	{"by a CONNECT with Clean Start", 3600, false, func(b *probe.Broker, c *probe.Client) {
		noticed(b, c)
		b.Connect("clean", probe.ID(c.ID())).Disconnect()
	}},
	{"when it expires", 1, true, func(b *probe.Broker, c *probe.Client) {
		noticed(b, c)
		pass(b, 2.9)
	}},
}

// labels returns what a spec of the ending is labelled with.
func (e sessionEnding) labels(keys Labels) Labels {
	if e.waits {
		return append(keys, Timing...)
	}
	return keys
}

// member connects a client whose Session is to end so.
func (e sessionEnding) member(b *probe.Broker, name, filter string, qos byte) *probe.Client {
	GinkgoHelper()
	c, ack := present(b, name, probe.ID(b.ClientID()), expiry(e.expiry))
	if got := inForce(ack, e.expiry); got != e.expiry && e.expiry < 3600 || got == 0 && e.expiry > 0 {
		probe.Unsupported("the server replaces the Session Expiry Interval %d by %d in CONNACK", e.expiry, got)
	}
	return c.Subscribe(filter, qos)
}

// leftWith publishes n messages to a group one of whose members is gone, and
// returns what the member that is left gets of them. A server may notice late
// that a connection was dropped, or look only now and then for Sessions that
// have expired: if messages are missing there will be others, until it has had
// the time for that.
func (e sessionEnding) leftWith(b *probe.Broker, topic string, n int, stays *probe.Client) spread {
	GinkgoHelper()
	patience := b.Timeout
	if e.waits {
		patience += b.Seconds(late)
	}
	for start := time.Now(); ; {
		got := shareOut(b, topic, n, 1, stays)
		if len(got.lost(n)) == 0 || time.Since(start) > patience {
			return got
		}
	}
}

// isOver makes sure that the Session of a client has ended, which is the matter
// of other checks, and returns the client with a new one.
func isOver(b *probe.Broker, gone *probe.Client) *probe.Client {
	GinkgoHelper()
	back, ack := present(b, "back", probe.ID(gone.ID()), resume)
	if ack.SessionPresent() {
		probe.Inconclusive("the set-up needs a Session that has ended, but Session Present is 1")
	}
	return back
}

// leaving judges how Sessions cease to be members, and what is left behind.
func leaving(b *probe.Broker, v version) {
	full := "v5/4.8.2-unsubscribe-full-filter"
	It("are left by UNSUBSCRIBE with the whole filter, and no other", v.Statement(full), func() {
		topic := b.Topic()
		c := joined(b, "client", group("g", topic))
		others := removed(c, topic, group("h", topic), group("g", topic+"/#"), group("G", topic))
		shareOut(b, topic, 3, 1, c).onceEach(probe.For(full), 3, "the member is still one")
		code := removed(c, group("g", topic))
		nobodyGets(b, topic, "the member has left", c)
		probe.Warns(full).Expect(code).To(HaveExactElements(byte(0)), "there was a subscription")
		probe.Warns(full).Expect(others).To(HaveEach(byte(0x11)), "there was no such subscription")
	})

	end := "v5/4.8.2-leave-on-session-end"
	for _, e := range sessionEndings {
		It("are left by a Session that ends "+e.name, e.labels(v.Statement(end)), func() {
			topic := b.Topic()
			gone, stays := e.member(b, "gone", group("g", topic), 1), joined(b, "stays", group("g", topic))
			shareOut(b, topic, 4, 1, gone, stays)
			e.happens(b, gone)
			got := e.leftWith(b, topic, 10, stays)
			back := isOver(b, gone)
			got.onceEach(probe.For(end), 10, "one member is left")
			Expect(shareOut(b, topic, 10, 1, back, stays)[0]).To(BeEmpty(), "the client is a member no more when it comes back")
		})
	}

	last := "v5/4.8.2-ends-with-last"
	It("end with the last member, and take no more messages", v.Statement(last), func() {
		topic := b.Topic()
		filter := group("g", topic)
		one, two := joined(b, "one", filter), joined(b, "two", filter, probe.Persistent)
		shareOut(b, topic, 4, 1, one, two)
		one.Unsubscribe(filter)
		two.Unsubscribe(filter)
		shareOut(b, topic, 4, 1)
		got := gather(b, b.Connect("pub"), 0, one.Subscribe(filter, 1), two.Subscribe(filter, 1))
		Expect(got.total()).To(BeZero(), "what was published without a member comes to nobody")
		Expect(shareOut(b, topic, 4, 1, one, two).lost(4)).To(BeEmpty(), "the group is made anew")
	})

	It("end with the last Session, and what waited for it is deleted", v.Statement(last), func() {
		topic := b.Topic()
		filter := group("g", topic)
		sole := joined(b, "sole", filter, probe.Persistent)
		sole.Disconnect()
		shareOut(b, topic, 4, 1)
		b.Connect("clean", probe.ID(sole.ID())).Disconnect()
		joins := joined(b, "joins", filter)
		Expect(gather(b, b.Connect("pub"), 0, joins).total()).To(BeZero(), "what waited for the last member is deleted")
		shareOut(b, topic, 4, 1, joins).onceEach(probe.For(last), 4, "the new group")
	})
}

// members judges requests that name several filters, shared and plain.
func members(b *probe.Broker, v version) {
	It("and plain filters stand in one SUBSCRIBE, each with an outcome of its own", v.Statement("v5/MQTT-3.8.4-5", "v5/MQTT-3.9.3-1"), func() {
		topic := b.Topic()
		c := b.Connect("client")
		c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{
			{Filter: group("g", topic+"/a"), QoS: 0}, {Filter: topic + "/b", QoS: 1}, {Filter: group("h", topic+"/c"), QoS: 0}}})
		pub := b.Connect("pub")
		for i, t := range []string{"/a", "/b", "/c"} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 1, Payload: t})
			// A message at QoS 1 may come twice to a subscription at QoS 0.
			a := c.AnswerWhere(hasPayload(t), wire.PUBLISH)
			Expect(a).To(probe.BePacket(HaveField("QoS", byte(i%2))), "%s is subscribed to", t)
			c.Acknowledge(a.Packet.(wire.Publish))
		}
	})

	It("and plain filters stand in one UNSUBSCRIBE, each with a code of its own", v.Statement("v5/MQTT-3.11.3-1", "v5/3.11.3-unsuback-code-11"), func() {
		topic := b.Topic()
		c := joined(b, "client", group("g", topic)).Subscribe(topic+"/plain", 1)
		held, absent := removed(c, topic+"/plain")[0], removed(c, topic+"/plain")[0]
		if held == absent {
			probe.Unsupported("the broker answers 0x%02x whether there was a subscription or not", held)
		}
		c.Subscribe(topic+"/plain", 1)
		got := removed(c, group("h", topic), group("g", topic), topic, topic+"/plain")
		probe.Warns("v5/3.11.3-unsuback-code-11").Expect(got).To(ConsistOf(absent, held, absent, held), "two of the filters were not held")
		Expect(got).To(HaveExactElements(absent, held, absent, held), "a code for each filter in its place")
		nobodyGets(b, topic, "the group is left", c)
	})
}
