package specs

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// willDelay holds the specs of sections 3.1.2.5 and 3.1.3.2.2 on the moment at
// which a will is published, measured by its delay, the Session and the return
// of the client.
func willDelay(b *probe.Broker, v version) {
	Describe("3.1.2.5 Will Flag", Patient, func() {
		willOfItsOwn(b, v)
		willOnTakeOver(b, v)
		willAtOnce(b, v)
		willOfSession(b, v)
		willRefused(b, v)
	})
	if !v.is5() {
		return
	}
	Describe("3.1.3.2.2 Will Delay Interval", Patient, func() {
		willPutOff(b, v)
		willCalledOff(b, v)
		willAtSessionEnd(b, v)
	})
}

// gone is a will at QoS 1, in MQTT 5.0 with these properties.
func gone(topic string, properties ...wire.Property) probe.Option {
	return probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone"), Properties: properties})
}

func delay(seconds uint32) wire.Property {
	return wire.Property{ID: wire.WillDelayInterval, Int: seconds}
}

// late is how many seconds a will may be overdue before a check calls it
// missing: that it comes promptly is only advised, and a server that looks for
// what is due every five seconds breaks nothing.
const late = 6

// willArrives waits for a will that is due in some seconds from now. One that
// is more than two seconds late earns a warning.
func willArrives(b *probe.Broker, v version, sub *probe.Client, due float64) probe.Answer {
	GinkgoHelper()
	start := time.Now()
	a := sub.Within(b.Seconds(due+late)+b.Timeout, wire.PUBLISH)
	if a.Came {
		promptly := v.key("v311/3.1.2.5-will-promptly", "v5/3.1.2.5-will-promptly")
		probe.Advice(promptly).Expect(a.At.Sub(start)).To(BeNumerically("<", b.Seconds(due+2)+b.Timeout/2), "the will comes promptly")
	}
	return a
}

// isGone succeeds for an Answer that is the will of gone.
func isGone() OmegaMatcher { return probe.BePacket(HaveField("Payload", "gone")) }

func willOfItsOwn(b *probe.Broker, v version) {
	It("gives each Session a will of its own", v.Statement("v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-7"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		first := b.Connect("first", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("of the first")}))
		second := b.Connect("second", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("of the second")}))

		first.Drop()

		a := willArrives(b, v, sub, 0)
		Expect(a).To(probe.BePacket(HaveField("Payload", "of the first")), "the will of the client that has gone")
		sub.Acknowledge(a.Packet.(wire.Publish))
		early := sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))
		Expect(early).NotTo(ContainElement(HaveField("Payload", "of the second")), "the other client is still there")
		second.Drop()
		Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(HaveField("Payload", "of the second")), "and then that of the other")
	})
}

// willOnTakeOver asserts that a take-over brings the will of the older
// connection. In MQTT 5.0 a connection that is opened before the delay is over
// stops the will, also one of no delay as the sentence reads; what says that a
// take-over is no such case is a comment. It is a warning there.
func willOnTakeOver(b *probe.Broker, v version) {
	keys := []string{"v311/3.1.2.5-will-on-takeover", "v5/3.1.4-takeover-will", "v5/3.1.3.2.2-will-on-takeover-no-delay"}
	judge := probe.For
	if v.is5() {
		judge = probe.Warns
	}
	for _, how := range []struct {
		what   string
		option probe.Option
	}{
		{"resumes the Session", probe.Persistent},
		{"starts clean", func(_ *probe.Broker, p *wire.Connect) { p.CleanStart = true }},
	} {
		It("publishes the will of a connection that is taken over by one that "+how.what, v.Statement(keys...), func() {
			topic, id := b.Topic("will"), b.ClientID()
			sub := b.Connect("sub").Subscribe(topic, 1)
			older := b.Connect("older", probe.ID(id), probe.Persistent, gone(topic))

			b.Connect("newer", probe.ID(id), how.option)

			if closed, _ := probe.BeClosed().Match(older); !closed {
				probe.Inconclusive("the older connection has not ended")
			}
			judge(v.key(keys[:2]...)).Expect(willArrives(b, v, sub, 0)).To(isGone(), "the older connection has ended without DISCONNECT")
		})
	}
}

