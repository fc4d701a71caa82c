package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// sessionDefects are the faults in sections 3.1.2.4, 3.1.4 and 4.1.
var sessionDefects = []Defect{
	{"session-not-stored", []string{"v311/MQTT-3.1.2-4"}, "A Session ends with its connection.", Run,
		func(r *rules) { r.sessionExpiry = func(*conn, uint32) uint32 { return 0 } }},
	{"clean-session-stored", []string{"v311/MQTT-3.1.2-6"}, "A clean Session outlives its connection.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if !c.five() {
					return neverExpires
				}
				return seconds
			}
		}},
	{"clean-start-ignored", []string{"v311/MQTT-3.1.2-6"}, "A clean start resumes the stored Session.", Run,
		func(r *rules) { r.startsClean = func(*packet.Connect, bool) bool { return false } }},
	{"always-clean", []string{"v311/MQTT-3.1.2-4"}, "A stored Session is never resumed.", Run,
		func(r *rules) { r.startsClean = func(*packet.Connect, bool) bool { return true } }},
	{"clean-session-takes-retained", []string{"v311/MQTT-3.1.2-7"}, "The end of a Session takes the retained messages of its client with it.", Run,
		func(r *rules) {
			r.sessionEnded = func(s *Server, se *session) {
				for _, m := range s.retained.byTopic {
					if m.publisher == se.id {
						s.retained.delete(m.topic)
					}
				}
			}
		}},
	{"takeover-ignored", []string{"v311/MQTT-3.1.4-2", "v5/MQTT-3.1.4-3"}, "An older connection of the same Client Identifier stays.", Run,
		func(r *rules) { r.takesOver = func(*conn) bool { return false } }},
	{"offline-not-queued", []string{"v311/MQTT-3.1.2-5"}, "Nothing is queued for a client that is away.", Run,
		func(r *rules) { r.storesOffline = func(*delivery) bool { return false } }},
	{"offline-qos2-not-queued", []string{"v311/MQTT-3.1.2-5"}, "QoS 2 messages are not queued for a client that is away.", Run,
		func(r *rules) { r.storesOffline = func(d *delivery) bool { return d.qos != 2 } }},
	{"session-subscriptions-lost", []string{"v311/MQTT-4.1.0-1"}, "A Session loses its subscriptions when its client drops the connection.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, why ending) {
				for _, sub := range se.subs {
					if why == dropped {
						s.removeSubscription(se, sub)
					}
				}
			}
		}},
}

// willDefects are the faults in sections 3.1.2.5 to 3.1.2.7.
var willDefects = []Defect{
	{"will-never-published", []string{"v311/MQTT-3.1.2-8"}, "No will is published.", Run,
		func(r *rules) { r.publishesWill = func(*conn, ending) bool { return false } }},
	{"will-not-on-drop", []string{"v311/MQTT-3.1.2-8"}, "A will is not published when the network connection breaks.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != dropped }
		}},
	{"will-not-on-error", []string{"v311/MQTT-3.1.2-8"}, "A will is not published when the client breaks the protocol.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != failed }
		}},
	{"will-not-on-keep-alive", []string{"v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22"}, "A will is not published when the Keep Alive runs out.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != silent }
		}},
	{"will-after-disconnect", []string{"v311/MQTT-3.14.4-3", "v5/MQTT-3.14.4-3"}, "A will is published after DISCONNECT.", Run,
		func(r *rules) { r.publishesWill = func(*conn, ending) bool { return true } }},
	{"will-qos-0", []string{"v311/MQTT-3.1.2-9", "v5/MQTT-3.1.2-9"}, "A will is published at QoS 0.", Run,
		func(r *rules) {
			r.storedWill = func(_ *session, w *will) *will { w.message.qos = 0; return w }
		}},
	{"will-payload-text", []string{"v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"}, "The payload of a will ends at a zero byte.", Run,
		func(r *rules) {
			r.storedWill = func(_ *session, w *will) *will {
				for i, b := range w.message.payload {
					if b == 0 {
						w.message.payload = w.message.payload[:i]
						break
					}
				}
				return w
			}
		}},
	{"will-always-retained", []string{"v311/MQTT-3.1.2-16", "v5/MQTT-3.1.2-14"}, "A will is retained whatever Will Retain says.", Run,
		func(r *rules) { r.storedWill = func(_ *session, w *will) *will { w.message.retain = true; return w } }},
	{"will-never-retained", []string{"v311/MQTT-3.1.2-17", "v5/MQTT-3.1.2-15"}, "A will is not retained whatever Will Retain says.", Run,
		func(r *rules) { r.storedWill = func(_ *session, w *will) *will { w.message.retain = false; return w } }},
}
