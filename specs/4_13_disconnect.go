package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// serverDisconnect holds the specs of sections 4.13 and 3.14 of MQTT 5.0 on
// how a server ends a connection, and with which code.
func serverDisconnect(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("4.13 DISCONNECT of the server", func() {
		saysWhy(b, v)
		closesBehind(b, v)
		errorAcks(b, v)
		observedEnds(b, v)
	})
}

// breach is what a client may not send, and the code that the text has for it.
type breach struct {
	what string
	code byte
	raw  func(b *probe.Broker) []byte
}

// breaches are errors of both kinds: packets that are malformed, and packets
// that the protocol does not allow.
var breaches = []breach{
	{"PUBLISH with both QoS bits set", 0x81, func(b *probe.Broker) []byte {
		return wire.Bytes(b.Version, wire.Publish{Topic: b.Topic(), QoS: 3, ID: 9})
	}},
	{"PUBREL with wrong flag bits", 0x81, func(b *probe.Broker) []byte {
		return wire.WithFlags(wire.Bytes(b.Version, wire.Ack{Type: wire.PUBREL, ID: 9}), 0)
	}},
	{"a Topic Name that is ill-formed", 0x81, func(b *probe.Broker) []byte {
		return wire.Bytes(b.Version, wire.Publish{Topic: b.Topic("\xff")})
	}},
	{"a property that is not defined", 0x81, func(b *probe.Broker) []byte {
		return undefined[1].in(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic()}))
	}},
	{"a second CONNECT", 0x82, func(b *probe.Broker) []byte { return wire.Bytes(b.Version, b.ConnectPacket()) }},
	{"SUBSCRIBE without a Topic Filter", 0x82, func(b *probe.Broker) []byte { return wire.Bytes(b.Version, wire.Subscribe{ID: 9}) }},
	{"UNSUBSCRIBE without a Topic Filter", 0x82, func(b *probe.Broker) []byte { return wire.Bytes(b.Version, wire.Unsubscribe{ID: 9}) }},
	{"SUBSCRIBE with Retain Handling 3", 0x82, func(b *probe.Broker) []byte {
		return wire.Bytes(b.Version, wire.Subscribe{ID: 9, Subscriptions: []wire.Subscription{{Filter: b.Topic(), RetainHandling: 3}}})
	}},
	{"AUTH without a method in CONNECT", 0x82, func(b *probe.Broker) []byte {
		return wire.Bytes(b.Version, wire.Auth{Code: 0x19, Properties: method("SCRAM-SHA-256")})
	}},
}

// saysWhy is about the code of DISCONNECT.
func saysWhy(b *probe.Broker, v version) {
	for _, x := range breaches {
		key := "v5/3.14.2.1-disconnect-code-81"
		if x.code == 0x82 {
			key = "v5/3.14.2.1-disconnect-code-82"
		}
		It("says what was wrong: "+hex8(x.code)+" for "+x.what, v.Statement("v5/4.13.1-disconnect-with-code", key), func() {
			c := b.Connect("client")
			c.Ping()
			c.SendBytes(x.raw(b))
			if len(probe.StillOpen(c)) > 0 {
				probe.Inconclusive("the server does not notice %s", x.what)
			}
			endedWith(c, key, x.code)
		})
	}

	It("prefers the code that says more: 0x94 for a Topic Alias of 0", v.Statement("v5/4.13.1-code-choice"), func() {
		c := b.Connect("client")
		c.Send(wire.Publish{Topic: b.Topic(), Properties: wire.Properties{{ID: wire.TopicAlias}}})
		if len(probe.StillOpen(c)) > 0 {
			probe.Inconclusive("the server does not notice a Topic Alias of 0")
		}
		endedWith(c, "v5/4.13.1-code-choice", 0x94)
	})
}

// bye returns the server's DISCONNECT, with what came behind it. Without one
// the spec is unsupported: a server need not say goodbye.
func bye(c *probe.Client) (p wire.Disconnect, behind []wire.Received) {
	GinkgoHelper()
	a := c.Answer(wire.DISCONNECT)
	if !a.Came {
		probe.Unsupported("the server ends a connection without DISCONNECT")
	}
	probe.StillOpen(c)
	for _, r := range c.History() {
		if r.Seq > a.Seq {
			behind = append(behind, r)
		}
	}
	return a.Packet.(wire.Disconnect), behind
}

// departures are ways to make a server say DISCONNECT.
var departures = []struct {
	what string
	do   func(b *probe.Broker, c *probe.Client)
}{
	{"a take-over", func(b *probe.Broker, c *probe.Client) { b.Connect("successor", probe.ID(c.ID())) }},
	{"a malformed packet", func(b *probe.Broker, c *probe.Client) { c.SendBytes(breaches[0].raw(b)) }},
	{"a Protocol Error", func(b *probe.Broker, c *probe.Client) { c.SendBytes(breaches[5].raw(b)) }},
}

// closesBehind is about what comes behind DISCONNECT: nothing but the close.
func closesBehind(b *probe.Broker, v version) {
	for _, x := range departures {
		It("is the last packet on its connection, on "+x.what, v.Statement("v5/MQTT-3.14.4-1"), func() {
			topic := b.Topic()
			c := b.Connect("client").Subscribe(topic, 0)
			pub := b.Connect("pub")
			many := func() {
				for range 20 {
					pub.Send(wire.Publish{Topic: topic, Payload: "more and more"})
				}
			}
			many()
			c.Awaits(wire.PUBLISH)
			x.do(b, c)
			many()
			pub.Ping()
			_, behind := bye(c)
			Expect(behind).To(BeEmpty(), "nothing follows DISCONNECT")
		})
	}

	It("with an error closes the connection, whatever is open on it", v.Statement("v5/MQTT-4.13.2-1"), func() {
		b.Lacking("qos2")
		seen := false
		for _, x := range departures {
			c, watch := b.Connect("client").Subscribe(b.Topic(), 0), b.Bystander()
			c.Send(wire.Publish{Topic: b.Topic(), QoS: 2, ID: 9, Payload: "open"})
			c.Awaits(wire.PUBREC)
			x.do(b, c)
			if p, ok := c.Answer(wire.DISCONNECT).Packet.(wire.Disconnect); ok && p.Code >= 0x80 {
				seen = true
				Expect(c).To(probe.BeEnded(b.Timeout), "%s is followed by the close", p)
			}
			watch.Unharmed()
		}
		if !seen {
			probe.Unsupported("the server ends connections without DISCONNECT")
		}
	})

	It("is replaced by CONNACK in an error before it: the connection is closed all the same", v.Statement("v5/MQTT-4.13.2-1", "v5/MQTT-3.14.0-1"), func() {
		for _, flags := range []byte{0x03, 0x1e} {
			p := b.ConnectPacket()
			p.FlagsOverride = &flags
			c := b.Open("client")
			c.Send(p)
			if a := c.Answer(wire.CONNACK, wire.DISCONNECT); granted(a) || !a.Came && !a.Closed {
				probe.Inconclusive("the server does not notice a malformed CONNECT")
			}
			Expect(c).To(probe.BeClosed(), "an error in CONNECT closes the connection")
			probe.For("v5/MQTT-3.14.0-1").Expect(c.History()).NotTo(ContainElement(HaveField("Type", wire.DISCONNECT)), "no DISCONNECT comes before CONNACK")
		}
	})
}
