package reports

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html"
	"html/template"
	"io"
	"maps"
	"slices"
	"strings"
)

var (
	//go:embed report.gohtml
	pageTemplate string
	//go:embed report.css
	pageCSS string
	//go:embed report.js
	pageJS string
)

// maxPage bounds the HTML report in bytes. Traces that would go beyond it are
// left out, those of warnings first.
const maxPage = 1_900_000

// HTML writes the result as one file that asks for nothing from outside and
// runs no script but its own.
func HTML(w io.Writer, r Result) error {
	p := newPage(r)
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return fmt.Errorf("reports: render HTML: %w", err)
	}
	if p.addTraces(r, maxPage-b.Len()) {
		b.Reset()
		if err := page.Execute(&b, p); err != nil {
			return fmt.Errorf("reports: render HTML: %w", err)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// htmlPage is what the template sees.
type htmlPage struct {
	Result
	Head      headline
	Broker    string
	Footer    string
	Versions  string
	Groups    []*group
	Tiles     []tile
	Attention []Statement
	More      int // statements that need attention and are not listed
	Announced []pair
	Verdicts  []Verdict
	Levels    []string
	Command   string
	CSS       template.CSS
	JS        template.JS
	CSP       string
	traces    map[string]template.HTML // by traceKey
	leftOut   map[string]bool
}

type pair struct{ Name, Value string }

// tile is one of the boxes under the verdict.
type tile struct {
	Name, Value, Of, Note, Link string
	Counts                      *Counts
}

// maxAttention is how many statements the summary lists.
const maxAttention = 12

func newPage(r Result) *htmlPage {
	p := &htmlPage{
		Result: r, Head: r.headline(), Broker: r.broker(), Footer: r.footer(), Groups: groups(r),
		Attention: attention(r), Verdicts: Verdicts, Levels: levels(r.Summary), Command: shellJoin(r.Run.Command),
		CSS: template.CSS(pageCSS), JS: template.JS(pageJS), CSP: contentPolicy(),
		traces: map[string]template.HTML{}, leftOut: map[string]bool{},
	}
	for i, v := range r.Run.Versions {
		if i > 0 {
			p.Versions += " and "
		}
		p.Versions += VersionName(v)
	}
	if n := len(p.Attention); n > maxAttention {
		p.Attention, p.More = p.Attention[:maxAttention], n-maxAttention
	}
	for _, name := range slices.Sorted(maps.Keys(r.Broker.Announced)) {
		p.Announced = append(p.Announced, pair{name, r.Broker.Announced[name]})
	}
	p.Tiles = tiles(r)
	return p
}

func tiles(r Result) []tile {
	var list []tile
	for _, level := range levels(r.Summary) {
		c := r.Summary.ByLevel[level]
		if tested := c.Total() - c.Untested - c.Unsupported - c.Skip; level != "MUST" && tested == 0 {
			continue
		}
		note := fmt.Sprintf("%d fail · %d warn · %d undecided", c.Fail, c.Warn, c.Inconclusive+c.Error)
		list = append(list, tile{Name: level, Value: fmt.Sprint(c.Pass), Of: fmt.Sprintf("/%d passed", c.Judged()), Note: note, Link: "level=" + level, Counts: &c})
	}
	all := r.Summary.ByVerdict
	return append(list,
		tile{Name: "Optional features", Value: fmt.Sprint(all.Unsupported), Of: " not offered", Note: "neither passed nor failed", Link: "verdict=unsupported"},
		tile{Name: "Not tested", Value: fmt.Sprint(all.Untested + all.Skip), Of: " statements", Note: fmt.Sprintf("%d skipped · %d without a check that ran", all.Skip, all.Untested), Link: "verdict=skip,untested"})
}

// contentPolicy allows the page its own style and script and nothing else.
func contentPolicy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(pageCSS) + "; script-src " + hash(pageJS) + "; base-uri 'none'; form-action 'none'"
}

func traceKey(statement string, check int) string { return fmt.Sprint(statement, "#", check) }

// addTraces renders the traces of the checks that did not pass, worst first,
// as long as there is room. It tells whether there was any.
func (p *htmlPage) addTraces(r Result, room int) bool {
	for _, s := range r.Statements {
		for _, c := range s.Checks {
			if c.Verdict != Pass && len(c.Trace) > 0 {
				room -= leftOutSize // at least that for each
			}
		}
	}
	for _, s := range append(attention(r), r.Statements...) {
		for i, c := range s.Checks {
			key := traceKey(s.ID, i)
			if c.Verdict == Pass || len(c.Trace) == 0 || p.traces[key] != "" || p.leftOut[key] {
				continue
			}
			rows := fittingRows(c.Trace, min(room-tableSize, maxTrace))
			if rows == "" {
				p.leftOut[key] = true
				continue
			}
			room -= len(rows) + tableSize
			p.traces[key] = template.HTML(rows)
		}
	}
	return len(p.traces)+len(p.leftOut) > 0
}

// Sizes in bytes of HTML: the largest trace, the table around one, and the
// note in place of one.
const (
	maxTrace    = 64_000
	tableSize   = 400
	leftOutSize = 150
)

// fittingRows returns the rows of a trace with as many events and bytes as
// there is room for, or "".
func fittingRows(events []Event, room int) string {
	for _, limit := range []struct{ events, bytes int }{{200, 512}, {100, 128}, {40, 64}, {20, 16}} {
		if rows := traceRows(events, limit.events, limit.bytes, room); rows != "" {
			return rows
		}
	}
	return ""
}

// traceRows are the rows of the table of packets. They are built here and not
// by the template, so that their size is known; every text is escaped. Of a
// long trace the middle is left out; rows of more than room bytes are none.
func traceRows(events []Event, most, mostBytes, room int) string {
	var b strings.Builder
	esc := func(s string) string { return html.EscapeString(s) }
	for i, e := range events {
		if b.Len() > room {
			return ""
		}
		if n := len(events) - most; n > 0 && i >= most/3 && i < most/3+n {
			if i == most/3 {
				fmt.Fprintf(&b, "<tr class=gap><td colspan=5>%d events left out; result.json has them</td></tr>", n)
			}
			continue
		}
		text := clip(eventText(e), 600)
		if e.Dir != "send" && e.Dir != "recv" {
			fmt.Fprintf(&b, "<tr class=gap><td>%.1f</td><td>%s</td><td colspan=3>%s</td></tr>", e.Ms, esc(Visible(e.Client)), esc(text))
			continue
		}
		way := "→ broker"
		if e.Dir == "recv" {
			way = "← broker"
		}
		fmt.Fprintf(&b, "<tr class=%s><td>%.1f</td><td>%s</td><td>%s</td><td>%s</td><td><pre>%s</pre></td></tr>\n",
			e.Dir, e.Ms, esc(Visible(e.Client)), way, esc(text), esc(strings.Join(e.hexdump(mostBytes), "\n")))
	}
	if b.Len() > room {
		return ""
	}
	return b.String()
}

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"see":      Visible,
	"lines":    visibleLines,
	"clip":     func(n int, s string) string { return clip(s, n) },
	"one":      oneLine,
	"glyph":    func(v Verdict) string { return v.glyph() },
	"slug":     func(id string) string { return "s-" + strings.ReplaceAll(Visible(id), "/", "-") },
	"bare":     bareID,
	"version":  VersionName,
	"duration": duration,
	"bar":      bar,
	"line":     firstLine,
	"good":     func(v Verdict) bool { return v == Pass || v == Info },
	"again":    func(r Result, id string) string { return r.Again(id) },
	"reason":   Check.ownReason,
	"trace":    func(p *htmlPage, id string, i int) template.HTML { return p.traces[traceKey(id, i)] },
	"leftOut":  func(p *htmlPage, id string, i int) bool { return p.leftOut[traceKey(id, i)] },
	"maskURL":  MaskURL,
	"testable": testable,
}).Parse(pageTemplate))

// testable puts the words of the catalogue into those of a reader.
func testable(word string) string {
	switch word {
	case "broker":
		return "seen at any broker"
	case "timing":
		return "seen by waiting"
	case "config":
		return "seen at a broker with another configuration"
	case "restart":
		return "seen over a restart"
	case "client":
		return "no server can break it"
	case "none":
		return "cannot be observed"
	}
	return Visible(word)
}

// bar draws counts as one horizontal bar.
func bar(c Counts) template.HTML {
	total := c.Total()
	var b, label strings.Builder
	x := 0.0
	for _, v := range []Verdict{Pass, Info, Warn, Inconclusive, Error, Fail, Unsupported, Skip, Untested} {
		n := c.Of(v)
		if n == 0 {
			continue
		}
		w := 100 * float64(n) / float64(total)
		fmt.Fprintf(&b, `<rect class="f-%s" x="%.2f" width="%.2f" height="8"/>`, v, x, w)
		fmt.Fprintf(&label, "%d %s, ", n, v)
		x += w
	}
	return template.HTML(fmt.Sprintf(`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label="%sof %d">%s</svg>`, label.String(), total, b.String()))
}
