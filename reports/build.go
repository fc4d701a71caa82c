package reports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// RunInfo is what [Build] cannot learn from the specs.
type RunInfo struct {
	ID            string
	Tool          string // version of the program
	Seed          int64
	Command       []string // os.Args; credentials are masked by Build
	Started       time.Time
	Duration      time.Duration
	Versions      []string          // "v311", "v5": those asked for, in the order of the report
	Selectors     []string          // also those of --skip; empty: the whole suite
	Strict        bool              // warnings count as failures
	PartialReason string            // why the run ended early; "" when it did not
	Interrupted   bool              // Ctrl-C or SIGTERM
	BrokerGone    bool              // the broker died and was not started again
	NotOffered    map[string]string // version → what was seen when it was tried
	Cited         []string          // keys for which a check exists, also one that did not run
	Target        Target
	Broker        Broker
}

// Build makes the result of a run from the reports of its specs. Specs that a
// filter kept from running are left out. What a broker sent may stand anywhere
// in the texts.
func Build(info RunInfo, specs []types.SpecReport) Result {
	if len(info.Versions) == 0 {
		info.Versions = []string{normative.V311, normative.V5}
	}
	l := ledger{own: map[string][]Check{}, foreign: map[string][]Check{}, cited: map[string]bool{}}
	for _, key := range info.Cited {
		l.cited[key] = true
	}
	var outcomes []outcome
	for _, spec := range specs {
		o, ran := read(spec, info.Strict)
		for _, key := range o.cites {
			l.cited[key] = true
		}
		if ran {
			outcomes = append(outcomes, o)
			l.add(o)
		}
	}
	l.addStanding(outcomes, info.Strict)
	l.addSent(outcomes)
	r := Result{
		SchemaVersion: SchemaVersion,
		Tool:          Tool{Name: "mqttcheck", Version: info.Tool},
		Run: Run{
			ID: info.ID, Seed: info.Seed, Command: MaskCommand(info.Command),
			Started: info.Started.UTC(), DurationMs: millis(info.Duration),
			Versions: info.Versions, Selectors: info.Selectors, Strict: info.Strict,
			Partial:       info.PartialReason != "" || info.Interrupted || info.BrokerGone,
			PartialReason: info.PartialReason, Interrupted: info.Interrupted, BrokerGone: info.BrokerGone,
		},
		Target: info.Target, Broker: info.Broker,
		Statements:   statements(info, l),
		Observations: observations(outcomes),
	}
	r.Target.URL = MaskURL(r.Target.URL)
	for i, u := range r.Target.Also {
		r.Target.Also[i] = MaskURL(u)
	}
	if r.Run.Partial && r.Run.PartialReason == "" {
		r.Run.PartialReason = "the broker is gone"
		if r.Run.Interrupted {
			r.Run.PartialReason = "interrupted"
		}
	}
	fillLists(&r)
	r.Summary = summarize(r, len(outcomes))
	r.Run.ExitCode = r.ExitCode()
	r.Summary.Conformant = r.conformant()
	return r
}

// Judge returns the verdict of one spec as soon as it has ended, the statement
// that it belongs to, and the name of the check; false when a filter kept the
// spec from running.
func Judge(spec types.SpecReport, strict bool) (v Verdict, statement, name string, ran bool) {
	o, ran := read(spec, strict)
	v, by := o.verdict()
	return v, o.subject(by), o.name, ran
}

// read translates a report of Ginkgo; false when the spec did not run. The
// verdict is in the report entries and never guessed from Ginkgo's state,
// which only tells whether the suite itself went wrong.
func read(spec types.SpecReport, strict bool) (outcome, bool) {
	o := outcome{name: CheckName(spec), source: sourceOf(spec.LeafNodeLocation), ms: millis(spec.RunTime)}
	for _, label := range spec.Labels() {
		if key, ok := normative.FromLabel(label); ok {
			o.cites = append(o.cites, key)
		}
	}
	for _, entry := range spec.ReportEntries {
		if err := o.readEntry(entry.Name, entryJSON(entry.Value)); err != nil {
			o.findings = append(o.findings, finding{Verdict: Error, Reason: fmt.Sprintf("report entry %q: %v", entry.Name, err)})
		}
	}
	ran := o.readState(spec)
	o.vet(strict)
	return o, ran
}

