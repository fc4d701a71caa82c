package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// once are the properties that stand once in a packet, by its place among the
// carriers, each with the key of the statement that says so.
var once = map[string][]struct {
	id  wire.PropertyID
	key string
}{
	"CONNECT": {
		{wire.SessionExpiryInterval, "v5/3.1.2.11.2-connect-session-expiry-interval-twice"},
		{wire.TopicAliasMaximum, "v5/3.1.2.11.5-connect-topic-alias-maximum-twice"},
		{wire.RequestResponseInformation, "v5/3.1.2.11.6-connect-request-response-information-twice"},
		{wire.RequestProblemInformation, "v5/3.1.2.11.7-connect-request-problem-information-twice"},
	},
	"the Will Properties": {
		{wire.WillDelayInterval, "v5/3.1.3.2.2-will-will-delay-interval-twice"},
		{wire.PayloadFormatIndicator, "v5/3.1.3.2.3-will-payload-format-indicator-twice"},
		{wire.MessageExpiryInterval, "v5/3.1.3.2.4-will-message-expiry-interval-twice"},
		{wire.ContentType, "v5/3.1.3.2.5-will-content-type-twice"},
		{wire.CorrelationData, "v5/3.1.3.2.7-will-correlation-data-twice"},
	},
	"PUBLISH": {
		{wire.PayloadFormatIndicator, "v5/3.3.2.3.2-publish-payload-format-indicator-twice"},
		{wire.MessageExpiryInterval, "v5/3.3.2.3.3-publish-message-expiry-interval-twice"},
		{wire.CorrelationData, "v5/3.3.2.3.6-publish-correlation-data-twice"},
		{wire.ContentType, "v5/3.3.2.3.9-publish-content-type-twice"},
	},
	"PUBACK":  {{wire.ReasonString, "v5/3.4.2.2.2-puback-reason-string-twice"}},
	"PUBREC":  {{wire.ReasonString, "v5/3.5.2.2.2-pubrec-reason-string-twice"}},
	"PUBREL":  {{wire.ReasonString, "v5/3.6.2.2.2-pubrel-reason-string-twice"}},
	"PUBCOMP": {{wire.ReasonString, "v5/3.7.2.2.2-pubcomp-reason-string-twice"}},
	"DISCONNECT": {
		{wire.SessionExpiryInterval, "v5/3.14.2.2.2-disconnect-session-expiry-interval-twice"},
		{wire.ReasonString, "v5/3.14.2.2.3-disconnect-reason-string-twice"},
	},
}

// doubledProperties holds the specs of section 2.2.2 on properties that stand
// twice, where the first has a value that is easily taken for none: zero, or
// nothing.
func doubledProperties(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("2.2.2 Properties", func() {
		for _, c := range carriers {
			for _, p := range once[c.what] {
				It("of "+c.what+" are judged: "+p.id.String()+" twice, first zero or empty", v.Statement(p.key), func() {
					watch := b.Bystander()
					none, some := wire.Property{ID: p.id}.Bytes(), someProperty(p.id).Bytes()
					faults := []fault{
						{what: "nothing and then a value", properties: join(none, some)},
						{what: "nothing twice", properties: join(none, none)},
						{what: "nothing, another property and then a value", properties: join(none, pair("n", "v").Bytes(), some)},
					}
					probe.Reaction(p.key).Expect(c.unnoticed(b, faults)).To(BeEmpty(), "the property stands once; these were let pass")
					watch.Unharmed()
				})
			}
		}
	})
}
