package campaign

import (
	"context"
	"slices"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/model"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/fuzz/shrink"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// compare has the conversation with the other broker as well, and reports where
// the two act otherwise, each time that it is tried.
func (c *campaign) compare(ctx context.Context, worker int, k generate.Case, log *play.Log) {
	other := c.with(ctx, *c.o.Against, c.o.AsOther, k)
	if other.Refused() {
		c.alone()
		return
	}
	for _, f := range model.Compare(log, other, k.Prefix) {
		f := oracle.Finding{Oracle: oracle.Differ, Key: f.Key, Text: f.Text, Step: f.Step}
		if c.known(f.Name()) || !c.differs(ctx, k, f) || !c.isNew(f.Name()) {
			continue
		}
		file := c.fileOf(f, k)
		take(&file, shrink.Script(c.shrinks, k.Script, shrink.Limits{Time: c.o.Shrink, Fits: func(s script.Script) bool { return own(s, k.Prefix) }}, func(s script.Script) bool {
			part := k
			part.Script = s
			return c.differs(c.shrinks, part, f)
		}))
		c.save(file)
	}
}

// with has a conversation with a broker, and clears it away.
func (c *campaign) with(ctx context.Context, address wire.Address, login *play.Login, k generate.Case) *play.Log {
	c.talking.RLock()
	defer c.talking.RUnlock()
	log := play.Play(ctx, k.Script, play.Options{Address: address, Login: login, Patience: c.o.Patience})
	oracle.Tidy(ctx, log, k.Prefix, oracle.Options{Address: address, Login: login, Patience: c.o.Patience})
	return log
}

// differs tells whether two brokers differ so, two times of two.
func (c *campaign) differs(ctx context.Context, k generate.Case, f oracle.Finding) bool {
	for range 2 {
		one, other := c.with(ctx, c.o.Address, c.o.Login, k), c.with(ctx, *c.o.Against, c.o.AsOther, k)
		if ctx.Err() != nil || one.Refused() || other.Refused() {
			return false
		}
		if !slices.ContainsFunc(model.Compare(one, other, k.Prefix), func(g model.Finding) bool { return g.Key == f.Key }) {
			return false
		}
	}
	return true
}

// alone notes that the other broker is not there.
func (c *campaign) alone() {
	c.mu.Lock()
	defer c.mu.Unlock()
	const gone = "the other broker takes no connection: differences are not judged from then on"
	if !slices.Contains(c.summary.Notes, gone) {
		c.summary.Notes = append(c.summary.Notes, gone)
	}
}
