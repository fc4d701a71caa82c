// Package oracle plays a script on a broker and says what was wrong: with the
// format of what the broker sent, with what it sent, or with the broker itself.
package oracle

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/model"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// The oracles, from the strongest to the weakest.
const (
	Crash  = "crash"  // the broker is gone, or takes no connection any more
	Hang   = "hang"   // the broker does not answer
	Leak   = "leak"   // the broker keeps more and more
	Format = "format" // a packet breaks the rules of its version
	Model  = "model"  // the specification does not allow what was sent, or not sent
	Differ = "differ" // two brokers act otherwise
)

// Finding is something wrong, and what it is known by: findings with the same
// oracle and key are one.
type Finding struct {
	Oracle string
	Key    string
	Text   string
	Step   int  // the step of the script after which it showed
	absent bool // something did not come
}

// Name is the finding's name, for files and lists.
func (f Finding) Name() string { return f.Oracle + "-" + f.Key }

// Absence tells that something did not come: a broker that is slow looks the same.
func (f Finding) Absence() bool { return f.absent }

// Options of an examination.
type Options struct {
	Address  wire.Address
	Login    *play.Login
	Patience time.Duration // for the answer to a fence
	Profile  *model.Profile
	Trace    *wire.Trace
	// Known tells whether a finding of that name is of no interest any more: it is
	// reported without making sure of it. Nil knows none.
	Known func(name string) bool
}

// Examine plays a script whose topics begin with the prefix. What did not come
// is only reported when it does not come either where the broker is given more
// time.
func Examine(ctx context.Context, s script.Script, prefix string, o Options) (*play.Log, []Finding) {
	log, found := examine(ctx, s, prefix, o)
	if slices.ContainsFunc(found, func(f Finding) bool { return f.absent && (o.Known == nil || !o.Known(f.Name())) }) {
		Tidy(ctx, log, prefix, o) // what is left over would be met again
		return confirm(ctx, s, prefix, o, found)
	}
	return log, found
}

// confirm plays the script again, with pauses before its end and before each
// connection is ended: a broker may answer what it gets in another order.
func confirm(ctx context.Context, s script.Script, prefix string, o Options, first []Finding) (*play.Log, []Finding) {
	var slow script.Script
	for _, st := range s {
		leaves := st.Op == script.Send && len(st.Bytes) > 0 && wire.Type(st.Bytes[0]>>4) == wire.DISCONNECT
		if leaves || st.Op == script.Finish || st.Op == script.Reset || st.Op == script.Open && len(slow) > 0 {
			slow = append(slow, script.Step{Op: script.Pause, Pause: settle})
		}
		slow = append(slow, st)
	}
	for range 3 {
		for _, c := range s.Clients() {
			slow = append(slow, script.Step{Op: script.Pause, Pause: settle}, script.Step{Client: c, Op: script.Fence})
		}
	}
	log, second := examine(ctx, slow, prefix, o)
	var both []Finding
	for _, f := range first {
		if !f.absent || slices.ContainsFunc(second, f.Same) {
			both = append(both, f)
		}
	}
	return log, both
}

// settle is how long a broker is given to bring what is due.
const settle = 100 * time.Millisecond

// Same tells whether two findings are one.
func (f Finding) Same(other Finding) bool { return f.Oracle == other.Oracle && f.Key == other.Key }

func examine(ctx context.Context, s script.Script, prefix string, o Options) (*play.Log, []Finding) {
	log := play.Play(ctx, s, play.Options{Address: o.Address, Login: o.Login, Patience: o.Patience, Trace: o.Trace})
	if ctx.Err() != nil {
		return log, nil // what was broken off proves nothing
	}
	var found []Finding
	for i, e := range log.Events {
		switch e.Kind {
		case play.Refused:
			return log, []Finding{{Oracle: Crash, Key: "no-connection", Step: e.Step, Text: "the broker takes no connection"}}
		case play.Stuck:
			f := Finding{Oracle: Hang, Key: "connection", absent: true, Step: e.Step, Text: fmt.Sprintf("client %s: PINGREQ is not answered", script.Name(log.Conns[e.Conn].Client))}
			if !broken(log, i) {
				found = append(found, f)
			}
		}
	}
	for i, c := range log.Conns {
		for _, v := range c.Violations {
			if slices.Contains(limits, v.Key) && model.BrokenConnect(log, i) {
				continue
			}
			found = append(found, Finding{Oracle: Format, Key: v.Key, Step: len(s), Text: "client " + script.Name(log.Conns[i].Client) + ": " + v.Text})
			break // what follows on the connection may come of it
		}
	}
	for _, f := range model.Judge(log, prefix, o.Profile) {
		found = append(found, Finding{Oracle: Model, Key: f.Key, Step: f.Step, Text: f.Text, absent: f.Absence})
	}
	return log, found
}

// limits are the rules about what a client says in CONNECT that it takes.
var limits = []string{"v5/MQTT-3.2.2-19", "v5/MQTT-3.2.2-20", "v5/MQTT-3.1.2-24", "v5/MQTT-3.1.2-27", "v5/MQTT-3.1.2-29", "v5/MQTT-3.3.4-9"}

// broken tells whether the client had broken the rules before the fence: then
// no answer is due to it.
func broken(log *play.Log, fence int) bool {
	part := &play.Log{Script: log.Script, Conns: log.Conns, Events: log.Events[:fence]}
	return model.Tainted(part, log.Events[fence].Conn)
}
