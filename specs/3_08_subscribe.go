package specs

import (
	"fmt"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// subscribe holds the specs of sections 3.8 and 3.9.
func subscribe(b *probe.Broker, v version) {
	Describe("3.8 SUBSCRIBE", func() {
		brokenSubscribe(b, v)
		suback(b, v)
		replacing(b, v)
		deliveredQoS(b, v)
	})
}

// subscription is a SUBSCRIBE for one filter as bytes.
func subscription(b *probe.Broker, filter string, options byte) []byte {
	body := []byte{0, 9}
	if b.V5() {
		body = append(body, 0)
	}
	return wire.Bytes(b.Version, wire.Frame{Type: wire.SUBSCRIBE, Flags: 2, Body: join(body, str(filter), []byte{options})})
}

func brokenSubscribe(b *probe.Broker, v version) {
	for _, flags := range []byte{0x0, 0x1, 0x3, 0xa, 0xf} {
		keys := []string{"v311/MQTT-3.8.1-1", "v5/MQTT-3.8.1-1"}
		It(fmt.Sprintf("with the flag bits %04b closes the connection", flags), v.Statement(keys...), func() {
			refusedSubscribe(b, v.key(keys...), "SUBSCRIBE has the flag bits 0010", wire.WithFlags(subscription(b, b.Topic(), 0), flags))
		})
	}

	keys := []string{"v311/MQTT-3.8.3-1", "v5/MQTT-3.8.3-1"}
	for _, bad := range illFormed {
		It("with "+bad.what+" in the filter closes the connection", v.Statement(keys...), func() {
			refusedSubscribe(b, v.key(keys...), "a Topic Filter that is no UTF-8 closes the connection", subscription(b, b.Topic(bad.bytes), 0))
		})
	}
	It("with an ill-formed filter behind a good one closes the connection", v.Statement(keys...), func() {
		raw := wire.Bytes(b.Version, wire.Subscribe{ID: 9, Subscriptions: []wire.Subscription{{Filter: b.Topic()}, {Filter: b.Topic("\xff")}}})
		refusedSubscribe(b, v.key(keys...), "a Topic Filter that is no UTF-8 closes the connection", raw)
	})

	none := []string{"v311/MQTT-3.8.3-3", "v5/MQTT-3.8.3-2", "v5/3.8.3-no-payload"}
	It("without a filter closes the connection", v.Statement(none...), func() {
		raw := wire.Bytes(b.Version, wire.Subscribe{ID: 9})
		refusedSubscribe(b, v.key(none...), "SUBSCRIBE without a Topic Filter closes the connection", raw)
	})

	if !v.is5() {
		for _, options := range []byte{0x03, 0x04, 0x40, 0x80} {
			It(fmt.Sprintf("with the QoS byte %02x closes the connection", options), v.Statement("v311/MQTT-3.8.3-4"), func() {
				refusedSubscribe(b, "v311/MQTT-3.8.3-4", "reserved bits and QoS 3 close the connection", subscription(b, b.Topic(), options))
			})
			It(fmt.Sprintf("with the QoS byte %02x in the second entry closes the connection", options), v.Statement("v311/MQTT-3.8.3-4"), func() {
				raw := wire.Extend(subscription(b, b.Topic(), 1), join(str(b.Topic()), []byte{options})...)
				refusedSubscribe(b, "v311/MQTT-3.8.3-4", "reserved bits and QoS 3 close the connection", raw)
			})
		}

		It("with a wildcard is refused by a server without wildcards", v.Statement("v311/MQTT-3.8.3-2"), func() {
			plain := b.Variant("no-wildcards")
			topic := b.Topic()
			c := plain.Connect("client").Subscribe(topic, 0)
			for _, filter := range []string{topic + "/+", "+/" + topic, topic + "/+/b", topic + "/#"} {
				c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: filter}}})
				Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("Codes", HaveExactElements(byte(0x80)))), "%s is refused", filter)
			}
		})
	}
}

