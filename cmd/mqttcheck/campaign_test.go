package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"
	"go.uber.org/goleak"

	"github.com/mqttcheck/mqttcheck/reports"
)

// conduct runs a campaign of actors and returns the verdict and reason of each
// check that has a result, as "name: verdict" in the order of the suite.
func conduct(t *testing.T, c *campaign, procs int, signals <-chan os.Signal, checks []check) []string {
	t.Helper()
	t.Setenv(shardActs, "yes")
	if c.bound == 0 {
		c.bound = time.Minute
	}
	c.seed = 1
	// testscript and Ginkgo keep goroutines of their own.
	before := goleak.IgnoreCurrent()
	specs := c.run(checks, procs, signals)
	if err := goleak.Find(before); err != nil {
		t.Errorf("the campaign leaves goroutines behind: %v", err)
	}
	var out []string
	for _, r := range specs {
		v, _, name, _ := reports.Judge(r, false)
		out = append(out, strings.TrimPrefix(name, "acts ")+": "+string(v))
	}
	return out
}

func TestEveryCheckReports(t *testing.T) {
	for _, procs := range []int{0, 1, 3} {
		t.Run(fmt.Sprint(procs), func(t *testing.T) {
			parts := slices.Repeat([]string{"passes"}, 40)
			checks := actors(parts...)
			for i := range 8 {
				checks[i*5].Timing = true
			}
			checks[7].Serial, checks[8].Serial = true, true

			got := conduct(t, &campaign{}, procs, nil, checks)

			if len(got) != len(checks) {
				t.Fatalf("%d results, want %d", len(got), len(checks))
			}
			for i, line := range got {
				if want := fmt.Sprintf("passes #%d: pass", i); line != want {
					t.Errorf("result %d is %q, want %q", i, line, want)
				}
			}
		})
	}
}

