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

		length := []string{"v311/3.12-pingreq-length", "v5/3.12.1-pingreq-with-body"}
		It("with a body closes the connection, and is not answered", v.Statement(length...), func() {
			c, watch := b.Connect("client"), b.Bystander()
			c.Ping()

			c.SendBytes([]byte{0xc0, 1, 0})

			a := c.Answer(wire.PINGRESP)
			probe.Reaction(v.key(length...)).Expect(a).NotTo(probe.BeA(wire.PINGRESP), "a PINGREQ of Remaining Length 1 is malformed")
			probe.Reaction(v.key(length...)).Expect(c).To(probe.BeClosed(), "a malformed packet closes the connection")
			watch.Unharmed()
		})
	})
}
