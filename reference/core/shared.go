package core

import (
	"slices"
	"strings"
)

// share is a Shared Subscription: a ShareName together with a Topic Filter.
// Its members are Sessions, each with its own granted QoS. It is there from
// the first member to the last. [v5/MQTT-4.8.2-1] [v5/4.8.2-survives-creator]
// [v5/4.8.2-ends-with-last] [v5/4.8.2-different-qos]
type share struct {
	id      string // ShareName/filter
	match   string // [v5/4.8.2-share-prefix-not-matched]
	members []*subscription
	next    int // whose turn it is
}

// shareKey keeps shares apart from Sessions in the trie.
func shareKey(id string) string { return "\x00" + id }

// join makes a Session a member of a share, which the first member creates.
func (s *Server) join(sub *subscription, id string) {
	sh := s.shares[id]
	if sh == nil {
		sh = &share{id: id, match: sub.match}
		s.shares[id] = sh
		s.subs.Add(sub.match, shareKey(id), &subscription{share: sh})
	}
	sub.share = sh
	sh.members = append(sh.members, sub)
	s.handToJoining(sub)
	s.rules.sharedJoined(s, sub)
}

// handToJoining gives, by policy, a new member what waits for members that are
// away. [v5/4.8.2-offline-member]
func (s *Server) handToJoining(sub *subscription) {
	for _, m := range sub.share.members {
		if s.policy.ShareJoining != "waiting" || m.session.conn != nil {
			continue
		}
		for _, d := range slices.Clone(m.session.queue) {
			if d.share == sub.share {
				m.session.remove(slices.Index(m.session.queue, d))
				s.enqueueShared(sub, d.message)
			}
		}
	}
}

// leave ends a membership; the last member takes the share with it.
// [v5/3.10.4-shared-detach] [v5/4.8.2-unsubscribe-full-filter]
func (s *Server) leave(sub *subscription) {
	sh := sub.share
	sh.members = slices.DeleteFunc(sh.members, func(m *subscription) bool { return m == sub })
	if len(sh.members) == 0 {
		delete(s.shares, sh.id)
		s.subs.Remove(sh.match, shareKey(sh.id))
	}
	s.rules.sharedLeft(s, sh, sub)
}

// deliverShared gives a message to one member. [v5/4.8.2-one-member-gets-it]
func (s *Server) deliverShared(sh *share, m *message) bool {
	var takers []*subscription
	if sub := s.choose(sh, m); sub != nil {
		takers = append(takers, sub)
	}
	takers = s.rules.sharedTakers(s, sh, m, takers)
	for _, sub := range takers {
		s.enqueueShared(sub, m)
	}
	return len(takers) > 0
}

// enqueueShared gives a message to a member within its granted QoS, with its
// Subscription Identifier. [v5/MQTT-4.8.2-3] [v5/3.3.4-subscription-id-shared]
func (s *Server) enqueueShared(sub *subscription, m *message) {
	s.enqueue(sub.session, s.sharedDelivery(sub, m))
}

func (s *Server) sharedDelivery(sub *subscription, m *message) *delivery {
	one := []*subscription{sub}
	d := s.liveDelivery(m, s.rules.sharedGrant(sub), one, one)
	d.share = sub.share
	return d
}

// choose returns the member that gets a message, nil where there is none. Whom
// the server chooses is its own affair: by turns, or by another policy, those
// first that can get it now. [v5/4.8.2-offline-member]
func (s *Server) choose(sh *share, m *message) *subscription {
	n := len(sh.members)
	if n == 0 {
		return nil
	}
	able := slices.DeleteFunc(slices.Clone(sh.members), func(sub *subscription) bool {
		return s.deniedTopic(sub.session.user, m.topic)
	})
	if len(able) == 0 {
		return nil
	}
	if s.policy.ShareAway == "last" {
		able = prefer(able, func(sub *subscription) bool { return sub.session.conn != nil })
	}
	if s.policy.ShareTooLarge == "others" {
		able = prefer(able, func(sub *subscription) bool { return s.fits(sub, m) })
	}
	if s.policy.ShareBusy == "others" {
		able = prefer(able, func(sub *subscription) bool { return sub.session.conn == nil || sub.session.ready() })
	}
	switch s.policy.ShareDispatch {
	case "random":
		return able[scatter(m.serial)%uint64(len(able))]
	case "publisher":
		return able[scatter(sum(m.publisher))%uint64(len(able))]
	case "sticky":
		return able[0]
	}
	for !slices.Contains(able, sh.members[sh.next%n]) {
		sh.next++
	}
	sub := sh.members[sh.next%n]
	sh.next = (sh.next + 1) % n
	return sub
}

