package core

import (
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// unnumberedDefects are faults in what the specifications demand without giving
// it a number.
var unnumberedDefects = []Defect{
	{"empty-user-name-refused", []string{"v311/1.5.3-string-length", "v5/1.5.4-string-length-range"}, "A CONNECT with an empty User Name is taken for a broken one.", Run,
		func(r *rules) {
			broken := refusal{5, packet.MalformedPacket, "the User Name is empty"}
			r.refuses = func(_ *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				return broken, p.Username != nil && *p.Username == ""
			}
			r.answersRefusal = func(_ *conn, why refusal) bool { return why != broken }
		}},
	{"long-payload-cut", []string{"v311/2.2.3-remaining-length-large"}, "A payload is cut off behind 16383 bytes in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && !c.five() && len(m.Payload) > 16383 {
					m.Payload = m.Payload[:16383]
				}
				return p
			}
		}},
	{"short-payload-cut", []string{"v311/2.2.3-remaining-length-large", "v311/MQTT-6.0.0-2"}, "A payload of 64 to 255 bytes is cut off in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && !c.five() && len(m.Payload) > 63 && len(m.Payload) < 256 {
					m.Payload = m.Payload[:63]
				}
				return p
			}
		}},
	{"stored-will-lost", []string{"v311/3.1.2.5-will-on-network-drop", "v311/3.1.2.5-will-promptly"}, "A client of MQTT 3.1.1 with a stored Session has no will when its connection breaks.", Run,
		func(r *rules) {
			r.publishesWill = func(c *conn, why ending) bool {
				return why != disconnected && why != stopping && (why != dropped || c.five() || c.expiry == 0)
			}
		}},
	{"open-publication-lost", []string{"v311/3.1.2.4-inbound-qos2-in-session", "v311/MQTT-4.3.3-2", "v5/4.1-qos2-receiver-state", "v5/MQTT-4.3.3-11", "v5/MQTT-4.3.3-10"}, "A publication at QoS 2 that is not released when the connection ends is forgotten, and its PUBREL is not answered.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, _ ending) { se.inbox = newInbox() }
			r.answersUnknownRelease = false
		}},
	{"empty-payload-dropped", []string{"v311/3.3.3-empty-payload", "v311/3.1.3.3-will-message-bytes", "v5/3.1.3.4-will-payload-binary"}, "A message without a payload is not passed on, unless it deletes a retained one.", Run,
		func(r *rules) {
			r.passesOn = func(_ *Server, m *message) bool { return len(m.payload) > 0 || m.retain }
		}},
	{"retained-lapse", []string{"v311/4.1-retained-until-deleted"}, "A retained message is forgotten after two seconds.", Warn,
		func(r *rules) {
			var now time.Time
			var most time.Duration
			r.incoming = func(s *Server, _ *conn, p packet.Packet) packet.Packet {
				now, most = s.now, s.seconds(2)
				return p
			}
			r.retainedFor = func(found []*message) []*message {
				var fresh []*message
				for _, m := range found {
					if now.Sub(m.arrived) < most || m.expiry != nil {
						fresh = append(fresh, m)
					}
				}
				return fresh
			}
		}},
	{"slash-dropped", []string{"v311/4.7.3-slash-only", "v5/4.7.3-slash-only"}, "Messages on the topic / are dropped.", Run,
		func(r *rules) { r.accepts = func(m *message) bool { return m.topic != "/" } }},
	{"wildcards-refused", []string{"v311/3.8.3-wildcards"}, "Filters with wildcards are refused in MQTT 3.1.1.", Warn,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				asked, ok := p.(*packet.Subscribe)
				for i := 0; ok && !c.five() && i < len(asked.Subscriptions); i++ {
					if strings.ContainsAny(asked.Subscriptions[i].Filter, "+#") {
						asked.Subscriptions[i].Filter = "#not granted"
					}
				}
				return p
			}
		}},
	{"pingreq-body-taken", []string{"v311/3.12-pingreq-length", "v5/3.12.1-pingreq-with-body"}, "A PINGREQ with a body is answered.", Run,
		tolerate(packet.RulePingBody)},
	{"disconnect-body-ignored", []string{"v311/3.14-disconnect-length", "v311/3.14.4-server-closes", "v5/3.14.4-receiver-closes"}, "DISCONNECT may have a body in MQTT 3.1.1, and does not close the connection.", Run,
		func(r *rules) {
			r.tolerated[packet.RuleDisconnectBody] = true
			r.closesOnDisconnect = false
		}},
	{"error-cuts-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "The error of a client also disconnects clients with a stored Session and open deliveries.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, why ending) {
				for _, other := range s.sessions {
					if why == failed && other != se && other.conn != nil && other.expiry > 0 && len(other.byID) > 0 {
						s.close(other.conn, dropped)
					}
				}
			}
		}},
	{"overlong-publish-ignored", []string{"v311/2.2.3-remaining-length-max", "v5/1.5.5-vbi-max-four-bytes"}, "A PUBLISH whose Remaining Length has five bytes is ignored.", Run,
		func(r *rules) {
			r.survives = func(c *conn, _ packet.ReasonCode) bool {
				return len(c.buf) > 5 && c.buf[0] == 0x30 && min(c.buf[1], c.buf[2], c.buf[3], c.buf[4]) >= 0x80
			}
		}},
}
