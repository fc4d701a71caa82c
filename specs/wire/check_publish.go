package wire

import (
	"hash/maphash"
	"strings"
)

func (c *checker) publish(r Received, p Publish) {
	c.judge(ruleQoS, r, p.QoS < 3, "a PUBLISH has QoS 0, 1 or 2")
	switch p.QoS {
	case 0:
		c.judge(ruleDupQoS0, r, !p.Dup, "a PUBLISH at QoS 0 has DUP 0")
	case 1, 2:
		c.identifier(r, p)
	}
	c.text(r, "the Topic Name", p.Topic)
	c.judge(ruleNoWildcard, r, !strings.ContainsAny(p.Topic, "+#"), "a Topic Name has no wildcard")
	_, aliased := p.Properties.First(TopicAlias)
	c.judge(ruleTopicEmpty, r, p.Topic != "" || aliased, "a Topic Name is not empty")
	c.alias(r, p)
	c.properties(r, PUBLISH, p.Properties)
}

// delivery is a message at QoS 1 or 2 on its way to the client.
type delivery struct {
	qos     byte
	message uint64 // a hash of its Topic Name and payload: those may be large
}

var same = maphash.MakeSeed()

// identifier judges the Packet Identifier of a delivery, and how many
// deliveries are open.
func (c *checker) identifier(r Received, p Publish) {
	c.judge(ruleNoZeroID, r, p.ID != 0, "a delivery at QoS %d has a Packet Identifier that is not 0", p.QoS)
	if p.ID == 0 {
		return
	}
	now := delivery{p.QoS, maphash.Comparable(same, [2]string{p.Topic, p.Payload})}
	before, again := c.open[p.ID]
	c.open[p.ID] = now
	if p.QoS == 2 {
		c.delivered[p.ID] = true
	}
	if c.broke {
		return // whether an identifier is free is no longer certain
	}
	switch {
	case again && !p.Dup && before == now:
		c.judge(ruleDupAgain, r, false, "a message that is sent again has DUP 1")
	case p.Dup:
		c.judge(ruleNoLiveResend, r, !again, "an open message is not sent again on the same connection")
	default:
		c.judge(ruleFreeID, r, !again, "a new delivery has a Packet Identifier that is free")
	}
	if most, ok := c.announced(ReceiveMaximum); ok && most > 0 {
		c.judge(ruleReceiveMaximum, r, len(c.open) <= int(most), "no more deliveries are open than the client's Receive Maximum of %d", most)
	}
}

// alias judges the Topic Alias [section 3.3.2.3.4 of MQTT 5.0].
func (c *checker) alias(r Received, p Publish) {
	alias, aliased := p.Properties.First(TopicAlias)
	if c.connect != nil {
		most, _ := c.announced(TopicAliasMaximum)
		if most == 0 {
			c.judge(ruleNoAlias, r, !aliased, "a PUBLISH has no Topic Alias, since the client allows none")
		} else if aliased && (alias.Int > most || c.filters[p.Topic]) {
			// One within the maximum is evidence where the client has asked for
			// its topic: what a broker copies to everybody shows nothing.
			c.judge(ruleAliasMaximum, r, alias.Int <= most, "no Topic Alias is above the client's maximum of %d", most)
		}
	}
	if !aliased {
		return
	}
	c.judge(ruleAliasZero, r, alias.Int != 0, "a Topic Alias is not 0")
	if p.Topic != "" {
		c.aliases[alias.Int] = struct{}{}
	} else if alias.Int != 0 && !c.unread {
		_, known := c.aliases[alias.Int]
		c.judge(ruleAliasUnknown, r, known, "a Topic Alias without Topic Name has been set on this connection")
	}
}
