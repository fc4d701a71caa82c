// Package packet is the codec of the reference server: strict, for MQTT 3.1.1
// and MQTT 5.0. Every rule of format that it enforces has a name, so that a
// deliberate fault can switch off exactly one.
package packet

// Version is the protocol level of a connection.
type Version byte

// The versions.
const (
	V311 Version = 4
	V5   Version = 5
)

// Type is the type of an MQTT Control Packet.
type Type byte

// The packet types. [section 2.1.2 of MQTT 5.0]
const (
	CONNECT Type = iota + 1
	CONNACK
	PUBLISH
	PUBACK
	PUBREC
	PUBREL
	PUBCOMP
	SUBSCRIBE
	SUBACK
	UNSUBSCRIBE
	UNSUBACK
	PINGREQ
	PINGRESP
	DISCONNECT
	AUTH
)

// Packet is one of the packet types below, as a pointer.
type Packet interface{ Type() Type }

// Connect is a CONNECT packet. [section 3.1]
type Connect struct {
	ProtocolName string
	Version      Version
	CleanStart   bool // Clean Session in MQTT 3.1.1
	KeepAlive    uint16
	Properties   Properties
	ClientID     string
	Will         *Will
	Username     *string
	Password     []byte // nil for none
}

// Will is the will message of a CONNECT. [section 3.1.3.2 of MQTT 5.0]
type Will struct {
	Topic      string
	Payload    []byte
	QoS        byte
	Retain     bool
	Properties Properties
}

// Connack is a CONNACK packet. [section 3.2]
type Connack struct {
	SessionPresent bool
	Code           ReasonCode
	Properties     Properties
}

// Publish is a PUBLISH packet. [section 3.3]
type Publish struct {
	Dup        bool
	QoS        byte
	Retain     bool
	Topic      string
	ID         uint16 // at QoS 1 and 2 only
	Properties Properties
	Payload    []byte
}

// Ack is a PUBACK, PUBREC, PUBREL or PUBCOMP. [sections 3.4 to 3.7]
type Ack struct {
	Kind       Type
	ID         uint16
	Code       ReasonCode
	Properties Properties
}

// Subscribe is a SUBSCRIBE packet. [section 3.8]
type Subscribe struct {
	ID            uint16
	Properties    Properties
	Subscriptions []Subscription
}

// Subscription is one Topic Filter with its options. [section 3.8.3.1 of MQTT 5.0]
type Subscription struct {
	Filter            string
	QoS               byte
	NoLocal           bool
	RetainAsPublished bool
	RetainHandling    byte
}

// Suback is a SUBACK packet. [section 3.9]
type Suback struct {
	ID         uint16
	Properties Properties
	Codes      []ReasonCode
}

// Unsubscribe is an UNSUBSCRIBE packet. [section 3.10]
type Unsubscribe struct {
	ID         uint16
	Properties Properties
	Filters    []string
}

// Unsuback is an UNSUBACK packet; MQTT 3.1.1 has no codes. [section 3.11]
type Unsuback struct {
	ID         uint16
	Properties Properties
	Codes      []ReasonCode
}

// Pingreq is a PINGREQ packet. [section 3.12]
type Pingreq struct{}

// Pingresp is a PINGRESP packet. [section 3.13]
type Pingresp struct{}

// Disconnect is a DISCONNECT packet. [section 3.14]
type Disconnect struct {
	Code       ReasonCode
	Properties Properties
}

// Auth is an AUTH packet. [section 3.15 of MQTT 5.0]
type Auth struct {
	Code       ReasonCode
	Properties Properties
}

// Type returns CONNECT.
func (*Connect) Type() Type { return CONNECT }

// Type returns CONNACK.
func (*Connack) Type() Type { return CONNACK }

// Type returns PUBLISH.
func (*Publish) Type() Type { return PUBLISH }

// Type returns the kind of acknowledgement.
func (p *Ack) Type() Type { return p.Kind }

// Type returns SUBSCRIBE.
func (*Subscribe) Type() Type { return SUBSCRIBE }

// Type returns SUBACK.
func (*Suback) Type() Type { return SUBACK }

// Type returns UNSUBSCRIBE.
func (*Unsubscribe) Type() Type { return UNSUBSCRIBE }

// Type returns UNSUBACK.
func (*Unsuback) Type() Type { return UNSUBACK }

// Type returns PINGREQ.
func (*Pingreq) Type() Type { return PINGREQ }

// Type returns PINGRESP.
func (*Pingresp) Type() Type { return PINGRESP }

// Type returns DISCONNECT.
func (*Disconnect) Type() Type { return DISCONNECT }

// Type returns AUTH.
func (*Auth) Type() Type { return AUTH }

// UserProperty is a pair of strings. [section 1.5.7 of MQTT 5.0]
type UserProperty struct{ Name, Value string }

// Properties are those of a packet of MQTT 5.0; what is absent is nil.
// [section 2.2.2.2 of MQTT 5.0]
type Properties struct {
	PayloadFormatIndicator          *byte
	MessageExpiryInterval           *uint32
	ContentType                     *string
	ResponseTopic                   *string
	CorrelationData                 []byte
	SubscriptionIdentifiers         []uint32
	SessionExpiryInterval           *uint32
	AssignedClientIdentifier        *string
	ServerKeepAlive                 *uint16
	AuthenticationMethod            *string
	AuthenticationData              []byte
	RequestProblemInformation       *byte
	WillDelayInterval               *uint32
	RequestResponseInformation      *byte
	ResponseInformation             *string
	ServerReference                 *string
	ReasonString                    *string
	ReceiveMaximum                  *uint16
	TopicAliasMaximum               *uint16
	TopicAlias                      *uint16
	MaximumQoS                      *byte
	RetainAvailable                 *byte
	UserProperties                  []UserProperty
	MaximumPacketSize               *uint32
	WildcardSubscriptionAvailable   *byte
	SubscriptionIdentifierAvailable *byte
	SharedSubscriptionAvailable     *byte
}
