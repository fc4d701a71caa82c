package wire

import (
	"fmt"
	"maps"
	"slices"
)

// Violation is a packet of the broker that breaks a rule which binds its
// sender whatever the packet answers.
type Violation struct {
	Key  string `json:"key"`  // the statement broken
	Text string `json:"text"` // what was expected and what came
	Seq  int    `json:"seq"`  // the packet's number on its connection
}

// checker judges the packets of one connection as they come, and learns from
// what the tester sends which limits it has announced.
type checker struct {
	version    Version
	violations []Violation
	seen       map[string]bool // keys that a packet could have broken

	connect      *Connect // the last well-formed one that was sent
	foreign      bool     // a CONNECT of another level or name was sent
	tail         []byte   // sent bytes that are no whole packet yet
	accepted     bool
	connacks     int
	disconnected bool
	open         map[uint16]bool // identifiers of deliveries that are not finished
}

func newChecker(v Version) *checker {
	return &checker{version: v, seen: map[string]bool{}, open: map[uint16]bool{}}
}

// pair names the statements of the same rule in MQTT 3.1.1 and 5.0; "" where
// the version has none.
type pair struct{ v311, v5 string }

func (c *checker) key(p pair) string {
	switch {
	case c.version == V5 && p.v5 != "":
		return "v5/" + p.v5
	case c.version != V5 && p.v311 != "":
		return "v311/" + p.v311
	}
	return ""
}

// judge notes that the packet could have broken the rule, and that it did
// unless it is kept.
func (c *checker) judge(rule pair, r Received, kept bool, format string, args ...any) {
	key := c.key(rule)
	if key == "" {
		return
	}
	c.seen[key] = true
	if !kept {
		c.violations = append(c.violations, Violation{
			Key: key, Seq: r.Seq,
			Text: fmt.Sprintf(format, args...) + fmt.Sprintf(", but packet %d is %v", r.Seq, r.Packet),
		})
	}
}

func (c *checker) evidence() []string { return slices.Sorted(maps.Keys(c.seen)) }

// received judges a packet.
func (c *checker) received(r Received) {
	if c.foreign && r.Type == CONNACK {
		return // the answer to an unknown level may have the layout of any version
	}
	c.order(r)
	c.frame(r)
	if r.Err != nil {
		if _, torn := r.Packet.(Frame); torn {
			c.judge(ruleFormat, r, false, "every packet has the fields of its type (%v)", r.Err)
			return
		}
	}
	c.judge(ruleFormat, r, r.Err == nil, "a packet ends with its last field (%v)", r.Err)
	switch p := r.Packet.(type) {
	case Connack:
		c.connack(r, p)
	case Publish:
		c.publish(r, p)
	case Ack:
		c.ack(r, p)
	case Suback:
		c.judge(ruleSubackCodes, r, only(p.Codes, c.codes(SUBACK)), "SUBACK has only the codes defined for it")
		c.properties(r, SUBACK, p.Properties)
	case Unsuback:
		c.judge(ruleUnsubackCodes, r, only(p.Codes, c.codes(UNSUBACK)), "UNSUBACK has only the codes defined for it")
		c.properties(r, UNSUBACK, p.Properties)
	case Disconnect:
		c.judge(ruleDisconnectCode, r, only([]byte{p.Code}, c.codes(DISCONNECT)), "DISCONNECT has a code defined for it")
		c.properties(r, DISCONNECT, p.Properties)
		c.disconnected = true
	case Auth:
		c.judge(ruleAuthCode, r, only([]byte{p.Code}, c.codes(AUTH)), "AUTH has a code defined for it")
		c.properties(r, AUTH, p.Properties)
	}
}

// order judges what may come before and after what.
func (c *checker) order(r Received) {
	first := r.Type == CONNACK || r.Type == AUTH && c.version == V5
	if c.connacks == 0 && r.Type != DISCONNECT || c.version != V5 && r.Seq == 1 {
		c.judge(ruleConnackFirst, r, first, "CONNACK is the first packet that a server sends")
	}
	if r.Type == CONNACK {
		c.judge(ruleConnackOnce, r, c.connacks == 0, "a server sends one CONNACK on a connection")
		c.connacks++
	}
	if r.Type == DISCONNECT {
		c.judge(ruleNoEarlyBye, r, c.accepted, "a server sends no DISCONNECT before a success CONNACK")
	}
	if c.disconnected {
		c.judge(ruleLast, r, false, "nothing follows a DISCONNECT")
	} else if r.Type == DISCONNECT {
		c.judge(ruleLast, r, true, "")
	}
}

