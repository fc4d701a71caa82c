// Package campaign runs the fuzzer on a broker: many conversations by several
// workers, oracles that look on, and findings that are made small and saved.
package campaign

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/model"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Options of a campaign.
type Options struct {
	Address  wire.Address
	Versions []wire.Version // that the broker offers
	// Start is the broker as a child process; nil where it is not ours.
	Start    *proc.Command
	Seed     uint64
	First    uint64 // number of the first conversation
	Most     uint64 // so many conversations at most; 0 for no limit
	Duration time.Duration
	Workers  int
	Rate     float64 // conversations a second at most; 0 for no limit
	Dir      string  // findings go into DIR/findings; "" saves none
	Patience time.Duration
	// Shrink bounds the minimising of one finding.
	Shrink time.Duration
	// Found is called with each new finding, Progress now and then.
	Found    func(finding.File)
	Progress func(Summary)
}

// Defaults and bounds.
const (
	defaultWorkers  = 4
	defaultPatience = 2 * time.Second
	defaultShrink   = 20 * time.Second
	healthEvery     = 250 * time.Millisecond
	progressEvery   = time.Second
	recentScripts   = 40              // of each worker: a few hundred packets
	mostFindings    = 50              // kept of a campaign
	overtime        = 8 * time.Second // for what is being made small when the time is over
)

// FindingsDir is where the findings of a campaign lie.
func FindingsDir(dir string) string { return filepath.Join(dir, "findings") }

// campaign is the state of one.
type campaign struct {
	o       Options
	gen     *generate.Generator
	profile model.Profile
	process *proc.Process

	// talking is held for reading while a conversation goes on, and for writing
	// while the broker is examined or started again.
	talking sync.RWMutex
	next    atomic.Uint64
	stop    context.CancelFunc
	shrinks context.Context // in which findings are made small: a little longer than the campaign

	mu      sync.Mutex
	summary Summary
	recent  [][]generate.Case // by worker
	begun   time.Time
	gone    error // why the campaign ended before its time
}

// Run runs a campaign until its time or its number of conversations is over,
// the context ends, or the broker is gone for good. The error says why it could
// not begin.
func Run(ctx context.Context, o Options) (Summary, error) {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Shrink <= 0 {
		o.Shrink = defaultShrink
	}
	if len(o.Versions) == 0 {
		o.Versions = []wire.Version{wire.V311, wire.V5}
	}
	c := &campaign{
		o: o, gen: generate.New(generate.Options{Seed: o.Seed, Versions: o.Versions}),
		recent: make([][]generate.Case, o.Workers), begun: time.Now(),
	}
	c.summary = newSummary()
	c.next.Store(o.First)
	if o.Start != nil {
		var err error
		if c.process, err = proc.Start(ctx, *o.Start); err != nil {
			return c.summary, err
		}
		defer func() { _ = c.process.Stop() }()
	}
	if err := c.health(ctx, "begin"); err != nil {
		return c.summary, err
	}
	running := ctx
	c.shrinks = ctx
	if o.Duration > 0 {
		var cancel, late context.CancelFunc
		running, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
		c.shrinks, late = context.WithTimeout(ctx, o.Duration+overtime)
		defer late()
	}
	running, c.stop = context.WithCancel(running)
	defer c.stop()
	c.work(running)
	return c.finish(), nil
}

// work runs the workers, the watch over the broker's health, and the progress.
func (c *campaign) work(ctx context.Context) {
	watching, over := context.WithCancel(ctx)
	var aside, workers sync.WaitGroup
	aside.Go(func() { c.watch(watching) })
	aside.Go(func() { c.report(watching) })
	for k := range c.o.Workers {
		workers.Go(func() { c.converse(ctx, k) })
	}
	workers.Wait()
	over()
	aside.Wait()
}

// converse is one worker.
func (c *campaign) converse(ctx context.Context, worker int) {
	for ctx.Err() == nil {
		number := c.next.Add(1) - 1
		if c.o.Most > 0 && number >= c.o.First+c.o.Most {
			return
		}
		c.pace(ctx, number)
		c.one(ctx, worker, c.gen.Case(number))
	}
}

// pace holds the campaign to its rate.
func (c *campaign) pace(ctx context.Context, number uint64) {
	if c.o.Rate <= 0 {
		return
	}
	due := c.begun.Add(time.Duration(float64(number-c.o.First) / c.o.Rate * float64(time.Second)))
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// one carries out one conversation.
func (c *campaign) one(ctx context.Context, worker int, k generate.Case) {
	c.talking.RLock()
	c.remember(worker, k)
	log, found := oracle.Examine(ctx, k.Script, k.Prefix, c.options())
	c.talking.RUnlock()
	if ctx.Err() != nil && len(found) == 0 {
		return
	}
	c.count(k, log)
	for _, f := range found {
		if f.Oracle == oracle.Crash || f.Oracle == oracle.Hang {
			c.examineBroker(ctx)
			return
		}
	}
	for _, f := range found {
		c.found(c.shrinks, k, f)
	}
}

func (c *campaign) options() oracle.Options {
	return oracle.Options{Address: c.o.Address, Patience: c.o.Patience, Profile: &c.profile}
}

// remember keeps the latest conversations: one of them is to blame when the
// broker is gone.
func (c *campaign) remember(worker int, k generate.Case) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := append(c.recent[worker], k)
	if len(list) > recentScripts {
		list = list[1:]
	}
	c.recent[worker] = list
}

// found makes a finding small and saves it, if it is new.
func (c *campaign) found(ctx context.Context, k generate.Case, f oracle.Finding) {
	if !c.isNew(f.Name()) {
		return
	}
	file := finding.File{
		Oracle: f.Oracle, Key: f.Key, About: f.Text, Broker: c.o.Address.URL, Prefix: k.Prefix, Seed: fmt.Sprintf("%d/%d", c.o.Seed, k.Number),
	}
	c.talking.RLock()
	result := c.minimise(ctx, k.Script, k.Prefix, f)
	c.talking.RUnlock()
	file.Script, file.Whole = result.Script, result.Whole
	c.save(file)
}

// isNew tells whether a finding of that name has not been dealt with.
func (c *campaign) isNew(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.summary.Seen[name]++
	return c.summary.Seen[name] == 1 && len(c.summary.Seen) <= mostFindings
}

func (c *campaign) save(f finding.File) {
	if c.o.Dir != "" {
		path, err := f.Save(FindingsDir(c.o.Dir))
		if err != nil {
			c.note("a finding could not be saved: " + err.Error())
		}
		c.mu.Lock()
		c.summary.Files = append(c.summary.Files, path)
		c.mu.Unlock()
	}
	c.mu.Lock()
	c.summary.Findings = append(c.summary.Findings, Found{
		Oracle: f.Oracle, Key: f.Key, About: f.About, Seed: f.Seed, Packets: f.Script.Packets(), Bytes: f.Script.Size(), Minimised: f.Whole, Script: f.Script.String(),
	})
	c.mu.Unlock()
	if c.o.Found != nil {
		c.o.Found(f)
	}
}

func (c *campaign) note(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.summary.Notes = append(c.summary.Notes, text)
}

// packets counts what a script would send, for the summary.
func packets(s script.Script, count map[string]int) {
	for _, st := range s {
		if st.Op == script.Send && len(st.Bytes) > 0 {
			count[wire.Type(st.Bytes[0]>>4).String()]++
		}
	}
}
