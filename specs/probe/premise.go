package probe

import (
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// welcome returns the CONNACK that the client got, the zero value without one.
func (c *Client) welcome() wire.Connack {
	r, _ := c.conn.Find(func(r wire.Received) bool {
		_, ok := r.Packet.(wire.Connack)
		return ok
	})
	ack, _ := r.Packet.(wire.Connack)
	return ack
}

// Announced returns the value of a property of the CONNACK that the client
// got, and whether it was given.
func (c *Client) Announced(id wire.PropertyID) (uint32, bool) {
	p, given := c.welcome().Properties.First(id)
	return p.Int, given
}

// Limit returns the number that a property of the CONNACK has, or what its
// absence stands for.
func (c *Client) Limit(id wire.PropertyID, absent uint32) uint32 {
	if n, given := c.Announced(id); given {
		return n
	}
	return absent
}

// MaximumQoS returns the highest QoS at which the client may publish
// [v5/MQTT-3.2.2-11]. In MQTT 3.1.1 no server can limit it.
func (c *Client) MaximumQoS() byte {
	if most, given := c.Announced(wire.MaximumQoS); given && most < 2 {
		return byte(most)
	}
	return 2
}

// honour ends the spec as unsupported where a packet asks for what the broker
// said in CONNACK that it does not offer.
func (c *Client) honour(p wire.Packet) {
	ginkgo.GinkgoHelper()
	if !c.b.V5() {
		return
	}
	lacks := func(id wire.PropertyID, name string) {
		ginkgo.GinkgoHelper()
		if v, given := c.Announced(id); given && v == 0 {
			Unsupported("CONNACK says %s = 0", name)
		}
	}
	switch p := p.(type) {
	case wire.Connect:
		if p.Will == nil || c.url != c.b.Target.URL {
			return
		}
		if why, ok := c.b.Lacks["v5:retain"]; ok && p.Will.Retain {
			Unsupported("%s", why)
		}
		for qos := byte(1); qos <= p.Will.QoS; qos++ {
			if why, ok := c.b.Lacks["v5:qos"+string('0'+rune(qos))]; ok {
				Unsupported("%s", why)
			}
		}
	case wire.Publish:
		if most := c.MaximumQoS(); p.QoS > most {
			Unsupported("CONNACK says Maximum QoS = %d", most)
		}
		if p.Retain {
			lacks(wire.RetainAvailable, "Retain Available")
		}
		c.fits(p)
	case wire.Subscribe:
		for _, s := range p.Subscriptions {
			if strings.HasPrefix(s.Filter, "$share/") {
				lacks(wire.SharedSubscriptionAvailable, "Shared Subscription Available")
			}
			if strings.ContainsAny(s.Filter, "#+") {
				lacks(wire.WildcardSubscriptionAvailable, "Wildcard Subscription Available")
			}
		}
		if _, given := p.Properties.First(wire.SubscriptionIdentifier); given {
			lacks(wire.SubscriptionIdentifierAvailable, "Subscription Identifiers Available")
		}
		c.fits(p)
	case wire.Unsubscribe:
		c.fits(p)
	}
}

// fits ends the spec as unsupported where a packet is larger than the broker
// takes [v5/MQTT-3.2.2-15].
func (c *Client) fits(p wire.Packet) {
	ginkgo.GinkgoHelper()
	most, given := c.Announced(wire.MaximumPacketSize)
	if size := len(p.Append(nil, c.b.Version)); given && uint64(size) > uint64(most) {
		Unsupported("the check sends %d bytes, and CONNACK says Maximum Packet Size = %d", size, most)
	}
}

// grantable ends the spec as unsupported where the set-up subscribes in MQTT
// 3.1.1 to what the broker has shown that it does not grant. A spec that is
// about the answer sends its SUBSCRIBE itself.
func (c *Client) grantable(p wire.Subscribe, lower bool) {
	ginkgo.GinkgoHelper()
	if c.b.V5() {
		return // CONNACK says it [honour]
	}
	for _, s := range p.Subscriptions {
		if strings.ContainsAny(s.Filter, "#+") {
			c.b.Lacking("wildcard")
		}
		if s.QoS == 1 && !lower {
			c.b.Lacking("qos1")
		}
		if s.QoS == 2 && !lower {
			c.b.Lacking("qos2")
		}
	}
}
