package campaign

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/fuzz/shrink"
	"github.com/mqttcheck/mqttcheck/internal/proc"
)

// How the resources of a broker of ours are watched. Every sampleEvery the
// conversations stop for a moment, with every connection ended and everything
// that they left behind cleared away: what the broker takes then must not rise
// from sample to sample, and it must be idle.
const (
	sampleEvery = 2 * time.Second
	settleTime  = 250 * time.Millisecond // for the broker to end connections
	idleWindow  = 100 * time.Millisecond
	busyWindow  = 250 * time.Millisecond
	busyWindows = 8 // so many in a row are no clean-up any more
	busyShare   = 2 // one half of a processor
	trend       = 5 // samples in a row that rise before a leak is looked for
	mostSamples = 64
	slowly      = 6 // samples between two of those in which a slow leak is seen
	mostTries   = 2 // to find a leak of one kind
	searchTime  = 20 * time.Second
)

// metric is a resource that may leak.
type metric struct {
	key  string // of the finding
	what string
	of   func(proc.Usage) int64
	// least is the rise over a trend that is looked into, and each that of one
	// playing by which a conversation is to blame.
	least, each int64
	// warm is how often a conversation is had with a new broker until the resource
	// has settled, as memory does once a garbage collector has been through, and
	// plays how often in each round then.
	warm, plays int
}

var metrics = []metric{
	{"descriptors", "descriptors", func(u proc.Usage) int64 { return int64(u.Descriptors) }, 10, 1, 4, 16},
	{"threads", "threads", func(u proc.Usage) int64 { return int64(u.Threads) }, 20, 1, 32, 16},
	{"memory", "bytes of memory", func(u proc.Usage) int64 { return u.Memory }, 8 << 20, 4 << 10, 160, 40},
}

// resources are the samples of what the broker took.
type resources struct {
	mu      sync.Mutex
	samples []proc.Usage
	tried   map[string]int // by metric: how often a leak was looked for in vain
}

// forget begins anew: the broker was started again.
func (r *resources) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = nil
}

func (r *resources) add(u proc.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = append(r.samples, u)
	if len(r.samples) > mostSamples {
		r.samples = r.samples[1:]
	}
}

// rising returns the metrics that have risen in every one of the last samples, or
// of those that are further apart.
func (r *resources) rising() []metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []metric
	for _, m := range metrics {
		if r.tried[m.key] < mostTries && (r.rises(m, 1) || r.rises(m, slowly)) {
			list = append(list, m)
		}
	}
	return list
}

// rises tells whether a metric has risen from each sample to the next, of those
// that are so far apart.
func (r *resources) rises(m metric, stride int) bool {
	at := len(r.samples) - 1 - trend*stride
	if at < 0 {
		return false
	}
	first := m.of(r.samples[at])
	for before := first; at < len(r.samples)-1; {
		at += stride
		now := m.of(r.samples[at])
		if now <= before {
			return false
		}
		before = now
	}
	return m.of(r.samples[len(r.samples)-1])-first >= m.least
}

func (r *resources) inVain(m metric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tried == nil {
		r.tried = map[string]int{}
	}
	r.tried[m.key]++
}

// judged notes which oracles do not look on.
func (c *campaign) judged() {
	switch {
	case c.process == nil:
		c.note("not judged: leaks and busy loops (the broker is not started by mqttcheck: --start)")
	default:
		if _, err := c.process.Usage(); err != nil {
			c.note("not judged: leaks and busy loops (%v)", err)
		}
	}
	if c.o.Against == nil {
		c.note("not judged: differences from another broker (--against)")
	}
}

// watchResources samples now and then.
func (c *campaign) watchResources(ctx context.Context) {
	if _, err := c.process.Usage(); err != nil {
		return
	}
	every(ctx, sampleEvery, func() { c.examineResources(ctx) })
}

// examineResources takes one sample, and looks into what it shows.
func (c *campaign) examineResources(ctx context.Context) {
	c.talking.Lock()
	defer c.talking.Unlock()
	u, busy, err := c.sample(ctx)
	if err != nil || ctx.Err() != nil {
		return
	}
	if busy && c.health(ctx, "busy", c.o.Patience) != nil {
		return // it hangs: that is seen to elsewhere
	}
	if busy {
		c.foundBusy(ctx)
		return
	}
	c.usage.add(u)
	for _, m := range c.usage.rising() {
		c.lookForLeak(ctx, m)
	}
}

// sample waits until the broker has settled and tells what it takes then, and
// whether it works with nothing to do.
func (c *campaign) sample(ctx context.Context) (u proc.Usage, busy bool, err error) {
	c.settle(ctx)
	if busy, err = c.works(ctx, idleWindow); err != nil || !busy {
		u, err = c.process.Usage()
		return u, false, err
	}
	for range busyWindows {
		if busy, err = c.works(ctx, busyWindow); err != nil || !busy {
			u, err = c.process.Usage()
			return u, false, err
		}
	}
	return u, true, nil
}

// settle waits until the broker has as few descriptors as at the last sample, or
// settleTime.
func (c *campaign) settle(ctx context.Context) {
	c.usage.mu.Lock()
	fewest := 0
	if n := len(c.usage.samples); n > 0 {
		fewest = c.usage.samples[n-1].Descriptors
	}
	c.usage.mu.Unlock()
	c.settleTo(ctx, fewest, settleTime)
}

func (c *campaign) settleTo(ctx context.Context, descriptors int, most time.Duration) {
	deadline := time.Now().Add(most)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if u, err := c.process.Usage(); err != nil || u.Descriptors <= descriptors {
			return
		}
		idle(ctx, settleStep)
	}
}

const settleStep = 20 * time.Millisecond

