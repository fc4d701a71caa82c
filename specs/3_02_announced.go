package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// announcedLimits holds the specs of sections 3.2.2.3.4, 3.2.2.3.5 and
// 3.2.2.3.11 to 3.2.2.3.13: a server announces in CONNACK what it does not
// offer, and holds its clients to that.
func announcedLimits(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.2.2.3.4 Maximum QoS", func() {
		maximumQoS(b)
		for _, most := range []byte{0, 1} {
			aboveMaximumQoS(b, most)
		}
	})
	Describe("3.2.2.3.5 Retain Available", func() { withoutRetain(b) })
	Describe("3.2.2.3.11 Subscription feature", func() { subscriptionFeatures(b) })
}

// announcing returns the broker itself where its CONNACK has the value for a
// property, or the variant, where that has it.
func announcing(b *probe.Broker, variant string, id wire.PropertyID, value uint32) *probe.Broker {
	GinkgoHelper()
	announces := func(b *probe.Broker) bool {
		got, given := b.Connect("asks").Announced(id)
		return given && got == value
	}
	if announces(b) {
		return b
	}
	other := b.Variant(variant)
	if !announces(other) {
		probe.Unsupported("the variant %q does not announce %s = %d", variant, id, value)
	}
	return other
}

// maximumQoS is about what a server takes without a word, or up to its word.
func maximumQoS(b *probe.Broker) {
	key := "v5/MQTT-3.2.2-9"
	for _, variant := range []string{"", "max-qos-0", "max-qos-1"} {
		name := "is 2 unless CONNACK says less"
		if variant != "" {
			name += ", on the variant " + variant
		}
		It(name, v5.Statement(key), func() {
			b := configured(b, variant)
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 0)
			pub := b.Connect("pub")
			for qos := range pub.MaximumQoS() + 1 {
				pub.Send(wire.Publish{Topic: topic, QoS: qos, ID: 9, Payload: "at " + digit(qos)})
				if qos > 0 {
					Expect(refuses(pub.Answer(wire.PUBACK, wire.PUBREC))).To(BeFalse(), "a publication at QoS %d is taken", qos)
				}
				if qos == 2 {
					pub.Send(wire.Ack{Type: wire.PUBREL, ID: 9})
				}
				sub.Delivery()
			}
		})
	}
}

// refuses tells whether a publication was answered with a code of 0x80 or above,
// or by the close. That no answer comes at all is the matter of other checks.
func refuses(a probe.Answer) bool {
	GinkgoHelper()
	if ack, ok := a.Packet.(wire.Ack); ok {
		return ack.Code >= 0x80
	}
	if !a.Closed {
		probe.Inconclusive("a publication was not answered: %s", a.GomegaString())
	}
	return true
}

// aboveMaximumQoS is about a server that takes publications up to QoS most.
func aboveMaximumQoS(b *probe.Broker, most byte) {
	limited := func() *probe.Broker {
		GinkgoHelper()
		return announcing(b, "max-qos-"+digit(most), wire.MaximumQoS, uint32(most))
	}

	It("of "+digit(most)+" does not keep a client from asking for any QoS in SUBSCRIBE", v5.Statement("v5/MQTT-3.2.2-10"), func() {
		b := limited()
		c, pub := b.Connect("client"), b.Connect("pub")
		for _, qos := range []byte{0, 1, 2} {
			topic := b.Topic()
			c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: topic, QoS: qos}}})
			Expect(c.Answer(wire.SUBACK)).To(probe.BePacket(HaveField("Codes", HaveExactElements(BeNumerically("<", 0x80)))), "a subscription at QoS %d is granted, if at a lower one", qos)
			pub.Publish(wire.Publish{Topic: topic, QoS: most, Payload: "at " + digit(most)})
			c.Delivery()
		}
	})

	for qos := most + 1; qos <= 2; qos++ {
		keys := []string{"v5/MQTT-3.2.2-11", "v5/3.2.2.3.4-publish-above-maximum-qos", "v5/3.14.2.1-disconnect-code-9b"}
		It(fmt.Sprintf("of %d ends the connection of a client that publishes at QoS %d", most, qos), v5.Statement(keys...), func() {
			pub := refusedAbove(limited(), keys[0], wire.Publish{QoS: most}, wire.Publish{QoS: qos, ID: 99})
			endedWith(pub, keys[1], 0x9b)
		})

		wills := []string{"v5/MQTT-3.2.2-12", "v5/3.2.2.2-connack-code-9b"}
		It(fmt.Sprintf("of %d refuses a client whose Will QoS is %d", most, qos), v5.Statement(wills...), func() {
			unservedWill(limited(), wills, 0x9b, wire.Will{QoS: most}, wire.Will{QoS: qos})
		})
	}
}

// refusedAbove publishes what the server takes and then what it has announced
// not to take, and asserts that this ends the connection and reaches nobody.
func refusedAbove(b *probe.Broker, key string, within, beyond wire.Publish) *probe.Client {
	GinkgoHelper()
	topic := b.Topic()
	within.Topic, within.Payload = topic, "valid twin"
	beyond.Topic, beyond.Payload = topic, "beyond"
	sub := b.Connect("sub").Subscribe(topic, 0)
	pub, watch := b.Connect("pub"), b.Bystander()
	pub.Publish(within)
	takes(sub, "valid twin")

	pub.Force(beyond)

	probe.Reaction(key).Expect(pub).To(probe.BeClosed(), "CONNACK said that the server does not take it")
	probe.Reaction(key).Expect(sub.DeliveredBefore(b.Connect("end").Sentinel(topic, 0))).NotTo(ContainElement(HaveField("Payload", "beyond")), "it is not passed on")
	watch.Unharmed()
	return pub
}

