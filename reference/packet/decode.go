package packet

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// SplitFrame takes the first packet off a stream: its first byte and what
// stands behind the Remaining Length. size is 0 while more bytes are needed.
func SplitFrame(buf []byte, v Version, tolerate func(Rule) bool) (first byte, body []byte, size int, err error) {
	n := 0
	for i := 1; i < len(buf); i++ {
		if i == 5 {
			if tolerate != nil && tolerate(RuleLengthBytes) {
				return buf[0], nil, 6, nil
			}
			return 0, nil, 0, &Error{RuleLengthBytes, MalformedPacket, "the Remaining Length has more than four bytes"}
		}
		b := buf[i]
		n |= int(b&0x7f) << (7 * (i - 1))
		if b&0x80 != 0 {
			continue
		}
		if v == V5 && i > 1 && b == 0 && (tolerate == nil || !tolerate(RuleShortestLength)) {
			return 0, nil, 0, &Error{RuleShortestLength, MalformedPacket, "the Remaining Length is not written in its shortest form"}
		}
		if len(buf) < 1+i+n {
			return 0, nil, 0, nil
		}
		return buf[0], buf[1+i : 1+i+n], 1 + i + n, nil
	}
	return 0, nil, 0, nil
}

// Decoder decodes the packets of clients and servers.
type Decoder struct {
	// Version is that of the connection; a CONNECT says its own.
	Version Version
	// Tolerate is asked when a packet breaks a rule; where it returns true the
	// decoder goes on as well as it can. Nil tolerates nothing.
	Tolerate func(Rule) bool
}

// decoding is the state of decoding one packet.
type decoding struct {
	*Decoder
	b   []byte
	err *Error
}

// breaks notes a broken rule; the first that is not tolerated counts.
func (d *decoding) breaks(r Rule, code ReasonCode, text string) {
	if d.err == nil && (d.Tolerate == nil || !d.Tolerate(r)) {
		d.err = &Error{r, code, text}
	}
}

func (d *decoding) protocolError(r Rule, text string) { d.breaks(r, ProtocolError, text) }
func (d *decoding) malformed(r Rule, text string)     { d.breaks(r, MalformedPacket, text) }

// Decode decodes the packet that first and body make up. The error is an
// *Error. A CONNECT whose protocol name or level is unknown is returned
// together with its error, so that it can be answered.
func (d *Decoder) Decode(first byte, body []byte) (Packet, error) {
	s := &decoding{Decoder: d, b: body}
	kind := Type(first >> 4)
	s.flags(kind, first&0x0f)
	var p Packet
	if s.err == nil {
		p = s.packet(kind, first&0x0f)
	}
	if s.err == nil && len(s.b) > 0 {
		switch {
		case kind == CONNECT:
			s.malformed(RuleSurplusConnect, "bytes follow the last field of CONNECT")
		case kind == PINGREQ || kind == PINGRESP:
			s.malformed(RulePingBody, "this packet has no body")
		case kind == DISCONNECT && d.Version != V5:
			s.malformed(RuleDisconnectBody, "DISCONNECT has no body in MQTT 3.1.1")
		default:
			s.malformed(RuleSurplus, "bytes follow the last field")
		}
	}
	if s.err != nil {
		if c, ok := p.(*Connect); ok && c.Version != 0 {
			return c, s.err
		}
		return nil, s.err
	}
	return p, nil
}

var flagRules = map[Type]Rule{
	PUBREL: RulePubrelFlags, SUBSCRIBE: RuleSubscribeFlags, UNSUBSCRIBE: RuleUnsubscribeFlags,
	DISCONNECT: RuleDisconnectFlags, AUTH: RuleAuthFlags,
}

func (d *decoding) flags(kind Type, flags byte) {
	if kind == 0 || kind == AUTH && d.Version != V5 {
		d.malformed(RuleReservedType, "the packet type is reserved")
	}
	if kind == PUBLISH || flags == fixedFlags(kind) {
		return
	}
	rule, ok := flagRules[kind]
	if !ok {
		rule = RuleOtherFlags
	}
	d.malformed(rule, "the flag bits of the fixed header are wrong")
}

func fixedFlags(kind Type) byte {
	switch kind {
	case PUBREL, SUBSCRIBE, UNSUBSCRIBE:
		return 2
	}
	return 0
}

