package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrShort is the error of a packet that ends before its fields do.
var ErrShort = errors.New("the packet ends before its fields do")

var (
	errNoPropertyLength = errors.New("the packet ends where its Property Length should stand")
	errManyProperties   = fmt.Errorf("the packet has more than %d properties", maxProperties)
)

// maxProperties bounds the properties of one packet: decoded, one of two bytes
// takes a hundred.
const maxProperties = 1 << 16

// FrameSize returns the size in bytes of the Control Packet that buf begins
// with, once its Remaining Length is complete. A length of more than four
// bytes never is: such a stream has no further borders.
func FrameSize(buf []byte) (size int, ok bool) {
	n, used, err := Varint(tail(buf, 1))
	if err != nil {
		return 0, false
	}
	return 1 + used + n, true
}

func tail(b []byte, n int) []byte { return b[min(n, len(b)):] }

// Varint reads a Variable Byte Integer of at most four bytes and returns its
// value and how many bytes it takes.
func Varint(b []byte) (n, used int, err error) {
	for i := 0; i < 4; i++ {
		if i >= len(b) {
			return 0, 0, ErrShort
		}
		n |= int(b[i]&0x7f) << (7 * i)
		if b[i]&0x80 == 0 {
			return n, i + 1, nil
		}
	}
	return 0, 0, errors.New("the Variable Byte Integer has more than four bytes")
}

// reader takes fields from the front of a body; the first that is missing
// makes all later ones empty.
type reader struct {
	b      []byte
	err    error
	padded bool // a Variable Byte Integer was longer than need be
}