func suback(b *probe.Broker, v version) {
	It("is answered with SUBACK, each of several in one write", v.Statement("v311/MQTT-3.8.4-1", "v5/MQTT-3.8.4-1"), func() {
		c := b.Connect("client")
		topic := b.Topic()
		c.Send(
			wire.Subscribe{ID: 11, Subscriptions: []wire.Subscription{{Filter: topic + "/a"}}},
			wire.Subscribe{ID: 12, Subscriptions: []wire.Subscription{{Filter: topic + "/b"}}},
			wire.Subscribe{ID: 13, Subscriptions: []wire.Subscription{{Filter: topic + "/c"}}},
		)
		for range 3 {
			Expect(c.Answer(wire.SUBACK)).To(probe.BeA(wire.SUBACK))
		}
		pub := b.Connect("pub")
		for _, t := range []string{"/a", "/b", "/c"} {
			pub.Publish(wire.Publish{Topic: topic + t, QoS: 0, Payload: t})
			Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", t)), "what is granted is delivered")
		}
		Expect(c.BeforePing()).To(BeEmpty(), "one SUBACK each")
	})

	It("is answered with a SUBACK of its Packet Identifier", v.Statement("v311/MQTT-3.8.4-2", "v5/MQTT-3.8.4-2"), func() {
		c := b.Connect("client")
		for _, id := range []uint16{1, 0x0102, 65535} {
			c.Send(wire.Subscribe{ID: id, Subscriptions: []wire.Subscription{{Filter: b.Topic()}}})
			Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("ID", id)))
		}
	})

	codes := []string{"v311/MQTT-3.8.4-5", "v5/MQTT-3.8.4-6", "v5/3.9.3-one-code-each"}
	It("gets one code for each filter: the QoS granted, or failure", v.Statement(codes...), func() {
		c := b.Connect("client")
		topic := b.Topic()
		for _, n := range []int{1, 2, 20} {
			p := wire.Subscribe{ID: c.NextID()}
			for i := range n {
				p.Subscriptions = append(p.Subscriptions, wire.Subscription{Filter: fmt.Sprintf("%s/%d", topic, i), QoS: byte(i % 3)})
			}
			c.Send(p)
			a := c.Answer(wire.SUBACK)
			Expect(a).To(probe.BePacket(HaveField("Codes", HaveLen(n))), "one code for each of %d filters", n)
			for i, code := range a.Packet.(wire.Suback).Codes {
				Expect(code <= byte(i%3) || code >= 0x80).To(BeTrue(), "code 0x%02x for QoS %d is not above it", code, i%3)
			}
		}
	})

	It("gets its codes in the order of the filters", v.Statement("v311/MQTT-3.9.3-1", "v5/MQTT-3.9.3-1"), func() {
		c := b.Connect("client")
		topic := b.Topic()
		single := map[byte]byte{}
		for _, qos := range []byte{0, 1, 2} {
			c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: topic + "/" + digit(qos), QoS: qos}}})
			a := c.Answer(wire.SUBACK)
			ack, ok := a.Packet.(wire.Suback)
			if !a.Came || !ok || len(ack.Codes) != 1 {
				probe.Inconclusive("no usable SUBACK: %s", a.GomegaString())
			}
			single[qos] = ack.Codes[0]
		}
		c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{
			{Filter: topic + "/x2", QoS: 2}, {Filter: topic + "/x0", QoS: 0}, {Filter: topic + "/x1", QoS: 1}}})

		Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("Codes", HaveExactElements(single[2], single[0], single[1]))), "the codes stand in the order of the filters")
	})

	It("with several filters works as several single ones, with one SUBACK", v.Statement("v311/MQTT-3.8.4-4", "v5/MQTT-3.8.4-5"), func() {
		c, pub := b.Connect("client"), b.Connect("pub")
		topic := b.Topic()
		single := b.Connect("single").Subscribe(topic+"/a", 1).Subscribe(topic+"/a", 0)
		c.Send(wire.Subscribe{ID: 21, Subscriptions: []wire.Subscription{
			{Filter: topic + "/a", QoS: 1}, {Filter: topic + "/b", QoS: 1}, {Filter: topic + "/a", QoS: 0}}})
		Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("Codes", HaveLen(3))), "one SUBACK with three codes")
		pub.Publish(wire.Publish{Topic: topic + "/a", QoS: 1, Payload: "a"})
		takes(single, "a")
		Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "a")), "the first filter is subscribed to")
		pub.Publish(wire.Publish{Topic: topic + "/b", QoS: 1, Payload: "b"})
		a := c.AnswerWhere(hasPayload("b"), wire.PUBLISH)
		Expect(a).To(probe.BeA(wire.PUBLISH), "the second filter is subscribed to")
		c.Acknowledge(a.Packet.(wire.Publish))
		Expect(c.BeforePing()).NotTo(ContainElement(HaveField("Type", wire.SUBACK)), "there is one SUBACK")
		single.Ping()
		if !slices.Equal(cameAt(single, "a"), []byte{0}) {
			probe.Inconclusive("the broker does not replace a subscription either where each comes in a SUBSCRIBE of its own")
		}
		Expect(cameAt(c, "a")).To(Equal([]byte{0}), "a filter that comes twice is replaced as by a SUBSCRIBE of its own")
	})
}

