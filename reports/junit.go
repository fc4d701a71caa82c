package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The elements of a JUnit file, as far as GitLab, Jenkins and GitHub's actions
// read them.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Time     string   `xml:"time,attr"`
		Suites   []*junitSuite
	}
	junitSuite struct {
		XMLName    xml.Name        `xml:"testsuite"`
		Name       string          `xml:"name,attr"`
		Package    string          `xml:"package,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Properties []junitProperty `xml:"properties>property"`
		Cases      []junitCase
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		XMLName   xml.Name      `xml:"testcase"`
		Name      string        `xml:"name,attr"`
		Classname string        `xml:"classname,attr"`
		Time      string        `xml:"time,attr"`
		Failure   *junitOutcome `xml:"failure"`
		Error     *junitOutcome `xml:"error"`
		Skipped   *junitOutcome `xml:"skipped"`
		Out       string        `xml:"system-out,omitempty"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Body    string `xml:",chardata"`
	}
)

// JUnit writes the result for CI systems: a suite for each chapter, a case for
// each check of each statement. Statements without a check are left out, but
// those of features or versions that the broker has not are skipped cases.
// What is inconclusive is skipped too: "error" is for faults of the suite.
func JUnit(w io.Writer, r Result) error {
	root := junitSuites{Time: seconds(r.Run.DurationMs), Suites: []*junitSuite{}}
	for _, g := range groups(r) {
		s := junitGroup(r, g)
		if s.Tests == 0 {
			continue
		}
		root.Tests += s.Tests
		root.Failures += s.Failures
		root.Errors += s.Errors
		root.Skipped += s.Skipped
		root.Suites = append(root.Suites, s)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(root); err != nil {
		return fmt.Errorf("reports: encode JUnit: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func junitGroup(r Result, g *group) *junitSuite {
	// GitLab takes the class name for the suite, Jenkins splits it at dots.
	class := "mqtt" + strings.TrimPrefix(g.Version, "v") + "." + strings.ReplaceAll(g.Number+" "+g.Title, ".", "_")
	class = strings.ReplaceAll(class, " ", "_")
	s := &junitSuite{
		Name:    r.broker() + " · " + VersionName(g.Version) + " · " + g.Number + " " + g.Title,
		Package: class, Timestamp: r.Run.Started.UTC().Format("2006-01-02T15:04:05"),
		Properties: []junitProperty{
			{"mqttcheck.version", Visible(r.Tool.Version)}, {"broker", r.broker()},
			{"seed", strconv.FormatInt(r.Run.Seed, 10)},
		},
	}
	used := map[string]int{} // GitLab drops the second of two equal names
	var total float64
	add := func(c junitCase, ms float64) {
		if used[c.Name]++; used[c.Name] > 1 {
			c.Name = fmt.Sprintf("%s (%d)", c.Name, used[c.Name])
		}
		c.Classname, c.Time = class, seconds(ms)
		total += ms
		s.Tests++
		switch {
		case c.Failure != nil:
			s.Failures++
		case c.Error != nil:
			s.Errors++
		case c.Skipped != nil:
			s.Skipped++
		}
		s.Cases = append(s.Cases, c)
	}
	for _, st := range g.Statements {
		for _, c := range st.Checks {
			add(junitCheck(st, c), c.DurationMs)
		}
		if len(st.Checks) == 0 && st.Verdict == Unsupported {
			add(junitCase{
				Name:    Visible(bareID(st.ID)),
				Skipped: &junitOutcome{Message: "unsupported: " + oneLine(st.Reason)},
			}, 0)
		}
	}
	s.Time = seconds(total)
	return s
}

func junitCheck(st Statement, c Check) junitCase {
	jc := junitCase{Name: Visible(bareID(st.ID) + " " + c.Name)}
	line := oneLine(c.Observed)
	if line == "" {
		line = oneLine(c.Reason)
	}
	outcome := &junitOutcome{Message: clip(line, 500), Type: Visible(st.Level)}
	switch c.Verdict {
	case Fail:
		outcome.Body = evidence(st, c)
		jc.Failure = outcome
	case Error:
		outcome.Body = evidence(st, c)
		jc.Error = outcome
	case Inconclusive, Unsupported, Skip:
		jc.Skipped = &junitOutcome{Message: clip(string(c.Verdict)+": "+line, 500)}
	case Warn:
		jc.Out = "warning: " + clip(line, 500)
	}
	return jc
}

// maxEvents bounds the packets of one check in JUnit and Markdown.
const maxEvents = 60

// evidence is everything that proves a failure, as plain text.
func evidence(st Statement, c Check) string {
	var b strings.Builder
	part := func(name, body string) {
		if body != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.ReplaceAll(clip(visibleLines(body), 4000), "\n", "\n  "))
		}
	}
	b.WriteString("\n")
	part("requirement", st.Summary)
	part("reason", c.ownReason())
	part("expected", c.Expected)
	part("observed", c.Observed)
	part("source", c.Source)
	b.WriteString(packets(c.Trace, maxEvents))
	return b.String()
}

// packets is a trace as plain text, one line a packet with its bytes beneath;
// the middle of a long one is left out.
func packets(events []Event, limit int) string {
	var b strings.Builder
	for i, e := range events {
		if n := len(events) - limit; n > 0 && i >= limit/3 && i < limit/3+n {
			if i == limit/3 {
				fmt.Fprintf(&b, "            … %d events left out …\n", n)
			}
			continue
		}
		arrow := map[string]string{"send": "──▶ broker ", "recv": "◀── broker "}[e.Dir]
		if arrow == "" {
			arrow = "┈┈"
		}
		fmt.Fprintf(&b, "%8.1f ms  %s %s %s\n", e.Ms, Visible(e.Client), arrow, clip(eventText(e), 400))
		for _, line := range e.hexdump(256) {
			fmt.Fprintf(&b, "              %s\n", line)
		}
	}
	return b.String()
}

func seconds(ms float64) string { return strconv.FormatFloat(ms/1000, 'f', 3, 64) }
