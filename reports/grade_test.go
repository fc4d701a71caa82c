package reports

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

// The statements that these tests use; what they say does not matter.
const (
	keyA, labelA = "v5/MQTT-3.3.1-3", "v5:MQTT-3.3.1-3"
	keyB, labelB = "v5/MQTT-3.3.1-1", "v5:MQTT-3.3.1-1"
	keyC, labelC = "v5/MQTT-3.3.1-4", "v5:MQTT-3.3.1-4"
)

func build(t *testing.T, specs ...types.SpecReport) Result {
	t.Helper()
	return Build(RunInfo{Versions: []string{"v5"}}, specs)
}

func wantVerdict(t *testing.T, r Result, key string, want Verdict) Statement {
	t.Helper()
	s := statement(t, r, key)
	if s.Verdict != want {
		t.Errorf("%s is %s (%s), want %s", key, s.Verdict, s.Reason, want)
	}
	return s
}

func TestFailureBelongsToOneStatement(t *testing.T) {
	for _, v := range []Verdict{Fail, Warn} {
		t.Run(string(v), func(t *testing.T) {
			broken := spec(t, "one", "1", types.SpecStateFailed, []string{labelA, labelB}, verdict(finding{Verdict: v, Observed: "x"}))
			r := build(t, broken)
			wantVerdict(t, r, keyA, v)
			s := wantVerdict(t, r, keyB, Inconclusive)
			if len(s.Checks) != 1 || !s.Checks[0].Elsewhere || s.Checks[0].Subject != keyA || !strings.Contains(s.Reason, "3.3 PUBLISH one") {
				t.Errorf("the other statement does not name the check: %+v", s)
			}

			r = build(t, broken, spec(t, "two", "12", types.SpecStatePassed, []string{labelB}))
			s = wantVerdict(t, r, keyB, Pass)
			if len(s.Checks) != 1 {
				t.Errorf("the failed check is still listed beside another: %+v", s.Checks)
			}
		})
	}
}

func TestFailureOfTheNamedStatement(t *testing.T) {
	r := build(t, spec(t, "one", "1", types.SpecStateFailed, []string{labelA, labelB}, verdict(finding{Verdict: Fail, Statement: keyB})))
	wantVerdict(t, r, keyA, Inconclusive)
	wantVerdict(t, r, keyB, Fail)
	// also one that the check does not cite
	r = build(t, spec(t, "one", "1", types.SpecStateFailed, []string{labelA}, verdict(finding{Verdict: Fail, Statement: keyC})))
	wantVerdict(t, r, keyA, Inconclusive)
	wantVerdict(t, r, keyC, Fail)
}

func TestEachFailureIsKept(t *testing.T) {
	r := build(t, spec(t, "one", "1", types.SpecStateFailed, []string{labelA, labelB},
		verdict(finding{Verdict: Warn, Statement: keyB}), verdict(finding{Verdict: Fail})))
	wantVerdict(t, r, keyA, Fail)
	wantVerdict(t, r, keyB, Warn)
}

func TestOtherVerdictsCountForAllCited(t *testing.T) {
	for _, v := range []Verdict{Pass, Info, Unsupported, Inconclusive, Skip, Error} {
		r := build(t, spec(t, "one", "1", types.SpecStateSkipped, []string{labelA, labelB}, verdict(finding{Verdict: v, Reason: "why"})))
		wantVerdict(t, r, keyA, v)
		wantVerdict(t, r, keyB, v)
	}
	r := build(t, spec(t, "one", "1", types.SpecStatePassed, []string{labelA, labelB}))
	wantVerdict(t, r, keyA, Pass)
	wantVerdict(t, r, keyB, Pass)
}

func TestDoubtAccusesNobody(t *testing.T) {
	r := build(t, spec(t, "one", "1", types.SpecStateFailed, []string{labelA, labelB},
		verdict(finding{Verdict: Warn}), verdict(finding{Verdict: Inconclusive, Reason: "lost"})))
	wantVerdict(t, r, keyA, Inconclusive)
	wantVerdict(t, r, keyB, Inconclusive)
}

