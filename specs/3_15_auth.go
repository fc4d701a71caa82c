package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// hex8 writes a byte as the specification does.
func hex8(b byte) string { return fmt.Sprintf("0x%02X", b) }

// authPackets holds the specs of section 3.15: what a server does with AUTH
// packets that break a rule, and how large its own are.
func authPackets(b *probe.Broker, v version) {
	for _, flags := range []byte{1, 8, 15} {
		It("with the flags "+hex8(flags)+" closes the connection", v.Statement("v5/MQTT-3.15.1-1"), func() {
			refusedAuthBytes(b, "v5/MQTT-3.15.1-1", "AUTH with flag bits", func(x *probe.Exchange) []byte {
				return wire.WithFlags(wire.Bytes(wire.V5, x.Answer()), flags)
			})
		})
	}

	It("with flag bits closes any connection", v.Statement("v5/MQTT-3.15.1-1"), func() {
		refusedPacket(b, "v5/MQTT-3.15.1-1", "AUTH with flag bits closes the connection",
			wire.WithFlags(wire.Bytes(wire.V5, wire.Auth{Code: 0x19, Properties: method("SCRAM-SHA-256")}), 1))
	})

	for _, code := range []byte{0x01, 0x1a, 0x87} {
		It("with the undefined code "+hex8(code)+" closes the connection", v.Statement("v5/MQTT-3.15.2-1"), func() {
			refusedAuth(b, "v5/MQTT-3.15.2-1", "AUTH with an undefined code", withCode(code))
		})
	}

	It("0x00 is for servers", v.Statement("v5/3.15.2.1-auth-success-from-client"), func() {
		refusedAuth(b, "v5/3.15.2.1-auth-success-from-client", "AUTH 0x00 from a client", withCode(0))
	})

	It("of Remaining Length 0 is AUTH 0x00 and has no method", v.Statement("v5/3.15.2.1-short-form"), func() {
		refusedAuthBytes(b, "v5/3.15.2.1-short-form", "AUTH of Remaining Length 0", func(*probe.Exchange) []byte { return []byte{0xf0, 0} })
	})

	It("without a method closes the connection", v.Statement("v5/3.15.2.2.2-auth-method-missing"), func() {
		refusedAuth(b, "v5/3.15.2.2.2-auth-method-missing", "AUTH without a method", func(x *probe.Exchange) wire.Auth {
			p := x.Answer()
			p.Properties = p.Properties[1:]
			return p
		})
	})

	for _, c := range []struct {
		key      string
		property wire.Property
	}{
		{"v5/3.15.2.2.2-auth-authentication-method-twice", wire.Property{ID: wire.AuthenticationMethod}},
		{"v5/3.15.2.2.3-auth-authentication-data-twice", wire.Property{ID: wire.AuthenticationData}},
		{"v5/3.15.2.2.4-auth-reason-string-twice", wire.Property{ID: wire.ReasonString, Str: "no reason"}},
	} {
		It("with "+c.property.ID.String()+" twice closes the connection", v.Statement(c.key), func() {
			refusedAuth(b, c.key, "AUTH with "+c.property.ID.String()+" twice", func(x *probe.Exchange) wire.Auth {
				p := x.Answer()
				p.Properties = doubled(p.Properties, c.property)
				return p
			})
		})
	}

	It("of a server is no larger than the client takes", v.Statement("v5/MQTT-3.15.2-2", "v5/MQTT-3.15.2-3"), func() {
		b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
			limit := leastSize(b.Authenticate("measured", m))
			c, x := b.Authenticating("limited", m, probe.Properties(wire.Property{ID: wire.MaximumPacketSize, Int: uint32(limit)}))
			c.Send(x.Answer())
			c.Concluded(x)
			for _, r := range c.History() {
				if p, ok := r.Packet.(wire.Auth); ok {
					judge := probe.For("v5/MQTT-3.15.2-2")
					if _, given := p.Properties.First(wire.ReasonString); !given {
						judge = probe.For("v5/MQTT-3.15.2-3")
					}
					judge.Expect(len(r.Raw)).To(BeNumerically("<=", limit), m.Name+": AUTH is within the Maximum Packet Size")
				}
			}
		})
	})
}

// withCode changes the code of a valid answer.
func withCode(code byte) func(*probe.Exchange) wire.Auth {
	return func(x *probe.Exchange) wire.Auth {
		p := x.Answer()
		p.Code = code
		return p
	}
}

// doubled returns the properties with one of them twice: as it stands there
// already, or else as given.
func doubled(ps wire.Properties, p wire.Property) wire.Properties {
	if old, ok := ps.First(p.ID); ok {
		return append(ps, old)
	}
	return append(ps, p, p)
}

// leastSize returns the size of the largest packet that a client got, counted
// without the properties that may be left out.
func leastSize(c *probe.Client) int {
	largest := 0
	for _, r := range c.History() {
		size := len(r.Raw)
		for _, p := range authProps(r.Packet) {
			if p.ID == wire.ReasonString || p.ID == wire.UserProperty {
				size -= len(wire.Bytes(wire.V5, wire.Auth{Code: 1, Properties: wire.Properties{p}})) - len(wire.Bytes(wire.V5, wire.Auth{Code: 1, Properties: wire.Properties{}}))
			}
		}
		largest = max(largest, size)
	}
	return largest
}

// authProperties are the properties of CONNECT that begin an exchange.
func authProperties(b *probe.Broker, v version) {
	for _, c := range []struct {
		key string
		id  wire.PropertyID
	}{
		{"v5/3.1.2.11.9-connect-authentication-method-twice", wire.AuthenticationMethod},
		{"v5/3.1.2.11.10-connect-authentication-data-twice", wire.AuthenticationData},
	} {
		It(c.id.String()+" twice is refused", v.Statement(c.key), func() {
			b.EachMethod(func(b *probe.Broker, m probe.AuthMethod) {
				b.Authenticate("twin", m).Disconnect()
				x := m.Exchange()
				client := b.Open("client")
				client.Send(b.ConnectPacket(probe.Properties(doubled(x.Begin(), wire.Property{ID: c.id})...)))
				probe.Reaction(c.key).Expect(granted(client.Concluded(x))).To(BeFalse(), m.Name+": no success CONNACK")
				probe.Reaction(c.key).Expect(client).To(probe.BeClosed(), m.Name+": the server closes")
			})
		})
	}

	It("Authentication Data without a method is refused", v.Statement("v5/3.1.2.11.10-data-without-method"), func() {
		b.Connect("twin").Disconnect()
		refusedConnect(b, "v5/3.1.2.11.10-data-without-method", "Authentication Data without Authentication Method",
			wire.Bytes(wire.V5, b.ConnectPacket(probe.Properties(authData("hello")))))
	})
}
