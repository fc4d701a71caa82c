package campaign

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Replayed is what came of playing a finding again.
type Replayed struct {
	Happened bool
	About    string // what was seen when it happened
	Times    int    // how often it was played
	Observed string // the packets of the last playing
}

// Replay plays a finding again, with the oracle that found it, until it happens
// or it has been played so many times. The error says that the broker was not
// well before.
func Replay(ctx context.Context, f finding.File, address wire.Address, patience time.Duration, times int) (Replayed, error) {
	var r Replayed
	version := wire.V311
	for _, st := range f.Script {
		if st.Version == wire.V5 {
			version = wire.V5
		}
	}
	if err := oracle.Healthy(ctx, address, version, "mqttcheck-replay", patience); err != nil {
		return r, err
	}
	for r.Times < times && !r.Happened && ctx.Err() == nil {
		r.Times++
		trace := wire.NewTrace()
		_, found := oracle.Examine(ctx, f.Script, f.Prefix, oracle.Options{Address: address, Patience: patience, Trace: trace})
		r.Observed = trace.String()
		for _, other := range found {
			if other.Oracle == f.Oracle && (other.Key == f.Key || f.Oracle == oracle.Crash || f.Oracle == oracle.Hang) {
				r.Happened, r.About = true, other.Text
			}
		}
		if !r.Happened && (f.Oracle == oracle.Crash || f.Oracle == oracle.Hang) {
			if err := oracle.Healthy(ctx, address, version, fmt.Sprintf("mqttcheck-replay-%d", r.Times), patience); err != nil {
				r.Happened, r.About = true, err.Error()
			}
		}
	}
	r.Observed = strings.ToValidUTF8(r.Observed, "?")
	return r, nil
}
