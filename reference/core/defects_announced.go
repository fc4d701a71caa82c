package core

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// announcedDefects are faults in what CONNACK announces, and in how clients are
// held to it.
var announcedDefects = []Defect{
	{"maximum-qos-unannounced", []string{"v5/MQTT-3.2.2-9"}, "CONNACK has no Maximum QoS where the server takes no higher one.", Hook,
		func(r *rules) { r.announced = func(ps *packet.Properties) { ps.MaximumQoS = nil } }},
	{"qos2-not-taken", []string{"v5/MQTT-3.2.2-9", "v5/MQTT-3.3.4-1", "v5/MQTT-4.3.3-8", "v5/3.3.2.3.4-alias-set-and-use"}, "A PUBLISH at QoS 2 ends the connection though no Maximum QoS is announced.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && c.five() && m.QoS == 2 {
					s.fail(c, packet.QoSNotSupported, "QoS 2 is not supported")
					return nil
				}
				return p
			}
		}},
	{"maximum-qos-limits-subscribe", []string{"v5/MQTT-3.2.2-10"}, "A SUBSCRIBE for a QoS above the Maximum QoS ends the connection.", Hook,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				m, ok := p.(*packet.Subscribe)
				if !ok || !c.five() {
					return p
				}
				for _, asked := range m.Subscriptions {
					if int(asked.QoS) > s.policy.MaximumQoS {
						s.fail(c, packet.QoSNotSupported, "the QoS is above the Maximum QoS")
						return nil
					}
				}
				return p
			}
		}},
	{"maximum-qos-not-enforced", []string{"v5/MQTT-3.2.2-12", "v5/MQTT-3.2.2-11"}, "Publications and wills above the Maximum QoS are taken.", Hook,
		func(r *rules) { r.enforcesMaximumQoS = false }},
	{"retain-available-not-enforced", []string{"v5/MQTT-3.2.2-13", "v5/MQTT-3.2.2-14"}, "Publications and wills with RETAIN 1 are taken where retained messages are not available.", Hook,
		func(r *rules) { r.enforcesRetainAvailable = false }},
	{"limits-without-codes", []string{
		"v5/3.2.2.3.4-publish-above-maximum-qos", "v5/3.2.2.3.5-publish-retain-not-available", "v5/3.2.2.2-connack-code-9a", "v5/3.2.2.2-connack-code-9b",
	}, "What the server has announced not to take is refused with the codes 0x80 and 0x82.", Hook,
		func(r *rules) {
			limit := func(code packet.ReasonCode) bool {
				return code == packet.QoSNotSupported || code == packet.RetainNotSupported
			}
			r.disconnectCode = func(code packet.ReasonCode) packet.ReasonCode {
				if limit(code) {
					return packet.ProtocolError
				}
				return code
			}
			r.refusalCode = func(_ *conn, code packet.ReasonCode) packet.ReasonCode {
				if limit(code) {
					return packet.UnspecifiedError
				}
				return code
			}
		}},
	{"features-unannounced", []string{
		"v5/3.2.2.3.11-wildcard-available-value", "v5/3.2.2.3.12-subscription-id-available-value", "v5/3.2.2.3.13-shared-available-value",
	}, "CONNACK does not say which features of subscriptions are missing.", Hook,
		func(r *rules) {
			r.announced = func(ps *packet.Properties) {
				ps.WildcardSubscriptionAvailable, ps.SubscriptionIdentifierAvailable, ps.SharedSubscriptionAvailable = nil, nil, nil
			}
		}},
	{"features-refused", []string{
		"v5/3.2.2.3.11-wildcard-available-value", "v5/3.2.2.3.12-subscription-id-available-value", "v5/3.2.2.3.13-shared-available-value",
	}, "Wildcards, Subscription Identifiers and shared subscriptions are refused as not available.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				m, ok := p.(*packet.Subscribe)
				if !ok || !c.five() || len(m.Subscriptions) == 0 {
					return p
				}
				filter := m.Subscriptions[0].Filter
				switch {
				case len(m.Properties.SubscriptionIdentifiers) > 0:
					s.fail(c, packet.SubscriptionIdentifiersNotSupported, "Subscription Identifiers are not available")
				case strings.HasPrefix(filter, "$share/"):
					s.fail(c, packet.SharedSubscriptionsNotSupported, "shared subscriptions are not available")
				case strings.ContainsAny(filter, "#+"):
					s.fail(c, packet.WildcardSubscriptionsNotSupported, "wildcard subscriptions are not available")
				default:
					return p
				}
				return nil
			}
		}},
}
