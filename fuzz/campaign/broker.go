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
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/fuzz/shrink"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// health makes a round trip on a fresh connection.
func (c *campaign) health(ctx context.Context, name string) error {
	topic := fmt.Sprintf("mqttcheck-fuzz-health-%d-%s", c.o.Seed&0xffffff, name)
	return oracle.Healthy(ctx, c.o.Address, c.o.Versions[0], topic, c.o.Patience)
}

// watch looks after the broker's health until the campaign is over.
func (c *campaign) watch(ctx context.Context) {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	var died <-chan struct{}
	for n := 0; ; n++ {
		if c.process != nil {
			died = c.process.Done()
		}
		select {
		case <-ctx.Done():
			return
		case <-died:
			c.examineBroker(ctx)
		case <-tick.C:
			if err := c.health(ctx, fmt.Sprint(n)); err != nil && ctx.Err() == nil {
				c.examineBroker(ctx)
			}
		}
	}
}

// ill tells what is wrong with the broker: dead, or without an answer twice in
// a row.
func (c *campaign) ill(ctx context.Context) (oracle.Finding, bool) {
	if c.process != nil {
		if err := c.process.Alive(); err != nil {
			return oracle.Finding{Oracle: oracle.Crash, Key: "process", Text: err.Error()}, true
		}
	}
	var err error
	for n := range 2 {
		if err = c.health(ctx, fmt.Sprintf("again-%d", n)); err == nil || ctx.Err() != nil {
			return oracle.Finding{}, false
		}
	}
	if c.process != nil {
		if died := c.process.Alive(); died != nil {
			return oracle.Finding{Oracle: oracle.Crash, Key: "process", Text: died.Error()}, true
		}
	}
	if strings.Contains(err.Error(), "takes no connection") {
		return oracle.Finding{Oracle: oracle.Crash, Key: "no-connection", Text: err.Error()}, true
	}
	return oracle.Finding{Oracle: oracle.Hang, Key: "broker", Text: err.Error()}, true
}

// examineBroker finds out whether the broker is ill. Then it looks for the
// conversation that is to blame, if it can start the broker again, and ends the
// campaign if it cannot.
func (c *campaign) examineBroker(ctx context.Context) {
	c.talking.Lock()
	defer c.talking.Unlock()
	if ctx.Err() != nil {
		return
	}
	f, ill := c.ill(ctx)
	if !ill {
		return
	}
	suspects := c.suspects()
	if c.process == nil {
		c.blameAll(f, suspects)
		c.gone = errors.New(f.Text)
		c.stop()
		return
	}
	c.withOutput(&f)
	fresh := c.isNew(f.Name())
	if err := c.restart(ctx); err != nil {
		c.blameAll(f, suspects)
		c.gone = err
		c.stop()
		return
	}
	if fresh {
		c.blame(c.shrinks, f, suspects)
	}
	c.mu.Lock()
	c.summary.Restarts++
	clear(c.recent)
	c.mu.Unlock()
}

// withOutput tells crashes apart by what the broker said at its end.
func (c *campaign) withOutput(f *oracle.Finding) {
	for _, line := range strings.Split(c.process.Output(), "\n") {
		for _, sign := range []string{"panic:", "fatal error:", "Assertion", "ERROR: AddressSanitizer", "runtime error:", "Segmentation fault"} {
			if strings.Contains(line, sign) {
				f.Text += ": " + strings.TrimSpace(line)
				f.Key = "process-" + digits.ReplaceAllString(strings.TrimSpace(line), "n")
				return
			}
		}
	}
}

func (c *campaign) restart(ctx context.Context) error {
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), restartTime)
	defer cancel()
	return c.process.Restart(limit, true)
}

// restartTime bounds the start of the broker within a campaign.
const restartTime = 30 * time.Second

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

