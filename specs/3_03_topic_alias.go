package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// topicAliases holds the specs of section 3.3.2.3.4, of the Topic Alias
// Maximum in CONNECT and CONNACK, and of what section 3.3.4 says of aliases.
func topicAliases(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.3.2.3.4 A Topic Alias of the client", func() {
		usedAliases(b, v)
		endedAliases(b, v)
		brokenAliases(b, v)
	})
	Describe("3.3.2.3.4 A Topic Alias of the server", func() {
		givenAliases(b, v)
		ungivenAliases(b, v)
	})
}

// aliased returns a PUBLISH at QoS 1 with a Topic Alias; the topic may be "".
func aliased(topic string, alias uint32, payload string) wire.Publish {
	return wire.Publish{Topic: topic, QoS: 1, Payload: payload, Properties: wire.Properties{{ID: wire.TopicAlias, Int: alias}}}
}

// aliasing connects a client from which the server takes at least n Topic
// Aliases, and returns how many it takes.
func aliasing(b *probe.Broker, name string, n uint32, options ...probe.Option) (*probe.Client, uint32) {
	GinkgoHelper()
	c := b.Connect(name, options...)
	most := c.Limit(wire.TopicAliasMaximum, 0)
	if most < n {
		probe.Unsupported("the check needs %d Topic Aliases, and CONNACK allows %d", n, most)
	}
	return c, most
}

// taken publishes at QoS 1 and asserts, for a statement, that the server takes
// it.
func taken(c *probe.Client, key string, p wire.Publish) {
	GinkgoHelper()
	p.ID = c.NextID()
	c.Send(p)
	alias := p.Properties.Number(wire.TopicAlias, 0)
	probe.For(key).Expect(c.Answer(wire.PUBACK)).To(probe.BeA(wire.PUBACK), "the message %q with the Topic Alias %d is taken", p.Payload, alias)
}

// flow publishes and, at QoS 2, releases the message: then a server has to have
// passed it on. What comes of it is not judged.
func flow(c *probe.Client, p wire.Publish) {
	GinkgoHelper()
	c.Send(p)
	if p.QoS == 2 && c.Answer(wire.PUBREC).Came {
		c.Send(wire.Ack{Type: wire.PUBREL, ID: p.ID})
	}
}

func usedAliases(b *probe.Broker, v version) {
	It("is accepted from 1 up to the Topic Alias Maximum", v.Statement("v5/MQTT-3.3.2-12"), func() {
		topic := b.Topic()
		pub, most := aliasing(b, "pub", 1)
		sub := b.Connect("sub")
		all := someUpTo(most)
		for _, alias := range all {
			name := fmt.Sprintf("%s/%d", topic, alias)
			sub.Subscribe(name, 1)
			taken(pub, "v5/MQTT-3.3.2-12", aliased(name, alias, "set"))
			Expect(sub.Arrival()).To(probe.BePacket(comeOn(name)), "what sets the alias is a message as any other")
		}
		for _, alias := range all {
			taken(pub, "v5/MQTT-3.3.2-12", aliased("", alias, "used"))
			Expect(sub.Arrival()).To(probe.BePacket(comeOn(fmt.Sprintf("%s/%d", topic, alias))), "Topic Alias %d", alias)
		}
	})

	for _, qos := range []byte{0, 1, 2} {
		It("stands for its Topic Name at QoS "+digit(qos), v.Statement("v5/3.3.2.3.4-alias-set-and-use"), func() {
			topic := b.Topic()
			pub, _ := aliasing(b, "pub", 1)
			sub := b.Connect("sub").Subscribe(topic, 2)
			for i, name := range []string{topic, "", ""} {
				p := aliased(name, 1, digit(byte(i)))
				p.QoS, p.ID = qos, uint16(100+i)
				flow(pub, p)
				Expect(sub.Arrival()).To(probe.BePacket(And(comeOn(topic), HaveField("Payload", digit(byte(i))))))
			}
		})
	}

	It("stands for its Topic Name in a retained message", v.Statement("v5/3.3.2.3.4-alias-set-and-use"), func() {
		b.Lacking("retain")
		topic := b.Topic()
		pub, _ := aliasing(b, "pub", 1)
		settled(b, pub, toKeep(topic, 1, "old"), aliased(topic, 1, "set"))
		looks := onlooker(b, topic)

		p := aliased("", 1, "kept")
		p.Retain = true
		pub.Publish(p)

		sees(b, looks, "kept")
		findable(b, topic, "kept")

		Expect(welcomed(b, topic, topic, 1)).To(HaveExactElements(HaveField("Payload", "kept")), "it replaces the message of that topic")
	})

	It("stands for another Topic Name once it is sent with that", v.Statement("v5/3.3.2.3.4-alias-change"), func() {
		topic := b.Topic()
		pub, _ := aliasing(b, "pub", 1)
		sub := b.Connect("sub").Subscribe(topic+"/a", 1).Subscribe(topic+"/b", 1)
		for _, step := range []struct{ name, want string }{{"/a", "/a"}, {"", "/a"}, {"/b", "/b"}, {"", "/b"}, {"/a", "/a"}, {"", "/a"}} {
			name := step.name
			if name != "" {
				name = topic + name
			}
			taken(pub, "v5/3.3.2.3.4-alias-change", aliased(name, 1, step.want))
			Expect(sub.Arrival()).To(probe.BePacket(comeOn(topic+step.want)), "the last Topic Name holds")
		}
	})

	It("is not passed on to subscribers", v.Statement("v5/MQTT-3.1.2-27"), func() {
		topic := b.Topic()
		pub, _ := aliasing(b, "pub", 1)
		sub := b.Connect("sub").Subscribe(topic, 1)
		for _, name := range []string{topic, ""} {
			pub.Publish(aliased(name, 1, "aliased"))
			Expect(sub.Arrival()).To(probe.BePacket(And(HaveField("Topic", topic), HaveField("Properties", Not(haveAlias())))), "the subscriber allows no Topic Alias")
		}
	})
}

