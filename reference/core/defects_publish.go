package core

import "github.com/mqttcheck/mqttcheck/reference/packet"

// publishDefects are the faults in sections 3.3 and 3.4.
var publishDefects = []Defect{
	{"dup-forwarded", []string{"v311/MQTT-3.3.1-3", "v5/MQTT-3.3.1-3"}, "A delivery copies the DUP flag of the publisher.", Run,
		func(r *rules) { r.dup = func(d *delivery) bool { return d.qos > 0 && (d.sent || d.message.dup) } }},
	{"qos3-as-qos2", []string{"v311/MQTT-3.3.1-4", "v5/MQTT-3.3.1-4"}, "A PUBLISH with both QoS bits set is taken as QoS 2.", Run,
		func(r *rules) { r.tolerated[packet.RuleQoS3] = true }},
}
