package wire

import "errors"

// legalType judges whether a server may send packets of the type at all.
func (c *checker) legalType(r Received) bool {
	reserved := r.Type == 0 || r.Type == AUTH && c.version != V5
	c.judge(ruleReserved, r, !reserved, "the packet type is one that the version defines")
	if reserved {
		return false
	}
	wrongWay := false
	switch r.Type {
	case CONNECT, SUBSCRIBE, UNSUBSCRIBE, PINGREQ:
		wrongWay = true
	case DISCONNECT:
		wrongWay = c.version != V5
	}
	c.judge(ruleDirection, r, !wrongWay, "%s is a packet that only clients send", r.Type)
	return !wrongWay
}

// frame judges the fixed header and whether the fields fill the packet. It
// returns false when the fields cannot be judged.
func (c *checker) frame(r Received) bool {
	if r.Type != PUBLISH {
		c.judge(ruleFlags, r, r.Flags == fixedFlags(r.Type), "the flag bits of %s are %04b and not %04b", r.Type, fixedFlags(r.Type), r.Flags)
	}
	c.judge(ruleShortestForm, r, !r.padded, "every Variable Byte Integer is written in its shortest form")
	if !c.fixedLength(r) {
		return false
	}
	switch r.Type {
	case CONNACK, PUBLISH, SUBACK, UNSUBACK:
		missing := errors.Is(r.Err, errNoPropertyLength)
		c.judge(rulePropertyLength, r, !missing, "%s has a Property Length even where it has no properties", r.Type)
		if missing {
			return false
		}
	}
	c.judge(ruleFormat, r, r.Err == nil, "%s has the fields of its type and ends with the last (%v)", r.Type, r.Err)
	return r.Err == nil
}

// fixedLength judges packets that have one length only.
func (c *checker) fixedLength(r Received) bool {
	n, _, _ := Varint(r.Raw[1:])
	rule, want := rule{}, 2
	switch r.Type {
	case PUBACK, PUBREC, PUBREL, PUBCOMP, UNSUBACK:
		rule = ruleFixedLength
	case CONNACK:
		rule = ruleConnackLength
	case PINGRESP:
		rule, want = rulePingresp, 0
	}
	if rule.key(c.version) == "" {
		return true
	}
	c.judge(rule, r, n == want, "the Remaining Length of %s is %d and not %d", r.Type, want, n)
	return n == want
}

// size judges the packet by the client's Maximum Packet Size. Where leaving
// out the Reason String or the User Properties would have made it fit, the
// statement that says so is broken; else the general one.
func (c *checker) size(r Received) {
	limit, ok := c.announced(MaximumPacketSize)
	if !ok || limit == 0 {
		return
	}
	over := int64(len(r.Raw)) - int64(limit)
	blamed := rulePacketSize
	sizes := map[PropertyID]int64{}
	for _, p := range PropertiesOf(r.Packet) {
		sizes[p.ID] += int64(p.Size())
	}
	diagnostics := sizes[ReasonString] + sizes[UserProperty]
	for _, id := range []PropertyID{UserProperty, ReasonString} {
		rule, ok := ruleLeftOut[placed{r.Type, id}]
		if !ok {
			continue
		}
		// A packet without it says something only where there was something to
		// say, and little room to say it.
		if sizes[id] == 0 && (over < -usualProperty || !Failure(r.Packet)) {
			continue
		}
		c.judge(rule, r, true, "")
		// Where it takes both to make it fit, the Reason String is blamed.
		if over > 0 && sizes[id] > 0 && (over <= sizes[id] || id == ReasonString && blamed == rulePacketSize && over <= diagnostics) {
			blamed = rule
		}
	}
	c.judge(rulePacketSize, r, true, "")
	c.judge(blamed, r, over <= 0, "no packet is larger than the client's Maximum Packet Size of %d bytes and not %d", limit, len(r.Raw))
}

// usualProperty is the size in bytes of a Reason String as brokers send it.
const usualProperty = 32

// PropertiesOf returns the properties of a packet that a server sends.
func PropertiesOf(p Packet) Properties {
	switch p := p.(type) {
	case Connack:
		return p.Properties
	case Publish:
		return p.Properties
	case Ack:
		return p.Properties
	case Suback:
		return p.Properties
	case Unsuback:
		return p.Properties
	case Disconnect:
		return p.Properties
	case Auth:
		return p.Properties
	}
	return nil
}
