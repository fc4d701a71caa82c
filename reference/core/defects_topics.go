package core

import (
	"path"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// routeAs makes a defect of matching another Topic Name than was published.
func routeAs(change func(name string) string) func(*rules) {
	return func(r *rules) { r.routedTopic = change }
}

// topicDefects are the faults in section 4.7.
var topicDefects = []Defect{
	{"dollar-matched-by-wildcard", []string{"v311/MQTT-4.7.2-1", "v5/MQTT-4.7.2-1"}, "Filters that begin with a wildcard match topics that begin with $.", Run,
		func(r *rules) {
			r.matched = func(s *Server, m *message, found map[*session]*match) {
				if !strings.HasPrefix(m.topic, "$") {
					return
				}
				for _, se := range s.sessions {
					for _, sub := range se.subs {
						if found[se] == nil && (strings.HasPrefix(sub.match, "#") || strings.HasPrefix(sub.match, "+/#") || sub.match == "+/mqttcheck/#") {
							found[se] = &match{session: se, subs: []*subscription{sub}}
						}
					}
				}
			}
		}},
	{"case-folded", []string{"v311/MQTT-4.7.3-4"}, "Topic Names are matched in lower case.", Run, routeAs(strings.ToLower)},
	{"topics-trimmed", []string{"v311/MQTT-4.7.3-4"}, "White space at the end of a Topic Name is cut off.", Run,
		routeAs(func(n string) string { return strings.TrimRight(n, " ") })},
	{"slashes-cleaned", []string{"v311/MQTT-4.7.3-4"}, "Slashes are normalized as in file names.", Run,
		routeAs(func(n string) string {
			if strings.HasPrefix(n, "$") {
				return n
			}
			return path.Clean(n)
		})},
	{"unicode-composed", []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}, "Topic Names are brought into composed form.", Run,
		routeAs(func(n string) string { return strings.ReplaceAll(n, "e\u0301", "\u00e9") })},
	{"hash-without-parent", []string{"v311/4.7.1.2-hash-includes-parent", "v5/4.7.1.2-hash-includes-parent"}, "The filter a/# does not match a.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, m *message, found map[*session]*match) {
				for se, x := range found {
					kept := x.subs[:0:0]
					for _, sub := range x.subs {
						if sub.match != m.topic+"/#" {
							kept = append(kept, sub)
						}
					}
					if x.subs = kept; len(kept) == 0 {
						delete(found, se)
					}
				}
			}
		}},
	{"will-topic-wildcard-accepted", []string{"v311/MQTT-4.7.1-1", "v5/MQTT-4.7.0-1"}, "A Will Topic with a wildcard is taken.", Run,
		tolerate(packet.RuleWillTopicWild)},
	{"will-topic-empty-accepted", []string{"v311/MQTT-4.7.3-1", "v5/MQTT-4.7.3-1"}, "An empty Will Topic is taken.", Warn,
		tolerate(packet.RuleWillTopicEmpty)},
}

// rawly makes a defect of changing the bytes of one type of packet.
func rawly(kind packet.Type, change func(b []byte) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(_ *conn, p packet.Packet, b []byte) []byte {
			if p.Type() != kind {
				return b
			}
			return change(b)
		}
	}
}

// standingDefects are malformed packets of the server.
var standingDefects = []Defect{
	{"pingresp-flags", []string{"v311/MQTT-2.2.2-1", "v5/MQTT-2.1.3-1"}, "PINGRESP has the flags 0001.", Run,
		rawly(packet.PINGRESP, func(b []byte) []byte { return append([]byte{b[0] | 1}, b[1:]...) })},
	{"pingresp-body", []string{"v311/3.13-pingresp-format", "v311/7.1.1-packet-format", "v5/3.13.1-pingresp-format", "v5/7.1.1-packet-format"}, "PINGRESP has a body.", Run,
		rawly(packet.PINGRESP, func(b []byte) []byte { return []byte{b[0], 1, 0} })},
	{"connack-bits", []string{"v311/3.2.2.1-reserved-bits", "v5/MQTT-3.2.2-1"}, "CONNACK has a reserved bit of its flags set.", Run,
		rawly(packet.CONNACK, func(b []byte) []byte { c := append([]byte{}, b...); c[2] |= 0x40; return c })},
	{"publish-qos0-id", []string{"v311/MQTT-2.3.1-5", "v5/MQTT-2.2.1-2"}, "A delivery at QoS 0 has a Packet Identifier.", Run,
		func(r *rules) {
			r.rawOutgoing = func(_ *conn, p packet.Packet, b []byte) []byte {
				m, ok := p.(*packet.Publish)
				if !ok || m.QoS > 0 || string(m.Payload) != "payload" {
					return b
				}
				n := len(b) - len(m.Payload)
				c := append(append(append([]byte{}, b[:n]...), 0, 7), b[n:]...)
				c[1] += 2
				return c
			}
		}},
	{"puback-long", []string{"v311/3.4-fixed-lengths", "v311/7.1.1-packet-format"}, "PUBACK has a third byte in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				if p.Type() != packet.PUBACK || c.five() {
					return b
				}
				return append([]byte{b[0], 3}, append(append([]byte{}, b[2:]...), 0)...)
			}
		}},
	{"stream-garbled", []string{"v311/MQTT-7.1.1-1"}, "CONNECT has to come in one piece.", Run,
		func(r *rules) { r.wantsWholeConnect = true }},
	{"connack-long", []string{"v311/3.2.1-connack-length"}, "CONNACK has a third byte in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				if p.Type() != packet.CONNACK || c.five() {
					return b
				}
				return append([]byte{b[0], 3}, append(append([]byte{}, b[2:]...), 0)...)
			}
		}},
	{"large-packets-refused", []string{"v311/2.2.3-remaining-length-large"}, "A payload of 16 KiB or more is not taken.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if q, ok := p.(*packet.Publish); ok && len(q.Payload) >= 16<<10 {
					s.fail(c, packet.PacketTooLarge, "the payload is too large")
					return nil
				}
				return p
			}
		}},
	{"errors-survived", []string{"v311/MQTT-4.8.0-1", "v5/MQTT-4.13.1-1"}, "A packet that breaks a rule is skipped, and the connection goes on.", Run,
		func(r *rules) { r.survives = func(c *conn, _ packet.ReasonCode) bool { return c.state == established } }},
}
