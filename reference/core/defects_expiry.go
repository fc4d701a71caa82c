package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// expiryDefects are the faults in how long a Session outlives its connection:
// sections 3.1.2.4, 3.1.2.11.2, 3.2.2.3.2, 3.14.2.2.2 and 4.1.
var expiryDefects = []Defect{
	{"unknown-session-refused", []string{"v5/MQTT-3.1.2-6", "v311/MQTT-3.1.2-4"}, "A client that does not ask for a clean start is refused where it has no Session.", Run,
		func(r *rules) {
			r.refuses = func(s *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				return identifierRejected, !p.CleanStart && s.sessions[p.ClientID] == nil
			}
		}},
	{"session-resumed-once", []string{"v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"}, "A Session is resumed once only.", Run,
		func(r *rules) {
			resumed := map[*session]bool{}
			worn := map[string]bool{}
			r.attached = func(_ *Server, se *session, again bool) {
				worn[se.id] = again && resumed[se]
				resumed[se] = again
			}
			r.startsClean = func(p *packet.Connect, _ bool) bool { return p.CleanStart || worn[p.ClientID] }
		}},
	{"empty-session-not-stored", []string{"v311/3.1.2.4-session-without-content", "v5/MQTT-3.2.2-3"}, "A Session that holds nothing ends with its connection.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, _ ending) {
				if len(se.subs)+len(se.queue)+len(se.open) == 0 {
					se.expiry = 0
				}
			}
		}},
	{"session-lost-on-error", []string{"v5/MQTT-3.1.2-23"}, "A Session ends when its client breaks the protocol.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, why ending) {
				if why == failed {
					se.expiry = 0
				}
			}
		}},
	{"session-lost-on-drop", []string{
		"v5/MQTT-3.1.2-23", "v5/3.1.2.11.2-clean-start-with-expiry", "v5/3.1.2.11.2-session-expiry-max", "v5/3.2.2.3.2-session-expiry-override",
		"v5/4.1-session-lifetime",
	}, "A Session ends when the network connection breaks.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, why ending) {
				if why == dropped {
					se.expiry = 0
				}
			}
		}},
	{"clean-start-not-stored", []string{"v5/3.1.2.11.2-clean-start-with-expiry"}, "A Session that began with Clean Start 1 ends with its connection.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if c.connect != nil && c.connect.CleanStart {
					return 0
				}
				return seconds
			}
		}},
	{"expiry-absent-stored", []string{"v5/3.1.2.11.2-session-expiry-absent", "v5/3.14.2.2.2-session-expiry-raised-from-zero"}, "With Clean Start 0 and no Session Expiry Interval a Session is kept for ever, as with Clean Session 0.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if c.connect != nil && !c.connect.CleanStart && c.connect.Properties.SessionExpiryInterval == nil {
					return neverExpires
				}
				return seconds
			}
		}},
	{"expiry-zero-stored", []string{"v5/3.1.2.11.2-session-expiry-absent", "v5/3.14.2.2.2-session-expiry-changed"}, "The Session Expiry Interval 0 is taken as no limit.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if c.connect != nil && c.connect.Properties.SessionExpiryInterval != nil && seconds == 0 {
					return neverExpires
				}
				return seconds
			}
		}},
	{"expiry-maximum-overflows", []string{"v5/3.1.2.11.2-session-expiry-max"}, "The Session Expiry Interval FFFFFFFF is taken as a negative number, and the Session as expired.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if c.five() && int32(seconds) < 0 {
					return 0
				}
				return seconds
			}
		}},
	{"session-never-expires", []string{"v5/MQTT-4.1.0-2", "v5/3.2.2.3.2-session-expiry-override"}, "A Session that outlives its connection is kept for ever.", Run,
		func(r *rules) {
			r.sessionExpiry = func(_ *conn, seconds uint32) uint32 {
				if seconds > 0 {
					return neverExpires
				}
				return 0
			}
		}},
	{"expiry-from-connect", []string{"v5/4.1-session-lifetime"}, "The Session Expiry Interval counts from CONNECT.", Run,
		func(r *rules) {
			since := map[*session]time.Time{}
			r.attached = func(s *Server, se *session, _ bool) { since[se] = s.now }
			r.detached = func(s *Server, se *session, _ ending) {
				if n := uint32(s.now.Sub(since[se]) / s.cfg.Second); se.expiry != neverExpires {
					se.expiry -= min(n, se.expiry)
				}
			}
		}},
	{"expiry-16-bits", []string{"v5/3.2.2.3.2-session-expiry-override"}, "Of the Session Expiry Interval only the lower 16 bits are kept.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if c.five() {
					return seconds & 0xffff
				}
				return seconds
			}
		}},
	{"expiry-announced-not-used", []string{"v5/3.2.2.3.2-session-expiry-override"}, "CONNACK announces a Session Expiry Interval of a day, and that of the client is used.", Run,
		func(r *rules) {
			r.announced = func(ps *packet.Properties) {
				day := uint32(86400)
				ps.SessionExpiryInterval = &day
			}
		}},
	{"disconnect-expiry-ignored", []string{"v5/3.14.2.2.2-session-expiry-changed"}, "The Session Expiry Interval of DISCONNECT is ignored.", Run,
		func(r *rules) { r.disconnectExpiry = func(old, _ uint32) uint32 { return old } }},
	{"raised-expiry-taken", []string{"v5/3.14.2.2.2-session-expiry-raised-from-zero"}, "A Session Expiry Interval in DISCONNECT is taken after 0 in CONNECT.", Warn,
		func(r *rules) { r.refusesRaisedExpiry = false }},
	{"disconnect-expiry-twice-accepted", []string{"v5/3.14.2.2.2-disconnect-session-expiry-interval-twice"}, "A DISCONNECT with two Session Expiry Intervals is taken.", Warn,
		tolerate(packet.RuleDisconnectSessionExpiryIntervalTwice)},
	{"disconnect-reason-string-twice-accepted", []string{"v5/3.14.2.2.3-disconnect-reason-string-twice"}, "A DISCONNECT with two Reason Strings is taken.", Warn,
		tolerate(packet.RuleDisconnectReasonStringTwice)},
}