// prefer returns the members that satisfy a condition, or all if none does.
func prefer(members []*subscription, good func(*subscription) bool) []*subscription {
	var list []*subscription
	for _, sub := range members {
		if good(sub) {
			list = append(list, sub)
		}
	}
	if len(list) == 0 {
		return members
	}
	return list
}

// fits tells whether a member can be sent a message as far as its size goes.
// [v5/3.1.2.11.4-shared-too-large]
func (s *Server) fits(sub *subscription, m *message) bool {
	c := sub.session.conn
	return c == nil || !s.tooLarge(c, s.publication(c, s.sharedDelivery(sub, m)))
}

// ready tells whether a connected client takes one more delivery at once.
func (se *session) ready() bool {
	return !se.conn.slow && se.conn.inFlight+len(se.queue) < se.conn.quota
}

// scatter makes a number that follows no pattern out of one that does.
func scatter(n uint64) uint64 {
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// sum makes a number of a text.
func sum(text string) (n uint64) {
	for _, b := range []byte(text) {
		n = n*31 + uint64(b)
	}
	return n
}

// handOn gives what a Session that has ended held for shares to their other
// members, but for QoS 2 messages whose exchange had begun: while the Session
// is stored that waits for the client. [v5/MQTT-4.8.2-4] [v5/MQTT-4.8.2-5]
// [v5/4.8.2-qos1-redelivery-after-session-end]
func (s *Server) handOn(se *session) {
	if s.policy.ShareRedelivery == "never" {
		return
	}
	for _, d := range append(slices.Clone(se.open), se.queue...) {
		if d.share == nil || d.finished || s.expired(d.message) || !s.rules.handsOn(d) {
			continue
		}
		if sh := s.shares[d.share.id]; sh != nil {
			s.deliverShared(sh, d.message)
		}
	}
}

// handOver is handOn for a client that is only away, by policy: what another
// member can get now does not wait for it. [v5/4.8.2-qos1-redelivery-early]
func (s *Server) handOver(c *conn, se *session, why ending) {
	if d := c.lastShared; d != nil && why == dropped && s.policy.ShareQoS0Sent == "repeated" {
		if sub := s.choose(d.share, d.message); sub != nil && sub.session != se {
			s.enqueueShared(sub, d.message)
		}
	}
	if s.policy.ShareRedelivery != "at-once" {
		return
	}
	for _, d := range append(slices.Clone(se.open), se.queue...) {
		if d.share == nil || d.finished || !s.rules.handsOn(d) {
			continue
		}
		sub := s.choose(d.share, d.message)
		if sub == nil || sub.session.conn == nil {
			continue
		}
		if d.id != 0 {
			se.finish(d)
		} else {
			se.remove(slices.Index(se.queue, d))
		}
		s.enqueueShared(sub, d.message)
	}
}

// proposedForm takes apart a filter of one of the forms that were proposed for
// shared subscriptions before $share was settled on. They mean nothing in
// either version; by policy they are refused or work as $share does.
func proposedForm(filter string) (inner string, ok bool) {
	for _, prefix := range []string{"$queue/", "$$share/", "$share:", "$$:", "$$"} {
		rest, found := strings.CutPrefix(filter, prefix)
		if !found {
			continue
		}
		switch prefix {
		case "$queue/":
			return rest, rest != ""
		case "$$share/":
			_, rest, found = strings.Cut(rest, "/")
		default:
			_, rest, found = strings.Cut(rest, ":")
		}
		return rest, found && rest != ""
	}
	return filter, strings.HasPrefix(filter, "$shared/")
}
