package specs

import (
	"math"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// messageExpiry holds the specs of section 3.3.2.3.3, and of 3.1.3.2.4 for
// wills.
func messageExpiry(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.3.2.3.3 Message Expiry Interval", func() {
		expirySent(b, v)
		expiryOfWills(b, v)
		noExpiry(b, v)
		expired(b, v)
		expiryZero(b, v)
	})
}

// lifetime is a Message Expiry Interval.
func lifetime(seconds uint32) wire.Property {
	return wire.Property{ID: wire.MessageExpiryInterval, Int: seconds}
}

// overdue is how long a check waits for an interval of one second to be over:
// a server that counts whole seconds, and drops a message only when more than
// the interval is over, needs two.
const overdue = 2.5

// beLeftOf matches the Message Expiry Interval of a delivery that was sent
// with one, and then lay in the server for some time between two bounds. A
// server may count whole seconds, so that the value is off by one.
func beLeftOf(b *probe.Broker, sent uint32, least, most time.Duration) types.GomegaMatcher {
	upper := float64(sent) - math.Floor(least.Seconds()/b.Second.Seconds())
	lower := float64(sent) - math.Ceil(most.Seconds()/b.Second.Seconds()) - 1
	return And(HaveLen(1), HaveEach(And(BeNumerically("<=", upper), BeNumerically(">=", lower))))
}

// intervals returns the Message Expiry Intervals of a delivery.
func intervals(p wire.Publish) []uint32 {
	list := []uint32{}
	for _, prop := range p.Properties.Every(wire.MessageExpiryInterval) {
		list = append(list, prop.Int)
	}
	return list
}

func expirySent(b *probe.Broker, v version) {
	const sent = "v5/MQTT-3.3.2-6"
	for _, p := range pathsTo(v, pathRepeated, pathWill) {
		It("comes with a message "+p.name, v.Statement(sent), func() {
			start := time.Now()
			got := p.along(b, message(b, lifetime(60)))

			Expect(intervals(got)).To(beLeftOf(b, 60, 0, time.Since(start)), "the message comes at once, and nearly all of its time is left")
		})
	}

	for _, p := range []path{pathRetained, pathQueued} {
		It("is less by the time in the server for a message "+p.name, Timing, v.Statement(sent), func() {
			start := time.Now()
			j := journey{from: b, to: b, message: message(b, lifetime(60)), meanwhile: func() { pass(b, overdue) }}
			got := p.carry(j).Delivery()

			Expect(intervals(got)).To(beLeftOf(b, 60, b.Seconds(overdue), time.Since(start)), "what is left of 60 seconds")
		})
	}

	It("comes with what is sent again, and is no more than before", v.Statement(sent), func() {
		start := time.Now()
		got := pathRepeated.along(b, message(b, lifetime(60)))

		Expect(intervals(got)).To(beLeftOf(b, 60, 0, time.Since(start)))
	})
}

func expiryOfWills(b *probe.Broker, v version) {
	const sent = "v5/3.1.3.2.4-will-expiry-sent"
	It("comes with a message that is a will", v.Statement(sent, "v5/MQTT-3.3.2-6"), func() {
		start := time.Now()
		got := pathWill.along(b, message(b, lifetime(60)))

		Expect(intervals(got)).To(beLeftOf(b, 60, 0, time.Since(start)))
	})

	It("is counted from the publication of a will, not from the end of the connection", Timing, v.Statement(sent), func() {
		const delay = 3
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := b.Connect("client", probe.Persistent, probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("late"),
			Properties: wire.Properties{lifetime(60), {ID: wire.WillDelayInterval, Int: delay}}}))
		start := time.Now()
		c.Drop()
		a := sub.Within(b.Seconds(delay+late)+b.Timeout, wire.PUBLISH)
		if !a.Came {
			probe.Inconclusive("the will has not come: %s", a.GomegaString())
		}

		since := max(0, time.Since(start)-b.Seconds(delay))
		Expect(intervals(a.Packet.(wire.Publish))).To(beLeftOf(b, 60, 0, since), "it is all left when the will is published")
	})
}

func noExpiry(b *probe.Broker, v version) {
	for _, p := range paths {
		key := "v5/3.3.2.3.3-no-expiry"
		if p.name == pathWill.name {
			key = "v5/3.1.3.2.4-will-expiry-absent"
		}
		It("is not given to a message "+p.name, v.Statement(key), func() {
			got := p.along(b, message(b))

			Expect(intervals(got)).To(BeEmpty(), "the publisher sent none")
		})
	}
}

// expectGone asserts that of a message with a short life and one with a long
// one, which took the same way, only the second has come.
func expectGone(got []wire.Publish) {
	GinkgoHelper()
	Expect(got).NotTo(ContainElement(HaveField("Payload", "short")), "its time was over before it could be sent")
	if ok, _ := ContainElement(HaveField("Payload", "long")).Match(got); !ok {
		probe.Inconclusive("the message that has not expired did not come either")
	}
}

// allOf takes and acknowledges what the broker has for a client, however few
// messages it sends at a time and in whatever order, until so many have come that
// do not expire, or no more comes.
func allOf(c *probe.Client, lasting int) []wire.Publish {
	GinkgoHelper()
	return readOn(c, nil, func(got []wire.Publish) bool {
		n := 0
		for _, p := range got {
			if p.Payload != "short" {
				n++
			}
		}
		return n >= lasting
	})
}

