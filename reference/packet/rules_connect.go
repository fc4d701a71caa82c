package packet

// The rules of CONNECT and CONNACK.
const (
	// RuleProtocolName: the protocol name is MQTT.
	// [v311/MQTT-3.1.2-1] [v5/MQTT-3.1.2-1]
	RuleProtocolName Rule = "protocol-name"
	// RuleProtocolLevel: the protocol level is 4 or 5.
	// [v311/MQTT-3.1.2-2] [v5/MQTT-3.1.2-2]
	RuleProtocolLevel Rule = "protocol-level"
	// RuleConnectReserved: the reserved bit of the Connect Flags is 0.
	// [v311/MQTT-3.1.2-3] [v5/MQTT-3.1.2-3]
	RuleConnectReserved Rule = "connect-reserved"
	// RuleWillQoSNoWill: Will QoS is 0 without the Will Flag.
	// [v311/MQTT-3.1.2-11] [v311/MQTT-3.1.2-13] [v5/MQTT-3.1.2-11]
	RuleWillQoSNoWill Rule = "will-qos-without-will"
	// RuleWillRetainNoWill: Will Retain is 0 without the Will Flag.
	// [v311/MQTT-3.1.2-11] [v311/MQTT-3.1.2-15] [v5/MQTT-3.1.2-13]
	RuleWillRetainNoWill Rule = "will-retain-without-will"
	// RuleWillQoS3: Will QoS is not 3.
	// [v311/MQTT-3.1.2-14] [v5/MQTT-3.1.2-12]
	RuleWillQoS3 Rule = "will-qos-3"
	// RulePasswordAlone: the Password Flag is 0 without the User Name Flag, in MQTT 3.1.1.
	// [v311/MQTT-3.1.2-22]
	RulePasswordAlone Rule = "password-alone"
	// RuleShortConnect: a CONNECT does not end inside a field.
	// [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1]
	RuleShortConnect Rule = "short-connect"
	// RuleNoClientID: the payload of CONNECT begins with a Client Identifier.
	// [v311/MQTT-3.1.3-3] [v5/MQTT-3.1.3-3]
	RuleNoClientID Rule = "no-client-id"
	// RuleNoWillFields: with the Will Flag the will stands in the payload.
	// [v311/MQTT-3.1.2-9] [v5/MQTT-3.1.2-9]
	RuleNoWillFields Rule = "no-will-fields"
	// RuleNoUsername: with the User Name Flag a User Name stands in the payload.
	// [v311/MQTT-3.1.2-19] [v5/MQTT-3.1.2-17]
	RuleNoUsername Rule = "no-user-name"
	// RuleNoPassword: with the Password Flag a Password stands in the payload.
	// [v311/MQTT-3.1.2-21] [v5/MQTT-3.1.2-19]
	RuleNoPassword Rule = "no-password"
	// RuleSurplusConnect: nothing follows the last field of CONNECT.
	// [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1]
	RuleSurplusConnect Rule = "surplus-connect"
	// RuleSurplusUsername: without the User Name Flag no User Name stands in the payload.
	// [v311/MQTT-3.1.2-18] [v5/MQTT-3.1.2-16]
	RuleSurplusUsername Rule = "surplus-user-name"
	// RuleSurplusPassword: without the Password Flag no Password stands in the payload.
	// [v311/MQTT-3.1.2-20] [v5/MQTT-3.1.2-18]
	RuleSurplusPassword Rule = "surplus-password"
	// RuleClientIDUTF8: the Client Identifier is well-formed UTF-8.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.1.3-4] [v5/MQTT-3.1.3-4]
	RuleClientIDUTF8 Rule = "client-id-utf8"
	// RuleClientIDSurrogate: the Client Identifier encodes no code point from U+D800 to U+DFFF.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.1.3-4] [v5/MQTT-3.1.3-4]
	RuleClientIDSurrogate Rule = "client-id-surrogate"
	// RuleClientIDNUL: the Client Identifier holds no U+0000.
	// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-2] [v311/MQTT-3.1.3-4] [v5/MQTT-3.1.3-4]
	RuleClientIDNUL Rule = "client-id-nul"
	// RuleWillTopicUTF8: the Will Topic is well-formed UTF-8.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.1.3-10] [v5/MQTT-3.1.3-11]
	RuleWillTopicUTF8 Rule = "will-topic-utf8"
	// RuleWillTopicSurrogate: the Will Topic encodes no code point from U+D800 to U+DFFF.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.1.3-10] [v5/MQTT-3.1.3-11]
	RuleWillTopicSurrogate Rule = "will-topic-surrogate"
	// RuleWillTopicNUL: the Will Topic holds no U+0000.
	// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-2] [v311/MQTT-3.1.3-10] [v5/MQTT-3.1.3-11] [v311/MQTT-4.7.3-2] [v5/MQTT-4.7.3-2]
	RuleWillTopicNUL Rule = "will-topic-nul"
	// RuleUsernameUTF8: the User Name is well-formed UTF-8.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.1.3-11] [v5/MQTT-3.1.3-12]
	RuleUsernameUTF8 Rule = "user-name-utf8"
	// RuleUsernameSurrogate: the User Name encodes no code point from U+D800 to U+DFFF.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.1.3-11] [v5/MQTT-3.1.3-12]
	RuleUsernameSurrogate Rule = "user-name-surrogate"
	// RuleUsernameNUL: the User Name holds no U+0000.
	// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-2] [v311/MQTT-3.1.3-11] [v5/MQTT-3.1.3-12]
	RuleUsernameNUL Rule = "user-name-nul"
	// RuleWillTopicEmpty: the Will Topic is not empty.
	// [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RuleWillTopicEmpty Rule = "will-topic-empty"
	// RuleWillTopicWild: the Will Topic has no wildcards.
	// [v311/MQTT-4.7.1-1] [v5/MQTT-4.7.0-1]
	RuleWillTopicWild Rule = "will-topic-wildcard"
	// RuleConnackFlags: bits 7 to 1 of the Connect Acknowledge Flags are 0.
	// [v311/3.2.2.1-reserved-bits] [v5/MQTT-3.2.2-1]
	RuleConnackFlags Rule = "connack-flags"
	// RuleConnackSessionPresent: Session Present is 0 with a code other than 0.
	// [v311/MQTT-3.2.2-4] [v5/MQTT-3.2.2-6]
	RuleConnackSessionPresent Rule = "connack-session-present"
)

