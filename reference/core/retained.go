package core

import (
	"cmp"
	"slices"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// retainedStore holds the last retained message of each topic. Messages stay
// until a client deletes them or they expire. [v311/4.1-retained-until-deleted]
type retainedStore struct {
	byTopic map[string]*message
	bytes   int
	note    func(topic string) // of what has changed, or nil
}

func newRetainedStore() retainedStore { return retainedStore{byTopic: map[string]*message{}} }

// set replaces what a topic has, with all properties; a store that is full
// takes no new one. [v5/3.3.1.3-retained-properties-kept]
func (r *retainedStore) set(m *message) {
	old := r.byTopic[m.topic]
	if old == nil && (len(r.byTopic) >= maxRetained || r.bytes+len(m.payload) > maxRetainedBytes) {
		return
	}
	r.delete(m.topic)
	r.byTopic[m.topic] = m
	r.bytes += len(m.payload)
	if r.note != nil {
		r.note(m.topic)
	}
}

func (r *retainedStore) delete(name string) {
	if old := r.byTopic[name]; old != nil {
		r.bytes -= len(old.payload)
		delete(r.byTopic, name)
		if r.note != nil {
			r.note(name)
		}
	}
}

// retain updates the retained message of a topic.
func (s *Server) retain(m *message) {
	switch {
	case !m.retain:
		// [v311/MQTT-3.3.1-12] [v311/MQTT-3.1.2-16] [v5/MQTT-3.3.1-8] [v5/MQTT-3.1.2-14]
		s.rules.seesPlain(s, m)
	case len(m.payload) == 0:
		// [v311/MQTT-3.3.1-10] [v311/MQTT-3.3.1-11] [v5/MQTT-3.3.1-6] [v5/MQTT-3.3.1-7]
		s.rules.seesEmpty(s, m)
	case m.qos == 0 && s.policy.RetainQoS0 == "drop":
		s.retained.delete(m.topic) // [v311/MQTT-3.3.1-7] [v5/3.3.1.3-retained-qos0-stored]
	default:
		// [v311/MQTT-3.3.1-5] [v311/MQTT-3.3.1-7] [v311/MQTT-3.1.2-17] [v311/3.3.1.3-qos0-retained-stored]
		// [v5/MQTT-3.3.1-5] [v5/MQTT-3.1.2-15]
		s.rules.store(s, m)
	}
}

// due returns a subscription if it gets retained messages because of the
// SUBSCRIBE. [v5/MQTT-3.3.1-9] [v5/MQTT-3.3.1-10] [v5/MQTT-3.3.1-11] [v5/MQTT-3.8.4-4]
func (s *Server) due(sub *subscription, handling byte, existed bool) *subscription {
	// MQTT 3.1.1 has no server without retained messages.
	if !s.policy.Retain && sub.session.conn.five() || !s.rules.sendsRetained(handling, existed) {
		return nil
	}
	return sub
}

// due311 is due for a member of a share of MQTT 3.1.1, which knows no rule for
// it.
func (s *Server) due311(sub *subscription) *subscription {
	if s.policy.Share311Retained == "each" || s.policy.Share311Retained == "creator" && len(sub.share.members) == 1 {
		return s.due(sub, 0, false)
	}
	return nil
}

// greet sends their retained messages to subscriptions.
func (s *Server) greet(se *session, fresh []*subscription) {
	for _, sub := range fresh {
		for _, d := range s.welcome(sub) {
			s.enqueue(se, d)
		}
	}
}

// greetingDelay is how long subscriptions wait for the retained messages that a
// policy has looked up later: much goes on meanwhile.
const greetingDelay = 5 * time.Millisecond

// greetLater has subscriptions greeted when the delay is over.
func (s *Server) greetLater(c *conn, fresh []*subscription) {
	if len(c.ungreeted) == 0 && len(fresh) > 0 {
		s.timers.set(timerKey{kind: greetingTimer, conn: c.id}, s.now.Add(greetingDelay))
	}
	c.ungreeted = append(c.ungreeted, fresh...)
}

// greetNow ends the wait of the subscriptions that a connection has made and not
// taken back.
func (s *Server) greetNow(c *conn) {
	s.timers.stop(timerKey{kind: greetingTimer, conn: c.id})
	se, waiting := c.session, c.ungreeted
	c.ungreeted = nil
	s.greet(se, slices.DeleteFunc(waiting, func(sub *subscription) bool { return se.subs[sub.filter] == nil }))
}

// welcome returns the retained messages for a subscription: all that match, with
// RETAIN 1, at the lower of their own and the granted QoS.
// [v311/MQTT-3.3.1-6] [v311/MQTT-3.3.1-8] [v311/3.8.4-new-subscription-retained] [v5/MQTT-3.3.1-9]
// [v5/3.8.4-retained-for-new-subscription] [v5/3.3.1.3-retained-flag-on-subscribe]
// [v5/3.3.1.3-retained-qos-minimum] [v5/3.8.3.1-retain-handling-only-at-subscribe]
func (s *Server) welcome(sub *subscription) []*delivery {
	var found []*message
	for name, m := range s.retained.byTopic {
		switch {
		case !s.rules.retainedMatches(sub.match, name):
		case s.expired(m):
			s.retained.delete(name) // [v5/3.3.1.3-retained-message-expiry]
		case (s.policy.NoLocalRetained == "sent" || !s.rules.local(sub, m)) && !s.deniedTopic(sub.session.user, name):
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *message) int { return cmp.Compare(a.serial, b.serial) })
	var list []*delivery
	for _, m := range s.rules.retainedFor(found) {
		d := &delivery{message: m, subs: []*subscription{sub}, qos: s.rules.welcomeQoS(m, sub), retain: s.rules.welcomeRetain(sub), welcome: true}
		d.subIDs = s.rules.identifiers(m, d.subs, d.subs) // [v5/MQTT-3.3.4-3]
		list = append(list, d)
	}
	return list
}

// retainedMatch is how retained messages are looked up.
func retainedMatch(filter, name string) bool { return topic.Match(filter, name) }
