package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// life is a client that comes and goes, and what is known of its Session and
// its will; somebody watches.
type life struct {
	*world
	there     bool
	connected bool
	expiry    time.Duration // of the Session; lasts for ever
	ended     time.Time
	will      string // "" for none
	delay     time.Duration
	wills     int
	due       map[string]time.Time // wills that are to come
	present   bool                 // in the last CONNACK
}

const lasts = time.Duration(1<<62 - 1)

func newLife(t *testing.T) *life {
	l := &life{world: newWorld(t), due: map[string]time.Time{}}
	l.heard = func(c *scripted, p packet.Packet) {
		switch p := p.(type) {
		case *packet.Connack:
			l.present = p.SessionPresent
		case *packet.Publish:
			l.acknowledge(c, p)
			at, due := l.due[string(p.Payload)]
			delete(l.due, string(p.Payload))
			if !due {
				l.wrong("the will %s is published, and is not due", p.Payload)
			} else if !at.Equal(l.now) {
				l.wrong("the will %s is published at %v, and due at %v", p.Payload, l.now.Sub(start), at.Sub(start))
			}
		}
	}
	l.watch()
	l.say("w subscribe will 1")
	return l
}

func (l *life) watch() {
	l.say("w connect v5 expiry=4294967295")
}

// expires brings the Session up to date.
func (l *life) expires() {
	if l.there && !l.connected && l.expiry != lasts && !l.now.Before(l.ended.Add(l.expiry)) {
		l.there = false
	}
}

// end is the end of the connection.
func (l *life) end(withWill bool) {
	if !l.connected {
		return
	}
	l.connected, l.ended = false, l.now
	if l.will != "" && withWill {
		l.due[l.will] = l.now.Add(min(l.delay, l.expiry))
	}
	l.expires()
}

var lifeTimes = []int{0, 1, 2, 3, 5, 8, 1 << 32}

func (l *life) connect(n int) {
	expiry, delay, clean, withWill := lifeTimes[n%7], lifeTimes[n/7%6], n/42%3 == 0, n/126%4 > 0
	l.expires()
	if l.connected {
		l.end(true) // taken over
	}
	line := "c connect v5"
	if clean {
		line += " clean"
	}
	before := l.will
	resumed := l.there && !clean
	switch _, waits := l.due[before]; {
	case !waits:
	case resumed:
		if l.due[before].After(l.now) {
			delete(l.due, before) // the client is back in time
		}
	case l.due[before].After(l.now):
		l.due[before] = l.now // the Session ends
	}
	l.will = ""
	if withWill {
		l.wills++
		l.will = fmt.Sprint("will", l.wills)
		line += fmt.Sprintf(" will=will:%s delay=%d", l.will, delay)
	}
	l.expiry, l.delay = time.Duration(expiry)*time.Second, time.Duration(delay)*time.Second
	if expiry == 1<<32 {
		l.expiry, expiry = lasts, 1<<32-1
	}
	l.say("%s expiry=%d", line, expiry)
	if l.present != resumed {
		l.wrong("Session Present is %v", l.present)
	}
	l.there, l.connected = true, true
}

func (l *life) drop() {
	if l.connected {
		l.end(true)
		l.say("c drop")
	}
}

func (l *life) disconnect(n int) {
	if !l.connected {
		return
	}
	line, code := "c disconnect", n%2*4
	if expiry := lifeTimes[n%7]; n%3 == 0 && expiry < 1<<32 && l.expiry > 0 {
		l.expiry = time.Duration(expiry) * time.Second
		line += fmt.Sprintf(" expiry=%d", expiry)
	}
	l.end(code == 4)
	l.say("%s code=%d", line, code)
}

func (l *life) pass(n int) {
	l.say("wait %ds", 1+n%4)
	l.expires()
	for will, at := range l.due {
		if !at.After(l.now) {
			l.wrong("the will %s was due at %v", will, at.Sub(start))
		}
	}
}

// crash ends all connections at once; who watches comes back before anything
// is due.
func (l *life) crash() {
	l.end(true)
	l.say("restart")
	l.watch()
}

// A Session lasts as long as its expiry says, and a will is published when its
// delay is over or the Session ends, and not when the client is back.
func TestLifeProperty(t *testing.T) { lifeProperty.check(t) }

var lifeProperty = property[*life]{
	runs: 400, size: 40, fresh: newLife, world: func(l *life) *world { return l.world },
	steps: slices.Concat(
		times(4, numbered("connect", (*life).connect)), times(3, plain("drop", (*life).drop)),
		times(2, numbered("disconnect", (*life).disconnect)), times(4, numbered("wait", (*life).pass)),
		times(1, plain("crash", (*life).crash)),
	),
}

// keeping is what is retained, by topic.
type keeping struct {
	*world
	by   map[string]kept
	got  map[string]string
	news int
}

