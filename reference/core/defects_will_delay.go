package core

// willDelayDefects are the faults in sections 3.1.2.5 and 3.1.3.2.2: the
// moment at which a will is published.
var willDelayDefects = []Defect{
	{"will-of-the-last", []string{"v5/MQTT-3.1.2-7", "v311/MQTT-3.1.2-8"}, "The server has room for one will: that of the last CONNECT is published for every client.", Run,
		func(r *rules) {
			var last *will
			r.storedWill = func(_ *session, w *will) *will {
				if last == nil {
					last = w
				}
				*last = *w
				return last
			}
		}},
	{"will-not-on-takeover", []string{"v311/3.1.2.5-will-on-takeover", "v5/3.1.4-takeover-will", "v5/3.1.3.2.2-will-on-takeover-clean-start"}, "A will is not published when its connection is taken over.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != takenOver }
		}},
	{"will-not-promptly", []string{"v311/3.1.2.5-will-promptly", "v5/3.1.2.5-will-promptly"}, "A will without a delay waits for seven seconds where the Session goes on.", Warn,
		delaysWill(func(delay, expiry uint32, taken bool) uint32 {
			if delay == 0 && !taken {
				delay = 7
			}
			return min(delay, expiry)
		})},
	{"will-delay-default", []string{"v5/3.1.3.2.2-will-delay-default", "v5/3.1.4-takeover-will", "v311/3.1.2.5-will-promptly", "v311/3.1.2.5-will-on-takeover"}, "A will without a delay waits for the end of the Session.", Run,
		func(r *rules) {
			r.willDelay = func(delay, expiry uint32) uint32 {
				if delay == 0 {
					return expiry
				}
				return min(delay, expiry)
			}
		}},
	{"will-delay-ignored", []string{"v5/MQTT-3.1.2-8", "v5/MQTT-3.1.3-9", "v5/3.1.3.2.2-no-will-on-takeover-with-delay"}, "The Will Delay Interval is ignored.", Run,
		func(r *rules) { r.willDelay = func(uint32, uint32) uint32 { return 0 } }},
	{"will-despite-return", []string{"v5/MQTT-3.1.3-9", "v5/3.1.3.2.2-no-will-on-takeover-with-delay"}, "A will that is put off is published although its client is back.", Run,
		func(r *rules) { r.cancelsWill = false }},
	{"takeover-ignores-will-delay", []string{"v5/3.1.3.2.2-no-will-on-takeover-with-delay"}, "A connection that is taken over publishes its will whatever its delay.", Run,
		delaysWill(func(delay, expiry uint32, taken bool) uint32 {
			if taken {
				return 0
			}
			return min(delay, expiry)
		})},
	{"will-lost-with-session", []string{"v5/3.1.3.2.2-will-at-session-end", "v5/3.1.3.2.2-will-on-takeover-clean-start"}, "A will whose delay is not over is lost when the Session ends.", Run,
		func(r *rules) {
			r.willDelay = func(delay, _ uint32) uint32 { return delay }
			r.endsWill = false
		}},
	{"delayed-will-after-disconnect", []string{"v5/MQTT-3.14.4-3"}, "DISCONNECT leaves a will that has a delay in the Session.", Run,
		func(r *rules) {
			r.publishesWill = func(c *conn, why ending) bool {
				return why != stopping && (why != disconnected || c.will.delay > 0)
			}
		}},
}

// delaysWill lets the delay of a will hang on whether its connection was taken
// over: the will is asked for first, and then its delay.
func delaysWill(delay func(delay, expiry uint32, taken bool) uint32) func(*rules) {
	return func(r *rules) {
		taken := false
		r.publishesWill = func(_ *conn, why ending) bool {
			taken = why == takenOver
			return why != disconnected && why != stopping
		}
		r.willDelay = func(asked, expiry uint32) uint32 { return delay(asked, expiry, taken) }
	}
}
