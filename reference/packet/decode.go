package packet

import "strings"

// Side tells from which end of a connection packets come.
type Side byte

// The sides.
const (
	AnySide    Side = iota // the direction is not judged
	FromClient             // packets that a server receives
	FromServer             // packets that a client receives
)

// Decoder decodes the packets of clients and servers.
type Decoder struct {
	// Version is that of the connection; a CONNECT says its own.
	Version Version
	// From switches on the rules that depend on who sent the packet.
	From Side
	// Tolerate is asked when a packet breaks a rule, first for the rule and
	// then for its group; where it returns true the decoder goes on as well as
	// it can. Nil tolerates nothing.
	Tolerate func(Rule) bool
}

// Decode decodes the packet that first, the first byte of the fixed header,
// and body, all that follows the Remaining Length, make up. It keeps nothing
// of body, allocates no more than a small multiple of its length and never
// panics. The error is an *Error for the first rule that is broken and not
// tolerated. A CONNECT that tells its protocol level is returned together
// with its error, so that it can be answered. A reserved packet type that is
// tolerated gives no packet and no error.
func (d *Decoder) Decode(first byte, body []byte) (Packet, error) {
	s := &decoding{version: d.Version, from: d.From, tolerate: d.Tolerate, b: body}
	kind := Type(first >> 4)
	if kind == 0 || kind == AUTH && d.Version != V5 {
		s.malformed(RuleReservedType, "the packet type is reserved")
		return nil, s.failure()
	}
	s.short = shortRule(kind)
	s.flags(kind, first&0x0f)
	s.direction(kind)
	if s.err != nil {
		return nil, s.err
	}
	p := s.packet(kind, first&0x0f)
	if len(s.b) > 0 {
		s.malformed(s.surplusRule(kind, p), "bytes follow the last field")
	}
	if s.err != nil {
		if c, ok := p.(*Connect); ok && c.Version != 0 {
			return c, s.err
		}
		return nil, s.err
	}
	return p, nil
}

// decoding is the state of decoding one packet. After an error the reading
// methods still return values, which nobody uses.
type decoding struct {
	version  Version
	from     Side
	tolerate func(Rule) bool
	b        []byte // what is left
	short    Rule   // the rule that a field beyond the end of b breaks
	err      *Error
}

// breaks notes a broken rule; the first that is not tolerated counts.
func (d *decoding) breaks(r Rule, code ReasonCode, text string) {
	if d.err == nil && !tolerates(d.tolerate, r) {
		d.err = &Error{r, code, text}
	}
}

func (d *decoding) protocolError(r Rule, text string) { d.breaks(r, ProtocolError, text) }
func (d *decoding) malformed(r Rule, text string)     { d.breaks(r, MalformedPacket, text) }

// failure returns the error, as an untyped nil where there is none.
func (d *decoding) failure() error {
	if d.err == nil {
		return nil
	}
	return d.err
}

var flagRules = map[Type]Rule{
	CONNECT: RuleConnectHeaderFlags, CONNACK: RuleAnswerFlags,
	PUBACK: RulePubackFlags, PUBREC: RulePubrecFlags, PUBREL: RulePubrelFlags, PUBCOMP: RulePubcompFlags,
	SUBSCRIBE: RuleSubscribeFlags, SUBACK: RuleAnswerFlags, UNSUBSCRIBE: RuleUnsubscribeFlags, UNSUBACK: RuleAnswerFlags,
	PINGREQ: RulePingreqFlags, PINGRESP: RuleAnswerFlags, DISCONNECT: RuleDisconnectFlags, AUTH: RuleAuthFlags,
}

func (d *decoding) flags(kind Type, flags byte) {
	if kind != PUBLISH && flags != fixedFlags(kind) {
		d.malformed(flagRules[kind], "the flag bits of the fixed header are wrong")
	}
}

