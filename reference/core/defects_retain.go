package core

// retainDefects are the faults in section 3.3.1.3.
var retainDefects = []Defect{
	{"retain-qos-lost", []string{"v311/MQTT-3.3.1-5", "v5/MQTT-3.3.1-5", "v5/MQTT-3.8.4-8", "v5/MQTT-3.3.4-9", "v311/MQTT-3.8.4-6"}, "A retained message is stored at QoS 0.", Run,
		func(r *rules) {
			r.store = func(s *Server, m *message) { kept := *m; kept.qos = 0; s.retained.set(&kept) }
		}},
	{"retain-qos2-not-stored", []string{"v311/MQTT-3.3.1-5", "v311/MQTT-3.3.1-8", "v5/MQTT-3.3.1-5", "v5/3.3.1.3-retained-flag-on-subscribe"}, "A message at QoS 2 is not retained.", Run,
		func(r *rules) {
			r.store = func(s *Server, m *message) {
				if m.qos < 2 {
					s.retained.set(m)
				}
			}
		}},
	{"retain-first-kept", []string{"v311/MQTT-3.3.1-6", "v311/MQTT-3.3.1-5", "v311/MQTT-3.3.1-7", "v5/MQTT-3.3.1-5", "v5/MQTT-3.3.1-9"}, "The first retained message of a topic is kept.", Run,
		func(r *rules) {
			r.store = func(s *Server, m *message) {
				if s.retained.byTopic[m.topic] == nil {
					s.retained.set(m)
				}
			}
		}},
	{"retain-qos0-ignored", []string{"v311/MQTT-3.3.1-7"}, "A retained message at QoS 0 leaves the old one in place.", Run,
		func(r *rules) {
			r.store = func(s *Server, m *message) {
				if m.qos > 0 {
					s.retained.set(m)
				}
			}
		}},
	{"retain-one-of-many", []string{"v311/MQTT-3.3.1-6", "v311/MQTT-3.3.1-8", "v5/3.3.1.3-retained-flag-on-subscribe", "v5/MQTT-3.3.1-9", "v311/3.8.4-new-subscription-retained"}, "A wildcard brings one retained message only.", Run,
		func(r *rules) {
			r.retainedFor = func(found []*message) []*message { return found[:min(1, len(found))] }
		}},
	{"retain-flag-0-on-subscribe", []string{"v311/MQTT-3.3.1-8", "v311/MQTT-3.1.2-17", "v5/3.3.1.3-retained-flag-on-subscribe", "v5/MQTT-3.1.2-15"}, "Retained messages come with RETAIN 0.", Run,
		func(r *rules) { r.welcomeRetain = func(*subscription) bool { return false } }},
	{"retain-flag-1-live", []string{"v311/MQTT-3.3.1-9", "v311/MQTT-3.3.1-10", "v5/MQTT-3.3.1-12", "v5/MQTT-3.3.1-6"}, "An existing subscription gets the publisher's RETAIN flag.", Run,
		func(r *rules) { r.liveRetain = func(m *message, _ bool) bool { return m.retain } }},
	{"retain-empty-stored", []string{"v311/MQTT-3.3.1-10", "v311/MQTT-3.3.1-11", "v5/MQTT-3.3.1-6", "v5/MQTT-3.3.1-7"}, "An empty payload is stored instead of deleting.", Run,
		func(r *rules) { r.seesEmpty = func(s *Server, m *message) { s.retained.set(m) } }},
	{"retain-empty-not-forwarded", []string{"v311/MQTT-3.3.1-10", "v5/MQTT-3.3.1-6"}, "An empty retained message is not passed on.", Run,
		func(r *rules) {
			r.passesOn = func(_ *Server, m *message) bool { return !m.retain || len(m.payload) > 0 }
		}},
	{"retain-plain-stored", []string{"v311/MQTT-3.3.1-12", "v311/MQTT-3.1.2-16", "v5/MQTT-3.1.2-14", "v5/MQTT-3.3.1-8"}, "A message with RETAIN 0 replaces the retained one.", Run,
		func(r *rules) {
			r.seesPlain = func(s *Server, m *message) {
				if s.retained.byTopic[m.topic] != nil {
					s.retained.set(m)
				}
			}
		}},
	{"retain-plain-empty-deletes", []string{"v311/MQTT-3.3.1-12", "v5/MQTT-3.3.1-8"}, "An empty message with RETAIN 0 deletes the retained one.", Run,
		func(r *rules) {
			r.seesPlain = func(s *Server, m *message) {
				if len(m.payload) == 0 {
					s.retained.delete(m.topic)
				}
			}
		}},
	{"retain-empty-stored-anew", []string{"v311/MQTT-3.3.1-11", "v5/MQTT-3.3.1-7"}, "An empty payload is stored where there was no retained message.", Run,
		func(r *rules) {
			r.seesEmpty = func(s *Server, m *message) {
				if s.retained.byTopic[m.topic] != nil {
					s.retained.delete(m.topic)
					return
				}
				s.retained.set(m)
			}
		}},
}
