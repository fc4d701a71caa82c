package core

import (
	"maps"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// takersWith makes a defect of who gets the messages of a share.
func takersWith(change func(s *Server, sh *share, m *message, chosen []*subscription) []*subscription) func(*rules) {
	return func(r *rules) { r.sharedTakers = change }
}

// sharedDefects are the faults in section 4.8.2 that are about who gets a
// message.
var sharedDefects = []Defect{
	{"share-to-all", []string{"v5/4.8.2-one-member-gets-it", "v5/4.8.2-groups-independent", "v5/4.8.2-shared-and-plain"}, "A message of a Shared Subscription goes to all members.", Run,
		takersWith(func(_ *Server, sh *share, _ *message, _ []*subscription) []*subscription { return sh.members })},
	{"share-qos0-to-all", []string{"v5/4.8.2-one-member-gets-it"}, "A message at QoS 0 goes to all members.", Run,
		takersWith(func(_ *Server, sh *share, m *message, chosen []*subscription) []*subscription {
			if m.qos == 0 {
				return sh.members
			}
			return chosen
		})},
	{"share-name-ignored", []string{"v5/4.8.2-groups-independent", "v5/4.8.2-one-member-gets-it", "v5/4.8.2-shared-and-plain"}, "Groups of one filter are one, whatever their ShareName.", Run,
		func(r *rules) { r.shareID = func(_, inner string) string { return inner } }},
	{"share-name-case-blind", []string{"v5/4.8.2-groups-independent"}, "ShareNames that differ in case are one.", Run,
		func(r *rules) {
			r.shareID = func(name, inner string) string { return strings.ToLower(name) + "/" + inner }
		}},
	{"share-filter-ignored", []string{"v5/4.8.2-groups-independent"}, "Groups of one ShareName are one, with the filter of the first.", Run,
		func(r *rules) { r.shareID = func(name, _ string) string { return name } }},
	{"share-name-odd", []string{"v5/4.8.2-one-member-gets-it"}, "A ShareName of other than a few letters makes no group: each member gets all.", Run,
		takersWith(func(_ *Server, sh *share, _ *message, chosen []*subscription) []*subscription {
			name, _, _ := strings.Cut(sh.id, "/")
			odd := func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }
			if len(name) > 64 || strings.ContainsFunc(name, odd) {
				return sh.members
			}
			return chosen
		})},
	{"share-once-per-client", []string{"v5/4.8.2-groups-independent", "v5/4.8.2-shared-and-plain"}, "A client that one group has given a message gets no copy by another.", Run,
		func(r *rules) {
			given := map[*session]uint64{}
			r.sharedTakers = func(_ *Server, _ *share, m *message, chosen []*subscription) []*subscription {
				return slices.DeleteFunc(chosen, func(sub *subscription) bool {
					again := given[sub.session] == m.serial
					given[sub.session] = m.serial
					return again
				})
			}
		}},
	{"share-takes-plain-of-members", []string{"v5/4.8.2-shared-and-plain", "v311/MQTT-4.5.0-1"}, "A message for the plain subscriptions of Sessions that are in a group goes to one of them only.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				kept := false
				for se := range found {
					if !slices.ContainsFunc(slices.Collect(maps.Values(se.subs)), func(sub *subscription) bool { return sub.share != nil }) {
						continue
					}
					if kept {
						delete(found, se)
					}
					kept = true
				}
			}
		}},
	{"share-not-beside-plain", []string{"v5/4.8.2-shared-and-plain"}, "A client with a plain subscription gets no copy as a member.", Run,
		takersWith(func(_ *Server, _ *share, m *message, chosen []*subscription) []*subscription {
			return slices.DeleteFunc(chosen, func(sub *subscription) bool { return hasPlain(sub.session, m) })
		})},
	{"share-takes-from-plain", []string{"v5/4.8.2-shared-and-plain"}, "A message that a group takes reaches no plain subscription.", Run,
		func(r *rules) {
			r.matched = func(s *Server, m *message, found map[*session]*match) {
				for _, sh := range s.shares {
					if topic.Match(sh.match, m.topic) {
						clear(found)
					}
				}
			}
		}},
	{"share-left-with-plain", []string{"v5/4.8.2-shared-and-plain", "v5/4.8.2-unsubscribe-full-filter", "v5/MQTT-3.11.3-1"}, "UNSUBSCRIBE removes shared and plain subscriptions of one filter together.", Run,
		func(r *rules) {
			r.findSubscriptions = func(se *session, filter string) []*subscription {
				_, inner, _, err := topic.ParseShared(filter)
				var list []*subscription
				for _, sub := range se.subs {
					if err == nil && sub.match == inner {
						list = append(list, sub)
					}
				}
				return list
			}
		}},
	{"share-prefix-matched", []string{"v5/4.8.2-share-prefix-not-matched"}, "A message that is published to $share/ShareName/topic reaches the topic.", Run,
		func(r *rules) {
			r.routedTopic = func(name string) string {
				if _, inner, shared, err := topic.ParseShared(name); shared && err == nil {
					return inner
				}
				return name
			}
		}},
	{"share-topic-rewritten", []string{"v5/4.8.2-share-prefix-not-matched"}, "Members get the message with the filter as its Topic Name.", Run,
		func(r *rules) {
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if p, ok := p.(*packet.Publish); ok && c.session != nil {
					for _, sub := range c.session.subs {
						if sub.share != nil && !strings.ContainsAny(sub.match, "#+") && sub.match == p.Topic && strings.HasSuffix(p.Topic, "/a") {
							p.Topic = sub.filter
						}
					}
				}
				return []packet.Packet{p}
			}
		}},
	{"share-first-level-lost", []string{"v5/4.8.2-share-prefix-not-matched"}, "Of a filter with more than five levels the first counts as part of the ShareName.", Run,
		func(r *rules) {
			r.parsedShare = func(filter string) (name, inner string, shared bool, err error) {
				name, inner, shared, err = topic.ParseShared(filter)
				if first, rest, _ := strings.Cut(inner, "/"); shared && strings.Count(rest, "/") > 3 && first != "" {
					return name + "/" + first, rest, shared, err
				}
				return name, inner, shared, err
			}
		}},
	{"share-leading-slash-lost", []string{"v5/4.8.2-empty-first-level"}, "A slash at the beginning of the filter of a share is dropped.", Run,
		func(r *rules) {
			r.parsedShare = func(filter string) (name, inner string, shared bool, err error) {
				name, inner, shared, err = topic.ParseShared(filter)
				if shared && len(inner) > 1 {
					inner = strings.TrimPrefix(inner, "/")
				}
				return name, inner, shared, err
			}
		}},
	{"share-filter-malformed-granted", []string{"v5/MQTT-4.8.2-1", "v5/MQTT-4.8.2-2"}, "A filter with $share and no ShareName, or one with wildcards, is taken as a plain one.", Warn,
		takeFilters(topic.ErrShare)},
	{"share-ends-with-creator", []string{"v5/3.10.4-shared-detach", "v5/4.8.2-one-member-gets-it", "v5/4.8.2-resubscribe-no-double"}, "A Shared Subscription ends when its first member leaves by UNSUBSCRIBE.", Run,
		func(r *rules) {
			creators := map[string]*session{}
			r.sharedJoined = func(_ *Server, sub *subscription) {
				if len(sub.share.members) == 1 {
					creators[sub.share.id] = sub.session
				}
			}
			r.unsubscribedFrom = func(se *session, sub *subscription) {
				if sub.share != nil && creators[sub.share.id] == se {
					sub.share.members = nil
				}
			}
		}},
	{"share-remembers-leaver", []string{"v5/4.8.2-one-member-gets-it", "v5/3.10.4-shared-detach", "v5/4.8.2-resubscribe-no-double"}, "The second message after a member has left by UNSUBSCRIBE is lost with its turn.", Run,
		takersWithLeavers(func(sub *subscription) bool { return sub.session.conn != nil })},
	{"share-remembers-session", []string{"v5/4.8.2-leave-on-session-end"}, "The second message after the Session of a member has ended is lost with its turn.", Run,
		takersWithLeavers(func(sub *subscription) bool { return sub.session.conn == nil })},
	{"share-counts-twice", []string{"v5/4.8.2-resubscribe-no-double", "v5/MQTT-4.8.2-3"}, "A member that subscribes again is in the group twice.", Run,
		func(r *rules) {
			r.replaces = func(_ *Server, old, _ *subscription) bool {
				if old.share != nil {
					ghost := *old
					old.share.members = append(old.share.members, &ghost)
				}
				return true
			}
		}},
	{"share-outlives-members", []string{"v5/4.8.2-ends-with-last"}, "What comes for a group without members, or waited for the last, is kept for the next.", Run, keepForNext},
	{"share-away-loses", []string{"v5/4.8.2-one-member-gets-it"}, "A message for a member that is away is lost.", Run,
		func(r *rules) {
			r.sharedTakers = func(_ *Server, sh *share, m *message, chosen []*subscription) []*subscription {
				for _, sub := range sh.members {
					if sub.session.conn == nil && m.serial%2 == 0 {
						return []*subscription{sub}
					}
				}
				return chosen
			}
			r.storesOffline = func(d *delivery) bool { return d.share == nil }
		}},
}