var connectRules = []RuleInfo{
	{RuleProtocolName, "", "the protocol name is MQTT", keys("v311/MQTT-3.1.2-1 v5/MQTT-3.1.2-1")},
	{RuleProtocolLevel, "", "the protocol level is 4 or 5", keys("v311/MQTT-3.1.2-2 v5/MQTT-3.1.2-2")},
	{RuleConnectReserved, "", "the reserved bit of the Connect Flags is 0", keys("v311/MQTT-3.1.2-3 v5/MQTT-3.1.2-3")},
	{RuleWillQoSNoWill, "", "Will QoS is 0 without the Will Flag", keys("v311/MQTT-3.1.2-11 v311/MQTT-3.1.2-13 v5/MQTT-3.1.2-11")},
	{RuleWillRetainNoWill, "", "Will Retain is 0 without the Will Flag", keys("v311/MQTT-3.1.2-11 v311/MQTT-3.1.2-15 v5/MQTT-3.1.2-13")},
	{RuleWillQoS3, "", "Will QoS is not 3", keys("v311/MQTT-3.1.2-14 v5/MQTT-3.1.2-12")},
	{RulePasswordAlone, "", "the Password Flag is 0 without the User Name Flag, in MQTT 3.1.1", keys("v311/MQTT-3.1.2-22")},
	{RuleShortConnect, "", "a CONNECT does not end inside a field", keys("v311/MQTT-3.1.4-1 v5/MQTT-3.1.4-1")},
	{RuleNoClientID, RuleShortConnect, "the payload of CONNECT begins with a Client Identifier", keys("v311/MQTT-3.1.3-3 v5/MQTT-3.1.3-3")},
	{RuleNoWillFields, RuleShortConnect, "with the Will Flag the will stands in the payload", keys("v311/MQTT-3.1.2-9 v5/MQTT-3.1.2-9")},
	{RuleNoUsername, RuleShortConnect, "with the User Name Flag a User Name stands in the payload", keys("v311/MQTT-3.1.2-19 v5/MQTT-3.1.2-17")},
	{RuleNoPassword, RuleShortConnect, "with the Password Flag a Password stands in the payload", keys("v311/MQTT-3.1.2-21 v5/MQTT-3.1.2-19")},
	{RuleSurplusConnect, "", "nothing follows the last field of CONNECT", keys("v311/MQTT-3.1.4-1 v5/MQTT-3.1.4-1")},
	{RuleSurplusUsername, RuleSurplusConnect, "without the User Name Flag no User Name stands in the payload", keys("v311/MQTT-3.1.2-18 v5/MQTT-3.1.2-16")},
	{RuleSurplusPassword, RuleSurplusConnect, "without the Password Flag no Password stands in the payload", keys("v311/MQTT-3.1.2-20 v5/MQTT-3.1.2-18")},
	{RuleClientIDUTF8, "", "the Client Identifier is well-formed UTF-8", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.1.3-4 v5/MQTT-3.1.3-4")},
	{RuleClientIDSurrogate, "", "the Client Identifier encodes no code point from U+D800 to U+DFFF", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.1.3-4 v5/MQTT-3.1.3-4")},
	{RuleClientIDNUL, "", "the Client Identifier holds no U+0000", keys("v311/MQTT-1.5.3-2 v5/MQTT-1.5.4-2 v311/MQTT-3.1.3-4 v5/MQTT-3.1.3-4")},
	{RuleWillTopicUTF8, "", "the Will Topic is well-formed UTF-8", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.1.3-10 v5/MQTT-3.1.3-11")},
	{RuleWillTopicSurrogate, "", "the Will Topic encodes no code point from U+D800 to U+DFFF", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.1.3-10 v5/MQTT-3.1.3-11")},
	{RuleWillTopicNUL, "", "the Will Topic holds no U+0000", keys("v311/MQTT-1.5.3-2 v5/MQTT-1.5.4-2 v311/MQTT-3.1.3-10 v5/MQTT-3.1.3-11 v311/MQTT-4.7.3-2 v5/MQTT-4.7.3-2")},
	{RuleUsernameUTF8, "", "the User Name is well-formed UTF-8", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.1.3-11 v5/MQTT-3.1.3-12")},
	{RuleUsernameSurrogate, "", "the User Name encodes no code point from U+D800 to U+DFFF", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.1.3-11 v5/MQTT-3.1.3-12")},
	{RuleUsernameNUL, "", "the User Name holds no U+0000", keys("v311/MQTT-1.5.3-2 v5/MQTT-1.5.4-2 v311/MQTT-3.1.3-11 v5/MQTT-3.1.3-12")},
	{RuleWillTopicEmpty, "", "the Will Topic is not empty", keys("v311/MQTT-4.7.3-1 v5/MQTT-4.7.3-1")},
	{RuleWillTopicWild, "", "the Will Topic has no wildcards", keys("v311/MQTT-4.7.1-1 v5/MQTT-4.7.0-1")},
	{RuleConnackFlags, "", "bits 7 to 1 of the Connect Acknowledge Flags are 0", keys("v311/3.2.2.1-reserved-bits v5/MQTT-3.2.2-1")},
	{RuleConnackSessionPresent, "", "Session Present is 0 with a code other than 0", keys("v311/MQTT-3.2.2-4 v5/MQTT-3.2.2-6")},
}
