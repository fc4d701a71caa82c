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

// maxViolations bounds the violations kept of one statement: a hostile broker
// breaks the same rule with every packet.
const maxViolations = 5

// checker judges the packets of one connection as they come. From what the
// tester sends it learns which limits were announced, which identifiers are
// open, and whether the tester itself still keeps to the rules: once it does
// not, only the format of packets is judged, and no longer what they answer.
type checker struct {
	version    Version
	violations []Violation
	count      map[string]int  // violations by key, kept or not
	seen       map[string]bool // keys that a packet could have broken

	tester // what was sent

	connacks     int
	accepted     bool // by a success CONNACK
	disconnected bool
	unread       bool                // a packet did not parse: what it set is not known
	open         map[uint16]delivery // those that are not finished
	delivered    map[uint16]bool     // identifiers of all QoS 2 deliveries so far
	released     map[uint16]bool     // PUBREL has come
	aliases      map[uint32]struct{} // Topic Aliases that the broker has set
}

func newChecker(v Version) *checker {
	return &checker{
		version: v, count: map[string]int{}, seen: map[string]bool{}, tester: newTester(v),
		open: map[uint16]delivery{}, delivered: map[uint16]bool{}, released: map[uint16]bool{}, aliases: map[uint32]struct{}{},
	}
}

// judge notes that the packet could have broken the rule, and that it did
// unless it is kept.
func (c *checker) judge(rule rule, r Received, kept bool, expected string, args ...any) {
	if c.holds(rule, kept) {
		return
	}
	c.accuse(rule, r.Seq, fmt.Sprintf(expected, args...)+fmt.Sprintf(", but packet %d is %s", r.Seq, brief(r.Packet)))
}

// holds notes that something could have broken the rule, and returns kept.
func (c *checker) holds(rule rule, kept bool) bool {
	key := rule.key(c.version)
	if key == "" {
		return true
	}
	c.seen[key] = true
	return kept
}

func (c *checker) accuse(rule rule, seq int, text string) {
	key := rule.key(c.version)
	if c.count[key]++; c.count[key] > maxViolations {
		return
	}
	c.violations = append(c.violations, Violation{Key: key, Seq: seq, Text: text})
}

// dataFrame judges the WebSocket frame in which a packet comes, or goes on;
// seq is the number of that packet.
func (c *checker) dataFrame(op Opcode, seq int) {
	if !c.holds(ruleBinary, op == OpBinary) {
		c.accuse(ruleBinary, seq, fmt.Sprintf("MQTT travels in binary frames, but packet %d comes in a %s frame", seq, op))
	}
}

// evidence returns the keys of the statements that a packet could have broken.
func (c *checker) evidence() []string { return slices.Sorted(maps.Keys(c.seen)) }

// received judges a packet.
func (c *checker) received(r Received) {
	switch c.asked {
	case foreign:
		return // the broker may answer in the layout of another version
	case nothing:
		// Without a CONNECT no version is agreed on, so nothing but the order
		// can be judged.
		c.order(r)
		return
	}
	if !c.legalType(r) {
		return
	}
	c.order(r)
	if !c.frame(r) {
		c.unread = true
		return
	}
	c.size(r)
	switch p := r.Packet.(type) {
	case Connack:
		c.connack(r, p)
	case Publish:
		c.publish(r, p)
	case Ack:
		c.ack(r, p)
	case Suback:
		c.suback(r, p)
	case Unsuback:
		c.unsuback(r, p)
	case Disconnect:
		c.judge(ruleDisconnectCode, r, legalCode(c.version, DISCONNECT, p.Code) || p.Code == 0x04, "DISCONNECT of a server has a code defined for it")
		c.judge(ruleByeWithWill, r, p.Code != 0x04, "a server sends no DISCONNECT 0x04")
		c.properties(r, DISCONNECT, p.Properties)
		c.bye(r, p)
	case Auth:
		c.auth(r, p)
	}
}

// order judges what may come before and after what [sections 3.2 and 3.14].
func (c *checker) order(r Received) {
	five := c.version == V5
	switch {
	case r.Type == DISCONNECT && five:
		c.judge(ruleNoEarlyBye, r, c.accepted, "a server sends no DISCONNECT before a success CONNACK")
	case five && r.Type != CONNACK && r.Type != AUTH:
		c.judge(ruleConnackFirst, r, c.accepted, "a server sends a success CONNACK before any other packet than AUTH")
	case five && r.Type == CONNACK && c.connacks == 0, !five && r.Seq == 1:
		c.judge(ruleConnackFirst, r, r.Type == CONNACK, "CONNACK is the first packet that a server sends")
	}
	if c.disconnected {
		c.judge(ruleLast, r, false, "nothing follows a DISCONNECT")
	}
	switch r.Type {
	case CONNACK:
		c.judge(ruleConnackOnce, r, c.connacks == 0, "a server sends one CONNACK on a connection")
		c.connacks++
		if p, ok := r.Packet.(Connack); ok && p.Code == 0 {
			c.accepted = true
		}
	case DISCONNECT:
		if five && !c.disconnected {
			c.judge(ruleLast, r, true, "")
			c.disconnected = true
		}
	}
}

// torn judges a stream that ended in the middle of a packet. A broker that
// drops the connection may leave half a packet behind; only a length that
// cannot be one is its fault.
func (c *checker) torn(raw []byte, seq int) {
	if c.asked == foreign || len(raw) != 5 || raw[4]&0x80 == 0 {
		return
	}
	c.judge(ruleFormat, Received{Seq: seq, Packet: Raw(raw)}, false, "a Remaining Length has at most four bytes")
}

// announced returns a number that the client announced in CONNECT.
func (c *checker) announced(id PropertyID) (uint32, bool) {
	if c.connect == nil || c.version != V5 {
		return 0, false
	}
	p, ok := c.connect.Properties.First(id)
	return p.Int, ok
}