func TestWorstEntryCounts(t *testing.T) {
	order := []Verdict{Fail, Error, Inconclusive, Warn, Unsupported, Skip, Info, Pass}
	for i, worse := range order {
		for _, better := range order[i:] {
			for _, entries := range [][]entry{
				{verdict(finding{Verdict: worse}), verdict(finding{Verdict: better})},
				{verdict(finding{Verdict: better}), verdict(finding{Verdict: worse})},
			} {
				v, _, _, _ := Judge(spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, entries...), false)
				if v != worse {
					t.Errorf("%s and %s make %s", worse, better, v)
				}
			}
		}
	}
}

func TestStatementTakesTheFirstOfItsChecks(t *testing.T) {
	order := []Verdict{Fail, Error, Inconclusive, Warn, Pass, Info, Unsupported, Skip}
	for i, before := range order {
		for _, after := range order[i:] {
			r := build(t,
				spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, verdict(finding{Verdict: after})),
				spec(t, "two", "2", types.SpecStatePassed, []string{labelA}, verdict(finding{Verdict: before})))
			wantVerdict(t, r, keyA, before)
		}
	}
}

func TestStateOfGinkgo(t *testing.T) {
	for _, c := range []struct {
		state   types.SpecState
		entries []entry
		want    Verdict
		ran     bool
	}{
		{types.SpecStatePassed, nil, Pass, true},
		{types.SpecStateSkipped, nil, "", false},
		{types.SpecStatePending, nil, "", false},
		{types.SpecStateSkipped, []entry{verdict(finding{Verdict: Skip})}, Skip, true},
		{types.SpecStatePanicked, nil, Error, true},
		{types.SpecStatePanicked, []entry{verdict(finding{Verdict: Warn})}, Error, true},
		{types.SpecStateTimedout, nil, Error, true},
		{types.SpecStateFailed, nil, Error, true}, // a verdict is never guessed
		{types.SpecStateFailed, []entry{verdict(finding{Verdict: Info})}, Error, true},
		{types.SpecStateInterrupted, nil, Inconclusive, true},
		{types.SpecStateAborted, []entry{verdict(finding{Verdict: Fail})}, Fail, true},
		{types.SpecStatePassed, []entry{verdict(finding{Verdict: "splendid"})}, Error, true},
		{types.SpecStatePassed, []entry{{"verdict", "no object"}}, Error, true},
		{types.SpecStatePassed, []entry{verdict(finding{Verdict: Fail, Statement: "v5/MQTT-9.9.9-9"})}, Error, true},
		{types.SpecStatePassed, []entry{verdict(finding{Verdict: Fail, Statement: "v311/MQTT-3.3.1-3"})}, Error, true},
		{types.SpecStatePassed, []entry{{"standing", standing{Violations: []violation{{"v5/MQTT-9.9.9-9", "x"}}}}}, Error, true},
	} {
		v, _, _, ran := Judge(spec(t, "one", "1", c.state, []string{labelA}, c.entries...), false)
		if ran != c.ran || ran && v != c.want {
			t.Errorf("state %s with %v: %s, ran %v; want %s, %v", c.state, c.entries, v, ran, c.want, c.ran)
		}
	}
}

func TestPanicNamesThePlace(t *testing.T) {
	s := wantVerdict(t, build(t, sampleSpecs(t)...), "v5/MQTT-3.3.1-5", Error)
	if want := "panic at specs/probe/client.go:42: Test Panicked: index out of range"; !strings.HasPrefix(s.Reason, want) {
		t.Errorf("reason %q, want %q…", s.Reason, want)
	}
}

func TestStrict(t *testing.T) {
	broken := spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, verdict(finding{Verdict: Warn}))
	r := Build(RunInfo{Versions: []string{"v5"}, Strict: true}, []types.SpecReport{broken})
	wantVerdict(t, r, keyA, Fail)
	if r.Run.ExitCode != 1 {
		t.Errorf("exit code %d, want 1", r.Run.ExitCode)
	}
}

// TestThroughJSON checks that reports mean the same in the process that made
// them, where an entry is a Go value, and after the way from a child to its
// parent, where it is JSON.
func TestThroughJSON(t *testing.T) {
	specs := sampleSpecs(t)
	data, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	var back []types.SpecReport
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	a, b := render(t, Build(sampleInfo(), specs), JSON), render(t, Build(sampleInfo(), back), JSON)
	if string(a) != string(b) {
		t.Error("the result differs after a round trip of the reports")
	}
}

