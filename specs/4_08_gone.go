package specs

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// goneMembers judges what holds of members that are away, busy or gone,
// whatever freedom the server uses.
func goneMembers(b *probe.Broker, v version) {
	one := "v5/4.8.2-one-member-gets-it"
	It("lose nothing while a member is away", v.Statement(one), func() {
		withAway(b, b.Topic(), 20).onceEach(probe.For(one), 20, "one of two members was away")
	})
	It("lose nothing while the only member is away and another joins", v.Statement(one), func() {
		withWorker(b, b.Topic(), 10).onceEach(probe.For(one), 10, "the only member was away")
	})
	It("send a busy member no more than its Receive Maximum", v.Statement("v5/MQTT-4.9.0-2"), func() {
		open, rest := withBusy(b, b.Topic(), 20)
		if rest == 0 {
			probe.Unsupported("the member that takes one delivery at a time gets none at all")
		}
		Expect(open).To(BeNumerically("<=", 1), "the member takes one delivery at a time")
	})

	It("keep an unacknowledged QoS 1 message for one of the members", v.Statement("v5/MQTT-4.4.0-1"), func() {
		_, came := openMessage(b)
		Expect(came).NotTo(BeEmpty(), "the Session is stored: the message comes to one of the members")
	})

	after := "v5/4.8.2-qos1-redelivery-after-session-end"
	for _, e := range sessionEndings {
		It("give an unacknowledged QoS 1 message to another member when the Session ends "+e.name, e.labels(v.Statement(after)), func() {
			topic := b.Topic()
			one, two := e.member(b, "one", group("g", topic), 1), e.member(b, "two", group("g", topic), 1)
			gone, stays := leftOpen(b, one, two, topic, e)
			got := gather(b, b.Connect("pub"), 1, stays)
			isOver(b, gone)
			probe.Warns(after).Expect(got.payloads(0)).To(ContainElement("open"), "another member gets the message")
		})
	}

	It("send what another member left open with DUP 0, and with its own identifiers", v.Statement("v5/MQTT-3.3.1-3", "v5/3.3.4-subscription-id-shared"), func() {
		b.Lacking("subscription-ids")
		topic := b.Topic()
		one, two := b.Connect("one"), b.Connect("two")
		one.SubscribeWith(identified(1, group("g", topic)))
		two.SubscribeWith(identified(2, group("g", topic)))
		_, stays := leftOpen(b, one, two, topic, sessionEndings[0])
		got := gather(b, b.Connect("pub"), 1, stays)[0]
		if len(got) == 0 {
			probe.Unsupported("nobody gets what a member that is gone left open")
		}
		probe.Warns("v5/MQTT-3.3.1-3").Expect(got[0]).To(HaveField("Dup", false), "to this member it is sent for the first time")
		probe.For("v5/3.3.4-subscription-id-shared").Expect(identifiersOf(got[0])).To(
			HaveExactElements(map[*probe.Client]uint32{one: 1, two: 2}[stays]), "the identifier of the member that gets it")
	})

	It("are nothing to the publisher: each message is acknowledged", v.Statement("v5/MQTT-3.3.4-1"), func() { acknowledgedThroughout(b) })

	nobody := "v5/3.4.2.1-puback-pubrec-code-10"
	It("are not said to be without a subscriber while the only member is away", v.Statement(nobody), func() {
		topic := b.Topic()
		away := joined(b, "away", group("g", topic), probe.Persistent)
		away.Disconnect()
		pub := b.Connect("pub")
		pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 9, Payload: "waits"})
		a := pub.Answer(wire.PUBACK)
		resumed(b, "back", away.ID())
		probe.Warns(nobody).Expect(a).To(probe.BePacket(HaveField("Code", Not(Equal(byte(0x10))))), "a member will get the message")
	})
}

// leftOpen gives one of two members a message at QoS 1 that it does not
// acknowledge, ends its Session, and returns both.
func leftOpen(b *probe.Broker, one, two *probe.Client, topic string, e sessionEnding) (gone, stays *probe.Client) {
	GinkgoHelper()
	b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
	gone, stays, _ = takenByOne(b, one, two)
	e.happens(b, gone)
	return gone, stays
}

// acknowledgedThroughout asserts that publications are answered whether the group
// that they are for has a member or not.
func acknowledgedThroughout(b *probe.Broker) {
	GinkgoHelper()
	topic := b.Topic()
	pub := b.Connect("pub")
	acknowledgedAt(pub, topic, "without a member")
	member := joined(b, "member", group("g", topic), probe.Persistent)
	acknowledgedAt(pub, topic, "with a member")
	member.Drop()
	acknowledgedAt(pub, topic, "with a member that is away")
}

