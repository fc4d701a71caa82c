package packet

import "encoding/binary"

// appendVarint appends a Variable Byte Integer in its shortest form.
// [v5/MQTT-1.5.5-1]
func appendVarint(dst []byte, n int) []byte {
	for n > 127 {
		dst = append(dst, byte(n)|0x80)
		n >>= 7
	}
	return append(dst, byte(n))
}

// appendString appends a string or Binary Data with its length, which has two
// bytes: what does not fit is cut off, so that the packet stays whole.
// [v311/MQTT-4.7.3-3] [v5/MQTT-4.7.3-3]
func appendString(dst []byte, s string) []byte {
	s = s[:min(len(s), 65535)]
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}

// Size returns how many bytes a packet takes.
func Size(v Version, p Packet) int { return len(Append(nil, v, p)) }

// Append appends the bytes of a packet, which has to be a valid one.
// [v311/MQTT-2.2.2-1] [v5/MQTT-2.1.3-1]
func Append(dst []byte, v Version, p Packet) []byte {
	flags := fixedFlags(p.Type())
	var b []byte
	switch p := p.(type) {
	case *Connect:
		b = appendConnect(p)
	case *Connack:
		b = []byte{bit(p.SessionPresent, 0), byte(p.Code)} // [v5/MQTT-3.2.2-1] [v311/3.2.2.1-reserved-bits]
		b = appendProperties(b, v, &p.Properties)
	case *Publish:
		flags = bit(p.Dup, 3) | p.QoS<<1 | bit(p.Retain, 0)
		b = appendString(nil, p.Topic)
		if p.QoS > 0 { // [v311/MQTT-2.3.1-5] [v5/MQTT-2.2.1-2]
			b = binary.BigEndian.AppendUint16(b, p.ID)
		}
		b = append(appendProperties(b, v, &p.Properties), p.Payload...)
	case *Ack:
		b = binary.BigEndian.AppendUint16(nil, p.ID)
		b = appendOptional(b, v, p.Code, &p.Properties)
	case *Subscribe:
		b = appendProperties(binary.BigEndian.AppendUint16(nil, p.ID), v, &p.Properties)
		for _, s := range p.Subscriptions {
			b = append(appendString(b, s.Filter), s.QoS|bit(s.NoLocal, 2)|bit(s.RetainAsPublished, 3)|s.RetainHandling<<4)
		}
	case *Suback:
		b = appendProperties(binary.BigEndian.AppendUint16(nil, p.ID), v, &p.Properties)
		b = appendCodes(b, p.Codes)
	case *Unsubscribe:
		b = appendProperties(binary.BigEndian.AppendUint16(nil, p.ID), v, &p.Properties)
		for _, f := range p.Filters {
			b = appendString(b, f)
		}
	case *Unsuback:
		b = binary.BigEndian.AppendUint16(nil, p.ID)
		if v == V5 {
			b = appendCodes(appendProperties(b, v, &p.Properties), p.Codes)
		}
	case *Disconnect:
		b = appendOptional(nil, v, p.Code, &p.Properties)
	case *Auth:
		b = appendOptional(nil, v, p.Code, &p.Properties)
	}
	dst = append(dst, byte(p.Type())<<4|flags)
	return append(appendVarint(dst, len(b)), b...)
}

func bit(set bool, n int) byte {
	if set {
		return 1 << n
	}
	return 0
}

func appendCodes(b []byte, codes []ReasonCode) []byte {
	for _, c := range codes {
		b = append(b, byte(c))
	}
	return b
}

func appendProperties(b []byte, v Version, ps *Properties) []byte {
	if v != V5 {
		return b
	}
	return ps.append(b)
}

// appendOptional leaves out a code of 0 without properties, and properties
// where there are none. [section 3.4.2.1 of MQTT 5.0]
func appendOptional(b []byte, v Version, code ReasonCode, ps *Properties) []byte {
	if v != V5 {
		return b
	}
	with := ps.append(nil)
	if len(with) > 1 {
		return append(append(b, byte(code)), with...)
	}
	if code != 0 {
		return append(b, byte(code))
	}
	return b
}

func appendConnect(p *Connect) []byte {
	name := p.ProtocolName
	if name == "" {
		name = "MQTT"
	}
	b := append(appendString(nil, name), byte(p.Version))
	flags := bit(p.CleanStart, 1) | bit(p.Password != nil, 6) | bit(p.Username != nil, 7)
	if w := p.Will; w != nil {
		flags |= 4 | w.QoS<<3 | bit(w.Retain, 5)
	}
	b = binary.BigEndian.AppendUint16(append(b, flags), p.KeepAlive)
	b = appendString(appendProperties(b, p.Version, &p.Properties), p.ClientID)
	if w := p.Will; w != nil {
		b = appendString(appendProperties(b, p.Version, &w.Properties), w.Topic)
		b = appendString(b, string(w.Payload))
	}
	if p.Username != nil {
		b = appendString(b, *p.Username)
	}
	if p.Password != nil {
		b = appendString(b, string(p.Password))
	}
	return b
}
