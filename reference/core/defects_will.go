package core

// willDefects are the faults in sections 3.1.2.5 to 3.1.2.7.
var willDefects = []Defect{
	{"will-never-published", []string{
		"v311/MQTT-3.1.2-8", "v311/3.1.2.5-will-on-takeover", "v311/3.1.2.5-will-promptly", "v5/MQTT-3.1.2-8", "v5/3.1.3.2.2-will-at-session-end", "v5/3.1.3.2.2-will-delay-default",
		"v5/3.1.3.2.2-will-on-takeover-clean-start", "v5/3.1.4-takeover-will", "v5/3.14.2.2.2-session-expiry-raised-from-zero", "v5/MQTT-3.1.2-7",
		"v5/3.14-will-unless-normal", "v5/3.14.2.1-disconnect-with-will", "v311/3.1.2.5-will-on-network-drop", "v311/3.1.2.5-will-on-protocol-error", "v5/3.1.2.5-will-on-server-close", "v311/3.1.2.5-will-on-keep-alive", "v5/3.1.2.5-will-on-keep-alive-timeout",
	}, "No will is published.", Run,
		func(r *rules) { r.publishesWill = func(*conn, ending) bool { return false } }},
	{"will-not-on-drop", []string{
		"v311/MQTT-3.1.2-8", "v311/3.1.2.5-will-promptly", "v5/MQTT-3.1.2-8", "v5/3.1.3.2.2-will-at-session-end", "v5/3.1.3.2.2-will-delay-default",
		"v5/MQTT-3.1.2-7", "v311/3.1.2.5-will-on-network-drop",
	}, "A will is not published when the network connection breaks.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != dropped }
		}},
	{"will-not-on-error", []string{"v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8", "v5/3.14.2.2.2-session-expiry-raised-from-zero", "v311/3.1.2.5-will-on-protocol-error", "v5/3.1.2.5-will-on-server-close"}, "A will is not published when the client breaks the protocol.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != failed }
		}},
	{"will-not-on-keep-alive", []string{"v311/3.1.2.5-will-on-keep-alive", "v5/3.1.2.5-will-on-keep-alive-timeout"}, "A will is not published when the Keep Alive runs out.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != silent }
		}},
	{"will-after-disconnect", []string{"v311/MQTT-3.14.4-3", "v311/MQTT-3.1.2-10", "v5/MQTT-3.14.4-3", "v5/MQTT-3.1.2-10", "v5/3.14.2.1-short-form"}, "A will is published after DISCONNECT.", Run,
		func(r *rules) { r.publishesWill = func(*conn, ending) bool { return true } }},
	{"will-qos-0", []string{"v311/MQTT-3.1.2-9", "v5/MQTT-3.1.2-9", "v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"}, "A will is published at QoS 0.", Run,
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
	{"will-always-retained", []string{"v311/MQTT-3.1.2-16", "v5/MQTT-3.1.2-14", "v5/MQTT-3.3.1-13"}, "A will is retained whatever Will Retain says.", Run,
		func(r *rules) { r.storedWill = func(_ *session, w *will) *will { w.message.retain = true; return w } }},
	{"will-never-retained", []string{"v311/MQTT-3.1.2-17", "v5/MQTT-3.1.2-15", "v5/MQTT-3.3.1-13"}, "A will is not retained whatever Will Retain says.", Run,
		func(r *rules) { r.storedWill = func(_ *session, w *will) *will { w.message.retain = false; return w } }},
	{"will-twice", []string{"v311/MQTT-3.1.2-10", "v311/MQTT-3.14.4-3", "v5/MQTT-3.1.2-10", "v5/MQTT-3.14.4-3", "v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary", "v5/MQTT-3.1.2-8", "v5/MQTT-3.8.4-8"}, "A will is published twice.", Run,
		func(r *rules) { r.willCopies = 2 }},
	{"will-inherited", []string{"v311/MQTT-3.1.2-10", "v5/MQTT-3.1.2-10"}, "A connection without a will gets that of the client's earlier one.", Run,
		func(r *rules) {
			last := map[string]*will{}
			r.storedWill = func(se *session, w *will) *will { last[se.id] = w; return w }
			r.missingWill = func(se *session) *will { return last[se.id] }
		}},
	{"will-of-another", []string{"v311/MQTT-3.1.2-12"}, "A client without a will gets the last one of another client.", Run,
		func(r *rules) {
			var last *will
			owner := ""
			r.storedWill = func(se *session, w *will) *will { last, owner = w, se.id; return w }
			r.missingWill = func(se *session) *will {
				if se.id == owner {
					return nil
				}
				return last
			}
		}},
	{"will-invented", []string{"v311/MQTT-3.1.2-12"}, "The last message of a client that has no will is published again when it goes away.", Run,
		func(r *rules) {
			with, last := map[*session]bool{}, map[string]*message{}
			r.storedWill = func(se *session, w *will) *will { with[se] = true; return w }
			r.missingWill = func(se *session) *will { delete(last, se.id); return nil }
			r.accepts = func(m *message) bool { last[m.publisher] = m; return true }
			r.detached = func(s *Server, se *session, why ending) {
				if m := last[se.id]; m != nil && why == dropped && se.expiry == 0 && !with[se] {
					delete(last, se.id)
					again := *m
					s.deliverAll(&again)
				}
			}
		}},
}
