package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// stateDefects are the faults in section 4.1: what is part of the Session
// State; and in what a Session and a CONNECT have to do with a will.
var stateDefects = []Defect{
	{"inbound-qos2-forgotten", []string{"v311/3.1.2.4-inbound-qos2-in-session", "v311/MQTT-4.3.3-2", "v5/4.1-qos2-receiver-state", "v5/MQTT-4.3.3-10"}, "QoS 2 messages that wait for PUBREL are forgotten with the connection.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, _ ending) { se.inbox = newInbox() }
		}},
	{"inbound-qos2-survives-clean", []string{"v311/MQTT-3.1.2-6", "v5/MQTT-3.1.2-4"}, "A clean start leaves the QoS 2 messages that wait for PUBREL.", Run,
		func(r *rules) {
			old := map[string]inbox{}
			r.detached = func(_ *Server, se *session, _ ending) { old[se.id] = se.inbox }
			r.attached = func(_ *Server, se *session, resumed bool) {
				if in, known := old[se.id]; known && !resumed {
					se.inbox = in
				}
			}
		}},
	{"takeover-cleans-up-late", []string{"v311/MQTT-4.1.0-2", "v5/MQTT-4.1.0-1"}, "A second after a connection was taken over the subscriptions of its Client Identifier are removed.", Run,
		func(r *rules) {
			taken := map[string]time.Time{}
			r.detached = func(s *Server, se *session, why ending) {
				if why == takenOver {
					taken[se.id] = s.now
				}
			}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if c.session == nil {
					return p // still authenticating
				}
				if at, ok := taken[c.session.id]; ok && s.now.Sub(at) > s.seconds(1) {
					delete(taken, c.session.id)
					for _, sub := range c.session.subs {
						s.removeSubscription(c.session, sub)
					}
				}
				return p
			}
		}},
	{"will-once-per-session", []string{"v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8"}, "A Session publishes one will, and none for its later connections.", Run,
		func(r *rules) {
			spent := map[*session]bool{}
			r.publishesWill = func(c *conn, why ending) bool {
				first := !spent[c.session]
				if why == disconnected || why == stopping {
					return false
				}
				spent[c.session] = true
				return first
			}
		}},
	{"will-at-next-connect", []string{"v311/MQTT-3.1.2-10", "v5/MQTT-3.1.2-10"}, "DISCONNECT leaves the will in a Session that is stored, and it is published when the client comes again.", Run,
		func(r *rules) {
			kept := map[*session]*will{}
			r.publishesWill = func(c *conn, why ending) bool {
				if why == disconnected && c.session.expiry > 0 {
					kept[c.session] = c.will
				}
				return why != disconnected && why != stopping
			}
			r.attached = func(s *Server, se *session, _ bool) {
				if w := kept[se]; w != nil {
					delete(kept, se)
					m := *w.message
					s.deliverAll(&m)
				}
			}
		}},
	{"empty-will-dropped", []string{"v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"}, "A will without a payload is taken for none.", Run,
		func(r *rules) {
			r.storedWill = func(_ *session, w *will) *will {
				if len(w.message.payload) == 0 {
					return nil
				}
				return w
			}
		}},
	{"refused-will-published", []string{"v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8"}, "The will of a CONNECT that is refused is published.", Run,
		func(r *rules) {
			var last *packet.Connect
			r.connect = func(p *packet.Connect) *packet.Connect {
				last = p
				return p
			}
			r.afterRefusal = func(s *Server, c *conn) {
				s.close(c, failed)
				if w := last.Will; w != nil {
					s.deliverAll(&message{topic: w.Topic, payload: w.Payload, qos: w.QoS, arrived: s.now})
				}
			}
		}},
	{"pieces-keep-alive", []string{"v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22"}, "Each byte that comes restarts the Keep Alive, also of a packet that does not end.", Warn,
		func(r *rules) { r.bytesKeepAlive = true }},
}