func (r *reader) take(n int) []byte {
	if r.err == nil && n > len(r.b) {
		r.err = ErrShort
	}
	if r.err != nil {
		return nil
	}
	taken := r.b[:n:n]
	r.b = r.b[n:]
	return taken
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint16() uint16 {
	if b := r.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.take(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r *reader) varint() int {
	if r.err != nil {
		return 0
	}
	n, used, err := Varint(r.b)
	if err != nil {
		r.err = err
		return 0
	}
	if used > varintSize(n) {
		r.padded = true
	}
	r.b = r.b[used:]
	return n
}

// varintSize returns how many bytes n takes as a Variable Byte Integer.
func varintSize(n int) int {
	size := 1
	for ; n >= 128; n /= 128 {
		size++
	}
	return size
}

func (r *reader) string() string { return string(r.take(int(r.uint16()))) }

func (r *reader) binary() []byte { return append([]byte{}, r.take(int(r.uint16()))...) }

func (r *reader) rest() []byte { return r.take(len(r.b)) }

func (r *reader) properties() Properties {
	if r.err == nil && len(r.b) == 0 {
		r.err = errNoPropertyLength
		return nil
	}
	inner := reader{b: r.take(r.varint())}
	ps := Properties{}
	for len(inner.b) > 0 && inner.err == nil {
		if len(ps) == maxProperties {
			inner.err = errManyProperties
			break
		}
		p := inner.property()
		ps = append(ps, p)
	}
	r.padded = r.padded || inner.padded
	if inner.err != nil && r.err == nil {
		r.err = fmt.Errorf("properties: %w", inner.err)
	}
	return ps
}

// property reads one property.
func (r *reader) property() Property {
	id := r.varint()
	if id > 0xff {
		// No property has an identifier of two bytes: its number is kept in
		// Int, and as its size is unknown, all that follows belongs to it.
		return Property{ID: 0xff, Int: uint32(id), Bin: append([]byte{}, r.rest()...)}
	}
	p := Property{ID: PropertyID(id)}
	switch kindOf(p.ID) {
	case kindByte:
		p.Int = uint32(r.byte())
	case kindUint16:
		p.Int = uint32(r.uint16())
	case kindUint32:
		p.Int = r.uint32()
	case kindVarint:
		p.Int = uint32(r.varint())
	case kindString:
		p.Str = r.string()
	case kindBinary:
		p.Bin = r.binary()
	case kindPair:
		p.Pair = [2]string{r.string(), r.string()}
	case kindUnknown:
		// Its size is unknown, so all that follows belongs to it.
		p.Bin = append([]byte{}, r.rest()...)
	}
	return p
}

// Parse decodes a Control Packet without judging it: flags, codes, identifiers
// and strings are taken as they come. What does not have the fields of its
// type comes back as a Frame with an error; surplus bytes are an error too,
// with the packet.
func Parse(first byte, body []byte, v Version) (Packet, error) {
	p, _, err := decode(first, body, v)
	return p, err
}

// decode is Parse and tells also whether a Variable Byte Integer in the body
// is longer than need be.
func decode(first byte, body []byte, v Version) (_ Packet, padded bool, _ error) {
	r := &reader{b: body}
	p := parse(Type(first>>4), first&0x0f, r, v)
	if p == nil || r.err != nil {
		err := r.err
		if p == nil {
			err = fmt.Errorf("there is no packet type %d", first>>4)
		}
		return Frame{Type: Type(first >> 4), Flags: first & 0x0f, Body: append([]byte{}, body...)}, r.padded, err
	}
	if len(r.b) > 0 {
		return p, r.padded, fmt.Errorf("%d surplus bytes at the end of the packet", len(r.b))
	}
	return p, r.padded, nil
}

func parse(t Type, flags byte, r *reader, v Version) Packet {
	five := v == V5
	switch t {
	case CONNECT:
		return parseConnect(r)
	case CONNACK:
		p := Connack{Flags: r.byte(), Code: r.byte()}
		p.Properties = propertiesIf(five, r)
		return p
	case PUBLISH:
		p := Publish{Dup: flags&8 != 0, QoS: flags >> 1 & 3, Retain: flags&1 != 0, Topic: r.string()}
		if p.QoS > 0 {
			p.ID = r.uint16()
		}
		p.Properties = propertiesIf(five, r)
		p.Payload = string(r.rest())
		return p
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		p := Ack{Type: t, ID: r.uint16()}
		p.Code, p.Properties = optional(five, r)
		return p
	case SUBSCRIBE:
		return parseSubscribe(r, five)
	case SUBACK:
		return Suback{ID: r.uint16(), Properties: propertiesIf(five, r), Codes: append([]byte{}, r.rest()...)}
	case UNSUBSCRIBE:
		p := Unsubscribe{ID: r.uint16(), Properties: propertiesIf(five, r)}
		for len(r.b) > 0 && r.err == nil {
			p.Filters = append(p.Filters, r.string())
		}
		return p
	case UNSUBACK:
		p := Unsuback{ID: r.uint16(), Properties: propertiesIf(five, r)}
		if five {
			p.Codes = append([]byte{}, r.rest()...)
		}
		return p
	case PINGREQ:
		return Pingreq{}
	case PINGRESP:
		return Pingresp{}
	case DISCONNECT:
		code, ps := optional(five, r)
		return Disconnect{Code: code, Properties: ps}
	case AUTH:
		code, ps := optional(five, r)
		return Auth{Code: code, Properties: ps}
	default:
		return nil
	}
}

func propertiesIf(five bool, r *reader) Properties {
	if !five {
		return nil
	}
	return r.properties()
}

// optional reads a code and properties that may both be left out.
func optional(five bool, r *reader) (byte, Properties) {
	if !five || len(r.b) == 0 {
		return 0, nil
	}
	code := r.byte()
	if len(r.b) == 0 {
		return code, nil
	}
	return code, r.properties()
}

func parseConnect(r *reader) Packet {
	p := Connect{ProtocolName: r.string(), Level: r.byte()}
	flags := r.byte()
	p.KeepAlive = r.uint16()
	p.CleanStart, p.ReservedFlag = flags&2 != 0, flags&1 != 0
	five := Version(p.Level) == V5
	p.Properties = propertiesIf(five, r)
	p.ClientID = r.string()
	if flags&4 != 0 {
		w := &Will{QoS: flags >> 3 & 3, Retain: flags&0x20 != 0, Properties: propertiesIf(five, r)}
		w.Topic, w.Payload = r.string(), r.binary()
		p.Will = w
	}
	if flags&0x80 != 0 {
		name := r.string()
		p.Username = &name
	}
	if flags&0x40 != 0 {
		p.Password = r.binary()
	}
	return p
}

func parseSubscribe(r *reader, five bool) Packet {
	p := Subscribe{ID: r.uint16(), Properties: propertiesIf(five, r)}
	for len(r.b) > 0 && r.err == nil {
		s := Subscription{Filter: r.string()}
		o := r.byte()
		s.QoS, s.NoLocal, s.RetainAsPublished = o&3, o&4 != 0, o&8 != 0
		s.RetainHandling, s.Reserved = o>>4&3, o&0xc0
		p.Subscriptions = append(p.Subscriptions, s)
	}
	return p
}
