package core

import (
	"slices"
)

// share is a Shared Subscription: a ShareName together with a Topic Filter.
// [v5/MQTT-4.8.2-1] It is there from the first member to the last.
type share struct {
	filter  string // $share/group/filter
	match   string
	members []*subscription
	next    int // whose turn it is
}

// shareKey keeps shares apart from Sessions in the trie.
func shareKey(filter string) string { return "\x00" + filter }

// join makes a Session a member of a share, which the first member creates.
func (s *Server) join(se *session, sub *subscription, _ string) {
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
func (s *Server) leave(_ *session, sub *subscription) {
	sh := sub.share
	sh.members = slices.DeleteFunc(sh.members, func(m *subscription) bool { return m == sub })
	if len(sh.members) == 0 {
		delete(s.shares, sh.filter)
		s.subs.Remove(sh.match, shareKey(sh.filter))
	}
}

// deliverShared gives a message to one member, by turns, those that are
// connected first. [v5/MQTT-4.8.2-3] [v5/4.8.2-one-member-gets-it] [v5/4.8.2-offline-member]
func (s *Server) deliverShared(sh *share, m *message) bool {
	if s.rules.sharesWithAll {
		for _, sub := range sh.members {
			s.enqueue(sub.session, s.liveDelivery(m, sub.qos, []*subscription{sub}))
		}
		return len(sh.members) > 0
	}
	sub := sh.choose()
	if sub == nil {
		return false
	}
	s.enqueue(sub.session, s.liveDeliveryShared(m, sub))
	return true
}

func (s *Server) liveDeliveryShared(m *message, sub *subscription) *delivery {
	d := s.liveDelivery(m, sub.qos, []*subscription{sub})
	d.share = sub.share
	return d
}

// choose returns the member whose turn it is.
func (sh *share) choose() *subscription {
	n := len(sh.members)
	for i := range n {
		if sub := sh.members[(sh.next+i)%n]; sub.session.conn != nil {
			sh.next = (sh.next + i + 1) % n
			return sub
		}
	}
	if n == 0 {
		return nil
	}
	sub := sh.members[sh.next%n]
	sh.next = (sh.next + 1) % n
	return sub
}

// handOn gives what a Session that has ended held for shares to their other
// members, but for QoS 2 messages whose exchange had begun.
// [v5/MQTT-4.8.2-5] [v5/4.8.2-qos1-redelivery-after-session-end]
func (s *Server) handOn(se *session) {
	held := append(append([]*delivery{}, se.open...), se.queue...)
	for _, d := range held {
		if d.share == nil || d.qos == 2 && d.sent || s.shares[d.share.filter] != d.share {
			continue
		}
		if sub := d.share.choose(); sub != nil && sub.session != se {
			s.enqueue(sub.session, s.liveDeliveryShared(d.message, sub))
		}
	}
}
