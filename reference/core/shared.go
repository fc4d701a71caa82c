package core

import "slices"

// share is a Shared Subscription: a ShareName together with a Topic Filter.
// Its members are Sessions, each with its own granted QoS. It is there from
// the first member to the last. [v5/MQTT-4.8.2-1] [v5/4.8.2-survives-creator]
// [v5/4.8.2-ends-with-last] [v5/4.8.2-different-qos]
type share struct {
	filter  string // $share/ShareName/filter
	match   string // [v5/4.8.2-share-prefix-not-matched]
	members []*subscription
	next    int // whose turn it is
}

// shareKey keeps shares apart from Sessions in the trie.
func shareKey(filter string) string { return "\x00" + filter }

// join makes a Session a member of a share, which the first member creates.
func (s *Server) join(sub *subscription) {
	sh := s.shares[sub.filter]
	if sh == nil {
		sh = &share{filter: sub.filter, match: sub.match}
		s.shares[sub.filter] = sh
		s.subs.Add(sub.match, shareKey(sub.filter), &subscription{share: sh})
	}
	sub.share = sh
	sh.members = append(sh.members, sub)
}

// leave ends a membership; the last member takes the share with it.
// [v5/3.10.4-shared-detach] [v5/4.8.2-unsubscribe-full-filter]
func (s *Server) leave(sub *subscription) {
	sh := sub.share
	sh.members = slices.DeleteFunc(sh.members, func(m *subscription) bool { return m == sub })
	if len(sh.members) == 0 {
		delete(s.shares, sh.filter)
		s.subs.Remove(sh.match, shareKey(sh.filter))
	}
}

// deliverShared gives a message to one member, by turns, those that are
// connected first. [v5/4.8.2-one-member-gets-it] [v5/4.8.2-offline-member]
func (s *Server) deliverShared(sh *share, m *message) bool {
	var takers []*subscription
	if sub := sh.choose(); sub != nil {
		takers = append(takers, sub)
	}
	takers = s.rules.sharedTakers(sh, takers)
	for _, sub := range takers {
		s.enqueueShared(sub, m)
	}
	return len(takers) > 0
}

// enqueueShared gives a message to a member within its granted QoS, with its
// Subscription Identifier. [v5/MQTT-4.8.2-3] [v5/3.3.4-subscription-id-shared]
func (s *Server) enqueueShared(sub *subscription, m *message) {
	d := s.liveDelivery(m, sub.qos, []*subscription{sub})
	d.share = sub.share
	s.enqueue(sub.session, d)
}

// choose returns the member whose turn it is.
func (sh *share) choose() *subscription {
	n := len(sh.members)
	if n == 0 {
		return nil
	}
	for i := range n {
		if sub := sh.members[(sh.next+i)%n]; sub.session.conn != nil {
			sh.next = (sh.next + i + 1) % n
			return sub
		}
	}
	sub := sh.members[sh.next%n]
	sh.next = (sh.next + 1) % n
	return sub
}

// handOn gives what a Session that has ended held for shares to their other
// members, but for QoS 2 messages whose exchange had begun: while the Session
// is stored that waits for the client.
// [v5/MQTT-4.8.2-4] [v5/MQTT-4.8.2-5] [v5/4.8.2-qos1-redelivery-after-session-end] [v5/4.8.2-qos1-redelivery-early]
func (s *Server) handOn(se *session) {
	for _, d := range append(slices.Clone(se.open), se.queue...) {
		if d.share == nil || d.finished || s.expired(d.message) || !s.rules.handsOn(d) {
			continue
		}
		if sh := s.shares[d.share.filter]; sh != nil {
			s.enqueueShared(sh.choose(), d.message)
		}
	}
}