// works tells whether the broker takes half a processor, or more, for a while.
func (c *campaign) works(ctx context.Context, window time.Duration) (bool, error) {
	before, err := c.process.Usage()
	if err != nil {
		return false, err
	}
	idle(ctx, window)
	after, err := c.process.Usage()
	return after.Wanted-before.Wanted >= window/busyShare, err
}

func idle(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// foundBusy looks for the conversation that leaves a busy broker behind.
func (c *campaign) foundBusy(ctx context.Context) {
	f := oracle.Finding{
		Oracle: oracle.Hang, Key: Busy,
		Text: fmt.Sprintf("with no connection and nothing to do the broker takes more than half a processor for %s", busyWindows*busyWindow),
	}
	suspects := c.suspects()
	fresh := c.isNew(f.Name())
	if err := c.restart(ctx); err != nil {
		if fresh {
			c.blameAll(f, suspects)
		}
		return
	}
	defer c.usage.forget()
	if !fresh {
		return
	}
	c.culprit(f, suspects, func(s script.Script) bool {
		play.Play(c.shrinks, s, play.Options{Address: c.o.Address, Login: c.o.Login, Patience: quickPatience})
		for range 3 {
			if busy, err := c.works(c.shrinks, idleWindow); err != nil || !busy {
				return false
			}
		}
		return c.restart(c.shrinks) == nil
	})
}

// Busy is the key of a broker that works with nothing to do.
const Busy = "busy-loop"

// culprit finds the conversation that is to blame, and makes it small.
func (c *campaign) culprit(f oracle.Finding, suspects []generate.Case, shows func(script.Script) bool) {
	for _, k := range suspects {
		if c.shrinks.Err() != nil {
			break
		}
		if !shows(k.Script) {
			continue
		}
		file := c.fileOf(f, k)
		take(&file, shrink.Script(c.shrinks, k.Script, shrink.Limits{Time: c.o.Shrink}, shows))
		c.save(file)
		return
	}
	c.blameAll(f, suspects)
}

// The playings by which a leak is found: a few of each suspect, then several
// rounds of one that takes more.
const (
	fewPlays   = 12
	fewRounds  = 3
	sureRounds = 5  // before anything is accused
	suspected  = 48 // of the latest conversations
)

// lookForLeak looks for the conversation that makes a resource rise each time.
func (c *campaign) lookForLeak(ctx context.Context, m metric) {
	f := oracle.Finding{Oracle: oracle.Leak, Key: m.key}
	if c.known(f.Name()) {
		c.usage.inVain(m)
		return
	}
	until := time.Now().Add(searchTime)
	suspects := c.suspects()
	suspects = suspects[:min(len(suspects), suspected)]
	for _, k := range suspects {
		if ctx.Err() != nil || time.Now().After(until) {
			break
		}
		k.Script = whole(k.Script)
		if c.rise(ctx, k.Script, k.Prefix, m, fewPlays) < fewPlays*m.each {
			continue
		}
		each, ok := c.leaks(ctx, k.Script, k.Prefix, m, sureRounds)
		if !ok || !c.isNew(f.Name()) {
			continue
		}
		f.Text = fmt.Sprintf("each time the conversation is had again and cleared away, the broker has about %d more %s", max(1, each), m.what)
		file := c.fileOf(f, k)
		take(&file, shrink.Script(c.shrinks, k.Script, shrink.Limits{Time: 2 * c.o.Shrink}, func(s script.Script) bool {
			if c.rise(c.shrinks, s, k.Prefix, m, fewPlays) < fewPlays*max(m.each, each/8) {
				return false // soon seen, while it takes a while to be sure
			}
			_, ok := c.leaks(c.shrinks, s, k.Prefix, m, fewRounds)
			return ok
		}))
		c.save(file)
		c.usage.forget()
		return
	}
	c.usage.forget()
	c.usage.inVain(m)
}

// whole is a script that writes each packet at once: it is had hundreds of times.
func whole(s script.Script) script.Script {
	s = slices.Clone(s)
	for i := range s {
		s[i].Split = 0
	}
	return s
}

// again has a conversation so many times, each cleared away before the next.
func (c *campaign) again(ctx context.Context, s script.Script, prefix string, times int) {
	for range times {
		if ctx.Err() != nil {
			return
		}
		log := play.Play(ctx, s, play.Options{Address: c.o.Address, Login: c.o.Login, Patience: quickPatience})
		oracle.Tidy(ctx, log, prefix, oracle.Options{Address: c.o.Address, Login: c.o.Login, Patience: quickPatience})
	}
}

// rise is by how much a resource is more after so many playings.
func (c *campaign) rise(ctx context.Context, s script.Script, prefix string, m metric, times int) int64 {
	before, err := c.process.Usage()
	if err != nil {
		return 0
	}
	c.again(ctx, s, prefix, times)
	c.settleTo(ctx, before.Descriptors, settleTime)
	after, err := c.process.Usage()
	if err != nil {
		return 0
	}
	return m.of(after) - m.of(before)
}

// leaks starts the broker again and tells whether a resource rises in each of
// several rounds then, and by how much each time the conversation is had. What a
// garbage collector lets grow comes to rest; a leak does not.
func (c *campaign) leaks(ctx context.Context, s script.Script, prefix string, m metric, rounds int) (each int64, ok bool) {
	if c.restart(ctx) != nil {
		return 0, false
	}
	c.again(ctx, s, prefix, m.warm)
	var least []int64
	for range rounds {
		n := c.rise(ctx, s, prefix, m, m.plays)
		if n < int64(m.plays)*m.each/2 {
			return 0, false
		}
		least = append(least, n/int64(m.plays))
	}
	return slices.Min(least), ctx.Err() == nil
}
