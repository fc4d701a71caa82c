package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// ReplayOptions say on what a finding is played again.
type ReplayOptions struct {
	Address  wire.Address
	Login    *play.Login   // what it asks for, nil for nothing
	Start    *proc.Command // the broker as a child process; nil where it is not ours
	Against  *wire.Address // another broker, for a difference
	AsOther  *play.Login   // what that one asks for
	Patience time.Duration
	Times    int // how often it is played until it happens
}

// Replayed is what came of playing a finding again.
type Replayed struct {
	Happened bool
	About    string // what was seen when it happened
	Times    int    // how often it was played
	Observed string // the packets of the last playing
}

// What a finding needs that was not given.
var (
	ErrNeedsStart   = errors.New("what a broker takes is only known of one that mqttcheck starts: add --start COMMAND")
	ErrNeedsAgainst = errors.New("a difference needs a second broker: add --against URL")
	ErrNoFinding    = errors.New("this is a conversation of a corpus: nothing was wrong with it")
)

// Replay plays a finding again, with the oracle that found it, until it happens
// or it has been played so many times. The error says that the broker was not
// well before, or what is missing.
func Replay(ctx context.Context, f finding.File, o ReplayOptions) (Replayed, error) {
	var r Replayed
	needsProcess := f.Oracle == oracle.Leak || f.Oracle == oracle.Hang && f.Key == Busy
	switch {
	case f.Oracle == kept:
		return r, ErrNoFinding
	case needsProcess && o.Start == nil:
		return r, ErrNeedsStart
	case f.Oracle == oracle.Differ && o.Against == nil:
		return r, ErrNeedsAgainst
	}
	version := wire.V311
	for _, st := range f.Script {
		if st.Version == wire.V5 {
			version = wire.V5
		}
	}
	c, err := begin(ctx, Options{Address: o.Address, Login: o.Login, Start: o.Start, Against: o.Against, AsOther: o.AsOther, Patience: o.Patience, Versions: []wire.Version{version}, Workers: 1})
	if c.process != nil {
		defer func() { _ = c.process.Stop() }()
	}
	if err != nil {
		return r, err
	}
	c.shrinks = ctx
	for r.Times < o.Times && !r.Happened && ctx.Err() == nil {
		r.Times++
		if needsProcess {
			c.replayTaking(ctx, f, &r)
		} else {
			c.replayOnce(ctx, f, &r)
		}
	}
	r.Observed = strings.ToValidUTF8(c.hide(r.Observed), "?")
	r.About = c.hide(r.About)
	return r, nil
}

// replayOnce plays a finding that shows in one playing.
func (c *campaign) replayOnce(ctx context.Context, f finding.File, r *Replayed) {
	k := generate.Case{Script: f.Script, Prefix: f.Prefix}
	want := oracle.Finding{Oracle: f.Oracle, Key: f.Key}
	if f.Oracle == oracle.Differ {
		r.Observed = c.with(ctx, c.o.Address, c.o.Login, k).Text() + "\nthe other broker:\n" + c.with(ctx, *c.o.Against, c.o.AsOther, k).Text()
		r.Happened, r.About = c.differs(ctx, k, want), "the two brokers still differ"
		return
	}
	log, found := c.play(ctx, 0, k, oracle.Options{Address: c.o.Address, Login: c.o.Login, Patience: c.o.Patience})
	r.Observed = log.Text()
	fatal := f.Oracle == oracle.Crash || f.Oracle == oracle.Hang && f.Key != "connection"
	if !fatal {
		i := slices.IndexFunc(found, want.Same)
		if r.Happened = i >= 0; r.Happened {
			r.About = found[i].Text
		}
		return
	}
	g, ill := c.ill(ctx)
	if !ill {
		return
	}
	r.Happened, r.About = g.Oracle == f.Oracle, g.Text
	if !r.Happened {
		r.About = fmt.Sprintf("%s instead of %s", g.Text, f.Oracle)
		r.Happened = true // it is no better
	}
}

// replayTaking plays a finding that shows in what the broker takes.
func (c *campaign) replayTaking(ctx context.Context, f finding.File, r *Replayed) {
	if f.Oracle == oracle.Hang {
		log := play.Play(ctx, f.Script, play.Options{Address: c.o.Address, Login: c.o.Login, Patience: c.o.Patience})
		r.Observed = log.Text()
		_, r.Happened, _ = c.sample(ctx)
		r.About = "the broker works with nothing to do"
		return
	}
	i := slices.IndexFunc(metrics, func(m metric) bool { return m.key == f.Key })
	if i < 0 {
		return
	}
	each, leaks := c.leaks(ctx, f.Script, f.Prefix, metrics[i], sureRounds)
	r.Happened = leaks
	r.About = fmt.Sprintf("each playing takes about %d %s more", max(1, each), metrics[i].what)
}
