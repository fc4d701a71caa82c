package main

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"sync"
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

// attempts are how a defect is tried until all comes out as declared: a busy
// machine is no evidence, and a standing check may show in other specs than those
// that were drawn.
var attempts = []struct {
	pace  []string
	whole bool // with the whole suite
}{
	{pace: []string{"--timeout", "250ms", "--second", "50ms"}},
	{pace: []string{"--timeout", "1s", "--second", "250ms"}},
	{pace: []string{"--timeout", "1s", "--second", "250ms"}, whole: true},
}

// wholeSuite is held by the one attempt at a time that runs the whole suite.
var wholeSuite sync.Mutex

// try judges the reference broker with one defect.
func try(t *testing.T, d core.Defect, selectors []string) trial {
	start := time.Now()
	var tr trial
	for i, attempt := range attempts {
		if attempt.whole {
			selectors = nil
		}
		tr = tryOnce(t, d, selectors, attempt.pace...)
		problems := tr.problems()
		t.Logf("%s: attempt %d, %d checks moved, %d not as declared: %q", d.Name, i+1, len(tr.kills), len(problems), problems)
		if len(problems) == 0 {
			break
		}
	}
	tr.took = time.Since(start)
	return tr
}

func tryOnce(t *testing.T, d core.Defect, selectors []string, pace ...string) trial {
	tr := trial{defect: d}
	if len(selectors) > 0 {
		// To register all checks costs more than to run a few.
		pace = append([]string{"--procs", "1"}, pace...)
	} else { // as many processes as suit the machine
		wholeSuite.Lock()
		defer wholeSuite.Unlock()
	}
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

// proofRun runs the program on the embedded reference and returns its result.
func proofRun(t *testing.T, args ...string) reports.Result {
	dir, err := os.MkdirTemp("", "proof")
	if err != nil {
		t.Error(err)
		return reports.Result{}
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "result.json")
	var out, talk bytes.Buffer
	mqttcheck(append([]string{"run", "--json", file}, args...), nil, &out, &talk)
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
// should leave alone. Those have the lowest hashes of its name and theirs, so that
// a new check changes the sample of few defects.
func sample(all []check, d core.Defect, others int) []string {
	hash := func(c check) uint64 {
		h := fnv.New64a()
		h.Write([]byte(d.Name + "\x00" + c.Name))
		return h.Sum64()
	}
	drawn := slices.DeleteFunc(slices.Clone(all), func(c check) bool { return c.Timing || len(c.Keys) == 0 })
	slices.SortFunc(drawn, func(a, b check) int { return cmp.Compare(hash(a), hash(b)) })
	keys := append(slices.Clone(d.Breaks), everyday...)
	for _, c := range drawn[:min(others, len(drawn))] {
		keys = append(keys, c.Keys[0])
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
