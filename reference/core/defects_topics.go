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
