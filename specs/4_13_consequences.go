package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// othersUnharmed says that the error of one client is nothing to others.
var othersUnharmed = []string{"v311/4.8-transient-error-others", "v5/4.13.1-other-sessions-unharmed"}

// unharmed holds that the error of one client is nothing to others: to one that
// publishes, to one with a delivery on the way, and to a Session whose client is
// away.
func unharmed(b *probe.Broker, v version) {
	churn(b, v)
	errors := plainBreaches
	if v.is5() {
		errors = nil
		for _, x := range breaches {
			errors = append(errors, offence{x.what, func(b *probe.Broker, c *probe.Client) { c.SendBytes(x.raw(b)) }})
		}
	}
	for _, x := range errors {
		It("4.13 leaves other clients alone when one commits "+x.what, v.Statement(othersUnharmed...), func() {
			others := takesPart(b)
			culprit := b.Connect("culprit").Subscribe(others.topic, 0)

			x.commit(b, culprit)
			probe.StillOpen(culprit)

			others.goOn(b.OthersUnharmed())
		})
	}
}

// bystanders are clients that do nothing wrong.
type bystanders struct {
	b          *probe.Broker
	id, topic  string // of the Session whose client is away
	other, pub *probe.Client
	open       wire.Publish
}

// takesPart connects clients, one of which has a delivery open.
func takesPart(b *probe.Broker) *bystanders {
	GinkgoHelper()
	y := &bystanders{b: b, id: b.ClientID(), topic: b.Topic()}
	b.Connect("absent", probe.ID(y.id), probe.Persistent).Subscribe(y.topic, 1).Disconnect()
	y.other, y.pub = b.Connect("other", probe.Persistent).Subscribe(y.topic, 1), b.Connect("pub")
	y.pub.Publish(wire.Publish{Topic: y.topic, QoS: 1, Payload: "before"})
	y.open = y.other.Unacknowledged()
	return y
}

// goOn asserts that they are served as before.
func (y *bystanders) goOn(judge Gomega) {
	GinkgoHelper()
	y.other.Acknowledge(y.open) // a server may have one delivery open at a time
	y.pub.Send(wire.Publish{Topic: y.topic, QoS: 1, ID: 99, Payload: "after"})
	judge.Expect(y.pub.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("ID", uint16(99))), "the publisher is served as before")
	judge.Expect(y.other.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "after")), "the subscriber gets what comes after the error")
	judge.Expect(y.other).To(probe.BeAlive(), "the subscriber stays connected")
	back := resumed(y.b, "back", y.id)
	came := []string{} // their order is another matter
	for range 2 {
		a := back.Arrival()
		judge.Expect(a).To(probe.BeA(wire.PUBLISH), "a Session without a connection has lost nothing")
		came = append(came, a.Packet.(wire.Publish).Payload)
	}
	judge.Expect(came).To(ConsistOf("before", "after"), "a Session without a connection has lost nothing")
}

// errorAcks are acknowledgements with the code of an error: they say that one
// packet was in error, and nothing more.
func errorAcks(b *probe.Broker, v version) {
	const key = "v5/4.13.2-error-acks-harmless"
	for _, c := range []struct {
		kind wire.Type
		qos  byte
	}{{wire.PUBACK, 1}, {wire.PUBREC, 2}} {
		It("is not what an error in "+c.kind.String()+" leads to", v.Statement(key), func() {
			topic := b.Topic()
			sub, pub := b.Connect("sub").Subscribe(topic, c.qos), b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: "first"})
			open := sub.Unacknowledged()
			for _, code := range []byte{0x80, 0x83, 0x87, 0x97} {
				sub.Send(wire.Ack{Type: c.kind, ID: open.ID, Code: code})
				pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: "behind " + hex8(code)})
				a := sub.Answer(wire.PUBLISH)
				Expect(a).To(probe.BePacket(HaveField("Payload", "behind "+hex8(code))), "the next message is delivered on the same connection")
				open = a.Packet.(wire.Publish)
			}
			sub.Acknowledge(open)
			Expect(sub).To(probe.BeAlive(), "the connection goes on")
		})
	}

	It("is not what follows an error in the server's PUBACK", v.Statement(key), func() {
		guarded := b.Variant("users")
		if b.Users == nil || len(b.Users.DeniedPublish) == 0 {
			probe.SkipFor("needs a topic that may not be published to, at the broker configured as %q", "users")
		}
		topic := guarded.Topic()
		c := guarded.Connect("client", probe.Credentials(b.Users.Username, b.Users.Password)).Subscribe(topic, 0)
		c.Send(wire.Publish{Topic: b.Users.DeniedPublish[0], QoS: 1, ID: 9, Payload: "denied"})
		a := c.Answer(wire.PUBACK)
		if ack, ok := a.Packet.(wire.Ack); !ok || ack.Code < 0x80 {
			probe.Unsupported("the server has no PUBACK with the code of an error: %s", a.GomegaString())
		}

		c.Send(wire.Publish{Topic: topic, Payload: "next"})
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "next")), "what the client publishes next is taken")
		Expect(c).To(probe.BeAlive(), "the connection goes on")
	})
}

// observedEnds are freedoms in how a connection ends.
func observedEnds(b *probe.Broker, v version) {
	It("has a place in CONNACK for an error in CONNECT", v.Observation("v5/4.13.1-connect-error-connack"), func() {
		list := []string{}
		for _, x := range []struct {
			what  string
			flags byte
		}{{"the reserved flag", 0x03}, {"Will QoS 3", 0x1e}, {"a will that is missing", 0x06}} {
			p := b.ConnectPacket()
			p.FlagsOverride = &x.flags
			list = append(list, x.what+": "+answerTo(b, wire.Bytes(b.Version, p)))
		}
		probe.Observe("v5/4.13.1-connect-error-connack", "on a CONNECT with %s", strings.Join(list, "; with "))
	})

	It("tells one of several errors", v.Observation("v5/4.13.2-several-errors"), func() {
		c := b.Connect("client")
		c.SendBytes(undefined[1].in(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic("#"), QoS: 3, ID: 0})))
		probe.Observe("v5/4.13.2-several-errors", "on a PUBLISH with QoS 3, Packet Identifier 0, a wildcard and an unknown property: %s", howEnded(c))
	})

	It("may answer a PUBLISH at QoS 0 that is not allowed", v.Observation("v5/3.14.2.1-disconnect-code-87"), func() {
		guarded := b.Variant("users")
		if b.Users == nil || len(b.Users.DeniedPublish) == 0 {
			probe.SkipFor("needs a topic that may not be published to, at the broker configured as %q", "users")
		}
		c := guarded.Connect("client", probe.Credentials(b.Users.Username, b.Users.Password))
		c.Send(wire.Publish{Topic: b.Users.DeniedPublish[0], Payload: "denied"})
		probe.Observe("v5/3.14.2.1-disconnect-code-87", "on a PUBLISH at QoS 0 that is not allowed: %s", howEnded(c))
	})
}
