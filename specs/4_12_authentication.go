package specs

import (
	"cmp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// authentication holds the specs of section 4.12 of MQTT 5.0. Most of them
// need a broker that was set up with an Authentication Method.
func authentication(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("4.12 Enhanced authentication", func() {
		unknownMethods(b, v)
		exchanges(b, v)
		withoutMethod(b, v)
	})
	Describe("4.12.1 Re-authentication", func() { reauthentication(b, v) })
	Describe("3.15 AUTH", func() { authPackets(b, v) })
	Describe("3.1.2.11 Authentication properties", func() { authProperties(b, v) })
}

// method returns the properties that name an Authentication Method.
func method(name string) wire.Properties {
	return wire.Properties{{ID: wire.AuthenticationMethod, Str: name}}
}

// authData returns the property Authentication Data.
func authData(text string) wire.Property {
	return wire.Property{ID: wire.AuthenticationData, Bin: []byte(text)}
}

func unknownMethods(b *probe.Broker, v version) {
	for _, c := range []struct {
		what string
		data wire.Properties
	}{{"without Authentication Data", nil}, {"with Authentication Data", wire.Properties{authData("hello")}}} {
		It("with a method that the server does not know is refused, "+c.what, v.Statement("v5/MQTT-4.12.0-1"), func() {
			b.Connect("twin").Disconnect()
			client := b.Open("client")

			client.Send(b.ConnectPacket(probe.Properties(append(method("no-such-method"), c.data...)...)))

			a := client.Answer(wire.CONNACK, wire.AUTH)
			Expect(granted(a)).To(BeFalse(), "no success CONNACK")
			Expect(a).NotTo(probe.BeA(wire.AUTH), "no AUTH that asks for more")
			Expect(client).To(probe.BeClosed(), "the server closes")
			if a.Came {
				probe.Advice("v5/MQTT-4.12.0-1").Expect(a).To(probe.BePacket(HaveField("Code", BeElementOf(byte(0x8c), byte(0x87), byte(0x80)))), "CONNACK has code 0x8C or 0x87")
			}
		})
	}

	It("is optional", v.Observation("v5/4.12-optional"), func() {
		known := []string{}
		names := []string{"SCRAM-SHA-1", "SCRAM-SHA-256", "GS2-KRB5", "mqttcheck-hmac"}
		for _, name := range names {
			c := b.Open(name)
			c.Send(b.ConnectPacket(probe.Properties(method(name)...)))
			if a := c.Answer(wire.CONNACK, wire.AUTH); granted(a) || a.Came && a.Type == wire.AUTH {
				known = append(known, name)
			}
		}
		probe.Observe("v5/4.12-optional", "of the methods %s the server knows %s", strings.Join(names, ", "), cmp.Or(strings.Join(known, ", "), "none"))
	})
}

// exchanges are authentications before CONNACK.
func exchanges(b *probe.Broker, v version) {
	It("goes on with AUTH 0x18 until CONNACK", v.Statement("v5/MQTT-4.12.0-2", "v5/3.15.2.1-auth-code-18"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			c, x := b.Authenticating("client", m)
			c.Send(x.Answer())
			c.Concluded(x)
			for _, r := range c.History() {
				if p, ok := r.Packet.(wire.Auth); ok {
					Expect(p).To(HaveField("Code", byte(0x18)), m.Name+": AUTH before CONNACK has code 0x18")
				}
			}
		})
	})

	It("ends with the close when the client cannot prove who it is", v.Statement("v5/MQTT-4.12.0-4"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			b.Authenticate("twin", m).Disconnect()
			c, x := b.Begun("impostor", m.Impostor())
			Expect(granted(c.Concluded(x))).To(BeFalse(), m.Name+": no success CONNACK for wrong data")
			Expect(c).To(probe.BeClosed(), m.Name+": the server closes")
		})
	})

	It("names the method of the CONNECT in all AUTH packets and in CONNACK", v.Statement("v5/MQTT-4.12.0-5"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			c := b.Authenticate("client", m)
			for _, r := range c.History() {
				if r.Type == wire.AUTH || r.Type == wire.CONNACK {
					named, _ := authProps(r.Packet).First(wire.AuthenticationMethod)
					Expect(named.Str).To(Equal(m.Name), "%s names the method", r.Type)
				}
			}
		})
	})

	It("ends with the close when AUTH names another method", v.Statement("v5/MQTT-4.12.0-5"), func() {
		refusedAuth(b, "v5/MQTT-4.12.0-5", "AUTH of another method", func(x *probe.Exchange) wire.Auth {
			p := x.Answer()
			p.Properties[0].Str += "-other"
			return p
		})
	})

	It("may be left with DISCONNECT", v.Statement("v5/4.12-client-may-leave"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			c, _ := b.Authenticating("client", m)
			c.Send(wire.Disconnect{})
			probe.Warns("v5/4.12-client-may-leave").Expect(c).To(probe.BeEnded(b.Timeout), m.Name+": the server closes if the client has not")
			Expect(granted(c.Answer(wire.CONNACK))).To(BeFalse(), m.Name+": no success CONNACK behind DISCONNECT")
		})
	})
}

