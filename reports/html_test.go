package reports

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

func TestPageAsksForNothing(t *testing.T) {
	page := string(render(t, sample(t), HTML))
	for _, bad := range []string{"src=", "url(", "@import", "<link", "<iframe", "<img", "fetch(", "XMLHttpRequest", "innerHTML", "eval(", " style=", " onclick="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("a link leaves the page: %s", m[1])
		}
	}
	for _, tag := range []string{"script", "style"} {
		parts := regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1)
		if len(parts) != 1 {
			t.Fatalf("%d elements %s, want 1", len(parts), tag)
		}
		sum := sha256.Sum256([]byte(parts[0][1]))
		hash := base64.StdEncoding.EncodeToString(sum[:])
		if want := tag + "-src &#39;sha256-" + strings.ReplaceAll(hash, "+", "&#43;") + "&#39;"; !strings.Contains(page, want) {
			t.Errorf("the policy does not allow the page's own %s: %s", tag, want)
		}
	}
}

func TestPageShowsEveryStatement(t *testing.T) {
	r := Build(RunInfo{Versions: []string{"v311", "v5"}}, sampleSpecs(t))
	page := string(render(t, r, HTML))
	all := normative.All()
	if len(all) != len(r.Statements) {
		t.Fatalf("the result has %d statements of %d", len(r.Statements), len(all))
	}
	for _, st := range all {
		id := `id="s-` + strings.Replace(st.Key, "/", "-", 1) + `"`
		i := strings.Index(page, id)
		if i < 0 {
			t.Errorf("%s is not in the page", st.Key)
			continue
		}
		if row, _, _ := strings.Cut(page[i:], "</details>"); st.Testable == "client" && !strings.Contains(row, "untested") {
			t.Errorf("%s: no reason why it is not tested", st.Key)
		}
	}
}

// TestPageStaysSmall renders a run of 3,000 checks, half of them failed with
// long traces of a broker that sends long texts.
func TestPageStaysSmall(t *testing.T) {
	r := Build(RunInfo{Versions: []string{"v311", "v5"}}, nil)
	long := Event{Client: "sub", Dir: "recv", Type: "PUBLISH", Text: strings.Repeat(hostile, 20), Hex: strings.Repeat("ab", 1024), Size: 5000}
	for n := range 3000 {
		s := &r.Statements[n%len(r.Statements)]
		c := Check{Name: fmt.Sprintf("3.3 PUBLISH does what check number %d of this statement says it does", n), Verdict: Pass, Source: "specs/3_03_publish.go:123"}
		if s.Verdict = Pass; n%2 == 0 {
			c.Verdict, c.Observed, c.Expected = Fail, "something else", "something"
			for range 300 {
				c.Trace = append(c.Trace, long)
			}
			s.Verdict = Fail
		}
		s.Checks = append(s.Checks, c)
	}
	r.Summary = summarize(r, 3000)
	page := render(t, r, HTML)
	if len(page) > 2_000_000 {
		t.Errorf("%d bytes, want less than 2 MB", len(page))
	}
	if !bytes.Contains(page, []byte("left out to keep this page small")) || !bytes.Contains(page, []byte("<pre>")) {
		t.Error("want some traces, and a note where they are left out")
	}
	md := render(t, r, Markdown)
	if len(md) > 1<<20 {
		t.Errorf("Markdown has %d bytes, GitHub takes 1 MiB", len(md))
	}
}
