package core

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// connackDefects are the faults in sections 3.1.3.1, 3.2.2.2 and 3.2.2.3.7:
// what CONNACK says, and what follows it.
var connackDefects = []Defect{
	{"assigned-id-not-returned", []string{"v5/MQTT-3.2.2-16", "v5/MQTT-3.1.3-7"}, "The client is not told the Client Identifier that the server has made.", Run,
		func(r *rules) { r.announced = func(ps *packet.Properties) { ps.AssignedClientIdentifier = nil } }},
	{"assigned-id-not-used", []string{"v5/MQTT-3.1.3-7"}, "CONNACK tells another Client Identifier than the one that the server has made.", Run,
		func(r *rules) {
			r.announced = func(ps *packet.Properties) {
				if id := ps.AssignedClientIdentifier; id != nil {
					other := *id + "-0"
					ps.AssignedClientIdentifier = &other
				}
			}
		}},
	{"assigned-id-always", []string{"v5/3.2.2.3.7-assigned-id-only-for-empty", "v5/1.5.4-disallowed-code-points-sender"}, "CONNACK repeats the client's own Client Identifier as assigned.", Warn,
		func(r *rules) {
			var id string
			r.connect = func(p *packet.Connect) *packet.Connect {
				id = p.ClientID
				return p
			}
			r.announced = func(ps *packet.Properties) {
				if ps.AssignedClientIdentifier == nil {
					ps.AssignedClientIdentifier = &id
				}
			}
		}},
	{"refused-id-left-open", []string{"v5/MQTT-3.1.3-8", "v311/MQTT-3.1.3-9"}, "A Client Identifier with a slash is refused, and the connection stays open.", Run,
		func(r *rules) {
			slash := false
			r.takesClientID = func(id string) bool {
				slash = strings.Contains(id, "/")
				return !slash
			}
			r.afterRefusal = func(s *Server, c *conn) {
				if !slash {
					s.close(c, failed)
					return
				}
				c.state = refused
				s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
			}
		}},
	{"refused-will-left-open", []string{"v5/MQTT-3.2.2-7", "v5/MQTT-3.1.2-12", "v311/MQTT-3.1.2-14", "v5/MQTT-4.13.2-1"}, "A CONNECT with Will QoS 3 is refused, and the connection stays open.", Run,
		func(r *rules) {
			r.endsBrokenConnect = func(broken packet.Rule) bool { return broken != packet.RuleWillQoS3 }
		}},
	{"bad-credentials-blame-id", []string{"v311/3.2.2.3-code-4", "v5/3.2.2.2-connack-code-86"}, "A wrong password is refused with the code for the Client Identifier.", Warn,
		func(r *rules) {
			r.refusalCode = func(_ *conn, code packet.ReasonCode) packet.ReasonCode {
				switch code {
				case badCredentials.v311:
					return identifierRejected.v311
				case badCredentials.v5:
					return identifierRejected.v5
				}
				return code
			}
		}},
}
