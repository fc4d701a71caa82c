package specs

import (
	"bytes"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// connect holds the specs of section 3.1 on when CONNECT may come and on its
// format.
func connect(b *probe.Broker, v version) {
	Describe("3.1 CONNECT", func() {
		firstPacket(b, v)
		secondConnect(b, v)
		protocol(b, v)
		connectFlags(b, v)
		connectPayload(b, v)
	})
}

func firstPacket(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.0-1", "v5/MQTT-3.1.0-1"}
	for _, c := range []struct {
		what   string
		packet func(topic string) wire.Packet
	}{
		{"PUBLISH", func(t string) wire.Packet { return wire.Publish{Topic: t, QoS: 1, ID: 1, Payload: "early"} }},
		{"SUBSCRIBE", func(t string) wire.Packet {
			return wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: t}}}
		}},
		{"PINGREQ", func(string) wire.Packet { return wire.Pingreq{} }},
	} {
		It("has to come first: "+c.what+" before it is not served", v.Statement(keys...), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 1)
			early := b.Open("early")

			early.Send(c.packet(topic))

			probe.Reaction(v.key(keys...)).Expect(early).To(probe.BeClosed(), c.what+" before CONNECT closes the connection")
			Expect(early.History()).NotTo(ContainElement(HaveField("Type", BeElementOf(wire.PUBACK, wire.SUBACK, wire.PINGRESP))), "it is not answered")
			Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "it is not acted on")
		})
	}
}

func secondConnect(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.0-2", "v5/MQTT-3.1.0-2"}
	for _, c := range []struct {
		what string
		same bool
	}{{"the same Client Identifier", true}, {"another Client Identifier", false}} {
		It("may not come twice: the second, with "+c.what+", closes the connection", v.Statement(keys...), func() {
			watch := b.Bystander()
			client := b.Connect("client")
			second := b.ConnectPacket()
			if c.same {
				second.ClientID = client.ID()
			}

			client.SendBytes(wire.Bytes(b.Version, second))

			Expect(client).To(probe.BeClosed(), "a second CONNECT closes the connection")
			Expect(client.Answer(wire.CONNACK)).NotTo(probe.BePacket(HaveField("Code", byte(0))), "it is not accepted")
			watch.Unharmed()
		})
	}
}

func protocol(b *probe.Broker, v version) {
	for _, name := range []string{"mqtt", "MQTX", "MQTT1", ""} {
		It("with the protocol name '"+name+"' is not accepted", v.Statement("v311/MQTT-3.1.2-1", "v5/MQTT-3.1.2-1"), func() {
			b.Connect("twin").Disconnect()
			p := b.ConnectPacket()
			p.ProtocolName, p.NoName = name, name == ""
			c := b.Open("client")

			c.Send(p)

			Expect(granted(c.Answer(wire.CONNACK))).To(BeFalse(), "no success CONNACK for another protocol")
		})
	}

	It("of an unknown level is answered with CONNACK code 1, or as MQTT 5.0 has it, and closed",
		v.Statement("v311/MQTT-3.1.2-2", "v311/3.2.2.3-code-1", "v5/MQTT-3.1.2-2"), func() {
			b.Connect("twin").Disconnect()
			p := b.ConnectPacket()
			p.Level = 0x7f
			c := b.Open("client")

			c.Send(p)

			a := c.Answer(wire.CONNACK)
			Expect(granted(a)).To(BeFalse(), "no success CONNACK for level 127")
			if five := b.Offered["v5"]; a.Came || !five && b.Offered != nil {
				code := probe.For(v.key("v311/MQTT-3.1.2-2", "v5/MQTT-3.1.2-2"))
				if v.is5() {
					code = probe.Warns("v5/MQTT-3.1.2-2") // only the close is demanded
				}
				code.Expect(levelRefused(a.Raw)).To(BeTrue(), "CONNACK says that the level is not supported: % x", a.Raw)
			}
			Expect(c).To(probe.BeClosed(), "the server closes behind it")
		})
}

// levelRefused tells whether a CONNACK says, in the form of either version, that
// the level is not supported.
func levelRefused(connack []byte) bool {
	if len(connack) < 2 {
		return false
	}
	_, used, _ := wire.Varint(connack[1:])
	body := connack[1+used:]
	ack, _ := wire.Parse(connack[0], body, wire.V5)
	five, ok := ack.(wire.Connack)
	return slices.Equal(body, []byte{0, 1}) || ok && five.Code == 0x84
}

