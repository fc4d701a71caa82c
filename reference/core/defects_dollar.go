package core

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// dollarDefects are the faults in section 4.7.2.
var dollarDefects = []Defect{
	{"dollar-matched-by-wildcard", rootWildcardKeys, "Filters that begin with a wildcard match topics that begin with $.", Run,
		alsoMatch(matchedWithDollar)},
	{"dollar-retained-matched", rootWildcardKeys, "A subscription that begins with a wildcard brings the retained messages of topics that begin with $.", Run,
		func(r *rules) {
			r.retainedMatches = func(filter, name string) bool {
				return retainedMatch(filter, name) || matchedWithDollar(filter, name)
			}
		}},
	{"dollar-matched-by-plus", rootWildcardKeys, "Topics that begin with $ are hidden from filters that begin with #, and not from those with +.", Run,
		alsoMatch(func(filter, name string) bool {
			return strings.HasPrefix(filter, "+") && matchedWithDollar(filter, name)
		})},
	{"dollar-will-matched", rootWildcardKeys, "A will on a topic that begins with $ reaches filters that begin with a wildcard.", Run,
		func(r *rules) {
			wills := map[string]bool{}
			r.storedWill = func(_ *session, w *will) *will {
				wills[w.message.topic] = true
				return w
			}
			alsoMatch(func(filter, name string) bool { return wills[name] && matchedWithDollar(filter, name) })(r)
		}},
	{"dollar-shared-matched", []string{"v5/MQTT-4.7.2-1"}, "Shared Subscriptions whose filter begins with a wildcard match topics that begin with $.", Run,
		func(r *rules) {
			r.matched = func(s *Server, m *message, _ map[*session]*match) {
				for _, sh := range s.shares {
					if matchedWithDollar(sh.match, m.topic) {
						s.deliverShared(sh, m)
					}
				}
			}
		}},
	{"dollar-hidden", explicitKeys, "No filter with a wildcard matches a topic that begins with $.", Warn,
		neverMatch(func(filter, name string) bool {
			return strings.HasPrefix(name, "$") && strings.ContainsAny(filter, "+#")
		})},
	{"dollar-retained-hidden", explicitKeys, "No subscription with + brings the retained messages of topics that begin with $.", Warn,
		func(r *rules) {
			r.retainedMatches = func(filter, name string) bool {
				return retainedMatch(filter, name) && !(strings.HasPrefix(name, "$") && strings.Contains(filter, "+"))
			}
		}},
	{"dollar-hidden-beside-hash", explicitKeys, "A client with a subscription to # gets nothing that begins with $, whatever else it subscribes to.", Warn,
		func(r *rules) {
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if p, ok := p.(*packet.Publish); ok && strings.HasPrefix(p.Topic, "$") && c.session.subs["#"] != nil {
					return nil
				}
				return []packet.Packet{p}
			}
		}},
	{"dollar-anywhere-hidden", []string{"v5/4.7.2-dollar-inside"}, "Wildcards match no topic with a level that begins with $.", Run,
		neverMatch(func(filter, name string) bool {
			return strings.Contains(name, "/$") && strings.ContainsAny(filter, "+#")
		})},
	{"sys-case-blind", []string{"v311/4.7.3-case-sensitive", "v5/4.7.3-case-sensitive"}, "The topics of the server are found under $sys as well.", Run,
		func(r *rules) {
			r.retainedMatches = func(filter, name string) bool {
				rest, ok := strings.CutPrefix(filter, "$sys/")
				return retainedMatch(filter, name) || ok && topic.Match("$SYS/"+rest, name)
			}
		}},
	{"sys-updates-retained", []string{"v311/MQTT-3.3.1-9", "v5/MQTT-3.3.1-12"}, "New values of the topics of the server have RETAIN 1.", Run,
		func(r *rules) {
			r.liveRetain = func(m *message, asPublished bool) bool {
				return asPublished || m.retain && strings.HasPrefix(m.topic, "$SYS/")
			}
		}},
}

var (
	rootWildcardKeys = []string{"v311/MQTT-4.7.2-1", "v5/MQTT-4.7.2-1"}
	explicitKeys     = []string{"v311/4.7.2-dollar-explicit-filter", "v5/4.7.2-dollar-explicit-filter"}
)

// matchedWithDollar tells whether a filter that begins with a wildcard matches a
// name that begins with $ when the $ is a character like any other.
func matchedWithDollar(filter, name string) bool {
	return strings.HasPrefix(name, "$") && strings.IndexAny(filter, "#+") == 0 && topic.Match(filter, "_"+name[1:])
}
