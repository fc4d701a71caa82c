package packet

// The rules of the fixed header and of where a packet ends.
const (
	// RuleReservedType: packet type 0, and 15 in MQTT 3.1.1, does not exist.
	// [v311/2.2.1-reserved-types] [v5/2.1.2-packet-type-0]
	RuleReservedType Rule = "reserved-type"
	// RuleServerOnly: a client sends no CONNACK, SUBACK, UNSUBACK or PINGRESP.
	// [v311/2.2.1-server-only-types] [v5/2.1.2-connack-from-client] [v5/2.1.2-suback-from-client]
	// [v5/2.1.2-unsuback-from-client] [v5/2.1.2-pingresp-from-client]
	RuleServerOnly Rule = "server-only"
	// RuleClientOnly: a server sends no CONNECT, SUBSCRIBE, UNSUBSCRIBE or PINGREQ, and in MQTT 3.1.1 no DISCONNECT.
	// [v311/2.2.1-client-only-types] [v5/2.1.2-client-only-types-from-server]
	RuleClientOnly Rule = "client-only"
	// RuleLengthBytes: a Remaining Length has at most four bytes.
	// [v311/2.2.3-remaining-length-max] [v5/1.5.5-vbi-max-four-bytes]
	RuleLengthBytes Rule = "length-bytes"
	// RuleShortestLength: a Remaining Length is written in its shortest form.
	// [v5/MQTT-1.5.5-1]
	RuleShortestLength Rule = "shortest-length"
	// RuleVarintBytes: a Variable Byte Integer inside a packet has at most four bytes.
	// [v5/1.5.5-vbi-max-four-bytes]
	RuleVarintBytes Rule = "varint-bytes"
	// RuleShortestVarint: a Variable Byte Integer inside a packet is written in its shortest form.
	// [v5/MQTT-1.5.5-1]
	RuleShortestVarint Rule = "shortest-varint"
	// RuleOtherFlags: the flag bits of a packet without a statement of its own have their fixed value.
	// [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1]
	RuleOtherFlags Rule = "other-flags"
	// RuleConnectHeaderFlags: the flag bits of CONNECT in the fixed header are 0.
	// [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1] [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1]
	RuleConnectHeaderFlags Rule = "connect-header-flags"
	// RulePubackFlags: the flag bits of PUBACK are 0.
	// [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1]
	RulePubackFlags Rule = "puback-flags"
	// RulePubrecFlags: the flag bits of PUBREC are 0.
	// [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1]
	RulePubrecFlags Rule = "pubrec-flags"
	// RulePubcompFlags: the flag bits of PUBCOMP are 0.
	// [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1]
	RulePubcompFlags Rule = "pubcomp-flags"
	// RulePingreqFlags: the flag bits of PINGREQ are 0.
	// [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1]
	RulePingreqFlags Rule = "pingreq-flags"
	// RuleAnswerFlags: the flag bits of CONNACK, SUBACK, UNSUBACK and PINGRESP are 0.
	// [v311/MQTT-2.2.2-1] [v5/MQTT-2.1.3-1]
	RuleAnswerFlags Rule = "answer-flags"
	// RulePubrelFlags: the flag bits of PUBREL are 0010.
	// [v311/MQTT-3.6.1-1] [v5/MQTT-3.6.1-1]
	RulePubrelFlags Rule = "pubrel-flags"
	// RuleSubscribeFlags: the flag bits of SUBSCRIBE are 0010.
	// [v311/MQTT-3.8.1-1] [v5/MQTT-3.8.1-1]
	RuleSubscribeFlags Rule = "subscribe-flags"
	// RuleUnsubscribeFlags: the flag bits of UNSUBSCRIBE are 0010.
	// [v311/MQTT-3.10.1-1] [v5/MQTT-3.10.1-1]
	RuleUnsubscribeFlags Rule = "unsubscribe-flags"
	// RuleDisconnectFlags: the flag bits of DISCONNECT are 0.
	// [v311/MQTT-3.14.1-1] [v5/MQTT-3.14.1-1]
	RuleDisconnectFlags Rule = "disconnect-flags"
	// RuleAuthFlags: the flag bits of AUTH are 0.
	// [v5/MQTT-3.15.1-1]
	RuleAuthFlags Rule = "auth-flags"
	// RuleShort: a packet does not end inside a field.
	// [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShort Rule = "short-packet"
	// RuleShortPublish: a PUBLISH does not end inside a field.
	// [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShortPublish Rule = "short-publish"
	// RuleShortSubscribe: a SUBSCRIBE does not end inside a field.
	// [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShortSubscribe Rule = "short-subscribe"
	// RuleShortUnsubscribe: a UNSUBSCRIBE does not end inside a field.
	// [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShortUnsubscribe Rule = "short-unsubscribe"
	// RuleShortAck: a PUBACK, PUBREC, PUBREL or PUBCOMP does not end inside a field.
	// [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShortAck Rule = "short-ack"
	// RuleShortAnswer: a CONNACK, SUBACK or UNSUBACK does not end inside a field.
	// [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShortAnswer Rule = "short-answer"
	// RuleSurplus: nothing follows the last field of a packet.
	// [v5/2.1.4-surplus-bytes]
	RuleSurplus Rule = "surplus-bytes"
	// RuleSurplusAck: nothing follows the last field of a PUBACK, PUBREC, PUBREL or PUBCOMP.
	// [v5/2.1.4-surplus-bytes] [v311/3.4-fixed-lengths]
	RuleSurplusAck Rule = "surplus-ack"
	// RuleSurplusDisconnect: nothing follows the last field of a DISCONNECT of MQTT 5.0.
	// [v5/2.1.4-surplus-bytes]
	RuleSurplusDisconnect Rule = "surplus-disconnect"
	// RuleSurplusAuth: nothing follows the last field of an AUTH.
	// [v5/2.1.4-surplus-bytes]
	RuleSurplusAuth Rule = "surplus-auth"
	// RuleSurplusAnswer: nothing follows the last field of a CONNACK or UNSUBACK.
	// [v5/2.1.4-surplus-bytes] [v311/3.2.1-connack-length] [v311/3.4-fixed-lengths]
	RuleSurplusAnswer Rule = "surplus-answer"
	// RulePingBody: PINGREQ and PINGRESP have no body.
	// [v311/3.12-pingreq-length] [v5/3.12.1-pingreq-with-body]
	RulePingBody Rule = "ping-body"
	// RuleDisconnectBody: DISCONNECT has no body in MQTT 3.1.1.
	// [v311/3.14-disconnect-length]
	RuleDisconnectBody Rule = "disconnect-body"
)

