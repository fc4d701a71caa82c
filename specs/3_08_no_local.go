package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// deaf returns a SUBSCRIBE for one filter at QoS 1 with No Local.
func deaf(filter string) wire.Subscribe {
	return wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: filter, QoS: 1, NoLocal: true}}}
}

func noLocal(b *probe.Broker, v version) {
	for _, qos := range []byte{0, 1, 2} {
		It("1 keeps the client's own messages away at QoS "+digit(qos), v.Statement("v5/MQTT-3.8.3-3"), func() {
			b.Lacking("qos" + digit(qos))
			topic := b.Topic()
			c, other := b.Connect("client").Subscribe(topic+"/plain", 1), b.Connect("other")
			c.SubscribeWith(deaf(topic + "/deaf"))
			c.Publish(wire.Publish{Topic: topic + "/plain", QoS: 1, Payload: "own, without No Local"})
			takes(c, "own, without No Local")

			c.Publish(wire.Publish{Topic: topic + "/deaf", QoS: qos, Payload: "own"})
			c.Ping()

			Expect(c.DeliveredBefore(other.Sentinel(topic+"/deaf", qos))).To(BeEmpty(), "only what others publish comes")
		})
	}

	It("1 comes when the subscription is replaced by one with it", v.Statement("v5/MQTT-3.8.4-3"), func() {
		topic := b.Topic()
		c, other := b.Connect("client").Subscribe(topic, 1), b.Connect("other")
		c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "own, without No Local"})
		takes(c, "own, without No Local")
		c.SubscribeWith(deaf(topic))
		c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "own"})
		Expect(c.DeliveredBefore(other.Sentinel(topic, 1))).To(BeEmpty(), "the new options hold")
	})

	It("1 goes when the subscription is replaced by one without it", v.Statement("v5/MQTT-3.8.4-3"), func() {
		topic := b.Topic()
		c := b.Connect("client")
		c.SubscribeWith(deaf(topic))
		c.Subscribe(topic, 1)
		c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "own"})
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "own")), "the new options hold")
	})

	It("1 leaves the other subscribers alone", v.Statement("v5/MQTT-4.5.0-1"), func() {
		topic := b.Topic()
		c, other := b.Connect("client"), b.Connect("other").Subscribe(topic, 1)
		c.SubscribeWith(deaf(topic))
		c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "for others"})
		Expect(other.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "for others")), "another client gets the message")
	})

	It("1 holds for the Client Identifier, not for the connection", v.Statement("v5/3.8.3.1-no-local-client-id-not-connection"), func() {
		id, topic := b.ClientID(), b.Topic()
		one := probe.Properties(wire.Property{ID: wire.ReceiveMaximum, Int: 1})
		c, other := b.Connect("client", probe.ID(id), probe.Persistent, one), b.Connect("other")
		c.SubscribeWith(deaf(topic))
		other.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
		open := c.Unacknowledged()
		for i := range 3 {
			c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: fmt.Sprint("own ", i)})
			other.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: fmt.Sprint("of others ", i)})
		}
		c.Drop()

		again := resumed(b, "again", id)
		got := again.DeliveredBefore(other.Sentinel(topic, 1))
		Expect(got).NotTo(ContainElement(HaveField("Payload", HavePrefix("own "))), "what the same client published on an earlier connection does not come (%s was open)", open.Payload)
	})
}

// noLocalFreedoms observes what the text leaves open of No Local.
func noLocalFreedoms(b *probe.Broker, v version) {
	It("1 may keep the client's own retained messages away", v.Observation("v5/MQTT-3.8.3-3"), func() {
		b.Lacking("retain")
		topic := b.Topic()
		c, other := b.Connect("client"), b.Connect("other")
		keeps(b, c, toKeep(topic, 1, "own"))
		c.SubscribeWith(deaf(topic))
		came := len(c.DeliveredBefore(other.Sentinel(topic, 1))) > 0
		probe.Observe("v5/3.8.3.1-no-local-retained", "the client's own retained message %s by a SUBSCRIBE with No Local", map[bool]string{true: "is sent", false: "is not sent"}[came])
	})

	It("1 may hold for overlapping subscriptions too", v.Observation("v5/MQTT-3.8.3-3"), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic+"/#", 1)
		c.SubscribeWith(deaf(topic + "/a"))
		c.Publish(wire.Publish{Topic: topic + "/a", QoS: 1, Payload: "own"})
		came := len(c.DeliveredBefore(b.Connect("other").Sentinel(topic+"/a", 1)))
		probe.Observe("v5/3.8.3.1-no-local-overlap", "the client's own message comes %s where one of two matching subscriptions has No Local", times(came))
	})
}

