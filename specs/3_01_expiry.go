package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// sessionExpiry holds the specs of sections 3.1.2.11.2, 3.2.2.3.2 and 4.1 of
// MQTT 5.0: how long a Session outlives its connection.
func sessionExpiry(b *probe.Broker, v version) {
	Describe("3.1.2.4 Session", func() { newSession(b, v) })
	if !v.is5() {
		return
	}
	Describe("3.1.2.11.2 Session Expiry Interval", func() {
		expiryOfConnect(b, v)
		expiryRunsOut(b, v)
	})
}

// resume asks for the Session that is stored, in MQTT 5.0 without a Session
// Expiry Interval, so that it ends with the connection.
func resume(_ *probe.Broker, p *wire.Connect) { p.CleanStart = false }

// expiry sets the Session Expiry Interval in seconds.
func expiry(seconds uint32) probe.Option { return probe.Properties(expiryProperty(seconds)) }

func expiryProperty(seconds uint32) wire.Property {
	return wire.Property{ID: wire.SessionExpiryInterval, Int: seconds}
}

// inForce returns the Session Expiry Interval that a CONNACK leaves of the one
// that was asked for.
func inForce(ack wire.Connack, asked uint32) uint32 {
	return ack.Properties.Number(wire.SessionExpiryInterval, asked)
}

// long is a Session Expiry Interval that no check outlasts. What a server
// leaves of it has to be more than what the longest check waits.
const (
	long      = 7200
	longLeast = 10
)

// lasting connects a client whose Session is to outlive its connection by the
// long interval, and subscribes it.
func lasting(b *probe.Broker, id, topic string, options ...probe.Option) *probe.Client {
	GinkgoHelper()
	return stored(b, long, id, topic, options...)
}

// stored connects a client with a Session Expiry Interval and subscribes it. A
// server may choose another interval: the premise is lost then.
func stored(b *probe.Broker, seconds uint32, id, topic string, options ...probe.Option) *probe.Client {
	GinkgoHelper()
	c, ack := present(b, "first", append([]probe.Option{probe.ID(id), expiry(seconds)}, options...)...)
	if got := inForce(ack, seconds); got != seconds && min(got, seconds) < longLeast {
		probe.Unsupported("the server replaces the Session Expiry Interval %d by %d in CONNACK", seconds, got)
	}
	return c.Subscribe(topic, 1)
}

// pass lets seconds of the protocol pass on a connection that has nothing to
// say.
func pass(b *probe.Broker, seconds float64) {
	GinkgoHelper()
	clock := b.Connect("clock")
	clock.Within(b.Seconds(seconds), wire.DISCONNECT)
	if clock.Gone() {
		probe.Inconclusive("the connection ended while time went by")
	}
}

// kept asserts that a Session is still there: its subscription delivers to the
// connection that resumes it.
func kept(b *probe.Broker, judge Gomega, id, topic, why string) {
	GinkgoHelper()
	again, _ := present(b, "again", probe.ID(id), resume)
	b.Connect("later").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})
	judge.Expect(again.AnswerWhere(hasPayload("later"), wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), why)
}

// ended asserts that nothing is left of a Session: neither the subscription
// nor what came for it meanwhile.
func ended(b *probe.Broker, judge Gomega, id, topic, why string) {
	GinkgoHelper()
	again, _ := present(b, "again", probe.ID(id), resume)
	nothingLeft(b, judge, again, topic, why)
}

// nothingLeft is ended for a client that has come back.
func nothingLeft(b *probe.Broker, judge Gomega, again *probe.Client, topic, why string) {
	GinkgoHelper()
	pub := b.Connect("later")
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})
	judge.Expect(again.DeliveredBefore(pub.SentinelAside(again))).To(BeEmpty(), why)
}

func hasPayload(payload string) func(wire.Received) bool {
	return func(r wire.Received) bool {
		p, ok := r.Packet.(wire.Publish)
		return ok && p.Payload == payload
	}
}

