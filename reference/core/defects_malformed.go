package core

import (
	"bytes"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// malformedDefects are faults in judging packets of MQTT 5.0 by their format:
// sections 2.2.2 and 2.4.
var malformedDefects = []Defect{
	{"connect-foreign-properties", []string{"v5/2.2.2-property-not-for-connect"}, "CONNECT may have any property.", Warn,
		tolerate(packet.RulePropertyNotForConnect)},
	{"will-foreign-properties", []string{"v5/2.2.2-property-not-for-will"}, "The Will Properties may hold any property.", Warn,
		tolerate(packet.RulePropertyNotForWill)},
	{"publish-foreign-properties", []string{"v5/2.2.2-property-not-for-publish"}, "PUBLISH may have any property.", Warn,
		tolerate(packet.RulePropertyNotForPublish)},
	{"ack-foreign-properties", []string{"v5/2.2.2-property-not-for-acks"}, "PUBACK, PUBREC, PUBREL and PUBCOMP may have any property.", Warn,
		tolerate(packet.RulePropertyNotForAcks)},
	{"subscribe-foreign-properties", []string{"v5/2.2.2-property-not-for-subscribe"}, "SUBSCRIBE may have any property.", Warn,
		tolerate(packet.RulePropertyNotForSubscribe)},
	{"unsubscribe-foreign-properties", []string{"v5/2.2.2-property-not-for-unsubscribe"}, "UNSUBSCRIBE may have any property.", Warn,
		tolerate(packet.RulePropertyNotForUnsubscribe)},
	{"disconnect-foreign-properties", []string{"v5/2.2.2-property-not-for-disconnect"}, "DISCONNECT may have any property.", Warn,
		tolerate(packet.RulePropertyNotForDisconnect)},
	{"auth-foreign-properties", []string{"v5/2.2.2-property-not-for-auth"}, "AUTH may have any property.", Warn,
		tolerate(packet.RulePropertyNotForAuth)},
	{"unknown-properties-skipped", []string{"v5/2.2.2-unknown-property"}, "Properties from the first that is not defined are skipped.", Warn,
		tolerate(packet.RulePropertyUnknown)},
	{"short-properties-taken", []string{"v5/2.2.2-property-value-wrong-size"}, "What is missing of a property that is cut off counts as zero.", Warn,
		tolerate(packet.RulePropertyShort)},
	{"property-length-unchecked", []string{"v5/2.2.2-property-length-beyond-packet"}, "A Property Length beyond the packet counts as 0.", Warn,
		tolerate(packet.RulePropertyLength)},
	{"connect-properties-ordered", []string{"v5/2.2.2-property-order-free"}, "A CONNECT whose first of several properties is the Maximum Packet Size is not answered.", Run,
		func(r *rules) {
			r.skips = func(_ *Server, _ *conn, first byte, body []byte) bool {
				return packet.Type(first>>4) == packet.CONNECT && len(body) > 12 && body[6] == 5 && body[10] > 5 && body[11] == 0x27
			}
		}},
	{"publish-properties-ordered", []string{"v5/2.2.2-property-order-free"}, "A PUBLISH whose Correlation Data stand ahead of its Content Type is dropped.", Run,
		func(r *rules) {
			r.skips = func(_ *Server, _ *conn, first byte, body []byte) bool {
				text, data := bytes.Index(body, []byte{0x03, 0}), bytes.Index(body, []byte{0x09, 0})
				return packet.Type(first>>4) == packet.PUBLISH && data > 0 && data < text
			}
		}},

	{"puback-code-unchecked", []string{"v5/3.4-ack-undefined-code"}, "PUBACK may have any code.", Warn,
		tolerate(packet.RulePubackCode)},
	{"pubrec-code-unchecked", []string{"v5/3.4-ack-undefined-code"}, "PUBREC may have any code.", Warn,
		tolerate(packet.RulePubrecCode)},
	{"pubrel-code-unchecked", []string{"v5/3.4-ack-undefined-code"}, "PUBREL may have any code.", Warn,
		tolerate(packet.RulePubrelCode)},
	{"pubcomp-code-unchecked", []string{"v5/3.4-ack-undefined-code"}, "PUBCOMP may have any code.", Warn,
		tolerate(packet.RulePubcompCode)},
	{"disconnect-code-undefined", []string{"v5/MQTT-3.14.2-1"}, "DISCONNECT with an undefined code below 0x80 is a normal one.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleDisconnectCode] = true
			r.leavesWill = func(code packet.ReasonCode) bool { return code == packet.DisconnectWithWill || code >= 0x80 }
		}},
	{"disconnect-code-of-servers", []string{"v5/3.14.2.1-server-codes-from-client"}, "DISCONNECT with a code that is for servers is a normal one.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleDisconnectCodeFromClient] = true
			r.leavesWill = func(code packet.ReasonCode) bool {
				return code == packet.DisconnectWithWill || code == packet.UnspecifiedError || code == packet.MalformedPacket || code == packet.ProtocolError
			}
		}},
}
