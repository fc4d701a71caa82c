package wire

import (
	"maps"
	"slices"
)

// kind is the data type of a property's value [section 2.2.2.2 of MQTT 5.0].
type kind byte

const (
	kindUnknown kind = iota
	kindByte
	kindUint16
	kindUint32
	kindVarint
	kindString
	kindBinary
	kindPair
)

// in says in which packets a property may stand.
type in uint32

func packets(ts ...Type) in {
	var set in
	for _, t := range ts {
		set |= 1 << t
	}
	return set
}

func (s in) has(t Type) bool { return s>>t&1 == 1 }

// willPacket stands for the Will Properties among the packet types.
const willPacket Type = 0

var answers = []Type{CONNACK, PUBACK, PUBREC, PUBREL, PUBCOMP, SUBACK, UNSUBACK, DISCONNECT, AUTH}

// property describes one property: Table 2-4 of MQTT 5.0.
type property struct {
	name string
	kind kind
	in   in
}

var properties = map[PropertyID]property{
	PayloadFormatIndicator:          {"Payload Format Indicator", kindByte, packets(PUBLISH, willPacket)},
	MessageExpiryInterval:           {"Message Expiry Interval", kindUint32, packets(PUBLISH, willPacket)},
	ContentType:                     {"Content Type", kindString, packets(PUBLISH, willPacket)},
	ResponseTopic:                   {"Response Topic", kindString, packets(PUBLISH, willPacket)},
	CorrelationData:                 {"Correlation Data", kindBinary, packets(PUBLISH, willPacket)},
	SubscriptionIdentifier:          {"Subscription Identifier", kindVarint, packets(PUBLISH, SUBSCRIBE)},
	SessionExpiryInterval:           {"Session Expiry Interval", kindUint32, packets(CONNECT, CONNACK, DISCONNECT)},
	AssignedClientIdentifier:        {"Assigned Client Identifier", kindString, packets(CONNACK)},
	ServerKeepAlive:                 {"Server Keep Alive", kindUint16, packets(CONNACK)},
	AuthenticationMethod:            {"Authentication Method", kindString, packets(CONNECT, CONNACK, AUTH)},
	AuthenticationData:              {"Authentication Data", kindBinary, packets(CONNECT, CONNACK, AUTH)},
	RequestProblemInformation:       {"Request Problem Information", kindByte, packets(CONNECT)},
	WillDelayInterval:               {"Will Delay Interval", kindUint32, packets(willPacket)},
	RequestResponseInformation:      {"Request Response Information", kindByte, packets(CONNECT)},
	ResponseInformation:             {"Response Information", kindString, packets(CONNACK)},
	ServerReference:                 {"Server Reference", kindString, packets(CONNACK, DISCONNECT)},
	ReasonString:                    {"Reason String", kindString, packets(answers...)},
	ReceiveMaximum:                  {"Receive Maximum", kindUint16, packets(CONNECT, CONNACK)},
	TopicAliasMaximum:               {"Topic Alias Maximum", kindUint16, packets(CONNECT, CONNACK)},
	TopicAlias:                      {"Topic Alias", kindUint16, packets(PUBLISH)},
	MaximumQoS:                      {"Maximum QoS", kindByte, packets(CONNACK)},
	RetainAvailable:                 {"Retain Available", kindByte, packets(CONNACK)},
	UserProperty:                    {"User Property", kindPair, packets(append(answers, CONNECT, PUBLISH, willPacket, SUBSCRIBE, UNSUBSCRIBE)...)},
	MaximumPacketSize:               {"Maximum Packet Size", kindUint32, packets(CONNECT, CONNACK)},
	WildcardSubscriptionAvailable:   {"Wildcard Subscription Available", kindByte, packets(CONNACK)},
	SubscriptionIdentifierAvailable: {"Subscription Identifier Available", kindByte, packets(CONNACK)},
	SharedSubscriptionAvailable:     {"Shared Subscription Available", kindByte, packets(CONNACK)},
}

// Misplaced returns the properties that may not stand in packets of the type,
// in the order of their identifiers.
func Misplaced(t Type) []PropertyID {
	var list []PropertyID
	for _, id := range slices.Sorted(maps.Keys(properties)) {
		if !properties[id].in.has(t) {
			list = append(list, id)
		}
	}
	return list
}

// MisplacedInWill is Misplaced for the Will Properties.
func MisplacedInWill() []PropertyID { return Misplaced(willPacket) }

// Bytes returns the property as it stands in a packet.
func (p Property) Bytes() []byte { return p.append(nil) }

func kindOf(id PropertyID) kind { return properties[id].kind }

// String returns the name of the property.
func (id PropertyID) String() string {
	if p, ok := properties[id]; ok {
		return p.name
	}
	return "property 0x" + hexByte(byte(id))
}

// First returns the first property with the identifier.
func (ps Properties) First(id PropertyID) (Property, bool) {
	for _, p := range ps {
		if p.ID == id {
			return p, true
		}
	}
	return Property{}, false
}

// Every returns all properties with the identifier, in their order.
func (ps Properties) Every(id PropertyID) Properties {
	var list Properties
	for _, p := range ps {
		if p.ID == id {
			list = append(list, p)
		}
	}
	return list
}

// Number returns the value of a number property, or otherwise where it is absent.
func (ps Properties) Number(id PropertyID, otherwise uint32) uint32 {
	if p, ok := ps.First(id); ok {
		return p.Int
	}
	return otherwise
}

// Size returns how many bytes the property takes in a packet.
func (p Property) Size() int { return len(p.append(nil)) }
