package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// Why a campaign ends before its checks do.
const (
	stopGone        = "the broker is gone"
	stopInterrupted = "interrupted"
)

// specLimit is how long one check may go without a sign of life before its
// child is ended: more than any check takes that only waits for the broker.
const specLimit = 90 * time.Second

// slowLimit is specLimit for checks that are labelled slow.
const slowLimit = 15 * time.Minute

// campaign runs checks in children and collects their reports. One goroutine
// owns all of it; workers and the watch over the broker send it events.
type campaign struct {
	target  probe.Target
	seed    int64
	shuffle bool
	strict  bool
	bound   time.Duration // of the whole campaign
	limit   time.Duration // of one check without a sign of life; 0 is specLimit
	alive   func(context.Context) error
	restart func(kill bool) error // nil: no hook
	show    *progress

	checks    map[string]check
	dealer    *dealer
	sightings *sightings
	watch     *watch
	workers   map[*worker]bool
	events    chan event
	batches   int
	died      map[string]bool // checks that run alone because a child died
	repeated  map[string]bool
	results   map[string]types.SpecReport
	stop      string // why it ends early
	stopAt    time.Time
}

// run runs all checks, or as many as it gets to, and returns their reports in
// the order of the suite. Signals interrupt it: the first makes the children
// clean up and end, a second at least half a second later kills them.
func (c *campaign) run(checks []check, procs int, signals <-chan os.Signal) []types.SpecReport {
	c.checks = make(map[string]check, len(checks))
	for _, ch := range checks {
		c.checks[ch.Name] = ch
	}
	c.dealer = newDealer(checks, procs, c.shuffle, c.seed)
	c.sightings = newSightings()
	c.watch = newWatch(c.alive)
	c.workers = map[*worker]bool{}
	c.events = make(chan event, maxChildren)
	c.died, c.repeated = map[string]bool{}, map[string]bool{}
	c.results = map[string]types.SpecReport{}

	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	bound := time.NewTimer(c.bound)
	defer bound.Stop()
	var lastSignal time.Time
	for c.deal(); len(c.workers) > 0 || c.watch.busy(); c.deal() {
		select {
		case ev := <-c.events:
			c.handle(ev)
		case err := <-c.watch.results:
			c.settle(err)
		case now := <-tick.C:
			c.supervise(now)
		case <-bound.C:
			c.end(fmt.Sprintf("the run reached its bound of %s", c.bound))
		case <-signals:
			now := time.Now()
			if lastSignal.IsZero() {
				c.end(stopInterrupted)
				lastSignal = now
			} else if now.Sub(lastSignal) >= 500*time.Millisecond {
				c.killAll()
				c.watch.abandon()
			}
		}
	}
	c.account()
	c.show.finish()
	var out []types.SpecReport
	for _, ch := range checks {
		if r, ok := c.results[ch.Name]; ok {
			out = append(out, r)
		}
	}
	return out
}

// deal gives work to workers, and lets those go for which there is none.
func (c *campaign) deal() {
	for c.stop == "" {
		k, checks, ok := c.dealer.next()
		if !ok {
			break
		}
		w, err := c.idle(k == lone)
		if err != nil {
			c.dealer.again(k, checks...)
			c.end(err.Error())
			break
		}
		c.give(w, k, checks)
	}
	if c.stop != "" || c.dealer.left() == 0 && c.dealer.busy() == 0 {
		for w := range c.workers {
			if !w.busy {
				w.finish()
			}
		}
	}
}

// idle returns a worker without work: a new one where fresh is set or there is
// no other.
func (c *campaign) idle(fresh bool) (*worker, error) {
	for w := range c.workers {
		if !w.busy && !w.finished {
			if !fresh {
				return w, nil
			}
			w.finish()
		}
	}
	c.batches++
	w, err := startWorker(c.batches, c.events)
	if err == nil {
		c.workers[w] = true
	}
	return w, err
}

