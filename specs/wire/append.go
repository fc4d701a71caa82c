package wire

import "encoding/binary"

// AppendVarint appends n as a Variable Byte Integer [section 1.5.5 of MQTT 5.0].
func AppendVarint(dst []byte, n int) []byte {
	for {
		b := byte(n % 128)
		n /= 128
		if n > 0 {
			dst = append(dst, b|0x80)
			continue
		}
		return append(dst, b)
	}
}

// AppendString appends a two-byte length and the bytes of s, unchecked.
func AppendString[T ~string | ~[]byte](dst []byte, s T) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// appendFrame appends the fixed header and the body.
func appendFrame(dst []byte, t Type, flags byte, body []byte) []byte {
	dst = append(dst, byte(t)<<4|flags&0x0f)
	dst = AppendVarint(dst, len(body))
	return append(dst, body...)
}

// Append appends the bytes.
func (p Raw) Append(dst []byte, _ Version) []byte { return append(dst, p...) }

// Append appends the frame.
func (p Frame) Append(dst []byte, _ Version) []byte { return appendFrame(dst, p.Type, p.Flags, p.Body) }

// Append appends the packet.
func (p Connect) Append(dst []byte, v Version) []byte {
	name, level := p.ProtocolName, p.Level
	if name == "" && !p.NoName {
		name = "MQTT"
	}
	if level == 0 {
		level = byte(v)
	}
	body := AppendString(nil, name)
	body = append(body, level, p.flags())
	body = binary.BigEndian.AppendUint16(body, p.KeepAlive)
	if v == V5 {
		body = p.Properties.append(body)
	}
	body = AppendString(body, p.ClientID)
	if w := p.Will; w != nil {
		if v == V5 {
			body = w.Properties.append(body)
		}
		body = AppendString(body, w.Topic)
		body = AppendString(body, w.Payload)
	}
	if p.Username != nil {
		body = AppendString(body, *p.Username)
	}
	if p.Password != nil {
		body = AppendString(body, p.Password)
	}
	return appendFrame(dst, CONNECT, 0, body)
}

// flags returns the Connect Flags [section 3.1.2.3].
func (p Connect) flags() byte {
	if p.FlagsOverride != nil {
		return *p.FlagsOverride
	}
	f := bit(p.ReservedFlag, 0) | bit(p.CleanStart, 1) | bit(p.Password != nil, 6) | bit(p.Username != nil, 7)
	if w := p.Will; w != nil {
		f |= 1<<2 | w.QoS<<3&0x18 | bit(w.Retain, 5)
	}
	return f
}

func bit(set bool, n int) byte {
	if set {
		return 1 << n
	}
	return 0
}

// Append appends the packet.
func (p Connack) Append(dst []byte, v Version) []byte {
	body := []byte{p.Flags, p.Code}
	if v == V5 {
		body = p.Properties.append(body)
	}
	return appendFrame(dst, CONNACK, 0, body)
}

// Append appends the packet.
func (p Publish) Append(dst []byte, v Version) []byte {
	body := AppendString(nil, p.Topic)
	if p.QoS > 0 {
		body = binary.BigEndian.AppendUint16(body, p.ID)
	}
	if v == V5 {
		body = p.Properties.append(body)
	}
	body = append(body, p.Payload...)
	return appendFrame(dst, PUBLISH, bit(p.Dup, 3)|p.QoS<<1&0x06|bit(p.Retain, 0), body)
}

// Append appends the packet.
func (p Ack) Append(dst []byte, v Version) []byte {
	body := binary.BigEndian.AppendUint16(nil, p.ID)
	if v == V5 && (p.Code != 0 || p.Properties != nil) {
		body = append(body, p.Code)
		if p.Properties != nil {
			body = p.Properties.append(body)
		}
	}
	return appendFrame(dst, p.Type, fixedFlags(p.Type), body)
}

// fixedFlags returns the flag bits that a packet of the type has to carry
// [section 2.1.3 of MQTT 5.0, 2.2.2 of MQTT 3.1.1]; PUBLISH has its own.
func fixedFlags(t Type) byte {
	if t == PUBREL || t == SUBSCRIBE || t == UNSUBSCRIBE {
		return 2
	}
	return 0
}

