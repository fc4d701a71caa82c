package specs

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// will holds the specs of sections 3.1.2.5 to 3.1.2.7 and 3.1.2.10: when a
// will is published, how, and the Keep Alive that may bring it about.
func will(b *probe.Broker, v version) {
	Describe("3.1.2 Will", Patient, func() {
		willPublished(b, v)
		willDropped(b, v)
		willRetain(b, v)
		willCauses(b, v)
	})
	Describe("3.1.2.10 Keep Alive", func() { keepAlive(b, v) })
}

// ending is a way in which a connection ends.
type ending struct {
	what string
	end  func(c *probe.Client)
	keys []string // of the rule that it brings the will about
}

// endings are the ways in which a connection ends without a DISCONNECT.
var endings = []ending{
	{"the client closes without DISCONNECT", func(c *probe.Client) { c.Drop() }, networkDrop},
	{"the client resets the connection", func(c *probe.Client) { c.Reset() }, networkDrop},
	{"the client breaks the protocol", func(c *probe.Client) { c.SendBytes([]byte{0xf0 | 0x0f, 0}) },
		[]string{"v311/3.1.2.5-will-on-protocol-error", "v5/3.1.2.5-will-on-server-close"}},
}

var networkDrop = []string{"v311/3.1.2.5-will-on-network-drop", "v5/3.1.2.5-will-on-network-drop"}

func willPublished(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8"}
	for _, e := range endings {
		It("is published when "+e.what, v.Statement(append(keys, e.keys...)...), func() {
			topic := b.Topic("will")
			sub := b.Connect("sub").Subscribe(topic, 1)
			c := b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")}))

			e.end(c)
			if ended, _ := probe.BeClosed().Match(c); !ended {
				probe.Inconclusive("the connection has not ended")
			}

			Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(And(HaveField("Topic", topic), HaveField("Payload", "gone"))), "the will is published")
		})
	}

	It("is not published while the connection lasts", v.Statement(keys...), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")}))
		c.Ping()

		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the client is still there")
		c.Drop()
		Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(HaveField("Payload", "gone")), "the will is published at the end")
	})

	It("reaches a watcher with the whole payload, whatever its bytes", v.Statement("v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		payload := "\x00\xff\xfe binary \xc0\x80"
		b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte(payload)})).Drop()

		Expect(sub.Delivery()).To(HaveField("Payload", payload))
	})
}

func willDropped(b *probe.Broker, v version) {
	It("is thrown away on DISCONNECT", v.Statement("v311/MQTT-3.14.4-3", "v5/MQTT-3.14.4-3"), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("twin", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("twin")})).Drop()
		takes(sub, "twin")

		b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")})).Disconnect()

		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "no will after DISCONNECT")
	})

	It("is published once: the next connection of the client has none of it", v.Statement("v311/MQTT-3.1.2-10", "v5/MQTT-3.1.2-10"), func() {
		topic, id := b.Topic("will"), b.ClientID()
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("first", probe.ID(id), probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")})).Drop()
		takes(sub, "gone")

		b.Connect("second", probe.ID(id)).Drop()

		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "no second will")
	})

	It("of a connection that ended with DISCONNECT is not left for the next one", v.Statement("v311/MQTT-3.1.2-10", "v5/MQTT-3.1.2-10"), func() {
		topic, id := b.Topic("will"), b.ClientID()
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("first", probe.ID(id), probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")})).Disconnect()

		b.Connect("second", probe.ID(id)).Drop()

		Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))).To(BeEmpty(), "the will was thrown away")
	})

	if !v.is5() {
		It("is not published for a client that has none", v.Statement("v311/MQTT-3.1.2-12"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic+"/#", 1)
			b.Connect("twin", probe.WithWill(wire.Will{Topic: topic + "/will", QoS: 1, Payload: []byte("twin")})).Drop()
			takes(sub, "twin")
			c := b.Connect("client").Subscribe(topic+"/own", 1)
			c.Publish(wire.Publish{Topic: topic + "/own", QoS: 1, Payload: "own"})
			takes(sub, "own")

			c.Drop()

			Expect(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic+"/will", 1))).To(BeEmpty(), "nothing is published in its name")
		})
	}
}

