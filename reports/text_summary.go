package reports

import (
	"fmt"
	"strings"
)

// summary prints the table of verdicts by level, a line for each statement that
// needs attention, and the verdict in a sentence.
func (t *textReport) summary() {
	t.line()
	columnsOf := []Verdict{Pass, Fail, Error, Warn, Inconclusive, Unsupported, Info, Skip, Untested}
	t.printf("  %-10s", "")
	for _, v := range columnsOf {
		t.printf(" %*s", cellWidth(v), v)
	}
	t.printf("  %6s\n", "of")
	for _, level := range levels(t.r.Summary) {
		t.counts(level, t.r.Summary.ByLevel[level], columnsOf)
	}
	t.counts("all", t.r.Summary.ByVerdict, columnsOf)
	t.line()
	for _, s := range attention(t.r) {
		t.printf("  %s %-30s %s\n", t.verdict(s.Verdict, s.Verdict.glyph()), Visible(s.ID), clipColumns(firstLine(s), t.width-36))
	}
	t.grouped(Skip)
	t.grouped(Unsupported)
	t.printf("\n")
	h := t.r.headline()
	sgr := map[string]string{"good": green, "bad": red, "open": purple}[h.Mood]
	t.field("", 0, t.paint(bold+";"+sgr, strings.ToUpper(h.Head))+": "+h.Detail, "")
	if h.Rest != "" {
		t.field("", 0, h.Rest, "")
	}
	t.printf("%s\n", t.paint(dim, t.r.footer()))
}

func cellWidth(v Verdict) int { return max(5, len(v)) }

func (t *textReport) counts(name string, c Counts, columns []Verdict) {
	t.printf("  %-10s", name)
	for _, v := range columns {
		cell := fmt.Sprintf("%*s", cellWidth(v), "–")
		if n := c.Of(v); n > 0 {
			cell = t.verdict(v, fmt.Sprintf("%*d", cellWidth(v), n))
		}
		t.printf(" %s", cell)
	}
	t.printf("  %6d\n", c.Total())
}

// grouped prints a line for each reason why statements have the verdict.
func (t *textReport) grouped(v Verdict) {
	var order []string
	ids := map[string][]string{}
	for _, s := range t.r.Statements {
		if s.Verdict != v {
			continue
		}
		reason := oneLine(s.Reason)
		if ids[reason] == nil {
			order = append(order, reason)
		}
		ids[reason] = append(ids[reason], s.ID)
	}
	for _, reason := range order {
		name := Visible(ids[reason][0])
		if n := len(ids[reason]); n > 1 {
			name = fmt.Sprintf("%s +%d", name, n-1)
		}
		t.printf("  %s %-30s %s\n", t.verdict(v, v.glyph()), name, t.paint(dim, clipColumns(reason, t.width-36)))
	}
}

// firstLine says in one line what happened to a statement.
func firstLine(s Statement) string {
	for _, c := range s.Checks {
		if c.Verdict == s.Verdict && c.Observed != "" {
			return oneLine(c.Observed)
		}
	}
	if s.Reason != "" {
		return oneLine(s.Reason)
	}
	return s.Summary
}

// oneLine returns text of several lines as one.
func oneLine(s string) string {
	return Visible(strings.Join(strings.Fields(visibleLines(s)), " "))
}
