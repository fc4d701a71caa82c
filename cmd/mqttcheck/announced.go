package main

import (
	"fmt"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// limit is a property with which a 5.0 broker says in CONNACK what it can do.
type limit struct {
	id    wire.PropertyID
	name  string
	lacks string // the feature that the value 0 takes away, as probe calls it
}

// limits are the announcements that a report shows [v5/3.2.2.3].
var limits = []limit{
	{wire.MaximumQoS, "Maximum QoS", ""},
	{wire.RetainAvailable, "Retain Available", "retain"},
	{wire.WildcardSubscriptionAvailable, "Wildcard Subscription Available", "wildcard"},
	{wire.SharedSubscriptionAvailable, "Shared Subscription Available", "shared"},
	{wire.SubscriptionIdentifierAvailable, "Subscription Identifiers Available", "subscription-ids"},
	{wire.ReceiveMaximum, "Receive Maximum", ""},
	{wire.TopicAliasMaximum, "Topic Alias Maximum", ""},
	{wire.MaximumPacketSize, "Maximum Packet Size", ""},
	{wire.ServerKeepAlive, "Server Keep Alive", ""},
	{wire.SessionExpiryInterval, "Session Expiry Interval", ""},
}

// learn takes in what the CONNACK of 5.0 announces. In 3.1.1 nothing is
// announced: see inquire.
func (o *offer) learn(ack wire.Connack) {
	for _, p := range ack.Properties {
		for _, l := range limits {
			if p.ID != l.id {
				continue
			}
			o.announced[l.name] = fmt.Sprint(p.Int)
			if l.lacks != "" && p.Int == 0 {
				o.lacks["v5:"+l.lacks] = fmt.Sprintf("CONNACK says %s = 0", l.name)
			}
		}
		if p.ID == wire.MaximumQoS && p.Int < 2 {
			o.lacks["v5:qos2"] = fmt.Sprintf("CONNACK says Maximum QoS = %d", p.Int)
			if p.Int == 0 {
				o.lacks["v5:qos1"] = o.lacks["v5:qos2"]
			}
		}
	}
}
