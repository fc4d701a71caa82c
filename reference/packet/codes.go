package packet

// ReasonCode is a Reason Code of MQTT 5.0 [section 2.4], or a Return Code of
// MQTT 3.1.1.
type ReasonCode byte

// The Reason Codes.
const (
	Success                             ReasonCode = 0x00
	NormalDisconnection                 ReasonCode = 0x00
	GrantedQoS1                         ReasonCode = 0x01
	GrantedQoS2                         ReasonCode = 0x02
	DisconnectWithWill                  ReasonCode = 0x04
	NoMatchingSubscribers               ReasonCode = 0x10
	NoSubscriptionExisted               ReasonCode = 0x11
	ContinueAuthentication              ReasonCode = 0x18
	ReAuthenticate                      ReasonCode = 0x19
	UnspecifiedError                    ReasonCode = 0x80
	MalformedPacket                     ReasonCode = 0x81
	ProtocolError                       ReasonCode = 0x82
	ImplementationSpecificError         ReasonCode = 0x83
	UnsupportedProtocolVersion          ReasonCode = 0x84
	ClientIdentifierNotValid            ReasonCode = 0x85
	BadUserNameOrPassword               ReasonCode = 0x86
	NotAuthorized                       ReasonCode = 0x87
	ServerUnavailable                   ReasonCode = 0x88
	ServerBusy                          ReasonCode = 0x89
	Banned                              ReasonCode = 0x8A
	ServerShuttingDown                  ReasonCode = 0x8B
	BadAuthenticationMethod             ReasonCode = 0x8C
	KeepAliveTimeout                    ReasonCode = 0x8D
	SessionTakenOver                    ReasonCode = 0x8E
	TopicFilterInvalid                  ReasonCode = 0x8F
	TopicNameInvalid                    ReasonCode = 0x90
	PacketIdentifierInUse               ReasonCode = 0x91
	PacketIdentifierNotFound            ReasonCode = 0x92
	ReceiveMaximumExceeded              ReasonCode = 0x93
	TopicAliasInvalid                   ReasonCode = 0x94
	PacketTooLarge                      ReasonCode = 0x95
	MessageRateTooHigh                  ReasonCode = 0x96
	QuotaExceeded                       ReasonCode = 0x97
	AdministrativeAction                ReasonCode = 0x98
	PayloadFormatInvalid                ReasonCode = 0x99
	RetainNotSupported                  ReasonCode = 0x9A
	QoSNotSupported                     ReasonCode = 0x9B
	UseAnotherServer                    ReasonCode = 0x9C
	ServerMoved                         ReasonCode = 0x9D
	SharedSubscriptionsNotSupported     ReasonCode = 0x9E
	ConnectionRateExceeded              ReasonCode = 0x9F
	MaximumConnectTime                  ReasonCode = 0xA0
	SubscriptionIdentifiersNotSupported ReasonCode = 0xA1
	WildcardSubscriptionsNotSupported   ReasonCode = 0xA2
)

// legalCodes are the Reason Codes that a packet may have, whoever sends it.
// DISCONNECT has 0x8C from Table 2-6, which Table 3-10 leaves out.
// [v5/MQTT-3.2.2-8] [v5/MQTT-3.4.2-1] [v5/MQTT-3.5.2-1] [v5/MQTT-3.6.2-1] [v5/MQTT-3.7.2-1]
// [v5/MQTT-3.9.3-2] [v5/MQTT-3.11.3-2] [v5/MQTT-3.14.2-1] [v5/MQTT-3.15.2-1]
var legalCodes = map[Type]string{
	CONNACK: "\x00\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8c\x90\x95\x97\x99\x9a\x9b\x9c\x9d\x9f",
	PUBACK:  "\x00\x10\x80\x83\x87\x90\x91\x97\x99", PUBREC: "\x00\x10\x80\x83\x87\x90\x91\x97\x99",
	PUBREL: "\x00\x92", PUBCOMP: "\x00\x92",
	SUBACK: "\x00\x01\x02\x80\x83\x87\x8f\x91\x97\x9e\xa1\xa2", UNSUBACK: "\x00\x11\x80\x83\x87\x8f\x91",
	DISCONNECT: "\x00\x04\x80\x81\x82\x83\x87\x89\x8b\x8c\x8d\x8e\x8f\x90\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xa0\xa1\xa2",
	AUTH:       "\x00\x18\x19",
}

// returnCodes are the codes of MQTT 3.1.1. [v311/3.2.2.3-codes-reserved] [v311/MQTT-3.9.3-2]
var returnCodes = map[Type]string{CONNACK: "\x00\x01\x02\x03\x04\x05", SUBACK: "\x00\x01\x02\x80"}

var codeRules = map[Type]Rule{
	CONNACK: RuleConnackCode, PUBACK: RulePubackCode, PUBREC: RulePubrecCode, PUBREL: RulePubrelCode, PUBCOMP: RulePubcompCode,
	SUBACK: RuleSubackCode, UNSUBACK: RuleUnsubackCode, DISCONNECT: RuleDisconnectCode, AUTH: RuleAuthCode,
}

// serverDisconnect tells whether only servers send DISCONNECT with the code:
// the column "Sent by" of Table 3-10, with 0x8C. [section 3.14.2.1 of MQTT 5.0]
func serverDisconnect(code ReasonCode) bool {
	switch code {
	case NotAuthorized, ServerBusy, ServerShuttingDown, BadAuthenticationMethod, KeepAliveTimeout, SessionTakenOver, TopicFilterInvalid:
		return true
	}
	return code >= RetainNotSupported && code <= WildcardSubscriptionsNotSupported
}
