package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/reports"
)

// stableRuns is how many runs on one broker have to come to the same.
const stableRuns = 10

// TestRunsAreStable judges a broker ten times, each time in another order: no
// verdict and no observation may differ. MQTTCHECK_STABLE is the address of the
// broker, or all: for the embedded reference, and for mosquitto where it is
// installed. -run '.../mosquitto' leaves the other out.
func TestRunsAreStable(t *testing.T) {
	asked := os.Getenv("MQTTCHECK_STABLE")
	switch {
	case asked == "":
		t.Skip("it takes minutes: make stable")
	case strings.Contains(asked, "://"):
		t.Run("broker", func(t *testing.T) { sameEachTime(t, asked) })
		return
	case asked != "all":
		t.Fatalf("MQTTCHECK_STABLE is %q: write all, or the address of a broker", asked)
	}
	t.Run("reference", func(t *testing.T) { sameEachTime(t) })
	t.Run("mosquitto", func(t *testing.T) {
		proc.Need(t, "mosquitto")
		broker, url, err := proc.StartMosquitto(t.Context(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = broker.Stop() })
		sameEachTime(t, url)
	})
}

// sameEachTime runs the suite again and again and compares what it comes to.
func sameEachTime(t *testing.T, args ...string) {
	t.Helper()
	seen := map[string]map[string][]string{} // what is compared, what it came to, in which runs
	for i := range stableRuns {
		run := strconv.Itoa(i + 1)
		code, result, talk := judge(t, append(slices.Clone(args), "--shuffle", "--seed", run)...)
		if code != exitOK && code != exitFail {
			t.Fatalf("run %s: exit %d: %s", run, code, talk)
		}
		for what, came := range findingsOf(result) {
			if seen[what] == nil {
				seen[what] = map[string][]string{}
			}
			seen[what][came] = append(seen[what][came], run)
		}
		t.Logf("run %s: exit %d", run, code)
	}
	for _, difference := range differences(seen) {
		t.Error(difference)
	}
}

// findingsOf returns what a run says that another run on the same broker has to
// say as well: the verdicts of statements and checks, and each observation.
func findingsOf(result reports.Result) map[string]string {
	found := map[string]string{}
	for _, st := range result.Statements {
		found["statement "+st.ID] = string(st.Verdict)
		for _, c := range st.Checks {
			found["check "+st.ID+" "+c.Name] = string(c.Verdict)
		}
	}
	for _, o := range result.Observations {
		what := "observation " + o.Key
		found[what] = strings.TrimPrefix(found[what]+"; "+o.Value, "; ")
	}
	return found
}

// differences names what did not come to the same in all runs. What a run does
// not mention at all it has not found.
func differences(seen map[string]map[string][]string) []string {
	var list []string
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		runs := 0
		var ways []string
		for _, came := range slices.Sorted(maps.Keys(seen[what])) {
			runs += len(seen[what][came])
			ways = append(ways, fmt.Sprintf("%q in run %s", came, strings.Join(seen[what][came], ", ")))
		}
		if runs < stableRuns {
			ways = append(ways, fmt.Sprintf("nothing in %d", stableRuns-runs))
		}
		if len(ways) > 1 {
			list = append(list, what+": "+strings.Join(ways, "; "))
		}
	}
	return list
}

func TestDifferencesAreNamed(t *testing.T) {
	same := map[string][]string{"pass": {"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}}
	got := differences(map[string]map[string][]string{
		"statement a": same,
		"statement b": {"pass": same["pass"][1:], "warn": {"1"}},
		"check c":     {"info": same["pass"][2:]},
	})
	want := []string{
		`check c: "info" in run 3, 4, 5, 6, 7, 8, 9, 10; nothing in 2`,
		`statement b: "pass" in run 2, 3, 4, 5, 6, 7, 8, 9, 10; "warn" in run 1`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
