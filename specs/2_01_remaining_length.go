package specs

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// remainingLength holds the specs of section 2.1.4 of MQTT 5.0, 2.2.3 of MQTT
// 3.1.1: lengths of every size, those that are none, and packets that end
// before their fields do.
func remainingLength(b *probe.Broker, v version) {
	if !v.is5() {
		for _, n := range []int{100, 200, 20_000, 3_000_000} {
			It(fmt.Sprintf("takes and delivers a payload of %d bytes", n), v.Statement("v311/2.2.3-remaining-length-large"), func() {
				takesPayload(b, n)
			})
		}
	}

	most := []string{"v311/2.2.3-remaining-length-max", "v5/1.5.5-vbi-max-four-bytes"}
	for _, raw := range [][]byte{{0x30, 0xff, 0xff, 0xff, 0xff, 0x01}, {0x30, 0x80, 0x80, 0x80, 0x80, 0x01}} {
		It(fmt.Sprintf("closes the connection on a PUBLISH whose Remaining Length is % x", raw[1:]), v.Statement(most...), func() {
			refusedPacket(b, v.key(most...), "a Remaining Length has at most four bytes", raw)
		})
	}

	if v.is5() {
		It("closes the connection on a PUBLISH whose Property Length has five bytes", v.Statement(most...), func() {
			refusedPublish(b, v.key(most...), "a Variable Byte Integer has at most four bytes", func(topic string) []byte {
				return wire.Bytes(b.Version, wire.Frame{Type: wire.PUBLISH, Body: join(str(topic+"/long"), []byte{0x80, 0x80, 0x80, 0x80, 0x00, 'x'})})
			})
		})
		// Without a Maximum Packet Size the limit is that of the protocol.
		It("takes a packet whose Remaining Length has four bytes", v.Statement("v5/3.2.2.3.6-packet-too-large", "v5/MQTT-4.5.0-1"), func() {
			takesLongPacket(b)
		})
	}

	short := []string{"v311/2.2.3-short-packet", "v5/2.1.4-packet-shorter-than-fields"}
	for _, c := range []struct {
		what   string
		packet func(topic string) wire.Packet
		left   int
	}{
		{"a PUBLISH that ends in its Topic Name", func(t string) wire.Packet { return wire.Publish{Topic: t} }, 5},
		{"a SUBSCRIBE that ends in its Topic Filter", func(t string) wire.Packet {
			return wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: t, QoS: 1}}}
		}, 8},
		{"an UNSUBSCRIBE that ends in its Topic Filter", func(t string) wire.Packet { return wire.Unsubscribe{ID: 1, Filters: []string{t}} }, 8},
		{"a PUBACK that ends in its Packet Identifier", func(string) wire.Packet { return wire.Ack{Type: wire.PUBACK, ID: 1} }, 1},
	} {
		It("closes the connection on "+c.what, v.Statement(short...), func() {
			refusedPacket(b, v.key(short...), c.what+" closes the connection", wire.Shorten(wire.Bytes(b.Version, c.packet(b.Topic())), c.left))
		})
	}
}

// takesPayload asserts that a message arrives whole, unless its size is beyond
// what the broker takes: a limit of its own. A large one takes its time.
func takesPayload(b *probe.Broker, n int) {
	GinkgoHelper()
	topic, text := b.Topic(), longText(n)
	sub, pub := b.Connect("sub").Subscribe(topic, 1), b.Connect("pub")
	pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 1, Payload: text})
	wait := b.Timeout + time.Duration(n)*3*time.Microsecond
	a := pub.Within(wait, wire.PUBACK)
	if !a.Came && n > 10_000 {
		probe.Unsupported("the broker takes no payload of %d bytes: %s", n, a.GomegaString())
	}
	Expect(a).To(probe.BeA(wire.PUBACK), "it is acknowledged")

	a = sub.Within(wait, wire.PUBLISH)

	notYet(sub, a, n, wait)
	Expect(a).To(probe.BeA(wire.PUBLISH), "it is delivered")
	got := a.Packet.(wire.Publish).Payload
	Expect(len(got)).To(Equal(n), "as many bytes as were sent")
	Expect(got == text).To(BeTrue(), "the bytes that were sent")
}

// notYet ends the spec where part of a message has come. Some brokers write a few
// kilobytes at a time: that is slow, not wrong.
func notYet(sub *probe.Client, a probe.Answer, n int, wait time.Duration) {
	GinkgoHelper()
	if come := sub.Partial(); !a.Came && !a.Closed && come > 0 {
		probe.Unsupported("of a payload of %d bytes the broker sent no more than %d within %s", n, come, wait)
	}
}

// takesLongPacket asserts that a packet of more than 2 MiB arrives, unless the
// server has announced that it takes none.
func takesLongPacket(b *probe.Broker) {
	GinkgoHelper()
	const n = 2_100_000
	topic, text := b.Topic(), longText(n)
	sub, pub := b.Connect("sub").Subscribe(topic, 1), b.Connect("pub")
	if most := pub.Limit(wire.MaximumPacketSize, 1<<28); most < n+100 {
		probe.Unsupported("CONNACK says Maximum Packet Size = %d", most)
	}
	pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 1, Payload: text})
	wait := b.Timeout + n*3*time.Microsecond
	a := pub.Within(wait, wire.PUBACK)
	probe.Warns("v5/3.2.2.3.6-packet-too-large").Expect(a).To(probe.BePacket(HaveField("Code", BeNumerically("<", 0x80))), "CONNACK allows packets of this size")

	a = sub.Within(wait, wire.PUBLISH)

	notYet(sub, a, n, wait)
	delivered := probe.For("v5/MQTT-4.5.0-1")
	delivered.Expect(a).To(probe.BeA(wire.PUBLISH), "it is delivered")
	delivered.Expect(a.Packet.(wire.Publish).Payload == text).To(BeTrue(), "the bytes that were sent")
}
