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

	It("4.2 offers a transport that carries an ordered stream of bytes", v.Statement("v311/MQTT-7.1.1-1", "v5/MQTT-4.2-1"), func() {
		c := b.Open("client")
		c.SendSplit(wire.Bytes(b.Version, b.ConnectPacket()), 1)
		Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "CONNECT is taken byte by byte")
	})

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

	if !v.is5() {
		socketStatements(v)
	}
}

// socketStatements need a transport that the suite does not speak yet.
func socketStatements(v version) {
	for key, what := range map[string]string{
		"v311/MQTT-6.0.0-1": "carries MQTT in binary frames",
		"v311/MQTT-6.0.0-2": "does not take the borders of frames for those of packets",
		"v311/MQTT-6.0.0-4": "agrees on the subprotocol mqtt",
	} {
		It("6 WebSocket "+what, v.Statement(key), func() {
			probe.SkipFor("needs a WebSocket listener, which this version of mqttcheck cannot speak to yet")
		})
	}
}
