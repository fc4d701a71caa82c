package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// frameSizes holds the specs of chapter 6 on frames of every form of length.
func frameSizes(b *probe.Broker, v version) {
	Describe("6 WebSocket", func() {
		keys := []string{"v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2"}
		It("takes a packet in one frame, whatever its size", v.Statement(keys...), func() {
			ws := b.OverWebSocket()
			topic := b.Topic()
			sub, pub := ws.Connect("sub").Subscribe(topic, 0), ws.Connect("pub")
			most := int(pub.Limit(wire.MaximumPacketSize, 1<<20))
			for _, n := range []int{124, 125, 126, 127, 128, 1023, 1024, 4095, 4096, 4097, 10_240, 65_534, 65_535, 65_536, 65_537, 70_000} {
				if n > most {
					continue
				}
				pub.SendFrames(binary(sized(b, topic, n)))
				a := sub.Answer(wire.PUBLISH)
				Expect(a).To(probe.BeA(wire.PUBLISH), "a packet of %d bytes arrives", n)
				Expect(a.Packet.(wire.Publish).Payload).To(HaveSuffix("end"), "the packet of %d bytes arrives whole", n)
			}
		})
	})
}

// sized is a PUBLISH of n bytes, n being more than its topic takes.
func sized(b *probe.Broker, topic string, n int) []byte {
	for payload := n; ; payload-- {
		raw := wire.Bytes(b.Version, wire.Publish{Topic: topic, Payload: longText(payload-3) + "end"})
		if len(raw) <= n {
			return raw
		}
	}
}
