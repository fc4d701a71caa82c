package core

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"
	"github.com/leanovate/gopter/gen"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// world is a server with its clients, who are driven by the lines of a script:
// a counterexample is a script for testdata. What a property expects lives
// beside it.
type world struct {
	*script
	fault string // the first thing that was wrong
}

// planted is a defect that the servers of worlds have, "" for none.
var planted string

// newWorld returns a world after some lines; it is durable, so that it can be
// restarted.
func newWorld(t *testing.T, lines ...string) *world {
	w := &world{script: newScript(t)}
	w.durable = true
	if planted != "" {
		lines = append(lines, "defect "+planted)
	}
	for _, line := range append([]string{"policy sys=none"}, lines...) {
		w.say("%s", line)
	}
	return w
}

// say carries out a line of a script, and holds the server to what must be true
// at any time.
func (w *world) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.out.WriteString(line + "\n")
	w.command(strings.Fields(line))
	if w.server != nil {
		if err := invariants(w.server); err != nil {
			w.wrong("after %q: %v", line, err)
		}
	}
}

func (w *world) wrong(format string, args ...any) {
	if w.fault == "" {
		w.fault = fmt.Sprintf(format, args...)
	}
}

// acknowledge answers a PUBLISH at QoS 1.
func (w *world) acknowledge(c *scripted, p *packet.Publish) {
	if p.QoS == 1 {
		w.say("%s puback %d", c.name, p.ID)
	}
}

// step is something that happens in a world, whatever has happened before. It
// does nothing where it makes no sense, so that any part of a sequence is one.
type step[W any] struct {
	name string
	do   func(W)
}

// property holds a world against what a model expects, for sequences of steps,
// and shrinks a counterexample. It prints the script that shows it.
type property[W any] struct {
	runs  int
	size  int // of the longest sequence
	fresh func(t *testing.T) W
	world func(W) *world
	steps []func(n int) step[W] // made from a number; one that stands more often is likelier
}

func (p property[W]) check(t *testing.T) {
	t.Helper()
	if counterexample := p.search(t); counterexample != "" {
		t.Error(counterexample)
	}
}

// search returns the smallest counterexample that it finds, "" for none.
func (p property[W]) search(t *testing.T) (counterexample string) {
	t.Helper()
	generators := make([]gopter.Gen, len(p.steps))
	for i, make := range p.steps {
		generators[i] = gen.IntRange(0, 1<<20).Map(func(n int) commands.Command {
			s := make(n)
			return &commands.ProtoCommand{
				Name: s.name,
				RunFunc: func(sut commands.SystemUnderTest) commands.Result {
					w := sut.(W)
					if p.world(w).fault == "" {
						s.do(w)
					}
					return p.world(w)
				},
				PostConditionFunc: func(_ commands.State, result commands.Result) *gopter.PropResult {
					w := result.(*world)
					if w.fault == "" {
						return &gopter.PropResult{Status: gopter.PropTrue}
					}
					counterexample = w.fault + "\nThe script:\n" + w.out.String()
					return &gopter.PropResult{Status: gopter.PropFalse}
				},
			}
		})
	}
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests, parameters.MaxSize = p.runs, p.size
	result := commands.Prop(&commands.ProtoCommands{
		NewSystemUnderTestFunc: func(commands.State) commands.SystemUnderTest { return p.fresh(t) },
		InitialStateGen:        gen.Const(commands.State(0)),
		GenCommandFunc:         func(commands.State) gopter.Gen { return gen.OneGenOf(generators...) },
	}).Check(parameters)
	if result.Passed() {
		return ""
	}
	return fmt.Sprintf("%s after %d sequences: %s", result.Status, result.Succeeded, counterexample)
}

// times makes a step several times as likely.
func times[W any](n int, s func(int) step[W]) []func(int) step[W] {
	return slices.Repeat([]func(int) step[W]{s}, n)
}

// invariants tells what is wrong in a server that must be right at any time.
func invariants(s *Server) error {
	for id, se := range s.sessions {
		if err := invariantsOf(id, se); err != nil {
			return err
		}
		for filter, sub := range se.subs {
			if sub.session != se || sub.filter != filter {
				return fmt.Errorf("the subscription of %q to %q belongs to another", id, filter)
			}
			if sub.share != nil && (s.shares[sub.share.id] != sub.share || !slices.Contains(sub.share.members, sub)) {
				return fmt.Errorf("the share of %q to %q does not know it", id, filter)
			}
		}
	}
	for id, sh := range s.shares {
		for _, sub := range sh.members {
			if s.sessions[sub.session.id] != sub.session || sub.session.subs[sub.filter] != sub {
				return fmt.Errorf("a member of share %q is gone", id)
			}
		}
		if len(sh.members) == 0 {
			return fmt.Errorf("share %q has no member", id)
		}
	}
	bytes := 0
	for name, m := range s.retained.byTopic {
		if m.topic != name || len(m.payload) == 0 {
			return fmt.Errorf("the retained message of %q is none", name)
		}
		bytes += len(m.payload)
	}
	if bytes != s.retained.bytes {
		return fmt.Errorf("%d bytes are retained, and %d counted", bytes, s.retained.bytes)
	}
	return invariantsOfConns(s)
}

// invariantsOf: Packet Identifiers are unique, and all that is counted is there.
func invariantsOf(id string, se *session) error {
	o := &se.outbox
	if se.id != id || len(o.byID) > 65535 || len(o.queue) > maxQueue || o.queueBytes > maxQueueBytes {
		return fmt.Errorf("the Session of %q is out of bounds", id)
	}
	bytes, at0, open := 0, 0, 0
	for _, d := range o.queue {
		bytes += len(d.message.payload)
		if d.qos == 0 {
			at0++
		}
		if d.id != 0 || d.finished {
			return fmt.Errorf("a delivery to %q waits and has begun", id)
		}
	}
	for _, d := range o.open {
		if d.finished {
			continue
		}
		if open++; o.byID[d.id] != d || d.id == 0 || d.qos == 0 {
			return fmt.Errorf("Packet Identifier %d of %q is not that of its delivery", d.id, id)
		}
	}
	if bytes != o.queueBytes || at0 != o.queued0 || open != len(o.byID) {
		return fmt.Errorf("the Session of %q is miscounted: %d bytes and %d, %d at QoS 0 and %d, %d open and %d", id, bytes, o.queueBytes, at0, o.queued0, open, len(o.byID))
	}
	for n := range se.held {
		if !se.pending[n] {
			return fmt.Errorf("a message of %q is held for nothing", id)
		}
	}
	return nil
}

// invariantsOfConns: the quota is never negative, or above its first value.
func invariantsOfConns(s *Server) error {
	for id, c := range s.conns {
		taken := 0
		if se := c.session; se != nil && se.conn == c {
			if s.sessions[se.id] != se {
				return fmt.Errorf("the Session of connection %d is gone", id)
			}
			for _, d := range se.byID {
				if d.on == c {
					taken++
				}
			}
			if !c.ended && taken != c.inFlight {
				return fmt.Errorf("%d deliveries take from the quota of connection %d, and %d are counted", taken, id, c.inFlight)
			}
		}
		if c.inFlight < 0 || c.inFlight > c.quota {
			return fmt.Errorf("%d of %d are in flight on connection %d", c.inFlight, c.quota, id)
		}
		if len(c.buf) > maxPacketSize+5 || len(c.aliasesIn) > 65535 || len(c.aliasesOut) > int(c.aliasMax) {
			return fmt.Errorf("connection %d holds too much", id)
		}
	}
	return nil
}
