package specs

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// brokenProperties holds the specs of sections 1.5.7, 3.1.3.2 and 3.3.2.3 that
// break the rules for the properties of a message.
func brokenProperties(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("1.5.7 UTF-8 String Pair", func() { brokenPairs(b, v) })
	Describe("3.3.2.3 PUBLISH properties", func() {
		brokenTexts(b, v)
		brokenMessage(b, v)
		wrongFormat(b, v)
	})
	Describe("3.1.3.2 Will Properties", func() { brokenWill(b, v) })
}

// noString holds what no UTF-8 Encoded String may hold.
var noString = append(illFormed[:len(illFormed):len(illFormed)], struct{ what, bytes string }{"U+0000", "a\x00b"})

// withProperties is a PUBLISH to a topic below the given one, as bytes.
func withProperties(b *probe.Broker, topic string, properties ...wire.Property) []byte {
	return wire.Bytes(b.Version, wire.Publish{Topic: topic + "/broken", QoS: 1, ID: 9, Payload: "broken", Properties: properties})
}

func brokenPairs(b *probe.Broker, v version) {
	const key = "v5/MQTT-1.5.7-1"
	const why = "both parts of a User Property are legal strings"
	for _, bad := range noString {
		for i, p := range []wire.Property{pair(bad.bytes, "value"), pair("name", bad.bytes)} {
			It("with "+bad.what+" in its "+[]string{"name", "value"}[i]+" closes the connection on PUBLISH", v.Statement(key, "v5/1.5.7-string-pair-malformed"), func() {
				refusedPublish(b, key, why, func(topic string) []byte { return withProperties(b, topic, p) })
			})
		}
	}

	ill := wire.Properties{pair("name", "a\xff")}
	It("that is ill-formed closes the connection on SUBSCRIBE", v.Statement(key), func() {
		refusedSubscribe(b, key, why, wire.Bytes(b.Version,
			wire.Subscribe{ID: 9, Properties: ill, Subscriptions: []wire.Subscription{{Filter: b.Topic()}}}))
	})
	It("that is ill-formed closes the connection on UNSUBSCRIBE", v.Statement(key), func() {
		refusedPacket(b, key, why, wire.Bytes(b.Version, wire.Unsubscribe{ID: 9, Properties: ill, Filters: []string{b.Topic()}}))
	})

	// Of CONNECT the server has to check the format [v5/MQTT-3.1.4-1].
	It("that is ill-formed is refused in CONNECT", v.Statement(key), func() {
		b.Connect("twin", probe.Properties(pair("name", "value"))).Disconnect()
		notAccepted(b, probe.For(key), why, b.ConnectPacket(probe.Properties(ill...)))
	})
	It("that is ill-formed is refused in the Will Properties", v.Statement(key), func() {
		refusedWill(b, probe.For(key), why, wire.Properties{pair("name", "value")}, ill)
	})
}

// notAccepted asserts that a broken CONNECT is refused or not answered, and
// ends the connection.
func notAccepted(b *probe.Broker, judge Gomega, why string, p wire.Connect) {
	GinkgoHelper()
	c := b.Open("client")
	c.Send(p)
	judge.Expect(granted(c.Answer(wire.CONNACK))).To(BeFalse(), why+": no success CONNACK")
	judge.Expect(c).To(probe.BeClosed(), why+": the server closes")
}

// refusedWill asserts that a CONNECT with broken Will Properties is not
// accepted, where one with proper ones is.
func refusedWill(b *probe.Broker, judge Gomega, why string, proper, broken wire.Properties) {
	GinkgoHelper()
	w := wire.Will{Topic: b.Topic("will"), Payload: []byte("gone"), Properties: proper}
	b.Connect("twin", probe.WithWill(w)).Disconnect()
	w.Properties = broken
	notAccepted(b, judge, why, b.ConnectPacket(probe.WithWill(w)))
}

// brokenTexts are about properties that have to be UTF-8 Encoded Strings.
func brokenTexts(b *probe.Broker, v version) {
	for _, s := range []struct {
		id  wire.PropertyID
		key string
	}{
		{wire.ResponseTopic, "v5/MQTT-3.3.2-13"},
		{wire.ContentType, "v5/MQTT-3.3.2-19"},
	} {
		for _, bad := range noString {
			It(s.id.String()+" with "+bad.what+" closes the connection", v.Statement(s.key), func() {
				refusedPublish(b, s.key, s.id.String()+" is a legal string", func(topic string) []byte {
					return withProperties(b, topic, wire.Property{ID: s.id, Str: bad.bytes})
				})
			})
		}
	}

	const wild = "v5/MQTT-3.3.2-14"
	for _, filter := range []string{"mqttcheck/a/+", "mqttcheck/a/#", "mqttcheck/a+b"} {
		It("Response Topic '"+filter+"' closes the connection", v.Statement(wild), func() {
			refusedPublish(b, wild, "the Response Topic has no wildcard", func(topic string) []byte {
				return withProperties(b, topic, wire.Property{ID: wire.ResponseTopic, Str: filter})
			})
		})
	}
}

