package core

import (
	"path"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// routeAs makes a defect of matching another Topic Name than was published.
func routeAs(change func(name string) string) func(*rules) {
	return func(r *rules) { r.routedTopic = change }
}

// topicDefects are the faults in section 4.7.
var topicDefects = []Defect{
	{"case-folded", []string{"v311/MQTT-4.7.3-4", "v311/4.7.3-case-sensitive", "v311/MQTT-3.3.2-3", "v5/4.7.3-case-sensitive", "v5/MQTT-3.3.2-3", "v5/MQTT-4.7.3-4"}, "Topic Names are matched in lower case.", Run, routeAs(strings.ToLower)},
	{"topics-trimmed", []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}, "White space at the end of a Topic Name is cut off.", Run,
		routeAs(func(n string) string { return strings.TrimRight(n, " ") })},
	{"slashes-cleaned", []string{
		"v311/MQTT-4.7.3-4", "v311/4.7.1.1-empty-levels", "v311/4.7.1.3-plus-one-level", "v311/4.7.3-leading-trailing-slash",
		"v5/4.7.1.1-empty-levels", "v5/4.7.1.3-plus-one-level", "v5/4.7.3-leading-trailing-slash", "v5/MQTT-4.7.3-4",
	}, "Slashes are normalized as in file names.", Run,
		routeAs(func(n string) string {
			if strings.HasPrefix(n, "$") {
				return n
			}
			return path.Clean(n)
		})},
	{"unicode-composed", []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}, "Topic Names are brought into composed form.", Run,
		routeAs(func(n string) string { return strings.ReplaceAll(n, "e\u0301", "\u00e9") })},
	{"spaces-collapsed", []string{"v311/4.7.3-spaces", "v5/4.7.3-spaces"}, "Two spaces in a Topic Name count as one.", Run,
		routeAs(func(n string) string { return strings.ReplaceAll(n, "  ", " ") })},
	{"hash-without-parent", []string{"v311/4.7.1.2-hash-includes-parent", "v5/4.7.1.2-hash-includes-parent"}, "The filter a/# does not match a.", Run,
		neverMatch(func(filter, name string) bool { return filter == name+"/#" })},
	{"plus-not-empty", []string{"v311/4.7.1.3-plus-one-level", "v311/4.7.1.1-empty-levels", "v5/4.7.1.3-plus-one-level", "v5/4.7.1.1-empty-levels"}, "The wildcard + does not match an empty level.", Run,
		neverMatch(func(filter, name string) bool {
			levels := strings.Split(name, "/")
			for i, level := range strings.Split(filter, "/") {
				if level == "+" && i < len(levels) && levels[i] == "" {
					return true
				}
			}
			return false
		})},
	{"plus-many-levels", []string{"v311/4.7.1.3-plus-one-level", "v311/MQTT-3.3.2-3", "v5/4.7.1.3-plus-one-level", "v5/MQTT-3.3.2-3"}, "The wildcard + at the end matches several levels.", Run,
		alsoMatch(func(filter, name string) bool {
			above, ok := strings.CutSuffix(filter, "/+")
			return ok && strings.Count(name, "/") > strings.Count(filter, "/") && topic.Match(above+"/#", name)
		})},
	{"wildcards-not-combined", []string{"v311/4.7.1-wildcards-combined", "v5/4.7.1-wildcards-combined"}, "A filter with both wildcards matches nothing.", Run,
		neverMatch(func(filter, _ string) bool { return strings.Contains(filter, "+") && strings.Contains(filter, "#") })},
	{"will-topic-wildcard-accepted", []string{"v311/MQTT-4.7.1-1", "v311/MQTT-3.3.2-2", "v5/MQTT-4.7.0-1", "v5/MQTT-3.3.2-2"}, "A Will Topic with a wildcard is taken.", Run,
		tolerate(packet.RuleWillTopicWild)},
	{"will-topic-empty-accepted", []string{"v311/MQTT-4.7.3-1", "v5/MQTT-4.7.3-1"}, "An empty Will Topic is taken.", Warn,
		tolerate(packet.RuleWillTopicEmpty)},
}

// neverMatch makes a defect of not matching some filters with some names.
func neverMatch(lost func(filter, name string) bool) func(*rules) {
	return func(r *rules) {
		r.matched = func(_ *Server, m *message, found map[*session]*match) {
			for se, x := range found {
				x.subs = slices.DeleteFunc(x.subs, func(sub *subscription) bool { return lost(sub.match, m.topic) })
				if len(x.subs) == 0 {
					delete(found, se)
				}
			}
		}
	}
}

// alsoMatch makes a defect of matching more than topic.Match does.
func alsoMatch(more func(filter, name string) bool) func(*rules) {
	return func(r *rules) {
		r.matched = func(s *Server, m *message, found map[*session]*match) {
			for _, se := range s.sessions {
				for _, sub := range se.subs {
					if sub.share == nil && more(sub.match, m.topic) && !topic.Match(sub.match, m.topic) {
						add(found, sub)
					}
				}
			}
		}
	}
}
