package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// literalTopics holds the specs of section 4.7 on characters that mean
// something to other protocols, and on long and deep names.
func literalTopics(b *probe.Broker, v version) {
	Describe("4.7 Topics", func() {
		keys := v.Statement("v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4")
		for _, c := range []struct {
			what, filter string
			others       []string
		}{
			{"a dot", "/a.b", []string{"/a/b", "/a", "/ab"}},
			{"a star", "/*/x", []string{"/a/x", "//x"}},
			{"a greater-than sign", "/a/>", []string{"/a/b", "/a/b/c"}},
			{"a backslash", `/a\b`, []string{"/ab", "/a/b"}},
			{"a colon and brackets", "/{a}:[b]?", []string{"/a:b", "/{a}:b"}},
			{"a per cent sign", "/%2f", []string{"//", "/%2F"}},
		} {
			It("are taken as they are: "+c.what, keys, func() {
				topic := b.Topic()
				others := []string{}
				for _, o := range c.others {
					others = append(others, topic+o)
				}
				matches(b, topic+c.filter, []string{topic + c.filter}, others)
			})
		}

		length := []string{"v311/1.5.3-string-length", "v5/1.5.4-string-length-range"}
		It("may have 300 characters", v.Statement(length...), func() {
			topic := b.Topic() + strings.Repeat("/characters", 26)
			sub, pub := b.Connect("sub").Subscribe(topic[:len(topic)-10]+"+", 1), b.Connect("pub")
			pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: 1, Payload: "long"})
			probe.Warns(v.key(length...)).Expect(pub.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("Code", BeNumerically("<", 0x80))), "a string may have 65535 bytes")
			probe.Warns(v.key(length...)).Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Topic", topic)), "a string may have 65535 bytes")
		})

		// By itself, as all that takes a broker long: others would wait meanwhile.
		It("of as many levels as there is room for do nothing to other clients", Serial, v.Statement(othersUnharmed...), func() {
			defer untilFree(b)
			watch := b.Bystander()
			for _, name := range []string{strings.Repeat("/", 65535), strings.Repeat("a/", 32767), strings.Repeat("+/", 32000) + "+"} {
				c := b.Connect("client")
				c.SendBytes(subscription(b, name, 0))
				took := c.Within(b.Timeout, wire.SUBACK).Came
				watch.Unharmed()
				if !took || strings.Contains(name, "+") {
					break
				}
				c = b.Connect("pub")
				c.SendBytes(wire.Bytes(b.Version, wire.Publish{Topic: name, Payload: "deep"}))
				c.SendBytes(wire.Bytes(b.Version, wire.Pingreq{}))
				took = c.Within(b.Timeout, wire.PINGRESP).Came
				watch.Unharmed()
				if !took {
					break
				}
			}
		})
	})
}