// keptOptions judges what of the options outlives the connection.
func keptOptions(b *probe.Broker, v version) {
	It("are kept when the Session is resumed: No Local", v.Statement("v5/MQTT-3.8.3-3"), func() {
		topic := b.Topic()
		resume := withOptions(b, wire.Subscription{Filter: topic, QoS: 1, NoLocal: true})
		for _, name := range []string{"second", "third"} {
			c, pub := resume(name), b.Connect("pub")
			c.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "own"})
			Expect(c.DeliveredBefore(pub.Sentinel(topic, 1))).To(BeEmpty(), "the own message does not come on the %s connection", name)
			c.Drop()
		}
	})

	It("are kept when the Session is resumed: Retain As Published", v.Statement("v5/MQTT-3.3.1-13"), func() {
		b.Lacking("retain")
		topic := b.Topic()
		resume := withOptions(b, wire.Subscription{Filter: topic, QoS: 1, RetainAsPublished: true})
		for _, name := range []string{"second", "third"} {
			c := resume(name)
			retained(b.Connect("pub"), topic, 1, name)
			Expect(found(c, name)).To(HaveField("Retain", true), "RETAIN is kept on the %s connection", name)
			c.Drop()
		}
	})
}

func keptQoS(b *probe.Broker, v version) {
	It("are kept when the Session is resumed: the QoS", v.Statement("v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"), func() {
		topic := b.Topic()
		resume := withOptions(b, wire.Subscription{Filter: topic, QoS: 1})
		for _, name := range []string{"second", "third"} {
			c := resume(name)
			b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: name})
			Expect(found(c, name)).To(HaveField("QoS", byte(1)), "the QoS is the granted one on the %s connection", name)
			c.Drop()
		}
	})
}

// withOptions makes a stored Session with one subscription and returns how to
// resume it.
func withOptions(b *probe.Broker, s wire.Subscription) (resume func(name string) *probe.Client) {
	GinkgoHelper()
	id := b.ClientID()
	c := b.Connect("first", probe.ID(id), probe.Persistent)
	c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{s}})
	c.Drop()
	return func(name string) *probe.Client {
		GinkgoHelper()
		return resumed(b, name, id)
	}
}

func brokenOptions(b *probe.Broker, v version) {
	for _, bits := range []byte{0x40, 0x80, 0xc0} {
		It(fmt.Sprintf("with the reserved bits %02x close the connection", bits), v.Statement("v5/MQTT-3.8.3-5"), func() {
			refusedSubscribe(b, "v5/MQTT-3.8.3-5", "a reserved bit makes SUBSCRIBE malformed", subscription(b, b.Topic(), bits|1))
		})
		It(fmt.Sprintf("with the reserved bits %02x in the second entry close the connection", bits), v.Statement("v5/MQTT-3.8.3-5"), func() {
			raw := wire.Extend(subscription(b, b.Topic(), 1), join(str(b.Topic()), []byte{bits})...)
			refusedSubscribe(b, "v5/MQTT-3.8.3-5", "a reserved bit makes SUBSCRIBE malformed", raw)
		})
	}
	It("with Retain Handling 3 close the connection", v.Statement("v5/3.8.3.1-retain-handling-3"), func() {
		refusedSubscribe(b, "v5/3.8.3.1-retain-handling-3", "Retain Handling 3 is a Protocol Error", subscription(b, b.Topic(), 0x31))
	})
	It("with QoS 3 close the connection", v.Statement("v5/3.8.3.1-maximum-qos-3"), func() {
		refusedSubscribe(b, "v5/3.8.3.1-maximum-qos-3", "QoS 3 is a Protocol Error", subscription(b, b.Topic(), 3))
	})
	It("with No Local on a shared subscription close the connection", v.Statement("v5/MQTT-3.8.3-4", "v5/3.8.3.1-no-local-shared"), func() {
		b.Lacking("shared")
		topic := b.Topic()
		b.Connect("twin").Subscribe("$share/g/"+topic, 1)
		refusedSubscribe(b, "v5/MQTT-3.8.3-4", "No Local on a shared subscription is a Protocol Error", subscription(b, "$share/g/"+topic, 0x05))
	})
	It("with User Properties that repeat are taken", v.Statement("v5/3.8.2.1.3-user-property-repeats"), func() {
		c := b.Connect("client")
		twin, p := asking(b.Topic(), 0), asking(b.Topic(), 0)
		twin.Properties = wire.Properties{{ID: wire.UserProperty, Pair: [2]string{"a", "1"}}}
		c.SubscribeWith(twin)
		p.ID = c.NextID()
		for _, pair := range [][2]string{{"a", "1"}, {"a", "1"}, {"b", "2"}} {
			p.Properties = append(p.Properties, wire.Property{ID: wire.UserProperty, Pair: pair})
		}
		c.Send(p)
		Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("Codes", HaveExactElements(BeNumerically("<", 0x80)))), "the filter is granted")
	})
}
