package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// illFormed holds byte sequences that are no UTF-8, by what is wrong with them.
var illFormed = []struct{ what, bytes string }{
	{"an overlong form (C0 80)", "\xc0\x80"},
	{"a surrogate (ED A0 80)", "\xed\xa0\x80"},
	{"a sequence that is cut off (E2 82)", "\xe2\x82"},
	{"a byte that never occurs (FF)", "\xff"},
}

// data holds the specs of section 1.5.4 of MQTT 5.0, 1.5.3 of MQTT 3.1.1.
func data(b *probe.Broker, v version) {
	Describe("1.5 UTF-8 encoded strings", func() {
		unusualStrings(b, v)
		for _, bad := range illFormed[:3] {
			It("closes the connection on a Topic Name with "+bad.what,
				v.Statement("v311/MQTT-1.5.3-1", "v5/MQTT-1.5.4-1", "v5/1.5.4-ill-formed-utf8-malformed"), func() {
					refusedPublish(b, v.key("v311/MQTT-1.5.3-1", "v5/MQTT-1.5.4-1"), "an ill-formed string closes the connection",
						func(topic string) []byte {
							return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/" + bad.bytes, QoS: 1, ID: 9})
						})
				})
		}

		It("closes the connection on a Topic Filter that is ill-formed",
			v.Statement("v311/MQTT-1.5.3-1", "v5/MQTT-1.5.4-1", "v5/1.5.4-ill-formed-utf8-malformed"), func() {
				refusedSubscribe(b, v.key("v311/MQTT-1.5.3-1", "v5/MQTT-1.5.4-1"), "an ill-formed string closes the connection",
					wire.Bytes(b.Version, wire.Subscribe{ID: 9, Subscriptions: []wire.Subscription{{Filter: b.Topic("\xed\xbf\xbf")}}}))
			})

		It("closes the connection on a Topic Name with U+0000",
			v.Statement("v311/MQTT-1.5.3-2", "v5/MQTT-1.5.4-2", "v5/1.5.4-nul-malformed"), func() {
				refusedPublish(b, v.key("v311/MQTT-1.5.3-2", "v5/MQTT-1.5.4-2"), "U+0000 closes the connection",
					func(topic string) []byte {
						return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/a\x00b", QoS: 1, ID: 9})
					})
			})

		It("closes the connection on a Topic Filter with U+0000",
			v.Statement("v311/MQTT-1.5.3-2", "v5/MQTT-1.5.4-2", "v5/1.5.4-nul-malformed"), func() {
				refusedSubscribe(b, v.key("v311/MQTT-1.5.3-2", "v5/MQTT-1.5.4-2"), "U+0000 closes the connection",
					wire.Bytes(b.Version, wire.Subscribe{ID: 9, Subscriptions: []wire.Subscription{{Filter: b.Topic("a\x00b")}}}))
			})

		It("takes U+FEFF for a character like any other, wherever it stands",
			v.Statement("v311/MQTT-1.5.3-3", "v5/MQTT-1.5.4-3"), func() {
				const mark = "\xef\xbb\xbf"
				plain := b.Topic("inside")
				marked := plain + "/" + mark
				with := b.Connect("with").Subscribe(marked, 1)
				without := b.Connect("without").Subscribe(plain+"/", 1)
				pub := b.Connect("pub")

				pub.Publish(wire.Publish{Topic: marked, QoS: 1, Payload: "marked"})

				Expect(with.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Topic", marked)), "the Topic Name arrives with U+FEFF")
				Expect(without.DeliveredBefore(pub.Sentinel(plain+"/", 1))).To(BeEmpty(), "a filter without U+FEFF does not match")
			})

		It("takes U+FEFF for a character like any other at the beginning",
			v.Statement("v311/MQTT-1.5.3-3", "v5/MQTT-1.5.4-3"), func() {
				marked := "\xef\xbb\xbf" + b.Topic()
				sub := b.Connect("sub").Subscribe(marked, 1)

				b.Connect("pub").Publish(wire.Publish{Topic: marked, QoS: 1, Payload: "marked"})

				Expect(sub.Answer(wire.PUBLISH)).To(probe.BePacket(HaveField("Topic", marked)), "the Topic Name arrives with U+FEFF")
			})
	})
}
