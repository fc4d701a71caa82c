package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// ping holds the specs of sections 3.12 and 3.13.
func ping(b *probe.Broker, v version) {
	Describe("3.12 PINGREQ", func() {
		It("is answered with PINGRESP",
			v.Statement("v311/MQTT-3.12.4-1", "v5/MQTT-3.12.4-1"), func() {
				c := b.Connect("client")

				c.Send(wire.Pingreq{})

				Expect(c.Answer(wire.PINGRESP)).To(probe.BeA(wire.PINGRESP))
			})

		It("gets one PINGRESP each when several come in one write",
			v.Statement("v311/MQTT-3.12.4-1", "v5/MQTT-3.12.4-1"), func() {
				c := b.Connect("client")

				c.Send(wire.Pingreq{}, wire.Pingreq{}, wire.Pingreq{})

				for range 3 {
					Expect(c.Answer(wire.PINGRESP)).To(probe.BeA(wire.PINGRESP))
				}
			})
	})
}
