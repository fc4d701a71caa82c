package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// outcomeDefects are the faults in what SUBACK and UNSUBACK say in MQTT 5.0.
var outcomeDefects = []Defect{
	{"refused-filter-delivers", []string{"v311/MQTT-3.8.4-5", "v5/MQTT-3.8.4-7"}, "A filter that a user may not subscribe to is refused in SUBACK, and its messages come.", Hook,
		func(r *rules) {
			r.enforcesReading = false
			asked := map[*conn][]packet.Subscription{}
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if p, ok := p.(*packet.Subscribe); ok {
					asked[c] = p.Subscriptions
				}
				return p
			}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if p, ok := p.(*packet.Suback); ok && c.session.user != nil {
					for i, sub := range asked[c] {
						if matchesAny(c.session.user.DeniedSubscribe, sub.Filter) {
							p.Codes[i] = packet.UnspecifiedError
						}
					}
				}
				return []packet.Packet{p}
			}
		}},
	{"shared-granted-unsupported", []string{"v5/3.2.2.3.13-shared-not-supported"}, "A server without shared subscriptions grants them.", Warn,
		func(r *rules) { r.enforcesShared = false }},
	{"identifiers-granted-unsupported", []string{"v5/3.2.2.3.12-subscription-id-not-supported"}, "A server without Subscription Identifiers takes them.", Warn,
		func(r *rules) { r.enforcesIdentifiers = false }},
	{"unsuback-reversed", []string{"v5/MQTT-3.11.3-1"}, "The codes of UNSUBACK come in reverse order.", Run,
		func(r *rules) {
			r.unsubackCodes = func(codes []packet.ReasonCode) []packet.ReasonCode {
				reversed := slices.Clone(codes)
				slices.Reverse(reversed)
				return reversed
			}
		}},
	{"unsuback-never-existed", []string{"v5/3.11.3-unsuback-code-11"}, "UNSUBACK says 0x11 also of a subscription that it removes.", Run,
		func(r *rules) {
			r.unsubackCodes = func(codes []packet.ReasonCode) []packet.ReasonCode {
				return slices.Repeat([]packet.ReasonCode{packet.NoSubscriptionExisted}, len(codes))
			}
		}},
	{"unsuback-always-success", []string{"v5/3.11.3-unsuback-code-11"}, "UNSUBACK says 0x00 also where there was no subscription.", Warn,
		func(r *rules) {
			r.unsubackCodes = func(codes []packet.ReasonCode) []packet.ReasonCode {
				return make([]packet.ReasonCode, len(codes))
			}
		}},
	{"unsubscribe-user-property-once", []string{"v5/3.10.2.1.2-user-property-repeats"}, "An UNSUBSCRIBE with several User Properties is refused.", Run,
		userPropertyOnce(func(p packet.Packet) []packet.UserProperty {
			if unsub, ok := p.(*packet.Unsubscribe); ok {
				return unsub.Properties.UserProperties
			}
			return nil
		})},
}
