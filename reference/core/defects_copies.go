package core

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
	{"qos2-delivered-twice", []string{
		"v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8", "v311/4.3.2-identifier-reuse", "v311/MQTT-4.3.3-1", "v311/MQTT-4.3.3-2",
		"v5/MQTT-4.3.3-5", "v5/MQTT-4.3.3-10", "v5/MQTT-4.3.3-12",
	}, "A message at QoS 2 is delivered twice.", Run,
		func(r *rules) {
			r.copies = func(m *message) int {
				if m.qos == 2 {
					return 2
				}
				return 1
			}
		}},
}
