package packet

// The rules of the other packets.
const (
	// RuleQoS3: the QoS of a PUBLISH is not 3.
	// [v311/MQTT-3.3.1-4] [v5/MQTT-3.3.1-4]
	RuleQoS3 Rule = "qos-3"
	// RuleDupQoS0: DUP is 0 at QoS 0.
	// [v311/MQTT-3.3.1-2] [v5/MQTT-3.3.1-2]
	RuleDupQoS0 Rule = "dup-qos-0"
	// RuleTopicUTF8: the Topic Name is well-formed UTF-8.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.3.2-1] [v5/MQTT-3.3.2-1]
	RuleTopicUTF8 Rule = "topic-utf8"
	// RuleTopicSurrogate: the Topic Name encodes no code point from U+D800 to U+DFFF.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.3.2-1] [v5/MQTT-3.3.2-1]
	RuleTopicSurrogate Rule = "topic-surrogate"
	// RuleTopicNUL: the Topic Name holds no U+0000.
	// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-2] [v311/MQTT-3.3.2-1] [v5/MQTT-3.3.2-1] [v311/MQTT-4.7.3-2] [v5/MQTT-4.7.3-2]
	RuleTopicNUL Rule = "topic-nul"
	// RuleTopicWild: the Topic Name has no wildcards.
	// [v311/MQTT-3.3.2-2] [v311/MQTT-4.7.1-1] [v5/MQTT-3.3.2-2] [v5/MQTT-4.7.0-1]
	RuleTopicWild Rule = "topic-wildcard"
	// RuleTopicEmpty: the Topic Name is not empty unless a Topic Alias stands for it.
	// [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1] [v5/3.3.2.1-empty-topic-no-alias]
	RuleTopicEmpty Rule = "topic-empty"
	// RulePublishID: the Packet Identifier of a PUBLISH is not 0.
	// [v311/MQTT-2.3.1-1] [v5/MQTT-2.2.1-3]
	RulePublishID Rule = "publish-id"
	// RuleSubscribeID: the Packet Identifier of a SUBSCRIBE is not 0.
	// [v311/MQTT-2.3.1-1] [v5/MQTT-2.2.1-3]
	RuleSubscribeID Rule = "subscribe-id"
	// RuleUnsubscribeID: the Packet Identifier of an UNSUBSCRIBE is not 0.
	// [v311/MQTT-2.3.1-1] [v5/MQTT-2.2.1-3]
	RuleUnsubscribeID Rule = "unsubscribe-id"
	// RulePublishSubscriptionID: a client puts no Subscription Identifier into a PUBLISH.
	// [v5/MQTT-3.3.4-6]
	RulePublishSubscriptionID Rule = "publish-subscription-id"
	// RuleSubscribeEmpty: a SUBSCRIBE has at least one Topic Filter.
	// [v311/MQTT-3.8.3-3] [v5/MQTT-3.8.3-2]
	RuleSubscribeEmpty Rule = "subscribe-empty"
	// RuleSubscribeUTF8: a Topic Filter of a SUBSCRIBE is well-formed UTF-8.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.8.3-1] [v5/MQTT-3.8.3-1]
	RuleSubscribeUTF8 Rule = "subscribe-utf8"
	// RuleSubscribeSurrogate: a Topic Filter of a SUBSCRIBE encodes no code point from U+D800 to U+DFFF.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.8.3-1] [v5/MQTT-3.8.3-1]
	RuleSubscribeSurrogate Rule = "subscribe-surrogate"
	// RuleSubscribeNUL: a Topic Filter of a SUBSCRIBE holds no U+0000.
	// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-2] [v311/MQTT-3.8.3-1] [v5/MQTT-3.8.3-1] [v311/MQTT-4.7.3-2] [v5/MQTT-4.7.3-2]
	RuleSubscribeNUL Rule = "subscribe-nul"
	// RuleFilterEmpty: a Topic Filter is not empty.
	// [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RuleFilterEmpty Rule = "filter-empty"
	// RuleSubscribeFilterEmpty: a Topic Filter of a SUBSCRIBE is not empty.
	// [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RuleSubscribeFilterEmpty Rule = "subscribe-filter-empty"
	// RuleUnsubscribeFilterEmpty: a Topic Filter of an UNSUBSCRIBE is not empty.
	// [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RuleUnsubscribeFilterEmpty Rule = "unsubscribe-filter-empty"
	// RuleSubscribeQoS3: the QoS that a SUBSCRIBE asks for is not 3.
	// [v311/MQTT-3.8.3-4] [v5/3.8.3.1-maximum-qos-3]
	RuleSubscribeQoS3 Rule = "subscribe-qos-3"
	// RuleSubscribeBits: the reserved bits behind a Topic Filter are 0.
	// [v311/MQTT-3.8.3-4] [v5/MQTT-3.8.3-5]
	RuleSubscribeBits Rule = "subscribe-reserved"
	// RuleRetainHandling3: Retain Handling is not 3.
	// [v5/3.8.3.1-retain-handling-3]
	RuleRetainHandling3 Rule = "retain-handling-3"
	// RuleUnsubscribeEmpty: an UNSUBSCRIBE has at least one Topic Filter.
	// [v311/MQTT-3.10.3-2] [v5/MQTT-3.10.3-2]
	RuleUnsubscribeEmpty Rule = "unsubscribe-empty"
	// RuleUnsubscribeUTF8: a Topic Filter of an UNSUBSCRIBE is well-formed UTF-8.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.10.3-1] [v5/MQTT-3.10.3-1]
	RuleUnsubscribeUTF8 Rule = "unsubscribe-utf8"
	// RuleUnsubscribeSurrogate: a Topic Filter of an UNSUBSCRIBE encodes no code point from U+D800 to U+DFFF.
	// [v311/MQTT-1.5.3-1] [v5/MQTT-1.5.4-1] [v311/MQTT-3.10.3-1] [v5/MQTT-3.10.3-1]
	RuleUnsubscribeSurrogate Rule = "unsubscribe-surrogate"
	// RuleUnsubscribeNUL: a Topic Filter of an UNSUBSCRIBE holds no U+0000.
	// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-2] [v311/MQTT-3.10.3-1] [v5/MQTT-3.10.3-1] [v311/MQTT-4.7.3-2] [v5/MQTT-4.7.3-2]
	RuleUnsubscribeNUL Rule = "unsubscribe-nul"
	// RuleReasonCode: a Reason Code is one that the packet may have.
	// [v5/3.4-ack-undefined-code] [v5/MQTT-3.14.2-1] [v5/MQTT-3.15.2-1]
	RuleReasonCode Rule = "reason-code"
	// RulePubackCode: the code of a PUBACK is one that is defined for it.
	// [v5/MQTT-3.4.2-1] [v5/3.4-ack-undefined-code]
	RulePubackCode Rule = "puback-code"
	// RulePubrecCode: the code of a PUBREC is one that is defined for it.
	// [v5/MQTT-3.5.2-1] [v5/3.4-ack-undefined-code]
	RulePubrecCode Rule = "pubrec-code"
	// RulePubrelCode: the code of a PUBREL is one that is defined for it.
	// [v5/MQTT-3.6.2-1] [v5/3.4-ack-undefined-code]
	RulePubrelCode Rule = "pubrel-code"
	// RulePubcompCode: the code of a PUBCOMP is one that is defined for it.
	// [v5/MQTT-3.7.2-1] [v5/3.4-ack-undefined-code]
	RulePubcompCode Rule = "pubcomp-code"
	// RuleDisconnectCode: the code of a DISCONNECT is one that is defined for it.
	// [v5/MQTT-3.14.2-1]
	RuleDisconnectCode Rule = "disconnect-code"
	// RuleAuthCode: the code of an AUTH is one that is defined for it.
	// [v5/MQTT-3.15.2-1]
	RuleAuthCode Rule = "auth-code"
	// RuleConnackCode: the code of a CONNACK is one that is defined for it.
	// [v311/3.2.2.3-codes-reserved] [v5/MQTT-3.2.2-8]
	RuleConnackCode Rule = "connack-code"
	// RuleSubackCode: the code of a SUBACK is one that is defined for it.
	// [v311/MQTT-3.9.3-2] [v5/MQTT-3.9.3-2]
	RuleSubackCode Rule = "suback-code"
	// RuleUnsubackCode: the code of an UNSUBACK is one that is defined for it.
	// [v5/MQTT-3.11.3-2]
	RuleUnsubackCode Rule = "unsuback-code"
	// RuleDisconnectCodeFromClient: a client sends no DISCONNECT with a code of servers.
	// [v5/3.14.2.1-server-codes-from-client]
	RuleDisconnectCodeFromClient Rule = "disconnect-code-from-client"
	// RuleDisconnectCodeFromServer: a server sends no DISCONNECT with code 0x04.
	// [v5/3.14.2.1-client-codes-from-server]
	RuleDisconnectCodeFromServer Rule = "disconnect-code-from-server"
	// RuleAuthCodeFromClient: a client sends no AUTH with code 0x00.
	// [v5/3.15.2.1-auth-code-00]
	RuleAuthCodeFromClient Rule = "auth-code-from-client"
	// RuleAuthCodeFromServer: a server sends no AUTH with code 0x19.
	// [v5/3.15.2.1-auth-code-19]
	RuleAuthCodeFromServer Rule = "auth-code-from-server"
)

