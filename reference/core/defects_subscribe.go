package core

import (
	"errors"
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// takeFilters makes a defect of granting filters that break one rule.
func takeFilters(broken error) func(*rules) {
	return func(r *rules) { r.takesBadFilter = func(_ string, err error) bool { return errors.Is(err, broken) } }
}

// subscribeDefects are the faults in sections 3.8 and 3.9.
var subscribeDefects = []Defect{
	{"subscribe-flags-ignored", []string{"v311/MQTT-3.8.1-1", "v5/MQTT-3.8.1-1"}, "The flag bits of SUBSCRIBE are not looked at.", Run,
		tolerate(packet.RuleSubscribeFlags)},
	{"subscribe-utf8-unchecked", []string{"v311/MQTT-3.8.3-1", "v311/MQTT-1.5.3-1", "v5/MQTT-3.8.3-1", "v5/MQTT-1.5.4-1"}, "An ill-formed Topic Filter in SUBSCRIBE is taken.", Run,
		func(r *rules) {
			r.tolerated[packet.RuleSubscribeUTF8] = true
			r.tolerated[packet.RuleSubscribeSurrogate] = true
			r.takesBadFilter = func(_ string, err error) bool { return errors.Is(err, topic.ErrUTF8) }
		}},
	{"subscribe-nul-accepted", []string{"v311/MQTT-4.7.3-2", "v311/MQTT-1.5.3-2", "v5/MQTT-4.7.3-2", "v5/MQTT-1.5.4-2"}, "U+0000 in a Topic Filter of SUBSCRIBE is taken.", Run,
		func(r *rules) {
			r.tolerated[packet.RuleSubscribeNUL] = true
			r.takesBadFilter = func(_ string, err error) bool { return errors.Is(err, topic.ErrUTF8) }
		}},
	{"subscribe-empty-accepted", []string{"v311/MQTT-3.8.3-3", "v5/MQTT-3.8.3-2"}, "A SUBSCRIBE without a Topic Filter is answered.", Run,
		tolerate(packet.RuleSubscribeEmpty)},
	{"subscribe-qos-3-accepted", []string{"v311/MQTT-3.8.3-4", "v5/3.8.3.1-maximum-qos-3"}, "QoS 3 in a SUBSCRIBE is taken as 2.", Run,
		tolerate(packet.RuleSubscribeQoS3)},
	{"subscribe-reserved-ignored", []string{"v311/MQTT-3.8.3-4", "v5/MQTT-3.8.3-5"}, "The reserved bits beside the QoS are not looked at.", Run,
		tolerate(packet.RuleSubscribeBits)},
	{"subscribe-id-0-accepted", []string{"v311/MQTT-2.3.1-1", "v5/MQTT-2.2.1-3"}, "A SUBSCRIBE with Packet Identifier 0 is taken.", Warn,
		tolerate(packet.RuleSubscribeID)},
	{"empty-filter-accepted", []string{"v311/MQTT-4.7.3-1", "v5/MQTT-4.7.3-1"}, "An empty Topic Filter is granted.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleFilterEmpty] = true
			r.takesBadFilter = func(_ string, err error) bool { return errors.Is(err, topic.ErrEmpty) }
		}},
	{"hash-anywhere", []string{"v311/MQTT-4.7.1-2", "v5/MQTT-4.7.1-1", "v5/MQTT-4.8.2-2"}, "A filter with # out of place is granted.", Warn, takeFilters(topic.ErrHash)},
	{"plus-anywhere", []string{"v311/MQTT-4.7.1-3", "v5/MQTT-4.7.1-2", "v5/MQTT-4.8.2-2"}, "A filter with + out of place is granted.", Warn, takeFilters(topic.ErrPlus)},
	{"wildcards-granted-unsupported", []string{"v311/MQTT-3.8.3-2", "v5/3.2.2.3.11-wildcard-not-supported"}, "A server without wildcards grants them.", Hook,
		func(r *rules) { r.enforcesWildcards = false }},
	{"suback-missing", []string{"v311/MQTT-3.8.4-1", "v5/MQTT-3.8.4-1"}, "The second SUBSCRIBE of a client gets no SUBACK.", Run,
		func(r *rules) { r.answersSubscribe = func(p *packet.Subscribe) bool { return p.ID != 12 } }},
	{"suback-id-swapped", []string{"v311/MQTT-3.8.4-2", "v311/MQTT-2.3.1-7", "v5/MQTT-3.8.4-2", "v5/MQTT-2.2.1-6"}, "SUBACK has the bytes of its identifier swapped.", Run,
		func(r *rules) { r.subackID = swapBytes }},
	{"suback-reversed", []string{"v311/MQTT-3.9.3-1", "v311/MQTT-3.8.4-5", "v5/MQTT-3.9.3-1", "v5/MQTT-3.8.4-6"}, "The codes of SUBACK come in reverse order.", Run,
		func(r *rules) {
			r.subackCodes = func(codes []packet.ReasonCode) []packet.ReasonCode {
				reversed := slices.Clone(codes)
				slices.Reverse(reversed)
				return reversed
			}
		}},
	{"suback-one-code", []string{"v311/MQTT-3.8.4-5", "v311/MQTT-3.8.4-4", "v311/MQTT-3.9.3-1", "v5/MQTT-3.8.4-6", "v5/MQTT-3.8.4-5", "v5/MQTT-3.9.3-1"}, "SUBACK has one code however many filters there are.", Run,
		func(r *rules) {
			r.subackCodes = func(codes []packet.ReasonCode) []packet.ReasonCode { return codes[:1] }
		}},
	{"suback-too-much", []string{"v311/MQTT-3.8.4-5", "v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-6", "v5/MQTT-3.8.4-7", "v5/MQTT-3.8.4-8"}, "A subscription at QoS 1 is granted QoS 2.", Run,
		func(r *rules) {
			r.grantedQoS = func(asked, granted byte) byte {
				if asked == 1 {
					return 2
				}
				return granted
			}
		}},
	{"suback-code-7f", []string{"v311/MQTT-3.9.3-2", "v311/MQTT-3.8.4-5", "v5/MQTT-3.9.3-2", "v5/MQTT-3.8.4-6"}, "The twentieth filter of a SUBSCRIBE gets the code 0x7F.", Run,
		func(r *rules) {
			r.subackCodes = func(codes []packet.ReasonCode) []packet.ReasonCode {
				changed := slices.Clone(codes)
				if len(codes) == 20 {
					changed[19] = 0x7f
				}
				return changed
			}
		}},
	{"subscribe-third-ignored", []string{"v311/MQTT-3.8.4-4", "v311/MQTT-3.9.3-1", "v5/MQTT-3.8.4-5", "v5/MQTT-3.9.3-1"}, "The third filter of a SUBSCRIBE is taken for the second once more.", Run,
		func(r *rules) {
			r.subscribed = func(asked []packet.Subscription) []packet.Subscription {
				if len(asked) != 3 {
					return asked
				}
				return []packet.Subscription{asked[0], asked[1], asked[1]}
			}
		}},
	{"subscription-doubled", []string{"v311/MQTT-3.8.4-3", "v5/MQTT-3.8.4-4", "v311/4.7.2-dollar-explicit-filter"}, "Retained messages are not sent again to a subscription that is replaced.", Run,
		func(r *rules) {
			r.sendsRetained = func(handling byte, existed bool) bool { return handling < 2 && !existed }
		}},
	{"subscription-not-replaced", []string{"v311/MQTT-3.8.4-3", "v5/MQTT-3.8.4-3", "v5/3.8.4-subscription-ids-removed", "v5/MQTT-4.8.2-3"}, "A subscription keeps its first QoS.", Run,
		func(r *rules) { r.replaces = func(*Server, *subscription, *subscription) bool { return false } }},
	{"delivered-at-granted-qos", []string{"v311/MQTT-3.8.4-6", "v311/MQTT-3.1.2-9", "v5/MQTT-3.8.4-8", "v5/MQTT-3.1.2-9"}, "A message is delivered at the granted QoS.", Run,
		func(r *rules) { r.deliveredQoS = func(_ *message, granted byte) byte { return granted } }},
	{"retained-at-granted-qos", []string{"v311/MQTT-3.8.4-6", "v311/MQTT-3.3.1-5", "v5/MQTT-3.8.4-8", "v5/MQTT-3.3.1-5"}, "A retained message is delivered at the granted QoS.", Run,
		func(r *rules) { r.welcomeQoS = func(_ *message, sub *subscription) byte { return sub.qos } }},
	{"delivered-at-published-qos", []string{
		"v311/MQTT-3.8.4-6", "v311/MQTT-2.3.1-5", "v311/MQTT-3.3.5-1", "v311/MQTT-3.8.4-3", "v311/MQTT-4.3.1-1",
		"v5/MQTT-3.8.4-8", "v5/MQTT-2.2.1-2", "v5/MQTT-3.3.4-2", "v5/MQTT-3.8.4-3", "v5/MQTT-3.8.4-5", "v5/MQTT-4.3.1-1",
		"v5/MQTT-4.8.2-3",
	}, "A message is delivered at the QoS it was published with.", Run,
		func(r *rules) { r.deliveredQoS = func(m *message, _ byte) byte { return m.qos } }},
	{"resubscribe-loses-message", []string{"v311/MQTT-3.8.4-3", "v5/MQTT-3.8.4-4", "v5/MQTT-3.8.4-3"}, "The next message is lost when a subscription is replaced.", Run,
		func(r *rules) {
			loses := map[*session]bool{}
			r.replaces = func(_ *Server, old, _ *subscription) bool { loses[old.session] = true; return true }
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				for se := range found {
					if loses[se] {
						delete(found, se)
						delete(loses, se)
					}
				}
			}
		}},
}

func swapBytes(id uint16) uint16 { return id<<8 | id>>8 }
