package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// resendsWithQuota ends the spec where nothing is sent again either to a client
// with quota in plenty.
func resendsWithQuota(b *probe.Broker) {
	GinkgoHelper()
	twin := takesAtOnce(b, 100)
	twin.publish(1)
	twin.Unacknowledged()
	twin.again(100)
	if !twin.Answer(wire.PUBLISH).Came {
		probe.Inconclusive("the broker sends nothing again, whatever the quota")
	}
}

// quotaReset is about the send quota of a Session that is resumed.
func quotaReset(b *probe.Broker, v version) {
	const most = "v5/MQTT-3.3.4-9"
	keys := []string{"v5/4.9-quota-reset", "v5/3.1.2.11.3-receive-maximum-per-connection", most}
	It("starts with a fresh quota on each connection, also for what is sent again", v.Statement(keys...), func() {
		sub := takesAtOnce(b, 2)
		sub.publish(1, 1, 1, 1, 1)
		n := uint32(len(sub.arrived()))
		sub.again(n)

		a := sub.Answer(wire.PUBLISH)
		if !a.Came {
			resendsWithQuota(b)
		}
		Expect(a).To(probe.BeA(wire.PUBLISH), "quota of the connection before is not missing")
		got := append([]wire.Publish{a.Packet.(wire.Publish)}, afterPing(sub.Client)...)
		probe.For(most).Expect(len(got)).To(BeNumerically("<=", n), "no more are open than the Receive Maximum of this connection")
		for i := 0; i < sub.messages; i++ {
			if i == len(got) {
				got = append(got, sub.Unacknowledged())
			}
			sub.Acknowledge(got[i])
		}
	})

	It("keeps to the Receive Maximum of the connection when it sends again", v.Statement(keys...), func() {
		sub := takesAtOnce(b, 10)
		sub.publish(mixed(6)...)
		if open := len(sub.arrived()); open < 2 {
			probe.Unsupported("the broker leaves only %d delivery open, with a Receive Maximum of 10", open)
		}
		sub.again(1)
		for range 3 {
			open := sub.Unacknowledged()
			probe.For(most).Expect(afterPing(sub.Client)).To(BeEmpty(), "one is open, and the Receive Maximum is 1 now")
			sub.Acknowledge(open)
		}
	})
}
