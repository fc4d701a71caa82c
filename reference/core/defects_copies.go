package core

import "github.com/mqttcheck/mqttcheck/reference/packet"

// copyDefects are faults in how often a message comes, and in DUP where a Packet
// Identifier is used again.
var copyDefects = []Defect{
	{"dup-by-identifier", []string{"v311/MQTT-4.3.2-1", "v311/MQTT-4.3.3-1", "v5/MQTT-4.3.2-2", "v5/MQTT-4.3.3-2"}, "DUP is kept by Client Identifier and Packet Identifier: what was sent again leaves it to every later message.", Run,
		func(r *rules) {
			type place struct {
				client string
				id     uint16
			}
			again := map[place]bool{}
			r.dup = func(d *delivery) bool {
				if d.qos == 0 {
					return false
				}
				if d.on == nil {
					return d.sent
				}
				at := place{d.on.session.id, d.id}
				again[at] = again[at] || d.sent
				return again[at]
			}
		}},
	{"downgraded-sent-twice", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10", "v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"}, "A message that was published at QoS 2 is sent twice to who takes it at QoS 0.", Run,
		func(r *rules) {
			downgraded := map[string]bool{} // by topic and payload
			r.deliveredQoS = func(m *message, granted byte) byte {
				if m.qos == 2 && granted == 0 {
					downgraded[m.topic+" "+string(m.payload)] = true
				}
				return min(m.qos, granted)
			}
			r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.QoS == 0 && downgraded[m.Topic+" "+string(m.Payload)] {
					return []packet.Packet{p, p}
				}
				return []packet.Packet{p}
			}
		}},
}