// authProps returns the properties of AUTH and CONNACK.
func authProps(p wire.Packet) wire.Properties {
	switch p := p.(type) {
	case wire.Auth:
		return p.Properties
	case wire.Connack:
		return p.Properties
	}
	return nil
}

// withoutMethod are connections whose CONNECT named no method.
func withoutMethod(b *probe.Broker, v version) {
	unasked := func(c *probe.Client) {
		GinkgoHelper()
		Expect(c.History()).NotTo(ContainElement(HaveField("Type", wire.AUTH)), "no AUTH comes")
		for _, r := range c.History() {
			Expect(authProps(r.Packet).Every(wire.AuthenticationMethod)).To(BeEmpty(), "CONNACK names no method")
		}
	}

	It("does not take place unasked", v.Statement("v5/MQTT-4.12.0-6", "v5/3.1.2.11.9-no-method-no-extended-authentication"), func() {
		c := b.Connect("client")
		c.Ping()
		unasked(c)
	})

	It("does not take place unasked at a server that offers it", v.Statement("v5/MQTT-4.12.0-6"), func() {
		b := b.Variant("auth")
		c := b.Open("client")
		c.Send(b.ConnectPacket())
		c.Connack()
		unasked(c)
	})

	for _, code := range []byte{0x18, 0x19} {
		It("is not begun by AUTH "+hex8(code)+" without a method in CONNECT", v.Statement("v5/MQTT-4.12.0-7", "v5/3.15-auth-without-method"), func() {
			refusedPacket(b, "v5/MQTT-4.12.0-7", "AUTH closes a connection without a method",
				wire.Bytes(b.Version, wire.Auth{Code: code, Properties: append(method("SCRAM-SHA-256"), authData("n,,n=mqttcheck,r=0"))}))
		})
	}
}

