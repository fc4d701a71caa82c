package wire

// Version is the protocol level byte of CONNECT: it decides the format of
// every packet on a connection.
type Version byte

// The two versions of the specification that mqttcheck knows.
const (
	V311 Version = 4
	V5   Version = 5
)

// Type is the MQTT Control Packet type, the high nibble of the first byte.
type Type byte

// Control Packet types [section 2.1.2 of MQTT 5.0, 2.2.1 of MQTT 3.1.1].
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

// Packet is anything that can be put on the wire: a typed packet, a Frame or
// Raw bytes. Append never refuses: the tester must be able to send nonsense.
type Packet interface {
	// Append appends the bytes of the packet in the format of the version.
	Append(dst []byte, v Version) []byte
}

// Raw is a byte sequence sent as it is.
type Raw []byte

// Frame is a Control Packet by its parts: type, flags and everything behind
// the Remaining Length, which is computed.
type Frame struct {
	Type  Type
	Flags byte
	Body  []byte
}

// Connect is a CONNECT packet [section 3.1]. The zero values of the overrides
// leave the packet well formed.
type Connect struct {
	ProtocolName  string // "" means "MQTT"; NoName sends an empty one
	Level         byte   // 0 means that of the version
	CleanStart    bool   // Clean Session in MQTT 3.1.1
	KeepAlive     uint16 // seconds; 0 switches it off
	Properties    Properties
	ClientID      string
	Will          *Will
	Username      *string
	Password      []byte // nil: no Password Flag
	ReservedFlag  bool   // sets bit 0 of the Connect Flags
	FlagsOverride *byte  // sends these Connect Flags and leaves the payload as it is
	NoName        bool
}

// Will is the will message of a CONNECT.
type Will struct {
	Topic      string
	Payload    []byte
	QoS        byte
	Retain     bool
	Properties Properties
}

// Connack is a CONNACK packet [section 3.2]; Code is the Return Code of MQTT
// 3.1.1 or the Reason Code of MQTT 5.0.
type Connack struct {
	Flags      byte // bit 0 is Session Present
	Code       byte
	Properties Properties
}

// SessionPresent is bit 0 of the Connect Acknowledge Flags.
func (p Connack) SessionPresent() bool { return p.Flags&1 == 1 }

// Publish is a PUBLISH packet [section 3.3]. QoS may be 3 to send nonsense.
type Publish struct {
	Dup        bool
	QoS        byte
	Retain     bool
	Topic      string
	ID         uint16 // encoded for QoS above 0 only
	Properties Properties
	Payload    string
}

// Ack is a PUBACK, PUBREC, PUBREL or PUBCOMP [sections 3.4 to 3.7]. In MQTT
// 5.0 Code and Properties are left out when Code is 0 and there are none.
type Ack struct {
	Type       Type
	ID         uint16
	Code       byte
	Properties Properties
}

// Subscribe is a SUBSCRIBE packet [section 3.8].
type Subscribe struct {
	ID            uint16
	Properties    Properties
	Subscriptions []Subscription
}

// Subscription is one Topic Filter of a SUBSCRIBE with its options.
type Subscription struct {
	Filter            string
	QoS               byte
	NoLocal           bool
	RetainAsPublished bool
	RetainHandling    byte
	Reserved          byte // ORed into the options byte
}

// Suback is a SUBACK packet [section 3.9].
type Suback struct {
	ID         uint16
	Properties Properties
	Codes      []byte
}

// Unsubscribe is an UNSUBSCRIBE packet [section 3.10].
type Unsubscribe struct {
	ID         uint16
	Properties Properties
	Filters    []string
}

// Unsuback is an UNSUBACK packet [section 3.11]; MQTT 3.1.1 has no Codes.
type Unsuback struct {
	ID         uint16
	Properties Properties
	Codes      []byte
}

// Pingreq is a PINGREQ packet [section 3.12].
type Pingreq struct{}

// Pingresp is a PINGRESP packet [section 3.13].
type Pingresp struct{}

// Disconnect is a DISCONNECT packet [section 3.14]. In MQTT 5.0 Code and
// Properties are left out when Code is 0 and there are none.
type Disconnect struct {
	Code       byte
	Properties Properties
}

// Auth is an AUTH packet [section 3.15].
type Auth struct {
	Code       byte
	Properties Properties
}

// PropertyID is the Property Identifier [section 2.2.2.2 of MQTT 5.0].
type PropertyID byte

// Property Identifiers.
const (
	PayloadFormatIndicator          PropertyID = 0x01
	MessageExpiryInterval           PropertyID = 0x02
	ContentType                     PropertyID = 0x03
	ResponseTopic                   PropertyID = 0x08
	CorrelationData                 PropertyID = 0x09
	SubscriptionIdentifier          PropertyID = 0x0B
	SessionExpiryInterval           PropertyID = 0x11
	AssignedClientIdentifier        PropertyID = 0x12
	ServerKeepAlive                 PropertyID = 0x13
	AuthenticationMethod            PropertyID = 0x15
	AuthenticationData              PropertyID = 0x16
	RequestProblemInformation       PropertyID = 0x17
	WillDelayInterval               PropertyID = 0x18
	RequestResponseInformation      PropertyID = 0x19
	ResponseInformation             PropertyID = 0x1A
	ServerReference                 PropertyID = 0x1C
	ReasonString                    PropertyID = 0x1F
	ReceiveMaximum                  PropertyID = 0x21
	TopicAliasMaximum               PropertyID = 0x22
	TopicAlias                      PropertyID = 0x23
	MaximumQoS                      PropertyID = 0x24
	RetainAvailable                 PropertyID = 0x25
	UserProperty                    PropertyID = 0x26
	MaximumPacketSize               PropertyID = 0x27
	WildcardSubscriptionAvailable   PropertyID = 0x28
	SubscriptionIdentifierAvailable PropertyID = 0x29
	SharedSubscriptionAvailable     PropertyID = 0x2A
)

// Property is one property as it stands in a packet. Int holds the value of
// the number types, Str that of strings, Bin of binary data, Pair the two
// halves of a User Property.
type Property struct {
	ID   PropertyID
	Int  uint32
	Str  string
	Bin  []byte
	Pair [2]string
}

// Properties keeps order and repetition. A nil list is encoded as length 0
// in MQTT 5.0 and not at all in MQTT 3.1.1.
type Properties []Property
