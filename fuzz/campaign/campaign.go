// Package campaign runs the fuzzer on a broker: many conversations by several
// workers, oracles that look on, and findings that are made small and saved.
package campaign

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/model"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Options of a campaign.
type Options struct {
	Address wire.Address
	// Login is what the broker asks for, nil where it is open to everybody. It gets
	// into nothing that is saved.
	Login *play.Login
	// Broker names the broker in findings; "" is for the address.
	Broker string
	// Versions to speak. Where there are none, those that the broker turns out to
	// offer are spoken.
	Versions []wire.Version
	// Start is the broker as a child process; nil where it is not ours.
	Start *proc.Command
	// Against is another broker, which is given the same conversations; nil for
	// none.
	Against  *wire.Address
	AsOther  *play.Login // what the other broker asks for
	Seed     uint64
	First    uint64 // number of the first conversation
	Most     uint64 // so many conversations at most; 0 for no limit
	Duration time.Duration
	Workers  int
	Rate     float64 // conversations a second at most; 0 for no limit
	Dir      string  // findings go into DIR/findings; "" saves none
	Corpus   string  // folder of what later campaigns begin with; "" for none
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
	usage   resources

	// talking is held for reading while a conversation goes on, and for writing
	// while the broker is examined or started again.
	talking sync.RWMutex
	next    atomic.Uint64
	greeted atomic.Uint64 // clients that looked after the broker
	run     string        // what tells them from those of another campaign
	stop    context.CancelFunc
	shrinks context.Context // in which findings are made small: a little longer than the campaign

	mu      sync.Mutex
	doubts  map[string]int // by name of a finding
	summary Summary
	corpus  *corpus
	recent  [][]generate.Case // by worker
	begun   time.Time
	gone    error // why the campaign ended before its time
}

