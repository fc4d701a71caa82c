package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// reasonsTwice holds the specs of sections 3.4.2.2.2, 3.5.2.2.2, 3.6.2.2.2 and
// 3.7.2.2.2: acknowledgements of the client with two Reason Strings.
func reasonsTwice(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	one := wire.AppendString([]byte{byte(wire.ReasonString)}, "why")
	for _, c := range []struct {
		name, key string
		to        ready
	}{
		{"3.4.2.2.2 PUBACK", "v5/3.4.2.2.2-puback-reason-string-twice", acknowledging(wire.PUBACK)},
		{"3.5.2.2.2 PUBREC", "v5/3.5.2.2.2-pubrec-reason-string-twice", acknowledging(wire.PUBREC)},
		{"3.6.2.2.2 PUBREL", "v5/3.6.2.2.2-pubrel-reason-string-twice", releasing},
		{"3.7.2.2.2 PUBCOMP", "v5/3.7.2.2.2-pubcomp-reason-string-twice", acknowledging(wire.PUBCOMP)},
	} {
		It(c.name+" has one Reason String at most", v.Statement(c.key), func() {
			twin, packet := c.to(b)
			twin.SendBytes(fault{properties: one}.in(packet))
			twin.Ping()

			passed := byClose(c.to)(b, []fault{{what: "two Reason Strings", properties: join(one, one)}})

			probe.Reaction(c.key).Expect(passed).To(BeEmpty(), "two Reason Strings end the connection; these were let pass")
		})
	}
}

// responseInformation holds the spec of section 3.1.2.11.6 for clients that ask
// for Response Information.
func responseInformation(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	const one, optional = "v5/3.1.2.11.6-request-response-information-one", "v5/3.2.2.3.15-response-information-optional"
	It("3.1.2.11.6 Request Response Information 1 may bring Response Information", v.Observation(one, optional), func() {
		c := b.Connect("client", probe.Properties(wire.Property{ID: wire.RequestResponseInformation, Int: 1}))
		for _, r := range c.History() {
			if has(r, wire.ResponseInformation) {
				probe.Observe(one, "CONNACK has Response Information on request")
				return
			}
		}
		probe.Observe(one, "CONNACK has no Response Information")
	})
}