func (d *decoding) packet(kind Type, flags byte) Packet {
	switch kind {
	case CONNECT:
		return d.connect()
	case CONNACK:
		p := &Connack{SessionPresent: d.byte() == 1, Code: ReasonCode(d.byte())}
		p.Properties = d.properties(CONNACK)
		return p
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
		p.Codes = codes(d.rest())
		return p
	case UNSUBSCRIBE:
		return d.unsubscribe()
	case UNSUBACK:
		p := &Unsuback{ID: d.uint16(), Properties: d.properties(UNSUBACK)}
		if d.Version == V5 {
			p.Codes = codes(d.rest())
		}
		return p
	case PINGREQ:
		return &Pingreq{}
	case PINGRESP:
		return &Pingresp{}
	case DISCONNECT:
		p := &Disconnect{}
		p.Code, p.Properties = d.optional(DISCONNECT)
		return p
	case AUTH:
		p := &Auth{}
		p.Code, p.Properties = d.optional(AUTH)
		if p.Properties.AuthenticationMethod == nil {
			d.protocolError(RuleAuthMethod, "AUTH has no Authentication Method")
		}
		return p
	}
	return nil
}

func codes(b []byte) []ReasonCode {
	list := make([]ReasonCode, len(b))
	for i, c := range b {
		list[i] = ReasonCode(c)
	}
	return list
}

func (d *decoding) connect() Packet {
	p := &Connect{ProtocolName: d.string("", ""), Version: Version(d.byte())}
	if d.err != nil {
		return nil
	}
	if p.ProtocolName != "MQTT" {
		d.breaks(RuleProtocolName, UnsupportedProtocolVersion, "the protocol name is not MQTT")
	}
	if d.err == nil && p.Version != V311 && p.Version != V5 {
		d.breaks(RuleProtocolLevel, UnsupportedProtocolVersion, "the protocol level is neither 4 nor 5")
	}
	if d.err != nil {
		return p
	}
	five := p.Version == V5
	d.Decoder = &Decoder{Version: p.Version, Tolerate: d.Tolerate}
	flags := d.byte()
	d.connectFlags(flags, five)
	p.CleanStart, p.KeepAlive = flags&2 != 0, d.uint16()
	p.Properties = d.properties(CONNECT)
	p.ClientID = d.string(RuleClientIDUTF8, RuleClientIDNUL)
	if flags&4 != 0 {
		w := &Will{QoS: min(flags>>3&3, 2), Retain: flags&0x20 != 0, Properties: d.properties(willPacket)}
		w.Topic, w.Payload = d.string(RuleWillTopicUTF8, RuleWillTopicNUL), d.binary()
		if w.Topic == "" {
			d.malformed(RuleWillTopicEmpty, "the Will Topic is empty")
		}
		if strings.ContainsAny(w.Topic, "#+") {
			d.breaks(RuleWillTopicWild, TopicNameInvalid, "the Will Topic has a wildcard")
		}
		p.Will = w
	}
	if flags&0x80 != 0 {
		name := d.string(RuleUsernameUTF8, RuleUsernameNUL)
		p.Username = &name
	}
	if flags&0x40 != 0 {
		p.Password = d.binary()
	}
	if d.err != nil && d.err.Rule == RuleShort {
		d.err = nil
		d.malformed(RuleShortConnect, "CONNECT ends before its fields do")
	}
	return p
}

// connectFlags judges the Connect Flags. [section 3.1.2.3]
func (d *decoding) connectFlags(flags byte, five bool) {
	if flags&1 != 0 {
		d.malformed(RuleConnectReserved, "the reserved bit of the Connect Flags is set")
	}
	if flags&4 == 0 && flags&0x18 != 0 {
		d.malformed(RuleWillQoSNoWill, "Will QoS is set without the Will Flag")
	}
	if flags&4 == 0 && flags&0x20 != 0 {
		d.malformed(RuleWillRetainNoWill, "Will Retain is set without the Will Flag")
	}
	if flags&0x18 == 0x18 {
		d.malformed(RuleWillQoS3, "Will QoS is 3")
	}
	if !five && flags&0xc0 == 0x40 {
		d.malformed(RulePasswordAlone, "the Password Flag is set without the User Name Flag")
	}
}

func (d *decoding) publish(flags byte) Packet {
	p := &Publish{Dup: flags&8 != 0, QoS: flags >> 1 & 3, Retain: flags&1 != 0}
	if p.QoS == 3 {
		d.malformed(RuleQoS3, "both QoS bits are set")
		p.QoS = 2
	}
	if p.QoS == 0 && p.Dup {
		d.malformed(RuleDupQoS0, "DUP is set at QoS 0")
	}
	p.Topic = d.string(RuleTopicUTF8, RuleTopicNUL)
	if strings.ContainsAny(p.Topic, "#+") {
		d.breaks(RuleTopicWild, TopicNameInvalid, "the Topic Name has a wildcard")
	}
	if p.QoS > 0 {
		p.ID = d.identifier(RulePublishID)
	}
	p.Properties = d.properties(PUBLISH)
	if p.Topic == "" && p.Properties.TopicAlias == nil {
		d.protocolError(RuleTopicEmpty, "the Topic Name is empty and there is no Topic Alias")
	}
	p.Payload = append([]byte{}, d.rest()...)
	return p
}