// frame judges the fixed header and the size.
func (c *checker) frame(r Received) {
	wrongWay := r.Type == CONNECT || r.Type == SUBSCRIBE || r.Type == UNSUBSCRIBE || r.Type == PINGREQ || c.version != V5 && r.Type == DISCONNECT
	c.judge(ruleDirection, r, !wrongWay, "a server sends no %s", r.Type)
	c.judge(ruleReserved, r, r.Type != 0 && (r.Type != AUTH || c.version == V5), "the packet type is one that the version defines")
	if r.Type != PUBLISH {
		c.judge(ruleFlags, r, r.Flags == fixedFlags(r.Type), "the flag bits of %s are %04b and not %04b", r.Type, fixedFlags(r.Type), r.Flags)
	}
	n, used, _ := Varint(r.Raw[1:])
	c.judge(ruleOverlong, r, used == len(AppendVarint(nil, n)), "the Remaining Length %d is written in its shortest form", n)
	switch r.Type {
	case PUBACK, PUBREC, PUBREL, PUBCOMP, UNSUBACK:
		c.judge(ruleFixedLength, r, n == 2, "the Remaining Length of %s is 2 and not %d", r.Type, n)
	case CONNACK:
		c.judge(ruleConnackSize, r, n == 2, "the Remaining Length of CONNACK is 2 and not %d", n)
	case PINGRESP:
		c.judge(rulePingresp, r, n == 0, "PINGRESP has no body")
	}
	if limit, ok := c.announced(MaximumPacketSize); ok {
		c.judge(rulePacketSize, r, len(r.Raw) <= int(limit), "no packet is larger than the client's Maximum Packet Size of %d bytes", limit)
	}
}

// torn judges a stream that ended in the middle of a packet. A broker that
// drops the connection may leave half a packet behind; only a length that
// cannot be one is its fault.
func (c *checker) torn(raw []byte, err error) {
	if len(raw) == 5 && raw[4]&0x80 != 0 {
		r := Received{Seq: 0, Packet: Raw(raw)}
		c.judge(ruleFormat, r, false, "the Remaining Length has at most four bytes (%v)", err)
	}
}

// announced returns a number that the client announced in CONNECT.
func (c *checker) announced(id PropertyID) (uint32, bool) {
	if c.connect == nil || c.version != V5 {
		return 0, false
	}
	p, ok := c.connect.Properties.First(id)
	return p.Int, ok
}

// sent learns from what the tester sends. It believes whole packets only.
func (c *checker) sent(raw []byte) {
	c.tail = append(c.tail, raw...)
	for {
		size, ok := FrameSize(c.tail)
		if !ok || size > len(c.tail) {
			if len(c.tail) > maxPacket {
				c.tail = nil
			}
			return
		}
		p, err := Parse(c.tail[0], Body(c.tail[:size]), c.version)
		c.tail = c.tail[size:]
		if q, ok := p.(Connect); ok && (q.Level != byte(c.version) || q.ProtocolName != "MQTT") {
			c.foreign = true
		} else if err == nil {
			c.learn(p)
		}
	}
}

func (c *checker) learn(p Packet) {
	switch p := p.(type) {
	case Connect:
		if c.connect == nil {
			c.connect = &p
		}
	case Ack:
		// PUBREC with an error code ends the exchange too [v5/MQTT-4.3.3-9].
		if p.Type == PUBACK || p.Type == PUBCOMP || p.Type == PUBREC && p.Code >= 0x80 {
			delete(c.open, p.ID)
		}
	}
}

func only(codes []byte, legal string) bool {
	for _, code := range codes {
		if !slices.Contains([]byte(legal), code) {
			return false
		}
	}
	return true
}
