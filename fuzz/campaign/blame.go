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
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/fuzz/shrink"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// suspects are the latest conversations, the latest first.
func (c *campaign) suspects() []generate.Case {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []generate.Case
	for depth := 1; depth <= recentScripts; depth++ {
		for _, of := range c.recent {
			if len(of) >= depth {
				list = append(list, of[len(of)-depth])
			}
		}
	}
	return list
}

// blameAll saves all that was sent since the last sign of life, for a finding
// that has been counted.
func (c *campaign) blameAll(f oracle.Finding, suspects []generate.Case) {
	var all script.Script
	for i := min(len(suspects), 4*c.o.Workers) - 1; i >= 0; i-- {
		all = append(all, suspects[i].Script...)
	}
	c.save(finding.File{
		Oracle: f.Oracle, Key: f.Key, About: f.Text + "; the script is all that was sent since the last sign of life",
		Broker: c.broker(), Seed: fmt.Sprint(c.o.Seed), Script: all, Minimised: finding.Not,
	})
}

// blame finds the conversation that does it alone, and makes it small.
func (c *campaign) blame(ctx context.Context, f oracle.Finding, suspects []generate.Case) {
	until := time.Now().Add(2 * c.o.Shrink)
	patience, times := quickPatience, shrink.Surely
	if f.Oracle == oracle.Hang {
		patience, times = hangPatience, 4 // each takes seconds
	}
	for _, k := range suspects {
		fells := func(s script.Script) (*play.Log, bool) { return c.fells(ctx, s, k.Prefix, f, patience) }
		if time.Now().After(until) || ctx.Err() != nil {
			break
		}
		file := c.fileOf(f, k)
		s := k.Script
		log, ill := fells(s)
		if !ill {
			// It may be what clears the conversation away that does it.
			s = slices.Concat(s, oracle.TidyScript(log, k.Prefix))
			if log, ill = fells(s); !ill {
				continue
			}
		}
		if last := lastStep(log); last+1 < len(s) {
			if _, ill := fells(s[:last+1]); ill {
				s = s[:last+1]
			}
		}
		shows := func(s script.Script) bool {
			_, ill := fells(s)
			return ill
		}
		limits := shrink.Limits{Time: c.o.Shrink}
		if own(s, k.Prefix) { // then what a candidate leaves behind is cleared away
			limits.Fits = func(s script.Script) bool { return own(s, k.Prefix) }
		}
		result := shrink.Script(ctx, s, limits, shows)
		result.Script = shrink.Steady(ctx, result.Script, shrink.Limits{Plays: times, Time: c.o.Shrink}, shows)
		take(&file, result)
		c.save(file)
		return
	}
	c.blameAll(f, suspects)
}

// The patience while a finding is made small. A hang that is not there is a
// matter of milliseconds.
const (
	quickPatience = 500 * time.Millisecond
	hangPatience  = 250 * time.Millisecond
	makeSure      = time.Second
)

// fells tells whether a script makes the broker ill in the same way; it leaves a
// healthy broker behind, in which nothing is left of the script.
func (c *campaign) fells(ctx context.Context, s script.Script, prefix string, f oracle.Finding, patience time.Duration) (log *play.Log, ill bool) {
	log = play.Play(ctx, s, play.Options{Address: c.o.Address, Login: c.o.Login, Patience: patience})
	if c.well(ctx) {
		oracle.Tidy(ctx, log, prefix, oracle.Options{Address: c.o.Address, Login: c.o.Login, Patience: patience})
		if !c.well(ctx) {
			_ = c.restart(ctx)
		}
		return log, false
	}
	ill = f.Oracle == oracle.Hang || f.Key == "no-connection"
	if c.died() {
		ill = c.crash().Same(f)
	}
	return log, c.restart(ctx) == nil && ill
}

// well tells whether the broker answers.
func (c *campaign) well(ctx context.Context) bool {
	begun := time.Now()
	for !c.died() && time.Since(begun) < makeSure { // one that is about to end may end a connection first
		err := c.health(ctx, "check", makeSure)
		if err == nil || ctx.Err() != nil {
			return true
		}
		if errors.Is(err, oracle.ErrNoConnection) && c.process != nil {
			c.awaitEnd()
			break
		}
	}
	return false
}

// lastStep is the last step of a script that was still sent to somebody.
func lastStep(log *play.Log) int {
	last := len(log.Script) - 1
	for _, e := range slices.Backward(log.Events) {
		switch {
		case e.Kind == play.Refused || e.Kind == play.Stuck:
			last = min(last, e.Step)
		case e.Kind == play.Sent && !e.Auto && last == len(log.Script)-1:
			return e.Step
		}
	}
	return last
}

// minimise makes a finding of one conversation small; the file keeps the whole
// of it when it does not show again.
func (c *campaign) minimise(ctx context.Context, worker int, k generate.Case, f oracle.Finding, file *finding.File) (again bool) {
	fits := func(s script.Script) bool { return own(s, k.Prefix) }
	shows := func(s script.Script) bool {
		if !fits(s) {
			return false
		}
		part := k
		part.Script = s
		log, found := c.play(ctx, worker, part, oracle.Options{Address: c.o.Address, Login: c.o.Login, Patience: quickPatience})
		again := slices.ContainsFunc(found, f.Same)
		if again {
			file.Observed = log.Text()
		}
		return again
	}
	s := k.Script
	if f.Step+1 < len(s) && shows(s[:f.Step+1]) {
		s = s[:f.Step+1]
	} else if !twice(func() bool { return shows(s) }) {
		file.About += "; it did not show again when the conversation was had alone"
		return false
	}
	small := shrink.Script(ctx, s, shrink.Limits{Time: c.o.Shrink, Fits: fits}, shows)
	small.Script = shrink.Steady(ctx, small.Script, shrink.Limits{Plays: shrink.Surely, Time: c.o.Shrink / 2}, shows)
	take(file, small)
	return true
}

// take puts what shrinking has left into the file of a finding.
func take(file *finding.File, r shrink.Result) {
	file.Script, file.Plays, file.Minimised = r.Script, r.Plays, finding.Fully
	if !r.Whole {
		file.Minimised = finding.Partly
	}
}

// own tells whether every Client Identifier in a script begins with the prefix,
// or is empty: another would meet the Sessions of others.
func own(s script.Script, prefix string) bool {
	for _, st := range s {
		if st.Op != script.Send || len(st.Bytes) < 2 || wire.Type(st.Bytes[0]>>4) != wire.CONNECT {
			continue
		}
		p, _ := wire.Parse(st.Bytes[0], wire.Body(st.Bytes), wire.V5)
		five, ok := p.(wire.Connect)
		q, _ := wire.Parse(st.Bytes[0], wire.Body(st.Bytes), wire.V311)
		old, also := q.(wire.Connect)
		if !ok && !also {
			continue // such a CONNECT is not accepted
		}
		if !(ok && (five.ClientID == "" || strings.HasPrefix(five.ClientID, prefix)) || also && (old.ClientID == "" || strings.HasPrefix(old.ClientID, prefix))) {
			return false
		}
	}
	return true
}

// twice tells whether one of two attempts succeeds.
func twice(attempt func() bool) bool {
	for range 2 {
		if attempt() {
			return true
		}
	}
	return false
}
