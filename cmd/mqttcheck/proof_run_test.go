package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reports"
)

// trial is a defect and what it moved.
type trial struct {
	defect core.Defect
	kills  kills
	faults []string // in the suite itself
	took   time.Duration
}

// try judges the reference broker with one defect. Statements that do not come
// out as declared are tried again with more patience, and with the whole suite
// where their own checks are not enough: a busy machine is no evidence.
func try(t *testing.T, d core.Defect, selectors []string) trial {
	start := time.Now()
	tr := tryOnce(t, d, selectors, "--timeout", "250ms", "--second", "50ms")
	if doubtful, alone := tr.doubtful(); len(doubtful) > 0 || len(tr.faults) > 0 {
		selectors = nil
		if alone {
			selectors = doubtful
		}
		again := tryOnce(t, d, selectors, "--timeout", "1s", "--second", "250ms")
		tr.faults = again.faults
		tr.kills = slices.DeleteFunc(tr.kills, func(k kill) bool { return !alone || slices.Contains(doubtful, k.statement) })
		for _, k := range again.kills {
			if !alone || slices.Contains(doubtful, k.statement) {
				tr.kills = append(tr.kills, k)
			}
		}
	}
	tr.took = time.Since(start)
	t.Logf("%s: %d checks moved, %d not as declared, in %s", d.Name, len(tr.kills), len(tr.problems()), tr.took.Round(time.Second))
	return tr
}

// doubtful returns the statements that did not come out as declared, and
// whether their own checks are all that is needed to judge them again.
func (tr trial) doubtful() (keys []string, alone bool) {
	alone = len(tr.faults) == 0
	for _, key := range tr.defect.Breaks {
		if !tr.moves(key) {
			keys = append(keys, key)
			alone = false // which check should have failed is not known
		}
	}
	for _, k := range tr.kills {
		if !slices.Contains(tr.defect.Breaks, k.statement) && !slices.Contains(keys, k.statement) {
			keys = append(keys, k.statement)
			alone = alone && !strings.HasPrefix(k.check, "standing:")
		}
	}
	return keys, alone
}

func tryOnce(t *testing.T, d core.Defect, selectors []string, pace ...string) trial {
	tr := trial{defect: d}
	result := proofRun(t, slices.Concat([]string{"--defect", d.Name}, pace, selectors)...)
	if len(result.Statements) == 0 {
		tr.faults = append(tr.faults, "the run has no result")
	}
	for _, st := range result.Statements {
		for _, c := range st.Checks {
			switch {
			case c.Elsewhere:
			case c.Verdict == reports.Error:
				tr.faults = append(tr.faults, fmt.Sprintf("%s: %s is an error: %s", st.ID, c.Name, c.Reason))
			case c.Verdict == reports.Fail, c.Verdict == reports.Warn:
				tr.kills = append(tr.kills, kill{d.Name, st.ID, c.Name, string(c.Verdict)})
			}
		}
	}
	return tr
}

// moves tells whether a statement that the defect declares comes out as it has
// to: of one that shows as a warning nothing fails; of one that shows in a run
// the first statement, which it breaks most directly, fails, and a lenient
// version of the protocol may leave the others at a warning. Of one that needs
// variants either will do.
func (tr trial) moves(key string) bool {
	fails, warns := tr.kills.of(key, string(reports.Fail)), tr.kills.of(key, string(reports.Warn))
	switch {
	case tr.defect.Shows == core.Warn:
		return warns && !fails
	case tr.defect.Shows == core.Hook:
		return fails || warns
	case key == tr.defect.Breaks[0]:
		return fails
	}
	return fails || warns
}

// problems holds what a defect has moved against what it declares.
func (tr trial) problems() []string {
	problems := slices.Clone(tr.faults)
	for _, key := range tr.defect.Breaks {
		if !tr.moves(key) {
			problems = append(problems, fmt.Sprintf("missing: the checks of %s do not come out as declared", key))
		}
	}
	for _, k := range tr.kills {
		if !slices.Contains(tr.defect.Breaks, k.statement) {
			problems = append(problems, fmt.Sprintf("surplus: %s is not declared, and %q becomes %s", k.statement, k.check, k.verdict))
		}
	}
	return problems
}

func (tr trial) report(t *testing.T) {
	t.Logf("%s moves %d checks, in %s", tr.defect.Name, len(tr.kills), tr.took.Round(time.Millisecond))
	for _, p := range tr.problems() {
		t.Error(p)
	}
}

// proofRun runs the program on the embedded reference with one child: to
// register all checks costs more than to run them.
func proofRun(t *testing.T, args ...string) reports.Result {
	dir, err := os.MkdirTemp("", "proof")
	if err != nil {
		t.Error(err)
		return reports.Result{}
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "result.json")
	var out, talk bytes.Buffer
	mqttcheck(append([]string{"run", "--procs", "1", "--json", file}, args...), nil, &out, &talk)
	f, err := os.Open(file)
	if err != nil {
		t.Errorf("%v: %s", args, talk.String())
		return reports.Result{}
	}
	defer f.Close()
	result, err := reports.Read(f)
	if err != nil {
		t.Error(err)
	}
	return result
}

// everyday are statements whose checks let the broker send every type of
// packet: what stands in none of its own is seen there.
var everyday = []string{"v311/MQTT-4.3.3-1", "v311/MQTT-4.3.2-1", "v311/MQTT-3.10.4-4", "v311/MQTT-3.12.4-1", "v311/MQTT-2.3.1-4",
	"v5/MQTT-4.3.3-10", "v5/MQTT-3.10.4-4", "v5/MQTT-3.12.4-1", "v5/MQTT-2.2.1-5"}

// sample selects the checks of a defect's statements and some others that it
// should leave alone, drawn by a hash of its name.
func sample(all []check, d core.Defect, others int) []string {
	h := fnv.New32a()
	h.Write([]byte(d.Name))
	keys := append(slices.Clone(d.Breaks), everyday...)
	for k := range uint32(others) {
		if c := all[(h.Sum32()+k*7919)%uint32(len(all))]; !c.Timing && len(c.Keys) > 0 {
			keys = append(keys, c.Keys[0])
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
