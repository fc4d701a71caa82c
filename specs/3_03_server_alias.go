package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/types"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// aliasMaximum announces a Topic Alias Maximum in CONNECT.
func aliasMaximum(n uint32) probe.Option {
	return probe.Properties(wire.Property{ID: wire.TopicAliasMaximum, Int: n})
}

// haveAlias succeeds for properties with a Topic Alias.
func haveAlias() types.GomegaMatcher {
	return gcustom.MakeMatcher(func(ps wire.Properties) (bool, error) {
		_, aliased := ps.First(wire.TopicAlias)
		return aliased, nil
	}).WithTemplate("Expected\n    {{.FormattedActual}}\n{{.To}} hold a Topic Alias")
}

// comeOn succeeds for a PUBLISH on a topic. One whose topic only an alias tells
// is let pass: the subscriber allows none, which other checks judge.
func comeOn(topic string) types.GomegaMatcher {
	return Or(HaveField("Topic", topic), And(HaveField("Topic", ""), HaveField("Properties", haveAlias())))
}

// A reader knows the Topic Aliases that the server has set on a connection.
type reader struct {
	client *probe.Client
	topics map[uint32]string
	used   int // deliveries whose topic only an alias told
}

func reading(c *probe.Client) *reader { return &reader{client: c, topics: map[uint32]string{}} }

// next waits for the next message, resolves its Topic Name and acknowledges
// it. An alias without Topic Name that was not set fails for key.
func (r *reader) next(key string) (wire.Publish, string) {
	GinkgoHelper()
	p := r.client.Unacknowledged()
	alias, aliased := p.Properties.First(wire.TopicAlias)
	name := p.Topic
	if aliased && name != "" {
		r.topics[alias.Int] = name
	}
	if aliased && name == "" {
		r.used++
		known := ""
		known, aliased = r.topics[alias.Int]
		probe.For(key).Expect(aliased).To(BeTrue(), "Topic Alias %d without Topic Name has been set on this connection", alias.Int)
		name = known
	}
	r.client.Acknowledge(p)
	return p, name
}

// needsUse ends the spec where the server has not used an alias: it need not.
func (r *reader) needsUse() {
	GinkgoHelper()
	if r.used == 0 {
		probe.Unsupported("the broker used no Topic Alias, although it might")
	}
}

// rounds publishes to each topic n times, in turns, and passes what arrives on.
func rounds(pub *probe.Client, r *reader, topics []string, n int, each func(p wire.Publish, name, want string)) {
	GinkgoHelper()
	for range n {
		for _, topic := range topics {
			pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: topic})
			p, name := r.next("v5/3.3.2.3.4-alias-unknown")
			each(p, name, topic)
		}
	}
}

