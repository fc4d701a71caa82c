package packet

// The rules against properties that stand twice.
const (
	// RulePropertyTwice: a property other than User Property stands once.
	// Its statements are those of the rules of its group.
	RulePropertyTwice Rule = "property-twice"
	// RuleConnectSessionExpiryIntervalTwice: Session Expiry Interval stands once in CONNECT.
	// [v5/3.1.2.11.2-connect-session-expiry-interval-twice]
	RuleConnectSessionExpiryIntervalTwice Rule = "connect-session-expiry-interval-twice"
	// RuleConnectReceiveMaximumTwice: Receive Maximum stands once in CONNECT.
	// [v5/3.1.2.11.3-connect-receive-maximum-twice]
	RuleConnectReceiveMaximumTwice Rule = "connect-receive-maximum-twice"
	// RuleConnectMaximumPacketSizeTwice: Maximum Packet Size stands once in CONNECT.
	// [v5/3.1.2.11.4-connect-maximum-packet-size-twice]
	RuleConnectMaximumPacketSizeTwice Rule = "connect-maximum-packet-size-twice"
	// RuleConnectTopicAliasMaximumTwice: Topic Alias Maximum stands once in CONNECT.
	// [v5/3.1.2.11.5-connect-topic-alias-maximum-twice]
	RuleConnectTopicAliasMaximumTwice Rule = "connect-topic-alias-maximum-twice"
	// RuleConnectRequestResponseInformationTwice: Request Response Information stands once in CONNECT.
	// [v5/3.1.2.11.6-connect-request-response-information-twice]
	RuleConnectRequestResponseInformationTwice Rule = "connect-request-response-information-twice"
	// RuleConnectRequestProblemInformationTwice: Request Problem Information stands once in CONNECT.
	// [v5/3.1.2.11.7-connect-request-problem-information-twice]
	RuleConnectRequestProblemInformationTwice Rule = "connect-request-problem-information-twice"
	// RuleConnectAuthenticationMethodTwice: Authentication Method stands once in CONNECT.
	// [v5/3.1.2.11.9-connect-authentication-method-twice]
	RuleConnectAuthenticationMethodTwice Rule = "connect-authentication-method-twice"
	// RuleConnectAuthenticationDataTwice: Authentication Data stands once in CONNECT.
	// [v5/3.1.2.11.10-connect-authentication-data-twice]
	RuleConnectAuthenticationDataTwice Rule = "connect-authentication-data-twice"
	// RuleWillWillDelayIntervalTwice: Will Delay Interval stands once in the Will Properties.
	// [v5/3.1.3.2.2-will-will-delay-interval-twice]
	RuleWillWillDelayIntervalTwice Rule = "will-will-delay-interval-twice"
	// RuleWillPayloadFormatIndicatorTwice: Payload Format Indicator stands once in the Will Properties.
	// [v5/3.1.3.2.3-will-payload-format-indicator-twice]
	RuleWillPayloadFormatIndicatorTwice Rule = "will-payload-format-indicator-twice"
	// RuleWillMessageExpiryIntervalTwice: Message Expiry Interval stands once in the Will Properties.
	// [v5/3.1.3.2.4-will-message-expiry-interval-twice]
	RuleWillMessageExpiryIntervalTwice Rule = "will-message-expiry-interval-twice"
	// RuleWillContentTypeTwice: Content Type stands once in the Will Properties.
	// [v5/3.1.3.2.5-will-content-type-twice]
	RuleWillContentTypeTwice Rule = "will-content-type-twice"
	// RuleWillResponseTopicTwice: Response Topic stands once in the Will Properties.
	// [v5/3.1.3.2.6-will-response-topic-twice]
	RuleWillResponseTopicTwice Rule = "will-response-topic-twice"
	// RuleWillCorrelationDataTwice: Correlation Data stands once in the Will Properties.
	// [v5/3.1.3.2.7-will-correlation-data-twice]
	RuleWillCorrelationDataTwice Rule = "will-correlation-data-twice"
	// RuleConnackSessionExpiryIntervalTwice: Session Expiry Interval stands once in CONNACK.
	// [v5/3.2.2.3.2-connack-session-expiry-interval-twice]
	RuleConnackSessionExpiryIntervalTwice Rule = "connack-session-expiry-interval-twice"
	// RuleConnackReceiveMaximumTwice: Receive Maximum stands once in CONNACK.
	// [v5/3.2.2.3.3-connack-receive-maximum-twice]
	RuleConnackReceiveMaximumTwice Rule = "connack-receive-maximum-twice"
	// RuleConnackMaximumQoSTwice: Maximum QoS stands once in CONNACK.
	// [v5/3.2.2.3.4-connack-maximum-qos-twice]
	RuleConnackMaximumQoSTwice Rule = "connack-maximum-qos-twice"
	// RuleConnackRetainAvailableTwice: Retain Available stands once in CONNACK.
	// [v5/3.2.2.3.5-connack-retain-available-twice]
	RuleConnackRetainAvailableTwice Rule = "connack-retain-available-twice"
	// RuleConnackMaximumPacketSizeTwice: Maximum Packet Size stands once in CONNACK.
	// [v5/3.2.2.3.6-connack-maximum-packet-size-twice]
	RuleConnackMaximumPacketSizeTwice Rule = "connack-maximum-packet-size-twice"
	// RuleConnackAssignedClientIdentifierTwice: Assigned Client Identifier stands once in CONNACK.
	// [v5/3.2.2.3.7-connack-assigned-client-identifier-twice]
	RuleConnackAssignedClientIdentifierTwice Rule = "connack-assigned-client-identifier-twice"
	// RuleConnackTopicAliasMaximumTwice: Topic Alias Maximum stands once in CONNACK.
	// [v5/3.2.2.3.8-connack-topic-alias-maximum-twice]
	RuleConnackTopicAliasMaximumTwice Rule = "connack-topic-alias-maximum-twice"
	// RuleConnackReasonStringTwice: Reason String stands once in CONNACK.
	// [v5/3.2.2.3.9-connack-reason-string-twice]
	RuleConnackReasonStringTwice Rule = "connack-reason-string-twice"
	// RuleConnackWildcardSubscriptionAvailableTwice: Wildcard Subscription Available stands once in CONNACK.
	// [v5/3.2.2.3.11-connack-wildcard-subscription-available-twice]
	RuleConnackWildcardSubscriptionAvailableTwice Rule = "connack-wildcard-subscription-available-twice"
	// RuleConnackSubscriptionIdentifierAvailableTwice: Subscription Identifier Available stands once in CONNACK.
	// [v5/3.2.2.3.12-connack-subscription-identifier-available-twice]
	RuleConnackSubscriptionIdentifierAvailableTwice Rule = "connack-subscription-identifier-available-twice"
	// RuleConnackSharedSubscriptionAvailableTwice: Shared Subscription Available stands once in CONNACK.
	// [v5/3.2.2.3.13-connack-shared-subscription-available-twice]
	RuleConnackSharedSubscriptionAvailableTwice Rule = "connack-shared-subscription-available-twice"
	// RuleConnackServerKeepAliveTwice: Server Keep Alive stands once in CONNACK.
	// [v5/3.2.2.3.14-connack-server-keep-alive-twice]
	RuleConnackServerKeepAliveTwice Rule = "connack-server-keep-alive-twice"
	// RuleConnackResponseInformationTwice: Response Information stands once in CONNACK.
	// [v5/3.2.2.3.15-connack-response-information-twice]
	RuleConnackResponseInformationTwice Rule = "connack-response-information-twice"
	// RuleConnackServerReferenceTwice: Server Reference stands once in CONNACK.
	// [v5/3.2.2.3.16-connack-server-reference-twice]
	RuleConnackServerReferenceTwice Rule = "connack-server-reference-twice"
	// RuleConnackAuthenticationMethodTwice: Authentication Method stands once in CONNACK.
	// [v5/3.2.2.3.17-connack-authentication-method-twice]
	RuleConnackAuthenticationMethodTwice Rule = "connack-authentication-method-twice"
	// RuleConnackAuthenticationDataTwice: Authentication Data stands once in CONNACK.
	// [v5/3.2.2.3.18-connack-authentication-data-twice]
	RuleConnackAuthenticationDataTwice Rule = "connack-authentication-data-twice"
	// RulePublishPayloadFormatIndicatorTwice: Payload Format Indicator stands once in PUBLISH.
	// [v5/3.3.2.3.2-publish-payload-format-indicator-twice]
	RulePublishPayloadFormatIndicatorTwice Rule = "publish-payload-format-indicator-twice"
	// RulePublishMessageExpiryIntervalTwice: Message Expiry Interval stands once in PUBLISH.
	// [v5/3.3.2.3.3-publish-message-expiry-interval-twice]
	RulePublishMessageExpiryIntervalTwice Rule = "publish-message-expiry-interval-twice"
	// RulePublishTopicAliasTwice: Topic Alias stands once in PUBLISH.
	// [v5/3.3.2.3.4-publish-topic-alias-twice]
	RulePublishTopicAliasTwice Rule = "publish-topic-alias-twice"
	// RulePublishResponseTopicTwice: Response Topic stands once in PUBLISH.
	// [v5/3.3.2.3.5-publish-response-topic-twice]
	RulePublishResponseTopicTwice Rule = "publish-response-topic-twice"
	// RulePublishCorrelationDataTwice: Correlation Data stands once in PUBLISH.
	// [v5/3.3.2.3.6-publish-correlation-data-twice]
	RulePublishCorrelationDataTwice Rule = "publish-correlation-data-twice"
	// RulePublishContentTypeTwice: Content Type stands once in PUBLISH.
	// [v5/3.3.2.3.9-publish-content-type-twice]
	RulePublishContentTypeTwice Rule = "publish-content-type-twice"
	// RulePubackReasonStringTwice: Reason String stands once in PUBACK.
	// [v5/3.4.2.2.2-puback-reason-string-twice]
	RulePubackReasonStringTwice Rule = "puback-reason-string-twice"
	// RulePubrecReasonStringTwice: Reason String stands once in PUBREC.
	// [v5/3.5.2.2.2-pubrec-reason-string-twice]
	RulePubrecReasonStringTwice Rule = "pubrec-reason-string-twice"
	// RulePubrelReasonStringTwice: Reason String stands once in PUBREL.
	// [v5/3.6.2.2.2-pubrel-reason-string-twice]
	RulePubrelReasonStringTwice Rule = "pubrel-reason-string-twice"
	// RulePubcompReasonStringTwice: Reason String stands once in PUBCOMP.
	// [v5/3.7.2.2.2-pubcomp-reason-string-twice]
	RulePubcompReasonStringTwice Rule = "pubcomp-reason-string-twice"
	// RuleSubscribeSubscriptionIdentifierTwice: Subscription Identifier stands once in SUBSCRIBE.
	// [v5/3.8.2.1.2-subscribe-subscription-identifier-twice]
	RuleSubscribeSubscriptionIdentifierTwice Rule = "subscribe-subscription-identifier-twice"
	// RuleSubackReasonStringTwice: Reason String stands once in SUBACK.
	// [v5/3.9.2.1.2-suback-reason-string-twice]
	RuleSubackReasonStringTwice Rule = "suback-reason-string-twice"
	// RuleUnsubackReasonStringTwice: Reason String stands once in UNSUBACK.
	// [v5/3.11.2.1.2-unsuback-reason-string-twice]
	RuleUnsubackReasonStringTwice Rule = "unsuback-reason-string-twice"
	// RuleDisconnectSessionExpiryIntervalTwice: Session Expiry Interval stands once in DISCONNECT.
	// [v5/3.14.2.2.2-disconnect-session-expiry-interval-twice]
	RuleDisconnectSessionExpiryIntervalTwice Rule = "disconnect-session-expiry-interval-twice"
	// RuleDisconnectReasonStringTwice: Reason String stands once in DISCONNECT.
	// [v5/3.14.2.2.3-disconnect-reason-string-twice]
	RuleDisconnectReasonStringTwice Rule = "disconnect-reason-string-twice"
	// RuleDisconnectServerReferenceTwice: Server Reference stands once in DISCONNECT.
	// [v5/3.14.2.2.5-disconnect-server-reference-twice]
	RuleDisconnectServerReferenceTwice Rule = "disconnect-server-reference-twice"
	// RuleAuthAuthenticationMethodTwice: Authentication Method stands once in AUTH.
	// [v5/3.15.2.2.2-auth-authentication-method-twice]
	RuleAuthAuthenticationMethodTwice Rule = "auth-authentication-method-twice"
	// RuleAuthAuthenticationDataTwice: Authentication Data stands once in AUTH.
	// [v5/3.15.2.2.3-auth-authentication-data-twice]
	RuleAuthAuthenticationDataTwice Rule = "auth-authentication-data-twice"
	// RuleAuthReasonStringTwice: Reason String stands once in AUTH.
	// [v5/3.15.2.2.4-auth-reason-string-twice]
	RuleAuthReasonStringTwice Rule = "auth-reason-string-twice"
)

