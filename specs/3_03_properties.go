package specs

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// messageProperties holds the specs of section 3.3.2.3, and of 3.1.3.2 for
// wills: what of a message reaches its subscribers, along every path.
func messageProperties(b *probe.Broker, v version) {
	Describe("3.3.1.3 RETAIN of a message", func() { retainAlongPaths(b, v) })
	Describe("3.3.2.3 A message", func() { otherVersion(b, v) })
	if !v.is5() {
		return
	}
	Describe("3.3.2.3 The", func() {
		unalteredProperties(b, v)
		payloadFormat(b, v)
		userProperties(b, v)
		wholeMessages(b, v)
	})
}

// message returns a message at QoS 1 on a topic of its own.
func message(b *probe.Broker, properties ...wire.Property) wire.Publish {
	return wire.Publish{Topic: b.Topic(), QoS: 1, Payload: "carried", Properties: properties}
}

// pair is a User Property.
func pair(name, value string) wire.Property {
	return wire.Property{ID: wire.UserProperty, Pair: [2]string{name, value}}
}

// values returns the values of every property with the identifier, for
// comparison.
func values(ps wire.Properties, id wire.PropertyID) []string {
	list := []string{}
	for _, p := range ps.Every(id) {
		switch id {
		case wire.CorrelationData:
			list = append(list, string(p.Bin))
		case wire.ContentType, wire.ResponseTopic:
			list = append(list, p.Str)
		case wire.UserProperty:
			list = append(list, fmt.Sprintf("%q=%q", p.Pair[0], p.Pair[1]))
		default:
			list = append(list, fmt.Sprint(p.Int))
		}
	}
	return list
}

// pairs returns those User Properties of a delivery that the publisher sent
// as well: nothing forbids a server to add some of its own.
func pairs(delivered, sent wire.Properties) []string {
	known := values(sent, wire.UserProperty)
	return slices.DeleteFunc(values(delivered, wire.UserProperty), func(s string) bool { return !slices.Contains(known, s) })
}

// unaltered are properties that have to reach every subscriber as they are.
var unaltered = []struct {
	what, key string
	sent      wire.Property
}{
	{"Payload Format Indicator", "v5/MQTT-3.3.2-4", wire.Property{ID: wire.PayloadFormatIndicator, Int: 1}},
	{"Response Topic", "v5/MQTT-3.3.2-15", wire.Property{ID: wire.ResponseTopic, Str: "mqttcheck/réponse//1 "}},
	{"Correlation Data", "v5/MQTT-3.3.2-16", wire.Property{ID: wire.CorrelationData, Bin: []byte("\x00\xff\x80 \xc0\x80\xed\xa0\x80")}},
	{"Content Type", "v5/MQTT-3.3.2-20", wire.Property{ID: wire.ContentType, Str: "Text/X-Test; charset=\"utf-8\" ✓"}},
}

func unalteredProperties(b *probe.Broker, v version) {
	for _, u := range unaltered {
		for _, p := range paths {
			It(u.what+" comes unaltered with a message "+p.name, v.Statement(u.key), func() {
				got := p.along(b, message(b, u.sent))

				Expect(values(got.Properties, u.sent.ID)).To(Equal(values(wire.Properties{u.sent}, u.sent.ID)))
			})
		}
	}

	for _, u := range unaltered[2:] {
		It(u.what+" comes also when it is empty", v.Statement(u.key), func() {
			empty := wire.Property{ID: u.sent.ID}
			got := pathLive.along(b, message(b, empty))

			Expect(values(got.Properties, empty.ID)).To(Equal([]string{""}), "an empty value is not the same as none")
		})
	}
}

func payloadFormat(b *probe.Broker, v version) {
	for _, p := range paths {
		It("Payload Format Indicator is not set on the way for a message "+p.name, v.Statement("v5/MQTT-3.3.2-4"), func() {
			for _, sent := range []wire.Properties{nil, {{ID: wire.PayloadFormatIndicator, Int: 0}}} {
				got := p.along(b, message(b, sent...))

				Expect(got.Properties.Number(wire.PayloadFormatIndicator, 0)).To(BeZero(), "0 and none mean the same, 1 does not")
			}
		})
	}
}

// oddPairs are User Properties with equal names, equal pairs, empty parts,
// and text of every kind but control characters, which a server may refuse.
var oddPairs = wire.Properties{
	pair("a", "1"), pair("a", "1"), pair("a", "2"), pair("", ""), pair("name only", ""), pair("", "value only"),
	pair("ключ", "値 🙂 e\u0301 é"), pair(" space ", " "), pair("long", strings.Repeat("0123456789", 20)),
}