func TestDeathOfAChildCostsOnlyTheCulprit(t *testing.T) {
	once := filepath.Join(t.TempDir(), "been-here")
	checks := actors("passes", "dies", "passes", "fails", "dies-once:"+once, "passes", "garbles", "passes")
	c := &campaign{alive: func(context.Context) error { return nil }}

	got := conduct(t, c, 1, nil, checks)

	want := []string{
		"passes #0: pass", "dies #1: error", "passes #2: pass", "fails #3: fail",
		"dies-once:" + once + " #4: pass", "passes #5: pass", "garbles #6: error", "passes #7: pass",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if reason := reasonIn(c.results[checks[1].Name]); !strings.Contains(reason, "exit status 7") || !strings.Contains(reason, "last words") {
		t.Errorf("the reason does not say how the process ended: %q", reason)
	}
}

func TestAHungCheckIsAnError(t *testing.T) {
	checks := actors("passes", "hangs", "passes")
	c := &campaign{limit: 300 * time.Millisecond}

	got := conduct(t, c, 1, nil, checks)

	want := []string{"passes #0: pass", "hangs #1: error", "passes #2: pass"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWhatFollowsTheDeathOfTheBrokerAccusesNobody(t *testing.T) {
	checks := actors("passes", "fails", "passes", "hangs", "passes")
	checks[3].Timing = true // runs from the start, beside the others
	checks[4].Serial = true // never gets its turn
	c := &campaign{alive: func(context.Context) error { return errors.New("connection refused") }}

	got := conduct(t, c, 2, nil, checks)

	if c.stop != stopGone {
		t.Errorf("the campaign stopped for %q, want %q", c.stop, stopGone)
	}
	for _, i := range []int{1, 3, 4} {
		if !strings.HasSuffix(got[i], ": inconclusive") {
			t.Errorf("%s, want inconclusive", got[i])
		}
		if reason := reasonIn(c.results[checks[i].Name]); reason != stopGone {
			t.Errorf("%s says %q, want %q", checks[i].Name, reason, stopGone)
		}
	}
	if got[0] != "passes #0: pass" {
		t.Errorf("what passed before must stay: %s", got[0])
	}
}

func TestTheBrokerIsAskedThreeTimesBeforeItIsGone(t *testing.T) {
	var asked atomic.Int32
	c := &campaign{alive: func(context.Context) error {
		if asked.Add(1) < 3 {
			return errors.New("no answer in time")
		}
		return nil
	}}

	got := conduct(t, c, 1, nil, actors("fails", "passes"))

	if want := []string{"fails #0: fail", "passes #1: pass"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInterruptLeavesAPartialResult(t *testing.T) {
	checks := actors("passes", "passes", "hangs", "passes")
	signals := make(chan os.Signal, 1)
	time.AfterFunc(time.Second, func() { signals <- os.Interrupt })
	c := &campaign{}

	got := conduct(t, c, 1, signals, checks)

	if want := []string{"passes #0: pass", "passes #1: pass"}; !slices.Equal(got, want) || c.stop != stopInterrupted {
		t.Errorf("got %q (%s), want %q", got, c.stop, want)
	}
}

func TestASecondInterruptKills(t *testing.T) {
	checks := actors("passes", "deaf", "passes")
	signals := make(chan os.Signal, 2)
	// The second comes in the same moment and does not count, the third does.
	time.AfterFunc(time.Second, func() { signals <- os.Interrupt; signals <- os.Interrupt })
	time.AfterFunc(1700*time.Millisecond, func() { signals <- os.Interrupt })
	c := &campaign{}

	start := time.Now()
	got := conduct(t, c, 1, signals, checks)

	if want := []string{"passes #0: pass"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if took := time.Since(start); took < 1600*time.Millisecond {
		t.Errorf("killed after %s, by a second interrupt that came too early", took)
	}
}

func TestARunEnds(t *testing.T) {
	c := &campaign{bound: 500 * time.Millisecond}

	got := conduct(t, c, 1, nil, actors("passes", "hangs", "passes"))

	want := []string{"passes #0: pass", "hangs #1: inconclusive", "passes #2: inconclusive"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAKindThatComesLateChangesNoVerdict(t *testing.T) {
	parts := slices.Repeat([]string{"misses:PUBREL"}, 30)
	parts = append(parts, "misses:PUBCOMP", "sees:PUBREL")

	got := conduct(t, &campaign{}, 1, nil, actors(parts...))

	if len(got) != len(parts) {
		t.Fatalf("%d results, want %d", len(got), len(parts))
	}
	for _, line := range got {
		if strings.HasPrefix(line, "misses") && !strings.HasSuffix(line, ": fail") {
			t.Errorf("%s, want fail: such a packet came in the run", line)
		}
	}
}

func TestAKindThatNeverComesIsWaitedForBriefly(t *testing.T) {
	got := conduct(t, &campaign{}, 1, nil, actors(slices.Repeat([]string{"misses:PUBREL"}, 60)...))

	n := 0
	for _, line := range got {
		if strings.HasSuffix(line, ": inconclusive") {
			n++
		}
	}
	if n == 0 {
		t.Errorf("no check was told that the run has seen no PUBREL: %q", got)
	}
}

// TestABatchThatTakesLongIsTakenBack gives one child 20 checks that wait.
func TestABatchThatTakesLongIsTakenBack(t *testing.T) {
	checks := actors(slices.Repeat([]string{"passes", "dawdles"}, 20)...)
	c := &campaign{}
	start := time.Now()

	got := conduct(t, c, 0, nil, checks)

	if len(got) != len(checks) {
		t.Errorf("%d results, want %d", len(got), len(checks))
	}
	for i, line := range got {
		if !strings.HasSuffix(line, ": pass") {
			t.Errorf("result %d is %q", i, line)
		}
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s, though up to %d children share ten seconds of waiting", took, maxChildren)
	}
}

// reasonIn returns the reason that a report gives.
func reasonIn(r types.SpecReport) string {
	result := reports.Build(reports.RunInfo{Versions: []string{"v311"}}, []types.SpecReport{labelled(r)})
	for _, s := range result.Statements {
		for _, c := range s.Checks {
			return c.Reason
		}
	}
	return ""
}

// labelled returns the report as that of a check of some statement.
func labelled(r types.SpecReport) types.SpecReport {
	r.LeafNodeLabels = []string{"v311:MQTT-3.12.4-1"}
	return r
}
