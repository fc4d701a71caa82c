package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// webSocket holds the specs of chapter 6. That the frames of the server are
// binary is also judged by a standing check.
func webSocket(b *probe.Broker, v version) {
	Describe("6 WebSocket", func() {
		textFrames(b, v)
		frameBorders(b, v)
		subprotocols(b, v)

		uri := []string{"v311/6-uri-no-impact", "v5/6-uri-no-impact"}
		It("serves a client whose URI has a query like any other", v.Statement(uri...), func() {
			ws := b.OverWebSocket()
			topic := b.Topic()
			ws.Connect("twin").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "without"})
			c, refused := ws.WithQuery("mqttcheck=1").OpenOrRefused("client")
			if c == nil {
				probe.Unsupported("the broker offers no WebSocket at a URI with a query: %s", refused)
			}

			c.Send(ws.ConnectPacket())

			probe.Warns(v.key(uri...)).Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "the query of the URI means nothing to MQTT")
		})
	})
}

// textFrames are about what travels in text frames: packets whose bytes are all
// ASCII, so that nothing else is wrong with the frame.
func textFrames(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-6.0.0-1", "v5/MQTT-6.0.0-1"}
	It("closes the connection on CONNECT in a text frame", v.Statement(keys...), func() {
		ws := b.OverWebSocket()
		ws.Connect("twin")
		packet := ws.ConnectPacket()
		packet.Username, packet.Password = nil, nil
		c := ws.Open("client")

		c.SendFrames(wire.WSFrame{Op: wire.OpText, Payload: wire.Bytes(v.Version, packet)})

		judge := probe.Reaction(v.key(keys...))
		judge.Expect(c.Answer(wire.CONNACK)).NotTo(probe.BePacket(HaveField("Code", byte(0))), "it is not read as MQTT")
		judge.Expect(c).To(probe.BeClosed(), "a text frame closes the connection")
	})

	It("closes the connection on a later text frame", v.Statement(keys...), func() {
		ws := b.OverWebSocket()
		topic := b.Topic()
		sub := ws.Connect("sub").Subscribe(topic, 0)
		c := ws.Connect("client")
		c.Publish(wire.Publish{Topic: topic, Payload: "binary"})
		Expect(sub.Delivery()).To(HaveField("Payload", "binary"))

		c.SendFrames(wire.WSFrame{Op: wire.OpText, Payload: wire.Bytes(v.Version, wire.Publish{Topic: topic, Payload: "text"})})

		probe.Reaction(v.key(keys...)).Expect(c).To(probe.BeClosed(), "a text frame closes the connection")
		Expect(sub.DeliveredBefore(ws.Connect("later").Sentinel(topic, 0))).To(BeEmpty(), "it is not read as MQTT")
	})
}

// frameBorders are about packets that do not end where frames do.
func frameBorders(b *probe.Broker, v version) {
	keys := v.Statement("v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2")
	It("takes packets in frames of one byte each", keys, func() {
		ws := b.OverWebSocket()
		topic := b.Topic()
		c := ws.Connect("client")

		c.SendSplit(subscription(b, topic, 1), 1)
		Expect(c.Answer(wire.SUBACK)).To(probe.BeA(wire.SUBACK), "SUBSCRIBE is taken")
		c.SendSplit(wire.Bytes(v.Version, wire.Publish{Topic: topic, QoS: 1, ID: 2, Payload: "in pieces"}), 1)
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "in pieces")), "PUBLISH is taken")
	})

	It("takes several packets in one frame", keys, func() {
		ws := b.OverWebSocket()
		topic := b.Topic()
		c := ws.Connect("client")

		c.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}},
			wire.Publish{Topic: topic, QoS: 1, ID: 2, Payload: "second"}, wire.Pingreq{})

		Expect(c.Answer(wire.SUBACK)).To(probe.BeA(wire.SUBACK), "the first packet of the frame is taken")
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "second")), "the second is taken")
		Expect(c.Answer(wire.PINGRESP)).To(probe.BeA(wire.PINGRESP), "the third is taken")
	})

	It("takes the end of a packet and the beginning of the next in one frame", keys, func() {
		c, topic, packets := threeMessages(b)
		third := len(packets) / 3

		c.SendFrames(binary(packets[:third-2]), binary(packets[third-2:2*third+2]), binary(packets[2*third+2:]))

		arriveInOrder(c, topic)
	})

	It("takes a packet from a message of several frames", keys, func() {
		c, topic, packets := threeMessages(b)

		c.SendFrames(fragments(packets, 5)...)

		arriveInOrder(c, topic)
	})

	It("takes a packet with control frames between its parts", keys, func() {
		ping, pong := wire.WSFrame{Op: wire.OpPing, Payload: []byte("p")}, wire.WSFrame{Op: wire.OpPong}
		c, topic, packets := threeMessages(b)
		c.SendFrames(ping, pong)
		c.Ping() // control frames between packets are borne
		third := len(packets) / 3
		parts := fragments(packets[third:], 5)

		c.SendFrames(binary(packets[:4]), ping, pong, binary(packets[4:third]), parts[0], ping, parts[1], pong)
		c.SendFrames(parts[2:]...)

		arriveInOrder(c, topic)
	})
}

