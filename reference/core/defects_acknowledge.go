package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// acknowledgementDefects are faults in Packet Identifiers, and in what an
// acknowledgement ends.
var acknowledgementDefects = []Defect{
	{"identifiers-restart", []string{"v311/MQTT-4.3.2-1", "v311/MQTT-4.3.3-1", "v311/MQTT-2.3.1-4", "v5/MQTT-4.3.2-1", "v5/MQTT-4.3.3-1", "v5/MQTT-2.2.1-4", "v311/MQTT-3.3.1-1", "v5/MQTT-3.3.1-1", "v5/MQTT-4.4.0-1"},
		"Packet Identifiers of deliveries start at 1 on each connection, whatever is open.", Run,
		func(r *rules) {
			r.attached = func(_ *Server, se *session, _ bool) { se.nextID = 0 }
			r.freeID = func(_ *outbox, id uint16) bool { return id != 0 }
		}},
	{"identifier-kept-by-subscribe", []string{"v311/4.3.2-identifier-reuse", "v5/2.2.1-identifier-reuse"},
		"What is published under the Packet Identifier of an earlier SUBSCRIBE is lost.", Run,
		func(r *rules) {
			used := map[*conn]map[uint16]bool{}
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				switch p := p.(type) {
				case *packet.Subscribe:
					if used[c] == nil {
						used[c] = map[uint16]bool{}
					}
					used[c][p.ID] = true
				case *packet.Publish:
					if p.QoS > 0 && used[c][p.ID] {
						return nil
					}
				}
				return p
			}
		}},
	{"identifiers-of-both-directions-mixed", []string{"v311/2.3.1-directions-independent", "v5/2.2.1-identifier-directions-independent"},
		"A publication of a client ends the delivery that has the same Packet Identifier.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.QoS > 0 && c.session.byID[m.ID] != nil {
					c.session.finish(c.session.byID[m.ID])
				}
				return p
			}
		}},
	{"subscribe-ends-publication", []string{"v5/2.2.1-identifier-set-shared"},
		"A SUBSCRIBE ends the open publication that has the same Packet Identifier.", Warn,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Subscribe); ok {
					delete(c.session.pending, m.ID)
				}
				return p
			}
		}},
	{"stalled-by-another", []string{"v311/4.3-independent-receivers"},
		"A message is delivered to nobody while one of its receivers leaves 20 others open.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				for se := range found {
					if se.conn != nil && len(se.byID)+len(se.queue) >= 20 {
						clear(found)
						return
					}
				}
			}
		}},
	{"pubrec-with-reason-unanswered", []string{"v5/MQTT-4.3.3-4"}, "A PUBREC with a Reason String gets no PUBREL.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBREC && a.Properties.ReasonString != nil {
					return nil
				}
				return p
			}
		}},
	{"failing-pubrec-as-good", []string{"v5/4.9-quota-pubrec-error", "v5/MQTT-4.3.3-4"}, "The code of PUBREC is not looked at.", Run,
		func(r *rules) { r.readsPubrecCode = false }},
	{"failing-acks-ignored", []string{"v5/MQTT-4.4.0-2", "v5/4.9-quota-puback-error", "v5/4.9-quota-pubrec-error"},
		"A PUBACK or PUBREC with a code of 0x80 or above settles nothing.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Code >= 0x80 {
					return nil
				}
				return p
			}
		}},
	{"refused-identifier-kept", []string{"v5/MQTT-4.3.3-9"}, "A Packet Identifier is in use after a PUBREC that refuses.", Hook,
		func(r *rules) {
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBREC && a.Code >= 0x80 {
					c.session.pending[a.ID] = true
				}
				return []packet.Packet{p}
			}
		}},
	{"open-outlives-session", []string{"v5/MQTT-4.4.0-1", "v311/MQTT-3.1.4-3", "v5/MQTT-3.1.4-4"}, "What is open is sent again also in a new Session of the client.", Run,
		func(r *rules) {
			left := map[string]outbox{}
			r.sessionEnded = func(_ *Server, se *session) {
				se.outbox.queue, se.outbox.queueBytes, se.outbox.queued0 = nil, 0, 0
				left[se.id] = se.outbox
			}
			r.attached = func(_ *Server, se *session, resumed bool) {
				if old, ok := left[se.id]; ok && !resumed {
					se.outbox = old
				}
			}
		}},
	{"pubrel-unknown-closes", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-11"}, "A PUBREL for an unknown Packet Identifier closes the connection.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBREL && !c.session.pending[a.ID] {
					s.fail(c, packet.ProtocolError, "there is nothing to be released")
					return nil
				}
				return p
			}
		}},
	{"any-ack-settles", []string{"v5/4.3-wrong-ack-type"}, "A delivery is settled by an acknowledgement of the other QoS.", Warn,
		func(r *rules) { r.settlesByAny = true }},
}
