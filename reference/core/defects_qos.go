package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// qosDefects are the faults in sections 4.3 to 4.6 and 3.6.
var qosDefects = []Defect{
	{"pubrel-flags-ignored", []string{"v311/MQTT-3.6.1-1", "v5/MQTT-3.6.1-1"}, "The flag bits of PUBREL are not looked at.", Run,
		tolerate(packet.RulePubrelFlags)},
	{"qos0-as-qos1", []string{
		"v311/MQTT-4.3.1-1", "v311/MQTT-3.8.4-6", "v311/MQTT-2.3.1-5", "v311/MQTT-3.8.4-3", "v5/MQTT-4.3.1-1", "v5/MQTT-3.8.4-8", "v5/MQTT-2.2.1-2", "v5/MQTT-3.8.4-3", "v5/MQTT-3.8.4-5",
	}, "A subscription at QoS 0 gets messages at QoS 1.", Run,
		func(r *rules) {
			r.deliveredQoS = func(m *message, granted byte) byte { return max(min(m.qos, granted), min(1, m.qos)) }
		}},
	{"puback-ignored", []string{
		"v311/MQTT-4.3.2-1", "v311/MQTT-3.10.4-2", "v5/MQTT-4.3.2-3", "v5/MQTT-3.10.4-2", "v5/MQTT-4.4.0-2", "v5/4.9-quota-puback-error",
		"v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5",
	}, "PUBACK does not finish a delivery.", Run,
		func(r *rules) { r.finishes = func(d *delivery) bool { return d.qos != 1 } }},
	{"qos1-forgotten", []string{
		"v311/MQTT-4.3.2-1", "v311/MQTT-4.4.0-1", "v311/MQTT-3.10.4-3", "v311/MQTT-4.1.0-1",
		"v311/MQTT-4.6.0-1",
		"v5/4.6-server-resend-order", "v5/MQTT-3.10.4-3", "v5/MQTT-4.1.0-1", "v5/MQTT-4.3.2-3", "v5/MQTT-4.4.0-1", "v311/MQTT-3.1.2-4", "v5/3.3.2.3.4-alias-unknown",
	}, "An open delivery at QoS 1 is not sent again.", Run,
		func(r *rules) { r.resends = func(_ *conn, d *delivery) bool { return d.qos != 1 } }},
	{"qos2-forgotten", []string{"v311/MQTT-4.3.3-1", "v311/MQTT-4.4.0-1", "v5/MQTT-4.3.3-3", "v5/MQTT-4.4.0-1", "v5/MQTT-4.8.2-4"}, "An open delivery at QoS 2 is not sent again.", Run,
		func(r *rules) { r.resends = func(_ *conn, d *delivery) bool { return d.qos != 2 || d.released > 0 } }},
	{"pubrel-forgotten", []string{"v311/MQTT-4.3.3-1", "v311/MQTT-4.4.0-1", "v5/MQTT-4.3.3-5", "v5/MQTT-4.4.0-1", "v5/MQTT-4.8.2-4"}, "An open PUBREL is not sent again.", Run,
		func(r *rules) { r.resends = func(_ *conn, d *delivery) bool { return d.released == 0 } }},
	{"pubrec-forgotten", []string{"v311/MQTT-4.3.3-1", "v311/MQTT-4.4.0-1", "v5/MQTT-4.3.3-6", "v5/MQTT-4.4.0-1", "v311/4.3.2-identifier-reuse", "v5/2.2.1-identifier-reuse", "v5/4.13.2-error-acks-harmless", "v5/MQTT-3.1.2-25", "v5/MQTT-4.8.2-4"}, "After PUBREC the PUBLISH is sent again.", Run,
		func(r *rules) { r.remembersPubrec = false }},
	{"pubrel-not-sent", []string{"v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-4"}, "PUBREC gets no PUBREL where the Session is stored.", Run,
		func(r *rules) { r.sendsPubrel = func(c *conn) bool { return c.session.expiry == 0 } }},
	{"pubcomp-ignored", []string{"v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-5", "v5/MQTT-4.4.0-2", "v5/4.9-quota-puback-error", "v5/4.9-quota-pubrec-error", "v5/MQTT-4.8.2-6"}, "PUBCOMP does not finish a delivery.", Run,
		func(r *rules) { r.finishes = func(d *delivery) bool { return d.qos != 2 } }},
	{"qos1-dup-dropped", []string{"v311/MQTT-4.3.2-2", "v5/MQTT-4.3.2-5", "v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1"}, "A PUBLISH at QoS 1 with DUP 1 is taken for a repetition.", Run,
		func(r *rules) { r.takesAsNew = func(_ *conn, p *packet.Publish) bool { return !p.Dup } }},
	{"qos2-repeated-delivered", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10", "v311/3.1.2.4-inbound-qos2-in-session"}, "A repeated PUBLISH at QoS 2 is passed on again.", Run,
		func(r *rules) { r.takesRepeatsAsNew = true }},
	{"qos2-never-released", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-12"}, "A Packet Identifier is never taken as new after PUBREL.", Run,
		func(r *rules) { r.releasesIncoming = false }},
	{"qos2-forgotten-on-drop", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10", "v311/3.1.2.4-inbound-qos2-in-session", "v5/4.1-qos2-receiver-state"}, "Identifiers of QoS 2 publications are forgotten with the connection.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, _ ending) { se.pending = map[uint16]bool{} }
		}},
	{"pubrel-unknown-unanswered", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-11"}, "A second PUBREL gets no PUBCOMP.", Run,
		func(r *rules) { r.answersUnknownRelease = false }},
	{"ack-id-swapped", []string{
		"v311/MQTT-2.3.1-6", "v311/MQTT-3.3.4-1", "v311/MQTT-4.3.2-2", "v311/MQTT-4.3.3-2", "v5/MQTT-2.2.1-5", "v5/MQTT-3.3.4-1",
		"v5/MQTT-4.3.2-4", "v5/MQTT-4.3.3-8", "v5/4.12.1-traffic-goes-on", "v5/MQTT-4.3.3-10",
	}, "PUBACK and PUBREC have the bytes of their identifier swapped.", Run,
		func(r *rules) { r.ackID = swapBytes }},
	{"pubcomp-id-swapped", []string{"v311/MQTT-2.3.1-6", "v311/MQTT-4.3.3-2", "v5/MQTT-2.2.1-5", "v5/MQTT-4.3.3-11", "v311/3.1.2.4-inbound-qos2-in-session", "v5/4.1-qos2-receiver-state"}, "PUBCOMP has the bytes of its identifier swapped.", Run,
		func(r *rules) { r.releaseID = swapBytes }},
	{"packet-id-0", []string{
		"v311/MQTT-2.3.1-1", "v311/MQTT-2.3.1-4", "v5/MQTT-2.2.1-4", "v311/MQTT-4.3.2-1", "v311/MQTT-4.3.3-1", "v5/MQTT-4.3.2-1",
		"v5/MQTT-4.3.2-2", "v5/MQTT-4.3.3-1", "v5/MQTT-4.3.3-2",
	}, "Deliveries have the Packet Identifier 0.", Run,
		func(r *rules) { r.packetID = func(uint16) uint16 { return 0 } }},
	{"packet-id-constant", []string{
		"v311/MQTT-2.3.1-4", "v5/MQTT-2.2.1-4", "v5/MQTT-4.4.0-1", "v311/MQTT-4.3.2-1", "v311/MQTT-4.3.3-1", "v5/MQTT-4.3.2-1", "v5/MQTT-4.3.3-1", "v5/3.3.2.3.4-alias-unknown", "v5/4.8.2-leave-on-session-end", "v5/4.8.2-one-member-gets-it", "v5/MQTT-3.3.1-1", "v311/MQTT-3.3.1-1",
	}, "All open deliveries have the same Packet Identifier.", Run,
		func(r *rules) { r.packetID = func(uint16) uint16 { return 1 } }},
	{"resent-id-new", []string{"v311/MQTT-4.4.0-1", "v311/MQTT-2.3.1-4", "v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-3", "v5/MQTT-4.3.3-5", "v5/MQTT-4.4.0-1", "v5/MQTT-4.8.2-4"}, "What is sent again has a new Packet Identifier.", Run,
		func(r *rules) {
			r.renumbers = func(o *outbox, d *delivery) {
				if d.sent {
					delete(o.byID, d.id)
					d.id += 1000
					o.byID[d.id] = d
				}
			}
		}},
	{"resend-reversed", []string{"v311/MQTT-4.6.0-1", "v5/4.6-server-resend-order"}, "Open messages are sent again in reverse order.", Run,
		func(r *rules) {
			r.resendOrder = func(open []*delivery) []*delivery {
				reversed := slices.Clone(open)
				slices.Reverse(reversed)
				return reversed
			}
		}},
	{"pubrel-lifo", []string{"v311/MQTT-4.6.0-4", "v5/4.6-server-resend-order"}, "PUBRELs wait for the last PUBREC and come in reverse order.", Run,
		func(r *rules) {
			held := map[*conn][]packet.Packet{}
			r.outgoing = func(s *Server, c *conn, p packet.Packet) []packet.Packet {
				a, ok := p.(*packet.Ack)
				if !ok || a.Kind != packet.PUBREL {
					return []packet.Packet{p}
				}
				out := append([]packet.Packet{p}, held[c]...)
				held[c] = nil
				if slices.ContainsFunc(c.session.open, func(d *delivery) bool { return d.qos == 2 && d.sent && d.released == 0 }) {
					held[c], out = out, nil
				}
				return out
			}
		}},
	{"queue-lifo", []string{"v311/MQTT-4.6.0-6", "v5/MQTT-4.6.0-5", "v311/MQTT-4.6.0-1", "v5/4.6-server-resend-order"}, "What is queued is sent last in first out.", Run,
		func(r *rules) { r.nextInQueue = func(queue []*delivery) int { return len(queue) - 1 } }},
	{"order-swapped", []string{"v311/MQTT-4.6.0-6", "v311/MQTT-4.6.0-5", "v311/MQTT-4.6.0-1", "v5/MQTT-4.6.0-5", "v5/MQTT-4.6.0-6", "v5/4.6-server-resend-order", "v311/4.3-independent-receivers", "v311/MQTT-2.3.1-4", "v311/MQTT-4.5.0-1", "v5/3.3.4-subscription-id-shared", "v5/4.8.2-groups-independent", "v5/4.8.2-one-member-gets-it", "v5/4.8.2-resubscribe-no-double", "v5/4.8.2-shared-and-plain", "v5/4.8.2-unsubscribe-full-filter", "v5/MQTT-2.2.1-4", "v5/MQTT-4.8.2-3"}, "Every other message changes places with the next.", Run,
		func(r *rules) {
			var held packet.Packet
			r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
				m, ok := p.(*packet.Publish)
				if !ok || len(m.Payload) == 0 || m.Payload[0] < '0' || m.Payload[0] > '9' {
					return []packet.Packet{p}
				}
				if string(m.Payload) == "3" {
					held = p
					return nil
				}
				if string(m.Payload) == "4" && held != nil {
					out := []packet.Packet{p, held}
					held = nil
					return out
				}
				return []packet.Packet{p}
			}
		}},
	{"one-session-only", []string{"v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1", "v311/4.7.2-dollar-explicit-filter", "v311/MQTT-3.3.1-9", "v5/4.8.2-shared-and-plain", "v5/4.7.2-dollar-explicit-filter"}, "A message reaches one of the clients with a matching subscription.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				first := ""
				for se := range found {
					if first == "" || se.id < first {
						first = se.id
					}
				}
				for se := range found {
					if se.id != first {
						delete(found, se)
					}
				}
			}
		}},
	{"pubrel-id-swapped", []string{
		"v311/MQTT-2.3.1-6", "v311/MQTT-3.10.4-3", "v311/MQTT-4.3.3-1", "v311/MQTT-4.4.0-1", "v311/MQTT-4.6.0-4", "v5/MQTT-2.2.1-5",
		"v5/4.6-server-resend-order", "v5/MQTT-3.10.4-3", "v5/MQTT-4.3.3-4", "v5/MQTT-4.4.0-1", "v5/MQTT-4.8.2-4",
	}, "PUBREL has the bytes of its identifier swapped.", Run,
		func(r *rules) {
			r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBREL {
					swapped := *a
					swapped.ID = swapBytes(a.ID)
					return []packet.Packet{&swapped}
				}
				return []packet.Packet{p}
			}
		}},
}
