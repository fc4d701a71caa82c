package packet

// The rules of properties.
const (
	// RulePropertyLengthMissing: a packet that may have properties has a Property Length.
	// [v5/MQTT-2.2.2-1]
	RulePropertyLengthMissing Rule = "property-length-missing"
	// RulePropertyLength: the Property Length does not reach beyond the packet.
	// [v5/2.2.2-property-length-beyond-packet]
	RulePropertyLength Rule = "property-length"
	// RulePropertyUnknown: a Property Identifier is one that is defined.
	// [v5/2.2.2-unknown-property]
	RulePropertyUnknown Rule = "property-unknown"
	// RulePropertyShort: a property does not reach beyond the Property Length.
	// [v5/2.2.2-property-value-wrong-size]
	RulePropertyShort Rule = "property-short"
	// RulePropertyPlace: a property stands only where Table 2-4 of MQTT 5.0 has it.
	// [v5/2.2.2-property-not-for-connect] [v5/2.2.2-property-not-for-will] [v5/2.2.2-property-not-for-publish]
	// [v5/2.2.2-property-not-for-acks] [v5/2.2.2-property-not-for-subscribe] [v5/2.2.2-property-not-for-unsubscribe]
	// [v5/2.2.2-property-not-for-disconnect] [v5/2.2.2-property-not-for-auth] [v5/2.2.2-server-packets-properties]
	RulePropertyPlace Rule = "property-place"
	// RulePropertyNotForConnect: a property in CONNECT is one that may stand there.
	// [v5/2.2.2-property-not-for-connect]
	RulePropertyNotForConnect Rule = "property-not-for-connect"
	// RulePropertyNotForWill: a property in the Will Properties is one that may stand there.
	// [v5/2.2.2-property-not-for-will]
	RulePropertyNotForWill Rule = "property-not-for-will"
	// RulePropertyNotForPublish: a property in PUBLISH is one that may stand there.
	// [v5/2.2.2-property-not-for-publish]
	RulePropertyNotForPublish Rule = "property-not-for-publish"
	// RulePropertyNotForAcks: a property in PUBACK, PUBREC, PUBREL and PUBCOMP is one that may stand there.
	// [v5/2.2.2-property-not-for-acks]
	RulePropertyNotForAcks Rule = "property-not-for-acks"
	// RulePropertyNotForSubscribe: a property in SUBSCRIBE is one that may stand there.
	// [v5/2.2.2-property-not-for-subscribe]
	RulePropertyNotForSubscribe Rule = "property-not-for-subscribe"
	// RulePropertyNotForUnsubscribe: a property in UNSUBSCRIBE is one that may stand there.
	// [v5/2.2.2-property-not-for-unsubscribe]
	RulePropertyNotForUnsubscribe Rule = "property-not-for-unsubscribe"
	// RulePropertyNotForDisconnect: a property in DISCONNECT is one that may stand there.
	// [v5/2.2.2-property-not-for-disconnect]
	RulePropertyNotForDisconnect Rule = "property-not-for-disconnect"
	// RulePropertyNotForAuth: a property in AUTH is one that may stand there.
	// [v5/2.2.2-property-not-for-auth]
	RulePropertyNotForAuth Rule = "property-not-for-auth"
	// RulePropertyNotForAnswer: a property in CONNACK, SUBACK and UNSUBACK is one that may stand there.
	// [v5/2.2.2-server-packets-properties]
	RulePropertyNotForAnswer Rule = "property-not-for-answer"
	// RulePropertyValue: a property has one of the values that it may have.
	// Its statements are those of the rules of its group.
	RulePropertyValue Rule = "property-value"
	// RuleConnectReceiveMaximumZero: Receive Maximum in CONNECT is not 0.
	// [v5/3.1.2.11.3-receive-maximum-zero]
	RuleConnectReceiveMaximumZero Rule = "connect-receive-maximum-zero"
	// RuleConnectMaximumPacketSizeZero: Maximum Packet Size in CONNECT is not 0.
	// [v5/3.1.2.11.4-maximum-packet-size-zero]
	RuleConnectMaximumPacketSizeZero Rule = "connect-maximum-packet-size-zero"
	// RuleRequestResponseInformationValue: Request Response Information is 0 or 1.
	// [v5/3.1.2.11.6-request-response-information-value]
	RuleRequestResponseInformationValue Rule = "request-response-information-value"
	// RuleRequestProblemInformationValue: Request Problem Information is 0 or 1.
	// [v5/3.1.2.11.7-request-problem-information-value]
	RuleRequestProblemInformationValue Rule = "request-problem-information-value"
	// RuleWillPayloadFormatValue: Payload Format Indicator in the Will Properties is 0 or 1.
	// [v5/3.1.3.2.3-will-payload-format-value]
	RuleWillPayloadFormatValue Rule = "will-payload-format-value"
	// RulePublishPayloadFormatValue: Payload Format Indicator in PUBLISH is 0 or 1.
	// [v5/3.3.2.3.2-payload-format-value]
	RulePublishPayloadFormatValue Rule = "publish-payload-format-value"
	// RuleSubscribeSubscriptionIDZero: Subscription Identifier in SUBSCRIBE is not 0.
	// [v5/3.8.2.1.2-subscription-id-zero]
	RuleSubscribeSubscriptionIDZero Rule = "subscribe-subscription-id-zero"
	// RulePublishSubscriptionIDZero: Subscription Identifier in PUBLISH is not 0.
	// [v5/3.3.2.3.8-subscription-id-zero]
	RulePublishSubscriptionIDZero Rule = "publish-subscription-id-zero"
	// RuleConnackReceiveMaximumZero: Receive Maximum in CONNACK is not 0.
	// [v5/3.2.2.3.3-receive-maximum-zero]
	RuleConnackReceiveMaximumZero Rule = "connack-receive-maximum-zero"
	// RuleConnackMaximumPacketSizeZero: Maximum Packet Size in CONNACK is not 0.
	// [v5/3.2.2.3.6-maximum-packet-size-zero]
	RuleConnackMaximumPacketSizeZero Rule = "connack-maximum-packet-size-zero"
	// RuleMaximumQoSValue: Maximum QoS is 0 or 1.
	// [v5/3.2.2.3.4-maximum-qos-value]
	RuleMaximumQoSValue Rule = "maximum-qos-value"
	// RuleRetainAvailableValue: Retain Available is 0 or 1.
	// [v5/3.2.2.3.5-retain-available-value]
	RuleRetainAvailableValue Rule = "retain-available-value"
	// RuleWildcardAvailableValue: Wildcard Subscription Available is 0 or 1.
	// [v5/3.2.2.3.11-wildcard-available-value]
	RuleWildcardAvailableValue Rule = "wildcard-available-value"
	// RuleSubscriptionIDAvailableValue: Subscription Identifier Available is 0 or 1.
	// [v5/3.2.2.3.12-subscription-id-available-value]
	RuleSubscriptionIDAvailableValue Rule = "subscription-id-available-value"
	// RuleSharedAvailableValue: Shared Subscription Available is 0 or 1.
	// [v5/3.2.2.3.13-shared-available-value]
	RuleSharedAvailableValue Rule = "shared-available-value"
	// RulePropertyUTF8: a string in a property is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1]
	RulePropertyUTF8 Rule = "property-utf8"
	// RuleUserPropertyNameUTF8: the name of a User Property is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.7-1]
	RuleUserPropertyNameUTF8 Rule = "user-property-name-utf8"
	// RuleUserPropertyValueUTF8: the value of a User Property is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.7-1]
	RuleUserPropertyValueUTF8 Rule = "user-property-value-utf8"
	// RuleResponseTopicUTF8: the Response Topic is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-3.3.2-13]
	RuleResponseTopicUTF8 Rule = "response-topic-utf8"
	// RuleContentTypeUTF8: the Content Type is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-3.3.2-19]
	RuleContentTypeUTF8 Rule = "content-type-utf8"
	// RuleAuthenticationMethodUTF8: the Authentication Method is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1]
	RuleAuthenticationMethodUTF8 Rule = "authentication-method-utf8"
	// RuleReasonStringUTF8: the Reason String is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1]
	RuleReasonStringUTF8 Rule = "reason-string-utf8"
	// RuleServerPropertyUTF8: a string that only a server sends as a property is well-formed UTF-8.
	// [v5/MQTT-1.5.4-1]
	RuleServerPropertyUTF8 Rule = "server-property-utf8"
	// RulePropertySurrogate: a string in a property encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1]
	RulePropertySurrogate Rule = "property-surrogate"
	// RuleUserPropertyNameSurrogate: the name of a User Property encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.7-1]
	RuleUserPropertyNameSurrogate Rule = "user-property-name-surrogate"
	// RuleUserPropertyValueSurrogate: the value of a User Property encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.7-1]
	RuleUserPropertyValueSurrogate Rule = "user-property-value-surrogate"
	// RuleResponseTopicSurrogate: the Response Topic encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-3.3.2-13]
	RuleResponseTopicSurrogate Rule = "response-topic-surrogate"
	// RuleContentTypeSurrogate: the Content Type encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1] [v5/MQTT-3.3.2-19]
	RuleContentTypeSurrogate Rule = "content-type-surrogate"
	// RuleAuthenticationMethodSurrogate: the Authentication Method encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1]
	RuleAuthenticationMethodSurrogate Rule = "authentication-method-surrogate"
	// RuleReasonStringSurrogate: the Reason String encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1]
	RuleReasonStringSurrogate Rule = "reason-string-surrogate"
	// RuleServerPropertySurrogate: a string that only a server sends as a property encodes no code point from U+D800 to U+DFFF.
	// [v5/MQTT-1.5.4-1]
	RuleServerPropertySurrogate Rule = "server-property-surrogate"
	// RulePropertyNUL: a string in a property holds no U+0000.
	// [v5/MQTT-1.5.4-2]
	RulePropertyNUL Rule = "property-nul"
	// RuleUserPropertyNameNUL: the name of a User Property holds no U+0000.
	// [v5/MQTT-1.5.4-2] [v5/MQTT-1.5.7-1]
	RuleUserPropertyNameNUL Rule = "user-property-name-nul"
	// RuleUserPropertyValueNUL: the value of a User Property holds no U+0000.
	// [v5/MQTT-1.5.4-2] [v5/MQTT-1.5.7-1]
	RuleUserPropertyValueNUL Rule = "user-property-value-nul"
	// RuleResponseTopicNUL: the Response Topic holds no U+0000.
	// [v5/MQTT-1.5.4-2] [v5/MQTT-3.3.2-13]
	RuleResponseTopicNUL Rule = "response-topic-nul"
	// RuleContentTypeNUL: the Content Type holds no U+0000.
	// [v5/MQTT-1.5.4-2] [v5/MQTT-3.3.2-19]
	RuleContentTypeNUL Rule = "content-type-nul"
	// RuleAuthenticationMethodNUL: the Authentication Method holds no U+0000.
	// [v5/MQTT-1.5.4-2]
	RuleAuthenticationMethodNUL Rule = "authentication-method-nul"
	// RuleReasonStringNUL: the Reason String holds no U+0000.
	// [v5/MQTT-1.5.4-2]
	RuleReasonStringNUL Rule = "reason-string-nul"
	// RuleServerPropertyNUL: a string that only a server sends as a property holds no U+0000.
	// [v5/MQTT-1.5.4-2]
	RuleServerPropertyNUL Rule = "server-property-nul"
	// RuleResponseTopic: the Response Topic has no wildcards.
	// [v5/MQTT-3.3.2-14]
	RuleResponseTopic Rule = "response-topic-wildcard"
	// RuleResponseTopicEmpty: the Response Topic is not empty.
	// [v5/MQTT-4.7.3-1]
	RuleResponseTopicEmpty Rule = "response-topic-empty"
	// RuleAuthMethod: AUTH has an Authentication Method.
	// [v5/3.15.2.2.2-auth-method-missing]
	RuleAuthMethod Rule = "auth-method-missing"
	// RuleAuthData: Authentication Data in CONNECT comes with an Authentication Method.
	// [v5/3.1.2.11.10-data-without-method]
	RuleAuthData Rule = "auth-data-alone"
)

