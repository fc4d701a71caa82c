package specs

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// unasked observes whether a server of MQTT 3.1.1 repeats what is open before
// the client connects again: MQTT 5.0 forbids it [v5/MQTT-4.4.0-1].
func unasked(b *probe.Broker, v version) {
	if v.is5() {
		return
	}
	key := "v311/4.4-only-resend-on-reconnect"
	It("4.4 tells whether what is open is sent again on the same connection", Timing, v.Observation(key), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
		first := sub.Unacknowledged()
		a := sub.Within(b.Seconds(2.5), wire.PUBLISH)
		sub.Acknowledge(first)
		if a.Came {
			probe.Observe(key, "what is open is sent again on the same connection within 2.5 seconds")
			return
		}
		probe.Observe(key, "what is open is not sent again on the same connection within 2.5 seconds")
	})
}