func TestStandingChecks(t *testing.T) {
	see := func(key string) entry { return entry{"standing", standing{Evidence: []string{key}}} }
	breach := func(key, text string) entry {
		return entry{"standing", standing{Violations: []violation{{key, text}, {key, text}}}}
	}
	r := build(t, spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, see(keyC)))
	if s := wantVerdict(t, r, keyC, Pass); s.Checks[0].Name != StandingCheck {
		t.Errorf("check %q", s.Checks[0].Name)
	}
	r = build(t,
		spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, see(keyC)),
		spec(t, "two", "2", types.SpecStatePassed, []string{labelB}, breach(keyC, "flags are 3"), qos3()),
		spec(t, "three", "3", types.SpecStatePassed, []string{labelB}, breach(keyC, "flags are 5")))
	s := wantVerdict(t, r, keyC, Fail)
	wantVerdict(t, r, keyB, Pass) // the spec is judged on its own matter
	c := s.Checks[0]
	if len(s.Checks) != 1 || c.Observed != "flags are 3" || len(c.Trace) == 0 || !strings.Contains(c.Reason, `"3.3 PUBLISH two" and in 1 more`) {
		t.Errorf("standing check %+v", s.Checks)
	}
	wantVerdict(t, build(t), keyC, Untested)
}

func TestSentCodes(t *testing.T) {
	const key = "v5/3.2.2.2-connack-code-8a"
	sent := entry{"standing", standing{Sent: []string{key}}}
	one := spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, sent)
	two := spec(t, "two", "2", types.SpecStatePassed, []string{labelA}, sent)
	if s := wantVerdict(t, build(t, one, two), key, Info); s.Reason != "the broker sent it in 2 checks" {
		t.Errorf("reason %q", s.Reason)
	}
	if s := wantVerdict(t, build(t), key, Untested); !strings.Contains(s.Reason, "did not send it in this run") {
		t.Errorf("reason %q", s.Reason)
	}
	cited := RunInfo{Versions: []string{"v5"}, Cited: []string{key}}
	if s := statement(t, Build(cited, []types.SpecReport{one}), key); len(s.Checks) > 0 {
		t.Errorf("a check is about it, and yet there is %+v", s.Checks)
	}
}

func TestTracesOnlyWhereNotPassed(t *testing.T) {
	r := build(t, spec(t, "one", "1", types.SpecStatePassed, []string{labelA}, qos3()),
		spec(t, "two", "2", types.SpecStateFailed, []string{labelC}, verdict(finding{Verdict: Fail}), qos3()))
	if n := len(statement(t, r, keyA).Checks[0].Trace); n != 0 {
		t.Errorf("a passing check has %d events", n)
	}
	if n := len(statement(t, r, keyC).Checks[0].Trace); n != 8 {
		t.Errorf("a failing check has %d events, want 8", n)
	}
}

func TestUntestedSaysWhy(t *testing.T) {
	reason := func(info RunInfo, key string, specs ...types.SpecReport) string {
		t.Helper()
		info.Versions = []string{"v5"}
		s := statement(t, Build(info, specs), key)
		return string(s.Verdict) + ": " + s.Reason
	}
	filtered := spec(t, "one", "1", types.SpecStateSkipped, []string{labelA})
	for _, c := range []struct{ got, want string }{
		{reason(RunInfo{}, keyA), "untested: no check"},
		{reason(RunInfo{}, keyA, filtered), "untested: its checks did not run; those that wait long need --slow"},
		{reason(RunInfo{Selectors: []string{"v5/3.8"}}, keyA), "untested: left out by the selectors"},
		{reason(RunInfo{Selectors: []string{"v5/3.8"}, Cited: []string{keyB}}, keyA), "untested: no check"},
		{reason(RunInfo{Interrupted: true}, keyA), "untested: the run ended before its checks"},
		{reason(RunInfo{NotOffered: map[string]string{"v5": "CONNACK 0x01"}}, keyA), "unsupported: the broker does not offer MQTT 5.0: CONNACK 0x01"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for _, s := range build(t).Statements {
		if s.Reason == "" || s.Verdict != Untested {
			t.Errorf("%s: %s without a reason", s.ID, s.Verdict)
		}
	}
}

func TestOrderDoesNotMatter(t *testing.T) {
	specs := sampleSpecs(t)
	want := render(t, Build(sampleInfo(), specs), JSON)
	slices.Reverse(specs)
	if string(render(t, Build(sampleInfo(), specs), JSON)) != string(want) {
		t.Error("the result depends on the order in which the specs ended")
	}
}