// blameAll saves all that was sent since the last sign of life.
func (c *campaign) blameAll(f oracle.Finding, suspects []generate.Case) {
	var all script.Script
	for i := min(len(suspects), 4*c.o.Workers) - 1; i >= 0; i-- {
		all = append(all, suspects[i].Script...)
	}
	c.isNew(f.Name())
	c.save(finding.File{
		Oracle: f.Oracle, Key: f.Key, About: f.Text + "; the script is all that was sent since the last sign of life",
		Broker: c.o.Address.URL, Seed: fmt.Sprint(c.o.Seed), Script: all,
	})
}

// blame finds the conversation that does it alone, and makes it small.
func (c *campaign) blame(ctx context.Context, f oracle.Finding, suspects []generate.Case) {
	deadline := time.Now().Add(c.o.Shrink)
	for _, k := range suspects {
		if time.Now().After(deadline) || ctx.Err() != nil {
			break
		}
		if !c.fells(ctx, k.Script) {
			continue
		}
		result := shrink.Script(ctx, k.Script, shrink.Limits{Time: time.Until(deadline)}, func(s script.Script) bool { return c.fells(ctx, s) })
		c.save(finding.File{
			Oracle: f.Oracle, Key: f.Key, About: f.Text, Broker: c.o.Address.URL, Prefix: k.Prefix,
			Seed: fmt.Sprintf("%d/%d", c.o.Seed, k.Number), Script: result.Script, Whole: result.Whole,
		})
		return
	}
	c.blameAll(f, suspects)
}

// fells tells whether a script makes the broker ill, and leaves a healthy one
// behind.
func (c *campaign) fells(ctx context.Context, s script.Script) bool {
	log, _ := oracle.Examine(ctx, s, "", c.quick())
	sick := log.Refused() || c.process.Alive() != nil
	if !sick {
		if err := oracle.Healthy(ctx, c.o.Address, c.o.Versions[0], "mqttcheck-fuzz-health-check", quickPatience); err != nil && ctx.Err() == nil {
			sick = true
		}
	}
	if !sick {
		return false
	}
	return c.restart(ctx) == nil
}

// quickPatience is the patience while a finding is made small.
const quickPatience = 500 * time.Millisecond

func (c *campaign) quick() oracle.Options {
	return oracle.Options{Address: c.o.Address, Patience: quickPatience}
}

// minimise makes a finding of a format or model oracle small.
func (c *campaign) minimise(ctx context.Context, s script.Script, prefix string, f oracle.Finding) shrink.Result {
	if f.Step+1 < len(s) {
		if cut := slices.Clone(s[:f.Step+1]); c.shows(ctx, cut, prefix, f) {
			s = cut
		}
	}
	return shrink.Script(ctx, s, shrink.Limits{Time: c.o.Shrink}, func(s script.Script) bool { return c.shows(ctx, s, prefix, f) })
}

// shows tells whether a script has the same finding. One that has lost the
// prefix of its Client Identifiers would meet the Sessions of others.
func (c *campaign) shows(ctx context.Context, s script.Script, prefix string, f oracle.Finding) bool {
	if !own(s, prefix) {
		return false
	}
	_, found := oracle.Examine(ctx, s, prefix, c.quick())
	return slices.ContainsFunc(found, f.Same)
}

// own tells whether every Client Identifier in a script begins with the prefix,
// or is empty.
func own(s script.Script, prefix string) bool {
	for _, st := range s {
		if st.Op != script.Send || len(st.Bytes) < 2 || wire.Type(st.Bytes[0]>>4) != wire.CONNECT {
			continue
		}
		p, _ := wire.Parse(st.Bytes[0], wire.Body(st.Bytes), wire.V5)
		five, ok := p.(wire.Connect)
		q, _ := wire.Parse(st.Bytes[0], wire.Body(st.Bytes), wire.V311)
		old, also := q.(wire.Connect)
		if !(ok && (five.ClientID == "" || strings.HasPrefix(five.ClientID, prefix)) || also && (old.ClientID == "" || strings.HasPrefix(old.ClientID, prefix))) {
			return false
		}
	}
	return true
}
