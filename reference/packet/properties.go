package packet

// willPacket stands for the Will Properties among the packet types.
const willPacket Type = 0

// Property Identifiers. [section 2.2.2.2 of MQTT 5.0]
const (
	idPayloadFormat     = 0x01
	idMessageExpiry     = 0x02
	idContentType       = 0x03
	idResponseTopic     = 0x08
	idCorrelationData   = 0x09
	idSubscriptionID    = 0x0B
	idSessionExpiry     = 0x11
	idAssignedClientID  = 0x12
	idServerKeepAlive   = 0x13
	idAuthMethod        = 0x15
	idAuthData          = 0x16
	idProblemInfo       = 0x17
	idWillDelay         = 0x18
	idRequestResponse   = 0x19
	idResponseInfo      = 0x1A
	idServerReference   = 0x1C
	idReasonString      = 0x1F
	idReceiveMaximum    = 0x21
	idTopicAliasMaximum = 0x22
	idTopicAlias        = 0x23
	idMaximumQoS        = 0x24
	idRetainAvailable   = 0x25
	idUserProperty      = 0x26
	idMaximumPacketSize = 0x27
	idWildcardAvailable = 0x28
	idSubIDAvailable    = 0x29
	idSharedAvailable   = 0x2A
)

// place says that a property may stand in a packet, and which rule it breaks
// when it stands there twice; "" where it may.
type place map[Type]Rule

// places is Table 2-4 of MQTT 5.0, by Property Identifier; nil for those that
// are not defined. [section 2.2.2.2]
var places = [...]place{
	idPayloadFormat:    {PUBLISH: RulePublishPayloadFormatIndicatorTwice, willPacket: RuleWillPayloadFormatIndicatorTwice},
	idMessageExpiry:    {PUBLISH: RulePublishMessageExpiryIntervalTwice, willPacket: RuleWillMessageExpiryIntervalTwice},
	idContentType:      {PUBLISH: RulePublishContentTypeTwice, willPacket: RuleWillContentTypeTwice},
	idResponseTopic:    {PUBLISH: RulePublishResponseTopicTwice, willPacket: RuleWillResponseTopicTwice},
	idCorrelationData:  {PUBLISH: RulePublishCorrelationDataTwice, willPacket: RuleWillCorrelationDataTwice},
	idSubscriptionID:   {PUBLISH: "", SUBSCRIBE: RuleSubscribeSubscriptionIdentifierTwice},
	idSessionExpiry:    {CONNECT: RuleConnectSessionExpiryIntervalTwice, CONNACK: RuleConnackSessionExpiryIntervalTwice, DISCONNECT: RuleDisconnectSessionExpiryIntervalTwice},
	idAssignedClientID: {CONNACK: RuleConnackAssignedClientIdentifierTwice},
	idServerKeepAlive:  {CONNACK: RuleConnackServerKeepAliveTwice},
	idAuthMethod:       {CONNECT: RuleConnectAuthenticationMethodTwice, CONNACK: RuleConnackAuthenticationMethodTwice, AUTH: RuleAuthAuthenticationMethodTwice},
	idAuthData:         {CONNECT: RuleConnectAuthenticationDataTwice, CONNACK: RuleConnackAuthenticationDataTwice, AUTH: RuleAuthAuthenticationDataTwice},
	idProblemInfo:      {CONNECT: RuleConnectRequestProblemInformationTwice},
	idWillDelay:        {willPacket: RuleWillWillDelayIntervalTwice},
	idRequestResponse:  {CONNECT: RuleConnectRequestResponseInformationTwice},
	idResponseInfo:     {CONNACK: RuleConnackResponseInformationTwice},
	idServerReference:  {CONNACK: RuleConnackServerReferenceTwice, DISCONNECT: RuleDisconnectServerReferenceTwice},
	idReasonString: {
		CONNACK: RuleConnackReasonStringTwice, PUBACK: RulePubackReasonStringTwice, PUBREC: RulePubrecReasonStringTwice,
		PUBREL: RulePubrelReasonStringTwice, PUBCOMP: RulePubcompReasonStringTwice, SUBACK: RuleSubackReasonStringTwice,
		UNSUBACK: RuleUnsubackReasonStringTwice, DISCONNECT: RuleDisconnectReasonStringTwice, AUTH: RuleAuthReasonStringTwice,
	},
	idReceiveMaximum:    {CONNECT: RuleConnectReceiveMaximumTwice, CONNACK: RuleConnackReceiveMaximumTwice},
	idTopicAliasMaximum: {CONNECT: RuleConnectTopicAliasMaximumTwice, CONNACK: RuleConnackTopicAliasMaximumTwice},
	idTopicAlias:        {PUBLISH: RulePublishTopicAliasTwice},
	idMaximumQoS:        {CONNACK: RuleConnackMaximumQoSTwice},
	idRetainAvailable:   {CONNACK: RuleConnackRetainAvailableTwice},
	idUserProperty: {
		willPacket: "", CONNECT: "", CONNACK: "", PUBLISH: "", PUBACK: "", PUBREC: "", PUBREL: "", PUBCOMP: "",
		SUBSCRIBE: "", SUBACK: "", UNSUBSCRIBE: "", UNSUBACK: "", DISCONNECT: "", AUTH: "",
	},
	idMaximumPacketSize: {CONNECT: RuleConnectMaximumPacketSizeTwice, CONNACK: RuleConnackMaximumPacketSizeTwice},
	idWildcardAvailable: {CONNACK: RuleConnackWildcardSubscriptionAvailableTwice},
	idSubIDAvailable:    {CONNACK: RuleConnackSubscriptionIdentifierAvailableTwice},
	idSharedAvailable:   {CONNACK: RuleConnackSharedSubscriptionAvailableTwice},
}

// placeRules are broken by a property that does not belong into the packet.
var placeRules = map[Type]Rule{
	CONNECT: RulePropertyNotForConnect, willPacket: RulePropertyNotForWill, PUBLISH: RulePropertyNotForPublish,
	PUBACK: RulePropertyNotForAcks, PUBREC: RulePropertyNotForAcks, PUBREL: RulePropertyNotForAcks, PUBCOMP: RulePropertyNotForAcks,
	SUBSCRIBE: RulePropertyNotForSubscribe, UNSUBSCRIBE: RulePropertyNotForUnsubscribe,
	DISCONNECT: RulePropertyNotForDisconnect, AUTH: RulePropertyNotForAuth,
	CONNACK: RulePropertyNotForAnswer, SUBACK: RulePropertyNotForAnswer, UNSUBACK: RulePropertyNotForAnswer,
}

var (
	userNameText       = textRules{RuleUserPropertyNameUTF8, RuleUserPropertyNameSurrogate, RuleUserPropertyNameNUL}
	userValueText      = textRules{RuleUserPropertyValueUTF8, RuleUserPropertyValueSurrogate, RuleUserPropertyValueNUL}
	responseTopicText  = textRules{RuleResponseTopicUTF8, RuleResponseTopicSurrogate, RuleResponseTopicNUL}
	contentTypeText    = textRules{RuleContentTypeUTF8, RuleContentTypeSurrogate, RuleContentTypeNUL}
	authMethodText     = textRules{RuleAuthenticationMethodUTF8, RuleAuthenticationMethodSurrogate, RuleAuthenticationMethodNUL}
	reasonStringText   = textRules{RuleReasonStringUTF8, RuleReasonStringSurrogate, RuleReasonStringNUL}
	serverPropertyText = textRules{RuleServerPropertyUTF8, RuleServerPropertySurrogate, RuleServerPropertyNUL}
)
