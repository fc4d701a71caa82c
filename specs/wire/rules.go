package wire

import "slices"

// rule is one rule that a broker's packets are judged by: the statement that
// has it in MQTT 3.1.1 and in 5.0; "" where the version has none. A breach
// accuses exactly one statement.
type rule struct{ v311, v5 string }

// key returns the key of the statement in a version, or "".
func (r rule) key(v Version) string {
	switch {
	case v == V5 && r.v5 != "":
		return "v5/" + r.v5
	case v == V311 && r.v311 != "":
		return "v311/" + r.v311
	}
	return ""
}

// rules holds every rule once, for StandingKeys.
var rules []rule

func newRule(v311, v5 string) rule {
	r := rule{v311, v5}
	rules = append(rules, r)
	return r
}

// The fixed header, and the packet as a whole.
var (
	ruleFlags          = newRule("MQTT-2.2.2-1", "MQTT-2.1.3-1")
	ruleFormat         = newRule("7.1.1-packet-format", "7.1.1-packet-format")
	ruleDirection      = newRule("2.2.1-client-only-types", "2.1.2-client-only-types-from-server")
	ruleReserved       = newRule("2.2.1-reserved-types", "2.1.2-packet-type-0")
	ruleShortestForm   = newRule("", "MQTT-1.5.5-1")
	ruleFixedLength    = newRule("3.4-fixed-lengths", "")
	ruleConnackLength  = newRule("3.2.1-connack-length", "")
	rulePingresp       = newRule("3.13-pingresp-format", "3.13.1-pingresp-format")
	rulePropertyLength = newRule("", "MQTT-2.2.2-1")
	rulePacketSize     = newRule("", "MQTT-3.1.2-24")
)

// WebSocket frames.
var ruleBinary = newRule("MQTT-6.0.0-1", "MQTT-6.0.0-1")

// What may come before and after what.
var (
	ruleConnackFirst = newRule("MQTT-3.2.0-1", "MQTT-3.2.0-1")
	ruleConnackOnce  = newRule("", "MQTT-3.2.0-2")
	ruleNoEarlyBye   = newRule("", "MQTT-3.14.0-1")
	ruleLast         = newRule("", "MQTT-3.14.4-1")
)

// Strings.
var (
	ruleUTF8       = newRule("MQTT-1.5.3-1", "MQTT-1.5.4-1")
	ruleNoNUL      = newRule("MQTT-1.5.3-2", "MQTT-1.5.4-2")
	rulePair       = newRule("", "MQTT-1.5.7-1")
	ruleCodePoints = newRule("", "1.5.4-disallowed-code-points-sender")
)

// CONNACK.
var (
	ruleConnackCode    = newRule("MQTT-3.2.2-6", "MQTT-3.2.2-8")
	ruleConnackBits    = newRule("3.2.2.1-reserved-bits", "MQTT-3.2.2-1")
	ruleRefusedPresent = newRule("MQTT-3.2.2-4", "MQTT-3.2.2-6")
	ruleCleanPresent   = newRule("MQTT-3.2.2-1", "MQTT-3.2.2-2")
	ruleResponseInfo   = newRule("", "MQTT-3.1.2-28")
)

// AUTH and the Authentication Method.
var (
	ruleAuthCode     = newRule("", "MQTT-3.15.2-1")
	ruleAuthContinue = newRule("", "MQTT-4.12.0-2")
	ruleAuthMethod   = newRule("", "MQTT-4.12.0-5")
	ruleNoAuth       = newRule("", "MQTT-4.12.0-6")
)

// PUBLISH.
var (
	ruleQoS            = newRule("MQTT-3.3.1-4", "MQTT-3.3.1-4")
	ruleDupQoS0        = newRule("MQTT-3.3.1-2", "MQTT-3.3.1-2")
	ruleNoZeroID       = newRule("MQTT-2.3.1-1", "MQTT-2.2.1-4")
	ruleFreeID         = newRule("MQTT-2.3.1-4", "MQTT-2.2.1-4")
	ruleDupAgain       = newRule("MQTT-3.3.1-1", "MQTT-3.3.1-1")
	ruleNoLiveResend   = newRule("", "MQTT-4.4.0-1")
	ruleReceiveMaximum = newRule("", "MQTT-3.3.4-9")
	ruleNoWildcard     = newRule("MQTT-3.3.2-2", "MQTT-3.3.2-2")
	ruleTopicEmpty     = newRule("MQTT-4.7.3-1", "MQTT-4.7.3-1")
	ruleAliasZero      = newRule("", "MQTT-3.3.2-8")
	ruleAliasMaximum   = newRule("", "MQTT-3.1.2-26")
	ruleNoAlias        = newRule("", "MQTT-3.1.2-27")
	ruleAliasUnknown   = newRule("", "3.3.2.3.4-alias-unknown")
)