// Run runs a campaign until its time or its number of conversations is over,
// the context ends, or the broker is gone for good. The error says why it could
// not begin.
func Run(ctx context.Context, o Options) (Summary, error) {
	c, err := begin(ctx, o)
	if c.process != nil {
		defer func() { _ = c.process.Stop() }()
	}
	if err != nil {
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

// begin fills in what was left open, starts the broker if it is ours, and sees
// that it answers.
func begin(ctx context.Context, o Options) (*campaign, error) {
	if o.Workers <= 0 {
		o.Workers = defaultWorkers
	}
	if o.Patience <= 0 {
		o.Patience = defaultPatience
	}
	if o.Shrink <= 0 {
		o.Shrink = defaultShrink
	}
	c := &campaign{o: o, run: rand.Text()[:8], doubts: map[string]int{}, recent: make([][]generate.Case, o.Workers), begun: time.Now(), summary: newSummary()}
	c.next.Store(o.First)
	if o.Start != nil {
		var err error
		if c.process, err = proc.Start(ctx, *o.Start); err != nil {
			return c, err
		}
	}
	if err := c.speak(ctx); err != nil {
		return c, err
	}
	c.gen = generate.New(generate.Options{Seed: o.Seed, Versions: c.o.Versions})
	if err := c.openCorpus(); err != nil {
		return c, err
	}
	c.judged()
	return c, nil
}

// speak settles which versions are spoken: those that were asked for, if the
// broker offers one of them.
func (c *campaign) speak(ctx context.Context) error {
	asked := c.o.Versions
	if len(asked) == 0 {
		asked = []wire.Version{wire.V311, wire.V5}
	}
	c.o.Versions = nil
	var failed error
	for _, v := range asked {
		if err := oracle.Healthy(ctx, c.o.Address, c.o.Login, v, c.healthName("begin"), c.o.Patience); err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		c.o.Versions = append(c.o.Versions, v)
	}
	if len(c.o.Versions) == 0 {
		return failed
	}
	return ctx.Err()
}

// work runs the workers, the watch over the broker's health, and the progress.
func (c *campaign) work(ctx context.Context) {
	watching, over := context.WithCancel(ctx)
	var aside, workers sync.WaitGroup
	aside.Go(func() { c.watch(watching) })
	aside.Go(func() { c.report(watching) })
	if c.process != nil {
		aside.Go(func() { c.watchResources(watching) })
	}
	for k := range c.o.Workers {
		workers.Go(func() { c.converse(ctx, k) })
	}
	workers.Wait()
	over()
	aside.Wait()
	if c.process != nil && c.gone == nil {
		c.examineResources(c.shrinks)
	}
}

// converse is one worker: first it repeats its share of what the corpus holds.
func (c *campaign) converse(ctx context.Context, worker int) {
	for _, k := range c.corpus.share(worker, c.o.Workers) {
		if ctx.Err() != nil {
			return
		}
		c.one(ctx, worker, k)
	}
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
	restarts := c.restarts()
	log, found := c.play(ctx, worker, k, oracle.Options{Address: c.o.Address, Login: c.o.Login, Patience: c.o.Patience, Profile: &c.profile, Known: c.known})
	if ctx.Err() != nil && len(found) == 0 {
		return
	}
	c.count(k, log)
	if (len(found) > 0 || log.Refused()) && c.unwell(ctx) && c.examineBroker(ctx) {
		return // whatever else was seen may come of that
	}
	if c.restarts() != restarts {
		return // the broker was gone meanwhile
	}
	for _, f := range found {
		if f.Oracle != oracle.Crash {
			c.found(c.shrinks, worker, k, f)
		}
	}
	if c.o.Against != nil && len(found) == 0 {
		c.compare(ctx, worker, k, log)
	}
}

// play carries out one conversation, and remembers it: one of the latest is to
// blame when the broker is gone. What it leaves behind is cleared away.
func (c *campaign) play(ctx context.Context, worker int, k generate.Case, o oracle.Options) (*play.Log, []oracle.Finding) {
	c.talking.RLock()
	defer c.talking.RUnlock()
	c.mu.Lock()
	list := append(c.recent[worker], k)
	if len(list) > recentScripts {
		list = list[1:]
	}
	c.recent[worker] = list
	c.mu.Unlock()
	log, found := oracle.Examine(ctx, k.Script, k.Prefix, o)
	oracle.Tidy(ctx, log, k.Prefix, o)
	return log, found
}

// known tells whether a finding has been dealt with: there is no need to make
// sure of it.
func (c *campaign) known(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.summary.Seen[name] > 0
}

// found makes a finding small and saves it, if it is new.
func (c *campaign) found(ctx context.Context, worker int, k generate.Case, f oracle.Finding) {
	if !c.isNew(f.Name()) {
		return
	}
	file := c.fileOf(f, k)
	if again := c.minimise(ctx, worker, k, f, &file); !again && f.Absence() && ctx.Err() == nil {
		c.doubt(f)
		return
	}
	c.save(file)
}

// doubt drops a finding that something did not come, where it comes when the
// conversation is had alone. A few times it is looked for again.
func (c *campaign) doubt(f oracle.Finding) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.doubts[f.Name()]++
	switch n := c.doubts[f.Name()]; {
	case n == 1:
		c.summary.Notes = append(c.summary.Notes, "not reported, since it did not show again when the conversation was had alone: "+f.Key+": "+c.hide(f.Text))
		fallthrough
	case n < mostDoubts:
		delete(c.summary.Seen, f.Name())
	}
}

// mostDoubts of one key: each takes the time of a few conversations.
const mostDoubts = 5

// fileOf begins the file of a finding.
func (c *campaign) fileOf(f oracle.Finding, k generate.Case) finding.File {
	return finding.File{
		Oracle: f.Oracle, Key: f.Key, About: f.Text, Broker: c.broker(), Prefix: k.Prefix, Seed: k.Name(c.o.Seed),
		Script: k.Script, Minimised: finding.Not,
	}
}

// isNew tells whether a finding of that name has not been dealt with.
func (c *campaign) isNew(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.summary.Seen[name]++
	return c.summary.Seen[name] == 1 && len(c.summary.Seen) <= mostFindings
}

func (c *campaign) save(f finding.File) {
	f.About, f.Observed = c.hide(f.About), c.hide(f.Observed)
	found := Found{
		Oracle: f.Oracle, Key: f.Key, About: f.About, Seed: f.Seed, Packets: f.Script.Packets(), Bytes: f.Script.Size(),
		Minimised: f.Minimised == finding.Fully, Script: f.Script.String(),
	}
	if c.o.Dir != "" {
		path, err := f.Save(FindingsDir(c.o.Dir))
		if err != nil {
			c.note("a finding could not be saved: %v", err)
		}
		found.File = path
	}
	c.mu.Lock()
	c.summary.Findings = append(c.summary.Findings, found)
	c.mu.Unlock()
	if c.o.Found != nil {
		c.o.Found(f)
	}
}

func (c *campaign) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.summary.Notes = append(c.summary.Notes, fmt.Sprintf(format, args...))
}

// packets counts what a script would send, for the summary.
func packets(s script.Script, count map[string]int) {
	for _, st := range s {
		if st.Op == script.Send && len(st.Bytes) > 0 {
			count[wire.Type(st.Bytes[0]>>4).String()]++
		}
	}
}
