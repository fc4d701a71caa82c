package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// sessions holds the specs of sections 3.1.2.4, 3.1.3.1, 3.1.4, 3.2 and 4.1:
// whom the server accepts, and which Session it gives them.
func sessions(b *probe.Broker, v version) {
	Describe("3.1.2.4 Session", func() {
		resuming(b, v)
		cleanSession(b, v)
	})
	Describe("3.1.3.1 Client Identifier", func() { clientIDs(b, v) })
	Describe("3.1.4 CONNECT actions", func() { connectActions(b, v) })
	Describe("3.2 CONNACK", func() { connack(b, v) })
}

// present returns the Session Present flag of the CONNACK that a new
// connection gets, together with the client.
func present(b *probe.Broker, name string, options ...probe.Option) (*probe.Client, wire.Connack) {
	GinkgoHelper()
	c := b.Open(name)
	c.Send(b.ConnectPacket(options...))
	ack := c.Connack()
	if ack.Code != 0 {
		probe.Inconclusive("%s: the set-up needs an accepted CONNECT, but CONNACK has code 0x%02x", name, ack.Code)
	}
	return c, ack
}

func resuming(b *probe.Broker, v version) {
	It("is resumed under its Client Identifier, with subscriptions and queue",
		v.Statement("v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"), func() {
			id, topic := b.ClientID(), b.Topic()
			b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1).Disconnect()
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "kept"})

			again := b.Connect("again", probe.ID(id), probe.Persistent)

			Expect(again.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "kept")), "what came meanwhile is delivered with no new SUBSCRIBE")
		})

	It("keeps QoS 1 and 2 messages while the client is away",
		v.Statement("v311/MQTT-3.1.2-5", "v5/MQTT-4.5.0-1"), func() {
			id, topic := b.ClientID(), b.Topic()
			b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 2).Disconnect()
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "at 1"})
			pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "at 2"})

			again := resumed(b, "again", id)

			got := []string{}
			for range 2 {
				a := again.Answer(wire.PUBLISH)
				Expect(a).To(probe.BeA(wire.PUBLISH), "both messages are kept")
				p := a.Packet.(wire.Publish)
				got = append(got, p.Payload)
				again.Acknowledge(p)
			}
			Expect(got).To(ConsistOf("at 1", "at 2"))
		})

	It("is resumed with its subscription at QoS 0, beside one at QoS 1", v.Statement("v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic+"/0", 0).Subscribe(topic+"/1", 1).Disconnect()
		again, pub := resumed(b, "again", id), b.Connect("pub")

		for range 3 { // each comes at most once
			pub.Publish(wire.Publish{Topic: topic + "/0", QoS: 0, Payload: "at 0"})
		}
		pub.Publish(wire.Publish{Topic: topic + "/1", QoS: 1, Payload: "at 1"})

		found(again, "at 1")
		Expect(again.AnswerWhere(hasPayload("at 0"), wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), "a subscription at QoS 0 is part of the Session")
	})

	It("keeps apart what belongs to different Client Identifiers", v.Statement("v311/MQTT-3.1.3-2", "v5/MQTT-3.1.3-2"), func() {
		one, two, topic := b.ClientID(), b.ClientID(), b.Topic()
		b.Connect("one", probe.ID(one), probe.Persistent).Subscribe(topic+"/one", 1).Disconnect()
		b.Connect("two", probe.ID(two), probe.Persistent).Subscribe(topic+"/two", 1).Disconnect()
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic + "/one", QoS: 1, Payload: "for one"})
		pub.Publish(wire.Publish{Topic: topic + "/two", QoS: 1, Payload: "for two"})

		whole := true
		for _, session := range []struct{ id, want string }{{one, "for one"}, {two, "for two"}} {
			again := resumed(b, session.want, session.id)
			got := collected(again, pub.SentinelAside(again), 1)
			Expect(got).NotTo(ContainElement(HaveField("Payload", Not(Equal(session.want)))), "nothing of another Session comes")
			whole = whole && len(got) > 0
		}
		if !whole {
			probe.Inconclusive("a Session that has no message is told from no other")
		}
	})

	It("lasts through several connections, with what is open", v.Statement("v311/MQTT-4.1.0-1", "v5/MQTT-4.1.0-1"), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1).Drop()
		resumed(b, "second", id).Drop()
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
		third := resumed(b, "third", id)
		Expect(third.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "open")), "the subscription is still there")
		third.Drop()

		fourth := resumed(b, "fourth", id)

		Expect(fourth.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "open")), "the open message is still there")
	})

	It("lasts as long as its connection, also when that is quiet", Timing, v.Statement("v311/MQTT-4.1.0-2", "v5/MQTT-4.1.0-1"), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic, 1)
		for range 4 {
			c.Ping()
			c.Within(b.Seconds(0.5), wire.PUBLISH)
		}
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "still there"})

		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "still there")))
	})
}

