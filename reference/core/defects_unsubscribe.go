package core

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// unsubscribeDefects are the faults in sections 3.10 and 3.11.
var unsubscribeDefects = []Defect{
	{"unsubscribe-flags-ignored", []string{"v311/MQTT-3.10.1-1", "v5/MQTT-3.10.1-1"}, "The flag bits of UNSUBSCRIBE are not looked at.", Run,
		tolerate(packet.RuleUnsubscribeFlags)},
	{"unsubscribe-utf8-unchecked", []string{"v311/MQTT-3.10.3-1", "v5/MQTT-3.10.3-1"}, "An ill-formed Topic Filter in UNSUBSCRIBE is taken.", Run,
		tolerate(packet.RuleUnsubscribeUTF8)},
	{"unsubscribe-nul-accepted", []string{"v311/MQTT-4.7.3-2", "v5/MQTT-4.7.3-2"}, "U+0000 in a Topic Filter of UNSUBSCRIBE is taken.", Run,
		tolerate(packet.RuleUnsubscribeNUL)},
	{"unsubscribe-empty-accepted", []string{"v311/MQTT-3.10.3-2", "v5/MQTT-3.10.3-2"}, "An UNSUBSCRIBE without a Topic Filter is answered.", Run,
		tolerate(packet.RuleUnsubscribeEmpty)},
	{"unsubscribe-id-0-accepted", []string{"v311/MQTT-2.3.1-1", "v5/MQTT-2.2.1-3"}, "An UNSUBSCRIBE with Packet Identifier 0 is taken.", Warn,
		tolerate(packet.RuleUnsubscribeID)},
	{"unsuback-id-swapped", []string{
		"v311/MQTT-3.10.4-4", "v311/MQTT-2.3.1-7", "v311/MQTT-3.10.4-5", "v311/MQTT-3.10.4-6",
		"v5/MQTT-3.10.4-4", "v5/MQTT-2.2.1-6", "v5/MQTT-3.10.4-5", "v5/MQTT-3.10.4-6",
	}, "UNSUBACK has the bytes of its identifier swapped.", Run,
		func(r *rules) { r.unsubackID = swapBytes }},
	{"unsuback-only-if-removed", []string{"v311/MQTT-3.10.4-5", "v5/MQTT-3.10.4-5", "v5/MQTT-3.10.4-4"}, "An UNSUBSCRIBE that removes nothing gets no UNSUBACK.", Run,
		func(r *rules) { r.answersUselessUnsubscribe = false }},
	{"unsubscribe-first-only", []string{"v311/MQTT-3.10.4-6", "v5/MQTT-3.10.4-6", "v5/MQTT-3.11.3-2"}, "Only the first filter of an UNSUBSCRIBE is removed.", Run,
		func(r *rules) {
			r.unsubscribed = func(filters []string) []string { return filters[:min(1, len(filters))] }
		}},
	{"unsubscribe-ignored", []string{"v311/MQTT-3.10.4-1", "v311/MQTT-3.10.4-2", "v311/MQTT-3.10.4-6", "v5/MQTT-3.10.4-1", "v5/MQTT-3.10.4-2", "v5/MQTT-3.10.4-6"}, "UNSUBSCRIBE is answered and removes nothing.", Run,
		func(r *rules) { r.findSubscriptions = func(*session, string) []*subscription { return nil } }},
	{"unsubscribe-by-match", []string{"v311/MQTT-3.10.4-1", "v5/MQTT-3.10.4-1", "v5/4.8.2-unsubscribe-full-filter"}, "UNSUBSCRIBE removes every subscription that its filter covers.", Run,
		func(r *rules) {
			r.findSubscriptions = func(se *session, filter string) []*subscription {
				var list []*subscription
				for _, sub := range se.subs {
					if sub.filter == filter || topic.Match(filter, sub.filter) {
						list = append(list, sub)
					}
				}
				return list
			}
		}},
	{"unsubscribe-case-blind", []string{"v311/MQTT-3.10.4-1", "v5/MQTT-3.10.4-1", "v5/4.8.2-unsubscribe-full-filter"}, "UNSUBSCRIBE does not tell upper from lower case.", Run,
		func(r *rules) {
			r.findSubscriptions = func(se *session, filter string) []*subscription {
				var list []*subscription
				for _, sub := range se.subs {
					if strings.EqualFold(sub.filter, filter) {
						list = append(list, sub)
					}
				}
				return list
			}
		}},
	{"unsubscribe-forgotten-on-resume", []string{"v311/MQTT-3.10.4-2", "v5/MQTT-3.10.4-2"}, "A Session still queues for a filter after UNSUBSCRIBE.", Run,
		func(r *rules) {
			r.unsubscribedFrom = func(se *session, sub *subscription) { se.ghosts = append(se.ghosts, sub) }
			r.detached = func(s *Server, se *session, _ ending) {
				for _, sub := range se.ghosts {
					s.addSubscription(se, sub, "")
				}
			}
		}},
	{"unsubscribe-drops-open", []string{"v311/MQTT-3.10.4-3", "v5/MQTT-3.10.4-3"}, "UNSUBSCRIBE throws away deliveries that have begun.", Run,
		func(r *rules) {
			r.unsubscribedFrom = func(se *session, sub *subscription) {
				for _, d := range slices.Clone(se.open) {
					if topic.Match(sub.match, d.message.topic) {
						se.finish(d)
					}
				}
			}
		}},
	{"unsubscribe-surrogate-accepted", []string{"v311/MQTT-3.10.3-1", "v5/MQTT-3.10.3-1"}, "A surrogate in a Topic Filter of UNSUBSCRIBE is taken.", Run,
		tolerate(packet.RuleUnsubscribeSurrogate)},
	{"unsubscribe-ends-qos2", []string{"v311/MQTT-3.10.4-3", "v5/MQTT-3.10.4-3"}, "UNSUBSCRIBE ends deliveries at QoS 2 that have begun, and their PUBREC gets no answer.", Run,
		func(r *rules) {
			r.unsubscribedFrom = func(se *session, sub *subscription) {
				for _, d := range slices.Clone(se.open) {
					if d.qos == 2 && topic.Match(sub.match, d.message.topic) {
						se.finish(d)
					}
				}
			}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBREL && c.session.byID[a.ID] == nil {
					return nil
				}
				return []packet.Packet{p}
			}
		}},
}