// hasPlain tells whether a Session has a plain subscription for a message.
func hasPlain(se *session, m *message) bool {
	for _, sub := range se.subs {
		if sub.share == nil && topic.Match(sub.match, m.topic) {
			return true
		}
	}
	return false
}

// takersWithLeavers makes a defect that loses the second message after a
// member of a certain kind has left while others stay.
func takersWithLeavers(counts func(sub *subscription) bool) func(*rules) {
	return func(r *rules) {
		messages := map[*share]int{}
		r.sharedLeft = func(_ *Server, sh *share, sub *subscription) {
			if counts(sub) {
				messages[sh] = 1
			}
		}
		r.sharedTakers = func(_ *Server, sh *share, _ *message, chosen []*subscription) []*subscription {
			n, gone := messages[sh]
			if gone {
				messages[sh] = n + 1
			}
			if gone && n == 2 {
				return nil
			}
			return chosen
		}
	}
}

// keepForNext collects for shares that have no member any more.
func keepForNext(r *rules) {
	kept, filters := map[string][]*message{}, map[string]string{}
	r.sharedLeft = func(_ *Server, sh *share, _ *subscription) {
		if len(sh.members) == 0 {
			filters[sh.id] = sh.match
		}
	}
	r.matched = func(s *Server, m *message, _ map[*session]*match) {
		for id, filter := range filters {
			if s.shares[id] == nil && topic.Match(filter, m.topic) {
				kept[id] = append(kept[id], m)
			}
		}
	}
	r.sessionEnded = func(s *Server, se *session) {
		for _, d := range se.queue {
			if d.share != nil && s.shares[d.share.id] == nil {
				kept[d.share.id] = append(kept[d.share.id], d.message)
			}
		}
	}
	r.sharedJoined = func(s *Server, sub *subscription) {
		for _, m := range kept[sub.share.id] {
			s.enqueueShared(sub, m)
		}
		delete(kept, sub.share.id)
	}
}