func cleanSession(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.2-6", "v5/MQTT-3.1.2-4"}
	It("starts clean on request: no subscription and no queue are left", v.Statement(keys...), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1).Disconnect()
		keepsOthers := storedTwin(b)
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "old"})

		keepsOthers()
		clean := b.Connect("clean", probe.ID(id))

		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "new"})
		Expect(clean.DeliveredBefore(pub.SentinelAside(clean))).To(BeEmpty(), "neither the queue nor the subscription is left")
	})

	if !v.is5() {
		It("that was clean ends with its connection", v.Statement(keys...), func() {
			id, topic := b.ClientID(), b.Topic()
			b.Connect("clean", probe.ID(id)).Subscribe(topic, 1).Disconnect()
			storedTwin(b)()
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "between"})

			later := b.Connect("later", probe.ID(id), probe.Persistent)

			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "after"})
			Expect(later.DeliveredBefore(pub.SentinelAside(later))).To(BeEmpty(), "no subscription is left")
		})
	}
}

// storedTwin stores a Session that holds something, since some brokers keep no
// other. The function that it returns ends the spec as inconclusive when the broker
// has not kept it: then nothing is shown by another that is gone.
func storedTwin(b *probe.Broker) func() {
	GinkgoHelper()
	id := b.ClientID()
	b.Connect("stored", probe.ID(id), probe.Persistent).Subscribe(b.Topic("twin"), 1).Disconnect()
	return func() {
		GinkgoHelper()
		resumed(b, "stored twin", id)
	}
}

func clientIDs(b *probe.Broker, v version) {
	It("of 1 to 23 letters and digits is accepted", v.Statement("v311/MQTT-3.1.3-5", "v5/MQTT-3.1.3-5"), func() {
		b.Connect("twin").Disconnect()
		// The second and third bytes vary with the run, so that two runs on one
		// broker do not take each other over.
		tail := b.ClientID()
		for _, id := range []string{"0123456789abcdefghijklm", "nopqrstuvwxyzABCDEFGHIJ", "KLMNOPQRSTUVWXYZ0123456"} {
			id = id[:23-len(tail)%8] + tail[len(tail)-len(tail)%8:]
			c := b.Open("client")
			c.Send(b.ConnectPacket(probe.ID(id)))
			Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "%q is accepted", id)
			c.Disconnect()
		}
	})

	It("of one character is accepted", v.Statement("v311/MQTT-3.1.3-5", "v5/MQTT-3.1.3-5"), Serial, func() {
		b.Connect("twin").Disconnect()
		c := b.Open("client")
		c.Send(b.ConnectPacket(probe.ID("m")))
		Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "a Client Identifier of one byte is accepted")
	})

	It("that is empty is replaced by a unique one, or refused", v.Statement("v311/MQTT-3.1.3-6", "v5/MQTT-3.1.3-6"), func() {
		one := b.Open("one")
		one.Send(b.ConnectPacket(probe.ID("")))
		a := one.Answer(wire.CONNACK)
		Expect(a).To(probe.BeA(wire.CONNACK), "an empty Client Identifier gets an answer")
		if !granted(a) {
			Expect(one).To(probe.BeClosed(), "a refusal ends the connection")
			return
		}
		two := b.Connect("two", probe.ID(""))
		two.Ping()

		one.Send(wire.Pingreq{})
		Expect(one.Answer(wire.PINGRESP)).To(probe.BeA(wire.PINGRESP), "the second does not take over the first")
	})

	if !v.is5() {
		emptyKeys := "v311/MQTT-3.1.3-8"
		It("that is empty needs Clean Session 1", v.Statement(emptyKeys, "v311/MQTT-3.1.3-7"), func() {
			b.Connect("twin").Disconnect()
			c := b.Open("client")
			p := b.ConnectPacket(probe.ID(""))
			p.CleanStart = false
			c.Send(p)

			Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(2))), "CONNACK with code 2")
			Expect(c).To(probe.BeClosed(), "the server closes behind it")
		})

		It("that is empty with Clean Session 0 is not served", v.Statement("v311/MQTT-3.1.3-7"), func() {
			b.Connect("twin").Disconnect()
			p := b.ConnectPacket(probe.ID(""))
			p.CleanStart = false
			refusedConnect(b, "v311/MQTT-3.1.3-7", "an empty Client Identifier with Clean Session 0", wire.Bytes(b.Version, p))
		})

		It("that is refused is refused with CONNACK code 2", v.Statement("v311/MQTT-3.1.3-9", "v311/3.2.2.3-code-2"), func() {
			b.Connect("twin").Disconnect()
			refused := 0
			for _, id := range []string{"", b.ClientID() + " with spaces", b.ClientID() + "/slash", b.ClientID() + longText(300), ""} {
				c := b.Open("client")
				p := b.ConnectPacket(probe.ID(id))
				p.CleanStart = id != "" || refused > 0
				c.Send(p)
				a := c.Answer(wire.CONNACK)
				if granted(a) {
					c.Disconnect()
					continue
				}
				refused++
				Expect(a).To(probe.BePacket(HaveField("Code", Or(Equal(byte(2)), Equal(byte(5))))), "a Client Identifier is refused with code 2")
				Expect(c).To(probe.BeClosed(), "the server closes behind it")
			}
			Expect(refused).To(BeNumerically(">", 0), "an empty Client Identifier with Clean Session 0 at least is refused")
		})
	}
}