var packetsRules = []RuleInfo{
	{RuleQoS3, "", "the QoS of a PUBLISH is not 3", keys("v311/MQTT-3.3.1-4 v5/MQTT-3.3.1-4")},
	{RuleDupQoS0, "", "DUP is 0 at QoS 0", keys("v311/MQTT-3.3.1-2 v5/MQTT-3.3.1-2")},
	{RuleTopicUTF8, "", "the Topic Name is well-formed UTF-8", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.3.2-1 v5/MQTT-3.3.2-1")},
	{RuleTopicSurrogate, "", "the Topic Name encodes no code point from U+D800 to U+DFFF", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.3.2-1 v5/MQTT-3.3.2-1")},
	{RuleTopicNUL, "", "the Topic Name holds no U+0000", keys("v311/MQTT-1.5.3-2 v5/MQTT-1.5.4-2 v311/MQTT-3.3.2-1 v5/MQTT-3.3.2-1 v311/MQTT-4.7.3-2 v5/MQTT-4.7.3-2")},
	{RuleTopicWild, "", "the Topic Name has no wildcards", keys("v311/MQTT-3.3.2-2 v311/MQTT-4.7.1-1 v5/MQTT-3.3.2-2 v5/MQTT-4.7.0-1")},
	{RuleTopicEmpty, "", "the Topic Name is not empty unless a Topic Alias stands for it", keys("v311/MQTT-4.7.3-1 v5/MQTT-4.7.3-1 v5/3.3.2.1-empty-topic-no-alias")},
	{RulePublishID, "", "the Packet Identifier of a PUBLISH is not 0", keys("v311/MQTT-2.3.1-1 v5/MQTT-2.2.1-3")},
	{RuleSubscribeID, "", "the Packet Identifier of a SUBSCRIBE is not 0", keys("v311/MQTT-2.3.1-1 v5/MQTT-2.2.1-3")},
	{RuleUnsubscribeID, "", "the Packet Identifier of an UNSUBSCRIBE is not 0", keys("v311/MQTT-2.3.1-1 v5/MQTT-2.2.1-3")},
	{RulePublishSubscriptionID, "", "a client puts no Subscription Identifier into a PUBLISH", keys("v5/MQTT-3.3.4-6")},
	{RuleSubscribeEmpty, "", "a SUBSCRIBE has at least one Topic Filter", keys("v311/MQTT-3.8.3-3 v5/MQTT-3.8.3-2")},
	{RuleSubscribeUTF8, "", "a Topic Filter of a SUBSCRIBE is well-formed UTF-8", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.8.3-1 v5/MQTT-3.8.3-1")},
	{RuleSubscribeSurrogate, "", "a Topic Filter of a SUBSCRIBE encodes no code point from U+D800 to U+DFFF", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.8.3-1 v5/MQTT-3.8.3-1")},
	{RuleSubscribeNUL, "", "a Topic Filter of a SUBSCRIBE holds no U+0000", keys("v311/MQTT-1.5.3-2 v5/MQTT-1.5.4-2 v311/MQTT-3.8.3-1 v5/MQTT-3.8.3-1 v311/MQTT-4.7.3-2 v5/MQTT-4.7.3-2")},
	{RuleFilterEmpty, "", "a Topic Filter is not empty", keys("v311/MQTT-4.7.3-1 v5/MQTT-4.7.3-1")},
	{RuleSubscribeFilterEmpty, RuleFilterEmpty, "a Topic Filter of a SUBSCRIBE is not empty", keys("v311/MQTT-4.7.3-1 v5/MQTT-4.7.3-1")},
	{RuleUnsubscribeFilterEmpty, RuleFilterEmpty, "a Topic Filter of an UNSUBSCRIBE is not empty", keys("v311/MQTT-4.7.3-1 v5/MQTT-4.7.3-1")},
	{RuleSubscribeQoS3, "", "the QoS that a SUBSCRIBE asks for is not 3", keys("v311/MQTT-3.8.3-4 v5/3.8.3.1-maximum-qos-3")},
	{RuleSubscribeBits, "", "the reserved bits behind a Topic Filter are 0", keys("v311/MQTT-3.8.3-4 v5/MQTT-3.8.3-5")},
	{RuleRetainHandling3, "", "Retain Handling is not 3", keys("v5/3.8.3.1-retain-handling-3")},
	{RuleUnsubscribeEmpty, "", "an UNSUBSCRIBE has at least one Topic Filter", keys("v311/MQTT-3.10.3-2 v5/MQTT-3.10.3-2")},
	{RuleUnsubscribeUTF8, "", "a Topic Filter of an UNSUBSCRIBE is well-formed UTF-8", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.10.3-1 v5/MQTT-3.10.3-1")},
	{RuleUnsubscribeSurrogate, "", "a Topic Filter of an UNSUBSCRIBE encodes no code point from U+D800 to U+DFFF", keys("v311/MQTT-1.5.3-1 v5/MQTT-1.5.4-1 v311/MQTT-3.10.3-1 v5/MQTT-3.10.3-1")},
	{RuleUnsubscribeNUL, "", "a Topic Filter of an UNSUBSCRIBE holds no U+0000", keys("v311/MQTT-1.5.3-2 v5/MQTT-1.5.4-2 v311/MQTT-3.10.3-1 v5/MQTT-3.10.3-1 v311/MQTT-4.7.3-2 v5/MQTT-4.7.3-2")},
	{RuleReasonCode, "", "a Reason Code is one that the packet may have", keys("v5/3.4-ack-undefined-code v5/MQTT-3.14.2-1 v5/MQTT-3.15.2-1")},
	{RulePubackCode, RuleReasonCode, "the code of a PUBACK is one that is defined for it", keys("v5/MQTT-3.4.2-1 v5/3.4-ack-undefined-code")},
	{RulePubrecCode, RuleReasonCode, "the code of a PUBREC is one that is defined for it", keys("v5/MQTT-3.5.2-1 v5/3.4-ack-undefined-code")},
	{RulePubrelCode, RuleReasonCode, "the code of a PUBREL is one that is defined for it", keys("v5/MQTT-3.6.2-1 v5/3.4-ack-undefined-code")},
	{RulePubcompCode, RuleReasonCode, "the code of a PUBCOMP is one that is defined for it", keys("v5/MQTT-3.7.2-1 v5/3.4-ack-undefined-code")},
	{RuleDisconnectCode, RuleReasonCode, "the code of a DISCONNECT is one that is defined for it", keys("v5/MQTT-3.14.2-1")},
	{RuleAuthCode, RuleReasonCode, "the code of an AUTH is one that is defined for it", keys("v5/MQTT-3.15.2-1")},
	{RuleConnackCode, RuleReasonCode, "the code of a CONNACK is one that is defined for it", keys("v311/3.2.2.3-codes-reserved v5/MQTT-3.2.2-8")},
	{RuleSubackCode, RuleReasonCode, "the code of a SUBACK is one that is defined for it", keys("v311/MQTT-3.9.3-2 v5/MQTT-3.9.3-2")},
	{RuleUnsubackCode, RuleReasonCode, "the code of an UNSUBACK is one that is defined for it", keys("v5/MQTT-3.11.3-2")},
	{RuleDisconnectCodeFromClient, "", "a client sends no DISCONNECT with a code of servers", keys("v5/3.14.2.1-server-codes-from-client")},
	{RuleDisconnectCodeFromServer, "", "a server sends no DISCONNECT with code 0x04", keys("v5/3.14.2.1-client-codes-from-server")},
	{RuleAuthCodeFromClient, "", "a client sends no AUTH with code 0x00", keys("v5/3.15.2.1-auth-code-00")},
	{RuleAuthCodeFromServer, "", "a server sends no AUTH with code 0x19", keys("v5/3.15.2.1-auth-code-19")},
}
