package specs

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// sharedQoS judges with what QoS, identifiers and RETAIN flag members get
// their messages, and that joining brings none that are retained.
func sharedQoS(b *probe.Broker, v version) {
	It("deliver at no more than the QoS granted to the member", v.Statement("v5/MQTT-4.8.2-3"), func() {
		topic := b.Topic()
		low, high := b.Connect("at QoS 0").Subscribe(group("g", topic), 0), b.Connect("at QoS 1")
		for _, p := range shareOut(b, topic, 4, 2, low).some()[0] {
			Expect(p.QoS).To(Equal(byte(0)), "the only member was granted QoS 0")
		}
		high.Subscribe(group("g", topic), 1)
		for i, list := range shareOut(b, topic, 10, 2, low, high).some() {
			for _, p := range list {
				Expect(p.QoS).To(Equal(byte(i)), "the member was granted QoS %d", i)
			}
		}
	})

	It("deliver at the new QoS when a member subscribes again", v.Statement("v5/MQTT-4.8.2-3"), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(group("g", topic), 2).Subscribe(group("g", topic), 0)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "message"})
		Expect(c.Arrival()).To(probe.BePacket(HaveField("QoS", byte(0))), "the QoS granted last holds")
	})

	different := "v5/4.8.2-different-qos"
	It("tell which QoS members of one group are granted", v.Observation(different), func() {
		filter := group("g", b.Topic())
		codes := []string{}
		for _, qos := range []byte{0, 1, 2} {
			codes = append(codes, fmt.Sprintf("0x%02x", codeOf(b.Connect("member"), filter, qos)))
		}
		probe.Observe(different, ofGroups+"members that ask for QoS 0, 1 and 2 get the SUBACK codes %s", strings.Join(codes, ", "))
	})

	for _, c := range []struct{ what, key string }{
		{"that is new brings no retained messages", "v5/3.8.4-no-retained-for-shared-new"},
		{"that exists brings no retained messages", "v5/3.8.4-no-retained-for-shared-existing"},
	} {
		for _, handling := range []byte{0, 1} {
			It(c.what+" with Retain Handling "+digit(handling), v.Statement(c.key, "v5/4.8.2-no-retained"), func() {
				b.Lacking("retain")
				topic := b.Topic()
				keptRetained(b, topic)
				joins := b.Connect("joins")
				members := []*probe.Client{joins}
				if c.key == "v5/3.8.4-no-retained-for-shared-existing" {
					members = append(members, joined(b, "first", group("g", topic)))
				}
				joins.SubscribeWith(asking(group("g", topic), handling))
				got := joins.DeliveredBefore(b.Connect("pub").SentinelAside(joins))
				shareOut(b, topic, 2, 1, members...).some()
				Expect(got).To(BeEmpty(), "no retained message comes")
			})
		}
	}

	id := "v5/3.3.4-subscription-id-shared"
	It("carry the Subscription Identifier of the member", v.Statement(id), func() {
		b.Lacking("subscription-ids")
		topic := b.Topic()
		list := []*probe.Client{b.Connect("one"), b.Connect("two"), b.Connect("none")}
		for i, c := range list {
			c.SubscribeWith(identified(uint32((i+1)%3), group("g", topic)))
		}
		for i, deliveries := range shareOut(b, topic, 12, 1, list...).some() {
			for _, p := range deliveries {
				Expect(identifiersOf(p)).To(Equal([][]uint32{{1}, {2}, {}}[i]), "only the identifier of the client that gets the message")
			}
		}
	})

	It("carry each its own Subscription Identifier, beside a plain one", v.Statement("v5/MQTT-3.3.4-3", id), func() {
		b.Lacking("subscription-ids")
		topic := b.Topic()
		c := b.Connect("client")
		for i, filter := range []string{topic, group("g", topic), group("h", topic)} {
			c.SubscribeWith(identified(uint32(i+1), filter))
		}
		got := handOut(b, topic, 1, 1, 3, c)
		if got.total() != 3 {
			probe.Inconclusive("the set-up needs three copies, but %d came", got.total())
		}
		Expect(seenIdentifiers(got[0])).To(ConsistOf(uint32(1), uint32(2), uint32(3)), "over all copies each identifier comes once")
	})
}

