package reports

import (
	"fmt"
	"strings"
	"time"
)

// headline says the outcome in a few words and a sentence, in the same words
// in every format.
type headline struct {
	Mood   string // "good", "bad" or "open"
	Head   string // "Not conformant"
	Detail string // "4 of 63 tested MUST statements are violated."
	Rest   string // what stayed open, and why
}

func (r Result) headline() headline {
	all, must := r.Summary.ByVerdict, r.Summary.ByLevel["MUST"]
	names := make([]string, len(r.Run.Versions))
	for i, v := range r.Run.Versions {
		names[i] = VersionName(v)
	}
	versions := strings.Join(names, " and ")
	var h headline
	switch {
	case all.Fail > 0:
		h = headline{Mood: "bad", Head: "Not conformant", Detail: fmt.Sprintf("%s violated", plural(all.Fail, "statement is", "statements are"))}
		if must.Fail > 0 {
			h.Detail = fmt.Sprintf("%d of %d tested MUST statements %s violated", must.Fail, must.Judged(), areIs(must.Fail))
			if others := all.Fail - must.Fail; others > 0 {
				h.Detail += fmt.Sprintf(", and %d without a MUST", others)
			}
		}
		h.Detail += "."
	case r.Run.BrokerGone:
		h = headline{Mood: "bad", Head: "The broker died", Detail: fmt.Sprintf("No violation was found before, in %s.", plural(all.Judged(), "statement", "statements"))}
	case r.Summary.Checks == 0:
		h = headline{Mood: "open", Head: "Nothing was checked", Detail: "No check ran."}
	case r.Run.Partial:
		h = headline{Mood: "open", Head: "Partial run", Detail: fmt.Sprintf("No violation was found in the %s that %s tested.", plural(all.Judged(), "statement", "statements"), wasWere(all.Judged()))}
	case r.ExitCode() != 0:
		h = headline{Mood: "open", Head: "Undecided", Detail: fmt.Sprintf("No violation was found, but %s not be decided.", plural(all.Inconclusive+all.Error, "statement could", "statements could"))}
	case len(r.Run.Selectors) > 0:
		h = headline{Mood: "good", Head: "No violation", Detail: fmt.Sprintf("in the selection: %s of %d tested.", plural(all.Judged(), "statement", "statements"), all.Total())}
	case all.Pass == 0:
		h = headline{Mood: "open", Head: "Nothing was decided", Detail: "No statement passed and none failed."}
	default:
		h = headline{Mood: "good", Head: "Conformant", Detail: fmt.Sprintf("none of the %s tested of %s is violated.", plural(all.Judged(), "statement", "statements"), versions)}
	}
	var rest []string
	if r.Run.Partial && r.Run.PartialReason != "" {
		rest = append(rest, "The run ended early: "+Visible(r.Run.PartialReason)+".")
	}
	for _, part := range []struct {
		n    int
		text string
	}{
		{all.Warn, "warned"}, {all.Inconclusive, "inconclusive"}, {all.Error, "in error"},
		{all.Unsupported, "not supported by the broker"}, {all.Skip, "skipped"}, {all.Untested, "untested"},
	} {
		if part.n > 0 {
			rest = append(rest, fmt.Sprintf("%d %s", part.n, part.text))
		}
	}
	if n := len(rest); n > 0 {
		start := 0
		if r.Run.Partial && r.Run.PartialReason != "" {
			start = 1
		}
		h.Rest = strings.Join(rest[:start], " ")
		if n > start {
			h.Rest = strings.TrimSpace(h.Rest + " " + strings.Join(rest[start:], ", ") + ".")
		}
	}
	return h
}

// footer is how much was done in what time.
func (r Result) footer() string {
	return fmt.Sprintf("%s on %s in %s", plural(r.Summary.Checks, "check", "checks"),
		plural(len(r.Statements), "statement", "statements"), duration(r.Run.DurationMs))
}

// broker is the name of the broker, or of its address.
func (r Result) broker() string {
	switch {
	case r.Broker.Name != "":
		return clip(strings.TrimSpace(oneLine(r.Broker.Name+" "+r.Broker.Version)), 80)
	case r.Target.Embedded:
		return "the embedded reference broker"
	case r.Target.URL != "":
		return Visible(MaskURL(r.Target.URL))
	}
	return "broker"
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

func areIs(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func wasWere(n int) string {
	if n == 1 {
		return "was"
	}
	return "were"
}

// duration returns milliseconds as people read them.
func duration(ms float64) string {
	switch {
	case ms >= 60_000:
		return (time.Duration(ms) * time.Millisecond).Round(time.Second).String()
	case ms >= 1000:
		return fmt.Sprintf("%.1f s", ms/1000)
	case ms >= 10 || ms == 0:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f ms", ms)
}