func (c *campaign) give(w *worker, k kind, checks []check) {
	c.batches++
	w.kind, w.busy, w.current, w.heard = k, true, "", time.Now()
	w.began, w.asked = w.heard, false
	w.pending = map[string]bool{}
	for _, ch := range checks {
		w.pending[ch.Name] = true
	}
	c.dealer.running[k]++
	target := c.target
	// A number of its own for each batch: its topics and Client Identifiers
	// occur nowhere else in the run.
	target.Shard = c.batches
	w.unseen = c.sightings.unseen()
	target.Unseen = w.unseen
	w.send(order{Batch: &batch{
		Target: target, Names: names(checks), Versions: checks[0].Versions, Sections: sectionsOf(checks),
		Seed: c.seed, Shuffle: c.shuffle, Restart: c.restart != nil,
	}})
}

// handle takes in what a child sent.
func (c *campaign) handle(ev event) {
	w := ev.w
	w.heard = time.Now()
	switch {
	case ev.exited:
		c.exited(w, ev.err)
	case ev.line.Spec != nil:
		c.reported(w, ev.report)
	case ev.line.Start != "":
		w.current = ev.line.Start
	case ev.line.Ask != "":
		w.send(order{Answer: c.answer(ev.line)})
	case ev.line.Fault != "":
		w.cause = ev.line.Fault
	}
	if ev.line.Done {
		if w.asked {
			c.takeBack(w)
		}
		c.release(w, "the child ended the batch without it")
	}
}

// answer does what a child asks for. The broker is gone meanwhile by request,
// so nothing else goes on: the check is a serial one.
func (c *campaign) answer(l line) *answer {
	err := errors.New("unknown request " + l.Ask)
	switch l.Ask {
	case askRestart:
		if err = errors.New("there is no way to restart the broker"); c.restart != nil {
			err = c.restart(l.Kill)
		}
	case askAlive:
		ctx, cancel := context.WithTimeout(context.Background(), c.target.Timeout+probe.DefaultTimeout)
		defer cancel()
		if err = nil; c.alive != nil {
			err = c.alive(ctx)
		}
	}
	if err != nil {
		return &answer{Error: err.Error()}
	}
	return &answer{}
}

// reported takes in the report of a check. One that does not speak for the
// broker waits until the broker is known to be alive.
func (c *campaign) reported(w *worker, r types.SpecReport) {
	name := r.FullText()
	if !w.pending[name] {
		return
	}
	delete(w.pending, name)
	w.current = ""
	c.dealer.took(w.kind, r.RunTime)
	if c.stop != "" && (r.State.Is(types.SpecStateInterrupted|types.SpecStateAborted) || c.stop == stopGone) {
		if c.stop != stopInterrupted {
			c.commit(overrule(r, string(reports.Inconclusive), c.stop))
		}
		return
	}
	if w.cause != "" && r.State.Is(types.SpecStateInterrupted) {
		c.commit(overrule(r, string(reports.Error), w.cause))
		return
	}
	again := c.sightings.add(name, waitsOf(r), w.unseen)
	verdict, _, _, _ := reports.Judge(r, c.strict)
	switch verdict {
	case reports.Fail, reports.Warn, reports.Error, reports.Inconclusive:
		c.watch.hold(r)
	default:
		c.commit(r)
	}
	for _, name := range again {
		if !c.repeated[name] && c.stop == "" {
			c.repeated[name] = true
			c.retract(name)
		}
	}
}

// retract takes a result back and runs its check again.
func (c *campaign) retract(name string) {
	c.watch.drop(name)
	if r, ok := c.results[name]; ok {
		delete(c.results, name)
		c.show.retract(r, c.strict)
	}
	ch := c.checks[name]
	k := plain
	if ch.Serial {
		k = serial
	}
	c.dealer.again(k, ch)
}

// settle takes in whether the broker is alive.
func (c *campaign) settle(err error) {
	held := c.watch.release(err == nil)
	if err == nil {
		for _, r := range held {
			c.commit(r)
		}
		return
	}
	if c.stop == "" {
		c.show.talk("%s: %v", stopGone, err)
		c.end(stopGone)
	}
	for _, r := range held {
		c.commit(overrule(r, string(reports.Inconclusive), stopGone))
	}
}