// threeMessages returns a client over WebSocket that is subscribed to a topic,
// and the bytes of three packets that publish to it, of equal size.
func threeMessages(b *probe.Broker) (c *probe.Client, topic string, packets []byte) {
	GinkgoHelper()
	topic = b.Topic()
	c = b.OverWebSocket().Connect("client").Subscribe(topic, 0)
	for _, payload := range []string{"one..", "two..", "three"} {
		packets = append(packets, wire.Bytes(b.Version, wire.Publish{Topic: topic, Payload: payload})...)
	}
	return c, topic, packets
}

// arriveInOrder asserts that the client gets its three messages back.
func arriveInOrder(c *probe.Client, topic string) {
	GinkgoHelper()
	for _, payload := range []string{"one..", "two..", "three"} {
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(And(HaveField("Topic", topic), HaveField("Payload", payload))), "each packet is taken")
	}
}

func binary(b []byte) wire.WSFrame { return wire.WSFrame{Op: wire.OpBinary, Payload: b} }

// fragments returns one message of n frames.
func fragments(b []byte, n int) []wire.WSFrame {
	frames := make([]wire.WSFrame, n)
	for i := range frames {
		from, to := i*len(b)/n, (i+1)*len(b)/n
		frames[i] = wire.WSFrame{Op: wire.OpContinuation, More: i < n-1, Payload: b[from:to]}
	}
	frames[0].Op = wire.OpBinary
	return frames
}

// subprotocols are about the handshake.
func subprotocols(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-6.0.0-4", "v5/MQTT-6.0.0-4"}
	for _, c := range []struct {
		what    string
		offered []string
	}{
		{"mqtt", []string{"mqtt"}},
		{"mqtt behind another name", []string{"x-other", "mqtt"}},
		{"mqtt before another name", []string{"mqtt", "x-other"}},
	} {
		It("answers a client that offers "+c.what+" with the subprotocol mqtt", v.Statement(keys...), func() {
			ws := b.OverWebSocket()
			client, refused := ws.Offering(c.offered...).OpenOrRefused("client")
			Expect(refused).To(BeEmpty(), "the handshake succeeds")
			Expect(client.Subprotocol()).To(Equal("mqtt"), "the subprotocol is mqtt")

			client.Send(ws.ConnectPacket())

			Expect(client.Answer(wire.CONNACK)).To(probe.BeA(wire.CONNACK), "MQTT is spoken")
		})
	}

	It("picks no name that is not mqtt", v.Statement(keys...), func() {
		ws := b.OverWebSocket()
		ws.Connect("twin")
		client, refused := ws.Offering("x-other").OpenOrRefused("client")
		if refused == "" {
			Expect(client.Subprotocol()).To(BeElementOf("", "mqtt"), "no other subprotocol is picked")
		}
	})

	It("does as it likes with a client that offers no subprotocol", v.Observation(keys...), func() {
		ws := b.OverWebSocket()
		client, refused := ws.Offering().OpenOrRefused("client")
		if refused != "" {
			probe.Observe(v.key(keys...), "a WebSocket without the subprotocol mqtt is refused")
			return
		}
		client.Send(ws.ConnectPacket())
		if client.Within(b.Timeout, wire.CONNACK).Came {
			probe.Observe(v.key(keys...), "a WebSocket without the subprotocol mqtt is served")
		} else {
			probe.Observe(v.key(keys...), "a WebSocket without the subprotocol mqtt is opened and not served")
		}
	})
}
