package specs

import (
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// shared holds the specs of section 4.8.2. MQTT 3.1.1 does not know shared
// subscriptions: what a server makes of them there is observed.
func shared(b *probe.Broker, v version) {
	if !v.is5() {
		Describe("4.7.2 $share", func() { shared311(b, v) })
		return
	}
	Describe("4.8.2 Shared Subscriptions", func() {
		BeforeEach(func() { b.Lacking("shared") })
		oneMember(b, v)
		groups(b, v)
		besidePlain(b, v)
		shareMatching(b, v)
		shareSyntax(b, v)
		joining(b, v)
		leaving(b, v)
		members(b, v)
		sharedQoS(b, v)
		begunShared(b, v)
		refusedByMember(b, v)
		goneMembers(b, v)
		sharedFreedoms(b, v)
	})
}

// spread is what the members of a group got, each in its order.
type spread [][]wire.Publish

// shareOut publishes n messages, each acknowledged before the next, and
// returns what the members of a group get of them.
func shareOut(b *probe.Broker, topic string, n int, qos byte, members ...*probe.Client) spread {
	GinkgoHelper()
	return handOut(b, topic, n, qos, 1, members...)
}

// handOut is shareOut for messages of which several copies come.
func handOut(b *probe.Broker, topic string, n int, qos byte, copies int, members ...*probe.Client) spread {
	GinkgoHelper()
	pub := b.Connect("pub")
	for i := range n {
		p := wire.Publish{Topic: topic, QoS: qos, Payload: fmt.Sprint(i + 1)}
		if len(members) == 0 && i == n-1 {
			settled(b, pub, p) // and those before it: who comes next is not to get them
		} else {
			pub.Publish(p)
		}
	}
	return gather(b, pub, n*copies, members...)
}

// nobodyGets asserts that no message published to a topic comes to the clients.
func nobodyGets(b *probe.Broker, topic, why string, clients ...*probe.Client) {
	GinkgoHelper()
	Expect(handOut(b, topic, 3, 1, 0, clients...).total()).To(BeZero(), why)
}

// gather returns what each member gets up to a sentinel of its own, and of
// what must come more as long as it may take: the sentinels go by other
// subscriptions, so that they are no proof that nothing is on its way.
func gather(b *probe.Broker, pub *probe.Client, atLeast int, members ...*probe.Client) spread {
	GinkgoHelper()
	got := make(spread, len(members))
	if len(members) == 0 {
		return got
	}
	for i, m := range members {
		got[i] = m.DeliveredBefore(pub.SentinelAside(m))
	}
	const turns = 50
	late := false
	for silent := 0; silent < turns && got.total() < atLeast; silent++ {
		if i, p, ok := nextOf(b, turns, members...); ok {
			members[i].Acknowledge(p)
			got[i] = append(got[i], p)
			silent, late = -1, true
		}
	}
	for i, m := range members {
		if late { // and so may be what comes twice
			got[i] = append(got[i], m.DeliveredBefore(pub.SentinelAside(m))...)
		}
	}
	return got
}

// nextOf waits for a part of the timeout until one of several clients has a
// message, which it leaves open.
func nextOf(b *probe.Broker, part int, clients ...*probe.Client) (i int, p wire.Publish, ok bool) {
	GinkgoHelper()
	for i, c := range clients {
		if a := c.Within(b.Timeout/time.Duration(part*len(clients)), wire.PUBLISH); a.Came {
			p, ok = a.Packet.(wire.Publish)
			return i, p, ok
		}
	}
	return 0, p, false
}

// takenByOne waits until one of two members has a message, and returns the client
// that has it, the other one and the message, which is open.
func takenByOne(b *probe.Broker, one, two *probe.Client) (taker, other *probe.Client, p wire.Publish) {
	GinkgoHelper()
	const turns = 50
	for range turns {
		if i, p, ok := nextOf(b, turns, one, two); ok {
			return [...]*probe.Client{one, two}[i], [...]*probe.Client{two, one}[i], p
		}
	}
	probe.Inconclusive("no member of the group gets the message")
	return nil, nil, p
}

func (s spread) total() (n int) {
	for _, list := range s {
		n += len(list)
	}
	return n
}

// some returns what the members got, and ends the spec where that is nothing:
// then there is nothing to judge.
func (s spread) some() spread {
	GinkgoHelper()
	if s.total() == 0 {
		probe.Inconclusive("no message comes to a member of the group")
	}
	return s
}

// payloads returns the payloads that one member got.
func (s spread) payloads(member int) []string {
	list := []string{}
	for _, p := range s[member] {
		list = append(list, p.Payload)
	}
	return list
}

// all returns the payloads that the members got, sorted as text.
func (s spread) all() []string {
	list := []string{}
	for i := range s {
		list = append(list, s.payloads(i)...)
	}
	slices.Sort(list)
	return list
}

// lost returns which of the messages 1 to n no member got.
func (s spread) lost(n int) []string {
	missing, all := []string{}, s.all()
	for i := range n {
		if name := fmt.Sprint(i + 1); !slices.Contains(all, name) {
			missing = append(missing, name)
		}
	}
	return missing
}

// doubled returns which messages came more than once.
func (s spread) doubled() []string {
	list, all := []string{}, s.all()
	for i, name := range all {
		if i > 0 && all[i-1] == name && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

// onceEach asserts that each of the messages 1 to n came to exactly one member.
func (s spread) onceEach(judge Gomega, n int, why string) {
	GinkgoHelper()
	judge.Expect(s.doubled()).To(BeEmpty(), "%s: no message comes to two members, nor twice", why)
	judge.Expect(s.lost(n)).To(BeEmpty(), "%s: no message is lost", why)
}

// group returns the filter of a Shared Subscription.
func group(name, filter string) string { return "$share/" + name + "/" + filter }

// joined connects a client that is a member of a group at QoS 1.
func joined(b *probe.Broker, name, filter string, options ...probe.Option) *probe.Client {
	GinkgoHelper()
	return b.Connect(name, options...).Subscribe(filter, 1)
}

// oneMember judges that a message goes to one member and no more.
func oneMember(b *probe.Broker, v version) {
	one := "v5/4.8.2-one-member-gets-it"
	for _, qos := range []byte{1, 2} {
		It("give each message at QoS "+digit(qos)+" to one of three members", v.Statement(one), func() {
			topic := b.Topic()
			var list []*probe.Client
			for _, name := range []string{"one", "two", "three"} {
				list = append(list, b.Connect(name).Subscribe(group("g", topic), qos))
			}
			shareOut(b, topic, 30, qos, list...).onceEach(probe.For(one), 30, "three members")
		})
	}

	It("give a message at QoS 0 to no more than one of three members", v.Statement(one), func() {
		topic := b.Topic()
		list := []*probe.Client{joined(b, "one", group("g", topic)), joined(b, "two", group("g", topic)), joined(b, "three", group("g", topic))}
		Expect(shareOut(b, topic, 30, 0, list...).some().doubled()).To(BeEmpty(), "no message comes to two members")
	})

	It("take members of both versions of the protocol", v.Statement(one), func() {
		old := inOther(b) // of MQTT 3.1.1
		topic := b.Topic()
		list := []*probe.Client{joined(b, "five", group("g", topic)), joined(old, "earlier", group("g", topic)), joined(b, "other five", group("g", topic))}
		shareOut(b, topic, 20, 1, list...).onceEach(probe.For(one), 20, "published in MQTT 5.0")
		shareOut(old, topic, 20, 1, list...).onceEach(probe.For(one), 20, "published in MQTT 3.1.1")
	})

	It("take clean and stored Sessions in one group", v.Statement(one), func() {
		topic := b.Topic()
		list := []*probe.Client{joined(b, "clean", group("g", topic)), joined(b, "stored", group("g", topic), probe.Persistent)}
		shareOut(b, topic, 20, 1, list...).onceEach(probe.For(one), 20, "both are connected")
	})

	It("take Sessions whose Client Identifier the server made", v.Statement(one), func() {
		topic := b.Topic()
		var list []*probe.Client
		for _, name := range []string{"one", "two"} {
			c := b.Open(name)
			c.Send(b.ConnectPacket(probe.ID("")))
			if ack := c.Connack(); ack.Code != 0 {
				probe.Unsupported("an empty Client Identifier is refused with code 0x%02x", ack.Code)
			}
			list = append(list, c.Subscribe(group("g", topic), 1))
		}
		shareOut(b, topic, 20, 1, list...).onceEach(probe.For(one), 20, "two members")
	})

	It("span the nodes of a broker", v.Statement(one), func() {
		if len(b.Also) == 0 {
			probe.SkipFor("needs the address of a further node of the broker")
		}
		topic := b.Topic()
		list := []*probe.Client{joined(b, "here", group("g", topic)), joined(b.At(b.Also[0]), "there", group("g", topic))}
		shareOut(b.At(b.Also[len(b.Also)-1]), topic, 20, 1, list...).onceEach(probe.For(one), 20, "members at two nodes")
	})
}