func reauthentication(b *probe.Broker, v version) {
	It("is answered with AUTH, until AUTH 0x00 ends it", v.Statement("v5/4.12.1-reauthentication", "v5/3.15.2.1-auth-code-00", "v5/3.15.2.1-auth-code-19"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			c := b.Authenticate("client", m)
			x := m.Exchange()
			c.Send(wire.Auth{Code: 0x19, Properties: x.Begin()})
			a := c.Concluded(x)
			if a.Closed || a.Came && a.Type == wire.DISCONNECT {
				probe.Unsupported("the broker turns a re-authentication under %s down: %s", m.Name, a.GomegaString())
			}
			Expect(a).To(And(probe.BeA(wire.AUTH), probe.BePacket(HaveField("Code", byte(0)))), m.Name+": AUTH 0x00 says that it is complete")
			Expect(c).To(probe.BeAlive(), m.Name+": the connection goes on")
		})
	})

	It("lets other packets flow meanwhile", v.Statement("v5/4.12.1-traffic-goes-on"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			topic := b.Topic()
			c := b.Authenticate("client", m).Subscribe(topic, 0)
			x := c.Reauthenticating(m)
			c.Send(wire.Publish{Topic: topic, QoS: 1, ID: 99, Payload: "meanwhile"}, wire.Pingreq{})
			Expect(c.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("ID", uint16(99))), m.Name+": PUBLISH is acknowledged")
			Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "meanwhile")), m.Name+": it is delivered")
			Expect(c.Answer(wire.PINGRESP)).To(probe.BeA(wire.PINGRESP), m.Name+": PINGREQ is answered")
			c.Send(x.Answer())
			Expect(c.Concluded(x)).To(probe.BePacket(HaveField("Code", byte(0))), m.Name+": the re-authentication ends well")
		})
	})

	It("that fails closes the connection", v.Statement("v5/MQTT-4.12.1-2"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			c := b.Authenticate("client", m)
			reauthenticated(c, m)
			x := m.Impostor().Exchange()
			c.Send(wire.Auth{Code: 0x19, Properties: x.Begin()})
			a := c.Concluded(x)
			Expect(c).To(probe.BeClosed(), m.Name+": wrong data close the connection")
			probe.Advice("v5/MQTT-4.12.1-2").Expect(a).To(And(probe.BeA(wire.DISCONNECT), probe.BePacket(HaveField("Code", BeNumerically(">=", 0x80)))),
				m.Name+": DISCONNECT says why")
		})
	})

	It("under another method closes the connection", v.Statement("v5/MQTT-4.12.1-1"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			c := b.Authenticate("client", m)
			reauthenticated(c, m)
			ps := m.Exchange().Begin()
			ps[0].Str += "-other"
			c.Send(wire.Auth{Code: 0x19, Properties: ps})
			probe.Reaction("v5/MQTT-4.12.1-1").Expect(c).To(probe.BeClosed(), m.Name+": another method closes the connection")
		})
	})

	It("waits for CONNACK", v.Statement("v5/4.12.1-reauthentication-before-connack"), func() {
		refusedAuth(b, "v5/4.12.1-reauthentication-before-connack", "AUTH 0x19 before CONNACK", func(x *probe.Exchange) wire.Auth {
			p := x.Answer()
			p.Code = 0x19
			return p
		})
	})
}

// reauthenticated makes the valid twin of a re-authentication that has to fail.
func reauthenticated(c *probe.Client, m probe.AuthMethod) {
	GinkgoHelper()
	x := c.Reauthenticating(m)
	c.Send(x.Answer())
	if a := c.Concluded(x); !a.Came || a.Type != wire.AUTH {
		probe.Unsupported("the broker turns a re-authentication under %s down: %s", m.Name, a.GomegaString())
	}
}

// refusedAuth sends a broken answer in the middle of an exchange that ends
// well with a valid one, and asserts that it does not lead to a success
// CONNACK but to the close.
func refusedAuth(b *probe.Broker, key, why string, broken func(x *probe.Exchange) wire.Auth) {
	GinkgoHelper()
	refusedAuthBytes(b, key, why, func(x *probe.Exchange) []byte { return wire.Bytes(wire.V5, broken(x)) })
}

func refusedAuthBytes(b *probe.Broker, key, why string, broken func(x *probe.Exchange) []byte) {
	GinkgoHelper()
	b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
		GinkgoHelper()
		b.Authenticate("twin", m).Disconnect()
		c, x := b.Authenticating("client", m)

		c.SendBytes(broken(x))

		probe.Reaction(key).Expect(granted(c.Answer(wire.CONNACK))).To(BeFalse(), m.Name+": no success CONNACK for "+why)
		probe.Reaction(key).Expect(c).To(probe.BeClosed(), m.Name+": "+why+" closes the connection")
	})
}