func givenAliases(b *probe.Broker, v version) {
	for _, c := range []struct {
		most uint32
		key  string
	}{{2, "v5/MQTT-3.1.2-26"}, {1, "v5/MQTT-3.3.2-11"}} {
		It(fmt.Sprintf("is at most %d where that is the client's Topic Alias Maximum", c.most), v.Statement(c.key), func() {
			topic := b.Topic()
			topics := []string{topic + "/a", topic + "/b", topic + "/c", topic + "/d"}
			sub := reading(b.Connect("sub", aliasMaximum(c.most)))
			for _, t := range topics {
				sub.client.Subscribe(t, 1)
			}

			rounds(b.Connect("pub"), sub, topics, 3, func(p wire.Publish, name, want string) {
				Expect(p.Properties.Number(wire.TopicAlias, 0)).To(BeNumerically("<=", c.most), "no Topic Alias is above the client's maximum")
				probe.For("v5/3.3.2.3.4-alias-set-and-use").Expect(name).To(Equal(want), "the message comes on the topic that it was published to")
			})
			sub.needsUse()
		})
	}

	It("stands for the Topic Name that the server sent it with", v.Statement("v5/3.3.2.3.4-alias-set-and-use"), func() {
		topic := b.Topic()
		topics := []string{topic + "/a", topic + "/b", topic + "/c"}
		sub := reading(b.Connect("sub", aliasMaximum(2)))
		for _, t := range topics {
			sub.client.Subscribe(t, 1)
		}

		rounds(b.Connect("pub"), sub, topics, 3, func(_ wire.Publish, name, want string) {
			Expect(name).To(Equal(want), "the message comes on the topic that it was published to")
		})
		sub.needsUse()
	})

	It("has nothing to do with that of the client", v.Statement("v5/3.3.2.3.4-alias-directions-independent"), func() {
		topic := b.Topic()
		client, _ := aliasing(b, "client", 1, aliasMaximum(1))
		own, theirs := b.Connect("own").Subscribe(topic+"/own", 1), reading(client.Subscribe(topic+"/theirs", 1))
		client.Publish(aliased(topic+"/own", 1, "set"))
		other := b.Connect("pub")
		for range 3 {
			other.Publish(wire.Publish{Topic: topic + "/theirs", QoS: 1, Payload: "theirs"})
			_, name := theirs.next("v5/3.3.2.3.4-alias-unknown")
			Expect(name).To(Equal(topic+"/theirs"), "the alias of the server stands for the topic of the server")
			taken(client, "v5/3.3.2.3.4-alias-directions-independent", aliased("", 1, "used"))
		}

		Expect(collected(own, client.Sentinel(topic+"/own", 1), 4)).To(HaveLen(4), "the alias of the client stands for the topic of the client")
		theirs.needsUse()
	})
}

func ungivenAliases(b *probe.Broker, v version) {
	for _, c := range []struct {
		what, key string
		options   []probe.Option
	}{
		{"a Topic Alias Maximum of 0", "v5/MQTT-3.1.2-27", []probe.Option{aliasMaximum(0)}},
		{"no Topic Alias Maximum", "v5/3.1.2.11.5-topic-alias-maximum-default", nil},
	} {
		It("is not sent to a client that announces "+c.what, v.Statement(c.key), func() {
			topic := b.Topic()
			sub := b.Connect("sub", c.options...).Subscribe(topic, 1)
			pub := b.Connect("pub")
			for range 5 {
				pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "message"})
				Expect(sub.Delivery()).To(And(HaveField("Topic", topic), HaveField("Properties", Not(haveAlias()))), "every message has its Topic Name and no alias")
			}
		})
	}

	const unknown = "v5/3.3.2.3.4-alias-unknown"
	It("is set anew on the next connection of a Session", v.Statement(unknown), func() {
		topic, id := b.Topic(), b.ClientID()
		session := []probe.Option{probe.ID(id), probe.Persistent, aliasMaximum(5)}
		first := reading(b.Connect("first", session...).Subscribe(topic, 1))
		pub := b.Connect("pub")
		rounds(pub, first, []string{topic}, 2, func(wire.Publish, string, string) {})
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "open"})
		first.client.Unacknowledged()
		first.client.Drop()
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "queued"})

		again := reading(b.Connect("again", session...))

		for _, payload := range []string{"open", "queued"} {
			p, name := again.next(unknown)
			Expect([]string{name, p.Payload}).To(Equal([]string{topic, payload}))
		}
		first.needsUse()
	})

	It("is not set by a message that is too large to be sent", v.Statement(unknown), func() {
		topic := b.Topic()
		sub := reading(b.Connect("sub", aliasMaximum(5), packetLimit(smallLimit)).Subscribe(topic, 1))
		pub := b.Connect("pub")
		pub.Publish(wire.Publish{Topic: topic, QoS: 1, Payload: filler(smallLimit)})

		rounds(pub, sub, []string{topic}, 3, func(_ wire.Publish, name, want string) {
			Expect(name).To(Equal(want), "the topic can be told")
		})
		sub.needsUse()
	})
}
