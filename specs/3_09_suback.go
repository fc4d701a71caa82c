package specs

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// outcome holds the specs of what SUBACK says of a subscription, and of the
// freedoms that section 3.8.4 leaves a server.
func outcome(b *probe.Broker, v version) {
	Describe("3.9.3 SUBACK", func() {
		trueCodes(b, v)
		unavailable(b, v)
		refusalCodes(b, v)
	})
	Describe("3.8.4 SUBSCRIBE actions", func() { subscribeFreedoms(b, v) })
}

// codeOf sends a SUBSCRIBE with one filter and returns its code.
func codeOf(c *probe.Client, filter string, qos byte) byte {
	GinkgoHelper()
	c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: filter, QoS: qos}}})
	a := c.Answer(wire.SUBACK)
	ack, ok := a.Packet.(wire.Suback)
	if !a.Came || !ok || len(ack.Codes) != 1 {
		probe.Inconclusive("%s: the set-up needs a SUBACK with one code, but %s", c.Name(), a.GomegaString())
	}
	return ack.Codes[0]
}

func trueCodes(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-3.8.4-5", "v5/MQTT-3.8.4-7", "v5/3.9.3-suback-code-00-02", "v5/2.4-reason-code-ranges"}
	It("has a code of at most the QoS asked for, and then messages come, or one of failure", v.Statement(keys...), func() {
		for _, qos := range []byte{0, 1, 2} {
			topic := b.Topic()
			c, pub := b.Connect("client"), b.Connect("pub")
			code := codeOf(c, topic, qos)
			Expect(code).To(Or(BeNumerically("<=", qos), BeNumerically(">=", 0x80)), "no more is granted than QoS %d", qos)
			pub.Publish(wire.Publish{Topic: topic, QoS: min(1, pub.MaximumQoS()), Payload: "message"})
			if code < 0x80 {
				Expect(c.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Payload", "message")), "a filter that is granted brings messages")
			} else {
				Expect(c.DeliveredBefore(pub.SentinelAside(c))).To(BeEmpty(), "a filter that is refused brings nothing")
			}
		}
	})

	It("that refuses a filter is followed by no message for it", v.Statement(keys...), func() {
		c, pub, denied := permitted(b)
		c.Subscribe(b.Topic(), 1)
		if code := codeOf(c, denied, 1); code < 0x80 {
			probe.Unsupported("the broker grants the filter %q, with SUBACK code 0x%02x", denied, code)
		}
		pub.Publish(wire.Publish{Topic: denied, QoS: 1, Payload: "secret"})
		Expect(c.DeliveredBefore(pub.SentinelAside(c))).To(BeEmpty(), "a filter that is refused brings nothing")
	})

	if v.is5() {
		key := "v5/3.9.3-suback-code-87"
		It("tells how a filter is refused that the user may not subscribe to", v.Observation(key), func() {
			c, pub, denied := permitted(b)
			probe.Observe(key, "a filter that the user may not subscribe to: %s", reached(c, pub, denied, denied))
			c, pub, denied = permitted(b)
			probe.Observe(key+"-shared", "the same as a shared subscription: %s", reached(c, pub, "$share/"+b.ClientID()+"/"+denied, denied))
		})
	}
}

// permitted connects two clients as a user that may not subscribe to a filter.
func permitted(b *probe.Broker) (c, pub *probe.Client, denied string) {
	GinkgoHelper()
	guarded := b.Variant("users")
	if len(b.Users.DeniedSubscribe) == 0 {
		probe.SkipFor("needs a filter that the user may not subscribe to")
	}
	user := probe.Credentials(b.Users.Username, b.Users.Password)
	return guarded.Connect("client", user), guarded.Connect("pub", user), b.Users.DeniedSubscribe[0]
}

// reached tells in words how the broker answers a SUBSCRIBE and whether a
// message to the topic then comes.
func reached(c, pub *probe.Client, filter, topic string) string {
	GinkgoHelper()
	said, granted := answered(c, wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: filter, QoS: 1}}})
	if !granted {
		return said
	}
	pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "secret"})
	if len(c.DeliveredBefore(pub.SentinelAside(c))) > 0 {
		return said + ", and its messages come"
	}
	return said + ", and no message comes"
}

// noAnswer is what answered says where nothing came and the connection is open.
const noAnswer = "no answer"

// answered sends a SUBSCRIBE or UNSUBSCRIBE and tells in words what came of it,
// and whether it succeeded.
func answered(c *probe.Client, p wire.Packet) (said string, success bool) {
	GinkgoHelper()
	c.Force(p)
	a := c.Answer(wire.SUBACK, wire.UNSUBACK)
	var codes []byte
	switch ack := a.Packet.(type) {
	case wire.Suback:
		codes = ack.Codes
	case wire.Unsuback:
		codes = ack.Codes
	}
	if a.Came {
		said = fmt.Sprintf("%s 0x%02x", a.Type, codes)
		success = len(codes) == 0 || codes[0] < 0x80
	}
	for _, r := range c.History() {
		if bye, ok := r.Packet.(wire.Disconnect); ok {
			return strings.TrimPrefix(said+fmt.Sprintf(", DISCONNECT 0x%02x", bye.Code), ", "), false
		}
	}
	if a.Closed || c.Gone() {
		return strings.TrimPrefix(said+", the close without a word", ", "), false
	}
	if !a.Came {
		return noAnswer, false
	}
	return said, success
}

