package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// topics holds the specs of section 4.7.
func topics(b *probe.Broker, v version) {
	Describe("4.7 Topics", func() {
		wildcards(b, v)
		badFilters(b, v)
		dollarHidden(b, v)
		dollarNamed(b, v)
		serverTopics(b, v)
		asTheyAre(b, v)
		emptyTopics(b, v)
		matching(b, v)
	})
}

// matches asserts which of the topics below a base reach a filter.
func matches(b *probe.Broker, filter string, want, not []string) {
	GinkgoHelper()
	sub := b.Connect("sub").Subscribe(filter, 1)
	pub := b.Connect("pub")
	for _, t := range append(append([]string{}, not...), want...) {
		pub.Publish(wire.Publish{Topic: t, QoS: 1, Payload: t})
	}
	got := []string{}
	for _, p := range collected(sub, pub.SentinelAside(sub), len(want)) {
		got = append(got, p.Topic)
	}
	Expect(got).To(ConsistOf(want), "%q matches these topics and no other", filter)
}

func wildcards(b *probe.Broker, v version) {
	for _, wild := range []string{"#", "+"} {
		keys := []string{"v311/MQTT-4.7.1-1", "v5/MQTT-4.7.0-1"}
		It("may not have "+wild+" in a Topic Name", v.Statement(keys...), func() {
			refusedPublish(b, v.key(keys...), "a wildcard in a Topic Name closes the connection", func(topic string) []byte {
				return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/" + wild, QoS: 1, ID: 9, Payload: "wild"})
			})
		})
		It("may not have "+wild+" in a Will Topic", v.Statement(keys...), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic+"/#", 1)
			b.Connect("twin", probe.WithWill(wire.Will{Topic: topic + "/w", QoS: 1, Payload: []byte("twin")})).Drop()
			takes(sub, "twin")
			c := b.Open("client")
			c.Send(b.ConnectPacket(probe.WithWill(wire.Will{Topic: topic + "/" + wild, QoS: 1, Payload: []byte("wild")})))
			accepted := granted(c.Answer(wire.CONNACK))
			c.Drop()

			got := sub.DeliveredBefore(b.Connect("end").Sentinel(topic+"/w", 1))
			Expect(got).NotTo(ContainElement(HaveField("Payload", "wild")), "no such message is delivered")
			probe.Reaction(v.key(keys...)).Expect(accepted).To(BeFalse(), "a Will Topic with a wildcard is refused")
		})
	}
}

func badFilters(b *probe.Broker, v version) {
	for _, set := range []struct {
		what    string
		keys    []string
		good    []string
		illegal []string
	}{
		{"#", []string{"v311/MQTT-4.7.1-2", "v5/MQTT-4.7.1-1", "v5/3.9.3-suback-code-8f"}, []string{"/a/#"}, []string{"/a#", "/a/#/b", "/#/", "/#/a/#", "/a/b#"}},
		{"+", []string{"v311/MQTT-4.7.1-3", "v5/MQTT-4.7.1-2"}, []string{"/a/+", "/a/+/b"}, []string{"/a+", "/+a", "/a/b+/c", "/+/b+"}},
	} {
		for _, bad := range set.illegal {
			It("does not grant the filter "+bad+", where "+set.what+" is out of place", v.Statement(set.keys...), func() {
				topic := b.Topic()
				c, watch := b.Connect("client"), b.Bystander()
				for _, good := range set.good {
					c.Subscribe(topic+good, 0)
				}
				c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: topic + bad, QoS: 1}}})

				a := c.Answer(wire.SUBACK)
				reaction := probe.Reaction(v.key(set.keys...))
				if a.Came {
					reaction.Expect(a).To(probe.BePacket(HaveField("Codes", HaveEach(BeNumerically(">=", 0x80)))), "the filter is not granted")
				} else {
					reaction.Expect(c).To(probe.BeClosed(), "a failure in SUBACK, or the close")
				}
				watch.Unharmed()
			})
		}
	}

	It("grants the filters /# and +/..., which begin with a wildcard", v.Statement("v311/4.7.1-wildcards-combined", "v5/4.7.1-wildcards-combined"), func() {
		topic := b.Topic()
		matches(b, "+/"+topic[len("mqttcheck/"):]+"/+/#", []string{topic + "/a", topic + "/a/b"}, []string{topic})
	})
}

func asTheyAre(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}
	const composed, decomposed = "\u00e9", "e\u0301"
	for _, c := range []struct{ what, filter, other string }{
		{"upper and lower case", "/A", "/a"},
		{"a space at the end", "/a ", "/a"},
		{"a slash at the end", "/a/", "/a"},
		{"a slash at the beginning", "//a", "/a"},
		{"two slashes", "/a//b", "/a/b"},
		{"a composed and a decomposed letter", "/" + composed, "/" + decomposed},
		{"a decomposed and a composed letter", "/" + decomposed, "/" + composed},
	} {
		It("are taken as they are: "+c.what, v.Statement(keys...), func() {
			topic := b.Topic()
			matches(b, topic+c.filter, []string{topic + c.filter}, []string{topic + c.other})
		})
	}
}

