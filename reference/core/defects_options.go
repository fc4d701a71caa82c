package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// resumeWith makes a defect that changes the subscriptions of a Session when
// its client comes back.
func resumeWith(change func(sub *subscription)) func(*rules) {
	return func(r *rules) {
		r.attached = func(_ *Server, se *session, resumed bool) {
			for _, sub := range se.subs {
				if resumed {
					change(sub)
				}
			}
		}
	}
}

// replaceWith makes a defect that carries something of the old subscription
// over to the one that replaces it.
func replaceWith(change func(old, sub *subscription)) func(*rules) {
	return func(r *rules) {
		r.replaces = func(_ *Server, old, sub *subscription) bool { change(old, sub); return true }
	}
}

// optionDefects are the faults in section 3.8.3.1, and of Retain Handling.
var optionDefects = []Defect{
	{"retain-handling-1-never", []string{"v5/MQTT-3.3.1-10"}, "Retain Handling 1 brings no retained messages at all.", Run,
		func(r *rules) { r.sendsRetained = func(handling byte, _ bool) bool { return handling == 0 } }},
	{"retain-handling-1-always", []string{"v5/MQTT-3.3.1-10"}, "Retain Handling 1 brings the retained messages to an existing subscription too.", Run,
		func(r *rules) { r.sendsRetained = func(handling byte, _ bool) bool { return handling < 2 } }},
	{"retain-handling-2-as-0", []string{"v5/MQTT-3.3.1-11"}, "Retain Handling 2 brings the retained messages.", Run,
		func(r *rules) {
			r.sendsRetained = func(handling byte, existed bool) bool { return handling != 1 || !existed }
		}},
	{"retain-handling-of-first", []string{"v5/MQTT-3.3.1-11"}, "The Retain Handling of the first filter of a SUBSCRIBE holds for all.", Run,
		func(r *rules) {
			r.subscribed = func(asked []packet.Subscription) []packet.Subscription {
				all := slices.Clone(asked)
				for i := range all {
					all[i].RetainHandling = asked[0].RetainHandling
				}
				return all
			}
		}},
	{"retain-handling-lasting", []string{"v5/3.8.3.1-retain-handling-only-at-subscribe"}, "A subscription with Retain Handling 2 gets no message that is retained later.", Run,
		func(r *rules) {
			unwanted := map[string]bool{}
			r.subscribed = func(asked []packet.Subscription) []packet.Subscription {
				for _, sub := range asked {
					unwanted[sub.Filter] = sub.RetainHandling == 2
				}
				return asked
			}
			r.matched = func(_ *Server, m *message, found map[*session]*match) {
				for se, x := range found {
					if m.retain && slices.ContainsFunc(x.subs, func(sub *subscription) bool { return unwanted[sub.filter] }) {
						delete(found, se)
					}
				}
			}
		}},
	{"resume-sends-retained", []string{"v5/3.8.3.1-retain-handling-only-at-subscribe", "v311/MQTT-3.3.1-9"}, "A Session that is resumed gets the retained messages again.", Run,
		func(r *rules) {
			r.outgoing = func(s *Server, c *conn, p packet.Packet) []packet.Packet {
				list := []packet.Packet{p}
				if ack, ok := p.(*packet.Connack); ok && ack.SessionPresent {
					for _, sub := range c.session.subs {
						for _, d := range s.welcome(sub) {
							again := s.publication(c, d)
							again.QoS = 0
							list = append(list, again)
						}
					}
				}
				return list
			}
		}},
	{"no-local-ignored", []string{"v5/MQTT-3.8.3-3", "v5/MQTT-3.8.4-3", "v5/3.8.3.1-no-local-client-id-not-connection"}, "No Local has no effect.", Run,
		func(r *rules) { r.local = func(*subscription, *message) bool { return false } }},
	{"no-local-forgotten-in-queue", []string{"v5/3.8.3.1-no-local-client-id-not-connection"}, "No Local has no effect on a message that has to wait.", Run,
		func(r *rules) {
			r.local = func(sub *subscription, m *message) bool {
				c := sub.session.conn
				return local(sub, m) && (c == nil || c.windowOpen())
			}
		}},
	{"no-local-for-all", []string{"v5/MQTT-4.5.0-1"}, "A message of a client with No Local reaches nobody.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, m *message, found map[*session]*match) {
				for _, x := range found {
					if slices.ContainsFunc(x.subs, func(sub *subscription) bool { return local(sub, m) }) {
						clear(found)
					}
				}
			}
		}},
	{"no-local-not-replaced", []string{"v5/MQTT-3.8.4-3"}, "A subscription that is replaced keeps its No Local.", Run,
		replaceWith(func(old, sub *subscription) { sub.noLocal = old.noLocal })},
	{"no-local-lost-on-resume", []string{"v5/MQTT-3.8.3-3"}, "No Local is lost when the Session is resumed.", Run,
		resumeWith(func(sub *subscription) { sub.noLocal = false })},
	{"retain-as-published-lost-on-resume", []string{"v5/MQTT-3.3.1-13"}, "Retain As Published is lost when the Session is resumed.", Run,
		resumeWith(func(sub *subscription) { sub.retainAsPublished = false })},
	{"granted-qos-lost-on-resume", []string{"v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8"}, "A subscription has QoS 2 when the Session is resumed.", Run,
		resumeWith(func(sub *subscription) { sub.qos = 2 })},
	{"retain-handling-3-accepted", []string{"v5/3.8.3.1-retain-handling-3"}, "Retain Handling 3 is taken.", Warn,
		tolerate(packet.RuleRetainHandling3)},
	{"shared-no-local-accepted", []string{"v5/MQTT-3.8.3-4"}, "A shared subscription with No Local is granted.", Warn,
		func(r *rules) { r.refusesSharedNoLocal = false }},
	{"subscribe-user-property-once", []string{"v5/3.8.2.1.3-user-property-repeats"}, "A SUBSCRIBE with several User Properties is refused.", Run,
		userPropertyOnce(func(p packet.Packet) []packet.UserProperty {
			if sub, ok := p.(*packet.Subscribe); ok {
				return sub.Properties.UserProperties
			}
			return nil
		})},
}

// userPropertyOnce refuses packets with several User Properties.
func userPropertyOnce(of func(packet.Packet) []packet.UserProperty) func(*rules) {
	return func(r *rules) {
		r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
			if len(of(p)) > 1 {
				s.fail(c, packet.ProtocolError, "a User Property stands twice")
				return nil
			}
			return p
		}
	}
}
