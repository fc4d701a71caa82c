package specs

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A shareFreedom is something about groups that is left to a server. What a
// server makes of $share in MQTT 3.1.1 is looked at with the same scenarios.
type shareFreedom struct {
	name string // ends the key of the observation
	what string
	key  string // of MQTT 5.0
	look func(b *probe.Broker) string
}

var shareFreedoms = []shareFreedom{
	{"dispatch", "which member gets a message", "v5/4.8.2-offline-member", dispatch},
	{"order", "in which order a member gets its messages", "v5/4.6-shared-order", orderInGroup},
	{"away-member", "whether messages wait for a member that is away", "v5/4.8.2-offline-member", awayMember},
	{"mostly-away", "who gets what came while no member was connected", "v5/4.8.2-offline-member", mostlyAway},
	{"busy-member", "whether messages wait for a member that takes no more", "v5/4.8.2-offline-member", busyMember},
	{"qos0-away", "whether messages at QoS 0 are lost with a member that is away", "v5/4.8.2-offline-member", awayAtQoS0},
	{"qos0-sent", "what becomes of a message at QoS 0 that was sent to a member that is gone", "v5/4.8.2-qos1-redelivery-early", sentAtQoS0},
	{"qos1-redelivery", "who gets a QoS 1 message that was open when the connection broke", "v5/4.8.2-qos1-redelivery-early", redelivered},
	{"qos2-waiting", "who gets a QoS 2 message that had not begun when the Session ended", "v5/4.8.2-qos1-redelivery-early", waitingAtQoS2},
}

// ofGroups begins what is told of groups: the versions of a server that treats
// them alike say the same.
const ofGroups = "shared subscriptions: "

func sharedFreedoms(b *probe.Broker, v version) {
	for _, f := range shareFreedoms {
		It("tell "+f.what, v.Observation(f.key), func() {
			probe.Observe("v5/4.8.2-"+f.name, "%s", ofGroups+f.look(b))
		})
	}
}

// arrivals acknowledges and returns what the members get until n messages have
// come in all, or as many as do in time.
func arrivals(b *probe.Broker, n int, members ...*probe.Client) spread {
	GinkgoHelper()
	got := make(spread, len(members))
	take := func(i int, list ...wire.Publish) {
		for _, p := range list {
			members[i].Acknowledge(p)
		}
		got[i] = append(got[i], list...)
	}
	const turns = 50
	for turn := 0; turn < turns && got.total() < n; turn++ {
		for i, m := range members {
			m.Ping()
			take(i, m.Pending()...)
		}
		if got.total() < n {
			if i, p, ok := nextOf(b, turns, members...); ok {
				take(i, p)
			}
		}
	}
	return got
}

// burst publishes the messages with the numbers from one to before another at
// QoS 1, as many at a time as the broker takes, and waits for their PUBACKs.
func burst(pub *probe.Client, topic string, from, to int) {
	GinkgoHelper()
	most := int(min(10, pub.Limit(wire.ReceiveMaximum, 65535)))
	for from < to {
		n := min(most, to-from)
		for i := range n {
			pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: uint16(from + i + 1), Payload: fmt.Sprint(from + i)})
		}
		for range n {
			if !pub.Answer(wire.PUBACK).Came {
				probe.Inconclusive("no PUBACK in the set-up")
			}
		}
		from += n
	}
}

// dispatch tells in words how 1000 messages of four publishers are shared out
// among three members.
func dispatch(b *probe.Broker) string {
	topic := b.Topic()
	members := []*probe.Client{joined(b, "one", group("g", topic)), joined(b, "two", group("g", topic)), joined(b, "three", group("g", topic))}
	const each = 10
	n := 1000
	if !b.V5() {
		n = 200
	}
	pubs := []*probe.Client{b.Connect("pub 1"), b.Connect("pub 2"), b.Connect("pub 3"), b.Connect("pub 4")}
	taker := make([]int, n)
	for from := 0; from < n; from += each * len(pubs) {
		for i, pub := range pubs {
			burst(pub, topic, from+i*each, from+(i+1)*each)
		}
		got := arrivals(b, each*len(pubs), members...)
		if total, sent := got.total(), each*len(pubs); total < sent {
			probe.Inconclusive("of %d messages the members got %d", sent, total)
		}
		for m, list := range got {
			for _, p := range list {
				if i := number(p); i < n {
					taker[i] = m
				}
			}
		}
	}
	return pattern(taker, len(members), func(i int) int { return i / each % len(pubs) })
}

// number returns the number that a message has as its payload.
func number(p wire.Publish) (n int) {
	_, _ = fmt.Sscan(p.Payload, &n)
	return max(n, 0)
}

