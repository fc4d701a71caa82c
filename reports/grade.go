package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// finding is the content of a report entry "verdict".
type finding struct {
	Verdict   Verdict `json:"verdict"`
	Statement string  `json:"statement"` // "": the first that the check cites
	Reason    string  `json:"reason"`
	Expected  string  `json:"expected"`
	Observed  string  `json:"observed"`
}

// standing is the content of a report entry "standing": what the packets of
// one spec say of the rules that every packet of a broker must keep.
type standing struct {
	Evidence   []string `json:"evidence"`
	Violations []struct {
		Key  string `json:"key"`
		Text string `json:"text"`
	} `json:"violations"`
	Sent []string `json:"sent"` // statements on Reason Codes that came
}

// outcome is one spec that ran, free of Ginkgo's types.
type outcome struct {
	name, source string
	cites        []string // keys; the first is the subject
	findings     []finding
	standing     []standing
	observations []Observation
	trace        []Event
	ms           float64
}

// verdict returns the verdict of the check as a whole and the finding that
// decides it.
func (o outcome) verdict() (Verdict, finding) {
	v, by := Pass, finding{Verdict: Pass}
	for _, f := range o.findings {
		if w := first(ofCheck, v, f.Verdict); w != v {
			v, by = w, f
		}
	}
	return v, by
}

// subject returns the statement that a finding belongs to.
func (o outcome) subject(f finding) string {
	if f.Statement != "" {
		return f.Statement
	}
	if len(o.cites) > 0 {
		return o.cites[0]
	}
	return ""
}

// ledger collects the checks of every statement.
type ledger struct {
	own     map[string][]Check // what counts
	foreign map[string][]Check // failed for another statement
	cited   map[string]bool    // some check cites it, whether it ran or not
}

// add enters the outcome of one spec under all statements that it concerns.
//
// A failure or a warning belongs to one statement. To the others that the
// check cites it adds nothing; it is kept apart for those that have no other
// check. Every other verdict counts for all that the check cites.
func (l ledger) add(o outcome) {
	overall, decisive := o.verdict()
	accused := map[string]finding{}
	for _, f := range o.findings {
		if key := o.subject(f); f.Verdict.accuses() {
			if old, ok := accused[key]; !ok || first(ofCheck, f.Verdict, old.Verdict) != old.Verdict {
				accused[key] = f
			}
		}
	}
	for key, f := range accused {
		if !overall.accuses() && first(ofCheck, overall, f.Verdict) == overall {
			f = decisive // in doubt about the whole check: nobody is accused
		}
		l.own[key] = append(l.own[key], o.check(f, key))
	}
	for _, key := range o.cites {
		if _, ok := accused[key]; ok {
			continue
		}
		if !overall.accuses() {
			l.own[key] = append(l.own[key], o.check(decisive, o.subject(finding{})))
			continue
		}
		subject := o.subject(decisive)
		l.foreign[key] = append(l.foreign[key], Check{
			Name: o.name, Verdict: Inconclusive, Source: o.source, DurationMs: o.ms, Subject: subject, Elsewhere: true, Trace: []Event{},
			Reason: fmt.Sprintf("the check %q says nothing of this statement: it ended in %s for %s", o.name, overall, subject),
		})
	}
}

// check returns the check as it stands under one statement.
func (o outcome) check(f finding, subject string) Check {
	c := Check{
		Name: o.name, Verdict: f.Verdict, Reason: f.Reason, Expected: f.Expected, Observed: f.Observed,
		DurationMs: o.ms, Subject: subject, Trace: []Event{}, Source: o.source,
	}
	if f.Verdict != Pass {
		c.Trace = append(c.Trace, o.trace...)
	}
	return c
}

// StandingCheck is the name of the check that judges every packet the broker
// sent, in whatever spec, by the format rules of its version.
const StandingCheck = "standing: every packet the broker sends"

