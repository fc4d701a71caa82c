package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// quotaLeftover holds specs of section 4.9 on what else takes from the send
// quota, and gives back.
func quotaLeftover(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("4.9 Flow control", func() {
		acks := "v5/4.9-quota-puback-error"
		It("gets quota back for a message that has expired meanwhile", Timing, v.Statement(acks), func() {
			sub := takesAtOnce(b, 1)
			sub.pub.Publish(wire.Publish{Topic: sub.topic, QoS: 1, Payload: "soon over", Properties: wire.Properties{lifetime(1)}})
			open := sub.Unacknowledged()
			pass(b, 2)
			sub.publish(1)
			sub.Send(wire.Ack{Type: wire.PUBACK, ID: open.ID})
			sub.follows(acks, "PUBACK lets the next one come")
		})

		It("keeps to the Receive Maximum with retained messages as well", v.Statement("v5/MQTT-3.3.4-9"), func() {
			b.Lacking("retain")
			const n, most = 12, 3
			topic, pub := b.Topic(), b.Connect("pub")
			var messages []wire.Publish
			for i := range n {
				messages = append(messages, toKeep(fmt.Sprintf("%s/%d", topic, i), 1, fmt.Sprint(i)))
			}
			settled(b, pub, messages...)
			c := b.Connect("later", receiveMaximum(most)).Subscribe(topic+"/+", 1)
			open := append([]wire.Publish{c.Unacknowledged()}, afterPing(c)...)
			for range n {
				Expect(len(open)).To(BeNumerically("<=", most), "the Receive Maximum is %d", most)
				if len(open) == 0 {
					open = append(open, c.Unacknowledged())
				}
				c.Acknowledge(open[0])
				open = append(open[1:], afterPing(c)...)
			}
		})
	})
}
