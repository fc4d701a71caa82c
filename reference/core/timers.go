package core

import (
	"container/heap"
	"time"
)

// timerKind tells what happens when a timer runs out.
type timerKind byte

const (
	connectTimer   timerKind = iota // no CONNECT came
	keepAliveTimer                  // nothing came for one and a half Keep Alive
	expiryTimer                     // a Session ends
	willTimer                       // a delayed will is due
	sysTimer                        // the next $SYS messages are due
	greetingTimer                   // retained messages are due to subscriptions
	routingTimer                    // messages that are acknowledged are to be passed on
)

// timerKey names a timer: there is one of a kind for a connection or Session.
type timerKey struct {
	kind timerKind
	conn ConnID
	id   string
}

type timer struct {
	key   timerKey
	at    time.Time
	index int
}

// timers is a queue of timers by their time.
type timers struct {
	list  timerList
	byKey map[timerKey]*timer
}

func newTimers() timers { return timers{byKey: map[timerKey]*timer{}} }

func (t *timers) set(key timerKey, at time.Time) {
	if old := t.byKey[key]; old != nil {
		old.at = at
		heap.Fix(&t.list, old.index)
		return
	}
	n := &timer{key: key, at: at}
	t.byKey[key] = n
	heap.Push(&t.list, n)
}

func (t *timers) stop(key timerKey) {
	if old := t.byKey[key]; old != nil {
		heap.Remove(&t.list, old.index)
		delete(t.byKey, key)
	}
}

func (t *timers) next() (time.Time, bool) {
	if len(t.list) == 0 {
		return time.Time{}, false
	}
	return t.list[0].at, true
}

// due removes and returns the first timer that has run out.
func (t *timers) due(now time.Time) (timerKey, bool) {
	if len(t.list) == 0 || t.list[0].at.After(now) {
		return timerKey{}, false
	}
	n := heap.Pop(&t.list).(*timer)
	delete(t.byKey, n.key)
	return n.key, true
}

type timerList []*timer

func (l timerList) Len() int           { return len(l) }
func (l timerList) Less(i, j int) bool { return l[i].at.Before(l[j].at) }
func (l timerList) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].index, l[j].index = i, j
}
func (l *timerList) Push(x any) {
	t := x.(*timer)
	t.index = len(*l)
	*l = append(*l, t)
}
func (l *timerList) Pop() any {
	old := *l
	t := old[len(old)-1]
	*l = old[:len(old)-1]
	return t
}

// runTimers carries out whatever is due.
func (s *Server) runTimers() {
	for {
		key, ok := s.timers.due(s.now)
		if !ok {
			return
		}
		switch key.kind {
		case connectTimer:
			// [v311/3.1.4-no-connect-timeout] [v5/3.1.4-no-connect-timeout]
			if c := s.conns[key.conn]; c != nil && c.state != established {
				s.close(c, failed)
			}
		case keepAliveTimer:
			if c := s.conns[key.conn]; c != nil {
				s.keepAliveExpired(c)
			}
		case expiryTimer:
			if se := s.sessions[key.id]; se != nil && se.conn == nil {
				s.endSession(se)
			}
		case willTimer:
			if se := s.sessions[key.id]; se != nil {
				s.publishWill(se)
			}
		case greetingTimer:
			if c := s.conns[key.conn]; c != nil && !c.ended {
				s.greetNow(c)
			}
		case routingTimer:
			s.passOnDue(key.id)
		case sysTimer:
			s.publishSys()
		}
	}
}
