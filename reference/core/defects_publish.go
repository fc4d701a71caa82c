package core

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// publishDefects are the faults in sections 3.3 and 3.4.
var publishDefects = []Defect{
	{"dup-forwarded", []string{"v311/MQTT-3.3.1-3", "v5/MQTT-3.3.1-3"}, "A delivery copies the DUP flag of the publisher.", Run,
		func(r *rules) { r.dup = func(d *delivery) bool { return d.qos > 0 && (d.sent || d.message.dup) } }},
	{"dup-at-qos-0", []string{"v311/MQTT-3.3.1-2", "v5/MQTT-3.3.1-2"}, "A delivery at QoS 0 copies the DUP flag of the publisher.", Run,
		func(r *rules) {
			r.dup = func(d *delivery) bool { return d.qos > 0 && d.sent || d.qos == 0 && d.message.dup }
		}},
	{"dup-never", []string{"v311/MQTT-3.3.1-1", "v5/MQTT-3.3.1-1"}, "What is sent again has DUP 0.", Run,
		func(r *rules) { r.dup = func(*delivery) bool { return false } }},
	{"dup-always", []string{"v311/MQTT-3.3.1-3", "v311/MQTT-4.3.2-1", "v311/MQTT-4.3.3-1", "v5/MQTT-3.3.1-3", "v5/MQTT-4.3.2-2", "v5/MQTT-4.3.3-2"}, "The first delivery at QoS 1 and 2 has DUP 1.", Run,
		func(r *rules) { r.dup = func(d *delivery) bool { return d.qos > 0 } }},
	{"qos3-as-qos2", []string{"v311/MQTT-3.3.1-4"}, "A PUBLISH with both QoS bits set is taken as QoS 2.", Run,
		tolerate(packet.RuleQoS3)},
	{"topic-utf8-unchecked", []string{"v311/MQTT-1.5.3-1", "v311/MQTT-3.3.2-1", "v5/MQTT-1.5.4-1", "v5/MQTT-3.3.2-1"}, "An ill-formed Topic Name is taken.", Run,
		tolerate(packet.RuleTopicUTF8)},
	{"topic-nul-accepted", []string{"v311/MQTT-1.5.3-2", "v311/MQTT-4.7.3-2", "v5/MQTT-1.5.4-2", "v5/MQTT-4.7.3-2"}, "U+0000 in a Topic Name is taken.", Run,
		tolerate(packet.RuleTopicNUL)},
	{"topic-wildcard-accepted", []string{"v311/MQTT-3.3.2-2", "v311/MQTT-4.7.1-1", "v5/MQTT-3.3.2-2", "v5/MQTT-4.7.0-1"}, "A Topic Name with a wildcard is taken and passed on.", Run,
		tolerate(packet.RuleTopicWild)},
	{"empty-topic-accepted", []string{"v311/MQTT-4.7.3-1", "v5/MQTT-4.7.3-1", "v5/3.3.2.1-empty-topic-no-alias"}, "An empty Topic Name is taken.", Warn,
		tolerate(packet.RuleTopicEmpty)},
	{"publish-id-0-accepted", []string{"v311/MQTT-2.3.1-1", "v5/MQTT-2.2.1-3"}, "A PUBLISH with Packet Identifier 0 is taken.", Warn,
		tolerate(packet.RulePublishID)},
	{"bom-stripped", []string{"v311/MQTT-1.5.3-3", "v5/MQTT-1.5.4-3"}, "U+FEFF is taken off Topic Names.", Run,
		func(r *rules) { r.receivedTopic = func(n string) string { return strings.ReplaceAll(n, "\ufeff", "") } }},
	{"qos1-unacknowledged", []string{"v311/MQTT-3.3.4-1", "v5/MQTT-3.3.4-1", "v311/2.2.3-remaining-length-large"}, "A PUBLISH at QoS 1 gets no PUBACK.", Run,
		swallow(func(p packet.Packet) bool { a, ok := p.(*packet.Ack); return ok && a.Kind == packet.PUBACK })},
	{"qos2-unacknowledged", []string{"v311/MQTT-3.3.4-1", "v5/MQTT-3.3.4-1"}, "A PUBLISH at QoS 2 gets no PUBREC.", Run,
		swallow(func(p packet.Packet) bool { a, ok := p.(*packet.Ack); return ok && a.Kind == packet.PUBREC })},
	{"qos0-acknowledged", []string{"v311/MQTT-3.3.4-1", "v311/MQTT-2.3.1-6", "v5/MQTT-3.3.4-1", "v5/MQTT-2.2.1-5"}, "A PUBLISH at QoS 0 gets a PUBACK.", Run,
		func(r *rules) { r.answersQoS0 = true }},
	{"ack-without-delivery", []string{"v311/MQTT-3.3.4-1", "v5/MQTT-3.3.4-1"}, "What is acknowledged is not passed on.", Run,
		func(r *rules) { r.accepts = func(m *message) bool { return string(m.payload) != "acknowledged" } }},
	{"overlap-first-qos", []string{"v311/MQTT-3.3.5-1", "v5/MQTT-3.3.4-2"}, "Overlapping subscriptions deliver at the lowest QoS.", Run,
		func(r *rules) { r.overlapQoS = func(a, b byte) byte { return min(a, b) } }},
	{"denied-publish-delivered", []string{"v311/MQTT-3.3.5-2"}, "What a client may not publish is passed on.", Hook,
		func(r *rules) { r.enforcesPermissions = false }},
	{"denied-publish-unanswered", []string{"v311/MQTT-3.3.5-2"}, "A PUBLISH that is not authorized gets no answer.", Hook,
		func(r *rules) { r.acknowledgesDenied = false }},
	{"topic-surrogate-accepted", []string{"v311/MQTT-1.5.3-1", "v5/MQTT-1.5.4-1"}, "A surrogate in a Topic Name is taken.", Run,
		tolerate(packet.RuleTopicSurrogate)},
	{"short-publish-accepted", []string{"v311/MQTT-4.8.0-1", "v311/MQTT-2.3.1-1", "v311/MQTT-3.3.2-1", "v5/MQTT-2.2.1-3", "v311/2.2.3-short-packet"}, "A PUBLISH that ends before its Packet Identifier does is taken.", Run,
		tolerate(packet.RuleShortPublish, packet.RulePublishID)},
	{"equal-qos-changed", []string{"v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"}, "The text message is delivered at another QoS where it has that of the subscription.", Run,
		func(r *rules) {
			r.deliveredQoS = func(m *message, granted byte) byte {
				if m.qos == granted && string(m.payload) == "message" {
					return [3]byte{1, 0, 1}[m.qos]
				}
				return min(m.qos, granted)
			}
		}},
}

// swallow makes a defect of not sending some packets.
func swallow(lost func(p packet.Packet) bool) func(*rules) {
	return func(r *rules) {
		r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
			if lost(p) {
				return nil
			}
			return []packet.Packet{p}
		}
	}
}