func longText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = 'a' + byte(i%26)
	}
	return string(b)
}

func connectActions(b *probe.Broker, v version) {
	It("ends an older connection of the same Client Identifier", v.Statement("v311/MQTT-3.1.4-2", "v5/MQTT-3.1.4-3"), func() {
		id := b.ClientID()
		older := b.Connect("older", probe.ID(id))
		older.Ping()

		newer := b.Connect("newer", probe.ID(id))

		Expect(older).To(probe.BeEnded(b.Timeout), "the older connection is ended")
		Expect(newer).To(probe.BeAlive(), "the newer connection works")
	})

	It("resumes or cleans the Session also when it takes over a connection", v.Statement("v311/MQTT-3.1.4-3", "v5/MQTT-3.1.4-4"), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1)
		resumed := b.Connect("resumed", probe.ID(id), probe.Persistent)
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "resumed"})
		Expect(resumed.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "resumed")), "the subscription is kept")

		clean := b.Connect("clean", probe.ID(id))
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "after"})
		Expect(clean.DeliveredBefore(pub.SentinelAside(clean))).To(BeEmpty(), "the subscription is gone")
	})

	It("that is valid is answered with CONNACK code 0", v.Statement("v311/MQTT-3.1.4-4", "v5/MQTT-3.1.4-5"), func() {
		empty := wire.Will{Topic: b.Topic("will"), QoS: 2}
		for _, options := range [][]probe.Option{{}, {probe.KeepAlive(65535)}, {probe.WithWill(empty)}} {
			c := b.Open("client")
			c.Send(b.ConnectPacket(options...))

			Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))))
			c.Disconnect()
		}
	})

	It("that is refused ends what was sent behind it", v.Statement("v311/MQTT-3.1.4-5", "v5/MQTT-3.1.4-6"), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := b.Open("client")
		p := b.ConnectPacket(probe.ID(""))
		p.CleanStart = false
		if v.is5() {
			p = b.ConnectPacket()
			p.Level = 0x7f
		}
		c.Send(p, wire.Publish{Topic: topic, QoS: 1, ID: 1, Retain: true, Payload: "behind a refusal"},
			wire.Subscribe{ID: 2, Subscriptions: []wire.Subscription{{Filter: topic}}})

		if granted(c.Answer(wire.CONNACK)) {
			probe.Inconclusive("the CONNECT that should be refused was accepted")
		}
		Expect(c.Answer(wire.SUBACK, wire.PUBACK)).NotTo(probe.BePacket(Not(BeNil())), "nothing behind it is answered")
		pub := b.Connect("pub")
		Expect(sub.DeliveredBefore(pub.Sentinel(topic, 1))).To(BeEmpty(), "nothing behind it is acted on")
	})
}

