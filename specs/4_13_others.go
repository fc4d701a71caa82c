package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// unharmed holds that the error of one client is nothing to another, which has
// a stored Session and deliveries on the way.
func unharmed(b *probe.Broker, v version) {
	keys := []string{"v311/4.8-transient-error-others", "v5/4.13.1-other-sessions-unharmed"}
	for _, breach := range plainBreaches {
		It("4.13 leaves other clients alone when one commits "+breach.what, v.Statement(keys...), func() {
			topic := b.Topic()
			other := b.Connect("other", probe.Persistent).Subscribe(topic, 1)
			pub := b.Connect("pub")
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "before"})
			open := other.Unacknowledged()

			breach.commit(b, b.Connect("culprit"))
			other.Acknowledge(open)
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "after"})

			judge := advised(v, keys)
			judge.Expect(other.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "after")), "it gets its messages")
			judge.Expect(other).To(probe.BeAlive(), "it stays connected")
		})
	}
}

// advised returns assertions for what MQTT 3.1.1 advises and MQTT 5.0 states.
func advised(v version, keys []string) Gomega {
	if v.is5() {
		return probe.For(v.key(keys...))
	}
	return probe.Warns(v.key(keys...))
}
