package specs

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// announcements are what CONNACK may say of the server, and what it means where
// it says nothing.
var announcements = []struct {
	key, name string
	id        wire.PropertyID
	absent    string
}{
	{"v5/3.2.2.3.2-session-expiry", "Session Expiry Interval", wire.SessionExpiryInterval, "that of the client"},
	{"v5/3.2.2.3.3-receive-maximum", "Receive Maximum", wire.ReceiveMaximum, "65535"},
	{"v5/3.2.2.3.4-maximum-qos", "Maximum QoS", wire.MaximumQoS, "2"},
	{"v5/3.2.2.3.5-retain-available", "Retain Available", wire.RetainAvailable, "1"},
	{"v5/3.2.2.3.6-maximum-packet-size", "Maximum Packet Size", wire.MaximumPacketSize, "no limit"},
	{"v5/3.2.2.3.8-topic-alias-maximum", "Topic Alias Maximum", wire.TopicAliasMaximum, "0"},
	{"v5/3.2.2.3.11-wildcards-available", "Wildcard Subscription Available", wire.WildcardSubscriptionAvailable, "1"},
	{"v5/3.2.2.3.12-subscription-ids-available", "Subscription Identifiers Available", wire.SubscriptionIdentifierAvailable, "1"},
	{"v5/3.2.2.3.13-shared-available", "Shared Subscription Available", wire.SharedSubscriptionAvailable, "1"},
	{"v5/3.2.2.3.14-server-keep-alive", "Server Keep Alive", wire.ServerKeepAlive, "that of the client"},
}

// announcedFreedoms looks at what the server says of itself, and at freedoms
// that hang on it.
func announcedFreedoms(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	It("3.2.2.3 CONNACK tells the limits of the server", v.Observation("v5/3.2.2.3.2-session-expiry-override"), func() {
		c := b.Connect("client", probe.Persistent)
		for _, a := range announcements {
			value := fmt.Sprintf("is not in CONNACK: %s", a.absent)
			if n, given := c.Announced(a.id); given {
				value = fmt.Sprintf("in CONNACK is %d", n)
			}
			probe.Observe(a.key, "%s %s", a.name, value)
		}
	})

	nobody := "v5/3.4.2.1-puback-pubrec-code-10"
	It("3.4.2.1 PUBACK and PUBREC may tell that there is no subscriber", v.Observation(nobody), func() {
		pub := b.Connect("pub")
		pub.Send(wire.Publish{Topic: b.Topic(), QoS: 1, ID: 1, Payload: "unheard"}, wire.Publish{Topic: b.Topic(), QoS: 2, ID: 2, Payload: "unheard"})
		at1, ok1 := pub.Answer(wire.PUBACK).Packet.(wire.Ack)
		at2, ok2 := pub.Answer(wire.PUBREC).Packet.(wire.Ack)
		if !ok1 || !ok2 {
			probe.Inconclusive("a publication that nobody subscribes to is not acknowledged")
		}
		probe.Observe(nobody, "a publication that nobody subscribes to: PUBACK 0x%02x at QoS 1, PUBREC 0x%02x at QoS 2", at1.Code, at2.Code)
	})

	It("3.3.2.3.4 Topic Aliases may be used by the server", v.Observation("v5/3.3.2.3.4-alias-set-and-use"), func() {
		topic := b.Topic()
		sub := b.Connect("sub", probe.Properties(wire.Property{ID: wire.TopicAliasMaximum, Int: 5})).Subscribe(topic, 0)
		pub := b.Connect("pub")
		short := 0
		for range 3 {
			pub.Publish(wire.Publish{Topic: topic, Payload: "again"})
			if sub.Delivery().Topic == "" {
				short++
			}
		}
		probe.Observe("v5/3.3.2.3.4-server-aliases", "%s", map[bool]string{true: "the server uses a Topic Alias when a topic comes again", false: "the server uses no Topic Alias when a topic comes again"}[short > 0])
	})
}