func (d *decoding) identifier(rule Rule) uint16 {
	id := d.uint16()
	if id == 0 {
		d.protocolError(rule, "the Packet Identifier is 0")
	}
	return id
}

func (d *decoding) subscribe() Packet {
	p := &Subscribe{ID: d.identifier(RuleSubscribeID), Properties: d.properties(SUBSCRIBE)}
	if len(d.b) == 0 {
		d.protocolError(RuleSubscribeEmpty, "SUBSCRIBE has no Topic Filter")
	}
	for len(d.b) > 0 && d.err == nil {
		sub := Subscription{Filter: d.string(RuleSubscribeUTF8, RuleSubscribeNUL)}
		o := d.byte()
		if sub.Filter == "" {
			d.malformed(RuleFilterEmpty, "a Topic Filter is empty")
		}
		if o&3 == 3 {
			d.protocolError(RuleSubscribeQoS3, "the QoS of a Topic Filter is 3")
		}
		if o&0xc0 != 0 || d.Version != V5 && o&0xfc != 0 {
			d.malformed(RuleSubscribeBits, "reserved bits of the options are set")
		}
		sub.QoS = min(o&3, 2)
		if d.Version == V5 {
			sub.NoLocal, sub.RetainAsPublished, sub.RetainHandling = o&4 != 0, o&8 != 0, o>>4&3
			if sub.RetainHandling == 3 {
				d.protocolError(RuleRetainHandling3, "Retain Handling is 3")
			}
		}
		p.Subscriptions = append(p.Subscriptions, sub)
	}
	return p
}

func (d *decoding) unsubscribe() Packet {
	p := &Unsubscribe{ID: d.identifier(RuleUnsubscribeID), Properties: d.properties(UNSUBSCRIBE)}
	if len(d.b) == 0 {
		d.protocolError(RuleUnsubscribeEmpty, "UNSUBSCRIBE has no Topic Filter")
	}
	for len(d.b) > 0 && d.err == nil {
		f := d.string(RuleUnsubscribeUTF8, RuleUnsubscribeNUL)
		if f == "" {
			d.malformed(RuleFilterEmpty, "a Topic Filter is empty")
		}
		p.Filters = append(p.Filters, f)
	}
	return p
}

// optional reads a Reason Code and properties, which may be left out.
func (d *decoding) optional(kind Type) (ReasonCode, Properties) {
	if d.Version != V5 || len(d.b) == 0 {
		return 0, Properties{}
	}
	code := ReasonCode(d.byte())
	if strings.IndexByte(legalCodes[kind], byte(code)) < 0 {
		d.protocolError(RuleReasonCode, "the Reason Code is not defined for this packet")
	}
	if len(d.b) == 0 {
		return code, Properties{}
	}
	return code, d.properties(kind)
}

// take returns the next n bytes.
func (d *decoding) take(n int) []byte {
	if n > len(d.b) {
		d.malformed(RuleShort, "the packet ends before its fields do")
		n = len(d.b)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoding) byte() byte {
	if b := d.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *decoding) uint16() uint16 {
	if b := d.take(2); len(b) == 2 {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (d *decoding) uint32() uint32 {
	if b := d.take(4); len(b) == 4 {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoding) rest() []byte { return d.take(len(d.b)) }

func (d *decoding) binary() []byte { return append([]byte{}, d.take(int(d.uint16()))...) }

// string reads a UTF-8 string under the names of its two rules; without names
// it is not judged. [v311/MQTT-1.5.3-1] [v311/MQTT-1.5.3-2] [v311/MQTT-1.5.3-3]
// [v5/MQTT-1.5.4-1] [v5/MQTT-1.5.4-2] [v5/MQTT-1.5.4-3]
func (d *decoding) string(form, nul Rule) string {
	s := string(d.take(int(d.uint16())))
	if form != "" && !utf8.ValidString(s) {
		d.malformed(form, "a string is not well-formed UTF-8")
	}
	if nul != "" && strings.Contains(s, "\x00") {
		d.malformed(nul, "a string holds U+0000")
	}
	return s
}