type kept struct {
	payload string
	qos     int
	until   time.Time // zero for ever
}

var keptTopics = []string{"a", "a/b", "a/b/c", "b", "$x", "/"}
var keptFilters = []string{"#", "+", "a/#", "a/+", "+/b", "$x", "+/+/c", "/", "+/+", "b"}

func newKeeping(t *testing.T) *keeping {
	k := &keeping{world: newWorld(t), by: map[string]kept{}}
	k.heard = func(_ *scripted, p packet.Packet) {
		if p, ok := p.(*packet.Publish); ok {
			left := "for ever"
			if e := p.Properties.MessageExpiryInterval; e != nil {
				left = fmt.Sprint(*e)
			}
			k.got[p.Topic] += fmt.Sprintf("%s q%d %s %v;", p.Payload, p.QoS, left, p.Retain)
		}
	}
	k.say("p connect v5 expiry=1000")
	return k
}

func (k *keeping) publish(n int) {
	name, qos := keptTopics[n%len(keptTopics)], n/6%3
	k.news++
	line := fmt.Sprintf("p publish %s %%s q%d id=%d", name, qos, k.news)
	if n/18%4 == 0 {
		k.say(line+" retain", "-")
		delete(k.by, name)
		return
	}
	payload := fmt.Sprint("m", k.news)
	if n/72%4 == 0 {
		k.say(line, payload) // not to be retained
		return
	}
	m := kept{payload: payload, qos: qos}
	if seconds := n / 288 % 3 * 3; seconds > 0 {
		m.until = k.now.Add(time.Duration(seconds) * time.Second)
		line += fmt.Sprintf(" expiry=%d", seconds)
	}
	k.by[name] = m
	k.say(line+" retain", payload)
}

// subscribe compares what a new subscription brings.
func (k *keeping) subscribe(n int) {
	filter, qos := keptFilters[n%len(keptFilters)], n/10%3
	k.got = map[string]string{}
	k.news++
	k.say("n%d connect v5 clean", k.news)
	k.say("n%d subscribe %s %d", k.news, filter, qos)
	want := map[string]string{}
	for name, m := range k.by {
		left := "for ever"
		if !m.until.IsZero() {
			if !k.now.Before(m.until) {
				continue
			}
			left = fmt.Sprint(int(m.until.Sub(k.now) / time.Second))
		}
		if topic.Match(filter, name) {
			want[name] = fmt.Sprintf("%s q%d %s true;", m.payload, min(qos, m.qos), left)
		}
	}
	if fmt.Sprint(k.got) != fmt.Sprint(want) {
		k.wrong("%s brings %v, want %v", filter, k.got, want)
	}
	k.say("n%d disconnect", k.news)
}

// The last message of each topic is retained until it expires, also over a
// crash.
func TestRetainedProperty(t *testing.T) { retainedProperty.check(t) }

var retainedProperty = property[*keeping]{
	runs: 300, size: 40, fresh: newKeeping, world: func(k *keeping) *world { return k.world },
	steps: slices.Concat(
		times(5, numbered("publish", (*keeping).publish)), times(3, numbered("subscribe", (*keeping).subscribe)),
		times(2, numbered("wait", func(k *keeping, n int) { k.say("wait %ds", 1+n%3) })),
		times(1, plain("crash", func(k *keeping) { k.say("restart"); k.say("p connect v5 expiry=1000") })),
	),
}

// group is a Shared Subscription whose members come and go.
type group struct {
	*world
	members   map[string]bool // to whether it is connected
	published int
	came      map[string]int
	doubtful  int // messages before this may have gone with the last member
}

func newGroup(t *testing.T) *group {
	g := &group{world: newWorld(t), members: map[string]bool{}, came: map[string]int{}}
	g.heard = func(c *scripted, p packet.Packet) {
		if p, ok := p.(*packet.Publish); ok {
			g.came[string(p.Payload)]++
			if !g.members[c.name] {
				g.wrong("%s is no member, and gets message %s", c.name, p.Payload)
			}
			g.acknowledge(c, p)
		}
	}
	g.say("p connect v5 clean")
	return g
}

func (g *group) join(n int) {
	name := []string{"a", "b", "c", "d"}[n%4]
	g.members[name] = true
	g.say("%s connect v5 expiry=1000", name)
	g.say("%s subscribe $share/g/t 1", name)
}

func (g *group) leave(n int) {
	name := []string{"a", "b", "c", "d"}[n%4]
	connected, member := g.members[name]
	if !member {
		return
	}
	switch {
	case n/4%3 == 0 && connected:
		g.members[name] = false
		g.say("%s drop", name)
		return
	case n/4%3 == 1 && connected:
		delete(g.members, name)
		g.say("%s unsubscribe $share/g/t", name)
		g.say("%s disconnect expiry=0", name)
	default:
		delete(g.members, name)
		g.say("%s connect v5 clean", name)
		g.say("%s disconnect", name)
	}
	if len(g.members) == 0 {
		g.doubtful = g.published
	}
}

