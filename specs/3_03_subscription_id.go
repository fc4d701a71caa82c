package specs

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// subscriptionIDs holds the specs of Subscription Identifiers, which MQTT 5.0
// alone has: sections 3.3.4, 3.8.2.1.2 and 3.8.4.
func subscriptionIDs(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.3.4 Subscription Identifier", func() {
		BeforeEach(func() { b.Lacking("subscription-ids") })
		identifierOfOne(b, v)
		identifiersOfOverlap(b, v)
		identifierLifetime(b, v)
		resentIdentifier(b, v)
		brokenIdentifier(b, v)
	})
}

// identified returns a SUBSCRIBE for filters at QoS 1 with a Subscription
// Identifier, or none for 0.
func identified(n uint32, filters ...string) wire.Subscribe {
	p := wire.Subscribe{}
	if n > 0 {
		p.Properties = wire.Properties{{ID: wire.SubscriptionIdentifier, Int: n}}
	}
	for _, f := range filters {
		p.Subscriptions = append(p.Subscriptions, wire.Subscription{Filter: f, QoS: 1})
	}
	return p
}

// identifiersOf returns the Subscription Identifiers of a delivery, sorted.
func identifiersOf(p wire.Publish) []uint32 {
	ids := []uint32{}
	for _, prop := range p.Properties.Every(wire.SubscriptionIdentifier) {
		ids = append(ids, prop.Int)
	}
	slices.Sort(ids)
	return ids
}

// hasIdentifiers asserts that a delivery has these Subscription Identifiers and
// no other. That it comes at all is the matter of other checks.
func hasIdentifiers(p wire.Publish, why string, ids ...uint32) {
	GinkgoHelper()
	Expect(identifiersOf(p)).To(Equal(append([]uint32{}, ids...)), "%s: %s", p.Payload, why)
}

func identifierOfOne(b *probe.Broker, v version) {
	for _, qos := range []byte{0, 1, 2} {
		It("comes with each message at QoS "+digit(qos), v.Statement("v5/MQTT-3.3.4-3"), func() {
			b.Lacking("qos" + digit(qos))
			topic := b.Topic()
			c, pub := b.Connect("client"), b.Connect("pub")
			c.SubscribeWith(identified(5, topic))
			for range 2 {
				pub.Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "message"})
				hasIdentifiers(c.Delivery(), "the identifier of the SUBSCRIBE comes with the message", 5)
			}
		})
	}

	It("comes with a retained message", v.Statement("v5/MQTT-3.3.4-3"), func() {
		b.Lacking("retain")
		topic := b.Topic()
		keptRetained(b, topic)
		c := b.Connect("client")
		c.SubscribeWith(identified(5, topic))
		hasIdentifiers(c.Delivery(), "the identifier of the SUBSCRIBE comes with the retained message", 5)
	})

	It("may be anything from 1 to 268435455", v.Statement("v5/3.3.2.3.8-subscription-id-zero"), func() {
		topic := b.Topic()
		c, pub := b.Connect("client"), b.Connect("pub")
		for _, n := range []uint32{1, 127, 128, 16383, 16384, 2097151, 2097152, 268435455} {
			each := fmt.Sprint(topic, "/", n)
			c.SubscribeWith(identified(n, each))
			pub.Publish(wire.Publish{Topic: each, QoS: 1, Payload: each})
			hasIdentifiers(c.Delivery(), "the identifier comes back as it was sent", n)
		}
	})

	It("holds for all filters of the SUBSCRIBE", v.Statement("v5/3.8.2.1.2-subscription-id-all-filters"), func() {
		topic := b.Topic()
		c, pub := b.Connect("client"), b.Connect("pub")
		c.SubscribeWith(identified(5, topic+"/a", topic+"/b", topic+"/c"))
		for _, t := range []string{"/c", "/a", "/b"} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 1, Payload: t})
			hasIdentifiers(c.Delivery(), "it was subscribed to with the identifier", 5)
		}
	})

	It("of another subscription, or of another client, does not come", v.Statement("v5/3.3.4-subscription-id-foreign"), func() {
		topic := b.Topic()
		one, two, pub := b.Connect("one"), b.Connect("two"), b.Connect("pub")
		one.SubscribeWith(identified(1, topic+"/a"))
		one.SubscribeWith(identified(2, topic+"/b"))
		one.SubscribeWith(identified(0, topic+"/none"))
		two.SubscribeWith(identified(3, topic+"/#"))
		for t, want := range map[string][]uint32{"/a": {1}, "/b": {2}, "/none": {}} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 1, Payload: t})
			hasIdentifiers(one.Delivery(), "only what caused the message to flow", want...)
		}
	})
}