// unavailable judges requests for what the broker says in CONNACK that it does
// not offer.
func unavailable(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	for _, u := range []struct {
		what, feature, variant, key, observed string
		code                                  byte
		ask                                   func(topic string) wire.Subscribe
	}{
		{"a shared subscription", "shared", "no-shared", "v5/3.2.2.3.13-shared-not-supported", "v5/3.9.3-suback-code-9e", 0x9e,
			func(topic string) wire.Subscribe { return asking("$share/g/"+topic, 0) }},
		{"a Subscription Identifier", "subscription-ids", "no-subscription-ids", "v5/3.2.2.3.12-subscription-id-not-supported", "v5/3.9.3-suback-code-a1", 0xa1,
			func(topic string) wire.Subscribe { return identified(7, topic) }},
		{"a wildcard", "wildcard", "no-wildcards", "v5/3.2.2.3.11-wildcard-not-supported", "v5/3.9.3-suback-code-a2", 0xa2,
			func(topic string) wire.Subscribe { return asking(topic+"/+", 0) }},
	} {
		It("does not grant "+u.what+" where CONNACK says that there are none", v.Statement(u.key, fmt.Sprintf("v5/3.14.2.1-disconnect-code-%02x", u.code)), func() {
			c, p := lacking(b, u.feature, u.variant).Connect("client"), u.ask(b.Topic())
			c.Subscribe(b.Topic(), 1)
			p.ID = c.NextID()
			c.Force(p)
			if a := c.Answer(wire.SUBACK); a.Came {
				probe.Reaction(u.key).Expect(a).To(probe.BePacket(HaveField("Codes", HaveEach(BeNumerically(">=", 0x80)))), "it is not granted")
			}
			probe.Reaction(u.key).Expect(c).To(probe.BeClosed(), "it is a Protocol Error")
			endedWith(c, u.key, u.code)
		})
		It("tells how "+u.what+" is refused where CONNACK says that there are none", v.Observation(u.observed), func() {
			c, p := lacking(b, u.feature, u.variant).Connect("client"), u.ask(b.Topic())
			p.ID = c.NextID()
			said, _ := answered(c, p)
			probe.Observe(u.observed, "%s, where CONNACK says that there are none: %s", u.what, said)
		})
	}
}

// lacking returns the broker itself where it lacks a feature, or the variant.
func lacking(b *probe.Broker, feature, variant string) *probe.Broker {
	GinkgoHelper()
	if _, ok := b.Lacks["v5:"+feature]; ok {
		return b
	}
	return b.Variant(variant)
}

// refusalCodes observes with which codes a server refuses what is no filter,
// and a request whose Packet Identifier is taken.
func refusalCodes(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	refused := []string{"v5/3.9.3-suback-code-80", "v5/3.9.3-suback-code-83"}
	It("tells with which code an ill-formed filter is refused", v.Observation(refused...), func() {
		said, _ := answered(b.Connect("client"), wire.Subscribe{ID: 9, Subscriptions: []wire.Subscription{{Filter: b.Topic("a#b"), QoS: 1}}})
		probe.Observe("v5/3.9.3-suback-code-8f", "a filter with # out of place: %s", said)
	})

	removal := []string{"v5/3.11.3-unsuback-code-80", "v5/3.11.3-unsuback-code-83", "v5/3.11.3-unsuback-code-8f"}
	It("of UNSUBSCRIBE tells what an ill-formed filter brings", v.Observation(removal...), func() {
		said, _ := answered(b.Connect("client"), wire.Unsubscribe{ID: 9, Filters: []string{b.Topic("a#b")}})
		probe.Observe("v5/3.11.3-unsuback-code-8f", "UNSUBSCRIBE for a filter with # out of place: %s", said)
	})

	inUse := []string{"v5/3.9.3-suback-code-91", "v5/3.11.3-unsuback-code-91"}
	It("tells how a Packet Identifier is taken that an open publication has", v.Observation(inUse...), func() {
		topic := b.Topic()
		c := b.Connect("client").Subscribe(topic, 1)
		c.Send(wire.Publish{Topic: b.Topic(), QoS: 2, ID: 77, Payload: "open"})
		if !c.Answer(wire.PUBREC).Came {
			probe.Inconclusive("no PUBREC in the set-up")
		}
		p := asking(b.Topic(), 0)
		p.ID = 77
		said, _ := answered(c, p)
		probe.Observe(inUse[0], "SUBSCRIBE under the Packet Identifier of an open publication: %s", said)
		if !c.Gone() {
			said, _ = answered(c, wire.Unsubscribe{ID: 77, Filters: []string{topic}})
			probe.Observe(inUse[1], "UNSUBSCRIBE under the Packet Identifier of an open publication: %s", said)
		}
	})
}
