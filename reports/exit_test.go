package reports

import (
	"testing"

	"github.com/onsi/ginkgo/v2/types"
)

func TestExitCode(t *testing.T) {
	check := func(v Verdict) types.SpecReport {
		return spec(t, string(v), "1", types.SpecStatePassed, []string{labelA, labelB}, verdict(finding{Verdict: v}))
	}
	for _, c := range []struct {
		name       string
		info       RunInfo
		verdicts   []Verdict
		want       int
		conformant bool
	}{
		{"nothing ran", RunInfo{}, nil, 5, false},
		{"all pass", RunInfo{}, []Verdict{Pass}, 0, true},
		{"a selection", RunInfo{Selectors: []string{"v5/3.3"}}, []Verdict{Pass}, 0, false},
		{"a failure", RunInfo{}, []Verdict{Pass, Fail}, 1, false},
		{"failure before error", RunInfo{}, []Verdict{Error, Fail, Inconclusive}, 1, false},
		{"an error", RunInfo{}, []Verdict{Pass, Error}, 4, false},
		{"inconclusive", RunInfo{}, []Verdict{Pass, Inconclusive}, 4, false},
		{"a warning leaves another statement open, no check", RunInfo{}, []Verdict{Warn}, 0, false},
		{"a warning", RunInfo{}, []Verdict{Pass, Warn}, 0, true},
		{"a strict warning", RunInfo{Strict: true}, []Verdict{Pass, Warn}, 1, false},
		{"only skipped", RunInfo{}, []Verdict{Skip}, 0, false},
		{"only unsupported", RunInfo{}, []Verdict{Unsupported}, 0, false},
		{"broker gone before failure", RunInfo{BrokerGone: true}, []Verdict{Fail}, 3, false},
		{"interrupted before all", RunInfo{BrokerGone: true, Interrupted: true}, []Verdict{Fail}, 130, false},
		{"partial", RunInfo{PartialReason: "a shard died"}, []Verdict{Pass}, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.info.Versions = []string{"v5"}
			var specs []types.SpecReport
			for _, v := range c.verdicts {
				specs = append(specs, check(v))
			}
			r := Build(c.info, specs)
			if r.Run.ExitCode != c.want || r.ExitCode() != c.want {
				t.Errorf("exit code %d, want %d", r.Run.ExitCode, c.want)
			}
			if r.Summary.Conformant != c.conformant {
				t.Errorf("conformant %v, want %v", r.Summary.Conformant, c.conformant)
			}
			if partial := c.info.BrokerGone || c.info.Interrupted || c.info.PartialReason != ""; r.Run.Partial != partial || partial && r.Run.PartialReason == "" {
				t.Errorf("partial %v %q", r.Run.Partial, r.Run.PartialReason)
			}
		})
	}
}

func TestSummaryAddsUp(t *testing.T) {
	r := Build(sampleInfo(), sampleSpecs(t))
	if n := r.Summary.ByVerdict.Total(); n != len(r.Statements) {
		t.Errorf("verdicts of %d statements of %d", n, len(r.Statements))
	}
	for name, m := range map[string]map[string]Counts{"levels": r.Summary.ByLevel, "sections": r.Summary.BySection} {
		n := 0
		for _, c := range m {
			n += c.Total()
		}
		if n != len(r.Statements) {
			t.Errorf("%s add up to %d statements of %d", name, n, len(r.Statements))
		}
	}
	if r.Summary.Checks != 8 {
		t.Errorf("%d checks, want 8: the one that a filter left out does not count", r.Summary.Checks)
	}
}
