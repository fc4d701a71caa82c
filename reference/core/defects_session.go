package core

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
		func(r *rules) { r.startsClean = func(_, _ bool) bool { return false } }},
	{"always-clean", []string{"v311/MQTT-3.1.2-4"}, "A stored Session is never resumed.", Run,
		func(r *rules) { r.startsClean = func(_, _ bool) bool { return true } }},
	{"clean-session-takes-retained", []string{"v311/MQTT-3.1.2-7"}, "The end of a Session takes the retained messages of its client with it.", Run,
		func(r *rules) {
			r.sessionEnded = func(s *Server, se *session) {
				for name, m := range s.retained {
					if m.publisher == se.id {
						delete(s.retained, name)
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
	{"sessions-mixed-up", []string{"v311/MQTT-3.1.3-2"}, "A client gets the queue of another Session.", Run,
		func(r *rules) {
			r.queueOf = func(s *Server, se *session) *session {
				if se.conn != nil {
					return se
				}
				for _, other := range s.sessions {
					if other != se && other.conn == nil && len(other.subs) > 0 {
						return other
					}
				}
				return se
			}
		}},
	{"session-subscriptions-lost", []string{"v311/MQTT-4.1.0-1"}, "The second resumption of a Session finds no subscriptions.", Run,
		func(r *rules) {
			r.resumed = func(s *Server, se *session) {
				if se.resumptions++; se.resumptions < 2 {
					return
				}
				for _, sub := range se.subs {
					s.removeSubscription(se, sub)
				}
			}
		}},
	{"quiet-subscriptions-lost", []string{"v311/MQTT-4.1.0-2", "v5/MQTT-4.1.0-1"}, "A client loses its subscriptions after a while.", Run,
		func(r *rules) { r.subscriptionSeconds = 1 }},
}

// willDefects are the faults in sections 3.1.2.5 to 3.1.2.7.
var willDefects = []Defect{
	{"will-never-published", []string{"v311/MQTT-3.1.2-8"}, "No will is published.", Run,
		func(r *rules) { r.publishesWill = func(*conn, ending) bool { return false } }},
	{"will-not-on-drop", []string{"v311/MQTT-3.1.2-8"}, "A will is not published when the network connection breaks.", Run,
		func(r *rules) { r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != dropped } }},
	{"will-not-on-error", []string{"v311/MQTT-3.1.2-8"}, "A will is not published when the client breaks the protocol.", Run,
		func(r *rules) { r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != failed } }},
	{"will-not-on-keep-alive", []string{"v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22"}, "A will is not published when the Keep Alive runs out.", Run,
		func(r *rules) { r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != silent } }},
	{"will-at-connect", []string{"v311/MQTT-3.1.2-8"}, "The will is published as soon as the client connects, too.", Run,
		func(r *rules) { r.willAtConnect = true }},
	{"will-after-disconnect", []string{"v311/MQTT-3.14.4-3", "v5/MQTT-3.14.4-3"}, "A will is published after DISCONNECT.", Run,
		func(r *rules) { r.publishesWill = func(*conn, ending) bool { return true } }},
	{"will-kept", []string{"v311/MQTT-3.1.2-10", "v5/MQTT-3.1.2-10"}, "A will is left for the next connection of the client.", Run,
		func(r *rules) { r.keepsWill = true }},
	{"will-qos-0", []string{"v311/MQTT-3.1.2-9", "v5/MQTT-3.1.2-9"}, "A will is published at QoS 0.", Run,
		func(r *rules) {
			r.storedWill = func(w *will) *will { w.message.qos = 0; return w }
		}},
	{"will-payload-text", []string{"v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"}, "The payload of a will ends at a zero byte.", Run,
		func(r *rules) {
			r.storedWill = func(w *will) *will {
				for i, b := range w.message.payload {
					if b == 0 {
						w.message.payload = w.message.payload[:i]
						break
					}
				}
				return w
			}
		}},
	{"will-payload-lost", []string{"v311/MQTT-3.1.3-1", "v5/MQTT-3.1.3-1"}, "A will takes the User Name for its payload.", Run,
		func(r *rules) { r.willPayloadUser = true }},
	{"will-always-retained", []string{"v311/MQTT-3.1.2-16", "v5/MQTT-3.1.2-14"}, "A will is retained whatever Will Retain says.", Run,
		func(r *rules) { r.storedWill = func(w *will) *will { w.message.retain = true; return w } }},
	{"will-never-retained", []string{"v311/MQTT-3.1.2-17", "v5/MQTT-3.1.2-15"}, "A will is not retained whatever Will Retain says.", Run,
		func(r *rules) { r.storedWill = func(w *will) *will { w.message.retain = false; return w } }},
	{"will-for-everybody", []string{"v311/MQTT-3.1.2-12"}, "A client that has no will has one all the same.", Run,
		func(r *rules) { r.inventsWill = true }},
}