func willAtOnce(b *probe.Broker, v version) {
	It("publishes a will that has no delay at once, also where the Session goes on",
		v.Statement("v311/3.1.2.5-will-promptly", "v5/3.1.3.2.2-will-delay-default", "v5/3.1.2.5-will-promptly"), func() {
			topic := b.Topic("will")
			sub := b.Connect("sub").Subscribe(topic, 1)
			c := b.Connect("client", probe.Persistent, gone(topic))

			c.Drop()

			Expect(willArrives(b, v, sub, 0)).To(isGone(), "a will without a delay waits for nothing")
		})
}

// willOfSession is about wills of a Session that outlives its connections.
func willOfSession(b *probe.Broker, v version) {
	It("publishes the will of each connection, also the second of a Session", v.Statement("v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8"), func() {
		topic, id := b.Topic("will"), b.ClientID()
		sub := b.Connect("sub").Subscribe(topic, 1)
		for _, which := range []string{"first", "second"} {
			b.Connect(which, probe.ID(id), probe.Persistent, gone(topic)).Drop()
			a := willArrives(b, v, sub, 0)
			Expect(a).To(isGone(), "the will of the %s connection", which)
			sub.Acknowledge(a.Packet.(wire.Publish))
		}
	})

	It("leaves no will in the Session behind a DISCONNECT", v.Statement("v311/MQTT-3.1.2-10", "v5/MQTT-3.1.2-10"), func() {
		topic, id := b.Topic("will"), b.ClientID()
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("first", probe.ID(id), probe.Persistent, gone(topic)).Disconnect()

		b.Connect("second", probe.ID(id), probe.Persistent).Drop()
		b.Connect("third", probe.ID(id), probe.Persistent)

		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the will was thrown away")
	})

	It("publishes a will without a payload", v.Statement("v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("twin", gone(topic)).Drop()
		takes(sub, "gone")

		b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1})).Drop()

		Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(HaveField("Payload", "")), "a payload may be empty")
	})
}

// willRefused is about the will of a client that is not let in.
func willRefused(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8"}
	It("stores no will of a CONNECT that is refused", v.Statement(keys...), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		p := b.ConnectPacket(gone(topic))
		if v.is5() {
			p.Properties = append(p.Properties, wire.Property{ID: wire.AuthenticationMethod, Str: "no such method"})
		} else {
			p.ClientID, p.CleanStart = "", false
		}
		refusedWithWill(b, p)
		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "who is not let in has no will")
	})

	It("stores no will of a client whose password is wrong", v.Statement(keys...), func() {
		guarded := b.Variant("users")
		topic, known := b.Topic("will"), probe.Credentials(b.Users.Username, b.Users.Password)
		sub := guarded.Connect("sub", known).Subscribe(topic, 1)
		refusedWithWill(guarded, guarded.ConnectPacket(gone(topic), probe.Credentials(b.Users.Username, "wrong")))
		Expect(sub.DeliveredBefore(guarded.Connect("pub", known).Sentinel(topic, 1))).To(BeEmpty(), "who is not let in has no will")
	})
}

// refusedWithWill sends a CONNECT that has to be refused and ends its connection.
func refusedWithWill(b *probe.Broker, p wire.Connect) {
	GinkgoHelper()
	c := b.Open("client")
	c.Send(p)
	if granted(c.Answer(wire.CONNACK)) {
		probe.Inconclusive("the CONNECT that should be refused was accepted")
	}
	c.Drop()
}

// delayed connects a client whose Session lasts and whose will has a delay,
// and who watches the will.
func delayed(b *probe.Broker, id string, seconds uint32, options ...probe.Option) (c, sub *probe.Client, topic string) {
	GinkgoHelper()
	topic = b.Topic("will")
	sub = b.Connect("sub").Subscribe(topic, 1)
	c = lasting(b, id, topic+"/none", append(options, resume, gone(topic, delay(seconds)))...)
	return c, sub, topic
}