// someUpTo returns numbers from 1 to n, with both ends.
func someUpTo(n uint32) []uint32 {
	var list []uint32
	for i := uint32(1); i <= n; i++ {
		if i <= 10 || i == n/2 || i >= n-1 {
			list = append(list, i)
		}
	}
	return list
}

func endedAliases(b *probe.Broker, v version) {
	for _, how := range []struct {
		what string
		next func(old *probe.Client) *probe.Client
	}{
		{"on the next connection of the Session", func(old *probe.Client) *probe.Client {
			old.Drop()
			return b.Connect("next", probe.ID(old.ID()), probe.Persistent)
		}},
		{"on a connection that takes the Session over", func(old *probe.Client) *probe.Client {
			return b.Connect("next", probe.ID(old.ID()), probe.Persistent)
		}},
		{"for another client", func(*probe.Client) *probe.Client { return b.Connect("next") }},
	} {
		It("means nothing "+how.what, v.Statement("v5/MQTT-3.3.2-7"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, 1)
			pub, _ := aliasing(b, "pub", 1, probe.Persistent)
			for _, name := range []string{topic, ""} {
				pub.Publish(aliased(name, 1, "twin"))
				takes(sub, "twin")
			}

			next := how.next(pub)
			p := aliased("", 1, "carried over")
			p.ID = 99
			next.Send(p)
			next.BeforePing()

			Expect(sub.DeliveredBefore(b.Connect("later").Sentinel(topic, 1))).To(BeEmpty(), "the alias was set on another connection")
		})
	}
}