func connectFlags(b *probe.Broker, v version) {
	raw := func(flags byte, change func(*wire.Connect)) []byte {
		p := b.ConnectPacket()
		if change != nil {
			change(&p)
		}
		p.FlagsOverride = &flags
		return wire.Bytes(b.Version, p)
	}
	name := "mqttcheck"
	user := func(p *wire.Connect) { p.Username, p.Password = &name, nil }
	both := func(p *wire.Connect) { p.Username, p.Password = &name, []byte("secret") }
	will := func(p *wire.Connect) { p.Will = &wire.Will{Topic: b.Topic("will"), Payload: []byte("gone")} }
	none := func(p *wire.Connect) { p.Username, p.Password = nil, nil }

	for _, c := range []struct {
		what   string
		keys   []string
		flags  byte
		change func(*wire.Connect)
	}{
		{"the reserved bit of the Connect Flags set", []string{"v311/MQTT-3.1.2-3", "v5/MQTT-3.1.2-3", "v5/3.1.2.3-reserved-flag-malformed"}, 0x03, none},
		{"the Will Flag set and a payload without a will", []string{"v311/MQTT-3.1.2-9", "v5/MQTT-3.1.2-9"}, 0x06, none},
		{"will fields in the payload and the Will Flag clear", []string{"v311/MQTT-3.1.2-11"}, 0x02, will},
		{"Will QoS 1 and the Will Flag clear", []string{"v311/MQTT-3.1.2-13", "v5/MQTT-3.1.2-11"}, 0x0a, none},
		{"Will QoS 2 and the Will Flag clear", []string{"v311/MQTT-3.1.2-13", "v5/MQTT-3.1.2-11"}, 0x12, none},
		{"Will QoS 3", []string{"v311/MQTT-3.1.2-14", "v5/MQTT-3.1.2-12", "v5/3.1.2.6-will-qos-3"}, 0x1e, will},
		{"Will Retain set and the Will Flag clear", []string{"v311/MQTT-3.1.2-15", "v5/MQTT-3.1.2-13"}, 0x22, none},
		{"a user name and the User Name Flag clear", []string{"v311/MQTT-3.1.2-18", "v5/MQTT-3.1.2-16"}, 0x02, user},
		{"the User Name Flag set and no user name", []string{"v311/MQTT-3.1.2-19", "v5/MQTT-3.1.2-17"}, 0x82, none},
		{"a password and the Password Flag clear", []string{"v311/MQTT-3.1.2-20", "v5/MQTT-3.1.2-18"}, 0x82, both},
		{"the Password Flag set and no password", []string{"v311/MQTT-3.1.2-21", "v5/MQTT-3.1.2-19"}, 0xc2, user},
	} {
		if !v.has(c.keys...) {
			continue
		}
		It("with "+c.what+" is refused", v.Statement(c.keys...), func() {
			b.Connect("twin").Disconnect()
			refusedWithoutConnack(b, v.key(c.keys...), "CONNECT with "+c.what, raw(c.flags, c.change))
		})
	}

	if !v.is5() {
		It("with a password but no user name is refused", v.Statement("v311/MQTT-3.1.2-22"), func() {
			b.Connect("twin").Disconnect()
			refusedWithoutConnack(b, "v311/MQTT-3.1.2-22", "CONNECT with the Password Flag and without the User Name Flag",
				raw(0x42, func(p *wire.Connect) { p.Username, p.Password = nil, []byte("secret") }))
		})
	}

	for _, qos := range []byte{0, 1, 2} {
		It("with Will QoS "+digit(qos)+" is accepted and the will is sent at it", v.Statement("v311/MQTT-3.1.2-9", "v5/MQTT-3.1.2-9"), func() {
			topic := b.Topic("will")
			sub := b.Connect("sub").Subscribe(topic, 2)
			c := b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: qos, Payload: []byte("gone")}))

			c.Drop()

			Expect(sub.Delivery()).To(And(
				HaveField("QoS", qos), HaveField("Payload", "gone"), HaveField("Retain", false)), "the will is published as CONNECT had it")
		})
	}
}

// notAsStranger ends the spec where a CONNECT was refused just as one without a
// fault is, whose user the broker does not know.
func notAsStranger(b *probe.Broker, said probe.Answer, faultless []byte) {
	GinkgoHelper()
	c := b.Open("stranger")
	c.SendBytes(faultless)
	other := c.Answer(wire.CONNACK)
	if !granted(other) && other.Came == said.Came && bytes.Equal(other.Raw, said.Raw) {
		probe.Unsupported("the broker refuses a user name that it does not know")
	}
}

