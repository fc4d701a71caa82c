package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// disconnectCodes holds the specs of sections 3.14.2.1 and 3.14.4 of MQTT 5.0:
// what the code of a DISCONNECT means, on its way to the server and back.
func disconnectCodes(b *probe.Broker, v version) {
	if !v.is5() {
		Describe("3.14 DISCONNECT", func() { longDisconnect(b, v) })
		return
	}
	Describe("3.14.2.1 Disconnect Reason Code", Patient, func() {
		codesOfClients(b, v)
		codesOfServers(b, v)
		observedDisconnects(b, v)
	})
	Describe("3.14.4 DISCONNECT of the server", func() { closesBehindDisconnect(b, v) })
}

func longDisconnect(b *probe.Broker, v version) {
	key := "v311/3.14-disconnect-length"
	It("of a length above 0 ends the connection, with or without the will", v.Observation(key), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := b.Connect("client", gone(topic))
		c.SendBytes([]byte{0xe0, 1, 0})
		if closed, _ := probe.BeClosed().Match(c); !closed {
			probe.Observe(key, "DISCONNECT with a body leaves the connection open")
			return
		}
		if len(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))) > 0 {
			probe.Observe(key, "DISCONNECT with a body is an error: the will is published")
		} else {
			probe.Observe(key, "DISCONNECT with a body is a DISCONNECT: the will is thrown away")
		}
	})
}

// leaves connects a client with a will and lets it send the bytes of a
// DISCONNECT and end the connection. It returns who watches the will.
func leaves(b *probe.Broker, topic string, raw []byte) *probe.Client {
	GinkgoHelper()
	sub := b.Connect("sub").Subscribe(topic, 1)
	c := b.Connect("client", gone(topic))
	c.SendBytes(raw)
	c.Drop()
	return sub
}

func codesOfClients(b *probe.Broker, v version) {
	unless, unspecified := "v5/3.14-will-unless-normal", "v5/3.14.2.1-disconnect-code-80"
	for _, c := range []struct {
		code byte
		keys []string
	}{
		{0x04, []string{"v5/3.14.2.1-disconnect-with-will", "v5/3.14.2.1-disconnect-code-04", unless}},
		{0x80, []string{unless, unspecified}},
	} {
		It(hex8(c.code)+" of a client lets its will be published", v.Statement(c.keys...), func() {
			topic := b.Topic("will")
			sub := leaves(b, topic, wire.Bytes(b.Version, wire.Disconnect{Code: c.code}))
			Expect(willArrives(b, v, sub, 0)).To(isGone(), "only the code 0x00 throws the will away")
		})
	}

	It("0x80 of a client ends its connection, and not its Session", v.Statement(unspecified), func() {
		id, topic := b.ClientID(), b.Topic()
		c := b.Connect("client", probe.ID(id), probe.Persistent).Subscribe(topic, 1)
		c.SendBytes(wire.Bytes(b.Version, wire.Disconnect{Code: 0x80}))
		c.Drop()
		keepsOthers := lastingTwin(b)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})

		keepsOthers()
		again, ack := present(b, "again", probe.ID(id), probe.Persistent)
		probe.Warns(unspecified).Expect(ack.SessionPresent()).To(BeTrue(), "the Session is stored as it would be without an error")
		probe.Warns(unspecified).Expect(again.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "later")), "the Session goes on")
	})

	It("of an error lets the will of a client be published, whatever the error", v.Statement(unless), func() {
		for _, code := range []byte{0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99} {
			topic := b.Topic("will")
			sub := leaves(b, topic, wire.Bytes(b.Version, wire.Disconnect{Code: code}))
			Expect(willArrives(b, v, sub, 0)).To(isGone(), "after DISCONNECT %s the will is published", hex8(code))
		}
	})

	short := "v5/3.14.2.1-short-form"
	for _, form := range []struct {
		what string
		raw  []byte
	}{
		{"nothing behind the length", []byte{0xe0, 0}},
		{"the code 0x00 and no properties", []byte{0xe0, 1, 0}},
		{"the code 0x00 and a Property Length of 0", []byte{0xe0, 2, 0, 0}},
	} {
		It("0x00 may be sent as "+form.what, v.Statement(short, "v5/3.14.2.1-disconnect-code-00"), func() {
			topic := b.Topic("will")
			sub := leaves(b, topic, form.raw)
			Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the will is thrown away")
		})
	}
}