// fixedFlags are the flag bits of every packet but PUBLISH. [section 2.1.3]
func fixedFlags(kind Type) byte {
	switch kind {
	case PUBREL, SUBSCRIBE, UNSUBSCRIBE:
		return 2
	}
	return 0
}

// direction judges whether the side sends such packets at all. [section 2.1.2]
func (d *decoding) direction(kind Type) {
	switch kind {
	case CONNACK, SUBACK, UNSUBACK, PINGRESP:
		if d.from == FromClient {
			d.protocolError(RuleServerOnly, "a client does not send this packet")
		}
	case CONNECT, SUBSCRIBE, UNSUBSCRIBE, PINGREQ:
		if d.from == FromServer {
			d.protocolError(RuleClientOnly, "a server does not send this packet")
		}
	case DISCONNECT:
		if d.from == FromServer && d.version != V5 {
			d.protocolError(RuleClientOnly, "a server does not send this packet in MQTT 3.1.1")
		}
	}
}

// shortRule is the rule that a packet breaks when it ends inside a field.
func shortRule(kind Type) Rule {
	switch kind {
	case CONNECT:
		return RuleShortConnect
	case PUBLISH:
		return RuleShortPublish
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		return RuleShortAck
	case SUBSCRIBE:
		return RuleShortSubscribe
	case UNSUBSCRIBE:
		return RuleShortUnsubscribe
	case CONNACK, SUBACK, UNSUBACK:
		return RuleShortAnswer
	}
	return RuleShort
}

// surplusRule is the rule that bytes behind the last field break.
func (d *decoding) surplusRule(kind Type, p Packet) Rule {
	switch kind {
	case CONNECT:
		switch c := p.(*Connect); {
		case c.Username == nil:
			return RuleSurplusUsername
		case c.Password == nil:
			return RuleSurplusPassword
		}
		return RuleSurplusConnect
	case PINGREQ, PINGRESP:
		return RulePingBody
	case DISCONNECT:
		if d.version != V5 {
			return RuleDisconnectBody
		}
		return RuleSurplusDisconnect
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		return RuleSurplusAck
	case AUTH:
		return RuleSurplusAuth
	case CONNACK, UNSUBACK:
		return RuleSurplusAnswer
	}
	return RuleSurplus
}

// packet decodes what follows the fixed header.
func (d *decoding) packet(kind Type, flags byte) Packet {
	switch kind {
	case CONNECT:
		return d.connect()
	case CONNACK:
		return d.connack()
	case PUBLISH:
		return d.publish(flags)
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		p := &Ack{Kind: kind, ID: d.uint16()}
		p.Code, p.Properties = d.optional(kind)
		return p
	case SUBSCRIBE:
		return d.subscribe()
	case SUBACK:
		p := &Suback{ID: d.uint16(), Properties: d.properties(SUBACK)}
		p.Codes = d.codes(SUBACK)
		return p
	case UNSUBSCRIBE:
		return d.unsubscribe()
	case UNSUBACK:
		p := &Unsuback{ID: d.uint16(), Properties: d.properties(UNSUBACK)}
		if d.version == V5 {
			p.Codes = d.codes(UNSUBACK)
		}
		return p
	case PINGREQ:
		return &Pingreq{}
	case PINGRESP:
		return &Pingresp{}
	case DISCONNECT:
		return d.disconnect()
	}
	return d.auth()
}

// judge looks at the characters of a string. [v311/MQTT-1.5.3-1]
// [v311/MQTT-1.5.3-2] [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.4-2] Nothing is taken
// off it, not even a leading U+FEFF. [v311/MQTT-1.5.3-3] [v5/MQTT-1.5.4-3]
func (d *decoding) judge(s string, rules textRules) {
	if ill, surrogate := encoding(s); ill {
		d.malformed(rules.form, "a string is not well-formed UTF-8")
	} else if surrogate {
		d.malformed(rules.surrogate, "a string encodes a surrogate")
	}
	if strings.IndexByte(s, 0) >= 0 {
		d.malformed(rules.nul, "a string holds U+0000")
	}
}