var twiceRules = []RuleInfo{
	{RulePropertyTwice, "", "a property other than User Property stands once", nil},
	{RuleConnectSessionExpiryIntervalTwice, RulePropertyTwice, "Session Expiry Interval stands once in CONNECT", keys("v5/3.1.2.11.2-connect-session-expiry-interval-twice")},
	{RuleConnectReceiveMaximumTwice, RulePropertyTwice, "Receive Maximum stands once in CONNECT", keys("v5/3.1.2.11.3-connect-receive-maximum-twice")},
	{RuleConnectMaximumPacketSizeTwice, RulePropertyTwice, "Maximum Packet Size stands once in CONNECT", keys("v5/3.1.2.11.4-connect-maximum-packet-size-twice")},
	{RuleConnectTopicAliasMaximumTwice, RulePropertyTwice, "Topic Alias Maximum stands once in CONNECT", keys("v5/3.1.2.11.5-connect-topic-alias-maximum-twice")},
	{RuleConnectRequestResponseInformationTwice, RulePropertyTwice, "Request Response Information stands once in CONNECT", keys("v5/3.1.2.11.6-connect-request-response-information-twice")},
	{RuleConnectRequestProblemInformationTwice, RulePropertyTwice, "Request Problem Information stands once in CONNECT", keys("v5/3.1.2.11.7-connect-request-problem-information-twice")},
	{RuleConnectAuthenticationMethodTwice, RulePropertyTwice, "Authentication Method stands once in CONNECT", keys("v5/3.1.2.11.9-connect-authentication-method-twice")},
	{RuleConnectAuthenticationDataTwice, RulePropertyTwice, "Authentication Data stands once in CONNECT", keys("v5/3.1.2.11.10-connect-authentication-data-twice")},
	{RuleWillWillDelayIntervalTwice, RulePropertyTwice, "Will Delay Interval stands once in the Will Properties", keys("v5/3.1.3.2.2-will-will-delay-interval-twice")},
	{RuleWillPayloadFormatIndicatorTwice, RulePropertyTwice, "Payload Format Indicator stands once in the Will Properties", keys("v5/3.1.3.2.3-will-payload-format-indicator-twice")},
	{RuleWillMessageExpiryIntervalTwice, RulePropertyTwice, "Message Expiry Interval stands once in the Will Properties", keys("v5/3.1.3.2.4-will-message-expiry-interval-twice")},
	{RuleWillContentTypeTwice, RulePropertyTwice, "Content Type stands once in the Will Properties", keys("v5/3.1.3.2.5-will-content-type-twice")},
	{RuleWillResponseTopicTwice, RulePropertyTwice, "Response Topic stands once in the Will Properties", keys("v5/3.1.3.2.6-will-response-topic-twice")},
	{RuleWillCorrelationDataTwice, RulePropertyTwice, "Correlation Data stands once in the Will Properties", keys("v5/3.1.3.2.7-will-correlation-data-twice")},
	{RuleConnackSessionExpiryIntervalTwice, RulePropertyTwice, "Session Expiry Interval stands once in CONNACK", keys("v5/3.2.2.3.2-connack-session-expiry-interval-twice")},
	{RuleConnackReceiveMaximumTwice, RulePropertyTwice, "Receive Maximum stands once in CONNACK", keys("v5/3.2.2.3.3-connack-receive-maximum-twice")},
	{RuleConnackMaximumQoSTwice, RulePropertyTwice, "Maximum QoS stands once in CONNACK", keys("v5/3.2.2.3.4-connack-maximum-qos-twice")},
	{RuleConnackRetainAvailableTwice, RulePropertyTwice, "Retain Available stands once in CONNACK", keys("v5/3.2.2.3.5-connack-retain-available-twice")},
	{RuleConnackMaximumPacketSizeTwice, RulePropertyTwice, "Maximum Packet Size stands once in CONNACK", keys("v5/3.2.2.3.6-connack-maximum-packet-size-twice")},
	{RuleConnackAssignedClientIdentifierTwice, RulePropertyTwice, "Assigned Client Identifier stands once in CONNACK", keys("v5/3.2.2.3.7-connack-assigned-client-identifier-twice")},
	{RuleConnackTopicAliasMaximumTwice, RulePropertyTwice, "Topic Alias Maximum stands once in CONNACK", keys("v5/3.2.2.3.8-connack-topic-alias-maximum-twice")},
	{RuleConnackReasonStringTwice, RulePropertyTwice, "Reason String stands once in CONNACK", keys("v5/3.2.2.3.9-connack-reason-string-twice")},
	{RuleConnackWildcardSubscriptionAvailableTwice, RulePropertyTwice, "Wildcard Subscription Available stands once in CONNACK", keys("v5/3.2.2.3.11-connack-wildcard-subscription-available-twice")},
	{RuleConnackSubscriptionIdentifierAvailableTwice, RulePropertyTwice, "Subscription Identifier Available stands once in CONNACK", keys("v5/3.2.2.3.12-connack-subscription-identifier-available-twice")},
	{RuleConnackSharedSubscriptionAvailableTwice, RulePropertyTwice, "Shared Subscription Available stands once in CONNACK", keys("v5/3.2.2.3.13-connack-shared-subscription-available-twice")},
	{RuleConnackServerKeepAliveTwice, RulePropertyTwice, "Server Keep Alive stands once in CONNACK", keys("v5/3.2.2.3.14-connack-server-keep-alive-twice")},
	{RuleConnackResponseInformationTwice, RulePropertyTwice, "Response Information stands once in CONNACK", keys("v5/3.2.2.3.15-connack-response-information-twice")},
	{RuleConnackServerReferenceTwice, RulePropertyTwice, "Server Reference stands once in CONNACK", keys("v5/3.2.2.3.16-connack-server-reference-twice")},
	{RuleConnackAuthenticationMethodTwice, RulePropertyTwice, "Authentication Method stands once in CONNACK", keys("v5/3.2.2.3.17-connack-authentication-method-twice")},
	{RuleConnackAuthenticationDataTwice, RulePropertyTwice, "Authentication Data stands once in CONNACK", keys("v5/3.2.2.3.18-connack-authentication-data-twice")},
	{RulePublishPayloadFormatIndicatorTwice, RulePropertyTwice, "Payload Format Indicator stands once in PUBLISH", keys("v5/3.3.2.3.2-publish-payload-format-indicator-twice")},
	{RulePublishMessageExpiryIntervalTwice, RulePropertyTwice, "Message Expiry Interval stands once in PUBLISH", keys("v5/3.3.2.3.3-publish-message-expiry-interval-twice")},
	{RulePublishTopicAliasTwice, RulePropertyTwice, "Topic Alias stands once in PUBLISH", keys("v5/3.3.2.3.4-publish-topic-alias-twice")},
	{RulePublishResponseTopicTwice, RulePropertyTwice, "Response Topic stands once in PUBLISH", keys("v5/3.3.2.3.5-publish-response-topic-twice")},
	{RulePublishCorrelationDataTwice, RulePropertyTwice, "Correlation Data stands once in PUBLISH", keys("v5/3.3.2.3.6-publish-correlation-data-twice")},
	{RulePublishContentTypeTwice, RulePropertyTwice, "Content Type stands once in PUBLISH", keys("v5/3.3.2.3.9-publish-content-type-twice")},
	{RulePubackReasonStringTwice, RulePropertyTwice, "Reason String stands once in PUBACK", keys("v5/3.4.2.2.2-puback-reason-string-twice")},
	{RulePubrecReasonStringTwice, RulePropertyTwice, "Reason String stands once in PUBREC", keys("v5/3.5.2.2.2-pubrec-reason-string-twice")},
	{RulePubrelReasonStringTwice, RulePropertyTwice, "Reason String stands once in PUBREL", keys("v5/3.6.2.2.2-pubrel-reason-string-twice")},
	{RulePubcompReasonStringTwice, RulePropertyTwice, "Reason String stands once in PUBCOMP", keys("v5/3.7.2.2.2-pubcomp-reason-string-twice")},
	{RuleSubscribeSubscriptionIdentifierTwice, RulePropertyTwice, "Subscription Identifier stands once in SUBSCRIBE", keys("v5/3.8.2.1.2-subscribe-subscription-identifier-twice")},
	{RuleSubackReasonStringTwice, RulePropertyTwice, "Reason String stands once in SUBACK", keys("v5/3.9.2.1.2-suback-reason-string-twice")},
	{RuleUnsubackReasonStringTwice, RulePropertyTwice, "Reason String stands once in UNSUBACK", keys("v5/3.11.2.1.2-unsuback-reason-string-twice")},
	{RuleDisconnectSessionExpiryIntervalTwice, RulePropertyTwice, "Session Expiry Interval stands once in DISCONNECT", keys("v5/3.14.2.2.2-disconnect-session-expiry-interval-twice")},
	{RuleDisconnectReasonStringTwice, RulePropertyTwice, "Reason String stands once in DISCONNECT", keys("v5/3.14.2.2.3-disconnect-reason-string-twice")},
	{RuleDisconnectServerReferenceTwice, RulePropertyTwice, "Server Reference stands once in DISCONNECT", keys("v5/3.14.2.2.5-disconnect-server-reference-twice")},
	{RuleAuthAuthenticationMethodTwice, RulePropertyTwice, "Authentication Method stands once in AUTH", keys("v5/3.15.2.2.2-auth-authentication-method-twice")},
	{RuleAuthAuthenticationDataTwice, RulePropertyTwice, "Authentication Data stands once in AUTH", keys("v5/3.15.2.2.3-auth-authentication-data-twice")},
	{RuleAuthReasonStringTwice, RulePropertyTwice, "Reason String stands once in AUTH", keys("v5/3.15.2.2.4-auth-reason-string-twice")},
}
