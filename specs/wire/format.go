package wire

import (
	"encoding/hex"
	"fmt"
	"strings"
)

var typeNames = [16]string{"type 0", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP",
	"SUBSCRIBE", "SUBACK", "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH"}

// String returns the name of the packet type.
func (t Type) String() string { return typeNames[t&0x0f] }

func hexByte(b byte) string { return hex.EncodeToString([]byte{b}) }

// quote shows text of a broker on one line, cut where it is long.
func quote(s string) string {
	const longest = 60
	if len(s) > longest {
		return fmt.Sprintf("%q... (%d bytes)", s[:longest], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// most is how many elements of a list are shown.
const most = 16

// short cuts text that is longer than n bytes.
func short(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}

// brief describes a packet on one line of bounded length.
func brief(p Packet) string {
	if raw, ok := p.(Raw); ok && len(raw) <= most {
		return fmt.Sprintf("% x", []byte(raw))
	}
	return short(fmt.Sprint(p), maxEventText)
}

// codes shows the codes of a SUBACK or UNSUBACK.
func codes(list []byte) string {
	if len(list) > most {
		return fmt.Sprintf("[% x ...%d]", list[:most], len(list))
	}
	return fmt.Sprintf("[% x]", list)
}

func (p Raw) String() string { return fmt.Sprintf("%d raw bytes", len(p)) }

func (p Frame) String() string {
	return fmt.Sprintf("%s flags 0x%x, %d bytes that do not parse", p.Type, p.Flags, len(p.Body))
}

func (p Connect) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s clean=%d keepalive=%d", quote(p.ClientID), bit(p.CleanStart, 0), p.KeepAlive)
	if p.ProtocolName != "" || p.Level != 0 {
		fmt.Fprintf(&b, " protocol=%s level=%d", quote(p.ProtocolName), p.Level)
	}
	if w := p.Will; w != nil {
		fmt.Fprintf(&b, " will(q%d r%d t=%s %s)%s", w.QoS, bit(w.Retain, 0), quote(w.Topic), quote(string(w.Payload)), w.Properties)
	}
	if p.Username != nil {
		b.WriteString(" user=***")
	}
	if p.Password != nil {
		b.WriteString(" password=***")
	}
	b.WriteString(p.Properties.String())
	return b.String()
}

func (p Connack) String() string {
	return fmt.Sprintf("CONNACK code=0x%02x flags=0x%02x%s", p.Code, p.Flags, p.Properties)
}

func (p Publish) String() string {
	id := ""
	if p.QoS > 0 {
		id = fmt.Sprintf(" id=%d", p.ID)
	}
	return fmt.Sprintf("PUBLISH q%d d%d r%d%s t=%s %s%s", p.QoS, bit(p.Dup, 0), bit(p.Retain, 0), id, quote(p.Topic), quote(p.Payload), p.Properties)
}

func (p Ack) String() string {
	return fmt.Sprintf("%s id=%d code=0x%02x%s", p.Type, p.ID, p.Code, p.Properties)
}

func (p Subscribe) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "SUBSCRIBE id=%d%s", p.ID, p.Properties)
	for i, s := range p.Subscriptions {
		if i == most {
			fmt.Fprintf(&b, " ... (%d filters)", len(p.Subscriptions))
			break
		}
		fmt.Fprintf(&b, " %s=0x%02x", quote(s.Filter), s.options())
	}
	return b.String()
}

func (p Suback) String() string {
	return fmt.Sprintf("SUBACK id=%d codes=%s%s", p.ID, codes(p.Codes), p.Properties)
}

func (p Unsubscribe) String() string {
	var quoted []string
	for i, f := range p.Filters {
		if i == most {
			quoted = append(quoted, fmt.Sprintf("... (%d filters)", len(p.Filters)))
			break
		}
		quoted = append(quoted, quote(f))
	}
	return fmt.Sprintf("UNSUBSCRIBE id=%d %s%s", p.ID, strings.Join(quoted, " "), p.Properties)
}

func (p Unsuback) String() string {
	return fmt.Sprintf("UNSUBACK id=%d codes=%s%s", p.ID, codes(p.Codes), p.Properties)
}

func (Pingreq) String() string  { return "PINGREQ" }
func (Pingresp) String() string { return "PINGRESP" }

func (p Disconnect) String() string {
	return fmt.Sprintf("DISCONNECT code=0x%02x%s", p.Code, p.Properties)
}

func (p Auth) String() string { return fmt.Sprintf("AUTH code=0x%02x%s", p.Code, p.Properties) }

// String lists the properties; Authentication Data is a secret.
func (ps Properties) String() string {
	var b strings.Builder
	for i, p := range ps {
		if i == most {
			fmt.Fprintf(&b, " ... (%d properties)", len(ps))
			break
		}
		b.WriteString(" [" + p.ID.String() + "=")
		switch kindOf(p.ID) {
		case kindString:
			b.WriteString(quote(p.Str))
		case kindPair:
			b.WriteString(quote(p.Pair[0]) + ":" + quote(p.Pair[1]))
		case kindBinary, kindUnknown:
			if p.ID == AuthenticationData {
				b.WriteString("***")
			} else {
				b.WriteString(quote(string(p.Bin)))
			}
		default:
			fmt.Fprint(&b, p.Int)
		}
		b.WriteString("]")
	}
	return b.String()
}

// GomegaString methods are what a failed assertion shows of a packet.

// GomegaString returns the packet on one line.
func (p Connack) GomegaString() string { return p.String() }

// GomegaString returns the packet on one line.
func (p Publish) GomegaString() string { return p.String() }

// GomegaString returns the packet on one line.
func (p Ack) GomegaString() string { return p.String() }

// GomegaString returns the packet on one line.
func (p Suback) GomegaString() string { return p.String() }

// GomegaString returns the packet on one line.
func (p Unsuback) GomegaString() string { return p.String() }

// GomegaString returns the packet on one line.
func (p Disconnect) GomegaString() string { return p.String() }

// GomegaString returns the packet on one line.
func (p Auth) GomegaString() string { return p.String() }
