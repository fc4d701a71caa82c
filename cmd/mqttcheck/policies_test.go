package main

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// The suite is sound: it fails no broker for what the specification permits.
// Each freedom of the reference broker is tried with each of its values, as a
// broker that the suite knows nothing of.
//
// Where an observation belongs to a policy it reports the value that was set
// [observed]. Beside single values some runs have a value of each policy that is
// about deliveries, so that every two values meet [coveringRuns].
//
// A plain test run tries those values that change most of what the suite sees;
// MQTTCHECK_POLICIES=all tries every one, i/n a share of them, and a regular
// expression those that it matches: NAME=VALUE, default, or covering-NUMBER.

// everydayPolicies are tried in every test run, which has ten minutes for
// everything: those that change most of what is seen. .ci/run tries a third of all.
var everydayPolicies = regexp.MustCompile(`^(versions=5|maximum-qos=1|retain=no|overlap=each|window=1|covering-02)$`)

// policyRunTime is what one run under a policy may take.
const policyRunTime = 45 * time.Second

func TestPoliciesAreNoFailure(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the suite many times: leave -short out")
	}
	t.Setenv("MQTTCHECK_URL", "")
	wanted, mine := everydayPolicies, shareOf(t, "")
	switch asked := os.Getenv("MQTTCHECK_POLICIES"); {
	case asked == "":
	case asked == "all", strings.Contains(asked, "/"):
		wanted = regexp.MustCompile(".")
		mine = shareOf(t, asked)
	default:
		wanted = regexp.MustCompile(asked)
	}
	at := 0
	try := func(name string, policies map[string]string) {
		if at++; mine(at) && wanted.MatchString(name) {
			t.Run(name, func(t *testing.T) { soundUnder(t, name, policies) })
		}
	}
	try(defaults, nil)
	for _, info := range core.Policies() {
		for _, value := range info.Values[1:] {
			try(info.Name+"="+value, map[string]string{info.Name: value})
		}
	}
	try(together, map[string]string{"welcome": "later", "overtaking": "freely"})
	for i, policies := range covering(t) {
		try(fmt.Sprintf("covering-%02d", i+1), policies)
	}
}

// together names the run where a retained message may be ahead of itself: what a
// subscription gets of it because it was there may come behind what it gets because
// it is new.
const together = "welcome=later,overtaking=freely"

// defaults names the run on a broker without policies.
const defaults = "default"

// soundUnder runs the suite on a broker with the policies given: nothing fails,
// nothing is left undecided, what is warned of is a SHOULD, and what is observed
// is what was set.
func soundUnder(t *testing.T, name string, policies map[string]string) {
	t.Helper()
	broker, err := reference.Start(reference.Options{Policies: policies})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()

	start := time.Now()
	code, result, _ := judge(t, broker.URL())
	took := time.Since(start)
	if code != exitOK {
		t.Errorf("exit %d, want 0", code)
	}
	if took > policyRunTime {
		t.Errorf("the run takes %s, more than %s", took, policyRunTime)
	}
	problems := append(unsound(result), unreported(result, name)...)
	if name == defaults {
		problems = append(problems, misreported(result)...)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
	if len(policies) > 1 {
		t.Logf("policies: %v", policies)
	}
	t.Logf("%s: %s", took.Round(time.Millisecond), verdictCounts(result))
}

// unsound lists what the result holds against a broker that breaks nothing.
func unsound(result reports.Result) []string {
	var problems []string
	for _, st := range result.Statements {
		known, _ := normative.Lookup(st.ID)
		should := known.Keyword == "SHOULD"
		for _, c := range st.Checks {
			bad := slices.Contains([]reports.Verdict{reports.Fail, reports.Error, reports.Inconclusive}, c.Verdict)
			if c.Elsewhere || !bad && (c.Verdict != reports.Warn || should) {
				continue
			}
			problems = append(problems, fmt.Sprintf("%s %s: %s\n\t%s\n\texpected %s\n\tobserved %s", c.Verdict, st.ID, c.Name, c.Reason, c.Expected, c.Observed))
		}
	}
	return problems
}

// verdictCounts tells how many statements have which verdict.
func verdictCounts(result reports.Result) string {
	counts := map[reports.Verdict]int{}
	for _, st := range result.Statements {
		counts[st.Verdict]++
	}
	return tally(counts)
}
