package packet

import "encoding/binary"

// append appends the Property Length and the properties. [v5/MQTT-2.2.2-1]
func (ps *Properties) append(dst []byte) []byte {
	var b []byte
	one := func(id byte, v *byte) {
		if v != nil {
			b = append(b, id, *v)
		}
	}
	two := func(id byte, v *uint16) {
		if v != nil {
			b = binary.BigEndian.AppendUint16(append(b, id), *v)
		}
	}
	four := func(id byte, v *uint32) {
		if v != nil {
			b = binary.BigEndian.AppendUint32(append(b, id), *v)
		}
	}
	text := func(id byte, v *string) {
		if v != nil {
			b = appendString(append(b, id), *v)
		}
	}
	data := func(id byte, v []byte) {
		if v != nil {
			b = appendString(append(b, id), string(v))
		}
	}
	one(idPayloadFormat, ps.PayloadFormatIndicator)
	four(idMessageExpiry, ps.MessageExpiryInterval)
	text(idContentType, ps.ContentType)
	text(idResponseTopic, ps.ResponseTopic)
	data(idCorrelationData, ps.CorrelationData)
	for _, id := range ps.SubscriptionIdentifiers {
		b = appendVarint(append(b, idSubscriptionID), int(id))
	}
	four(idSessionExpiry, ps.SessionExpiryInterval)
	text(idAssignedClientID, ps.AssignedClientIdentifier)
	two(idServerKeepAlive, ps.ServerKeepAlive)
	text(idAuthMethod, ps.AuthenticationMethod)
	data(idAuthData, ps.AuthenticationData)
	one(idProblemInfo, ps.RequestProblemInformation)
	four(idWillDelay, ps.WillDelayInterval)
	one(idRequestResponse, ps.RequestResponseInformation)
	text(idResponseInfo, ps.ResponseInformation)
	text(idServerReference, ps.ServerReference)
	text(idReasonString, ps.ReasonString)
	two(idReceiveMaximum, ps.ReceiveMaximum)
	two(idTopicAliasMaximum, ps.TopicAliasMaximum)
	two(idTopicAlias, ps.TopicAlias)
	one(idMaximumQoS, ps.MaximumQoS)
	one(idRetainAvailable, ps.RetainAvailable)
	for _, u := range ps.UserProperties {
		b = appendString(appendString(append(b, idUserProperty), u.Name), u.Value)
	}
	four(idMaximumPacketSize, ps.MaximumPacketSize)
	one(idWildcardAvailable, ps.WildcardSubscriptionAvailable)
	one(idSubIDAvailable, ps.SubscriptionIdentifierAvailable)
	one(idSharedAvailable, ps.SharedSubscriptionAvailable)
	return append(appendVarint(dst, len(b)), b...)
}
