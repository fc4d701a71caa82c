package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// runBound bounds a whole run, slowBound one with --slow: far more than any
// broker needs whose packets come at all.
const (
	runBound  = 20 * time.Minute
	slowBound = 90 * time.Minute
)

// run is the command run: the parent, which owns all that lies outside the
// specs and runs none itself.
func (a *app) run(cmd *cobra.Command, f runFlags, args []string) error {
	p, err := f.plan(cmd, args)
	if err != nil {
		return err
	}
	if err := checkOutputs(cmd, f.outputs()); err != nil {
		return err
	}
	// From here on a signal ends the run in order. Ginkgo catches signals while it
	// lists the checks, and what it leaves behind is reset with all others'.
	signals := make(chan os.Signal, 4)
	catch := func() { signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) }
	defer signal.Stop(signals)
	catch()
	all := allChecks()
	catch()

	started := time.Now()
	if p.versions == nil {
		p.versions = versionsOf(all)
	}
	checks, nothing := p.choose(all)
	if nothing != nil && p.embedded {
		return nothing
	}
	t, stop, err := p.target()
	if err != nil {
		return err
	}
	defer stop()
	o, err := p.greet(t, signals)
	if err != nil {
		return err
	}
	if nothing != nil {
		return nothing
	}
	t.Offered, t.Lacks = o.offered, o.lacks
	checks = slices.DeleteFunc(checks, func(c check) bool {
		return !slices.ContainsFunc(c.Versions, func(v string) bool { return o.offered[v] })
	})
	if len(checks) == 0 {
		return exitf(exitNothing, "the broker offers none of the versions that the selected checks are about")
	}
	c := &campaign{
		target: t, seed: p.seed, shuffle: p.shuffle, strict: p.strict, bound: runBound,
		alive: aliveAt(t, o), show: newProgress(a.stderr, checks),
	}
	if p.slow {
		c.bound = slowBound
	}
	specReports := c.run(checks, p.procs, signals)
	result := reports.Build(a.info(p, c, o, all, started), specReports)
	return a.deliver(cmd, p, result)
}

// choose returns the checks of the run, or the error that there are none.
func (p plan) choose(all []check) ([]check, error) {
	var want, skip map[string]bool
	var err error
	if len(p.selectors) > 0 {
		if want, err = keysOf(p.selectors); err != nil {
			return nil, err
		}
	}
	if len(p.skips) > 0 {
		if skip, err = keysOf(p.skips); err != nil {
			return nil, err
		}
	}
	checks := choose(all, p.versions, want, skip, p.slow)
	if len(checks) == 0 {
		return nil, exitf(exitNothing, "%s", p.whyNone(all, want, skip))
	}
	return checks, nil
}

// whyNone says why no check is left to run.
func (p plan) whyNone(all []check, want, skip map[string]bool) string {
	left := func(versions []string, skip map[string]bool, slow bool) bool {
		return len(choose(all, versions, want, skip, slow)) > 0
	}
	switch every := versionsOf(all); {
	case !left(every, nil, true):
		return "no check matches: what is selected has none; mqttcheck explain says why"
	case left(p.versions, skip, true):
		return "no check matches without --slow"
	case left(p.versions, nil, true):
		return "no check matches: --skip leaves none"
	default:
		return "no check matches: -V leaves out the version of what is selected"
	}
}

// target returns what the checks are to know of the outside. The function it
// returns stops the embedded broker, where one was started.
func (p plan) target() (probe.Target, func(), error) {
	t := probe.Target{
		URL: p.address.URL(), Also: p.further, TLS: p.trust, Username: p.address.Username, Password: p.address.Password,
		Timeout: p.timeout, Settle: p.settle, RunID: newRunID(),
	}
	if !p.embedded {
		return t, func() {}, nil
	}
	t.Second = p.second
	return startEmbedded(t, p.defects)
}

// greet is the preflight, which a signal ends.
func (p plan) greet(t probe.Target, signals <-chan os.Signal) (offer, error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-signals:
			cancel()
		case <-done:
		}
	}()
	o, err := preflight(ctx, t, p.versions)
	close(done)
	<-watched
	cancel()
	return o, err
}

// aliveWait is how long a CONNECT that asks for a sign of life may go without
// its answer: a broker that is slow for a moment has not died.
const aliveWait = 10 * time.Second

// aliveAt returns how to ask the broker for a sign of life: a CONNECT of a
// version that it offers.
func aliveAt(t probe.Target, o offer) func(context.Context) error {
	v := versions[0]
	for _, other := range versions {
		if o.offered[other.key] {
			v = other
		}
	}
	t.Timeout = max(t.Timeout, aliveWait)
	return func(ctx context.Context) error {
		if h := greet(ctx, t, v.wire, "alive"); h.shape != accepted {
			return exitf(exitBroker, "%s", h.seen)
		}
		return nil
	}
}

// info is what the report has to know besides the reports of the checks.
func (a *app) info(p plan, c *campaign, o offer, all []check, started time.Time) reports.RunInfo {
	info := reports.RunInfo{
		ID: c.target.RunID, Tool: version(), Seed: p.seed, Command: a.args,
		Started: started, Duration: time.Since(started), Versions: p.versions,
		Selectors: []string{}, Strict: p.strict, PartialReason: c.stop,
		Interrupted: c.stop == stopInterrupted, BrokerGone: c.stop == stopGone,
		NotOffered: o.notOffered,
		Target:     reports.Target{URL: c.target.URL, Also: c.target.Also, Embedded: p.embedded, TimeoutMs: float64(p.timeout.Milliseconds())},
		Broker:     reports.Broker{Announced: o.announced, Offered: o.offered},
	}
	for _, s := range p.selectors {
		info.Selectors = append(info.Selectors, s.Text)
	}
	for _, s := range p.skips {
		info.Selectors = append(info.Selectors, "--skip "+s.Text)
	}
	for _, ch := range all {
		info.Cited = append(info.Cited, ch.Keys...)
	}
	slices.Sort(info.Cited)
	info.Cited = slices.Compact(info.Cited)
	return info
}

// deliver writes the files and the text, and returns the exit code of the run.
func (a *app) deliver(cmd *cobra.Command, p plan, result reports.Result) error {
	if err := render(cmd, result, p.outputs(), !p.printsToStdout()); err != nil {
		return err
	}
	return exitWith(result.ExitCode())
}

// printsToStdout tells whether a report goes to stdout in place of the text.
func (p plan) printsToStdout() bool {
	return slices.ContainsFunc(p.outputs(), func(o output) bool { return o.path == "-" })
}

// versionsOf returns the versions that checks are about, oldest first.
func versionsOf(checks []check) []string {
	var out []string
	for _, v := range versions {
		if slices.ContainsFunc(checks, func(c check) bool { return slices.Contains(c.Versions, v.key) }) {
			out = append(out, v.key)
		}
	}
	return out
}
