package wire

import "slices"

// The rules that every packet of a broker is judged by, as the statements have
// them in MQTT 3.1.1 and 5.0; "" where the version has none.
var (
	ruleAliasMaximum   = pair{"", "MQTT-3.1.2-26"}
	ruleAliasZero      = pair{"", "MQTT-3.3.2-8"}
	ruleAuthCode       = pair{"", "MQTT-3.15.2-1"}
	ruleConnackBits    = pair{"3.2.2.1-reserved-bits", "MQTT-3.2.2-1"}
	ruleConnackCode    = pair{"MQTT-3.2.2-6", "MQTT-3.2.2-8"}
	ruleConnackFirst   = pair{"MQTT-3.2.0-1", "MQTT-3.2.0-1"}
	ruleConnackOnce    = pair{"", "MQTT-3.2.0-2"}
	ruleConnackSize    = pair{"3.2.1-connack-length", ""}
	ruleDirection      = pair{"2.2.1-client-only-types", "2.1.2-client-only-types-from-server"}
	ruleDisconnectCode = pair{"", "MQTT-3.14.2-1"}
	ruleDupQoS0        = pair{"MQTT-3.3.1-2", "MQTT-3.3.1-2"}
	ruleFixedLength    = pair{"3.4-fixed-lengths", ""}
	ruleFlags          = pair{"MQTT-2.2.2-1", "MQTT-2.1.3-1"}
	ruleFormat         = pair{"7.1.1-packet-format", "7.1.1-packet-format"}
	ruleFreeID         = pair{"MQTT-2.3.1-4", "MQTT-2.2.1-4"}
	ruleLast           = pair{"", "MQTT-3.14.4-1"}
	ruleNoAlias        = pair{"", "MQTT-3.1.2-27"}
	ruleNoEarlyBye     = pair{"", "MQTT-3.14.0-1"}
	ruleNoLiveResend   = pair{"", "MQTT-4.4.0-1"}
	ruleNoNUL          = pair{"MQTT-1.5.3-2", "MQTT-1.5.4-2"}
	ruleNoWildcard     = pair{"MQTT-3.3.2-2", "MQTT-3.3.2-2"}
	ruleNoZeroID       = pair{"MQTT-2.3.1-1", "MQTT-2.2.1-4"}
	ruleOverlong       = pair{"", "MQTT-1.5.5-1"}
	rulePacketSize     = pair{"", "MQTT-3.1.2-24"}
	rulePingresp       = pair{"3.13-pingresp-format", "3.13.1-pingresp-format"}
	ruleProblemInfo    = pair{"", "MQTT-3.1.2-29"}
	ruleProperties     = pair{"", "2.2.2.2-server-packets-properties"}
	rulePubackCode     = pair{"", "MQTT-3.4.2-1"}
	rulePubcompCode    = pair{"", "MQTT-3.7.2-1"}
	rulePubrecCode     = pair{"", "MQTT-3.5.2-1"}
	rulePubrelCode     = pair{"", "MQTT-3.6.2-1"}
	ruleQoS            = pair{"MQTT-3.3.1-4", "MQTT-3.3.1-4"}
	ruleReceiveMaximum = pair{"", "MQTT-3.3.4-9"}
	ruleRefusedPresent = pair{"MQTT-3.2.2-4", "MQTT-3.2.2-6"}
	ruleReserved       = pair{"2.2.1-reserved-types", "2.1.2-packet-type-0"}
	ruleResponseInfo   = pair{"", "MQTT-3.1.2-28"}
	ruleSubackCodes    = pair{"MQTT-3.9.3-2", "MQTT-3.9.3-2"}
	ruleTopicEmpty     = pair{"MQTT-4.7.3-1", "MQTT-4.7.3-1"}
	ruleUTF8           = pair{"MQTT-1.5.3-1", "MQTT-1.5.4-1"}
	ruleUnsubackCodes  = pair{"", "MQTT-3.11.3-2"}
)

var standing = []pair{
	ruleAliasMaximum,
	ruleAliasZero,
	ruleAuthCode,
	ruleConnackBits,
	ruleConnackCode,
	ruleConnackFirst,
	ruleConnackOnce,
	ruleConnackSize,
	ruleDirection,
	ruleDisconnectCode,
	ruleDupQoS0,
	ruleFixedLength,
	ruleFlags,
	ruleFormat,
	ruleFreeID,
	ruleLast,
	ruleNoAlias,
	ruleNoEarlyBye,
	ruleNoLiveResend,
	ruleNoNUL,
	ruleNoWildcard,
	ruleNoZeroID,
	ruleOverlong,
	rulePacketSize,
	rulePingresp,
	ruleProblemInfo,
	ruleProperties,
	rulePubackCode,
	rulePubcompCode,
	rulePubrecCode,
	rulePubrelCode,
	ruleQoS,
	ruleReceiveMaximum,
	ruleRefusedPresent,
	ruleReserved,
	ruleResponseInfo,
	ruleSubackCodes,
	ruleTopicEmpty,
	ruleUTF8,
	ruleUnsubackCodes,
}

// StandingKeys returns the keys of the statements of a version that the
// standing checks can judge.
func StandingKeys(v Version) []string {
	c := newChecker(v)
	var keys []string
	for _, p := range standing {
		if key := c.key(p); key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
