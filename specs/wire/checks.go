package wire

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// codes returns the codes that the version defines for a packet from a server
// [Table 2-6 of MQTT 5.0; section 3.9.3 of MQTT 3.1.1].
func (c *checker) codes(t Type) string {
	if c.version != V5 {
		return map[Type]string{CONNACK: "\x00\x01\x02\x03\x04\x05", SUBACK: "\x00\x01\x02\x80"}[t]
	}
	switch t {
	case CONNACK:
		return "\x00\x80\x81\x82\x83\x84\x85\x86\x87\x88\x89\x8a\x8c\x90\x95\x97\x99\x9a\x9b\x9c\x9d\x9f"
	case PUBACK, PUBREC:
		return "\x00\x10\x80\x83\x87\x90\x91\x97\x99"
	case PUBREL, PUBCOMP:
		return "\x00\x92"
	case SUBACK:
		return "\x00\x01\x02\x80\x83\x87\x8f\x91\x97\x9e\xa1\xa2"
	case UNSUBACK:
		return "\x00\x11\x80\x83\x87\x8f\x91"
	case DISCONNECT:
		// 0x8C stands in Table 2-6 and not in Table 3-10: it is let pass. 0x04
		// is for clients only, which is not said of the code's legality.
		return "\x00\x04\x80\x81\x82\x83\x87\x89\x8b\x8c\x8d\x8e\x8f\x90\x93\x94\x95\x96\x97\x98\x99\x9a\x9b\x9c\x9d\x9e\x9f\xa0\xa1\xa2"
	case AUTH:
		return "\x00\x18\x19"
	}
	return ""
}

func (c *checker) connack(r Received, p Connack) {
	c.accepted = c.accepted || p.Code == 0
	c.judge(ruleConnackCode, r, only([]byte{p.Code}, c.codes(CONNACK)), "CONNACK has a code that the version defines for it")
	c.judge(ruleConnackBits, r, p.Flags&0xfe == 0, "bits 7 to 1 of the Connect Acknowledge Flags are 0")
	if p.Code != 0 {
		c.judge(ruleRefusedPresent, r, !p.SessionPresent(), "a CONNACK that refuses has Session Present 0")
	}
	c.properties(r, CONNACK, p.Properties)
	if c.connect != nil && c.connect.Properties.Number(RequestResponseInformation, 0) == 0 {
		_, given := p.Properties.First(ResponseInformation)
		c.judge(ruleResponseInfo, r, !given, "CONNACK has no Response Information that was not asked for")
	}
}

func (c *checker) ack(r Received, p Ack) {
	rule := map[Type]pair{PUBACK: rulePubackCode, PUBREC: rulePubrecCode, PUBREL: rulePubrelCode, PUBCOMP: rulePubcompCode}[p.Type]
	c.judge(rule, r, only([]byte{p.Code}, c.codes(p.Type)), "%s has a code defined for it", p.Type)
	c.properties(r, p.Type, p.Properties)
}

func (c *checker) publish(r Received, p Publish) {
	c.judge(ruleQoS, r, p.QoS < 3, "a PUBLISH has QoS 0, 1 or 2")
	if p.QoS == 0 {
		c.judge(ruleDupQoS0, r, !p.Dup, "a PUBLISH at QoS 0 has DUP 0")
	} else {
		c.identifier(r, p)
	}
	alias, aliased := p.Properties.First(TopicAlias)
	if aliased {
		c.judge(ruleAliasZero, r, alias.Int != 0, "a Topic Alias is not 0")
		if most, ok := c.announced(TopicAliasMaximum); ok && most > 0 {
			c.judge(ruleAliasMaximum, r, alias.Int <= most, "no Topic Alias is above the client's maximum of %d", most)
		}
	}
	if most, _ := c.announced(TopicAliasMaximum); c.connect != nil && most == 0 {
		c.judge(ruleNoAlias, r, !aliased, "no Topic Alias is used, since the client announced none")
	}
	c.text(r, "the Topic Name", p.Topic)
	c.judge(ruleNoWildcard, r, !strings.ContainsAny(p.Topic, "+#"), "a Topic Name has no wildcard")
	c.judge(ruleTopicEmpty, r, p.Topic != "" || aliased, "a Topic Name is not empty")
	c.properties(r, PUBLISH, p.Properties)
}

// identifier judges the Packet Identifier of a delivery at QoS 1 or 2, and how
// many of them are open.
func (c *checker) identifier(r Received, p Publish) {
	c.judge(ruleNoZeroID, r, p.ID != 0, "a delivery at QoS %d has a Packet Identifier that is not 0", p.QoS)
	again := c.open[p.ID]
	if !p.Dup {
		c.judge(ruleFreeID, r, !again, "a new delivery has a Packet Identifier that is free")
	}
	c.judge(ruleNoLiveResend, r, !p.Dup || !again, "an open message is not sent again on the same connection")
	c.open[p.ID] = true
	if most, ok := c.announced(ReceiveMaximum); ok && most > 0 {
		c.judge(ruleReceiveMaximum, r, len(c.open) <= int(most), "no more deliveries are open than the client's Receive Maximum of %d", most)
	}
}

// text judges a UTF-8 string of the broker.
func (c *checker) text(r Received, what, s string) {
	c.judge(ruleUTF8, r, utf8.ValidString(s), "%s is well-formed UTF-8", what)
	c.judge(ruleNoNUL, r, !strings.ContainsRune(s, 0), "%s holds no NUL", what)
}

// properties judges those of a packet: legal for it, not doubled, values in
// range, strings well formed.
func (c *checker) properties(r Received, t Type, ps Properties) {
	if c.version != V5 {
		return
	}
	counts := map[PropertyID]int{}
	for _, p := range ps {
		counts[p.ID]++
		known, ok := properties[p.ID]
		c.judge(ruleProperties, r, ok && known.in.has(t), "%s is legal in %s", p.ID, t)
		repeats := p.ID == UserProperty || p.ID == SubscriptionIdentifier && t == PUBLISH
		c.judge(ruleProperties, r, repeats || counts[p.ID] == 1, "%s stands once", p.ID)
		c.judge(ruleProperties, r, inRange(p), "%s has a legal value", p.ID)
		switch known.kind {
		case kindString:
			c.text(r, p.ID.String(), p.Str)
		case kindPair:
			c.text(r, "the name of a User Property", p.Pair[0])
			c.text(r, "the value of a User Property", p.Pair[1])
		}
	}
	if quiet := []Type{CONNACK, DISCONNECT, PUBLISH}; !slices.Contains(quiet, t) && c.connect != nil &&
		c.connect.Properties.Number(RequestProblemInformation, 1) == 0 {
		c.judge(ruleProblemInfo, r, counts[ReasonString]+counts[UserProperty] == 0, "%s has no Reason String or User Property, since the client asked for none", t)
	}
}

// inRange tells whether a number property has a value that the text allows.
func inRange(p Property) bool {
	switch p.ID {
	case PayloadFormatIndicator, MaximumQoS, RetainAvailable, WildcardSubscriptionAvailable,
		SubscriptionIdentifierAvailable, SharedSubscriptionAvailable:
		return p.Int <= 1
	case ReceiveMaximum, MaximumPacketSize, SubscriptionIdentifier:
		return p.Int != 0
	}
	return true
}
