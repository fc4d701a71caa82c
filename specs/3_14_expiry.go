package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// disconnectExpiry holds the specs of section 3.14.2.2.2 of MQTT 5.0: what
// DISCONNECT makes of the Session Expiry Interval.
func disconnectExpiry(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.14.2.2.2 Session Expiry Interval of DISCONNECT", func() {
		expiryOfDisconnect(b, v)
		expiryBroken(b, v)
	})
}

func expiryOfDisconnect(b *probe.Broker, v version) {
	changed := "v5/3.14.2.2.2-session-expiry-changed"
	It("of 0 ends the Session at once", v.Statement(changed), func() {
		id, topic := b.ClientID(), b.Topic()
		c := lasting(b, id, topic, resume)

		c.DisconnectWith(wire.Disconnect{Properties: wire.Properties{expiryProperty(0)}})

		ended(b, probe.For(changed), id, topic, "the interval of DISCONNECT replaces that of CONNECT")
	})

	It("prolongs the Session", Timing, v.Statement(changed), func() {
		id, topic := b.ClientID(), b.Topic()
		c := stored(b, 1, id, topic, resume)

		c.DisconnectWith(wire.Disconnect{Properties: wire.Properties{expiryProperty(long)}})
		pass(b, 3)

		kept(b, probe.For(changed), id, topic, "the interval of DISCONNECT replaces that of CONNECT")
	})

	key := "v5/3.14.2.2.2-session-expiry-kept"
	It("that is absent leaves that of CONNECT", v.Statement(key), func() {
		id, topic := b.ClientID(), b.Topic()
		c := lasting(b, id, topic, resume)

		c.DisconnectWith(wire.Disconnect{Properties: wire.Properties{{ID: wire.UserProperty, Pair: [2]string{"a", "b"}}}})

		kept(b, probe.For(key), id, topic, "the interval of CONNECT holds")
	})
}

// expiryBroken is about a DISCONNECT that is none: the will shows it.
func expiryBroken(b *probe.Broker, v version) {
	raised := "v5/3.14.2.2.2-session-expiry-raised-from-zero"
	It("above 0 after 0 in CONNECT is no DISCONNECT: the will is published", v.Statement(raised), func() {
		c, sub, _, _ := raisesExpiry(b)

		probe.Reaction(raised).Expect(c).To(probe.BeClosed(), "a Protocol Error ends the connection")
		probe.Reaction(raised).Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(HaveField("Payload", "gone")), "the will is published, since there was no valid DISCONNECT")
	})

	It("above 0 after 0 in CONNECT keeps no Session", v.Statement(raised), func() {
		c, _, id, topic := raisesExpiry(b)
		if !noticed(b, c) {
			probe.Inconclusive("the server has not ended the connection")
		}

		ended(b, probe.Reaction(raised), id, topic, "the Session has ended with its connection")
	})

	for _, twice := range []wire.Property{expiryProperty(long), {ID: wire.ReasonString, Str: "bye"}} {
		key := "v5/3.14.2.2.2-disconnect-session-expiry-interval-twice"
		if twice.ID == wire.ReasonString {
			key = "v5/3.14.2.2.3-disconnect-reason-string-twice"
		}
		It("is one of the properties that stand once: "+twice.ID.String()+" twice", v.Statement(key), func() {
			topic := b.Topic("will")
			sub := b.Connect("sub").Subscribe(topic, 1)
			c := b.Connect("client", expiry(long), probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")}))

			c.Send(wire.Disconnect{Properties: wire.Properties{twice, twice}})

			noticed := c.Answer(wire.DISCONNECT).Came || sub.Answer(wire.PUBLISH).Came
			probe.Reaction(key).Expect(noticed).To(BeTrue(), "a DISCONNECT of the server, or the will, shows a Protocol Error")
		})
	}
}

// raisesExpiry sends a DISCONNECT with a Session Expiry Interval for a client
// that had none in its CONNECT. It returns the client, who watches its will,
// its Client Identifier and the topic it is subscribed to.
func raisesExpiry(b *probe.Broker) (c, sub *probe.Client, id, topic string) {
	GinkgoHelper()
	id, topic = b.ClientID(), b.Topic()
	sub = b.Connect("sub").Subscribe(topic+"/will", 1)
	c, ack := present(b, "client", probe.ID(id), resume, probe.WithWill(wire.Will{Topic: topic + "/will", QoS: 1, Payload: []byte("gone")}))
	if inForce(ack, 0) > 0 {
		probe.Unsupported("the server keeps the Session though it was not asked to, and says so in CONNACK")
	}
	c.Subscribe(topic, 1)
	c.Send(wire.Disconnect{Properties: wire.Properties{expiryProperty(long)}})
	return c, sub, id, topic
}