func willRetain(b *probe.Broker, v version) {
	It("with Will Retain 0 is not retained, and leaves the retained message alone", v.Statement("v311/MQTT-3.1.2-16", "v5/MQTT-3.1.2-14"), func() {
		b.Lacking("retain")
		topic := b.Topic("will")
		settled(b, b.Connect("pub"), toKeep(topic, 1, "before"))
		sub := b.Connect("sub").Subscribe(topic, 1)
		takes(sub, "before")
		b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("gone")})).Drop()
		Expect(found(sub, "gone")).To(HaveField("Retain", false))

		Expect(welcomed(b, topic, topic, 1)).To(HaveExactElements(HaveField("Payload", "before")), "only what was retained before")
	})

	It("with Will Retain 1 is retained", v.Statement("v311/MQTT-3.1.2-17", "v5/MQTT-3.1.2-15"), func() {
		b.Lacking("retain")
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		b.Connect("client", probe.WithWill(wire.Will{Topic: topic, QoS: 1, Retain: true, Payload: []byte("gone")})).Drop()
		takes(sub, "gone")
		findable(b, topic, "gone")

		later := b.Connect("later").Subscribe(topic, 1)

		Expect(later.Answer(wire.PUBLISH)).To(probe.BePacket(And(HaveField("Payload", "gone"), HaveField("Retain", true))), "a later subscriber gets it with RETAIN 1")
	})
}

// silence is how long a check waits for the end of a connection whose Keep
// Alive is one second: one and a half times that, and a margin, since the text
// does not say how soon after it the server has to act. Brokers that look at
// their clients every five seconds are common.
func silence(b *probe.Broker) time.Duration { return b.Seconds(1.5+6) + b.Timeout }

func keepAlive(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22"}
	It("ends the connection of a client that is silent, and its will is published", Timing, v.Statement(append(keys, "v311/3.1.2.5-will-on-keep-alive", "v5/3.1.2.5-will-on-keep-alive-timeout")...), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := b.Connect("client", probe.KeepAlive(1), probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("silent")}))
		if b.ServerKeepAlive(c) {
			probe.Unsupported("the server replaces the Keep Alive in CONNACK")
		}

		Expect(c).To(probe.BeEnded(silence(b)), "the connection ends one and a half Keep Alive after the last packet")
		published := v.key("v311/3.1.2.5-will-on-keep-alive", "v5/3.1.2.5-will-on-keep-alive-timeout")
		probe.For(published).Expect(willArrives(b, v, sub, 0)).To(probe.BePacket(HaveField("Payload", "silent")), "as after a network failure the will is published")
	})

	It("counts what the client sends, not what it gets", Timing, v.Statement(keys...), func() {
		topic := b.Topic()
		c := b.Connect("client", probe.KeepAlive(1)).Subscribe(topic, 0)
		pub := b.Connect("pub")
		if b.ServerKeepAlive(c) {
			probe.Unsupported("the server replaces the Keep Alive in CONNACK")
		}
		start := time.Now()
		for time.Since(start) < silence(b) && !c.Gone() {
			pub.Send(wire.Publish{Topic: topic, Payload: "to the silent"})
			c.Within(b.Seconds(0.25), wire.DISCONNECT)
		}

		Expect(c).To(probe.BeEnded(0), "deliveries do not prolong the time")
	})

	It("leaves a client that pings connected", Timing, v.Statement(keys...), func() {
		last := time.Now()
		c := b.Connect("client", probe.KeepAlive(1))
		start := time.Now()
		heard := start // the last sign that the broker has read a packet
		for time.Since(start) < b.Seconds(2.5) {
			late := time.Since(last) > b.Seconds(1)
			last = time.Now()
			c.Send(wire.Pingreq{})
			a := c.Answer(wire.PINGRESP)
			if late && !a.Came {
				probe.Inconclusive("the tester was late with its PINGREQ: the machine is too busy")
			}
			if !a.Came && time.Since(heard) >= b.Seconds(1.5) {
				probe.Inconclusive("the broker may have read no packet for one and a half times the Keep Alive: the machine is too busy")
			}
			heard = time.Now()
			if !a.Came && !c.Gone() {
				probe.Inconclusive("no PINGRESP")
			}
			Expect(a).To(probe.BeA(wire.PINGRESP), "the client has kept its Keep Alive")
			c.Within(b.Seconds(0.7), wire.DISCONNECT)
		}
	})
}