// begunByOne lets two members at QoS 2 take one message, up to PUBREC where that is
// wanted, and returns the one that has it and the other.
func begunByOne(b *probe.Broker, one, two *probe.Client, topic string, pubrec bool) (taker, other *probe.Client, p wire.Publish) {
	GinkgoHelper()
	b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "begun"})
	taker, other, p = takenByOne(b, one, two)
	if p.QoS != 2 {
		probe.Inconclusive("the set-up needs a delivery at QoS 2, but %s came", p)
	}
	alone(b, other)
	if pubrec {
		taker.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})
		if !taker.Answer(wire.PUBREL).Came {
			probe.Inconclusive("no PUBREL in the set-up")
		}
	}
	return taker, other, p
}

// alone ends the spec where the other member has the message as well.
func alone(b *probe.Broker, other *probe.Client) {
	GinkgoHelper()
	if gather(b, b.Connect("pub"), 0, other).total() > 0 {
		probe.Inconclusive("the set-up needs a message at one member, but both have it")
	}
}

// begunShared judges QoS 2 deliveries to a member that have begun.
func begunShared(b *probe.Broker, v version) {
	for _, pubrec := range []bool{false, true} {
		stage := map[bool]string{false: "before PUBREC", true: "behind PUBREC"}[pubrec]
		It("finish a QoS 2 delivery with the member that comes back, "+stage, v.Statement("v5/MQTT-4.8.2-4"), func() {
			topic := b.Topic()
			one, two := b.Connect("one", probe.Persistent).Subscribe(group("g", topic), 2), b.Connect("two", probe.Persistent).Subscribe(group("g", topic), 2)
			taker, other, p := begunByOne(b, one, two, topic, pubrec)
			taker.Drop()
			Expect(other.DeliveredBefore(b.Connect("pub").SentinelAside(other))).To(BeEmpty(), "the other member does not get the message")
			again := resumed(b, "again", taker.ID())
			if !pubrec {
				a := again.Answer(wire.PUBLISH)
				Expect(a).To(probe.BePacket(HaveField("Payload", "begun")), "the delivery goes on with the member")
				p = a.Packet.(wire.Publish)
				again.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})
			}
			Expect(again.Answer(wire.PUBREL)).To(probe.BePacket(HaveField("ID", p.ID)), "the delivery is completed")
			again.Send(wire.Ack{Type: wire.PUBCOMP, ID: p.ID})
			Expect(other.DeliveredBefore(b.Connect("pub").SentinelAside(other))).To(BeEmpty(), "the other member does not get the message")
		})

		for _, e := range sessionEndings {
			It("give a QoS 2 delivery that has begun, "+stage+", to nobody else when the Session ends "+e.name, e.labels(v.Statement("v5/MQTT-4.8.2-5")), func() {
				topic := b.Topic()
				one, two := e.member(b, "one", group("g", topic), 2), e.member(b, "two", group("g", topic), 2)
				taker, other, _ := begunByOne(b, one, two, topic, pubrec)
				e.happens(b, taker)
				isOver(b, taker)
				Expect(other.DeliveredBefore(b.Connect("pub").SentinelAside(other))).To(BeEmpty(), "the other member does not get the message")
			})
		}
	}
}

// refusedByMember judges messages that a member answers with an error.
func refusedByMember(b *probe.Broker, v version) {
	for _, qos := range []byte{1, 2} {
		ack := map[byte]wire.Type{1: wire.PUBACK, 2: wire.PUBREC}[qos]
		for _, code := range []byte{0x80, 0x83, 0x97} {
			It("offer a message to nobody else that "+ack.String()+" refused with "+fmt.Sprintf("0x%02x", code), v.Statement("v5/MQTT-4.8.2-6"), func() {
				topic := b.Topic()
				one, two := b.Connect("one", probe.Persistent).Subscribe(group("g", topic), qos), b.Connect("two", probe.Persistent).Subscribe(group("g", topic), qos)
				pub := b.Connect("pub")
				pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "refused"})
				taker, other, p := takenByOne(b, one, two)
				alone(b, other)
				taker.Send(wire.Ack{Type: ack, ID: p.ID, Code: code})
				taker.Ping()

				Expect(gather(b, pub, 0, taker, other).total()).To(BeZero(), "neither member gets the message again")
				taker.Drop()
				again := resumed(b, "again", taker.ID())
				Expect(gather(b, pub, 0, again, other).total()).To(BeZero(), "nor when the first comes back")
			})
		}
	}
}
