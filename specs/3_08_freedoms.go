package specs

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// subscribeFreedoms observes what sections 3.8.4 and 3.10.4 leave to a server.
func subscribeFreedoms(b *probe.Broker, v version) {
	lower := []string{"v311/3.8.4-lower-qos", "v5/3.8.4-lower-qos-granted"}
	It("tell which QoS is granted", v.Observation(lower...), func() {
		c := b.Connect("client")
		said := []string{}
		for _, qos := range []byte{0, 1, 2} {
			said = append(said, fmt.Sprintf("0x%02x", codeOf(c, b.Topic(), qos)))
		}
		probe.Observe(v.key(lower...), "for QoS 0, 1 and 2 SUBACK says %s", strings.Join(said, ", "))
	})

	early := []string{"v311/3.8.4-publish-before-suback", "v5/3.8.4-publish-before-suback"}
	It("tell whether retained messages come ahead of SUBACK", v.Observation(early...), func() {
		b.Lacking("retain")
		topic := b.Topic()
		keptRetained(b, topic)
		c := b.Connect("client").Subscribe(topic, 1)
		takes(c, topic)
		at := map[wire.Type]int{}
		for _, r := range c.History() {
			at[r.Type] = r.Seq
		}
		where := map[bool]string{true: "ahead of", false: "behind"}[at[wire.PUBLISH] < at[wire.SUBACK]]
		probe.Observe(v.key(early...), "retained messages come %s SUBACK", where)
	})

	twice := []string{"v311/3.8.4-duplicates-when-downgraded", "v5/3.8.4-duplicates-when-downgraded"}
	It("tell how often a message at QoS 1 comes to a subscription at QoS 0", v.Observation(twice...), func() {
		topic := b.Topic()
		c, pub := b.Connect("client").Subscribe(topic, 0), b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "downgraded"})
		probe.Observe(v.key(twice...), "a message at QoS 1 comes %s to a subscription at QoS 0", times(len(c.DeliveredBefore(pub.SentinelAside(c)))))
	})

	buffered := []string{"v311/3.10.4-buffered-messages", "v5/3.10.4-buffered-messages"}
	It("tell whether messages that waited still come after UNSUBSCRIBE", v.Observation(buffered...), func() {
		c, topic, waiting := backlogged(b)
		c.Unsubscribe(topic)
		begun := c.Pending()
		for _, p := range begun {
			c.Acknowledge(p)
		}
		came := len(c.DeliveredBefore(b.Connect("pub").SentinelAside(c)))
		switch {
		case len(begun) >= waiting:
			probe.Unsupported("the broker sends %d messages without an acknowledgement: none waits", waiting)
		case came == 0:
			probe.Observe(v.key(buffered...), "messages that waited are dropped by UNSUBSCRIBE")
		default:
			probe.Observe(v.key(buffered...), "messages that waited still come after UNSUBSCRIBE")
		}
	})
}

// backlogged subscribes a client that takes one message at a time, in MQTT 3.1.1
// as many as the broker likes, and publishes more than it takes.
func backlogged(b *probe.Broker) (c *probe.Client, topic string, published int) {
	GinkgoHelper()
	topic, published = b.Topic(), 200
	options := []probe.Option{}
	if b.V5() {
		published = 5
		options = append(options, probe.Properties(wire.Property{ID: wire.ReceiveMaximum, Int: 1}))
	}
	c = b.Connect("client", options...).Subscribe(topic, 1)
	pub := b.Connect("pub")
	for i := range published {
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: fmt.Sprint(i)})
	}
	c.Ping()
	return c, topic, published
}

// times is a number of times in words.
func times(n int) string {
	switch n {
	case 0:
		return "not at all"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return fmt.Sprintf("%d times", n)
}