// overlapCopies subscribes one client with the identifiers to t/+, t/b and t/#
// in turn, publishes to t/b, and returns the copies that come.
func overlapCopies(b *probe.Broker, ids ...uint32) (copies []wire.Publish) {
	GinkgoHelper()
	topic := b.Topic()
	c, pub := b.Connect("client"), b.Connect("pub")
	for i, id := range ids {
		c.SubscribeWith(identified(id, topic+[]string{"/+", "/b", "/#"}[i]))
	}
	pub.Publish(wire.Publish{Topic: topic + "/b", QoS: 1, Payload: "overlap"})
	copies = c.DeliveredBefore(pub.SentinelAside(c))
	named := len(ids) - len(slices.DeleteFunc(slices.Clone(ids), func(id uint32) bool { return id > 0 }))
	for len(copies) < len(ids) && len(seenIdentifiers(copies)) < named {
		a := c.Within(b.Timeout, wire.PUBLISH)
		p, ok := a.Packet.(wire.Publish)
		if !a.Came || !ok {
			break
		}
		c.Acknowledge(p)
		copies = append(copies, p)
	}
	if len(copies) == 0 {
		probe.Inconclusive("no copy of the message came")
	}
	return copies
}

// seenIdentifiers returns the Subscription Identifiers of all copies.
func seenIdentifiers(copies []wire.Publish) []uint32 {
	ids := []uint32{}
	for _, p := range copies {
		ids = append(ids, identifiersOf(p)...)
	}
	return ids
}

func identifiersOfOverlap(b *probe.Broker, v version) {
	It("of each overlapping subscription is seen", v.Statement("v5/MQTT-3.3.4-3"), func() {
		Expect(seenIdentifiers(overlapCopies(b, 1, 2, 3))).To(ContainElements(uint32(1), uint32(2), uint32(3)), "the identifiers of all matching subscriptions")
	})

	It("of all overlapping subscriptions comes in a single copy", v.Statement("v5/MQTT-3.3.4-4"), func() {
		copies := overlapCopies(b, 1, 2, 3)
		if len(copies) > 1 {
			probe.Unsupported("the broker sends a copy for each overlapping subscription")
		}
		Expect(identifiersOf(copies[0])).To(HaveExactElements(uint32(1), uint32(2), uint32(3)), "one copy has them all")
	})

	It("is that of the matching subscription in each of several copies", v.Statement("v5/MQTT-3.3.4-5"), func() {
		copies := overlapCopies(b.Either("overlap-each"), 1, 2)
		if len(copies) == 1 {
			probe.Unsupported("the broker sends one copy for all overlapping subscriptions")
		}
		one, two := identifiersOf(copies[0]), identifiersOf(copies[1])
		if slices.Contains(one, 2) && !slices.Contains(one, 1) {
			one, two = two, one
		}
		Expect(one).To(ContainElement(uint32(1)), "a copy has the identifier of the first subscription")
		Expect(two).To(ContainElement(uint32(2)), "the other has that of the second")
	})

	It("is not made up for an overlapping subscription without one", v.Statement("v5/3.3.4-subscription-id-foreign"), func() {
		Expect(seenIdentifiers(overlapCopies(b, 0, 7))).NotTo(ContainElement(Not(Equal(uint32(7)))), "no identifier but that of the one subscription that has one")
	})

	It("that is the same twice comes twice", v.Statement("v5/3.3.4-subscription-id-same-value"), func() {
		Expect(seenIdentifiers(overlapCopies(b, 7, 7))).To(HaveExactElements(uint32(7), uint32(7)), "once for each subscription, over all copies")
	})

	extra := "v5/3.3.4-extra-copies"
	It("tells how many copies overlapping subscriptions bring", v.Observation(extra), func() {
		copies := overlapCopies(b, 1, 2, 3)
		switch {
		case len(copies) == 1:
			probe.Observe(extra, "one copy for all overlapping subscriptions")
		case len(seenIdentifiers(copies)) == len(copies):
			probe.Observe(extra, "a copy for each overlapping subscription, with the identifier of its own")
		default:
			probe.Observe(extra, "%d copies for three overlapping subscriptions, with %d identifiers", len(copies), len(seenIdentifiers(copies)))
		}
	})
}
