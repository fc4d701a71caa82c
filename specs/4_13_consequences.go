package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// consequences is about what an error on one connection means for others:
// nothing.
func consequences(b *probe.Broker, v version) {
	It("has no consequences for other Sessions", v.Statement("v5/4.13.1-other-sessions-unharmed"), func() {
		id, topic := b.ClientID(), b.Topic()
		b.Connect("absent", probe.ID(id), probe.Persistent).Subscribe(topic, 1).Disconnect()
		other, pub := b.Connect("other").Subscribe(topic, 1), b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "before"})
		open := other.Unacknowledged()

		broken := []*probe.Client{}
		for _, x := range breaches {
			c := b.Connect(x.what).Subscribe(topic, 0)
			c.SendBytes(x.raw(b))
			broken = append(broken, c)
		}
		probe.StillOpen(broken...)

		other.Acknowledge(open) // a server may have one delivery open at a time
		pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 99, Payload: "after"})
		Expect(pub.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("ID", uint16(99))), "the publisher is served as before")
		Expect(other.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "after")), "the subscriber gets what comes after the errors")
		Expect(other).To(probe.BeAlive(), "the subscriber is still there")
		back := resumed(b, "back", id)
		for _, payload := range []string{"before", "after"} {
			a := back.Answer(wire.PUBLISH)
			Expect(a).To(probe.BePacket(HaveField("Payload", payload)), "a Session without a connection has lost nothing")
			back.Acknowledge(a.Packet.(wire.Publish))
		}
	})
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
			for _, code := range []byte{0x80, 0x83, 0x87, 0x97} {
				pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: hex8(code)})
				sub.Send(wire.Ack{Type: c.kind, ID: sub.Unacknowledged().ID, Code: code})
			}
			pub.Publish(wire.Publish{Topic: topic, QoS: c.qos, Payload: "next"})

			a := sub.Answer(wire.PUBLISH)
			Expect(a).To(probe.BePacket(HaveField("Payload", "next")), "the next message is delivered on the same connection")
			sub.Acknowledge(a.Packet.(wire.Publish))
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
			c := b.Open("client")
			c.Send(p)
			list = append(list, x.what+": "+howEnded(c))
		}
		probe.Observe("v5/4.13.1-connect-error-connack", "%q", list)
	})

	It("tells one of several errors", v.Observation("v5/4.13.2-several-errors"), func() {
		c := b.Connect("client")
		c.SendBytes(undefined[1].in(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic("#"), QoS: 3, ID: 0})))
		probe.Observe("v5/4.13.2-several-errors", "QoS 3, Packet Identifier 0, a wildcard and an unknown property: %s", howEnded(c))
	})

	It("may answer a PUBLISH at QoS 0 that is not allowed", v.Observation("v5/3.14.2.1-disconnect-code-87"), func() {
		guarded := b.Variant("users")
		if b.Users == nil || len(b.Users.DeniedPublish) == 0 {
			probe.SkipFor("needs a topic that may not be published to, at the broker configured as %q", "users")
		}
		c := guarded.Connect("client", probe.Credentials(b.Users.Username, b.Users.Password))
		c.Send(wire.Publish{Topic: b.Users.DeniedPublish[0], Payload: "denied"})
		probe.Observe("v5/3.14.2.1-disconnect-code-87", "%s", howEnded(c))
	})
}