// brokenAliases are about aliases that a client may not send.
func brokenAliases(b *probe.Broker, v version) {
	for _, c := range []struct {
		what     string
		key, row string
		alias    func(most uint32) uint32
	}{
		{"0", "v5/MQTT-3.3.2-8", "v5/3.3.2.3.4-alias-zero", func(uint32) uint32 { return 0 }},
		{"one above the Topic Alias Maximum", "v5/MQTT-3.2.2-17", "v5/3.3.2.3.4-alias-above-maximum", func(most uint32) uint32 { return most + 1 }},
		{"far above the Topic Alias Maximum", "v5/MQTT-3.3.2-9", "v5/3.3.2.3.4-alias-above-maximum", func(uint32) uint32 { return 65535 }},
	} {
		wrong := func(key string, codes ...byte) {
			pub, most := aliasing(b, "pub", 1)
			if c.alias(most) > 65535 || c.alias(most) == most {
				probe.Unsupported("CONNACK allows the Topic Aliases up to %d", most)
			}
			refusedAlias(b, pub, key, codes, func(topic string) wire.Publish { return aliased(topic, c.alias(most), "aliased") })
		}
		It("that is "+c.what+" ends the connection", v.Statement(c.key), func() { wrong(c.key) })
		It("that is "+c.what+" ends the connection with the code 0x94", v.Statement(c.row, "v5/3.14.2.1-disconnect-code-94"), func() { wrong(c.row, 0x94) })
	}

	for _, absent := range []bool{false, true} {
		key := map[bool]string{false: "v5/MQTT-3.2.2-18", true: "v5/3.1.2.11.5-topic-alias-maximum-default"}[absent]
		how := map[bool]string{false: "allows none", true: "announces no Topic Alias Maximum"}[absent]
		It("at a server that "+how+" ends the connection", v.Statement(key), func() {
			plain := withoutAliases(b)
			pub := plain.Connect("pub")
			if absent && pub.Limit(wire.TopicAliasMaximum, 1) == 0 {
				probe.Unsupported("CONNACK says Topic Alias Maximum = 0")
			}
			refusedAlias(plain, pub, key, []byte{0x94}, func(topic string) wire.Publish { return aliased(topic, 1, "aliased") })
		})
	}

	It("that is not set, with an empty Topic Name, ends the connection", v.Statement("v5/3.3.2.3.4-alias-unknown"), func() {
		const key = "v5/3.3.2.3.4-alias-unknown"
		pub, most := aliasing(b, "pub", 1)
		refusedAlias(b, pub, key, []byte{0x82, 0x94}, func(string) wire.Publish { return aliased("", most, "aliased") })
	})

	It("that is left out, with an empty Topic Name, ends the connection", v.Statement("v5/3.3.2.1-empty-topic-no-alias"), func() {
		const key = "v5/3.3.2.1-empty-topic-no-alias"
		refusedAlias(b, b.Connect("pub"), key, []byte{0x82, 0x81, 0x90}, func(string) wire.Publish { return wire.Publish{QoS: 1, Payload: "nowhere"} })
	})

	It("that stands twice in a PUBLISH ends the connection", v.Statement("v5/3.3.2.3.4-publish-topic-alias-twice"), func() {
		const key = "v5/3.3.2.3.4-publish-topic-alias-twice"
		pub, _ := aliasing(b, "pub", 2)
		refusedAlias(b, pub, key, []byte{0x82, 0x81}, func(topic string) wire.Publish {
			p := aliased(topic, 1, "aliased")
			p.Properties = append(p.Properties, wire.Property{ID: wire.TopicAlias, Int: 2})
			return p
		})
	})
}

// withoutAliases returns a broker whose CONNACK allows no Topic Alias: the one
// under test, or a variant.
func withoutAliases(b *probe.Broker) *probe.Broker {
	GinkgoHelper()
	if b.Connect("asking").Limit(wire.TopicAliasMaximum, 0) == 0 {
		return b
	}
	return b.Variant("no-topic-aliases")
}

// refusedAlias asserts that a PUBLISH of a client ends its connection and
// reaches nobody. Another code in DISCONNECT than those given is a warning.
func refusedAlias(b *probe.Broker, pub *probe.Client, key string, codes []byte, broken func(topic string) wire.Publish) {
	GinkgoHelper()
	topic := b.Topic()
	sub := b.Connect("sub").Subscribe(topic, 1)
	watch := b.Bystander()
	twin := wire.Publish{Topic: topic, QoS: 1, Payload: "valid twin"}
	if pub.Limit(wire.TopicAliasMaximum, 0) > 1 { // another is left that is not set
		twin = aliased(topic, 1, "valid twin")
	}
	pub.Publish(twin)
	takes(sub, "valid twin")

	p := broken(topic)
	p.ID = 99
	pub.Send(p)

	probe.Reaction(key).Expect(pub).To(probe.BeClosed(), "the server ends the connection")
	probe.Reaction(key).Expect(sub.DeliveredBefore(b.Connect("later").Sentinel(topic, 1))).To(BeEmpty(), "nothing of it is delivered")
	advisedCode(pub, key, codes...)
	watch.Unharmed()
}

// advisedCode warns of a DISCONNECT that has another code than those that the
// text names for the case, if there are any, or 0x80, which never says too much.
func advisedCode(c *probe.Client, key string, codes ...byte) {
	GinkgoHelper()
	for _, r := range c.History() {
		if bye, ok := r.Packet.(wire.Disconnect); ok && len(codes) > 0 {
			probe.Advice(key).Expect(bye.Code).To(BeElementOf(append(codes, 0x80)), "the DISCONNECT has the code 0x%02x", codes[0])
		}
	}
}