func (g *group) publish() {
	if len(g.members) == 0 {
		return
	}
	g.say("p publish t %d q1", g.published)
	g.published++
}

func (g *group) check() {
	for name := range g.members {
		g.members[name] = true
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if g.members[name] {
			g.say("%s connect v5 expiry=1000", name)
		}
	}
	for i := range g.published {
		if n := g.came[fmt.Sprint(i)]; n > 1 || n == 0 && i >= g.doubtful {
			g.wrong("message %d came %d times", i, n)
		}
	}
}

// Each message goes to exactly one member, whoever comes and goes.
func TestGroupProperty(t *testing.T) { groupProperty.check(t) }

var groupProperty = property[*group]{
	runs: 300, size: 50, fresh: newGroup, world: func(g *group) *world { return g.world },
	steps: slices.Concat(
		times(3, numbered("join", (*group).join)), times(3, numbered("leave", (*group).leave)),
		times(6, plain("publish", (*group).publish)), times(1, plain("check", (*group).check)),
		times(1, plain("crash", func(g *group) {
			g.say("restart")
			for name := range g.members {
				g.members[name] = false
			}
			g.say("p connect v5 clean")
		})),
	),
}

// quota is a subscriber with a Receive Maximum.
type quota struct {
	*world
	most      int
	open      map[string]int // acknowledgement that is due → 1
	inFlight  map[uint16]bool
	owed      int // messages that have not been sent at all
	published int
}

func newQuota(t *testing.T) *quota {
	q := &quota{world: newWorld(t), inFlight: map[uint16]bool{}, open: map[string]int{}}
	q.heard = func(_ *scripted, p packet.Packet) {
		switch p := p.(type) {
		case *packet.Publish:
			if !p.Dup {
				q.owed--
			}
			q.inFlight[p.ID] = true
			q.open[fmt.Sprintf("%s %d", map[byte]string{1: "puback", 2: "pubrec"}[p.QoS], p.ID)] = 1
			if len(q.inFlight) > q.most {
				q.wrong("%d are in flight, and the Receive Maximum is %d", len(q.inFlight), q.most)
			}
		case *packet.Ack:
			if p.Kind == packet.PUBREL {
				q.open[fmt.Sprintf("pubcomp %d", p.ID)] = 1
			}
		}
	}
	q.connect(2)
	q.say("s subscribe t 2")
	q.say("p connect v5 expiry=1000")
	return q
}

func (q *quota) connect(n int) {
	q.most = 1 + n%4
	clear(q.open)
	clear(q.inFlight)
	q.say("s connect v5 expiry=1000 receive=%d", q.most)
	q.busy()
}

func (q *quota) publish(n int) {
	if q.published >= 60 {
		return
	}
	q.published++
	q.owed++
	q.say("p publish t %d q%d id=%d", q.published, 1+n%2, q.published)
	q.busy()
}

// ack sends one of the acknowledgements that are due, some with an error, some
// twice and some for nothing.
func (q *quota) ack(n int) {
	list := []string{}
	for ack := range q.open {
		list = append(list, ack)
	}
	if len(list) == 0 {
		return
	}
	slices.Sort(list)
	ack := list[n%len(list)]
	kind, number, _ := strings.Cut(ack, " ")
	var id uint16
	fmt.Sscan(number, &id)
	delete(q.open, ack)
	failed := n/100%4 == 0 && kind != "pubcomp"
	if kind != "pubrec" || failed {
		delete(q.inFlight, id)
	}
	if failed {
		ack += " code=0x80"
	}
	q.say("s %s", ack)
	q.busy()
}

// busy: what is owed is sent as soon as the quota allows it.
func (q *quota) busy() {
	if q.owed < 0 {
		q.wrong("%d messages more than were published", -q.owed)
	}
	if se := q.server.sessions["s"]; q.owed > 0 && se.conn.inFlight < q.most {
		q.wrong("%d messages wait, and only %d of %d are in flight", q.owed, se.conn.inFlight, q.most)
	}
}

// No more is in flight than the client allows, and no less than there is.
func TestQuotaProperty(t *testing.T) { quotaProperty.check(t) }

var quotaProperty = property[*quota]{
	runs: 300, size: 60, fresh: newQuota, world: func(q *quota) *world { return q.world },
	steps: slices.Concat(
		times(4, numbered("publish", (*quota).publish)), times(6, numbered("acknowledge", (*quota).ack)),
		times(1, numbered("reconnect", (*quota).connect)),
		times(1, numbered("acknowledge nothing", func(q *quota, n int) { q.say("s puback %d", 40000+n%100); q.busy() })),
	),
}