// acknowledgedAt asserts that publications at QoS 1 and 2 are answered.
func acknowledgedAt(pub *probe.Client, topic, when string) {
	GinkgoHelper()
	for qos, answers := range [][]wire.Type{1: {wire.PUBACK}, 2: {wire.PUBREC, wire.PUBCOMP}} {
		if qos == 0 {
			continue
		}
		id := pub.NextID()
		pub.Send(wire.Publish{Topic: topic, QoS: byte(qos), ID: id, Payload: when})
		for i, want := range answers {
			if i > 0 {
				pub.Send(wire.Ack{Type: wire.PUBREL, ID: id})
			}
			Expect(pub.Answer(want)).To(probe.BeA(want), "%s, at QoS %d", when, qos)
		}
	}
}

// openMessage gives one of two members of stored Sessions a message at QoS 1,
// breaks its connection, and returns who got the message again: "the other
// member", "the same member", or both.
func openMessage(b *probe.Broker) (p wire.Publish, came []string) {
	GinkgoHelper()
	topic := b.Topic()
	one, two := joined(b, "one", group("g", topic), probe.Persistent), joined(b, "two", group("g", topic), probe.Persistent)
	pub := b.Connect("pub")
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
	taker, other, p := takenByOne(b, one, two)
	taker.Drop()
	if got := gather(b, pub, 0, other); got.total() > 0 {
		came = append(came, "the other member")
	}
	again := resumed(b, "again", taker.ID())
	if got := gather(b, pub, 1-len(came), again, other); len(got[0]) > 0 {
		came = append(came, "the same member")
	} else if len(got[1]) > 0 {
		came = append(came, "the other member")
	}
	return p, came
}

func redelivered(b *probe.Broker) string {
	_, came := openMessage(b)
	if len(came) == 0 {
		return "nobody gets an open message at QoS 1 again"
	}
	return "an open message at QoS 1 comes again to " + strings.Join(came, " and to ")
}

// waitingAtQoS2 tells what becomes of a QoS 2 message that waited for a member
// whose Session ended: its delivery had not begun.
func waitingAtQoS2(b *probe.Broker) string {
	topic := b.Topic()
	sole := b.Connect("sole", probe.Persistent).Subscribe(group("g", topic), 2)
	sole.Disconnect()
	pub := b.Connect("pub")
	settled(b, pub, wire.Publish{Topic: topic, QoS: 2, Payload: "waits"})
	heir := b.Connect("heir").Subscribe(group("g", topic), 2)
	if gather(b, pub, 0, heir).total() > 0 {
		return "a QoS 2 message that waits for a member goes to one that joins"
	}
	b.Connect("clean", probe.ID(sole.ID())).Disconnect()
	if gather(b, pub, 0, heir).total() > 0 {
		return "a QoS 2 message that had not begun goes to another member when the Session ends"
	}
	return "a QoS 2 message that had not begun is lost with the Session"
}

// awayAtQoS0 tells whether messages at QoS 0 are given to a member that is away.
func awayAtQoS0(b *probe.Broker) string {
	topic := b.Topic()
	away, here := joined(b, "away", group("g", topic), probe.Persistent), joined(b, "here", group("g", topic))
	away.Disconnect()
	pub := b.Connect("pub")
	for i := range 20 {
		pub.Publish(wire.Publish{Topic: topic, QoS: 0, Payload: fmt.Sprint(i)})
	}
	pub.Ping()
	switch n := gather(b, pub, 0, here).total(); n {
	case 20:
		return "all messages at QoS 0 go to the member that is connected"
	case 0:
		return "no message at QoS 0 goes to the member that is connected"
	}
	return "some messages at QoS 0 do not go to the member that is connected"
}

// sentAtQoS0 tells whether another member gets a message at QoS 0 that was sent
// to one that is gone.
func sentAtQoS0(b *probe.Broker) string {
	topic := b.Topic()
	one, two := joined(b, "one", group("g", topic)), joined(b, "two", group("g", topic))
	pub := b.Connect("pub")
	pub.Publish(wire.Publish{Topic: topic, QoS: 0, Payload: "once"})
	gone, stays, _ := takenByOne(b, one, two)
	gone.Reset()
	pub.Ping()
	if gather(b, pub, 0, stays).total() > 0 {
		return "a message at QoS 0 that was sent to a member comes to another as well"
	}
	return "a message at QoS 0 that was sent to a member comes to no other"
}
