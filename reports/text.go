package reports

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

// TextOptions are how the text report looks.
type TextOptions struct {
	Color bool
	Width int // columns; 0 means 98
}

// ColorWanted tells whether text written to f should have colour: f is a
// terminal that can show it, and NO_COLOR is not set.
func ColorWanted(f *os.File) bool {
	if os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Text writes the report for a terminal: the failures with their packets, what
// was observed, then the summary.
func Text(w io.Writer, r Result, o TextOptions) error {
	t := &textReport{b: bufio.NewWriter(w), r: r, width: cmp.Or(o.Width, 98), color: o.Color}
	t.header()
	t.sections()
	for _, s := range attention(r) {
		t.statement(s)
	}
	t.freedoms()
	t.summary()
	return t.b.Flush()
}

// attention returns the statements that did not come out well, worst first.
func attention(r Result) []Statement {
	var list []Statement
	for _, v := range []Verdict{Fail, Error, Inconclusive, Warn} {
		for _, s := range r.Statements {
			if s.Verdict == v {
				list = append(list, s)
			}
		}
	}
	return list
}

// textReport is a text report in the making.
type textReport struct {
	b     *bufio.Writer
	r     Result
	width int
	color bool
}

func (t *textReport) printf(format string, args ...any) { fmt.Fprintf(t.b, format, args...) }

func (t *textReport) line() { t.printf("%s\n", t.paint(dim, strings.Repeat("─", t.width))) }

// SGR parameters.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	purple = "35"
	blue   = "34"
)

func (t *textReport) paint(sgr, s string) string {
	if !t.color || s == "" || sgr == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

func (t *textReport) verdict(v Verdict, s string) string {
	switch v {
	case Pass:
		return t.paint(green, s)
	case Fail, Error:
		return t.paint(red, s)
	case Warn:
		return t.paint(yellow, s)
	case Inconclusive:
		return t.paint(purple, s)
	case Info:
		return t.paint(blue, s)
	}
	return t.paint(dim, s)
}

func (t *textReport) header() {
	names := []string{}
	for _, v := range t.r.Run.Versions {
		names = append(names, VersionName(v))
	}
	where := "embedded reference broker"
	if !t.r.Target.Embedded {
		where = Visible(MaskURL(t.r.Target.URL))
	}
	t.printf("%s %s  %s  %s  seed %d\n", t.paint(bold, "mqttcheck"), Visible(t.r.Tool.Version), strings.Join(names, ", "), where, t.r.Run.Seed)
	if t.r.Broker.Name != "" {
		t.printf("broker    %s\n", t.r.broker())
	}
	if len(t.r.Broker.Announced) > 0 {
		var list []string
		for _, k := range slices.Sorted(maps.Keys(t.r.Broker.Announced)) {
			list = append(list, Visible(k)+" "+Visible(t.r.Broker.Announced[k]))
		}
		t.field("announced ", 10, strings.Join(list, " · "), "")
	}
	t.printf("\n")
}

// sections prints a line for each chapter, and what its signs mean. Chapters that
// the selectors leave out have no line.
func (t *textReport) sections() {
	version := ""
	met := map[Verdict]bool{}
	for _, g := range groups(t.r) {
		if len(t.r.Run.Selectors) > 0 && g.Counts.Untested == len(g.Statements) {
			continue
		}
		if g.Version != version && len(t.r.Run.Versions) != 1 {
			t.printf("  %s\n", t.paint(bold, VersionName(g.Version)))
		}
		version = g.Version
		t.printf("  %-5s %-26s", g.Number, g.Title)
		for _, v := range rowOrder {
			if n := g.Counts.Of(v); n > 0 {
				met[v] = true
				t.printf("  %s", t.verdict(v, fmt.Sprintf("%s %d", v.glyph(), n)))
			}
		}
		t.printf("\n")
	}
	t.printf("\n")
	if len(met) == 0 {
		return
	}
	var legend []string
	for _, v := range rowOrder {
		if met[v] {
			legend = append(legend, v.glyph()+" "+string(v))
		}
	}
	t.printf("  %s\n\n", t.paint(dim, strings.Join(legend, "  ")))
}

// rowOrder is the order of the verdicts in the line of a chapter.
var rowOrder = []Verdict{Pass, Info, Fail, Error, Inconclusive, Warn, Unsupported, Skip, Untested}

// statement prints one statement that did not come out well, with each of its
// checks that says so.
func (t *textReport) statement(s Statement) {
	right := s.Level + " · section " + s.Section
	left := fmt.Sprintf("%s %s  %s", s.Verdict.glyph(), strings.ToUpper(string(s.Verdict)), Visible(s.ID))
	t.printf("%s%s%s\n\n", t.verdict(s.Verdict, left), strings.Repeat(" ", max(2, t.width-columns(left)-columns(right))), t.paint(dim, right))
	t.field("  Requirement  ", 15, s.Summary, "")
	shown := 0
	for _, c := range s.Checks {
		if c.Verdict == Pass || c.Verdict == Info || shown == maxChecks {
			continue
		}
		shown++
		t.check(s, c)
	}
	t.printf("  Run it       %s\n", t.r.Again(s.ID)) // not wrapped: it is to be pasted
	t.field("  More         ", 15, "mqttcheck explain "+s.ID, "")
	t.printf("\n")
}

// maxChecks is how many checks of one statement the text report shows.
const maxChecks = 4

func (t *textReport) check(s Statement, c Check) {
	name := c.Name
	if c.Verdict != s.Verdict {
		name += " (" + string(c.Verdict) + ")"
	}
	t.field("  Check        ", 15, visibleLines(name), "")
	if reason := c.ownReason(); reason != "" {
		t.field("  Reason       ", 15, visibleLines(reason), "")
	}
	if c.Expected != "" {
		t.field("  Expected     ", 15, visibleLines(c.Expected), green)
	}
	if c.Observed != "" {
		t.field("  Observed     ", 15, visibleLines(c.Observed), red)
	}
	if c.Source != "" {
		t.field("  Source       ", 15, Visible(c.Source), dim)
	}
	t.printf("\n")
	// What was said last before the broker went is what there is to go on.
	if c.Verdict == Fail || c.Verdict == Error || c.Verdict == Inconclusive && t.r.Run.BrokerGone {
		t.trace(c.Trace)
	}
}

// field prints a name and its text, wrapped and indented.
func (t *textReport) field(name string, indent int, body, sgr string) {
	const maxLines = 40
	lines := wrap(body, t.width-indent)
	for i, line := range lines {
		if i == maxLines {
			t.printf("%s%s\n", strings.Repeat(" ", indent), t.paint(dim, fmt.Sprintf("… %d lines more", len(lines)-i)))
			return
		}
		if i > 0 {
			name = strings.Repeat(" ", indent)
		}
		t.printf("%s%s\n", name, t.paint(sgr, noCommand(line)))
	}
}

// wrap breaks text into lines of at most width columns, at spaces where there
// are some; lines keep their own indentation.
func wrap(s string, width int) []string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		for columns(line) > width {
			runes := []rune(line)
			cut := width
			for i := width; i > width/3; i-- {
				if runes[i] == ' ' {
					cut = i
					break
				}
			}
			out = append(out, strings.TrimRight(string(runes[:cut]), " "))
			line = strings.TrimLeft(string(runes[cut:]), " ")
		}
		out = append(out, line)
	}
	return out
}

func columns(s string) int { return len([]rune(s)) }
