package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// handlingErrors holds the specs of section 4.13 of MQTT 5.0, 4.8 of MQTT
// 3.1.1, and of the transport of section 4.2.
func handlingErrors(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-4.8.0-1", "v5/MQTT-4.13.1-1"}
	for _, c := range []struct {
		what   string
		broken func(topic string) []byte
	}{
		{"a Remaining Length of five bytes", func(string) []byte { return []byte{0xc0, 0x80, 0x80, 0x80, 0x80, 0x00} }},
		{"a PUBLISH that is too short for its identifier", func(t string) []byte {
			return wire.Bytes(b.Version, wire.Frame{Type: wire.PUBLISH, Flags: 2, Body: join(str(t), []byte{1})})
		}},
		{"a SUBSCRIBE that ends in its filter", func(t string) []byte {
			whole := subscription(b, t, 1)
			return wire.Shorten(whole, len(wire.Body(whole))-4)
		}},
		{"a SUBSCRIBE that ends before its QoS", func(t string) []byte {
			whole := subscription(b, t, 1)
			return wire.Shorten(whole, len(wire.Body(whole))-1)
		}},
		{"a PUBREL that is too short for its identifier", func(string) []byte { return []byte{0x62, 1, 0} }},
	} {
		It("4.13 closes the connection on "+c.what, v.Statement(keys...), func() {
			watch := b.Bystander()
			client := b.Connect("client")
			client.Ping()

			client.SendBytes(c.broken(b.Topic()))

			Expect(client).To(probe.BeClosed(), "a malformed packet closes the connection")
			watch.Unharmed()
		})
	}

	for _, c := range []struct {
		where string
		at    func() *probe.Broker
	}{
		{"", func() *probe.Broker { return b }},
		{" over TLS", b.OverTLS},
	} {
		It("4.2 offers a transport that carries an ordered stream of bytes"+c.where, v.Statement("v311/MQTT-7.1.1-1", "v5/MQTT-4.2-1", "v5/2.1.4-split-and-joined-packets"), func() {
			at := c.at()
			client := at.Open("client")
			client.SendSplit(wire.Bytes(b.Version, at.ConnectPacket()), 1)
			Expect(client.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "CONNECT is taken byte by byte")
		})
	}

	It("3.1.4 takes packets that are sent behind CONNECT before CONNACK has come",
		v.Statement("v311/3.1.4-pipelining", "v5/3.1.4-pipelining"), func() {
			b.Lacking("qos1")
			topic := b.Topic()
			c := b.Open("client")
			c.Send(b.ConnectPacket(), wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}},
				wire.Publish{Topic: topic, QoS: 1, ID: 2, Payload: "pipelined"}, wire.Pingreq{})
			for _, kind := range []wire.Type{wire.CONNACK, wire.SUBACK, wire.PUBACK, wire.PUBLISH, wire.PINGRESP} {
				Expect(c.Answer(kind)).To(probe.BeA(kind), "each packet is answered")
			}
		})
}
