package core

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// sessionDefects are the faults in sections 3.1.2.4, 3.1.4 and 4.1.
var sessionDefects = []Defect{
	{"session-not-stored", []string{
		"v311/MQTT-3.1.2-4", "v311/MQTT-3.1.4-3", "v311/MQTT-3.2.2-2", "v311/3.1.2.4-session-without-content", "v5/MQTT-3.1.2-5", "v5/MQTT-3.1.4-4",
		"v5/MQTT-3.2.2-3", "v5/MQTT-3.1.2-6", "v5/MQTT-3.1.2-23", "v5/3.1.2.11.2-clean-start-with-expiry", "v5/3.1.2.11.2-session-expiry-max",
		"v5/3.2.2.3.2-session-expiry-override", "v5/3.14.2.2.2-session-expiry-changed", "v5/3.14.2.2.2-session-expiry-kept", "v5/4.1-session-lifetime",
	}, "A Session ends with its connection.", Run,
		func(r *rules) { r.sessionExpiry = func(*conn, uint32) uint32 { return 0 } }},
	{"clean-session-stored", []string{"v311/MQTT-3.1.2-6", "v311/MQTT-3.2.2-3"}, "A clean Session outlives its connection.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if !c.five() {
					return neverExpires
				}
				return seconds
			}
		}},
	{"clean-start-ignored", []string{"v311/MQTT-3.1.2-6", "v311/MQTT-3.1.4-3", "v311/MQTT-3.2.2-1", "v5/MQTT-3.1.2-4", "v5/MQTT-3.1.4-4", "v5/MQTT-3.2.2-2", "v5/3.1.3.2.2-will-on-takeover-clean-start", "v5/MQTT-2.2.1-5", "v5/MQTT-4.4.0-1"}, "A clean start resumes the stored Session.", Run,
		func(r *rules) { r.startsClean = func(*packet.Connect, bool) bool { return false } }},
	{"always-clean", []string{
		"v311/MQTT-3.1.2-4", "v311/MQTT-3.1.4-3", "v311/MQTT-3.2.2-2", "v311/3.1.2.4-session-without-content", "v5/MQTT-3.1.2-5", "v5/MQTT-3.1.4-4",
		"v5/MQTT-3.2.2-3", "v5/MQTT-3.1.2-6", "v5/MQTT-3.1.2-23", "v5/3.1.2.11.2-clean-start-with-expiry", "v5/3.1.2.11.2-session-expiry-max",
		"v5/3.2.2.3.2-session-expiry-override", "v5/3.14.2.2.2-session-expiry-changed", "v5/3.14.2.2.2-session-expiry-kept", "v5/4.1-session-lifetime",
	}, "A stored Session is never resumed.", Run,
		func(r *rules) { r.startsClean = func(*packet.Connect, bool) bool { return true } }},
	{"clean-session-takes-retained", []string{"v311/MQTT-3.1.2-7", "v5/4.1-retained-not-session", "v311/MQTT-3.1.2-17", "v5/MQTT-3.1.2-15"}, "The end of a Session takes the retained messages of its client with it.", Run,
		func(r *rules) {
			r.sessionEnded = func(s *Server, se *session) {
				for _, m := range s.retained.byTopic {
					if m.publisher == se.id {
						s.retained.delete(m.topic)
					}
				}
			}
		}},
	{"takeover-ignored", []string{"v311/MQTT-3.1.4-2", "v5/MQTT-3.1.4-3", "v5/MQTT-3.1.3-7", "v5/3.1.3.2.2-will-on-takeover-clean-start"}, "An older connection of the same Client Identifier stays.", Run,
		func(r *rules) { r.takesOver = func(*conn) bool { return false } }},
	{"offline-not-queued", []string{
		"v311/MQTT-3.1.2-5", "v311/MQTT-3.1.2-4", "v311/MQTT-4.1.0-1", "v311/MQTT-4.5.0-1", "v5/MQTT-3.1.2-5", "v5/MQTT-4.1.0-1", "v5/MQTT-4.5.0-1", "v5/4.13.1-other-sessions-unharmed",
	}, "Nothing is queued for a client that is away.", Run,
		func(r *rules) { r.storesOffline = func(*delivery) bool { return false } }},
	{"offline-qos2-not-queued", []string{"v311/MQTT-3.1.2-5", "v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1", "v311/MQTT-3.1.2-4"}, "QoS 2 messages are not queued for a client that is away.", Run,
		func(r *rules) { r.storesOffline = func(d *delivery) bool { return d.qos != 2 } }},
	{"session-subscriptions-lost", []string{
		"v311/MQTT-4.1.0-1", "v311/MQTT-4.5.0-1", "v5/MQTT-4.1.0-1", "v5/MQTT-4.5.0-1", "v5/MQTT-3.1.2-23", "v5/3.1.2.11.2-clean-start-with-expiry",
		"v5/3.1.2.11.2-session-expiry-max", "v5/3.2.2.3.2-session-expiry-override", "v5/4.1-session-lifetime",
	}, "A Session loses its subscriptions when its client drops the connection.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, why ending) {
				for _, sub := range se.subs {
					if why == dropped {
						s.removeSubscription(se, sub)
					}
				}
			}
		}},
	{"qos2-subscriptions-lost", []string{"v311/MQTT-3.1.2-5", "v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1"}, "A stored Session loses its subscriptions at QoS 2.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, _ ending) {
				for _, sub := range se.subs {
					if sub.qos == 2 {
						s.removeSubscription(se, sub)
					}
				}
			}
		}},
	{"qos0-subscriptions-lost", []string{"v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"}, "A stored Session loses its subscriptions at QoS 0.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, _ ending) {
				for _, sub := range se.subs {
					if sub.qos == 0 {
						s.removeSubscription(se, sub)
					}
				}
			}
		}},
	{"sessions-mixed-up", []string{"v311/MQTT-3.1.3-2", "v5/MQTT-3.1.3-2"}, "What is stored for one Session is given to another with a subscription beside it.", Run,
		func(r *rules) {
			r.matched = func(s *Server, m *message, found map[*session]*match) {
				beside := m.topic[:strings.LastIndexByte(m.topic, '/')+1]
				for se, x := range found {
					if se.conn != nil {
						continue
					}
					for _, other := range s.sessions {
						for filter := range other.subs {
							if other != se && other.conn == nil && filter != m.topic && strings.HasPrefix(filter, beside) {
								x.session = other
							}
						}
					}
				}
			}
		}},
	{"takeover-ignores-clean", []string{"v311/MQTT-3.1.4-3", "v311/MQTT-3.2.2-1", "v5/MQTT-3.1.4-4", "v5/MQTT-3.2.2-2"}, "A clean start is forgotten when an older connection is taken over.", Run,
		func(r *rules) {
			r.startsClean = func(p *packet.Connect, live bool) bool { return p.CleanStart && !live }
		}},
	{"takeover-always-clean", []string{"v311/MQTT-3.1.4-3", "v5/MQTT-3.1.4-4"}, "Taking an older connection over starts a new Session.", Run,
		func(r *rules) {
			r.startsClean = func(p *packet.Connect, live bool) bool { return p.CleanStart || live }
		}},
	{"pings-wear-subscriptions-out", []string{"v311/MQTT-4.1.0-2", "v5/MQTT-4.1.0-1"}, "A connection loses its subscriptions with its third PINGREQ in a row.", Run,
		func(r *rules) {
			pings := map[*conn]int{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if _, ping := p.(*packet.Pingreq); !ping {
					pings[c] = 0
					return p
				}
				if pings[c]++; pings[c] == 3 {
					for _, sub := range c.session.subs {
						s.removeSubscription(c.session, sub)
					}
				}
				return p
			}
		}},
	{"disconnect-ends-session", []string{
		"v311/MQTT-3.1.2-4", "v311/MQTT-3.2.2-2", "v311/3.1.2.4-session-without-content", "v5/MQTT-3.1.2-5", "v5/MQTT-3.2.2-3", "v5/MQTT-3.1.2-6",
		"v5/MQTT-3.1.2-23", "v5/3.14.2.2.2-session-expiry-changed", "v5/3.14.2.2.2-session-expiry-kept",
	}, "DISCONNECT ends the Session too.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, why ending) {
				if why == disconnected {
					se.expiry = 0
				}
			}
		}},
}