// vet turns what cannot be filed into errors, so that nothing is lost, and
// warnings into failures if strict.
func (o *outcome) vet(strict bool) {
	fault := func(format string, args ...any) finding {
		return finding{Verdict: Error, Reason: fmt.Sprintf(format, args...)}
	}
	for i, f := range o.findings {
		switch {
		case !f.Verdict.known() || f.Verdict == Untested:
			o.findings[i] = fault("unknown verdict %q", f.Verdict)
		case f.Statement != "" && !o.mayAccuse(f.Statement):
			o.findings[i] = fault("%s for %q, which is no statement of this version: %s", f.Verdict, f.Statement, f.Reason)
		case strict && f.Verdict == Warn:
			o.findings[i].Verdict = Fail
		}
	}
	for _, s := range o.standing {
		for _, v := range s.Violations {
			if !o.mayAccuse(v.Key) {
				o.findings = append(o.findings, fault("packet breaks %q, which is no statement of this version: %s", v.Key, visibleLines(v.Text)))
			}
		}
	}
}

// mayAccuse tells whether key is a statement of the version of the check.
func (o *outcome) mayAccuse(key string) bool {
	_, ok := normative.Lookup(key)
	return ok && (len(o.cites) == 0 || versionOf(key) == versionOf(o.cites[0]))
}

// readState adds what Ginkgo alone knows: that the suite panicked, hung, or was
// stopped. It returns false for a spec that never ran.
func (o *outcome) readState(spec types.SpecReport) bool {
	place := func(what string) string {
		text := spec.Failure.Message
		if spec.Failure.ForwardedPanic != "" {
			text += ": " + spec.Failure.ForwardedPanic
		}
		return what + " at " + sourceOf(spec.Failure.Location) + ": " + visibleLines(text)
	}
	add := func(v Verdict, reason string) {
		o.findings = append(o.findings, finding{Verdict: v, Reason: reason})
	}
	judged := slices.ContainsFunc(o.findings, func(f finding) bool { return f.Verdict != Info && f.Verdict != Pass })
	switch spec.State {
	case types.SpecStatePassed:
	case types.SpecStateSkipped, types.SpecStatePending, types.SpecStateInvalid:
		if len(o.findings) == 0 {
			return false
		}
	case types.SpecStatePanicked:
		add(Error, place("panic"))
	case types.SpecStateTimedout:
		add(Error, place("timed out"))
	case types.SpecStateInterrupted, types.SpecStateAborted:
		if !judged {
			add(Inconclusive, "stopped before its end")
		}
	default:
		if !judged {
			add(Error, place("ended without a verdict"))
		}
	}
	return true
}

func (o *outcome) readEntry(name string, data []byte) error {
	switch name {
	case "verdict":
		var f finding
		if err := json.Unmarshal(data, &f); err != nil {
			return err
		}
		f.Reason, f.Expected, f.Observed = visibleLines(f.Reason), visibleLines(f.Expected), visibleLines(f.Observed)
		o.findings = append(o.findings, f)
	case "observation":
		var obs Observation
		if err := json.Unmarshal(data, &obs); err != nil {
			return err
		}
		o.observations = append(o.observations, obs)
	case "standing":
		var s standing
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		o.standing = append(o.standing, s)
	case "trace":
		var events []Event
		if err := json.Unmarshal(data, &events); err != nil {
			return err
		}
		o.trace = append(o.trace, events...)
	}
	return nil
}

// entryJSON returns a report entry as JSON: from a child process it is nothing
// else, in process it is still a Go value.
func entryJSON(v types.ReportEntryValue) []byte {
	if v.AsJSON != "" {
		return []byte(v.AsJSON)
	}
	data, err := json.Marshal(v.GetRawValue())
	if err != nil {
		return nil // fails to parse, and so shows as an error
	}
	return data
}

// checkName is the full text of the spec without the root container, which is
// the version.
// CheckName returns the name of a spec as a check: without its version.
func CheckName(spec types.SpecReport) string {
	texts := spec.ContainerHierarchyTexts
	if len(texts) > 0 {
		texts = texts[1:]
	}
	return strings.Join(append(append([]string{}, texts...), spec.LeafNodeText), " ")
}

// sourceOf returns a place in the suite, relative to its root.
func sourceOf(at types.CodeLocation) string {
	file := at.FileName
	if file == "" {
		return ""
	}
	if i := strings.LastIndex(file, "/specs/"); i >= 0 {
		file = file[i+1:]
	} else if i := strings.LastIndex(file, "/"); i >= 0 {
		file = file[i+1:]
	}
	return fmt.Sprintf("%s:%d", file, at.LineNumber)
}

// millis rounds to microseconds, enough for a packet.
func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