var propertiesRules = []RuleInfo{
	{RulePropertyLengthMissing, RuleShort, "a packet that may have properties has a Property Length", keys("v5/MQTT-2.2.2-1")},
	{RulePropertyLength, "", "the Property Length does not reach beyond the packet", keys("v5/2.2.2-property-length-beyond-packet")},
	{RulePropertyUnknown, "", "a Property Identifier is one that is defined", keys("v5/2.2.2-unknown-property")},
	{RulePropertyShort, "", "a property does not reach beyond the Property Length", keys("v5/2.2.2-property-value-wrong-size")},
	{RulePropertyPlace, "", "a property stands only where Table 2-4 of MQTT 5.0 has it", keys("v5/2.2.2-property-not-for-connect v5/2.2.2-property-not-for-will v5/2.2.2-property-not-for-publish v5/2.2.2-property-not-for-acks v5/2.2.2-property-not-for-subscribe v5/2.2.2-property-not-for-unsubscribe v5/2.2.2-property-not-for-disconnect v5/2.2.2-property-not-for-auth v5/2.2.2-server-packets-properties")},
	{RulePropertyNotForConnect, RulePropertyPlace, "a property in CONNECT is one that may stand there", keys("v5/2.2.2-property-not-for-connect")},
	{RulePropertyNotForWill, RulePropertyPlace, "a property in the Will Properties is one that may stand there", keys("v5/2.2.2-property-not-for-will")},
	{RulePropertyNotForPublish, RulePropertyPlace, "a property in PUBLISH is one that may stand there", keys("v5/2.2.2-property-not-for-publish")},
	{RulePropertyNotForAcks, RulePropertyPlace, "a property in PUBACK, PUBREC, PUBREL and PUBCOMP is one that may stand there", keys("v5/2.2.2-property-not-for-acks")},
	{RulePropertyNotForSubscribe, RulePropertyPlace, "a property in SUBSCRIBE is one that may stand there", keys("v5/2.2.2-property-not-for-subscribe")},
	{RulePropertyNotForUnsubscribe, RulePropertyPlace, "a property in UNSUBSCRIBE is one that may stand there", keys("v5/2.2.2-property-not-for-unsubscribe")},
	{RulePropertyNotForDisconnect, RulePropertyPlace, "a property in DISCONNECT is one that may stand there", keys("v5/2.2.2-property-not-for-disconnect")},
	{RulePropertyNotForAuth, RulePropertyPlace, "a property in AUTH is one that may stand there", keys("v5/2.2.2-property-not-for-auth")},
	{RulePropertyNotForAnswer, RulePropertyPlace, "a property in CONNACK, SUBACK and UNSUBACK is one that may stand there", keys("v5/2.2.2-server-packets-properties")},
	{RulePropertyValue, "", "a property has one of the values that it may have", nil},
	{RuleConnectReceiveMaximumZero, RulePropertyValue, "Receive Maximum in CONNECT is not 0", keys("v5/3.1.2.11.3-receive-maximum-zero")},
	{RuleConnectMaximumPacketSizeZero, RulePropertyValue, "Maximum Packet Size in CONNECT is not 0", keys("v5/3.1.2.11.4-maximum-packet-size-zero")},
	{RuleRequestResponseInformationValue, RulePropertyValue, "Request Response Information is 0 or 1", keys("v5/3.1.2.11.6-request-response-information-value")},
	{RuleRequestProblemInformationValue, RulePropertyValue, "Request Problem Information is 0 or 1", keys("v5/3.1.2.11.7-request-problem-information-value")},
	{RuleWillPayloadFormatValue, RulePropertyValue, "Payload Format Indicator in the Will Properties is 0 or 1", keys("v5/3.1.3.2.3-will-payload-format-value")},
	{RulePublishPayloadFormatValue, RulePropertyValue, "Payload Format Indicator in PUBLISH is 0 or 1", keys("v5/3.3.2.3.2-payload-format-value")},
	{RuleSubscribeSubscriptionIDZero, RulePropertyValue, "Subscription Identifier in SUBSCRIBE is not 0", keys("v5/3.8.2.1.2-subscription-id-zero")},
	{RulePublishSubscriptionIDZero, RulePropertyValue, "Subscription Identifier in PUBLISH is not 0", keys("v5/3.3.2.3.8-subscription-id-zero")},
	{RuleConnackReceiveMaximumZero, RulePropertyValue, "Receive Maximum in CONNACK is not 0", keys("v5/3.2.2.3.3-receive-maximum-zero")},
	{RuleConnackMaximumPacketSizeZero, RulePropertyValue, "Maximum Packet Size in CONNACK is not 0", keys("v5/3.2.2.3.6-maximum-packet-size-zero")},
	{RuleMaximumQoSValue, RulePropertyValue, "Maximum QoS is 0 or 1", keys("v5/3.2.2.3.4-maximum-qos-value")},
	{RuleRetainAvailableValue, RulePropertyValue, "Retain Available is 0 or 1", keys("v5/3.2.2.3.5-retain-available-value")},
	{RuleWildcardAvailableValue, RulePropertyValue, "Wildcard Subscription Available is 0 or 1", keys("v5/3.2.2.3.11-wildcard-available-value")},
	{RuleSubscriptionIDAvailableValue, RulePropertyValue, "Subscription Identifier Available is 0 or 1", keys("v5/3.2.2.3.12-subscription-id-available-value")},
	{RuleSharedAvailableValue, RulePropertyValue, "Shared Subscription Available is 0 or 1", keys("v5/3.2.2.3.13-shared-available-value")},
	{RulePropertyUTF8, "", "a string in a property is well-formed UTF-8", keys("v5/MQTT-1.5.4-1")},
	{RuleUserPropertyNameUTF8, RulePropertyUTF8, "the name of a User Property is well-formed UTF-8", keys("v5/MQTT-1.5.4-1 v5/MQTT-1.5.7-1")},
	{RuleUserPropertyValueUTF8, RulePropertyUTF8, "the value of a User Property is well-formed UTF-8", keys("v5/MQTT-1.5.4-1 v5/MQTT-1.5.7-1")},
	{RuleResponseTopicUTF8, RulePropertyUTF8, "the Response Topic is well-formed UTF-8", keys("v5/MQTT-1.5.4-1 v5/MQTT-3.3.2-13")},
	{RuleContentTypeUTF8, RulePropertyUTF8, "the Content Type is well-formed UTF-8", keys("v5/MQTT-1.5.4-1 v5/MQTT-3.3.2-19")},
	{RuleAuthenticationMethodUTF8, RulePropertyUTF8, "the Authentication Method is well-formed UTF-8", keys("v5/MQTT-1.5.4-1")},
	{RuleReasonStringUTF8, RulePropertyUTF8, "the Reason String is well-formed UTF-8", keys("v5/MQTT-1.5.4-1")},
	{RuleServerPropertyUTF8, RulePropertyUTF8, "a string that only a server sends as a property is well-formed UTF-8", keys("v5/MQTT-1.5.4-1")},
	{RulePropertySurrogate, "", "a string in a property encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1")},
	{RuleUserPropertyNameSurrogate, RulePropertySurrogate, "the name of a User Property encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1 v5/MQTT-1.5.7-1")},
	{RuleUserPropertyValueSurrogate, RulePropertySurrogate, "the value of a User Property encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1 v5/MQTT-1.5.7-1")},
	{RuleResponseTopicSurrogate, RulePropertySurrogate, "the Response Topic encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1 v5/MQTT-3.3.2-13")},
	{RuleContentTypeSurrogate, RulePropertySurrogate, "the Content Type encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1 v5/MQTT-3.3.2-19")},
	{RuleAuthenticationMethodSurrogate, RulePropertySurrogate, "the Authentication Method encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1")},
	{RuleReasonStringSurrogate, RulePropertySurrogate, "the Reason String encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1")},
	{RuleServerPropertySurrogate, RulePropertySurrogate, "a string that only a server sends as a property encodes no code point from U+D800 to U+DFFF", keys("v5/MQTT-1.5.4-1")},
	{RulePropertyNUL, "", "a string in a property holds no U+0000", keys("v5/MQTT-1.5.4-2")},
	{RuleUserPropertyNameNUL, RulePropertyNUL, "the name of a User Property holds no U+0000", keys("v5/MQTT-1.5.4-2 v5/MQTT-1.5.7-1")},
	{RuleUserPropertyValueNUL, RulePropertyNUL, "the value of a User Property holds no U+0000", keys("v5/MQTT-1.5.4-2 v5/MQTT-1.5.7-1")},
	{RuleResponseTopicNUL, RulePropertyNUL, "the Response Topic holds no U+0000", keys("v5/MQTT-1.5.4-2 v5/MQTT-3.3.2-13")},
	{RuleContentTypeNUL, RulePropertyNUL, "the Content Type holds no U+0000", keys("v5/MQTT-1.5.4-2 v5/MQTT-3.3.2-19")},
	{RuleAuthenticationMethodNUL, RulePropertyNUL, "the Authentication Method holds no U+0000", keys("v5/MQTT-1.5.4-2")},
	{RuleReasonStringNUL, RulePropertyNUL, "the Reason String holds no U+0000", keys("v5/MQTT-1.5.4-2")},
	{RuleServerPropertyNUL, RulePropertyNUL, "a string that only a server sends as a property holds no U+0000", keys("v5/MQTT-1.5.4-2")},
	{RuleResponseTopic, "", "the Response Topic has no wildcards", keys("v5/MQTT-3.3.2-14")},
	{RuleResponseTopicEmpty, "", "the Response Topic is not empty", keys("v5/MQTT-4.7.3-1")},
	{RuleAuthMethod, "", "AUTH has an Authentication Method", keys("v5/3.15.2.2.2-auth-method-missing")},
	{RuleAuthData, "", "Authentication Data in CONNECT comes with an Authentication Method", keys("v5/3.1.2.11.10-data-without-method")},
}
