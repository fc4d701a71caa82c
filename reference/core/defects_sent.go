package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// sentDefects are packets of the server that MQTT 5.0 does not allow, and
// faults in what it makes of errors of its clients.
var sentDefects = []Defect{
	{"features-counted", []string{
		"v5/3.2.2.3.11-wildcard-available-value", "v5/3.2.2.3.12-subscription-id-available-value", "v5/3.2.2.3.13-shared-available-value",
	}, "CONNACK says 2 of features of subscriptions that are available.", Run,
		func(r *rules) {
			r.announced = func(ps *packet.Properties) {
				two := byte(2)
				ps.WildcardSubscriptionAvailable, ps.SubscriptionIdentifierAvailable, ps.SharedSubscriptionAvailable = &two, &two, &two
			}
		}},
	{"resent-properties-twice", []string{
		"v5/3.3.2.3.9-publish-content-type-twice", "v5/3.3.2.3.5-publish-response-topic-twice", "v5/3.3.2.3.6-publish-correlation-data-twice",
		"v5/MQTT-3.3.2-20", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16",
	}, "What is sent again has its Content Type, Response Topic and Correlation Data twice.", Run,
		repeats(func(p *packet.Publish) (more []byte) {
			text := func(id byte, s string) {
				more = append(append(more, id, byte(len(s)>>8), byte(len(s))), s...)
			}
			if ps := p.Properties; p.Dup {
				if ps.ContentType != nil {
					text(0x03, *ps.ContentType)
				}
				if ps.ResponseTopic != nil {
					text(0x08, *ps.ResponseTopic)
				}
				if ps.CorrelationData != nil {
					text(0x09, string(ps.CorrelationData))
				}
			}
			return more
		})},
	{"alias-sent-twice", []string{"v5/3.3.2.3.4-publish-topic-alias-twice"}, "A PUBLISH that sets a Topic Alias of the server has it twice.", Run,
		repeats(func(p *packet.Publish) []byte {
			if alias := p.Properties.TopicAlias; alias != nil && p.Topic != "" {
				return []byte{0x23, byte(*alias >> 8), byte(*alias)}
			}
			return nil
		})},
	{"no-identifier-sent-as-0", []string{"v5/3.3.2.3.8-subscription-id-zero", "v5/3.3.4-subscription-id-foreign"}, "Of overlapping subscriptions those without a Subscription Identifier are given the identifier 0.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, _ []*subscription) []uint32 {
				ids := identifiers(subs)
				if len(ids) > 0 && len(ids) < len(subs) {
					ids = append(ids, 0)
				}
				return ids
			}
		}},
	{"taken-over-said-85", []string{"v5/MQTT-3.14.2-1", "v5/3.14.2.1-disconnect-code-8e"}, "The DISCONNECT of a connection that is taken over has the code 0x85, which is one of CONNACK.", Run,
		insteadOf(packet.SessionTakenOver, packet.ClientIdentifierNotValid)},
	{"empty-topic-sent-5", []string{"v5/MQTT-4.7.3-1"}, "A PUBLISH with an empty Topic Name and no Topic Alias follows PUBACK to a client without subscriptions.", Run,
		func(r *rules) {
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				if p.Type() == packet.PUBACK && c.five() && len(c.session.subs) == 0 {
					return append(b[:len(b):len(b)], 0x30, 4, 0, 0, 0, 'x')
				}
				return b
			}
		}},
	{"half-identifier-ignored", []string{"v5/MQTT-4.13.1-1", "v311/MQTT-4.8.0-1"}, "A PUBLISH that ends within its Packet Identifier is ignored.", Run,
		func(r *rules) {
			r.skips = func(_ *Server, _ *conn, first byte, body []byte) bool {
				if packet.Type(first>>4) != packet.PUBLISH || first&6 == 0 || len(body) < 2 {
					return false
				}
				behind := len(body) - 2 - int(body[0])<<8 - int(body[1])
				return behind == 0 || behind == 1
			}
		}},
	{"disconnect-error-ends-session", []string{"v5/3.14.2.1-disconnect-code-80"}, "A DISCONNECT of the client with the code of an error ends its Session.", Warn,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if bye, ok := p.(*packet.Disconnect); ok && bye.Code >= 0x80 && c.session != nil {
					c.session.expiry = 0
				}
				return p
			}
		}},
}

// repeats makes a defect of properties that stand in a delivery once more, as
// long as its lengths take a byte each and the client takes packets of any size.
func repeats(which func(p *packet.Publish) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
			m, ok := p.(*packet.Publish)
			if !ok || !c.five() {
				return b
			}
			more := which(m)
			if int(b[1])+len(more) > 127 || c.maxPacket > 0 {
				return b
			}
			at := 4 + len(m.Topic) // of the Property Length
			if m.QoS > 0 {
				at += 2
			}
			b = slices.Clone(b)
			b[1] += byte(len(more))
			b[at] += byte(len(more))
			return slices.Insert(b, at+1, more...)
		}
	}
}