// byes are the ways to make the server say DISCONNECT.
var byes = []struct {
	what  string
	key   string
	codes []byte // the one that fits, and that of a server that does not tell
	end   func(b *probe.Broker, c *probe.Client)
}{
	{"a take-over", "v5/3.14.2.1-disconnect-code-8e", []byte{0x8e}, func(b *probe.Broker, c *probe.Client) {
		GinkgoHelper()
		b.Connect("newer", probe.ID(c.ID()))
	}},
	{"a malformed packet", "v5/3.14.2.1-disconnect-code-81", []byte{0x81, 0x80}, func(b *probe.Broker, c *probe.Client) {
		c.SendBytes(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic(), QoS: 3, ID: 1}))
	}},
	{"a second CONNECT", "v5/3.14.2.1-disconnect-code-82", []byte{0x82, 0x80}, func(b *probe.Broker, c *probe.Client) {
		c.SendBytes(wire.Bytes(b.Version, b.ConnectPacket(probe.ID(c.ID()))))
	}},
}

// told connects a client, ends its connection in one of the ways, and returns
// the DISCONNECT of the server. A server need not send one.
func told(b *probe.Broker, end func(*probe.Broker, *probe.Client)) (*probe.Client, wire.Disconnect) {
	GinkgoHelper()
	c := b.Connect("client")
	end(b, c)
	a := c.Answer(wire.DISCONNECT)
	if !a.Came {
		probe.Unsupported("the broker sends no DISCONNECT: %s", a.GomegaString())
	}
	bye, ok := a.Packet.(wire.Disconnect)
	if !ok {
		probe.Inconclusive("the DISCONNECT of the broker is malformed")
	}
	return c, bye
}

func codesOfServers(b *probe.Broker, v version) {
	for _, r := range byes {
		It(hex8(r.codes[0])+" is what the server says to "+r.what, v.Statement(r.key), func() {
			_, bye := told(b, r.end)
			probe.Warns(r.key).Expect(bye.Code).To(BeElementOf(r.codes), "DISCONNECT has the code that fits")
		})
	}
}

func closesBehindDisconnect(b *probe.Broker, v version) {
	for _, r := range byes[:2] {
		It("is followed by the close, on "+r.what, v.Statement("v5/MQTT-3.14.4-2"), func() {
			c, _ := told(b, r.end)
			Expect(c).To(probe.BeClosed(), "the server closes behind its DISCONNECT")
		})
	}
}

// observedDisconnects are about codes that a server may choose to send.
func observedDisconnects(b *probe.Broker, v version) {
	for _, o := range []struct {
		key, what string
		raw       func(topic string) []byte
	}{
		{"v5/3.14.2.1-disconnect-code-8f", "a SUBSCRIBE to a#b", func(topic string) []byte { return subscription(b, topic+"/a#b", 1) }},
		{"v5/3.14.2.1-disconnect-code-90", "a PUBLISH to a/#", func(topic string) []byte {
			return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/a/#"})
		}},
		{"v5/3.14-disconnect-before-close", "a packet of type 0", func(string) []byte { return []byte{0, 0} }},
	} {
		It("may follow on "+o.what, v.Observation(o.key), func() {
			c := b.Connect("client")
			c.SendBytes(o.raw(b.Topic()))
			probe.Observe(o.key, "on %s: %s", o.what, howEnded(c))
		})
	}

	timeout := "v5/3.14.2.1-disconnect-code-8d"
	It("may follow on silence", Timing, v.Observation(timeout), func() {
		c := b.Connect("client", probe.KeepAlive(1))
		if b.ServerKeepAlive(c) {
			probe.Unsupported("the server replaces the Keep Alive in CONNACK")
		}
		c.Within(silence(b), wire.AUTH)
		probe.Observe(timeout, "when the Keep Alive has run out: %s", howEnded(c))
	})
}

// howEnded says in words how the server ended a connection, if it did.
func howEnded(c *probe.Client) string {
	closed, _ := probe.BeClosed().Match(c)
	for _, r := range c.History() {
		switch p := r.Packet.(type) {
		case wire.Disconnect:
			return "DISCONNECT " + hex8(p.Code)
		case wire.Connack:
			if p.Code != 0 {
				return "CONNACK " + hex8(p.Code)
			}
		}
	}
	if closed {
		return "closed without DISCONNECT"
	}
	return "the connection stays open"
}