// Append appends the packet.
func (p Subscribe) Append(dst []byte, v Version) []byte {
	body := binary.BigEndian.AppendUint16(nil, p.ID)
	if v == V5 {
		body = p.Properties.append(body)
	}
	for _, s := range p.Subscriptions {
		body = AppendString(body, s.Filter)
		body = append(body, s.options())
	}
	return appendFrame(dst, SUBSCRIBE, 2, body)
}

// options returns the Subscription Options byte [section 3.8.3.1 of MQTT 5.0].
func (s Subscription) options() byte {
	return s.QoS&3 | bit(s.NoLocal, 2) | bit(s.RetainAsPublished, 3) | s.RetainHandling<<4&0x30 | s.Reserved
}

// Append appends the packet.
func (p Suback) Append(dst []byte, v Version) []byte {
	body := binary.BigEndian.AppendUint16(nil, p.ID)
	if v == V5 {
		body = p.Properties.append(body)
	}
	return appendFrame(dst, SUBACK, 0, append(body, p.Codes...))
}

// Append appends the packet.
func (p Unsubscribe) Append(dst []byte, v Version) []byte {
	body := binary.BigEndian.AppendUint16(nil, p.ID)
	if v == V5 {
		body = p.Properties.append(body)
	}
	for _, f := range p.Filters {
		body = AppendString(body, f)
	}
	return appendFrame(dst, UNSUBSCRIBE, 2, body)
}

// Append appends the packet.
func (p Unsuback) Append(dst []byte, v Version) []byte {
	body := binary.BigEndian.AppendUint16(nil, p.ID)
	if v == V5 {
		body = append(p.Properties.append(body), p.Codes...)
	}
	return appendFrame(dst, UNSUBACK, 0, body)
}

// Append appends the packet.
func (Pingreq) Append(dst []byte, _ Version) []byte { return appendFrame(dst, PINGREQ, 0, nil) }

// Append appends the packet.
func (Pingresp) Append(dst []byte, _ Version) []byte { return appendFrame(dst, PINGRESP, 0, nil) }

// Append appends the packet.
func (p Disconnect) Append(dst []byte, v Version) []byte {
	return appendFrame(dst, DISCONNECT, 0, shortForm(v, p.Code, p.Properties))
}

// Append appends the packet.
func (p Auth) Append(dst []byte, v Version) []byte {
	return appendFrame(dst, AUTH, 0, shortForm(v, p.Code, p.Properties))
}

// shortForm leaves out a code of 0 without properties, as sections 3.14.2.1
// and 3.15.2.1 of MQTT 5.0 allow.
func shortForm(v Version, code byte, ps Properties) []byte {
	if v != V5 || code == 0 && ps == nil {
		return nil
	}
	body := []byte{code}
	if ps != nil {
		body = ps.append(body)
	}
	return body
}

// append appends the Property Length and the properties, in their order.
func (ps Properties) append(dst []byte) []byte {
	var body []byte
	for _, p := range ps {
		body = p.append(body)
	}
	return append(AppendVarint(dst, len(body)), body...)
}

func (p Property) append(dst []byte) []byte {
	if p.ID == 0xff && p.Int > 0xff {
		// As Parse keeps an identifier of more than one byte.
		return append(AppendVarint(dst, int(p.Int)), p.Bin...)
	}
	dst = AppendVarint(dst, int(p.ID))
	switch kindOf(p.ID) {
	case kindByte:
		return append(dst, byte(p.Int))
	case kindUint16:
		return binary.BigEndian.AppendUint16(dst, uint16(p.Int))
	case kindUint32:
		return binary.BigEndian.AppendUint32(dst, p.Int)
	case kindVarint:
		return AppendVarint(dst, int(p.Int))
	case kindString:
		return AppendString(dst, p.Str)
	case kindPair:
		return AppendString(AppendString(dst, p.Pair[0]), p.Pair[1])
	default: // binary data, and whatever an unknown property is given
		if kindOf(p.ID) == kindUnknown {
			return append(dst, p.Bin...)
		}
		return AppendString(dst, p.Bin)
	}
}