// Acknowledgements.
var (
	ruleSubackCodes    = newRule("MQTT-3.9.3-2", "MQTT-3.9.3-2")
	ruleSubackCount    = newRule("MQTT-3.8.4-5", "MQTT-3.8.4-6")
	ruleUnsubackCodes  = newRule("", "MQTT-3.11.3-2")
	ruleDisconnectCode = newRule("", "MQTT-3.14.2-1")
	ruleRequestID      = newRule("MQTT-2.3.1-7", "MQTT-2.2.1-6")
	rulePublishID      = newRule("MQTT-2.3.1-6", "MQTT-2.2.1-5")
	rulePubcompID      = newRule("", "MQTT-2.2.1-5")
	ruleProblemInfo    = newRule("", "MQTT-3.1.2-29")

	ruleAckCode = map[Type]rule{
		PUBACK:  newRule("", "MQTT-3.4.2-1"),
		PUBREC:  newRule("", "MQTT-3.5.2-1"),
		PUBREL:  newRule("", "MQTT-3.6.2-1"),
		PUBCOMP: newRule("", "MQTT-3.7.2-1"),
	}
)

// Properties.
var (
	ruleProperties      = newRule("", "2.2.2-server-packets-properties")
	ruleByeWithWill     = newRule("", "3.14.2.1-client-codes-from-server")
	ruleByeExpiry       = newRule("", "MQTT-3.14.2-2")
	ruleServerReference = newRule("", "3.2.2.3.16-server-reference-with-code")

	// ruleTwice is about properties that may stand in a packet only once. A
	// doubled Payload Format Indicator or Message Expiry Interval of a PUBLISH
	// is left alone: the text forbids it for wills only [3.1.3.2.3, 3.1.3.2.4].
	ruleTwice = map[placed]rule{
		{CONNACK, SessionExpiryInterval}:           newRule("", "3.2.2.3.2-connack-session-expiry-interval-twice"),
		{CONNACK, ReceiveMaximum}:                  newRule("", "3.2.2.3.3-connack-receive-maximum-twice"),
		{CONNACK, MaximumQoS}:                      newRule("", "3.2.2.3.4-connack-maximum-qos-twice"),
		{CONNACK, RetainAvailable}:                 newRule("", "3.2.2.3.5-connack-retain-available-twice"),
		{CONNACK, MaximumPacketSize}:               newRule("", "3.2.2.3.6-connack-maximum-packet-size-twice"),
		{CONNACK, AssignedClientIdentifier}:        newRule("", "3.2.2.3.7-connack-assigned-client-identifier-twice"),
		{CONNACK, TopicAliasMaximum}:               newRule("", "3.2.2.3.8-connack-topic-alias-maximum-twice"),
		{CONNACK, ReasonString}:                    newRule("", "3.2.2.3.9-connack-reason-string-twice"),
		{CONNACK, WildcardSubscriptionAvailable}:   newRule("", "3.2.2.3.11-connack-wildcard-subscription-available-twice"),
		{CONNACK, SubscriptionIdentifierAvailable}: newRule("", "3.2.2.3.12-connack-subscription-identifier-available-twice"),
		{CONNACK, SharedSubscriptionAvailable}:     newRule("", "3.2.2.3.13-connack-shared-subscription-available-twice"),
		{CONNACK, ServerKeepAlive}:                 newRule("", "3.2.2.3.14-connack-server-keep-alive-twice"),
		{CONNACK, ResponseInformation}:             newRule("", "3.2.2.3.15-connack-response-information-twice"),
		{CONNACK, ServerReference}:                 newRule("", "3.2.2.3.16-connack-server-reference-twice"),
		{CONNACK, AuthenticationMethod}:            newRule("", "3.2.2.3.17-connack-authentication-method-twice"),
		{CONNACK, AuthenticationData}:              newRule("", "3.2.2.3.18-connack-authentication-data-twice"),
		{PUBLISH, TopicAlias}:                      newRule("", "3.3.2.3.4-publish-topic-alias-twice"),
		{PUBLISH, ResponseTopic}:                   newRule("", "3.3.2.3.5-publish-response-topic-twice"),
		{PUBLISH, CorrelationData}:                 newRule("", "3.3.2.3.6-publish-correlation-data-twice"),
		{PUBLISH, ContentType}:                     newRule("", "3.3.2.3.9-publish-content-type-twice"),
		{PUBACK, ReasonString}:                     newRule("", "3.4.2.2.2-puback-reason-string-twice"),
		{PUBREC, ReasonString}:                     newRule("", "3.5.2.2.2-pubrec-reason-string-twice"),
		{PUBREL, ReasonString}:                     newRule("", "3.6.2.2.2-pubrel-reason-string-twice"),
		{PUBCOMP, ReasonString}:                    newRule("", "3.7.2.2.2-pubcomp-reason-string-twice"),
		{SUBACK, ReasonString}:                     newRule("", "3.9.2.1.2-suback-reason-string-twice"),
		{UNSUBACK, ReasonString}:                   newRule("", "3.11.2.1.2-unsuback-reason-string-twice"),
		{DISCONNECT, ReasonString}:                 newRule("", "3.14.2.2.3-disconnect-reason-string-twice"),
		{DISCONNECT, ServerReference}:              newRule("", "3.14.2.2.5-disconnect-server-reference-twice"),
		{AUTH, AuthenticationMethod}:               newRule("", "3.15.2.2.2-auth-authentication-method-twice"),
		{AUTH, AuthenticationData}:                 newRule("", "3.15.2.2.3-auth-authentication-data-twice"),
		{AUTH, ReasonString}:                       newRule("", "3.15.2.2.4-auth-reason-string-twice"),
	}

	// ruleValue is about number properties with few legal values. That of the
	// Payload Format Indicator is left alone: a server has to pass it on
	// unaltered [v5/MQTT-3.3.2-4].
	ruleValue = map[placed]rule{
		{CONNACK, ReceiveMaximum}:                  newRule("", "3.2.2.3.3-receive-maximum-zero"),
		{CONNACK, MaximumQoS}:                      newRule("", "3.2.2.3.4-maximum-qos-value"),
		{CONNACK, RetainAvailable}:                 newRule("", "3.2.2.3.5-retain-available-value"),
		{CONNACK, MaximumPacketSize}:               newRule("", "3.2.2.3.6-maximum-packet-size-zero"),
		{CONNACK, WildcardSubscriptionAvailable}:   newRule("", "3.2.2.3.11-wildcard-available-value"),
		{CONNACK, SubscriptionIdentifierAvailable}: newRule("", "3.2.2.3.12-subscription-id-available-value"),
		{CONNACK, SharedSubscriptionAvailable}:     newRule("", "3.2.2.3.13-shared-available-value"),
		{PUBLISH, SubscriptionIdentifier}:          newRule("", "3.3.2.3.8-subscription-id-zero"),
	}

	// ruleLeftOut is about the two properties that have to be left out of a
	// packet which they would push over the client's Maximum Packet Size.
	ruleLeftOut = map[placed]rule{
		{CONNACK, ReasonString}:    newRule("", "MQTT-3.2.2-19"),
		{CONNACK, UserProperty}:    newRule("", "MQTT-3.2.2-20"),
		{PUBACK, ReasonString}:     newRule("", "MQTT-3.4.2-2"),
		{PUBACK, UserProperty}:     newRule("", "MQTT-3.4.2-3"),
		{PUBREC, ReasonString}:     newRule("", "MQTT-3.5.2-2"),
		{PUBREC, UserProperty}:     newRule("", "MQTT-3.5.2-3"),
		{PUBREL, ReasonString}:     newRule("", "MQTT-3.6.2-2"),
		{PUBREL, UserProperty}:     newRule("", "MQTT-3.6.2-3"),
		{PUBCOMP, ReasonString}:    newRule("", "MQTT-3.7.2-2"),
		{PUBCOMP, UserProperty}:    newRule("", "MQTT-3.7.2-3"),
		{SUBACK, ReasonString}:     newRule("", "MQTT-3.9.2-1"),
		{SUBACK, UserProperty}:     newRule("", "MQTT-3.9.2-2"),
		{UNSUBACK, ReasonString}:   newRule("", "MQTT-3.11.2-1"),
		{UNSUBACK, UserProperty}:   newRule("", "MQTT-3.11.2-2"),
		{DISCONNECT, ReasonString}: newRule("", "MQTT-3.14.2-3"),
		{DISCONNECT, UserProperty}: newRule("", "MQTT-3.14.2-4"),
		{AUTH, ReasonString}:       newRule("", "MQTT-3.15.2-2"),
		{AUTH, UserProperty}:       newRule("", "MQTT-3.15.2-3"),
	}
)

// placed is a property in a packet of a type.
type placed struct {
	packet Type
	id     PropertyID
}

// StandingKeys returns the keys of the statements of a version that the
// standing checks can judge, sorted.
func StandingKeys(v Version) []string {
	var keys []string
	for _, r := range rules {
		if key := r.key(v); key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