// unsorted are User Properties in an order that is neither that of their names
// nor that of their values, and does not keep equal names together.
var unsorted = wire.Properties{
	pair("b", "2"), pair("a", "1"), pair("c", "9"), pair("b", "1"), pair("A", "5"), pair("c", "0"), pair("aa", "3"), pair("a", "0"),
}

func userProperties(b *probe.Broker, v version) {
	for _, p := range paths {
		It("User Properties all come with a message "+p.name, v.Statement("v5/MQTT-3.3.2-17", "v5/3.3.2.3.7-user-property-repeats"), func() {
			got := p.along(b, message(b, oddPairs...))

			Expect(pairs(got.Properties, oddPairs)).To(ConsistOf(values(oddPairs, wire.UserProperty)), "every pair as often as it was sent")
		})

		all, order, repeats := "v5/MQTT-3.3.2-17", "v5/MQTT-3.3.2-18", "v5/3.3.2.3.7-user-property-repeats"
		if p.name == pathWill.name {
			all, order = "v5/3.1.3.2-will-properties-forwarded", "v5/MQTT-3.1.3-10"
			repeats = "v5/3.1.3.2.8-will-user-property-repeats"
		}
		It("User Properties keep their order in a message "+p.name, v.Statement(order, all, repeats), func() {
			got := pairs(p.along(b, message(b, unsorted...)).Properties, unsorted)

			sent := values(unsorted, wire.UserProperty)
			probe.For(all).Expect(got).To(ConsistOf(sent), "every pair comes")
			Expect(got).To(Equal(sent), "the pairs come in the order in which they were sent")
		})
	}
}

// wholeMessages are about messages with every property that they may have.
func wholeMessages(b *probe.Broker, v version) {
	for _, w := range []struct {
		path path
		key  string
	}{
		{pathRetained, "v5/3.3.1.3-retained-properties-kept"},
		{pathWill, "v5/3.1.3.2-will-properties-forwarded"},
	} {
		It("properties all come together with a message "+w.path.name, v.Statement(w.key), func() {
			sent := slices.Concat(unsorted, wire.Properties{{ID: wire.MessageExpiryInterval, Int: 3600}})
			for _, u := range unaltered {
				sent = append(sent, u.sent)
			}
			got := w.path.along(b, message(b, sent...)).Properties

			for _, u := range unaltered {
				Expect(values(got, u.sent.ID)).To(Equal(values(sent, u.sent.ID)), "%s is there", u.what)
			}
			Expect(values(got, wire.MessageExpiryInterval)).To(HaveLen(1), "the Message Expiry Interval is there")
			Expect(pairs(got, sent)).To(ConsistOf(values(sent, wire.UserProperty)), "the User Properties are there")
		})
	}
}

// otherVersion is about messages between clients of the two versions: each
// side has its own format, and MQTT 3.1.1 has no properties.
func otherVersion(b *probe.Broker, v version) {
	for _, p := range pathsTo(v) {
		It("from a publisher of the other version comes in this one's format "+p.name, v.Statement("v311/7.1.1-packet-format", "v5/7.1.1-packet-format"), func() {
			m := message(b, slices.Concat(unsorted, wire.Properties{unaltered[1].sent})...)
			sub := p.carry(journey{from: inOther(b), to: b, message: m})

			a := sub.Answer(wire.PUBLISH)
			if !a.Came {
				probe.Inconclusive("no message came: %s", a.GomegaString())
			}
			Expect(a).To(probe.BePacket(And(HaveField("Topic", m.Topic), HaveField("Payload", m.Payload))), "topic and payload are whole, with nothing between them")
		})
	}
}

// retainAlongPaths is about what becomes of RETAIN in a delivery that is not
// made because of the SUBSCRIBE.
func retainAlongPaths(b *probe.Broker, v version) {
	BeforeEach(func() { b.Lacking("retain") })
	for _, p := range pathsTo(v, pathRetained) {
		It("is 0 in one "+p.name, v.Statement("v311/MQTT-3.3.1-9", "v5/MQTT-3.3.1-12"), func() {
			m := message(b)
			m.Retain = true

			got := needed(live(p.carry(journey{from: b, to: b, message: m}), m.Topic), m.Topic)
			Expect(got).To(HaveField("Retain", false), "the subscription was there before")
		})

		if !v.is5() {
			continue
		}
		It("is as it was published in one "+p.name+", with Retain As Published", v.Statement("v5/MQTT-3.3.1-13"), func() {
			for _, retain := range []bool{true, false} {
				m := message(b)
				m.Retain = retain
				sub := p.carry(journey{from: b, to: b, message: m, subscription: wire.Subscription{RetainAsPublished: true}})

				Expect(sub.Delivery()).To(HaveField("Retain", retain), "the flag of the publisher is kept")
			}
		})
	}
}
