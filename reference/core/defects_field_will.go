package core

import (
	"time"
	"unicode/utf8"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// fieldWillDefects are faults that brokers have had with wills, Sessions and
// CONNECT.
var fieldWillDefects = []Defect{
	{"undefined-disconnect-is-normal", []string{"v5/MQTT-3.1.2-8", "v5/MQTT-3.14.2-1"}, "DISCONNECT with an undefined code throws the will away.", Run,
		func(r *rules) {
			r.tolerated[packet.RuleDisconnectCode] = true
			r.leavesWill = func(code packet.ReasonCode) bool {
				switch code {
				case 0x04, 0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99:
					return true
				}
				return false
			}
		}},
	{"will-for-0x04-only", []string{"v5/3.14-will-unless-normal"}, "DISCONNECT throws the will away unless it has the code 0x04.", Run,
		func(r *rules) {
			r.leavesWill = func(code packet.ReasonCode) bool { return code == packet.DisconnectWithWill }
		}},
	{"disconnect-of-length-2-refused", []string{"v5/3.14.2.1-short-form"}, "A DISCONNECT with a Property Length of 0 is taken for an error, so the will is published.", Run,
		func(r *rules) {
			r.skips = func(s *Server, c *conn, first byte, body []byte) bool {
				if packet.Type(first>>4) != packet.DISCONNECT || len(body) != 2 {
					return false
				}
				s.fail(c, packet.ProtocolError, "this DISCONNECT is not understood")
				return true
			}
		}},
	{"disconnect-behind-close", []string{"v311/MQTT-3.14.4-3", "v5/MQTT-3.14.4-3"}, "DISCONNECT is carried out a moment later: where the client has closed by then its will is published.", Run,
		func(r *rules) {
			left := map[*conn]bool{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if d, ok := p.(*packet.Disconnect); ok && d.Code == packet.NormalDisconnection && d.Properties.SessionExpiryInterval == nil {
					left[c] = true
					s.timers.set(timerKey{kind: keepAliveTimer, conn: c.id}, s.now.Add(20*time.Millisecond))
					return nil
				}
				return p
			}
			r.publishesWill = func(c *conn, why ending) bool {
				return why != disconnected && why != stopping && (why != silent || !left[c])
			}
		}},
	{"delayed-will-lost-on-takeover", []string{"v5/3.1.3.2.2-will-on-takeover-clean-start"}, "A will with a delay is thrown away when its connection is taken over.", Warn,
		func(r *rules) {
			r.publishesWill = func(c *conn, why ending) bool {
				return why != disconnected && why != stopping && (why != takenOver || c.will.delay == 0)
			}
		}},
	{"delayed-will-twice", []string{"v5/MQTT-3.1.2-10"}, "A will that was published after its delay is published once more when the client is back.", Run,
		func(r *rules) {
			lost, last := map[*session]time.Time{}, map[*session]*will{}
			r.detached = func(s *Server, se *session, _ ending) { lost[se] = s.now }
			r.publishesWill = func(c *conn, why ending) bool {
				last[c.session] = nil
				if why == disconnected || why == stopping {
					return false
				}
				last[c.session] = c.will
				return true
			}
			r.attached = func(s *Server, se *session, resumed bool) {
				if w := last[se]; resumed && w != nil && w.delay > 0 && s.now.Sub(lost[se]) >= s.seconds(float64(w.delay)) {
					m := *w.message
					m.arrived = s.now
					s.route(&m)
				}
			}
		}},
	{"delayed-will-deafens", []string{"v5/MQTT-4.5.0-1"}, "A client whose last connection had a will with a delay gets no messages.", Run,
		func(r *rules) {
			had, deaf := map[string]bool{}, map[*session]bool{}
			r.storedWill = func(se *session, w *will) *will {
				had[se.id] = w.delay > 0
				return w
			}
			r.attached = func(_ *Server, se *session, _ bool) { deaf[se] = had[se.id] }
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				for se := range found {
					if deaf[se] {
						delete(found, se)
					}
				}
			}
		}},
	{"will-keeps-user-properties-only", []string{"v5/3.1.3.2-will-properties-forwarded", "v5/MQTT-3.3.2-4", "v5/3.1.3.2.4-will-expiry-sent", "v5/MQTT-3.3.2-5", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-20"}, "Of the properties of a will only the User Properties are passed on.", Run,
		func(r *rules) {
			r.storedWill = func(_ *session, w *will) *will {
				w.message.properties = packet.Properties{UserProperties: w.message.properties.UserProperties}
				w.message.expiry = nil
				return w
			}
		}},
	{"will-has-to-be-text", []string{"v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"}, "A CONNECT is refused when the payload of its will is no UTF-8.", Run,
		func(r *rules) {
			broken := refusal{5, packet.MalformedPacket, "the payload of the will is no text"}
			r.refuses = func(_ *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				return broken, p.Will != nil && !utf8.Valid(p.Will.Payload)
			}
		}},
	{"expiry-of-connect-ignored", []string{"v5/MQTT-3.1.2-23"}, "The Session Expiry Interval is taken from DISCONNECT only.", Run,
		func(r *rules) {
			r.sessionExpiry = func(c *conn, seconds uint32) uint32 {
				if c.five() && seconds == c.expiry {
					return 0
				}
				return seconds
			}
		}},
	{"session-present-for-known-id", []string{"v311/MQTT-3.2.2-3", "v5/MQTT-3.2.2-3"}, "Session Present is 1 for a Client Identifier that was connected before, though its Session has ended.", Run,
		func(r *rules) {
			seen, known := map[string]bool{}, false
			r.attached = func(_ *Server, se *session, _ bool) {
				known = seen[se.id]
				seen[se.id] = true
			}
			r.sessionPresent = func(resumed, clean bool) bool { return resumed || known && !clean }
		}},
	{"takeover-keeps-writer", []string{"v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"}, "What a Session gets after its connection was taken over is written to the old connection, and lost.", Run,
		func(r *rules) {
			old := map[*session]bool{}
			r.detached = func(_ *Server, se *session, why ending) { old[se] = why == takenOver }
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				for se := range found {
					if old[se] {
						delete(found, se)
					}
				}
			}
		}},
	{"refusal-in-old-format", []string{"v5/MQTT-2.2.2-1", "v5/3.2.2.2-connack-code-86", "v5/3.2.2.2-connack-code-9a", "v5/3.2.2.2-connack-code-9b"}, "A CONNACK that refuses a client of MQTT 5.0 is written as in MQTT 3.1.1.", Run,
		rawly(packet.CONNACK, func(b []byte) []byte {
			if len(b) > 4 && b[3] >= 0x80 {
				return []byte{0x20, 2, 0, 5}
			}
			return b
		})},
	{"refusal-with-new-code", []string{"v311/MQTT-3.2.2-6"}, "A CONNACK that refuses a client of MQTT 3.1.1 has a code of MQTT 5.0.", Run,
		func(r *rules) {
			r.refusalCode = func(_ *conn, code packet.ReasonCode) packet.ReasonCode {
				if code > 0 && code < 0x80 {
					return code + 0x83
				}
				return code
			}
		}},
	{"reauthentication-by-connack", []string{"v5/MQTT-3.2.0-2", "v5/MQTT-4.12.1-2"}, "A re-authentication that fails is answered with CONNACK.", Hook,
		func(r *rules) {
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if d, ok := p.(*packet.Disconnect); ok && c.method != "" && d.Code == packet.NotAuthorized {
					return []packet.Packet{&packet.Connack{Code: packet.NotAuthorized}}
				}
				return []packet.Packet{p}
			}
		}},
}
