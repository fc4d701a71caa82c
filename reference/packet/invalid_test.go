package packet

import (
	"errors"
	"testing"
)

// fault is a packet that breaks one rule.
type fault struct {
	rule    Rule
	code    ReasonCode
	version Version
	from    Side
	first   byte   // of the fixed header; the Remaining Length is that of the body
	body    string // as raw reads it
	then    Rule   // what is broken next where rule is tolerated, "" for nothing
}

const (
	c4 = "0004 'MQTT' 04 "
	c5 = "0004 'MQTT' 05 "
)

// faults has at least one packet for each rule that Decode knows and that is
// about one kind of packet; those of strings and of doubled properties are made
// in TestEveryRuleIsEnforced.
var faults = []fault{
	// Fixed header. [2.2 of MQTT 3.1.1, 2.1 of MQTT 5.0]
	{RuleReservedType, MalformedPacket, V311, AnySide, 0x00, "", ""},
	{RuleReservedType, MalformedPacket, V5, AnySide, 0x0f, "0001", ""},
	{RuleReservedType, MalformedPacket, V311, AnySide, 0xf0, "", ""},
	{RuleServerOnly, ProtocolError, V5, FromClient, 0x20, "00 00 00", ""},
	{RuleServerOnly, ProtocolError, V311, FromClient, 0x90, "0001 00", ""},
	{RuleServerOnly, ProtocolError, V5, FromClient, 0xb0, "0001 00 00", ""},
	{RuleServerOnly, ProtocolError, V311, FromClient, 0xd0, "", ""},
	{RuleClientOnly, ProtocolError, V311, FromServer, 0x10, c4 + "02 0000 0000", ""},
	{RuleClientOnly, ProtocolError, V5, FromServer, 0x82, "0001 00 0001 'a' 00", ""},
	{RuleClientOnly, ProtocolError, V5, FromServer, 0xa2, "0001 00 0001 'a'", ""},
	{RuleClientOnly, ProtocolError, V311, FromServer, 0xc0, "", ""},
	{RuleClientOnly, ProtocolError, V311, FromServer, 0xe0, "", ""},
	{RuleConnectHeaderFlags, MalformedPacket, V5, AnySide, 0x11, c5 + "02 0000 00 0000", ""},
	{RulePubackFlags, MalformedPacket, V311, AnySide, 0x42, "0001", ""},
	{RulePubrecFlags, MalformedPacket, V5, AnySide, 0x51, "0001", ""},
	{RulePubrelFlags, MalformedPacket, V311, AnySide, 0x60, "0001", ""},
	{RulePubrelFlags, MalformedPacket, V5, AnySide, 0x63, "0001", ""},
	{RulePubcompFlags, MalformedPacket, V311, AnySide, 0x78, "0001", ""},
	{RuleSubscribeFlags, MalformedPacket, V311, AnySide, 0x80, "0001 0001 'a' 00", ""},
	{RuleUnsubscribeFlags, MalformedPacket, V5, AnySide, 0xa0, "0001 00 0001 'a'", ""},
	{RulePingreqFlags, MalformedPacket, V311, AnySide, 0xc1, "", ""},
	{RuleDisconnectFlags, MalformedPacket, V5, AnySide, 0xe2, "", ""},
	{RuleAuthFlags, MalformedPacket, V5, AnySide, 0xf1, "18 04 15 0001 'm'", ""},
	{RuleAnswerFlags, MalformedPacket, V311, AnySide, 0x2f, "0000", ""},
	{RuleAnswerFlags, MalformedPacket, V311, AnySide, 0x92, "0001 00", ""},
	{RuleAnswerFlags, MalformedPacket, V311, AnySide, 0xb2, "0001", ""},
	{RuleAnswerFlags, MalformedPacket, V311, AnySide, 0xd1, "", ""},
	{RuleVarintBytes, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 80808080 01", ""},
	{RuleVarintBytes, MalformedPacket, V5, AnySide, 0x82, "0001 06 0b ffffffff 7f 0001 'a' 00", RulePropertyUnknown},
	{RuleShortestVarint, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 8000 'x'", ""},
	{RuleShortestVarint, MalformedPacket, V5, AnySide, 0x82, "0001 03 0b 8100 0001 'a' 00", ""},
	{RuleShortPublish, MalformedPacket, V311, AnySide, 0x30, "00", RuleTopicEmpty},
	{RuleShortPublish, MalformedPacket, V311, AnySide, 0x30, "ffff 'abc'", ""},
	{RuleShortPublish, MalformedPacket, V311, AnySide, 0x32, "0001 'a' 01", RulePublishID},
	{RuleShortSubscribe, MalformedPacket, V311, AnySide, 0x82, "0001 0001 'a'", ""},
	{RuleShortSubscribe, MalformedPacket, V5, AnySide, 0x82, "0001 00 0040 'a' 00", RuleSubscribeNUL},
	{RuleShortUnsubscribe, MalformedPacket, V311, AnySide, 0xa2, "0001 0002 'a'", ""},
	{RuleShortAck, MalformedPacket, V311, AnySide, 0x40, "00", ""},
	{RuleShortAck, MalformedPacket, V5, AnySide, 0x62, "", ""},
	{RuleShortAnswer, MalformedPacket, V311, AnySide, 0x20, "00", ""},
	{RuleShortAnswer, MalformedPacket, V311, AnySide, 0xb0, "", ""},
	{RuleSurplusAck, MalformedPacket, V311, AnySide, 0x40, "0001 00", ""},
	{RuleSurplusAck, MalformedPacket, V5, AnySide, 0x70, "0001 00 00 00", ""},
	{RuleSurplusDisconnect, MalformedPacket, V5, AnySide, 0xe0, "00 00 00", ""},
	{RuleSurplusAuth, MalformedPacket, V5, AnySide, 0xf0, "18 04 15 0001 'm' 00", ""},
	{RuleSurplusAnswer, MalformedPacket, V311, AnySide, 0x20, "0000 00", ""},
	{RuleSurplusAnswer, MalformedPacket, V311, AnySide, 0xb0, "0001 00", ""},
	{RulePingBody, MalformedPacket, V311, AnySide, 0xc0, "00", ""},
	{RulePingBody, MalformedPacket, V5, AnySide, 0xd0, "00", ""},
	{RuleDisconnectBody, MalformedPacket, V311, AnySide, 0xe0, "00", ""},

	// CONNECT. [3.1]
	{RuleProtocolName, UnsupportedProtocolVersion, V311, AnySide, 0x10, "0004 'mqtt' 04 02 0000 0000", ""},
	{RuleProtocolName, UnsupportedProtocolVersion, V5, AnySide, 0x10, "0005 'MQTTX' 05 02 0000 00 0000", ""},
	{RuleProtocolName, UnsupportedProtocolVersion, V5, AnySide, 0x10, "0000 05 02 0000 00 0000", ""},
	{RuleProtocolLevel, UnsupportedProtocolVersion, V311, AnySide, 0x10, "0004 'MQTT' 06 02 0000 0000", ""},
	{RuleConnectReserved, MalformedPacket, V311, AnySide, 0x10, c4 + "03 0000 0000", ""},
	{RuleWillQoSNoWill, MalformedPacket, V311, AnySide, 0x10, c4 + "0a 0000 0000", ""},
	{RuleWillQoSNoWill, MalformedPacket, V5, AnySide, 0x10, c5 + "1a 0000 00 0000", ""},
	{RuleWillRetainNoWill, MalformedPacket, V5, AnySide, 0x10, c5 + "22 0000 00 0000", ""},
	{RuleWillQoS3, MalformedPacket, V311, AnySide, 0x10, c4 + "1e 0000 0000 0001 'w' 0000", ""},
	{RulePasswordAlone, MalformedPacket, V311, AnySide, 0x10, c4 + "42 0000 0000 0000", ""},
	{RuleShortConnect, MalformedPacket, V311, AnySide, 0x10, "0004 'MQ'", RuleProtocolName},
	{RuleShortConnect, MalformedPacket, V311, AnySide, 0x10, c4 + "02 00", RuleNoClientID},
	{RuleShortConnect, MalformedPacket, V5, AnySide, 0x10, c5 + "02 003c", RuleNoClientID},
	{RuleShortConnect, MalformedPacket, V311, AnySide, 0x10, c4 + "02 0000 0040 'fg'", ""},
	{RuleNoClientID, MalformedPacket, V311, AnySide, 0x10, c4 + "02 0000", ""},
	{RuleNoClientID, MalformedPacket, V5, AnySide, 0x10, c5 + "02 0000 00", ""},
	{RuleNoWillFields, MalformedPacket, V311, AnySide, 0x10, c4 + "06 0000 0001 'c'", ""},
	{RuleNoWillFields, MalformedPacket, V5, AnySide, 0x10, c5 + "06 0000 00 0001 'c' 00", ""},
	{RuleNoWillFields, MalformedPacket, V5, AnySide, 0x10, c5 + "06 0000 00 0001 'c' 00 0001 'w'", ""},
	{RuleNoUsername, MalformedPacket, V311, AnySide, 0x10, c4 + "82 0000 0001 'c'", ""},
	{RuleNoPassword, MalformedPacket, V5, AnySide, 0x10, c5 + "c2 0000 00 0001 'c' 0001 'u'", ""},
	{RuleSurplusConnect, MalformedPacket, V311, AnySide, 0x10, c4 + "c2 0000 0000 0000 0000 5a5a", ""},
	{RuleSurplusUsername, MalformedPacket, V311, AnySide, 0x10, c4 + "02 0000 0001 'c' 0001 'u'", ""},
	{RuleSurplusPassword, MalformedPacket, V5, AnySide, 0x10, c5 + "82 0000 00 0001 'c' 0001 'u' 0001 'p'", ""},
	{RuleWillTopicEmpty, MalformedPacket, V5, AnySide, 0x10, c5 + "06 0000 00 0000 00 0000 0000", ""},
	{RuleWillTopicWild, TopicNameInvalid, V311, AnySide, 0x10, c4 + "06 0000 0000 0003 'a/#' 0000", ""},

	// CONNACK. [3.2]
	{RuleConnackFlags, MalformedPacket, V311, AnySide, 0x20, "0200", ""},
	{RuleConnackCode, ProtocolError, V311, AnySide, 0x20, "0006", ""},
	{RuleConnackCode, ProtocolError, V5, AnySide, 0x20, "00 8b 00", ""},
	{RuleConnackSessionPresent, ProtocolError, V5, AnySide, 0x20, "01 80 00", ""},

	// PUBLISH. [3.3]
	{RuleQoS3, MalformedPacket, V311, AnySide, 0x36, "0001 'a' 0001", ""},
	{RuleDupQoS0, MalformedPacket, V5, AnySide, 0x38, "0001 'a' 00", ""},
	{RuleTopicWild, TopicNameInvalid, V5, AnySide, 0x30, "0003 'a/#' 00", ""},
	{RuleTopicWild, TopicNameInvalid, V311, AnySide, 0x30, "0003 'a+b'", ""},
	{RuleTopicEmpty, ProtocolError, V311, AnySide, 0x30, "0000", ""},
	{RuleTopicEmpty, ProtocolError, V5, AnySide, 0x30, "0000 00", ""},
	{RulePublishID, ProtocolError, V311, AnySide, 0x32, "0001 'a' 0000", ""},
	{RulePublishSubscriptionID, ProtocolError, V5, FromClient, 0x30, "0001 'a' 02 0b01", ""},

	// Acknowledgements and codes. [3.4 to 3.7, 3.9, 3.11]
	{RulePubackCode, ProtocolError, V5, AnySide, 0x40, "0001 92", ""},
	{RulePubrecCode, ProtocolError, V5, AnySide, 0x50, "0001 01", ""},
	{RulePubrelCode, ProtocolError, V5, AnySide, 0x62, "0001 10", ""},
	{RulePubcompCode, ProtocolError, V5, AnySide, 0x70, "0001 80", ""},
	{RuleSubackCode, ProtocolError, V311, AnySide, 0x90, "0001 03", ""},
	{RuleSubackCode, ProtocolError, V5, AnySide, 0x90, "0001 00 11", ""},
	{RuleUnsubackCode, ProtocolError, V5, AnySide, 0xb0, "0001 00 97", ""},

	// SUBSCRIBE and UNSUBSCRIBE. [3.8, 3.10]
	{RuleSubscribeID, ProtocolError, V311, AnySide, 0x82, "0000 0001 'a' 00", ""},
	{RuleSubscribeEmpty, ProtocolError, V311, AnySide, 0x82, "0001", ""},
	{RuleSubscribeEmpty, ProtocolError, V5, AnySide, 0x82, "0001 00", ""},
	{RuleSubscribeFilterEmpty, MalformedPacket, V311, AnySide, 0x82, "0001 0000 00", ""},
	{RuleSubscribeQoS3, ProtocolError, V311, AnySide, 0x82, "0001 0001 'a' 03", ""},
	{RuleSubscribeQoS3, ProtocolError, V5, AnySide, 0x82, "0001 00 0001 'a' 03", ""},
	{RuleSubscribeBits, MalformedPacket, V311, AnySide, 0x82, "0001 0001 'a' 04", ""},
	{RuleSubscribeBits, MalformedPacket, V5, AnySide, 0x82, "0001 00 0001 'a' 40", ""},
	{RuleSubscribeBits, MalformedPacket, V5, AnySide, 0x82, "0001 00 0001 'a' 80", ""},
	{RuleRetainHandling3, ProtocolError, V5, AnySide, 0x82, "0001 00 0001 'a' 30", ""},
	{RuleUnsubscribeID, ProtocolError, V5, AnySide, 0xa2, "0000 00 0001 'a'", ""},
	{RuleUnsubscribeEmpty, ProtocolError, V5, AnySide, 0xa2, "0001 00", ""},
	{RuleUnsubscribeFilterEmpty, MalformedPacket, V311, AnySide, 0xa2, "0001 0000", ""},

	// DISCONNECT and AUTH. [3.14, 3.15 of MQTT 5.0]
	{RuleDisconnectCode, ProtocolError, V5, AnySide, 0xe0, "ff", ""},
	{RuleDisconnectCodeFromClient, ProtocolError, V5, FromClient, 0xe0, "8e", ""},
	{RuleDisconnectCodeFromClient, ProtocolError, V5, FromClient, 0xe0, "9a", ""},
	{RuleDisconnectCodeFromServer, ProtocolError, V5, FromServer, 0xe0, "04", ""},
	{RuleAuthCode, ProtocolError, V5, AnySide, 0xf0, "80 04 15 0001 'm'", ""},
	{RuleAuthCodeFromClient, ProtocolError, V5, FromClient, 0xf0, "00 04 15 0001 'm'", ""},
	{RuleAuthCodeFromServer, ProtocolError, V5, FromServer, 0xf0, "19 04 15 0001 'm'", ""},
	{RuleAuthMethod, ProtocolError, V5, AnySide, 0xf0, "", ""},
	{RuleAuthMethod, ProtocolError, V5, AnySide, 0xf0, "18 00", ""},

	// Properties. [2.2.2 of MQTT 5.0]
	{RulePropertyLengthMissing, MalformedPacket, V5, AnySide, 0x32, "0001 'a' 0001", ""},
	{RulePropertyLengthMissing, MalformedPacket, V5, AnySide, 0xa2, "0001", RuleUnsubscribeEmpty},
	{RulePropertyLength, MalformedPacket, V5, AnySide, 0x82, "0001 7f", RuleSubscribeEmpty},
	{RulePropertyLength, MalformedPacket, V5, AnySide, 0x10, c5 + "02 0000 7f 11 00000001", RuleShortConnect},
	{RulePropertyUnknown, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 02 7f00", ""},
	{RulePropertyUnknown, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 02 0000", ""},
	{RulePropertyUnknown, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 02 ff01", ""},
	{RulePropertyShort, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 01 26 'x'", ""},
	{RulePropertyShort, MalformedPacket, V5, AnySide, 0x10, c5 + "02 0000 04 11 000000 0000", ""},
	{RulePropertyNotForConnect, MalformedPacket, V5, AnySide, 0x10, c5 + "02 0000 05 18 00000000 0000", ""},
	{RulePropertyNotForWill, MalformedPacket, V5, AnySide, 0x10, c5 + "06 0000 00 0001 'f' 03 22 0005 0001 'w' 0001 'x'", ""},
	{RulePropertyNotForPublish, MalformedPacket, V5, AnySide, 0x30, "0001 'a' 05 11 00000000", ""},
	{RulePropertyNotForAcks, MalformedPacket, V5, AnySide, 0x40, "0001 00 02 0100", ""},
	{RulePropertyNotForAcks, MalformedPacket, V5, AnySide, 0x62, "0001 00 03 230001", ""},
	{RulePropertyNotForSubscribe, MalformedPacket, V5, AnySide, 0x82, "0001 03 1f0000 0001 'a' 00", ""},
	{RulePropertyNotForUnsubscribe, MalformedPacket, V5, AnySide, 0xa2, "0001 02 0b01 0001 'a'", ""},
	{RulePropertyNotForDisconnect, MalformedPacket, V5, AnySide, 0xe0, "00 03 230001", ""},
	{RulePropertyNotForAuth, MalformedPacket, V5, AnySide, 0xf0, "18 09 15 0001 'm' 11 00000000", ""},
	{RulePropertyNotForAnswer, MalformedPacket, V5, AnySide, 0x20, "00 00 02 1700", ""},
	{RulePropertyNotForAnswer, MalformedPacket, V5, AnySide, 0x90, "0001 02 0b01 00", ""},
	{RuleConnectReceiveMaximumZero, ProtocolError, V5, AnySide, 0x10, c5 + "02 0000 03 210000 0000", ""},
	{RuleConnectMaximumPacketSizeZero, ProtocolError, V5, AnySide, 0x10, c5 + "02 0000 05 2700000000 0000", ""},
	{RuleRequestResponseInformationValue, ProtocolError, V5, AnySide, 0x10, c5 + "02 0000 02 1902 0000", ""},
	{RuleRequestProblemInformationValue, ProtocolError, V5, AnySide, 0x10, c5 + "02 0000 02 17ff 0000", ""},
	{RuleWillPayloadFormatValue, ProtocolError, V5, AnySide, 0x10, c5 + "06 0000 00 0000 02 0102 0001 'w' 0000", ""},
	{RulePublishPayloadFormatValue, ProtocolError, V5, AnySide, 0x30, "0001 'a' 02 0102", ""},
	{RuleSubscribeSubscriptionIDZero, ProtocolError, V5, AnySide, 0x82, "0001 02 0b00 0001 'a' 00", ""},
	{RulePublishSubscriptionIDZero, ProtocolError, V5, AnySide, 0x30, "0001 'a' 02 0b00", ""},
	{RuleConnackReceiveMaximumZero, ProtocolError, V5, AnySide, 0x20, "00 00 03 210000", ""},
	{RuleConnackMaximumPacketSizeZero, ProtocolError, V5, AnySide, 0x20, "00 00 05 2700000000", ""},
	{RuleMaximumQoSValue, ProtocolError, V5, AnySide, 0x20, "00 00 02 2402", ""},
	{RuleRetainAvailableValue, ProtocolError, V5, AnySide, 0x20, "00 00 02 2502", ""},
	{RuleWildcardAvailableValue, ProtocolError, V5, AnySide, 0x20, "00 00 02 2802", ""},
	{RuleSubscriptionIDAvailableValue, ProtocolError, V5, AnySide, 0x20, "00 00 02 2902", ""},
	{RuleSharedAvailableValue, ProtocolError, V5, AnySide, 0x20, "00 00 02 2a02", ""},
	{RuleResponseTopic, TopicNameInvalid, V5, AnySide, 0x30, "0001 'a' 06 08 0003 'a/#'", ""},
	{RuleResponseTopicEmpty, TopicNameInvalid, V5, AnySide, 0x30, "0001 'a' 03 08 0000", ""},
	{RuleAuthData, ProtocolError, V5, AnySide, 0x10, c5 + "02 0000 03 160000 0000", ""},
}

// TestEveryRuleIsEnforced: each rule has a packet that breaks it and nothing
// before it; where the rule, or its group, is tolerated, the packet is taken.
func TestEveryRuleIsEnforced(t *testing.T) {
	list := append(append(faults, stringFaults()...), twiceFaults(t)...)
	met := map[Rule]bool{RuleLengthBytes: true, RuleShortestLength: true} // see TestSplitFrameErrors
	for _, f := range list {
		met[f.rule], met[f.rule.Group()] = true, true
		body := raw(t, f.body)
		d := Decoder{Version: f.version, From: f.from}
		_, err := d.Decode(f.first, body)
		var broken *Error
		if !errors.As(err, &broken) || broken.Rule != f.rule || broken.Code != f.code || broken.Text == "" {
			t.Errorf("%s: %02x % x: %#v", f.rule, f.first, body, err)
			continue
		}
		for _, tolerated := range []Rule{f.rule, f.rule.Group()} {
			if tolerated == "" {
				continue
			}
			d.Tolerate = func(r Rule) bool { return r == tolerated }
			want := f.then
			if want != "" && want.Group() == tolerated {
				want = ""
			}
			_, err := d.Decode(f.first, body)
			broken = nil
			if errors.As(err, &broken) != (want != "") || broken != nil && broken.Rule != want {
				t.Errorf("%s tolerated as %s: %02x % x: %#v, want %q", f.rule, tolerated, f.first, body, err, want)
			}
		}
	}
	for _, r := range Rules() {
		if !met[r.Rule] && r.Rule != RuleShort && r.Rule != RuleSurplus {
			t.Errorf("no packet breaks %s", r.Rule)
		}
	}
}