func emptyTopics(b *probe.Broker, v version) {
	keys := []string{"v311/MQTT-4.7.3-1", "v5/MQTT-4.7.3-1"}
	It("of a PUBLISH have at least one character", v.Statement(keys...), func() {
		refusedPublish(b, v.key(keys...), "an empty Topic Name closes the connection", func(string) []byte {
			return wire.Bytes(b.Version, wire.Publish{Topic: "", QoS: 1, ID: 9, Payload: "empty"})
		})
	})
	It("of a SUBSCRIBE have at least one character", v.Statement(keys...), func() {
		c := b.Connect("client").Subscribe(b.Topic(), 0)
		c.SendBytes(subscription(b, "", 0))
		a := c.Answer(wire.SUBACK)
		if a.Came {
			probe.Reaction(v.key(keys...)).Expect(a).To(probe.BePacket(HaveField("Codes", HaveEach(BeNumerically(">=", 0x80)))), "an empty filter is not granted")
			return
		}
		probe.Reaction(v.key(keys...)).Expect(c).To(probe.BeClosed(), "a failure in SUBACK, or the close")
	})
	It("of a will have at least one character", v.Statement(keys...), func() {
		b.Connect("twin", probe.WithWill(wire.Will{Topic: b.Topic("will"), Payload: []byte("gone")})).Disconnect()
		refusedConnect(b, v.key(keys...), "an empty Will Topic", wire.Bytes(b.Version, b.ConnectPacket(probe.WithWill(wire.Will{Topic: "", Payload: []byte("gone")}))))
	})

	nul := []string{"v311/MQTT-4.7.3-2", "v5/MQTT-4.7.3-2"}
	It("of a PUBLISH hold no U+0000", v.Statement(nul...), func() {
		refusedPublish(b, v.key(nul...), "U+0000 in a Topic Name closes the connection", func(topic string) []byte {
			return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/\x00", QoS: 0})
		})
	})
	It("of a SUBSCRIBE hold no U+0000", v.Statement(nul...), func() {
		refusedSubscribe(b, v.key(nul...), "U+0000 in a Topic Filter closes the connection", subscription(b, b.Topic("\x00"), 0))
	})
	It("of an UNSUBSCRIBE hold no U+0000", v.Statement(nul...), func() {
		refusedPacket(b, v.key(nul...), "U+0000 in a Topic Filter closes the connection", wire.Bytes(b.Version, wire.Unsubscribe{ID: 9, Filters: []string{b.Topic("\x00")}}))
	})
}

func matching(b *probe.Broker, v version) {
	for _, c := range []struct {
		what      string
		keys      []string
		filter    string
		want, not []string
	}{
		{"# includes the parent level", []string{"v311/4.7.1.2-hash-includes-parent", "v5/4.7.1.2-hash-includes-parent"},
			"/a/#", []string{"/a", "/a/b", "/a/b/c"}, []string{"/b", "/aa"}},
		{"a filter without wildcards is no prefix", []string{"v311/MQTT-3.3.2-3", "v5/MQTT-3.3.2-3"},
			"/a/b", []string{"/a/b"}, []string{"/a", "/a/b/c", "/a/bc", "/a/b/"}},
		{"+ is one level", []string{"v311/4.7.1.3-plus-one-level", "v5/4.7.1.3-plus-one-level"},
			"/a/+", []string{"/a/b", "/a/"}, []string{"/a", "/a/b/c"}},
		{"levels may be empty", []string{"v311/4.7.1.1-empty-levels", "v5/4.7.1.1-empty-levels"},
			"/+/+", []string{"//", "//x", "/x/"}, []string{"/", "/x"}},
		{"a slash more makes another topic", []string{"v311/4.7.3-leading-trailing-slash", "v5/4.7.3-leading-trailing-slash"},
			"/x", []string{"/x"}, []string{"//x", "/x/"}},
		{"case matters", []string{"v311/4.7.3-case-sensitive", "v5/4.7.3-case-sensitive"},
			"/Accounts", []string{"/Accounts"}, []string{"/accounts", "/ACCOUNTS"}},
		{"spaces are characters", []string{"v311/4.7.3-spaces", "v5/4.7.3-spaces"},
			"/a b", []string{"/a b"}, []string{"/ab", "/a  b"}},
	} {
		It("match as section 4.7 has it: "+c.what, v.Statement(c.keys...), func() {
			topic := b.Topic()
			below := func(list []string) []string {
				all := []string{}
				for _, t := range list {
					all = append(all, topic+t)
				}
				return all
			}
			matches(b, topic+c.filter, below(c.want), below(c.not))
		})
	}
}