// addStanding sums the standing checks up over all specs, a check for each key
// with evidence or violations. The trace is that of the first spec that saw a
// violation.
func (l ledger) addStanding(outcomes []outcome, strict bool) {
	checks := map[string]*Check{}
	specs := map[string]int{}
	at := func(key string) *Check {
		if checks[key] == nil {
			checks[key] = &Check{Name: StandingCheck, Verdict: Pass, Subject: key, Trace: []Event{}}
		}
		return checks[key]
	}
	for _, o := range outcomes {
		broken := map[string][]string{}
		for _, s := range o.standing {
			for _, key := range s.Evidence {
				at(key)
			}
			for _, v := range s.Violations {
				if !slices.Contains(broken[v.Key], v.Text) {
					broken[v.Key] = append(broken[v.Key], v.Text)
				}
			}
		}
		for key, texts := range broken {
			c := at(key)
			if specs[key]++; specs[key] > 1 {
				continue
			}
			c.Verdict = standingVerdict(key, strict)
			c.Observed = visibleLines(strings.Join(texts, "\n"))
			c.Expected = "every packet from the broker keeps the rule"
			c.Reason = fmt.Sprintf("seen in the check %q", o.name)
			c.Source, c.Trace = o.source, append(c.Trace, o.trace...)
		}
	}
	for key, c := range checks {
		if n := specs[key]; n > 1 {
			c.Reason += fmt.Sprintf(" and in %d more", n-1)
		}
		l.own[key] = append(l.own[key], *c)
	}
}

// SentCheck is the name of what is noted, in whatever spec, of a Reason Code that
// no check asks for.
const SentCheck = "seen: every Reason Code the broker sends"

// addSent notes which Reason Codes came that no check is about: a server may send
// them, and what brings it to is its own affair.
func (l ledger) addSent(outcomes []outcome) {
	specs := map[string]int{}
	for _, o := range outcomes {
		for _, s := range o.standing {
			for _, key := range s.Sent {
				if !l.cited[key] {
					specs[key]++
				}
			}
		}
	}
	for key, n := range specs {
		c := Check{Name: SentCheck, Verdict: Info, Subject: key, Trace: []Event{}, Reason: "the broker sent it in one check"}
		if n > 1 {
			c.Reason = fmt.Sprintf("the broker sent it in %d checks", n)
		}
		l.own[key] = append(l.own[key], c)
	}
}

// standingVerdict grades a packet that breaks the statement: a rule that binds
// the sender, so a failure, unless it is a recommendation.
func standingVerdict(key string, strict bool) Verdict {
	if s, ok := normative.Lookup(key); ok && strings.HasPrefix(s.Level(), "SHOULD") && !strict {
		return Warn
	}
	return Fail
}

// settle returns the checks of a statement in a fixed order, its verdict, and
// the reason of the check that decided it.
func (l ledger) settle(key string) ([]Check, Verdict, string) {
	checks := l.own[key]
	if len(checks) == 0 {
		checks = l.foreign[key]
	}
	if len(checks) == 0 {
		return []Check{}, Untested, ""
	}
	checks = slices.Clone(checks)
	slices.SortStableFunc(checks, func(a, b Check) int {
		return cmp.Or(compareSource(a.Source, b.Source), cmp.Compare(a.Name, b.Name))
	})
	decisive := checks[0]
	for _, c := range checks[1:] {
		if first(ofStatement, decisive.Verdict, c.Verdict) != decisive.Verdict {
			decisive = c
		}
	}
	if decisive.Verdict == Pass {
		return checks, Pass, ""
	}
	return checks, decisive.Verdict, cmp.Or(decisive.Reason, decisive.Observed)
}

// compareSource orders "file:line" by file, then by line as a number.
func compareSource(a, b string) int {
	fileA, lineA, _ := strings.Cut(a, ":")
	fileB, lineB, _ := strings.Cut(b, ":")
	return cmp.Or(cmp.Compare(fileA, fileB), cmp.Compare(len(lineA), len(lineB)), cmp.Compare(lineA, lineB))
}
