package reports

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// statements returns all statements of the versions that were asked for, in
// the order of the catalogue, with what the checks say of each.
func statements(info RunInfo, l ledger) []Statement {
	all := normative.All(info.Versions...)
	list := make([]Statement, 0, len(all))
	for _, n := range all {
		s := Statement{
			ID: n.Key, Section: n.Section, Title: n.Title, Level: n.Level(),
			Actor: n.Actor, Testability: n.Testable, Summary: n.Summary,
		}
		s.Checks, s.Verdict, s.Reason = l.settle(n.Key)
		if s.Verdict == Untested {
			s.Verdict, s.Reason = untested(info, l, n)
		}
		list = append(list, s)
	}
	return list
}

// untested says why no check of a statement ran.
func untested(info RunInfo, l ledger, n normative.Statement) (Verdict, string) {
	seen, missing := info.NotOffered[n.Version]
	switch {
	case n.Testable == "client":
		return Untested, cmp.Or(n.Reason, "client only: it binds no server")
	case n.Testable == "none":
		return Untested, cmp.Or(n.Reason, "not observable")
	case missing:
		return Unsupported, "the broker does not offer " + VersionName(n.Version) + ": " + seen
	case len(info.Cited) > 0 && !l.cited[n.Key]:
		return Untested, noCheck(n)
	case info.PartialReason != "" || info.Interrupted || info.BrokerGone:
		return Untested, "the run ended before its checks"
	case len(info.Selectors) > 0:
		return Untested, "left out by the selectors"
	case l.cited[n.Key]:
		return Untested, "its checks did not run; those that wait long need --slow"
	}
	return Untested, noCheck(n)
}

func noCheck(n normative.Statement) string {
	if len(n.DuplicateOf) > 0 {
		return "no check of its own: it is served by those of " + strings.Join(n.DuplicateOf, ", ")
	}
	if n.Level() == "MAY" && n.IsReasonCode() {
		return "no check brings a server to it, and this one did not send it in this run"
	}
	return "no check"
}

// observations returns what was observed, each key and value once, ordered by
// section and key.
func observations(outcomes []outcome) []Observation {
	list := []Observation{}
	for _, o := range outcomes {
		for _, obs := range o.observations {
			obs.Check = o.name
			if !slices.ContainsFunc(list, func(x Observation) bool { return x.Key == obs.Key && x.Value == obs.Value }) {
				list = append(list, obs)
			}
		}
	}
	slices.SortFunc(list, func(a, b Observation) int {
		return cmp.Or(CompareSections(a.Section, b.Section), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	return list
}

// Of returns the count of one verdict.
func (c Counts) Of(v Verdict) int {
	if p := c.at(v); p != nil {
		return *p
	}
	return 0
}

// Total returns the number of statements counted.
func (c Counts) Total() (n int) {
	for _, v := range Verdicts {
		n += c.Of(v)
	}
	return n
}

// Judged returns the number of statements that the run decided.
func (c Counts) Judged() int { return c.Pass + c.Fail + c.Warn }

func (c *Counts) at(v Verdict) *int {
	switch v {
	case Pass:
		return &c.Pass
	case Fail:
		return &c.Fail
	case Warn:
		return &c.Warn
	case Info:
		return &c.Info
	case Unsupported:
		return &c.Unsupported
	case Inconclusive:
		return &c.Inconclusive
	case Skip:
		return &c.Skip
	case Error:
		return &c.Error
	case Untested:
		return &c.Untested
	}
	return nil
}

func (c *Counts) add(v Verdict) {
	if p := c.at(v); p != nil {
		*p++
	}
}

// summarize adds the statements up.
func summarize(r Result, checks int) Summary {
	s := Summary{Checks: checks, ByLevel: map[string]Counts{}, BySection: map[string]Counts{}}
	for _, st := range r.Statements {
		s.ByVerdict.add(st.Verdict)
		level := s.ByLevel[st.Level]
		level.add(st.Verdict)
		s.ByLevel[st.Level] = level
		key := st.Version() + "/" + chapter(st.Section)
		section := s.BySection[key]
		section.add(st.Verdict)
		s.BySection[key] = section
	}
	return s
}

// Exit codes as far as a result decides them; wrong usage (2) is found before
// there is one.
const (
	exitFail        = 1
	exitBroker      = 3
	exitUnsure      = 4
	exitNothing     = 5
	exitInterrupted = 130
)

// ExitCode returns the exit code of the run: 130 interrupted, 3 the broker is
// gone, 1 a failure, 4 an error or an inconclusive check, 5 nothing ran, else
// 0. A check that failed or warned for another statement is not inconclusive
// itself, though it leaves this one undecided.
func (r Result) ExitCode() int {
	var failed, unsure bool
	for _, s := range r.Statements {
		for _, c := range s.Checks {
			failed = failed || c.Verdict == Fail
			unsure = unsure || c.Verdict == Error || c.Verdict == Inconclusive && !c.Elsewhere
		}
	}
	switch {
	case r.Run.Interrupted:
		return exitInterrupted
	case r.Run.BrokerGone:
		return exitBroker
	case failed:
		return exitFail
	case unsure:
		return exitUnsure
	case r.Summary.Checks == 0:
		return exitNothing
	}
	return 0
}

// conformant tells whether the whole suite ran to its end and found nothing
// that the broker breaks or that stayed open.
func (r Result) conformant() bool {
	return r.ExitCode() == 0 && !r.Run.Partial && len(r.Run.Selectors) == 0 && r.Summary.ByVerdict.Pass > 0
}

// fillLists makes every list and map of r non-nil, so that none is null in
// JSON.
func fillLists(r *Result) {
	list := func(s *[]string) {
		if *s == nil {
			*s = []string{}
		}
	}
	list(&r.Run.Command)
	list(&r.Run.Versions)
	list(&r.Run.Selectors)
	list(&r.Target.Also)
	if r.Broker.Announced == nil {
		r.Broker.Announced = map[string]string{}
	}
	if r.Broker.Offered == nil {
		r.Broker.Offered = map[string]bool{}
	}
	if r.Statements == nil {
		r.Statements = []Statement{}
	}
	for i := range r.Statements {
		s := &r.Statements[i]
		if s.Checks == nil {
			s.Checks = []Check{}
		}
		for j := range s.Checks {
			if s.Checks[j].Trace == nil {
				s.Checks[j].Trace = []Event{}
			}
		}
	}
	if r.Observations == nil {
		r.Observations = []Observation{}
	}
	if r.Summary.ByLevel == nil {
		r.Summary.ByLevel = map[string]Counts{}
	}
	if r.Summary.BySection == nil {
		r.Summary.BySection = map[string]Counts{}
	}
}

// levels returns the levels that occur, strongest first.
func levels(s Summary) []string {
	rank := []string{"MUST", "SHOULD", "MAY", "STATED"}
	return slices.SortedFunc(maps.Keys(s.ByLevel), func(a, b string) int {
		i, j := slices.Index(rank, a), slices.Index(rank, b)
		if i < 0 {
			i = len(rank)
		}
		if j < 0 {
			j = len(rank)
		}
		return cmp.Or(cmp.Compare(i, j), cmp.Compare(a, b))
	})
}