func willPutOff(b *probe.Broker, v version) {
	It("puts the will off, and then it is published", Timing, v.Statement("v5/MQTT-3.1.2-8", "v5/4.1-will-in-session", "v5/MQTT-3.1.2-10"), func() {
		id := b.ClientID()
		c, sub, topic := delayed(b, id, 2)
		start := time.Now()

		c.Drop()

		a := willArrives(b, v, sub, 2)
		Expect(a).To(isGone(), "the will is published when its delay is over")
		again, ack := present(b, "again", probe.ID(id), resume, expiry(long))
		if !ack.SessionPresent() {
			probe.Inconclusive("the Session has ended, and a will waits no longer than that")
		}
		Expect(a.At.Sub(start)).To(BeNumerically(">", b.Seconds(1)), "the will waits for two seconds")
		sub.Acknowledge(a.Packet.(wire.Publish))
		again.Drop()
		once := sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))
		probe.For("v5/MQTT-3.1.2-10").Expect(once).To(BeEmpty(), "a will is published once")
	})

	It("leaves nothing behind a DISCONNECT, not even when the Session ends", Timing, v.Statement("v5/MQTT-3.14.4-3", "v5/MQTT-3.1.2-10"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		stored(b, 1, b.ClientID(), topic+"/none", gone(topic, delay(2))).Disconnect()
		pass(b, 3)

		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "DISCONNECT has thrown the will away")
	})
}

func willCalledOff(b *probe.Broker, v version) {
	returned := "v5/MQTT-3.1.3-9"
	It("calls the will off when the client is back before it is over", Timing, v.Statement(returned), func() {
		id := b.ClientID()
		c, sub, topic := delayed(b, id, 2)
		start := time.Now()
		c.Drop()

		comesBack(b, id, start)

		pass(b, 3)
		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the client has come back in time")
	})

	taken := "v5/3.1.3.2.2-no-will-on-takeover-with-delay"
	It("calls the will off when the client takes its connection over", Timing, v.Statement(taken, returned), func() {
		id := b.ClientID()
		_, sub, topic := delayed(b, id, 2)

		comesBack(b, id, time.Now())

		pass(b, 3)
		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the Session goes on in the new connection")
	})
}

// comesBack resumes a Session whose will is put off by two seconds, in time.
func comesBack(b *probe.Broker, id string, start time.Time) {
	GinkgoHelper()
	_, ack := present(b, "again", probe.ID(id), resume, expiry(long))
	if !ack.SessionPresent() {
		probe.Inconclusive("the set-up needs the Session that has the will, but Session Present is 0")
	}
	if time.Since(start) > b.Seconds(1) {
		probe.Inconclusive("the tester was late: the machine is too busy")
	}
}

func willAtSessionEnd(b *probe.Broker, v version) {
	key := "v5/3.1.3.2.2-will-at-session-end"
	It("is cut short by the end of a Session that ends with its connection", v.Statement(key), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c, ack := present(b, "client", gone(topic, delay(long)))
		if inForce(ack, 0) > 0 {
			probe.Unsupported("the server keeps the Session though it was not asked to, and says so in CONNACK")
		}

		c.Drop()

		Expect(willArrives(b, v, sub, 0)).To(isGone(), "the will comes when the Session ends")
	})

	It("is cut short by the end of the Session Expiry Interval", Timing, v.Statement(key, "v5/MQTT-3.1.2-8"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := stored(b, 1, b.ClientID(), topic+"/none", gone(topic, delay(long)))

		c.Drop()

		Expect(willArrives(b, v, sub, 1)).To(isGone(), "the will comes when the Session ends")
	})

	clean := "v5/3.1.3.2.2-will-on-takeover-clean-start"
	It("is cut short by a clean start that takes the connection over", v.Statement(clean), func() {
		id := b.ClientID()
		_, sub, _ := delayed(b, id, long)

		b.Connect("newer", probe.ID(id))

		probe.Warns(clean).Expect(willArrives(b, v, sub, 0)).To(isGone(), "the will comes, since the Session ends")
	})
}
