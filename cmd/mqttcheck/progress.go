package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// progress shows how far a run is: on a terminal in one line that is written
// over, elsewhere with a line for each chapter that has ended. It is talk, and
// goes to stderr. A nil progress shows nothing.
type progress struct {
	out      io.Writer
	terminal bool
	total    int
	done     map[reports.Verdict]int
	sections []*section
	of       map[string]*section // by the name of the check
	drawn    time.Time
	width    int // of the line on the terminal
}

// section is the checks of one chapter of one version.
type section struct {
	place, name string
	total, done int
	verdicts    map[reports.Verdict]int
	told        bool
}

// newProgress returns a progress over these checks. Chapters are shown in the
// order of the specification.
func newProgress(out io.Writer, checks []check) *progress {
	p := &progress{
		out: out, terminal: isTerminal(out), total: len(checks),
		done: map[reports.Verdict]int{}, of: map[string]*section{},
	}
	byName := map[string]*section{}
	for _, c := range checks {
		place, name := "", "Other"
		if len(c.Keys) > 0 {
			st, _ := normative.Lookup(c.Keys[0])
			version, _, _ := strings.Cut(st.Key, "/")
			place = version + "/" + st.Section
			name = reports.VersionName(version) + "  " + reports.Chapter(version, st.Section)
		}
		s := byName[name]
		if s == nil {
			s = &section{place: place, name: name, verdicts: map[reports.Verdict]int{}}
			byName[name] = s
			p.sections = append(p.sections, s)
		}
		s.total++
		p.of[c.Name] = s
	}
	slices.SortStableFunc(p.sections, func(a, b *section) int { return reports.CompareSections(a.place, b.place) })
	return p
}

// result counts a check that has ended.
func (p *progress) result(r types.SpecReport, strict bool) {
	if p == nil {
		return
	}
	v, _, _, _ := reports.Judge(r, strict)
	p.done[v]++
	s := p.of[r.FullText()]
	s.done++
	s.verdicts[v]++
	p.draw(false)
}

// retract takes back a check that runs again.
func (p *progress) retract(r types.SpecReport, strict bool) {
	if p == nil {
		return
	}
	v, _, _, _ := reports.Judge(r, strict)
	p.done[v]--
	s := p.of[r.FullText()]
	s.done--
	s.verdicts[v]--
}

// talk prints a line of text.
func (p *progress) talk(format string, args ...any) {
	if p == nil {
		return
	}
	p.clear()
	fmt.Fprintln(p.out, "mqttcheck:", oneLine(fmt.Sprintf(format, args...)))
}

// finish prints what is left and takes the line off the terminal.
func (p *progress) finish() {
	if p == nil {
		return
	}
	p.draw(true)
	p.clear()
}

func (p *progress) draw(end bool) {
	if !p.terminal {
		for _, s := range p.sections {
			if s.told {
				continue
			}
			if s.done < s.total && !(end && s.done > 0) {
				if end {
					continue
				}
				return // in order
			}
			s.told = true
			fmt.Fprintf(p.out, "  %-44s %s\n", s.name, tally(s.verdicts))
		}
		return
	}
	if now := time.Now(); now.Sub(p.drawn) > 50*time.Millisecond && !end {
		p.drawn = now
		n := 0
		for _, count := range p.done {
			n += count
		}
		text := fmt.Sprintf("  %d/%d  %s", n, p.total, tally(p.done))
		fmt.Fprintf(p.out, "\r%s%s", text, strings.Repeat(" ", max(0, p.width-len(text))))
		p.width = len(text)
	}
}

func (p *progress) clear() {
	if p.terminal && p.width > 0 {
		fmt.Fprintf(p.out, "\r%s\r", strings.Repeat(" ", p.width))
		p.width = 0
	}
}

// tally returns the verdicts that occur with their numbers.
func tally(n map[reports.Verdict]int) string {
	order := []reports.Verdict{
		reports.Pass, reports.Fail, reports.Error, reports.Inconclusive, reports.Warn,
		reports.Info, reports.Unsupported, reports.Skip,
	}
	var parts []string
	for _, v := range order {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

// isTerminal tells whether w is a terminal that lines can be written over on.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// oneLine puts a text on one line, without characters that a terminal obeys.
func oneLine(s string) string {
	return reports.Visible(strings.Join(strings.Fields(s), " "))
}