// unservedWill connects a client with a will that the server takes and one with
// a will that it does not, and asserts that this one is refused.
func unservedWill(b *probe.Broker, keys []string, code byte, within, beyond wire.Will) {
	GinkgoHelper()
	within.Topic, beyond.Topic = b.Topic("will"), b.Topic("will")
	b.Connect("valid twin", probe.WithWill(within)).Disconnect()
	c := b.Open("client")

	c.Force(b.ConnectPacket(probe.WithWill(beyond)))

	a := c.Answer(wire.CONNACK)
	probe.Reaction(keys[0]).Expect(granted(a)).To(BeFalse(), "no success CONNACK")
	probe.Reaction(keys[0]).Expect(c).To(probe.BeClosed(), "the server closes the connection")
	probe.Advice(keys[1]).Expect(a).To(probe.BePacket(HaveField("Code", code)), "CONNACK has the code 0x%02x", code)
}

// withoutRetain is about a server without retained messages.
func withoutRetain(b *probe.Broker) {
	limited := func() *probe.Broker {
		GinkgoHelper()
		return announcing(b, "no-retain", wire.RetainAvailable, 0)
	}

	wills := []string{"v5/MQTT-3.2.2-13", "v5/3.2.2.2-connack-code-9a"}
	It("of 0 refuses a client whose Will Retain is 1", v5.Statement(wills...), func() {
		unservedWill(limited(), wills, 0x9a, wire.Will{}, wire.Will{Retain: true})
	})

	for _, qos := range []byte{0, 1, 2} {
		keys := []string{"v5/MQTT-3.2.2-14", "v5/3.2.2.3.5-publish-retain-not-available", "v5/3.14.2.1-disconnect-code-9a"}
		It("of 0 ends the connection of a client that publishes with RETAIN 1 at QoS "+digit(qos), v5.Statement(keys...), func() {
			pub := refusedAbove(limited(), keys[0], wire.Publish{QoS: qos}, wire.Publish{QoS: qos, ID: 99, Retain: true})
			endedWith(pub, keys[1], 0x9a)
		})
	}
}

// subscriptionFeatures are what a server offers that says nothing else.
func subscriptionFeatures(b *probe.Broker) {
	for _, f := range []struct {
		what, key, variant string
		id                 wire.PropertyID
		refusal            byte
		ask                func(topic string) (wire.Subscribe, string)
	}{
		{"a wildcard", "v5/3.2.2.3.11-wildcard-available-value", "no-wildcards", wire.WildcardSubscriptionAvailable, 0xa2,
			func(topic string) (wire.Subscribe, string) { return asking(topic+"/+", 0), topic + "/a" }},
		{"a Subscription Identifier", "v5/3.2.2.3.12-subscription-id-available-value", "no-subscription-ids", wire.SubscriptionIdentifierAvailable, 0xa1,
			func(topic string) (wire.Subscribe, string) { return identified(7, topic), topic }},
		{"a share", "v5/3.2.2.3.13-shared-available-value", "no-shared", wire.SharedSubscriptionAvailable, 0x9e,
			func(topic string) (wire.Subscribe, string) { return asking("$share/g/"+topic, 0), topic }},
	} {
		for _, variant := range []string{"", f.variant} {
			name := "that CONNACK does not deny is not refused: " + f.what
			if variant != "" {
				name += ", on the variant " + variant
			}
			It(name, v5.Statement(f.key), func() {
				b := configured(b, variant)
				c := b.Connect("client")
				if value, given := c.Announced(f.id); given && value == 0 {
					if variant == "" {
						probe.Unsupported("CONNACK says %s = 0", f.id)
					}
					return
				}
				offers(b, c, f.ask, f.refusal)
			})
		}
	}
}

// configured returns the broker itself, or a variant.
func configured(b *probe.Broker, variant string) *probe.Broker {
	GinkgoHelper()
	if variant == "" {
		return b
	}
	return b.Variant(variant)
}

// offers asserts that a request is not refused for a feature that the server
// has not said to lack.
func offers(b *probe.Broker, c *probe.Client, ask func(topic string) (wire.Subscribe, string), refusal byte) {
	GinkgoHelper()
	request, topic := ask(b.Topic())
	request.ID = c.NextID()
	c.Send(request)
	a := c.Answer(wire.SUBACK, wire.DISCONNECT)
	if bye, ok := a.Packet.(wire.Disconnect); ok {
		Expect(bye.Code).NotTo(Equal(refusal), "CONNACK did not say that there are none")
	}
	ack, ok := a.Packet.(wire.Suback)
	if !ok || len(ack.Codes) != 1 {
		probe.Inconclusive("no usable SUBACK: %s", a.GomegaString())
	}
	if refusal != 0xa2 { // a single filter may be refused for its wildcard
		Expect(ack.Codes[0]).NotTo(Equal(refusal), "CONNACK did not say that there are none")
	}
	if ack.Codes[0] >= 0x80 {
		probe.Unsupported("the broker refused the filter with SUBACK code 0x%02x", ack.Codes[0])
	}
	b.Connect("pub").Publish(wire.Publish{Topic: topic, Payload: "message"})
	c.Delivery()
}
