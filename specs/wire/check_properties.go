package wire

import (
	"strings"
	"unicode/utf8"
)

// text judges a UTF-8 string [section 1.5.4 of MQTT 5.0, 1.5.3 of 3.1.1].
func (c *checker) text(r Received, what, s string) {
	c.judge(ruleUTF8, r, utf8.ValidString(s), "%s is well-formed UTF-8", what)
	c.judge(ruleNoNUL, r, strings.IndexByte(s, 0) < 0, "%s holds no NUL", what)
}

// half judges the name or value of a User Property.
func (c *checker) half(r Received, what, s string) {
	c.judge(rulePair, r, utf8.ValidString(s) && strings.IndexByte(s, 0) < 0, "the %s of a User Property is a legal UTF-8 string", what)
}

// properties judges those of a packet: legal for it, not doubled, values in
// range, strings well formed.
func (c *checker) properties(r Received, t Type, ps Properties) {
	if c.version != V5 {
		return
	}
	if ps == nil {
		c.quiet(r, t, nil)
		return
	}
	count := map[PropertyID]int{}
	legal := true
	for _, p := range ps {
		count[p.ID]++
		known, ok := properties[p.ID]
		if !ok || !known.in.has(t) {
			legal = false
			c.judge(ruleProperties, r, false, "%s has only properties that are legal in it, not %s", t, p.ID)
			continue
		}
		if rule, ok := ruleValue[placed{t, p.ID}]; ok {
			c.judge(rule, r, inRange(p), "%s has a legal value, not %d", p.ID, p.Int)
		}
		c.string(r, known.kind, p)
	}
	if legal {
		c.judge(ruleProperties, r, true, "")
	}
	for at, rule := range ruleTwice {
		if at.packet == t {
			c.judge(rule, r, count[at.id] < 2, "%s stands only once in %s", at.id, t)
		}
	}
	c.quiet(r, t, count)
	if count[ServerReference] > 0 {
		code := codeOf(r.Packet)
		c.judge(ruleServerReference, r, code == 0x9c || code == 0x9d, "a Server Reference comes with the code 0x9C or 0x9D")
	}
}

func (c *checker) string(r Received, k kind, p Property) {
	switch k {
	case kindString:
		c.text(r, p.ID.String(), p.Str)
	case kindPair:
		c.half(r, "name", p.Pair[0])
		c.half(r, "value", p.Pair[1])
	}
	switch p.ID {
	case ReasonString, AssignedClientIdentifier, ResponseInformation:
		// The strings that the server makes itself.
		c.judge(ruleCodePoints, r, strings.IndexFunc(p.Str, disallowed) < 0, "%s holds no control characters and no non-characters", p.ID)
	}
}

// disallowed tells whether a string should not hold the code point [section
// 1.5.4 of MQTT 5.0]. NUL has a rule of its own.
func disallowed(c rune) bool {
	return c >= 0x01 && c <= 0x1f || c >= 0x7f && c <= 0x9f || c >= 0xfdd0 && c <= 0xfdef || c&0xfffe == 0xfffe
}

// quiet judges that a client which asked for no problem information is given
// none but where it is always allowed [section 3.1.2.11.7 of MQTT 5.0].
func (c *checker) quiet(r Received, t Type, count map[PropertyID]int) {
	if t == CONNACK || t == DISCONNECT || t == PUBLISH {
		return
	}
	said := count[ReasonString] + count[UserProperty]
	if wanted, ok := c.announced(RequestProblemInformation); ok && wanted == 0 && (said > 0 || Failure(r.Packet)) {
		c.judge(ruleProblemInfo, r, said == 0, "%s has no Reason String or User Property, since the client wants none", t)
	}
}

// inRange tells whether a number property has a value that the text allows.
func inRange(p Property) bool {
	switch p.ID {
	case ReceiveMaximum, MaximumPacketSize, SubscriptionIdentifier:
		return p.Int != 0
	default:
		return p.Int <= 1
	}
}

// codeOf returns the code of a CONNACK or DISCONNECT.
func codeOf(p Packet) byte {
	switch p := p.(type) {
	case Connack:
		return p.Code
	case Disconnect:
		return p.Code
	}
	return 0
}