func newSession(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-6"}
	It("is made new for a Client Identifier that has none", v.Statement(keys...), func() {
		id, topic := b.ClientID(), b.Topic()
		c := b.Open("first")
		c.Send(b.ConnectPacket(probe.ID(id), probe.Persistent))
		Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "a client that has no Session gets one")
		c.Subscribe(topic, 1).Disconnect()

		again, _ := present(b, "again", probe.ID(id), probe.Persistent)

		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})
		Expect(again.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "later")), "the new Session is stored")
	})

	It("is resumed as often as its client comes", v.Statement("v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1).Disconnect()
		pub := b.Connect("pub")
		for _, payload := range []string{"second", "third", "fourth"} {
			again, _ := present(b, payload, probe.ID(id), probe.Persistent)
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: payload})
			a := again.Answer(wire.PUBLISH)
			Expect(a).To(probe.BePacket(HaveField("Payload", payload)), "the %s connection has the subscription of the first", payload)
			again.Acknowledge(a.Packet.(wire.Publish))
			again.Disconnect()
		}
	})

	It("is there also when it holds nothing", v.Statement("v311/3.1.2.4-session-without-content", "v5/MQTT-3.2.2-3"), func() {
		id := b.ClientID()
		b.Connect("first", probe.ID(id), probe.Persistent).Disconnect()

		_, ack := present(b, "again", probe.ID(id), probe.Persistent)

		Expect(ack.SessionPresent()).To(BeTrue(), "a Session without subscriptions and messages is a Session")
	})
}

func expiryOfConnect(b *probe.Broker, v version) {
	key := "v5/MQTT-3.1.2-23"
	for _, e := range append([]ending{{"the client disconnects", func(c *probe.Client) { c.Disconnect() }, nil}}, endings...) {
		It("above 0 keeps the Session when "+e.what, v.Statement(key), func() {
			id, topic := b.ClientID(), b.Topic()
			c := lasting(b, id, topic, resume)

			e.end(c)
			if closed, _ := probe.BeClosed().Match(c); !closed {
				probe.Inconclusive("the connection has not ended")
			}

			kept(b, probe.For(key), id, topic, "the subscription outlives the connection")
		})
	}

	It("above 0 keeps also a Session that began with Clean Start 1", v.Statement("v5/3.1.2.11.2-clean-start-with-expiry"), func() {
		id, topic := b.ClientID(), b.Topic()
		lasting(b, id, topic).Drop()

		kept(b, probe.For("v5/3.1.2.11.2-clean-start-with-expiry"), id, topic, "Clean Start is about the beginning only")
	})

	for _, absent := range []bool{true, false} {
		what, options := "of 0", []probe.Option{resume, expiry(0)}
		if absent {
			what, options = "that is absent", options[:1]
		}
		It(what+" ends the Session with its connection", v.Statement("v5/3.1.2.11.2-session-expiry-absent", "v5/MQTT-4.1.0-2"), func() {
			id, topic := b.ClientID(), b.Topic()
			c, ack := present(b, "first", append(options, probe.ID(id))...)
			if inForce(ack, 0) > 0 {
				probe.Unsupported("the server keeps the Session though it was not asked to, and says so in CONNACK")
			}
			if !noticed(b, c.Subscribe(topic, 1)) {
				probe.Inconclusive("the server does not notice that the connection was dropped")
			}
			keepsOthers := lastingTwin(b)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "meanwhile"})

			keepsOthers()
			ended(b, probe.For("v5/3.1.2.11.2-session-expiry-absent"), id, topic, "nothing is left of a Session with the interval 0")
		})
	}

	It("of FFFFFFFF never runs out", Timing, v.Statement("v5/3.1.2.11.2-session-expiry-max"), func() {
		id, topic := b.ClientID(), b.Topic()
		stored(b, 0xffffffff, id, topic, resume).Drop()
		pass(b, 1.5)

		kept(b, probe.For("v5/3.1.2.11.2-session-expiry-max"), id, topic, "the Session does not expire")
	})
}

// noticed drops a connection, gives the server time to know of it, since how
// soon it does is left to it, and tells whether it has shown that it does.
func noticed(b *probe.Broker, c *probe.Client) bool {
	c.CloseWrite()
	ended, _ := probe.BeEnded(b.Timeout).Match(c)
	c.Drop()
	return ended
}

// lastingTwin stores a Session that has long to live. The function that it
// returns ends the spec as inconclusive when the broker has not kept that one:
// then the end of another proves nothing.
func lastingTwin(b *probe.Broker) func() {
	GinkgoHelper()
	id := b.ClientID()
	stored(b, 3600, id, b.Topic(), resume).Drop()
	return func() {
		GinkgoHelper()
		if _, ack := present(b, "twin", probe.ID(id), resume); !ack.SessionPresent() {
			probe.Inconclusive("the broker keeps no Session, not even one with an interval of an hour")
		}
	}
}
