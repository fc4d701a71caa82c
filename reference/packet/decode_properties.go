package packet

import "strings"

// properties reads the Property Length and the properties of a packet, none
// in MQTT 3.1.1. [section 2.2.2]
func (d *decoding) properties(kind Type) Properties {
	var ps Properties
	if d.version != V5 || d.err != nil {
		return ps
	}
	if len(d.b) == 0 { // [v5/MQTT-2.2.2-1]
		rule := RulePropertyLengthMissing
		if kind == CONNECT {
			rule = d.short
		}
		d.malformed(rule, "the packet ends where its Property Length should be")
		return ps
	}
	n := d.varint()
	if n > len(d.b) {
		d.malformed(RulePropertyLength, "the Property Length goes beyond the packet")
		n = 0
	}
	after, short := d.b[n:], d.short
	d.b, d.short = d.b[:n], RulePropertyShort
	var seen uint64 // a bit for each Property Identifier
	for len(d.b) > 0 && d.err == nil {
		id := d.varint()
		if d.err != nil {
			break
		}
		if id >= len(places) || places[id] == nil {
			d.malformed(RulePropertyUnknown, "a Property Identifier is not defined")
			break // what its value would be cannot be known
		}
		twice, legal := places[id][kind]
		switch {
		case !legal:
			d.malformed(placeRules[kind], "a property does not belong into this packet")
		case twice != "" && seen>>id&1 == 1:
			d.protocolError(twice, "a property stands twice")
		}
		seen |= 1 << id
		d.property(id, kind, &ps)
	}
	d.b, d.short = after, short
	if kind == CONNECT && ps.AuthenticationData != nil && ps.AuthenticationMethod == nil {
		d.protocolError(RuleAuthData, "Authentication Data stands without an Authentication Method")
	}
	return ps
}

// property reads the value of one property.
func (d *decoding) property(id int, kind Type, ps *Properties) {
	either := func(in Type, rule, otherwise Rule) Rule {
		if kind == in {
			return rule
		}
		return otherwise
	}
	switch id {
	case idPayloadFormat:
		ps.PayloadFormatIndicator = d.flag(either(willPacket, RuleWillPayloadFormatValue, RulePublishPayloadFormatValue))
	case idMessageExpiry:
		ps.MessageExpiryInterval = d.number32("")
	case idContentType:
		ps.ContentType = d.text(contentTypeText)
	case idResponseTopic:
		ps.ResponseTopic = d.responseTopic()
	case idCorrelationData:
		ps.CorrelationData = d.binary()
	case idSubscriptionID:
		n := uint32(d.varint())
		if n == 0 {
			d.protocolError(either(SUBSCRIBE, RuleSubscribeSubscriptionIDZero, RulePublishSubscriptionIDZero), "the Subscription Identifier is 0")
		}
		ps.SubscriptionIdentifiers = append(ps.SubscriptionIdentifiers, n)
	case idSessionExpiry:
		ps.SessionExpiryInterval = d.number32("")
	case idAssignedClientID:
		ps.AssignedClientIdentifier = d.text(serverPropertyText)
	case idServerKeepAlive:
		ps.ServerKeepAlive = d.number16("")
	case idAuthMethod:
		ps.AuthenticationMethod = d.text(authMethodText)
	case idAuthData:
		ps.AuthenticationData = d.binary()
	case idProblemInfo:
		ps.RequestProblemInformation = d.flag(RuleRequestProblemInformationValue)
	case idWillDelay:
		ps.WillDelayInterval = d.number32("")
	case idRequestResponse:
		ps.RequestResponseInformation = d.flag(RuleRequestResponseInformationValue)
	case idResponseInfo:
		ps.ResponseInformation = d.text(serverPropertyText)
	case idServerReference:
		ps.ServerReference = d.text(serverPropertyText)
	case idReasonString:
		ps.ReasonString = d.text(reasonStringText)
	case idReceiveMaximum:
		ps.ReceiveMaximum = d.number16(either(CONNACK, RuleConnackReceiveMaximumZero, RuleConnectReceiveMaximumZero))
	case idTopicAliasMaximum:
		ps.TopicAliasMaximum = d.number16("")
	case idTopicAlias:
		ps.TopicAlias = d.number16("") // 0 is judged by the server, which answers 0x94
	case idMaximumQoS:
		ps.MaximumQoS = d.flag(RuleMaximumQoSValue)
	case idRetainAvailable:
		ps.RetainAvailable = d.flag(RuleRetainAvailableValue)
	case idUserProperty:
		name := d.string(userNameText)
		ps.UserProperties = append(ps.UserProperties, UserProperty{name, d.string(userValueText)})
	case idMaximumPacketSize:
		ps.MaximumPacketSize = d.number32(either(CONNACK, RuleConnackMaximumPacketSizeZero, RuleConnectMaximumPacketSizeZero))
	case idWildcardAvailable:
		ps.WildcardSubscriptionAvailable = d.flag(RuleWildcardAvailableValue)
	case idSubIDAvailable:
		ps.SubscriptionIdentifierAvailable = d.flag(RuleSubscriptionIDAvailableValue)
	case idSharedAvailable:
		ps.SharedSubscriptionAvailable = d.flag(RuleSharedAvailableValue)
	}
}

func (d *decoding) text(rules textRules) *string {
	s := d.string(rules)
	return &s
}

// responseTopic reads what is a Topic Name of somebody else's PUBLISH.
func (d *decoding) responseTopic() *string {
	s := d.string(responseTopicText)
	if strings.ContainsAny(s, "#+") {
		d.breaks(RuleResponseTopic, TopicNameInvalid, "the Response Topic has a wildcard")
	}
	if s == "" {
		d.breaks(RuleResponseTopicEmpty, TopicNameInvalid, "the Response Topic is empty")
	}
	return &s
}

// flag reads a byte that may be 0 or 1.
func (d *decoding) flag(rule Rule) *byte {
	b := d.byte()
	if b > 1 {
		d.protocolError(rule, "a property that may be 0 or 1 has another value")
	}
	return &b
}

// number16 reads a Two Byte Integer, which may be 0 where there is no rule
// against it.
func (d *decoding) number16(notZero Rule) *uint16 {
	n := d.uint16()
	if n == 0 && notZero != "" {
		d.protocolError(notZero, "a property that may not be 0 is 0")
	}
	return &n
}

// number32 is number16 for a Four Byte Integer.
func (d *decoding) number32(notZero Rule) *uint32 {
	n := d.uint32()
	if n == 0 && notZero != "" {
		d.protocolError(notZero, "a property that may not be 0 is 0")
	}
	return &n
}