var frameRules = []RuleInfo{
	{RuleReservedType, "", "packet type 0, and 15 in MQTT 3.1.1, does not exist", keys("v311/2.2.1-reserved-types v5/2.1.2-packet-type-0")},
	{RuleServerOnly, "", "a client sends no CONNACK, SUBACK, UNSUBACK or PINGRESP", keys("v311/2.2.1-server-only-types v5/2.1.2-connack-from-client v5/2.1.2-suback-from-client v5/2.1.2-unsuback-from-client v5/2.1.2-pingresp-from-client")},
	{RuleClientOnly, "", "a server sends no CONNECT, SUBSCRIBE, UNSUBSCRIBE or PINGREQ, and in MQTT 3.1.1 no DISCONNECT", keys("v311/2.2.1-client-only-types v5/2.1.2-client-only-types-from-server")},
	{RuleLengthBytes, "", "a Remaining Length has at most four bytes", keys("v311/2.2.3-remaining-length-max v5/1.5.5-vbi-max-four-bytes")},
	{RuleShortestLength, "", "a Remaining Length is written in its shortest form", keys("v5/MQTT-1.5.5-1")},
	{RuleVarintBytes, "", "a Variable Byte Integer inside a packet has at most four bytes", keys("v5/1.5.5-vbi-max-four-bytes")},
	{RuleShortestVarint, "", "a Variable Byte Integer inside a packet is written in its shortest form", keys("v5/MQTT-1.5.5-1")},
	{RuleOtherFlags, "", "the flag bits of a packet without a statement of its own have their fixed value", keys("v311/MQTT-2.2.2-1 v311/MQTT-2.2.2-2 v5/MQTT-2.1.3-1")},
	{RuleConnectHeaderFlags, RuleOtherFlags, "the flag bits of CONNECT in the fixed header are 0", keys("v311/MQTT-2.2.2-1 v311/MQTT-2.2.2-2 v5/MQTT-2.1.3-1 v311/MQTT-3.1.4-1 v5/MQTT-3.1.4-1")},
	{RulePubackFlags, RuleOtherFlags, "the flag bits of PUBACK are 0", keys("v311/MQTT-2.2.2-1 v311/MQTT-2.2.2-2 v5/MQTT-2.1.3-1")},
	{RulePubrecFlags, RuleOtherFlags, "the flag bits of PUBREC are 0", keys("v311/MQTT-2.2.2-1 v311/MQTT-2.2.2-2 v5/MQTT-2.1.3-1")},
	{RulePubcompFlags, RuleOtherFlags, "the flag bits of PUBCOMP are 0", keys("v311/MQTT-2.2.2-1 v311/MQTT-2.2.2-2 v5/MQTT-2.1.3-1")},
	{RulePingreqFlags, RuleOtherFlags, "the flag bits of PINGREQ are 0", keys("v311/MQTT-2.2.2-1 v311/MQTT-2.2.2-2 v5/MQTT-2.1.3-1")},
	{RuleAnswerFlags, RuleOtherFlags, "the flag bits of CONNACK, SUBACK, UNSUBACK and PINGRESP are 0", keys("v311/MQTT-2.2.2-1 v5/MQTT-2.1.3-1")},
	{RulePubrelFlags, "", "the flag bits of PUBREL are 0010", keys("v311/MQTT-3.6.1-1 v5/MQTT-3.6.1-1")},
	{RuleSubscribeFlags, "", "the flag bits of SUBSCRIBE are 0010", keys("v311/MQTT-3.8.1-1 v5/MQTT-3.8.1-1")},
	{RuleUnsubscribeFlags, "", "the flag bits of UNSUBSCRIBE are 0010", keys("v311/MQTT-3.10.1-1 v5/MQTT-3.10.1-1")},
	{RuleDisconnectFlags, "", "the flag bits of DISCONNECT are 0", keys("v311/MQTT-3.14.1-1 v5/MQTT-3.14.1-1")},
	{RuleAuthFlags, "", "the flag bits of AUTH are 0", keys("v5/MQTT-3.15.1-1")},
	{RuleShort, "", "a packet does not end inside a field", keys("v311/2.2.3-short-packet v5/2.1.4-packet-shorter-than-fields")},
	{RuleShortPublish, RuleShort, "a PUBLISH does not end inside a field", keys("v311/2.2.3-short-packet v5/2.1.4-packet-shorter-than-fields")},
	{RuleShortSubscribe, RuleShort, "a SUBSCRIBE does not end inside a field", keys("v311/2.2.3-short-packet v5/2.1.4-packet-shorter-than-fields")},
	{RuleShortUnsubscribe, RuleShort, "a UNSUBSCRIBE does not end inside a field", keys("v311/2.2.3-short-packet v5/2.1.4-packet-shorter-than-fields")},
	{RuleShortAck, RuleShort, "a PUBACK, PUBREC, PUBREL or PUBCOMP does not end inside a field", keys("v311/2.2.3-short-packet v5/2.1.4-packet-shorter-than-fields")},
	{RuleShortAnswer, RuleShort, "a CONNACK, SUBACK or UNSUBACK does not end inside a field", keys("v311/2.2.3-short-packet v5/2.1.4-packet-shorter-than-fields")},
	{RuleSurplus, "", "nothing follows the last field of a packet", keys("v5/2.1.4-surplus-bytes")},
	{RuleSurplusAck, RuleSurplus, "nothing follows the last field of a PUBACK, PUBREC, PUBREL or PUBCOMP", keys("v5/2.1.4-surplus-bytes v311/3.4-fixed-lengths")},
	{RuleSurplusDisconnect, RuleSurplus, "nothing follows the last field of a DISCONNECT of MQTT 5.0", keys("v5/2.1.4-surplus-bytes")},
	{RuleSurplusAuth, RuleSurplus, "nothing follows the last field of an AUTH", keys("v5/2.1.4-surplus-bytes")},
	{RuleSurplusAnswer, RuleSurplus, "nothing follows the last field of a CONNACK or UNSUBACK", keys("v5/2.1.4-surplus-bytes v311/3.2.1-connack-length v311/3.4-fixed-lengths")},
	{RulePingBody, "", "PINGREQ and PINGRESP have no body", keys("v311/3.12-pingreq-length v5/3.12.1-pingreq-with-body")},
	{RuleDisconnectBody, "", "DISCONNECT has no body in MQTT 3.1.1", keys("v311/3.14-disconnect-length")},
}
