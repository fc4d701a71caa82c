package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// identifierDefects are the faults of Subscription Identifiers: sections 3.3.4,
// 3.8.2.1.2 and 3.8.4.
var identifierDefects = []Defect{
	{"identifier-only-at-qos-1", []string{"v5/MQTT-3.3.4-3"}, "A message published at QoS 0 or 2 has no Subscription Identifier.", Run,
		func(r *rules) {
			r.identifiers = func(m *message, subs, _ []*subscription) []uint32 {
				if m.qos != 1 {
					return nil
				}
				return identifiers(subs)
			}
		}},
	{"identifier-not-at-qos-1", []string{"v5/MQTT-3.3.4-3", "v5/MQTT-3.3.4-4", "v5/3.3.2.3.8-subscription-id-zero", "v5/3.3.4-subscription-id-foreign",
		"v5/3.3.4-subscription-id-same-value", "v5/3.8.2.1.2-subscription-id-all-filters", "v5/3.8.4-subscription-ids-in-session",
		"v5/3.8.4-subscription-ids-removed", "v5/3.8.2.1.2-subscription-id-range",
	}, "A message published at QoS 1 has no Subscription Identifier.", Run,
		func(r *rules) {
			r.identifiers = func(m *message, subs, _ []*subscription) []uint32 {
				if m.qos == 1 {
					return nil
				}
				return identifiers(subs)
			}
		}},
	{"identifier-not-on-retained", []string{"v5/MQTT-3.3.4-3"}, "A retained message has no Subscription Identifier.", Run,
		func(r *rules) {
			r.identifiers = func(m *message, subs, _ []*subscription) []uint32 {
				if m.retain {
					return nil
				}
				return identifiers(subs)
			}
		}},
	{"identifier-of-first-match", []string{"v5/MQTT-3.3.4-4", "v5/MQTT-3.3.4-3", "v5/3.3.4-subscription-id-same-value"}, "Of overlapping subscriptions only the first has its Subscription Identifier sent.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, _ []*subscription) []uint32 {
				ids := identifiers(subs)
				return ids[:min(1, len(ids))]
			}
		}},
	{"identifiers-merged", []string{"v5/3.3.4-subscription-id-same-value"}, "Equal Subscription Identifiers are sent once.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, _ []*subscription) []uint32 {
				ids := identifiers(subs)
				slices.Sort(ids)
				return slices.Compact(ids)
			}
		}},
	{"identifiers-on-first-copy", []string{"v5/MQTT-3.3.4-5"}, "Of several copies the first has the Subscription Identifiers of all.", Run,
		func(r *rules) {
			r.overlapCopies = func(_ bool, subs []*subscription) [][]*subscription { return overlapCopies(true, subs) }
			r.identifiers = func(_ *message, subs, all []*subscription) []uint32 {
				if subs[0] != all[0] {
					return nil
				}
				return identifiers(all)
			}
		}},
	{"identifier-made-up", []string{"v5/3.3.4-subscription-id-foreign"}, "A subscription without an identifier counts with one when it overlaps others.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, all []*subscription) []uint32 {
				ids := identifiers(subs)
				if len(all) > 1 && len(ids) < len(subs) {
					ids = append(ids, 268435455)
				}
				return ids
			}
		}},
	{"identifier-of-session", []string{"v5/3.3.4-subscription-id-foreign"}, "A subscription without an identifier takes the smallest that its Session has.", Run,
		func(r *rules) {
			r.identifiers = func(_ *message, subs, all []*subscription) []uint32 {
				ids := identifiers(subs)
				if len(all) > 1 || len(ids) > 0 {
					return ids
				}
				var held []*subscription
				for _, sub := range subs[0].session.subs {
					held = append(held, sub)
				}
				if ids = identifiers(held); len(ids) > 0 {
					ids = []uint32{slices.Min(ids)}
				}
				return ids
			}
		}},
	{"identifier-of-two-bytes", []string{"v5/3.3.2.3.8-subscription-id-zero"}, "A Subscription Identifier is kept in 16 bits.", Run,
		func(r *rules) {
			r.keptIdentifier = func(_ *session, _ int, _ string, identifier uint32) uint32 { return identifier & 0xffff }
		}},
	{"identifier-of-first-filter", []string{"v5/3.8.2.1.2-subscription-id-all-filters"}, "The Subscription Identifier holds for the first filter of a SUBSCRIBE only.", Run,
		func(r *rules) {
			r.keptIdentifier = func(_ *session, i int, _ string, identifier uint32) uint32 {
				if i > 0 {
					return 0
				}
				return identifier
			}
		}},
	{"identifier-not-replaced", []string{"v5/3.8.4-subscription-ids-removed"}, "A subscription that is replaced keeps its Subscription Identifier.", Run,
		replaceWith(func(old, sub *subscription) { sub.identifier = old.identifier })},
	{"identifier-outlives-subscription", []string{"v5/3.8.4-subscription-ids-removed"}, "A Client Identifier's Subscription Identifiers are kept by filter, and a SUBSCRIBE without one gets the old one.", Run,
		func(r *rules) {
			kept := map[string]uint32{}
			r.keptIdentifier = func(se *session, _ int, filter string, identifier uint32) uint32 {
				at := se.id + "\x00" + filter
				if identifier == 0 {
					return kept[at]
				}
				kept[at] = identifier
				return identifier
			}
		}},
	{"identifier-lost-on-resume", []string{"v5/3.8.4-subscription-ids-in-session"}, "Subscription Identifiers are lost when the Session is resumed.", Run,
		resumeWith(func(sub *subscription) { sub.identifier = 0 })},
	{"resent-identifier-alternates", []string{"v5/3.8.4-subscription-id-no-revert"}, "A message that is sent again has the new Subscription Identifier, and then the old one.", Run,
		func(r *rules) {
			times, first := map[*delivery]int{}, map[*delivery][]uint32{}
			r.resentIdentifiers = func(se *session, d *delivery) []uint32 {
				times[d]++
				if times[d] == 1 {
					first[d] = d.subIDs
				}
				if times[d]%2 == 1 {
					return current(se, d)
				}
				return first[d]
			}
		}},
	{"subscribe-identifier-twice", []string{"v5/3.8.2.1.2-subscribe-subscription-identifier-twice"}, "A SUBSCRIBE with two Subscription Identifiers is taken.", Warn,
		tolerate(packet.RuleSubscribeSubscriptionIdentifierTwice)},
	{"subscribe-identifier-0", []string{"v5/3.8.2.1.2-subscription-id-zero"}, "Subscription Identifier 0 in a SUBSCRIBE is taken as none.", Warn,
		tolerate(packet.RuleSubscribeSubscriptionIDZero)},
	{"publish-identifier-accepted", []string{"v5/MQTT-3.3.4-6"}, "A PUBLISH of a client with a Subscription Identifier is taken, without it.", Warn,
		tolerate(packet.RulePublishSubscriptionID)},
	{"publish-identifier-passed-on", []string{"v5/3.3.4-subscription-id-foreign", "v5/MQTT-3.3.4-6"}, "A Subscription Identifier in a client's PUBLISH is passed on.", Run,
		func(r *rules) {
			r.tolerated[packet.RulePublishSubscriptionID] = true
			r.forwarded = func(ps *packet.Properties) packet.Properties {
				kept := forwarded(ps)
				kept.SubscriptionIdentifiers = ps.SubscriptionIdentifiers
				return kept
			}
			r.identifiers = func(m *message, subs, _ []*subscription) []uint32 {
				return append(identifiers(subs), m.properties.SubscriptionIdentifiers...)
			}
		}},
}
