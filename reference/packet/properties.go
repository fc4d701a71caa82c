package packet

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

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

// places says where each property may stand: Table 2-4.
var places = map[int][]Type{
	idPayloadFormat: {PUBLISH, willPacket}, idMessageExpiry: {PUBLISH, willPacket}, idContentType: {PUBLISH, willPacket},
	idResponseTopic: {PUBLISH, willPacket}, idCorrelationData: {PUBLISH, willPacket}, idSubscriptionID: {PUBLISH, SUBSCRIBE},
	idSessionExpiry: {CONNECT, CONNACK, DISCONNECT}, idAssignedClientID: {CONNACK}, idServerKeepAlive: {CONNACK},
	idAuthMethod: {CONNECT, CONNACK, AUTH}, idAuthData: {CONNECT, CONNACK, AUTH}, idProblemInfo: {CONNECT},
	idWillDelay: {willPacket}, idRequestResponse: {CONNECT}, idResponseInfo: {CONNACK}, idServerReference: {CONNACK, DISCONNECT},
	idReasonString:   {CONNACK, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK, UNSUBACK, DISCONNECT, AUTH},
	idReceiveMaximum: {CONNECT, CONNACK}, idTopicAliasMaximum: {CONNECT, CONNACK}, idTopicAlias: {PUBLISH},
	idMaximumQoS: {CONNACK}, idRetainAvailable: {CONNACK},
	idUserProperty:      {willPacket, CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, DISCONNECT, AUTH},
	idMaximumPacketSize: {CONNECT, CONNACK}, idWildcardAvailable: {CONNACK}, idSubIDAvailable: {CONNACK}, idSharedAvailable: {CONNACK},
}

func legal(id int, kind Type) bool {
	for _, t := range places[id] {
		if t == kind {
			return true
		}
	}
	return false
}

// properties reads the Property Length and the properties of a packet.
func (d *decoding) properties(kind Type) Properties {
	var ps Properties
	if d.Version != V5 || d.err != nil {
		return ps
	}
	n := d.varint()
	if n > len(d.b) {
		d.malformed(RulePropertyLength, "the Property Length goes beyond the packet")
	}
	outer := d.take(min(n, len(d.b)))
	after := d.b
	d.b = outer
	seen := map[int]bool{}
	for len(d.b) > 0 && d.err == nil {
		id := d.varint()
		switch {
		case places[id] == nil:
			d.malformed(RulePropertyUnknown, "a Property Identifier is not defined")
			d.b = nil
			continue
		case !legal(id, kind):
			d.protocolError(RulePropertyPlace, "a property does not belong into this packet")
		case seen[id] && id != idUserProperty && !(id == idSubscriptionID && kind == PUBLISH):
			d.protocolError(RulePropertyTwice, "a property stands twice")
		}
		seen[id] = true
		d.property(id, &ps)
	}
	d.b = after
	if kind == CONNECT && ps.AuthenticationData != nil && ps.AuthenticationMethod == nil {
		d.protocolError(RuleAuthData, "Authentication Data stands without an Authentication Method")
	}
	return ps
}

// varint reads a Variable Byte Integer. [v5/MQTT-1.5.5-1]
func (d *decoding) varint() int {
	n := 0
	for i := range 4 {
		b := d.byte()
		n |= int(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if i > 0 && b == 0 {
				d.malformed(RuleShortestLength, "a Variable Byte Integer is not written in its shortest form")
			}
			return n
		}
	}
	d.malformed(RuleLengthBytes, "a Variable Byte Integer has more than four bytes")
	return 0
}

func (d *decoding) text() *string {
	s := string(d.take(int(d.uint16())))
	if !utf8.ValidString(s) {
		d.malformed(RulePropertyUTF8, "a string in a property is not well-formed UTF-8")
	}
	if strings.Contains(s, "\x00") {
		d.malformed(RulePropertyNUL, "a string in a property holds U+0000")
	}
	return &s
}

// flag reads a byte that may be 0 or 1.
func (d *decoding) flag() *byte {
	b := d.byte()
	if b > 1 {
		d.protocolError(RulePropertyValue, "a property that may be 0 or 1 has another value")
	}
	return &b
}

func (d *decoding) number16(zero bool) *uint16 {
	n := d.uint16()
	if n == 0 && !zero {
		d.protocolError(RulePropertyValue, "a property that may not be 0 is 0")
	}
	return &n
}

func (d *decoding) number32(zero bool) *uint32 {
	n := d.uint32()
	if n == 0 && !zero {
		d.protocolError(RulePropertyValue, "a property that may not be 0 is 0")
	}
	return &n
}

func (d *decoding) property(id int, ps *Properties) {
	switch id {
	case idPayloadFormat:
		ps.PayloadFormatIndicator = d.flag()
	case idMessageExpiry:
		ps.MessageExpiryInterval = d.number32(true)
	case idContentType:
		ps.ContentType = d.text()
	case idResponseTopic:
		ps.ResponseTopic = d.text()
		if strings.ContainsAny(*ps.ResponseTopic, "#+") || *ps.ResponseTopic == "" {
			d.breaks(RuleResponseTopic, TopicNameInvalid, "the Response Topic is empty or has a wildcard")
		}
	case idCorrelationData:
		ps.CorrelationData = d.binary()
	case idSubscriptionID:
		n := uint32(d.varint())
		if n == 0 {
			d.protocolError(RulePropertyValue, "the Subscription Identifier is 0")
		}
		ps.SubscriptionIdentifiers = append(ps.SubscriptionIdentifiers, n)
	case idSessionExpiry:
		ps.SessionExpiryInterval = d.number32(true)
	case idAssignedClientID:
		ps.AssignedClientIdentifier = d.text()
	case idServerKeepAlive:
		ps.ServerKeepAlive = d.number16(true)
	case idAuthMethod:
		ps.AuthenticationMethod = d.text()
	case idAuthData:
		ps.AuthenticationData = d.binary()
	case idProblemInfo:
		ps.RequestProblemInformation = d.flag()
	case idWillDelay:
		ps.WillDelayInterval = d.number32(true)
	case idRequestResponse:
		ps.RequestResponseInformation = d.flag()
	case idResponseInfo:
		ps.ResponseInformation = d.text()
	case idServerReference:
		ps.ServerReference = d.text()
	case idReasonString:
		ps.ReasonString = d.text()
	case idReceiveMaximum:
		ps.ReceiveMaximum = d.number16(false)
	case idTopicAliasMaximum:
		ps.TopicAliasMaximum = d.number16(true)
	case idTopicAlias:
		ps.TopicAlias = d.number16(true) // 0 is judged by the server, which answers 0x94
	case idMaximumQoS:
		ps.MaximumQoS = d.flag()
	case idRetainAvailable:
		ps.RetainAvailable = d.flag()
	case idUserProperty:
		ps.UserProperties = append(ps.UserProperties, UserProperty{*d.text(), *d.text()})
	case idMaximumPacketSize:
		ps.MaximumPacketSize = d.number32(false)
	case idWildcardAvailable:
		ps.WildcardSubscriptionAvailable = d.flag()
	case idSubIDAvailable:
		ps.SubscriptionIdentifierAvailable = d.flag()
	case idSharedAvailable:
		ps.SharedSubscriptionAvailable = d.flag()
	}
}

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