func (c *campaign) commit(r types.SpecReport) {
	c.results[r.FullText()] = r
	c.show.result(r, c.strict)
}

// release ends the batch of a worker. What it has not reported is run again,
// one by one, and what ends its child then as well is an error.
func (c *campaign) release(w *worker, how string) {
	if !w.busy {
		return
	}
	w.busy = false
	c.dealer.running[w.kind]--
	left := slices.Sorted(maps.Keys(w.pending))
	w.pending = nil
	if c.stop != "" {
		return // accounted for at the end
	}
	for _, name := range left {
		ch := c.checks[name]
		hung := w.cause != "" && name == w.current
		if c.died[name] || hung {
			if hung {
				how = w.cause
			}
			c.commit(invented(ch, reports.Error, how))
			continue
		}
		c.died[name] = true
		if ch.Serial {
			c.dealer.again(serial, ch)
		} else {
			c.dealer.again(lone, ch)
		}
	}
	w.current = ""
}

// takeBack puts what a worker has not begun into the queue again.
func (c *campaign) takeBack(w *worker) {
	if c.stop != "" || w.cause != "" {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(w.pending)) {
		c.dealer.again(w.kind, c.checks[name])
	}
	clear(w.pending)
}

// exited takes in that a child has ended.
func (c *campaign) exited(w *worker, err error) {
	how := "the check ended its process"
	if err != nil {
		how += ": " + err.Error()
	}
	if log := strings.TrimSpace(w.log.String()); log != "" {
		how += "\n" + log
	}
	c.release(w, how)
	delete(c.workers, w)
}

// supervise takes batches back that take too long, and ends children that give
// no sign of life.
func (c *campaign) supervise(now time.Time) {
	for w := range c.workers {
		limit := cmp.Or(c.limit, specLimit)
		if ch, ok := c.checks[w.current]; ok && ch.Slow {
			limit = slowLimit
		}
		switch {
		case !w.stopped.IsZero() && now.Sub(w.stopped) > 10*time.Second:
			w.kill()
		case w.busy && !w.asked && w.kind != lone && len(w.pending) > 1 && now.Sub(w.began) > 3*batchAim:
			// It takes longer than planned: others may be free, and the run may
			// know more by now of what it has not seen.
			w.asked = true
			w.send(order{GiveBack: true})
		case w.stopped.IsZero() && w.busy && now.Sub(w.heard) > limit:
			w.cause = fmt.Sprintf("the check gave no sign of life for %s", limit)
			w.interrupt(now)
		}
	}
}

// end makes the campaign end early: nothing more is dealt, and the children
// clean up.
func (c *campaign) end(why string) {
	if c.stop != "" {
		return
	}
	c.stop, c.stopAt = why, time.Now()
	for w := range c.workers {
		w.interrupt(c.stopAt)
	}
}

func (c *campaign) killAll() {
	for w := range c.workers {
		w.kill()
	}
}

// account gives each check that an early end kept from running its verdict. An
// interruption is nobody's fault and leaves them out.
func (c *campaign) account() {
	if c.stop == "" || c.stop == stopInterrupted {
		return
	}
	for name, ch := range c.checks {
		if _, ok := c.results[name]; !ok {
			c.commit(invented(ch, reports.Inconclusive, c.stop))
		}
	}
}

// invented returns a report for a check that has made none.
func invented(ch check, v reports.Verdict, reason string) types.SpecReport {
	return overrule(ch.preview, string(v), reason)
}

// overrule returns a report with the verdict replaced; the trace stays.
func overrule(r types.SpecReport, verdict, reason string) types.SpecReport {
	entries := types.ReportEntries{{
		Visibility: types.ReportEntryVisibilityFailureOrVerbose,
		Name:       "verdict",
		Value:      types.WrapEntryValue(probe.Outcome{Verdict: verdict, Reason: reason}),
	}}
	for _, e := range r.ReportEntries {
		if e.Name == "trace" {
			entries = append(entries, e)
		}
	}
	r.ReportEntries = entries
	r.State = types.SpecStateFailed
	r.Failure = types.Failure{Message: reason}
	return r
}
