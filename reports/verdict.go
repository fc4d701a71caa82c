package reports

import "slices"

// Verdict is what a check, or all checks of a statement together, say of the
// broker.
type Verdict string

// The verdicts of checks, and Untested, which only a statement can have.
const (
	Pass         Verdict = "pass"         // the broker keeps it
	Fail         Verdict = "fail"         // the broker breaks what binds it
	Warn         Verdict = "warn"         // a recommendation missed, or lenient where the text leaves it open
	Info         Verdict = "info"         // a freedom was used
	Unsupported  Verdict = "unsupported"  // an optional feature that the broker has not
	Inconclusive Verdict = "inconclusive" // set-up not reached, or the broker gone
	Skip         Verdict = "skip"         // a hook, address or variant was not given
	Error        Verdict = "error"        // a fault of the suite
	Untested     Verdict = "untested"     // no check ran; the reason says why
)

// Verdicts is every verdict in the order of tables and filters.
var Verdicts = []Verdict{Fail, Error, Inconclusive, Warn, Pass, Info, Unsupported, Skip, Untested}

// ofStatement ranks the verdicts of the checks of one statement: the first that
// occurs is that of the statement.
var ofStatement = []Verdict{Fail, Error, Inconclusive, Warn, Pass, Info, Unsupported, Skip}

// ofCheck ranks the entries of one check: the first that occurs is the verdict
// of the check. A check that is unsupported or skipped half-way has not passed,
// so pass stands last.
var ofCheck = []Verdict{Fail, Error, Inconclusive, Warn, Unsupported, Skip, Info, Pass}

// first returns the verdict of the two that stands first in the order.
func first(order []Verdict, a, b Verdict) Verdict {
	i, j := slices.Index(order, a), slices.Index(order, b)
	if i < 0 || j >= 0 && j < i {
		return b
	}
	return a
}

// known tells whether v is one of the verdicts.
func (v Verdict) known() bool { return slices.Contains(Verdicts, v) }

// accuses tells whether v is held against the broker.
func (v Verdict) accuses() bool { return v == Fail || v == Warn }

// glyph is the sign that stands before the verdict, so that colour is never
// the only difference.
func (v Verdict) glyph() string {
	switch v {
	case Pass:
		return "✓"
	case Fail:
		return "✗"
	case Warn:
		return "!"
	case Info:
		return "i"
	case Unsupported:
		return "–"
	case Inconclusive:
		return "?"
	case Skip:
		return "↷"
	case Error:
		return "‼"
	}
	return "·"
}