func connack(b *probe.Broker, v version) {
	It("is the first packet, also when a queue waits and packets are pipelined", v.Statement("v311/MQTT-3.2.0-1", "v5/MQTT-3.2.0-1"), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(topic, 1).Disconnect()
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "queued"})
		again := b.Open("again")

		again.Send(b.ConnectPacket(probe.ID(id), probe.Persistent), wire.Pingreq{})

		if !again.Answer(wire.PINGRESP).Came {
			probe.Inconclusive("no PINGRESP to what was sent behind CONNECT")
		}
		Expect(again.History()[0].Type).To(Equal(wire.CONNACK), "CONNACK comes first")
	})

	It("has Session Present 0 for a clean start, with and without a stored Session", v.Statement("v311/MQTT-3.2.2-1", "v5/MQTT-3.2.2-2"), func() {
		id := b.ClientID()
		_, ack := present(b, "new", probe.ID(id))
		Expect(ack.SessionPresent()).To(BeFalse(), "nothing is stored")
		b.Connect("stored", probe.ID(id), probe.Persistent).Disconnect()
		_, ack = present(b, "clean", probe.ID(id))
		Expect(ack.SessionPresent()).To(BeFalse(), "a clean start throws the Session away")
	})

	It("has Session Present 1 for a Session that is resumed", v.Statement("v311/MQTT-3.2.2-2", "v5/MQTT-3.2.2-3"), func() {
		id := b.ClientID()
		b.Connect("first", probe.ID(id), probe.Persistent).Subscribe(b.Topic(), 1).Disconnect()
		_, ack := present(b, "again", probe.ID(id), probe.Persistent)
		Expect(ack.SessionPresent()).To(BeTrue(), "the Session is stored")
	})

	It("has Session Present 0 where nothing is stored", v.Statement("v311/MQTT-3.2.2-3", "v5/MQTT-3.2.2-3"), func() {
		id := b.ClientID()
		c, ack := present(b, "new", probe.ID(id), probe.Persistent)
		Expect(ack.SessionPresent()).To(BeFalse(), "an unknown Client Identifier has no Session")
		c.Disconnect()
		b.Connect("clean", probe.ID(id)).Disconnect()
		_, ack = present(b, "after clean", probe.ID(id), probe.Persistent)
		Expect(ack.SessionPresent()).To(BeFalse(), "a clean Session has ended with its connection")
	})

	if v.is5() {
		return
	}
	for _, r := range refusals {
		It("that refuses, for "+r.what+", has Session Present 0", v.Statement("v311/MQTT-3.2.2-4"), func() {
			c := r.refused(b)
			a := c.Answer(wire.CONNACK)
			if granted(a) {
				probe.Inconclusive("the CONNECT that should be refused was accepted")
			}
			if !a.Came {
				probe.Unsupported("the broker refuses without a CONNACK")
			}
			Expect(a).To(probe.BePacket(HaveField("Flags", byte(0))), "a refusal has Session Present 0")
		})
		It("that refuses, for "+r.what+", ends the connection", v.Statement("v311/MQTT-3.2.2-5"), func() {
			c := r.refused(b)
			if granted(c.Answer(wire.CONNACK)) {
				probe.Inconclusive("the CONNECT that should be refused was accepted")
			}
			Expect(c).To(probe.BeClosed(), "the server closes behind a refusal")
		})
		It("that refuses, for "+r.what+", has one of the codes 1 to 5", v.Statement("v311/MQTT-3.2.2-6", "v311/3.2.2.3-codes-reserved"), func() {
			c := r.refused(b)
			a := c.Answer(wire.CONNACK)
			if granted(a) {
				probe.Inconclusive("the CONNECT that should be refused was accepted")
			}
			if !a.Came {
				Expect(c).To(probe.BeClosed(), "a refusal without a code closes")
				return
			}
			Expect(a).To(probe.BePacket(HaveField("Code", And(BeNumerically(">=", 1), BeNumerically("<=", 5)))), "the code is one of the table")
		})
	}
}

// refusal is a CONNECT that a server refuses, sent on a new connection.
type refusal struct {
	what    string
	refused func(b *probe.Broker) *probe.Client
}

// refusals are CONNECTs that a server of MQTT 3.1.1 has to refuse.
var refusals = []refusal{
	{"an empty Client Identifier with Clean Session 0", func(b *probe.Broker) *probe.Client {
		GinkgoHelper()
		c := b.Open("client")
		p := b.ConnectPacket(probe.ID(""))
		p.CleanStart = false
		c.Send(p)
		return c
	}},
	wrongPassword,
}

// wrongPassword is a CONNECT of a known user that a server with users refuses.
var wrongPassword = refusal{"a wrong password", func(b *probe.Broker) *probe.Client {
	GinkgoHelper()
	guarded := b.Variant("users")
	c := guarded.Open("client")
	c.Send(guarded.ConnectPacket(probe.Credentials(b.Users.Username, "wrong"), probe.Persistent))
	return c
}}