// connectPayload judges what stands in the payload of CONNECT.
func connectPayload(b *probe.Broker, v version) {
	type field struct {
		what string
		keys []string
		set  func(p *wire.Connect, s string)
	}
	for _, f := range []field{
		{"Client Identifier", []string{"v311/MQTT-3.1.3-4", "v5/MQTT-3.1.3-4"}, func(p *wire.Connect, s string) { p.ClientID = s }},
		{"Will Topic", []string{"v311/MQTT-3.1.3-10", "v5/MQTT-3.1.3-11"}, func(p *wire.Connect, s string) {
			p.Will = &wire.Will{Topic: s, Payload: []byte("gone")}
		}},
		{"User Name", []string{"v311/MQTT-3.1.3-11", "v5/MQTT-3.1.3-12"}, func(p *wire.Connect, s string) { p.Username = &s }},
	} {
		with := func(s string) []byte {
			p := b.ConnectPacket()
			f.set(&p, b.Topic(s))
			return wire.Bytes(b.Version, p)
		}
		for _, bad := range []struct{ what, bytes string }{{"FF", "\xff"}, {"ED A0 80", "\xed\xa0\x80"}, {"U+0000", "\x00"}} {
			It("with "+bad.what+" in the "+f.what+" is refused", v.Statement(f.keys...), func() {
				b.Connect("twin").Disconnect()
				key, why := v.key(f.keys...), "CONNECT with "+bad.what+" in the "+f.what
				if f.what == "Will Topic" {
					refusedWithoutConnack(b, key, why, with("x"+bad.bytes))
					return
				}
				said := refusedConnect(b, key, why, with("x"+bad.bytes))
				if f.what == "User Name" {
					notAsStranger(b, said, with("x"))
				}
			})
		}
	}

	It("without a payload is refused", v.Statement("v311/MQTT-3.1.3-3", "v5/MQTT-3.1.3-3"), func() {
		b.Connect("twin").Disconnect()
		p := b.ConnectPacket(probe.ID(""))
		p.Username, p.Password = nil, nil
		whole := wire.Bytes(b.Version, p)
		refusedWithoutConnack(b, v.key("v311/MQTT-3.1.3-3", "v5/MQTT-3.1.3-3"), "CONNECT with no Client Identifier",
			wire.Shorten(whole, len(wire.Body(whole))-2))
	})

	It("gives each field of the payload its place", v.Statement("v311/MQTT-3.1.3-1", "v5/MQTT-3.1.3-1"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		options := []probe.Option{probe.ID(b.ClientID()), probe.Persistent, probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("the will")})}
		if b.Username == "" {
			anyUser(b)
			options = append(options, probe.Credentials("mqttcheck", "secret"))
		}
		c := b.Connect("client", options...).Subscribe(b.Topic("own"), 1) // a Session that holds something
		c.Drop()

		Expect(sub.Delivery()).To(And(HaveField("Topic", topic), HaveField("Payload", "the will")), "topic and payload of the will are in their places")
		resumed(b, "again", c.ID())
	})

	brokenConnect(b, v)
}

// brokenConnect are CONNECTs that break the format as a whole.
func brokenConnect(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.4-1", "v5/MQTT-3.1.4-1"}
	name := "mqttcheck"
	full := func() []byte {
		p := b.ConnectPacket(probe.WithWill(wire.Will{Topic: b.Topic("will"), Payload: []byte("gone")}))
		p.Username, p.Password = &name, []byte("secret")
		return wire.Bytes(b.Version, p)
	}
	for _, c := range []struct {
		what   string
		broken func(raw []byte) []byte
	}{
		{"a payload that is cut off in the password", func(raw []byte) []byte { return wire.Shorten(raw, len(wire.Body(raw))-3) }},
		{"a payload that is cut off in the Client Identifier", func(raw []byte) []byte { return wire.Shorten(raw, 16) }},
		{"surplus bytes at the end", func(raw []byte) []byte { return wire.Extend(raw, 0, 0) }},
		{"a string longer than the packet", func(raw []byte) []byte {
			body := wire.Body(raw)
			body[len(body)-8] = 0xff
			return wire.WithBody(raw, body)
		}},
	} {
		It("with "+c.what+" is refused", v.Statement(keys...), func() {
			b.Connect("twin").Disconnect()
			refusedWithoutConnack(b, v.key(keys...), "CONNECT with "+c.what, c.broken(full()))
		})
	}
}
