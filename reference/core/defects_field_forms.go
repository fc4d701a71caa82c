package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// fieldFormDefects are faults in reading acknowledgements and lengths of MQTT
// 5.0 in all their forms.
var fieldFormDefects = []Defect{
	{"acks-with-code-alone-ignored", []string{"v5/3.4.2.1-puback-short-form", "v5/3.5.2.1-pubrec-short-form", "v5/3.6.2.1-pubrel-short-form", "v5/3.7.2.1-pubcomp-short-form", "v5/MQTT-4.3.3-4"}, "An acknowledgement that ends behind its code is ignored.", Run,
		func(r *rules) {
			r.skips = func(_ *Server, c *conn, first byte, body []byte) bool {
				kind := packet.Type(first >> 4)
				return c.five() && kind >= packet.PUBACK && kind <= packet.PUBCOMP && len(body) == 3
			}
		}},
	{"ack-user-property-once", []string{"v5/3.5.2.1-pubrec-short-form", "v5/3.6.2.1-pubrel-short-form"}, "An acknowledgement with several User Properties is refused.", Run,
		userPropertyOnce(func(p packet.Packet) []packet.UserProperty {
			if a, ok := p.(*packet.Ack); ok {
				return a.Properties.UserProperties
			}
			return nil
		})},
	{"surplus-bytes-taken", []string{"v5/2.1.4-surplus-bytes"}, "Bytes behind the last field of an acknowledgement are not looked at.", Warn,
		tolerate(packet.RuleSurplusAck)},
	{"padded-lengths-taken", []string{"v5/1.5.5-vbi-not-minimal"}, "A length may have more bytes than it needs.", Warn,
		tolerate(packet.RuleShortestLength, packet.RuleShortestVarint)},
}
