package wire

// The functions below turn the bytes of one well-formed packet into those of
// a broken one. They leave their argument alone.

// Bytes returns the bytes of packets, one behind the other.
func Bytes(v Version, packets ...Packet) []byte {
	var b []byte
	for _, p := range packets {
		b = p.Append(b, v)
	}
	return b
}

// WithFlags replaces the flag bits of the fixed header.
func WithFlags(packet []byte, flags byte) []byte {
	b := append([]byte{}, packet...)
	b[0] = b[0]&0xf0 | flags&0x0f
	return b
}

// Body returns what stands behind the fixed header.
func Body(packet []byte) []byte {
	_, used, err := Varint(packet[1:])
	if err != nil {
		return nil
	}
	return append([]byte{}, packet[1+used:]...)
}

// WithBody replaces what stands behind the fixed header; the Remaining Length
// is made to fit.
func WithBody(packet, body []byte) []byte {
	b := AppendVarint([]byte{packet[0]}, len(body))
	return append(b, body...)
}

// WithRemainingLength replaces the Remaining Length and leaves the rest.
func WithRemainingLength(packet []byte, n int) []byte {
	b := AppendVarint([]byte{packet[0]}, n)
	return append(b, Body(packet)...)
}

// Overlong writes the Remaining Length with one byte more than it needs
// [v5/MQTT-1.5.5-1].
func Overlong(packet []byte) []byte {
	_, used, err := Varint(packet[1:])
	if err != nil {
		return packet
	}
	b := append([]byte{}, packet[:1+used]...)
	b[len(b)-1] |= 0x80
	b = append(b, 0)
	return append(b, packet[1+used:]...)
}

// Shorten cuts the packet to n bytes of body and makes the length fit.
func Shorten(packet []byte, n int) []byte {
	body := Body(packet)
	return WithBody(packet, body[:min(n, len(body))])
}

// Extend appends bytes to the body and makes the length fit.
func Extend(packet []byte, more ...byte) []byte {
	return WithBody(packet, append(Body(packet), more...))
}

// WithProperties replaces the properties of a packet of MQTT 5.0 that a client
// sends by bytes; the lengths are made to fit. The packet has to have a
// Property Length.
func WithProperties(packet, properties []byte) []byte {
	return WithPropertyLength(packet, len(properties), properties)
}

// WithPropertyLength is WithProperties with a Property Length that need not be
// that of the properties.
func WithPropertyLength(packet []byte, length int, properties []byte) []byte {
	body := Body(packet)
	at := PropertiesAt(packet)
	if at < 0 || at > len(body) {
		return packet
	}
	n, used, err := Varint(body[at:])
	if err != nil || at+used+n > len(body) {
		return packet
	}
	changed := append(AppendVarint(body[:at:at], length), properties...)
	return WithBody(packet, append(changed, body[at+used+n:]...))
}

// PropertiesAt is where the Property Length of a packet of a client stands in its
// body, in MQTT 3.1.1 where it would; -1 for packets that have none, or end before
// that is known. It may lie behind the body.
func PropertiesAt(packet []byte) int {
	switch Type(packet[0] >> 4) {
	case CONNECT:
		return 10
	case PUBLISH:
		body := Body(packet)
		if len(body) < 2 {
			return -1
		}
		at := 2 + int(body[0])<<8 + int(body[1])
		if packet[0]&6 != 0 {
			at += 2
		}
		return at
	case SUBSCRIBE, UNSUBSCRIBE:
		return 2
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		return 3
	case DISCONNECT, AUTH:
		return 1
	}
	return -1
}