// pattern tells in words how the takers of messages follow each other.
func pattern(taker []int, members int, publisher func(i int) int) string {
	counts, turns, byPublisher := make([]int, members), true, true
	of := map[int]int{}
	for i, m := range taker {
		counts[m]++
		turns = turns && (i < members || taker[i-members] == m)
		if old, known := of[publisher(i)]; known && old != m {
			byPublisher = false
		}
		of[publisher(i)] = m
	}
	switch even := len(taker) / members; {
	case slices.Max(counts) == len(taker):
		return "one member gets all messages"
	case turns:
		return "the members get the messages by turns"
	case byPublisher:
		return "all messages of a publisher go to one member"
	case slices.Max(counts) < even*5/4 && slices.Min(counts) > even*3/4:
		return "the members get about as many messages each, in no plain order"
	}
	return "the members get the messages unevenly"
}

// oneAtATime is the option of a client that takes one delivery at a time. MQTT
// 3.1.1 has none: there a client has to leave deliveries open.
func oneAtATime(b *probe.Broker, p *wire.Connect) {
	if b.V5() {
		p.Properties = append(p.Properties, wire.Property{ID: wire.ReceiveMaximum, Int: 1})
	}
}

// orderInGroup tells whether members whose messages have to wait get them in
// the order in which they were published.
func orderInGroup(b *probe.Broker) string {
	topic := b.Topic()
	one, two := joined(b, "one", group("g", topic), probe.Persistent), joined(b, "two", group("g", topic), probe.Persistent)
	one.Disconnect()
	two.Disconnect()
	pub := b.Connect("pub")
	burst(pub, topic, 1, 41)
	for _, list := range gather(b, pub, 40, resumed(b, "one again", one.ID()), resumed(b, "two again", two.ID())) {
		if !slices.IsSortedFunc(list, func(x, y wire.Publish) int { return number(x) - number(y) }) {
			return "a member does not get its messages in the order of publication"
		}
	}
	return "each member gets its messages in the order of publication"
}

// awayMember tells who gets the messages of a group one of whose two members
// is away.
func awayMember(b *probe.Broker) string {
	got := withAway(b, b.Topic(), 20)
	switch len(got[1]) {
	case 0:
		return "no message waits for a member that is away"
	case 20:
		return "all messages wait for a member that is away"
	}
	return "some messages wait for a member that is away"
}

// withAway publishes to a group of two members, one of which comes back only
// then, and returns what they get.
func withAway(b *probe.Broker, topic string, n int) spread {
	GinkgoHelper()
	away, here := joined(b, "away", group("g", topic), probe.Persistent), joined(b, "here", group("g", topic))
	away.Disconnect()
	pub := b.Connect("pub")
	burst(pub, topic, 1, n+1)
	return withLater(b, pub, n, here, away)
}

// mostlyAway tells who gets what is published while the only member is away:
// that member, or one that joins before it is back.
func mostlyAway(b *probe.Broker) string {
	got := withWorker(b, b.Topic(), 10)
	switch len(got[0]) {
	case 0:
		return "what came while no member was connected waits for the member that was away"
	case 10:
		return "what came while no member was connected goes to a member that joins"
	}
	return "what came while no member was connected goes to either member"
}

// withWorker publishes to a group whose only member is away, lets another join
// and the first come back, and returns what they get.
func withWorker(b *probe.Broker, topic string, n int) spread {
	GinkgoHelper()
	keeper := joined(b, "keeper", group("g", topic), probe.Persistent)
	keeper.Disconnect()
	pub, looks := b.Connect("pub"), onlooker(b, topic)
	burst(pub, topic, 1, n+1)
	sees(b, looks, fmt.Sprint(n))
	worker := joined(b, "worker", group("g", topic))
	return withLater(b, pub, n, worker, keeper)
}

// withLater returns what comes of n messages to a member that is connected, and
// to one that comes back when the other has got what it gets at once.
func withLater(b *probe.Broker, pub *probe.Client, n int, here, away *probe.Client) spread {
	GinkgoHelper()
	got := gather(b, pub, 0, here)
	more := gather(b, pub, n-got.total(), here, resumed(b, "back", away.ID()))
	return spread{append(got[0], more[0]...), more[1]}
}

// busyMember tells what becomes of the messages of a group one of whose two
// members leaves a delivery open and takes no more.
func busyMember(b *probe.Broker) string {
	_, rest := withBusy(b, b.Topic(), 40)
	if rest <= 1 {
		return "what a busy member does not take goes to another"
	}
	return "messages wait for a busy member while another is free"
}

// withBusy publishes to a group of two members, one of which acknowledges
// nothing until all is published. It returns how many deliveries were open to
// that member by then, and how many it got in all.
func withBusy(b *probe.Broker, topic string, n int) (open, rest int) {
	GinkgoHelper()
	busy, free := joined(b, "busy", group("g", topic), oneAtATime), joined(b, "free", group("g", topic))
	pub := b.Connect("pub")
	burst(pub, topic, 1, n+1)
	got := gather(b, pub, 0, free)
	busy.Ping()
	held := busy.Pending()
	for _, p := range held {
		busy.Acknowledge(p)
	}
	return len(held), len(held) + len(gather(b, pub, n-got.total()-len(held), busy, free)[0])
}
