package packet

import "fmt"

// Rule names a rule of format.
type Rule string

// The rules, with the statements that they serve.
const (
	RuleReservedType     Rule = "reserved-type"      // [v311/2.2.1-reserved-types] [v5/2.1.2-packet-type-0]
	RuleServerOnly       Rule = "server-only"        // [v311/2.2.1-server-only-types] [v5/2.1.2-connack-from-client]
	RuleLengthBytes      Rule = "length-bytes"       // [v311/2.2.3-remaining-length-max] [v5/1.5.5-vbi-max-four-bytes]
	RuleShortestLength   Rule = "shortest-length"    // [v5/MQTT-1.5.5-1]
	RuleOtherFlags       Rule = "other-flags"        // [v311/MQTT-2.2.2-1] [v311/MQTT-2.2.2-2] [v5/MQTT-2.1.3-1]
	RulePubrelFlags      Rule = "pubrel-flags"       // [v311/MQTT-3.6.1-1] [v5/MQTT-3.6.1-1]
	RuleSubscribeFlags   Rule = "subscribe-flags"    // [v311/MQTT-3.8.1-1] [v5/MQTT-3.8.1-1]
	RuleUnsubscribeFlags Rule = "unsubscribe-flags"  // [v311/MQTT-3.10.1-1] [v5/MQTT-3.10.1-1]
	RuleDisconnectFlags  Rule = "disconnect-flags"   // [v311/MQTT-3.14.1-1] [v5/MQTT-3.14.1-1]
	RuleAuthFlags        Rule = "auth-flags"         // [v5/MQTT-3.15.1-1]
	RuleShort            Rule = "short-packet"       // [v311/2.2.3-short-packet] [v5/2.1.4-packet-shorter-than-fields]
	RuleShortConnect     Rule = "short-connect"      // [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1]
	RuleSurplus          Rule = "surplus-bytes"      // [v5/2.1.4-surplus-bytes] [v311/3.4-fixed-lengths]
	RuleSurplusConnect   Rule = "surplus-connect"    // [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1]
	RulePingBody         Rule = "ping-body"          // [v311/3.12-pingreq-length] [v5/3.12.1-pingreq-with-body]
	RuleDisconnectBody   Rule = "disconnect-body"    // [v311/3.14-disconnect-length]
	RuleProtocolName     Rule = "protocol-name"      // [v311/MQTT-3.1.2-1] [v5/MQTT-3.1.2-1]
	RuleProtocolLevel    Rule = "protocol-level"     // [v311/MQTT-3.1.2-2] [v5/MQTT-3.1.2-2]
	RuleConnectReserved  Rule = "connect-reserved"   // [v311/MQTT-3.1.2-3] [v5/MQTT-3.1.2-3]
	RuleWillQoSNoWill    Rule = "will-qos-no-will"   // [v311/MQTT-3.1.2-11] [v311/MQTT-3.1.2-13] [v5/MQTT-3.1.2-11]
	RuleWillRetainNoWill Rule = "will-retain-no"     // [v311/MQTT-3.1.2-11] [v311/MQTT-3.1.2-15] [v5/MQTT-3.1.2-13]
	RuleWillQoS3         Rule = "will-qos-3"         // [v311/MQTT-3.1.2-14] [v5/MQTT-3.1.2-12]
	RulePasswordAlone    Rule = "password-alone"     // [v311/MQTT-3.1.2-22]
	RuleClientIDUTF8     Rule = "client-id-utf8"     // [v311/MQTT-3.1.3-4] [v5/MQTT-3.1.3-4]
	RuleClientIDNUL      Rule = "client-id-nul"      // [v311/MQTT-3.1.3-4] [v5/MQTT-3.1.3-4]
	RuleWillTopicUTF8    Rule = "will-topic-utf8"    // [v311/MQTT-3.1.3-10] [v5/MQTT-3.1.3-11]
	RuleWillTopicNUL     Rule = "will-topic-nul"     // [v311/MQTT-3.1.3-10] [v5/MQTT-3.1.3-11]
	RuleUsernameUTF8     Rule = "user-name-utf8"     // [v311/MQTT-3.1.3-11] [v5/MQTT-3.1.3-12]
	RuleUsernameNUL      Rule = "user-name-nul"      // [v311/MQTT-3.1.3-11] [v5/MQTT-3.1.3-12]
	RuleWillTopicEmpty   Rule = "will-topic-empty"   // [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RuleWillTopicWild    Rule = "will-topic-wild"    // [v311/MQTT-4.7.1-1] [v5/MQTT-4.7.0-1]
	RuleQoS3             Rule = "qos-3"              // [v311/MQTT-3.3.1-4] [v5/MQTT-3.3.1-4]
	RuleDupQoS0          Rule = "dup-qos-0"          // [v311/MQTT-3.3.1-2] [v5/MQTT-3.3.1-2]
	RuleTopicUTF8        Rule = "topic-utf8"         // [v311/MQTT-1.5.3-1] [v311/MQTT-3.3.2-1] [v5/MQTT-1.5.4-1] [v5/MQTT-3.3.2-1]
	RuleTopicNUL         Rule = "topic-nul"          // [v311/MQTT-1.5.3-2] [v311/MQTT-4.7.3-2] [v5/MQTT-1.5.4-2] [v5/MQTT-4.7.3-2]
	RuleTopicWild        Rule = "topic-wild"         // [v311/MQTT-3.3.2-2] [v311/MQTT-4.7.1-1] [v5/MQTT-3.3.2-2] [v5/MQTT-4.7.0-1]
	RuleTopicEmpty       Rule = "topic-empty"        // [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RulePublishID        Rule = "publish-id"         // [v311/MQTT-2.3.1-1] [v5/MQTT-2.2.1-3]
	RuleSubscribeID      Rule = "subscribe-id"       // [v311/MQTT-2.3.1-1] [v5/MQTT-2.2.1-3]
	RuleUnsubscribeID    Rule = "unsubscribe-id"     // [v311/MQTT-2.3.1-1] [v5/MQTT-2.2.1-3]
	RuleSubscribeEmpty   Rule = "subscribe-empty"    // [v311/MQTT-3.8.3-3] [v5/MQTT-3.8.3-2]
	RuleSubscribeUTF8    Rule = "subscribe-utf8"     // [v311/MQTT-3.8.3-1] [v5/MQTT-3.8.3-1]
	RuleSubscribeNUL     Rule = "subscribe-nul"      // [v311/MQTT-4.7.3-2] [v5/MQTT-4.7.3-2]
	RuleFilterEmpty      Rule = "filter-empty"       // [v311/MQTT-4.7.3-1] [v5/MQTT-4.7.3-1]
	RuleSubscribeQoS3    Rule = "subscribe-qos-3"    // [v311/MQTT-3.8.3-4] [v5/3.8.3.1-maximum-qos-3]
	RuleSubscribeBits    Rule = "subscribe-reserved" // [v311/MQTT-3.8.3-4] [v5/MQTT-3.8.3-5]
	RuleRetainHandling3  Rule = "retain-handling-3"  // [v5/3.8.3.1-retain-handling-3]
	RuleUnsubscribeEmpty Rule = "unsubscribe-empty"  // [v311/MQTT-3.10.3-2] [v5/MQTT-3.10.3-2]
	RuleUnsubscribeUTF8  Rule = "unsubscribe-utf8"   // [v311/MQTT-3.10.3-1] [v5/MQTT-3.10.3-1]
	RuleUnsubscribeNUL   Rule = "unsubscribe-nul"    // [v311/MQTT-4.7.3-2] [v5/MQTT-4.7.3-2]
	RulePropertyUnknown  Rule = "property-unknown"   // [v5/2.2.2.2-unknown-property]
	RulePropertyPlace    Rule = "property-place"     // [v5/2.2.2.2-property-not-for-connect] [v5/2.2.2.2-property-not-for-publish]
	RulePropertyTwice    Rule = "property-twice"     // [v5/3.1.2.11.2-connect-session-expiry-interval-twice]
	RulePropertyValue    Rule = "property-value"     // [v5/3.1.2.11.3-receive-maximum-zero] [v5/3.1.2.11.4-maximum-packet-size-zero]
	RulePropertyLength   Rule = "property-length"    // [v5/2.2.2.2-property-length-beyond-packet]
	RulePropertyUTF8     Rule = "property-utf8"      // [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.7-1] [v5/MQTT-3.3.2-13] [v5/MQTT-3.3.2-19]
	RulePropertyNUL      Rule = "property-nul"       // [v5/MQTT-1.5.4-2]
	RuleResponseTopic    Rule = "response-topic"     // [v5/MQTT-3.3.2-14]
	RuleReasonCode       Rule = "reason-code"        // [v5/3.4-ack-undefined-code] [v5/MQTT-3.14.2-1]
	RuleAuthMethod       Rule = "auth-method"        // [v5/3.15.2.2.2-auth-method-missing]
	RuleAuthData         Rule = "auth-data-alone"    // [v5/3.1.2.11.10-data-without-method]
)

// Error tells which rule a packet breaks.
type Error struct {
	Rule Rule
	Code ReasonCode // the Reason Code of MQTT 5.0 that fits best
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("packet: %s", e.Text) }