// delivered returns every PUBLISH that a client got.
func delivered(c *probe.Client) (list []wire.Publish) {
	for _, r := range c.History() {
		if p, ok := r.Packet.(wire.Publish); ok {
			list = append(list, p)
		}
	}
	return list
}

// cameAt returns at which QoS a client got a message.
func cameAt(c *probe.Client, payload string) []byte {
	var list []byte
	for _, p := range delivered(c) {
		if p.Payload == payload {
			list = append(list, p.QoS)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func replacing(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.8.4-3", "v5/MQTT-3.8.4-3", "v5/4.8.1-one-subscription-per-filter"}
	It("replaces the subscription that the client has for the same filter", v.Statement(keys...), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1).Subscribe(topic, 0)
		pub := b.Connect("pub")

		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "downgraded"})
		pub.Publish(wire.Publish{Topic: topic, QoS: 0, Payload: "once"})

		// No order binds messages of different QoS, and one at QoS 1 may come twice
		// to a subscription at QoS 0.
		for _, payload := range []string{"downgraded", "once"} {
			Expect(sub.AnswerWhere(hasPayload(payload), wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), "a message comes")
		}
		sub.DeliveredBefore(pub.Sentinel(topic, 0))
		Expect(delivered(sub)).To(HaveEach(HaveField("QoS", byte(0))), "the new QoS holds")
		got := slices.DeleteFunc(payloads(delivered(sub)), func(payload string) bool { return payload != "once" })
		Expect(got).To(HaveLen(1), "there is one subscription only")
	})

	flow := []string{"v311/MQTT-3.8.4-3", "v5/MQTT-3.8.4-4"}
	It("sends the retained messages again when it replaces a subscription", v.Statement(flow...), func() {
		b.Lacking("retain")
		topic := b.Topic()
		settled(b, b.Connect("pub"), toKeep(topic, 1, "kept"))
		sub := b.Connect("sub").Subscribe(topic, 1)
		takes(sub, "kept")

		sub.Subscribe(topic, 0)

		Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "kept")), "the retained message comes again")
	})

	It("does not interrupt the flow when it replaces a subscription", v.Statement(flow...), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		pub := b.Connect("pub")
		most := int(min(20, pub.Limit(wire.ReceiveMaximum, 65535)))
		for i := range 20 {
			if i >= most {
				pub.Awaits(wire.PUBACK)
			}
			pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: uint16(1000 + i), Payload: fmt.Sprint(i)})
			if i%4 == 0 {
				sub.Send(wire.Subscribe{ID: sub.NextID(), Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}})
			}
		}
		for range most {
			pub.Awaits(wire.PUBACK)
		}
		for range 5 {
			sub.Awaits(wire.SUBACK)
		}
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "behind them all"})
		Expect(distinct(sub, pub.Sentinel(topic, 1), 21)).To(HaveLen(21), "no message is missing")
	})
}

// deliveredQoS is the table of published and granted QoS.
func deliveredQoS(b *probe.Broker, v version) {
	for _, granted := range []byte{0, 1, 2} {
		for _, published := range []byte{0, 1, 2} {
			It(fmt.Sprintf("for QoS %d gets a message published at QoS %d at the lower of them", granted, published),
				v.Statement("v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"), func() {
					topic := b.Topic()
					sub := b.Connect("sub").Subscribe(topic, granted)
					b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: published, Payload: "message"})

					a := sub.Answer(wire.PUBLISH)
					Expect(a).To(probe.BePacket(And(HaveField("Payload", "message"), HaveField("QoS", min(granted, published)))))
					levels{published, granted}.comesOnce(v, sub, a, b, false)
				})
		}
	}
}