// behindWindow lets a message that expires and two that do not wait until the
// client acknowledges the one before them, publishes a further one, and returns
// what the client then gets.
func behindWindow(b *probe.Broker) []wire.Publish {
	GinkgoHelper()
	topic := b.Topic()
	sub := b.Connect("sub", probe.Properties(wire.Property{ID: wire.ReceiveMaximum, Int: 1})).Subscribe(topic, 1)
	pub := b.Connect("pub")
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
	open := sub.Unacknowledged()
	publishBoth(pub, wire.Publish{Topic: topic, QoS: 1})
	pass(b, overdue)
	if n := len(afterPing(sub)); n > 0 {
		probe.Inconclusive("the set-up needs a window of 1 that is full, but %d more came", n)
	}
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "next"})
	sub.Acknowledge(open)
	sub.Ping()
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})
	return allOf(sub, 3)
}

// publishBoth publishes one message that lives for a second and one that lives
// for a minute.
func publishBoth(pub *probe.Client, p wire.Publish) {
	GinkgoHelper()
	p.Payload, p.Properties = "short", wire.Properties{lifetime(1)}
	pub.Publish(p)
	p.Payload, p.Properties = "long", wire.Properties{lifetime(60)}
	pub.Publish(p)
}

func expired(b *probe.Broker, v version) {
	const deleted = "v5/MQTT-3.3.2-5"
	for _, qos := range []byte{1, 2} {
		It("that is over deletes what waits for an absent client at QoS "+digit(qos), Timing, v.Statement(deleted), func() {
			topic := b.Topic()
			sub, resume := away(b, topic, qos)
			sub.Disconnect()
			pub := b.Connect("pub")
			publishBoth(pub, wire.Publish{Topic: topic, QoS: qos})
			pass(b, overdue)

			expectGone(resume("again").DeliveredBefore(pub.Sentinel(topic, qos)))
		})
	}

	It("that is over deletes what waits behind a full window", Timing, v.Statement(deleted), func() {
		expectGone(behindWindow(b))
	})

	It("that is over leaves the order of what waits behind it", Timing, v.Statement("v5/MQTT-4.6.0-5"), func() {
		got := payloads(behindWindow(b))
		for _, lasting := range []string{"long", "next", "later"} {
			if !slices.Contains(got, lasting) {
				probe.Inconclusive("of the messages that have not expired, only %q came", got)
			}
		}
		got = slices.DeleteFunc(got, func(s string) bool { return s == "short" })
		Expect(got).To(Equal([]string{"long", "next", "later"}), "the messages come in the order in which they were published")
	})

	It("that is over deletes what waits in a shared subscription whose member is absent", Timing, v.Statement(deleted), func() {
		b.Lacking("shared")
		topic := b.Topic()
		sub, resume := away(b, "$share/group/"+topic, 1)
		sub.Disconnect()
		pub := b.Connect("pub")
		publishBoth(pub, wire.Publish{Topic: topic, QoS: 1})
		pass(b, overdue)

		again := resume("again")
		got := again.DeliveredBefore(pub.SentinelAside(again))
		if len(got) == 0 {
			probe.Unsupported("the broker keeps nothing for a shared subscription whose members are absent")
		}
		expectGone(got)
	})

	It("that is over deletes a will that waits for an absent client", Timing, v.Statement(deleted), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 1)
		sub.Disconnect()
		for _, w := range []wire.Will{
			{Payload: []byte("short"), Properties: wire.Properties{lifetime(1)}},
			{Payload: []byte("long"), Properties: wire.Properties{lifetime(60)}},
		} {
			w.Topic, w.QoS = topic, 1
			b.Connect("client", probe.WithWill(w)).Drop()
		}
		pass(b, overdue)

		expectGone(collected(resume("again"), b.Connect("end").Sentinel(topic, 1), 1))
	})

	It("that is over deletes a retained message", Timing, v.Statement("v5/3.3.1.3-retained-message-expiry"), func() {
		b.Lacking("retain")
		topic, pub := b.Topic(), b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic + "/short", QoS: 1, Retain: true, Payload: "short", Properties: wire.Properties{lifetime(1)}})
		pub.Publish(wire.Publish{Topic: topic + "/long", QoS: 1, Retain: true, Payload: "long", Properties: wire.Properties{lifetime(60)}})
		pass(b, overdue)

		expectGone(welcomedOn(b, 1, topic+"/short", topic+"/long"))
	})
}

func expiryZero(b *probe.Broker, v version) {
	const zero = "v5/3.3.2.3.3-expiry-zero"
	It("0 leaves a message no time to wait for an absent client", Timing, v.Statement(zero), func() {
		topic := b.Topic()
		sub, resume := away(b, topic, 1)
		sub.Disconnect()
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "timeless", Properties: wire.Properties{lifetime(0)}})
		pass(b, overdue)

		got := resume("again").DeliveredBefore(pub.Sentinel(topic, 1))
		probe.Warns(zero).Expect(got).To(BeEmpty(), "a message that lives for no time does not wait")
	})

	It("0 is legal", v.Statement(zero), func() {
		pub := b.Connect("pub")
		pub.Send(wire.Publish{Topic: b.Topic(), QoS: 1, ID: 7, Payload: "timeless", Properties: wire.Properties{lifetime(0)}})

		probe.Warns(zero).Expect(pub.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("Code", BeNumerically("<", 0x80))), "it is taken as any message")
	})
}
