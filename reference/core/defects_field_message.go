package core

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// fieldMessageDefects are faults that brokers have had with retained messages,
// topics, properties and subscriptions.
var fieldMessageDefects = []Defect{
	{"retained-at-stored-qos", []string{"v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"}, "A retained message is delivered at its own QoS, whatever was granted.", Run,
		func(r *rules) { r.welcomeQoS = func(m *message, _ *subscription) byte { return m.qos } }},
	{"retained-at-stored-qos-by-wildcard", []string{"v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"}, "A retained message is delivered at its own QoS to a filter with wildcards.", Run,
		func(r *rules) {
			r.welcomeQoS = func(m *message, sub *subscription) byte {
				if wild(sub.match) {
					return m.qos
				}
				return min(m.qos, sub.qos)
			}
		}},
	{"retained-by-exact-filter-only", []string{
		"v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9", "v311/3.8.4-new-subscription-retained", "v311/MQTT-3.3.1-8", "v5/3.3.1.3-retained-flag-on-subscribe",
	}, "A filter with wildcards brings no retained messages.", Run,
		retainedMatching(func(filter, name string) bool { return filter == name })},
	{"retained-not-by-hash-alone", []string{"v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9"}, "The filter # brings no retained messages.", Run,
		retainedMatching(func(filter, name string) bool { return filter != "#" && topic.Match(filter, name) })},
	{"retained-not-by-both-wildcards", []string{"v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9"}, "A filter with both wildcards brings no retained messages.", Run,
		retainedMatching(func(filter, name string) bool {
			return !(strings.Contains(filter, "+") && strings.Contains(filter, "#")) && topic.Match(filter, name)
		})},
	{"retained-of-first-branch", []string{"v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9"}, "Where + is followed by more levels the retained messages of one branch are found.", Run,
		func(r *rules) {
			branch := map[string]string{}
			r.retainedMatches = func(filter, name string) bool {
				before, after, found := strings.Cut(filter, "+/")
				if !topic.Match(filter, name) || !found || len(name) < len(before) || !wild(after) {
					return topic.Match(filter, name)
				}
				level, _, _ := strings.Cut(name[len(before):], "/")
				if branch[filter] == "" {
					branch[filter] = level
				}
				return branch[filter] == level
			}
		}},
	{"retained-at-qos-1-not-sent", []string{
		"v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9", "v311/MQTT-3.1.2-17",
		"v311/MQTT-3.1.2-7", "v311/MQTT-3.3.1-11", "v311/MQTT-3.3.1-12", "v311/MQTT-3.3.1-5",
		"v311/MQTT-3.3.1-8", "v5/3.3.1.3-retained-flag-on-subscribe", "v5/3.3.2.3.4-alias-set-and-use", "v5/4.1-retained-not-session",
		"v5/MQTT-3.1.2-15", "v5/MQTT-3.1.2-25", "v5/MQTT-3.3.1-5",
		"v5/MQTT-3.3.1-7", "v5/MQTT-3.3.1-8",
	}, "Messages that were retained at QoS 1 are not sent to new subscriptions.", Run,
		func(r *rules) {
			r.retainedFor = func(found []*message) []*message {
				return slices.DeleteFunc(found, func(m *message) bool { return m.qos == 1 })
			}
		}},
	{"retained-burst-cut", []string{"v311/MQTT-3.3.1-6", "v5/MQTT-3.3.1-9"}, "A SUBSCRIBE brings at most 100 retained messages.", Run,
		func(r *rules) {
			r.retainedFor = func(found []*message) []*message { return found[:min(len(found), 100)] }
		}},
	{"retained-not-queued", []string{"v311/MQTT-3.1.2-5", "v5/MQTT-4.5.0-1"}, "A message with RETAIN 1 is not queued for a client that is away.", Run,
		func(r *rules) { r.storesOffline = func(d *delivery) bool { return !d.message.retain } }},
	{"retained-flag-by-option", []string{"v5/3.3.1.3-retained-flag-on-subscribe", "v311/MQTT-3.1.2-17", "v311/MQTT-3.3.1-8", "v5/MQTT-3.1.2-15"}, "RETAIN of a retained message depends on Retain As Published.", Run,
		func(r *rules) { r.welcomeRetain = func(sub *subscription) bool { return sub.retainAsPublished } }},
	{"retain-as-published-not-queued", []string{"v5/MQTT-3.3.1-13"}, "Retain As Published has no effect on what is queued for a client that is away.", Run,
		func(r *rules) {
			r.storesOffline = func(d *delivery) bool {
				d.retain = false
				return true
			}
		}},
	{"retain-flag-1-by-wildcard", []string{"v311/MQTT-3.3.1-9", "v5/MQTT-3.3.1-12"}, "An existing subscription with wildcards gets the publisher's RETAIN flag.", Run,
		func(r *rules) {
			r.subscribed = func(asked []packet.Subscription) []packet.Subscription {
				list := slices.Clone(asked)
				for i, sub := range list {
					list[i].RetainAsPublished = sub.RetainAsPublished || wild(sub.Filter)
				}
				return list
			}
		}},
	{"filter-covers-levels-below", []string{"v311/MQTT-3.3.2-3", "v5/MQTT-3.3.2-3", "v311/4.7.3-leading-trailing-slash", "v5/4.7.3-leading-trailing-slash"}, "A filter without wildcards also matches all levels below.", Run,
		func(r *rules) {
			r.storedFilter = func(filter string) string {
				if wild(filter) {
					return filter
				}
				return filter + "/#"
			}
		}},
	{"dots-escaped", []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}, "A dot in a Topic Name is passed on with a slash before it.", Run,
		func(r *rules) {
			r.deliveredTopic = func(name string) string { return strings.ReplaceAll(name, ".", "/.") }
		}},
	{"punctuation-dropped", []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}, "Stars, backslashes, brackets and signs of comparison are left out of the Topic Names that are passed on.", Run,
		func(r *rules) {
			r.deliveredTopic = strings.NewReplacer("*", "", `\`, "", "[", "", "]", "", "{", "", "}", "", "<", "", ">", "").Replace
		}},
	{"dots-are-slashes", []string{"v311/MQTT-4.7.3-4", "v5/MQTT-4.7.3-4"}, "A dot in a Topic Name or filter counts as a slash.", Run,
		func(r *rules) {
			level := func(name string) string { return strings.ReplaceAll(name, ".", "/") }
			r.routedTopic, r.storedFilter = level, level
		}},
	{"long-topics-refused", []string{"v311/1.5.3-string-length", "v5/1.5.4-string-length-range"}, "A Topic Name of more than 200 bytes ends the connection.", Warn,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && len(m.Topic) > 200 {
					s.fail(c, packet.TopicNameInvalid, "the Topic Name is too long")
					return nil
				}
				return p
			}
		}},
	{"response-topic-dropped", []string{"v5/MQTT-3.3.2-15"}, "The Response Topic is not passed on.", Run,
		func(r *rules) {
			r.forwarded = func(ps *packet.Properties) packet.Properties {
				kept := forwarded(ps)
				kept.ResponseTopic = nil
				return kept
			}
		}},
	{"response-topic-empty-accepted", []string{"v5/MQTT-4.7.3-1"}, "An empty Response Topic is taken.", Warn,
		tolerate(packet.RuleResponseTopicEmpty)},
	{"expiry-dropped-at-the-end", []string{"v5/MQTT-3.3.2-6"}, "In its last second a message is sent without its Message Expiry Interval.", Run,
		func(r *rules) {
			r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.Properties.MessageExpiryInterval != nil && *m.Properties.MessageExpiryInterval <= 1 {
					m.Properties.MessageExpiryInterval = nil
				}
				return []packet.Packet{p}
			}
		}},
	{"no-local-late", []string{"v5/MQTT-3.8.3-3", "v5/MQTT-3.8.4-3"}, "No Local has no effect on the first message after SUBSCRIBE.", Run,
		func(r *rules) {
			seen := map[*subscription]bool{}
			r.local = func(sub *subscription, m *message) bool {
				later := seen[sub]
				seen[sub] = true
				return later && local(sub, m)
			}
		}},
	{"no-local-not-for-requests", []string{"v5/MQTT-3.8.3-3"}, "No Local has no effect on a message with a Response Topic.", Run,
		func(r *rules) {
			r.local = func(sub *subscription, m *message) bool { return m.properties.ResponseTopic == nil && local(sub, m) }
		}},
	{"largest-identifier-refused", []string{"v5/3.8.2.1.2-subscription-id-range"}, "The largest Subscription Identifier is refused.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if sub, ok := p.(*packet.Subscribe); ok && slices.Contains(sub.Properties.SubscriptionIdentifiers, 268435455) {
					s.fail(c, packet.ProtocolError, "the Subscription Identifier is too large")
					return nil
				}
				return p
			}
		}},
	{"suback-only-if-granted", []string{"v311/MQTT-4.7.1-2", "v311/MQTT-4.7.1-3", "v5/MQTT-4.7.1-1", "v5/MQTT-4.7.1-2", "v5/MQTT-4.8.2-2"}, "A SUBSCRIBE with a filter that is refused gets no SUBACK.", Warn,
		func(r *rules) {
			r.answersSubscribe = func(p *packet.Subscribe) bool {
				return !slices.ContainsFunc(p.Subscriptions, func(sub packet.Subscription) bool { return topic.ValidFilter(sub.Filter) != nil })
			}
		}},
	{"alias-unknown-is-empty", []string{"v5/3.3.2.3.4-alias-unknown"}, "A Topic Alias that is not set stands for an empty Topic Name.", Warn,
		func(r *rules) { r.unknownAlias = func(uint16) (string, bool) { return "", true } }},
	{"share-of-empty-filter-granted", []string{"v5/MQTT-4.8.2-2"}, "A shared subscription with an empty filter is granted.", Warn,
		func(r *rules) {
			r.parsedShare = func(filter string) (name, inner string, shared bool, err error) {
				if strings.HasPrefix(filter, "$share/") && strings.Count(filter, "/") == 2 && strings.HasSuffix(filter, "/") {
					return filter[7 : len(filter)-1], filter, true, nil
				}
				return topic.ParseShared(filter)
			}
		}},
	{"share-is-plain", []string{
		"v5/4.8.2-share-prefix-not-matched", "v5/4.8.2-one-member-gets-it", "v5/4.8.2-shared-and-plain", "v5/MQTT-3.8.4-5", "v5/MQTT-4.8.2-2",
		"v5/MQTT-3.1.2-5", "v5/3.2.2.3.13-shared-not-supported", "v5/3.4.2.1-puback-pubrec-code-10", "v5/MQTT-3.8.3-4",
		"v5/3.10.4-shared-detach", "v5/MQTT-4.5.0-1", "v5/MQTT-4.8.2-1", "v5/MQTT-4.8.2-3",
		"v5/4.8.2-empty-first-level", "v5/4.8.2-ends-with-last", "v5/4.8.2-groups-independent", "v5/4.8.2-leave-on-session-end",
		"v5/4.8.2-resubscribe-no-double", "v5/4.8.2-unsubscribe-full-filter",
	}, "A filter that begins with $share is granted and taken as a plain one.", Run,
		func(r *rules) {
			r.parsedShare = func(filter string) (name, inner string, shared bool, err error) { return "", filter, false, nil }
		}},
	{"share-one-of-all", []string{"v5/4.8.2-groups-independent"}, "Of all Shared Subscriptions that match, one gets a message.", Run,
		func(r *rules) {
			served := map[uint64]bool{}
			r.sharedTakers = func(_ *Server, _ *share, m *message, chosen []*subscription) []*subscription {
				if served[m.serial] {
					return nil
				}
				served[m.serial] = len(chosen) > 0
				return chosen
			}
		}},
	{"share-lost-on-resume", []string{"v5/MQTT-3.1.2-5"}, "A member whose Session is resumed is in the group no more.", Run,
		func(r *rules) {
			r.attached = func(s *Server, se *session, resumed bool) {
				for _, sub := range se.subs {
					if resumed && sub.share != nil {
						s.leave(sub)
					}
				}
			}
		}},
	{"share-queue-closes", []string{"v5/MQTT-4.5.0-1"}, "What waited for a member ends its connection when it is sent.", Run,
		func(r *rules) {
			back := map[*conn]bool{}
			r.attached = func(_ *Server, se *session, resumed bool) {
				if resumed {
					back[se.conn] = slices.ContainsFunc(se.queue, func(d *delivery) bool { return d.share != nil })
				}
			}
			r.outgoing = func(s *Server, c *conn, p packet.Packet) []packet.Packet {
				if _, ok := p.(*packet.Publish); ok && back[c] {
					s.close(c, dropped)
					return nil
				}
				return []packet.Packet{p}
			}
		}},
	{"share-done-when-sent", []string{"v5/MQTT-4.4.0-1"}, "What a member of a group has not acknowledged at QoS 1 is not sent again.", Run,
		func(r *rules) {
			r.resends = func(_ *conn, d *delivery) bool { return d.share == nil || d.qos != 1 }
			r.handsOn = func(d *delivery) bool { return !d.sent }
		}},
}

func wild(filter string) bool { return strings.ContainsAny(filter, "+#") }

// retainedMatching makes a defect of how retained messages are looked up.
func retainedMatching(match func(filter, name string) bool) func(*rules) {
	return func(r *rules) { r.retainedMatches = match }
}
