package reports

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
)

//go:embed fuzz.gohtml
var fuzzTemplate string

// fuzzSummary is what fuzz --json writes, as far as the page shows it.
type fuzzSummary struct {
	Broker  string `json:"broker"`
	Seed    uint64 `json:"seed"`
	Summary struct {
		Conversations int            `json:"conversations"`
		Packets       int            `json:"packets"`
		Received      int            `json:"received"`
		Seconds       float64        `json:"seconds"`
		Restarts      int            `json:"restarts"`
		Cells         int            `json:"cells"`
		Next          uint64         `json:"next"`
		Answers       map[string]int `json:"answers"`
		Seen          map[string]int `json:"seen"`
		Findings      []fuzzFinding  `json:"findings"`
		Coverage      []fuzzCell     `json:"coverage"`
		Profile       []string       `json:"profile"`
		Notes         []string       `json:"notes"`
		Ended         string         `json:"ended"`
	} `json:"summary"`
}

// fuzzFinding is one finding.
type fuzzFinding struct {
	Oracle    string `json:"oracle"`
	Key       string `json:"key"`
	About     string `json:"about"`
	Seed      string `json:"seed"`
	Packets   int    `json:"packets"`
	Bytes     int    `json:"bytes"`
	Minimised bool   `json:"minimised"`
	Script    string `json:"script"`
	File      string `json:"file"`
}

// fuzzCell is one situation of the coverage.
type fuzzCell struct {
	Version  string `json:"version"`
	State    string `json:"state"`
	Packet   string `json:"packet"`
	Validity string `json:"validity"`
	Times    int    `json:"times"`
}

// fuzzPage is what the template sees.
type fuzzPage struct {
	fuzzSummary
	CSS     template.CSS
	CSP     string
	Columns []string // states
	Rows    []fuzzRow
	Answers []fuzzCount
}

// fuzzRow is one kind of packet over the states: how often in each.
type fuzzRow struct {
	Name  string
	Times []int
}

type fuzzCount struct {
	Name  string
	Times int
}

// FuzzHTML writes the summary of a fuzz campaign, in the JSON that fuzz --json
// writes, as one file that asks for nothing from outside and runs no script.
func FuzzHTML(w io.Writer, summary []byte) error {
	var p fuzzPage
	if err := json.Unmarshal(summary, &p.fuzzSummary); err != nil {
		return fmt.Errorf("reports: read the summary: %w", err)
	}
	p.CSS, p.CSP = template.CSS(pageCSS), contentPolicy()
	p.table()
	for _, name := range slices.Sorted(maps.Keys(p.Summary.Answers)) {
		p.Answers = append(p.Answers, fuzzCount{name, p.Summary.Answers[name]})
	}
	var b bytes.Buffer
	if err := fuzzHTML.Execute(&b, p); err != nil {
		return fmt.Errorf("reports: render HTML: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// table lays the coverage out: kinds of packets by version and validity over
// states.
func (p *fuzzPage) table() {
	for _, c := range p.Summary.Coverage {
		if !slices.Contains(p.Columns, c.State) {
			p.Columns = append(p.Columns, c.State)
		}
	}
	slices.Sort(p.Columns)
	rows := map[string][]int{}
	for _, c := range p.Summary.Coverage {
		name := strings.Join([]string{c.Packet, c.Validity, c.Version}, " ")
		if rows[name] == nil {
			rows[name] = make([]int, len(p.Columns))
		}
		rows[name][slices.Index(p.Columns, c.State)] = c.Times
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		p.Rows = append(p.Rows, fuzzRow{name, rows[name]})
	}
}

var fuzzHTML = template.Must(template.New("fuzz").Funcs(template.FuncMap{
	"see":   Visible,
	"lines": visibleLines,
	"clip":  func(n int, s string) string { return clip(s, n) },
	"rate":  func(n int, seconds float64) string { return fmt.Sprintf("%.0f", float64(n)/max(seconds, 0.001)) },
	"again": func(f fuzzFinding, broker string) string {
		return shellJoin([]string{"mqttcheck", "replay", f.File, broker})
	},
	"seen": func(p fuzzPage, f fuzzFinding) int { return p.Summary.Seen[f.Oracle+"-"+f.Key] },
}).Parse(fuzzTemplate))