// single are the properties that a message has at most once, with two values.
var single = []struct {
	wire.Property
	other              wire.Property
	inPublish, inAWill string
}{
	{wire.Property{ID: wire.PayloadFormatIndicator, Int: 1}, wire.Property{ID: wire.PayloadFormatIndicator, Int: 0},
		"v5/3.3.2.3.2-publish-payload-format-indicator-twice", "v5/3.1.3.2.3-will-payload-format-indicator-twice"},
	{lifetime(60), lifetime(70),
		"v5/3.3.2.3.3-publish-message-expiry-interval-twice", "v5/3.1.3.2.4-will-message-expiry-interval-twice"},
	{wire.Property{ID: wire.ResponseTopic, Str: "mqttcheck/one"}, wire.Property{ID: wire.ResponseTopic, Str: "mqttcheck/two"},
		"v5/3.3.2.3.5-publish-response-topic-twice", "v5/3.1.3.2.6-will-response-topic-twice"},
	{wire.Property{ID: wire.CorrelationData, Bin: []byte("one")}, wire.Property{ID: wire.CorrelationData, Bin: []byte("two")},
		"v5/3.3.2.3.6-publish-correlation-data-twice", "v5/3.1.3.2.7-will-correlation-data-twice"},
	{wire.Property{ID: wire.ContentType, Str: "one"}, wire.Property{ID: wire.ContentType, Str: "two"},
		"v5/3.3.2.3.9-publish-content-type-twice", "v5/3.1.3.2.5-will-content-type-twice"},
	{wire.Property{ID: wire.WillDelayInterval, Int: 60}, wire.Property{ID: wire.WillDelayInterval, Int: 70},
		"", "v5/3.1.3.2.2-will-will-delay-interval-twice"},
}

func brokenMessage(b *probe.Broker, v version) {
	for _, s := range single {
		if s.inPublish == "" {
			continue
		}
		It(s.ID.String()+" twice closes the connection", v.Statement(s.inPublish), func() {
			refusedPublish(b, s.inPublish, "the property stands once", func(topic string) []byte {
				return withProperties(b, topic, s.Property, s.other)
			})
		})
	}

	const value = "v5/3.3.2.3.2-payload-format-value"
	It("Payload Format Indicator 2 closes the connection", v.Statement(value), func() {
		refusedPublish(b, value, "Payload Format Indicator is 0 or 1", func(topic string) []byte {
			return withProperties(b, topic, wire.Property{ID: wire.PayloadFormatIndicator, Int: 2})
		})
	})
}

func brokenWill(b *probe.Broker, v version) {
	for _, s := range single {
		It(s.ID.String()+" twice is refused", v.Statement(s.inAWill), func() {
			refusedWill(b, probe.Reaction(s.inAWill), "the property stands once", wire.Properties{s.Property}, wire.Properties{s.Property, s.other})
		})
	}

	const value = "v5/3.1.3.2.3-will-payload-format-value"
	It("Payload Format Indicator 2 is refused", v.Statement(value), func() {
		refusedWill(b, probe.Reaction(value), "Payload Format Indicator is 0 or 1",
			wire.Properties{{ID: wire.PayloadFormatIndicator, Int: 1}}, wire.Properties{{ID: wire.PayloadFormatIndicator, Int: 2}})
	})
}

// wrongFormat observes what becomes of a message whose payload is said to be
// UTF-8 and is not: a server may check it, and need not.
func wrongFormat(b *probe.Broker, v version) {
	const check, checkWill = "v5/3.3.2.3.2-payload-format-check", "v5/3.1.3.2.3-will-payload-format-check"
	format := wire.Properties{{ID: wire.PayloadFormatIndicator, Int: 1}}
	for _, qos := range []byte{0, 1, 2} {
		It("Payload Format Indicator that is wrong may be found at QoS "+digit(qos), v.Observation(check, "v5/3.3.2.3.2-utf8-payload"), func() {
			topic := b.Topic()
			sub := b.Connect("sub").Subscribe(topic, qos)
			pub := b.Connect("pub")
			pub.Send(wire.Publish{Topic: topic, QoS: qos, ID: 7, Payload: "\xff", Properties: format})
			answers := pub.BeforePing()
			for _, r := range answers {
				if ack, ok := r.Packet.(wire.Ack); ok && ack.Type == wire.PUBREC && ack.Code < 0x80 {
					pub.Send(wire.Ack{Type: wire.PUBREL, ID: 7})
				}
			}

			got := sub.DeliveredBefore(b.Connect("end").Sentinel(topic, qos))
			probe.Observe(check, "a payload that is not of its format is %s at QoS %d: %s", fate(got), qos, codesOf(answers))
		})
	}

	It("Payload Format Indicator that is wrong may be found in a will", v.Observation(checkWill), func() {
		topic := b.Topic("will")
		sub := b.Connect("sub").Subscribe(topic, 1)
		c := b.Open("client")
		c.Send(b.ConnectPacket(probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte("\xff"), Properties: format})))
		ack := c.Answer(wire.CONNACK)
		if !granted(ack) {
			probe.Observe(checkWill, "a will whose payload is not of its format is refused: %s", codesOf(c.History()))
			return
		}
		c.Drop()

		probe.Observe(checkWill, "a will whose payload is not of its format is taken, and %s", fate([]wire.Publish{sub.Delivery()}))
	})
}

// codesOf returns what a server answered, and with which codes.
func codesOf(answers []wire.Received) string {
	list := []string{}
	for _, r := range answers {
		switch p := r.Packet.(type) {
		case wire.Ack:
			list = append(list, fmt.Sprintf("%s 0x%02x", p.Type, p.Code))
		case wire.Connack:
			list = append(list, fmt.Sprintf("%s 0x%02x", wire.CONNACK, p.Code))
		case wire.Disconnect:
			list = append(list, fmt.Sprintf("%s 0x%02x", wire.DISCONNECT, p.Code))
		}
	}
	if len(list) == 0 {
		return "no answer"
	}
	return strings.Join(list, ", ")
}

// fate says what became of a message.
func fate(delivered []wire.Publish) string {
	switch {
	case len(delivered) == 0:
		return "not delivered"
	case delivered[0].Payload == "\xff" && delivered[0].Properties.Number(wire.PayloadFormatIndicator, 0) == 1:
		return "delivered unaltered"
	default:
		return "delivered altered"
	}
}