// otherMember returns a member other than a Session, nil where there is none.
func otherMember(sh *share, se *session) *subscription {
	i := slices.IndexFunc(sh.members, func(sub *subscription) bool { return sub.session != se && sub.session.conn != nil })
	if i < 0 {
		return nil
	}
	return sh.members[i]
}

// sharedDeliveryDefects are the faults in section 4.8.2 that are about single
// deliveries.
var sharedDeliveryDefects = []Defect{
	{"share-at-highest-grant", []string{"v5/MQTT-4.8.2-3"}, "A message is delivered within the highest QoS granted to any member.", Run,
		func(r *rules) {
			r.sharedGrant = func(sub *subscription) (most byte) {
				for _, m := range sub.share.members {
					most = max(most, m.qos)
				}
				return most
			}
		}},
	{"share-keeps-first-grant", []string{"v5/MQTT-4.8.2-3"}, "A member that subscribes again keeps its first QoS.", Run,
		replaceWith(func(old, sub *subscription) {
			if old.share != nil {
				sub.qos = old.qos
			}
		})},
	{"share-gets-retained", []string{"v5/3.8.4-no-retained-for-shared-new", "v5/3.8.4-no-retained-for-shared-existing"}, "A Session that joins a group gets the retained messages.", Run,
		func(r *rules) { r.sharedGetsNoRetained = false }},
	{"share-identifier-of-first", []string{"v5/3.3.4-subscription-id-shared"}, "All members get the Subscription Identifier of the first.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, _ []*subscription) []uint32 {
				if sh := subs[0].share; sh != nil {
					return identifiers(sh.members[:1])
				}
				return identifiers(subs)
			}
		}},
	{"share-without-identifier", []string{"v5/3.3.4-subscription-id-shared", "v5/MQTT-3.3.4-3"}, "A message of a group has no Subscription Identifier.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, _ []*subscription) []uint32 {
				if subs[0].share != nil {
					return nil
				}
				return identifiers(subs)
			}
		}},
	{"share-qos2-not-finished", []string{"v5/MQTT-4.8.2-4", "v5/MQTT-4.8.2-5"}, "A QoS 2 delivery that has begun goes to another member when the connection breaks.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, _ ending) {
				for _, d := range slices.Clone(se.open) {
					if d.share == nil || d.qos != 2 || d.finished || se.expiry == 0 {
						continue
					}
					if sub := otherMember(d.share, se); sub != nil {
						se.finish(d)
						s.enqueueShared(sub, d.message)
					}
				}
			}
		}},
	{"share-qos2-handed-on", []string{"v5/MQTT-4.8.2-5"}, "A QoS 2 delivery that has begun goes to another member when the Session ends.", Run,
		func(r *rules) { r.handsOn = func(*delivery) bool { return true } }},
	{"share-refused-handed-on", []string{"v5/MQTT-4.8.2-6"}, "A message that a member refuses goes to another.", Run,
		onRefusal(func(s *Server, se *session, d *delivery) bool {
			if sub := otherMember(d.share, se); sub != nil {
				s.enqueueShared(sub, d.message)
			}
			return true
		})},
	{"share-refused-kept", []string{"v5/MQTT-4.8.2-6"}, "A message that a member refuses is sent to it again.", Run,
		onRefusal(func(*Server, *session, *delivery) bool { return false })},
	{"share-not-handed-on", []string{"v5/4.8.2-qos1-redelivery-after-session-end"}, "What a member has not acknowledged at QoS 1 is thrown away with its Session.", Warn,
		func(r *rules) { r.handsOn = func(*delivery) bool { return false } }},
	{"share-handed-on-with-dup", []string{"v5/MQTT-3.3.1-3"}, "What goes to another member has DUP 1.", Warn,
		func(r *rules) {
			first := map[*message]*delivery{}
			r.dup = func(d *delivery) bool {
				if d.share != nil && first[d.message] == nil {
					first[d.message] = d
				}
				return d.qos > 0 && (d.sent || d.share != nil && first[d.message] != d)
			}
		}},
	{"share-away-unacknowledged", []string{"v5/MQTT-3.3.4-1", "v311/MQTT-3.3.4-1"}, "A publication is not acknowledged that waits for the only member of a group.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if pub, ok := p.(*packet.Publish); ok && onlyAway(s, pub.Topic) {
					pub.QoS = 0
				}
				return p
			}
		}},
	{"share-away-not-counted", []string{"v5/3.4.2.1-puback-pubrec-code-10"}, "A publisher is told that there is no subscriber when the only member of a group is away.", Warn,
		func(r *rules) {
			away := map[*conn]bool{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if pub, ok := p.(*packet.Publish); ok {
					away[c] = onlyAway(s, pub.Topic)
				}
				return p
			}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if ack, ok := p.(*packet.Ack); ok && ack.Kind == packet.PUBACK && away[c] && c.five() {
					ack.Code = packet.NoMatchingSubscribers
				}
				return []packet.Packet{p}
			}
		}},
}

// onlyAway tells whether a topic has a group whose only member is away.
func onlyAway(s *Server, name string) bool {
	for _, sh := range s.shares {
		if len(sh.members) == 1 && sh.members[0].session.conn == nil && topic.Match(sh.match, name) {
			return true
		}
	}
	return false
}

// onRefusal makes a defect of what becomes of a message that a member refuses;
// do tells whether the exchange ends.
func onRefusal(do func(s *Server, se *session, d *delivery) bool) func(*rules) {
	return func(r *rules) {
		r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
			ack, ok := p.(*packet.Ack)
			if !ok || ack.Code < packet.UnspecifiedError || c.session == nil {
				return p
			}
			if d := c.session.byID[ack.ID]; d != nil && d.share != nil && !do(s, c.session, d) {
				return nil
			}
			return p
		}
	}
}
