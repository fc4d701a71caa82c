package reports

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// renderings is every format in which a broker's text is shown.
var renderings = map[string]func(io.Writer, Result) error{
	"text": text(false), "JSON": JSON, "JUnit": JUnit, "Markdown": Markdown, "HTML": HTML,
}

// TestNothingUnprintable is the rule for all formats: no character that moves
// a cursor, hides, or turns the direction of text.
func TestNothingUnprintable(t *testing.T) {
	for name, f := range renderings {
		out := render(t, sample(t), f)
		if !utf8.Valid(out) {
			t.Errorf("%s: not UTF-8", name)
		}
		for i, r := range string(out) {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s: %U at byte %d: %q", name, r, i, out[max(0, i-30):min(len(out), i+30)])
				break
			}
		}
		if !bytes.Contains(out, []byte("everyone")) {
			t.Errorf("%s: the hostile text does not occur, the test shows nothing", name)
		}
	}
}

// TestColourIsOnlyOurs takes our own colours away: the rest is the plain text.
func TestColourIsOnlyOurs(t *testing.T) {
	plain := render(t, sample(t), text(false))
	colour := render(t, sample(t), text(true))
	if !bytes.Contains(colour, []byte("\x1b[31m")) {
		t.Fatal("no colour")
	}
	sgr := regexp.MustCompile("\x1b\\[(0|1|2|3[1-5]|1;3[1-5])m")
	if !bytes.Equal(sgr.ReplaceAll(colour, nil), plain) {
		t.Error("colour changes more than colour")
	}
}

// TestNoWorkflowCommand: GitHub takes a line that begins with "::" after
// spaces, or has "##[", for a command.
func TestNoWorkflowCommand(t *testing.T) {
	r := sample(t)
	c := &r.Statements[0].Checks[0]
	c.Verdict, r.Statements[0].Verdict = Fail, Fail
	c.Observed = strings.Repeat("x", 70) + " ::error::wrapped to the start of a line ##[error]old"
	c.Trace = []Event{{Dir: "note", Text: "::stop-commands::x\n::add-mask::e"}}
	for name, f := range renderings {
		for line := range strings.Lines(string(render(t, r, f))) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
				t.Errorf("%s: %q", name, line)
			}
		}
	}
}

func TestNoCredentials(t *testing.T) {
	for name, f := range renderings {
		if out := render(t, sample(t), f); bytes.Contains(out, []byte("secret")) || bytes.Contains(out, []byte("joe")) {
			t.Errorf("%s shows a user name or password", name)
		}
	}
}

func TestMarkdownHasNoMeaningOfTheBroker(t *testing.T) {
	fence := ""
	for line := range strings.Lines(string(render(t, sample(t), Markdown))) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimRight(line, "abcdefghijklmnopqrstuvwxyz")
			continue
		case fence != "" && line == fence:
			fence = ""
			continue
		case fence != "":
			if strings.HasPrefix(line, fence) {
				t.Errorf("a fence inside a fence: %q", line)
			}
			continue
		}
		for _, bad := range []string{"<script", "`code`", "**bold**", "[x](", "@everyone", "http://evil"} {
			if strings.Contains(line, bad) {
				t.Errorf("%q in %q", bad, line)
			}
		}
		if strings.HasPrefix(line, "|") && strings.Contains(line, "evil") && strings.Count(line, "|") != 4 {
			t.Errorf("the text breaks the table: %q", line)
		}
	}
	if fence != "" {
		t.Error("a fence is not closed")
	}
	if got := fenceFor("a ```` b"); got != "`````" {
		t.Errorf("fence %q", got)
	}
}

func TestJUnitIsWellFormed(t *testing.T) {
	data := render(t, sample(t), JUnit)
	names := map[string]bool{}
	d := xml.NewDecoder(bytes.NewReader(data))
	counts := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		counts[start.Name.Local]++
		if start.Name.Local != "testcase" {
			continue
		}
		name := start.Attr[0].Value + " in " + start.Attr[1].Value
		if names[name] {
			t.Errorf("two cases are called %q; GitLab shows one", name)
		}
		names[name] = true
	}
	for element, want := range map[string]int{"testcase": 14, "failure": 2, "error": 1, "skipped": 6, "script": 0} {
		if counts[element] != want {
			t.Errorf("%d elements %s, want %d", counts[element], element, want)
		}
	}
	var root junitSuites
	if err := xml.Unmarshal(data, &root); err != nil || root.Tests != 14 || root.Failures != 2 || root.Errors != 1 || root.Skipped != 6 {
		t.Errorf("totals %+v, %v", root, err)
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain $SYS/# é 漢 ✓":         "plain $SYS/# é 漢 ✓",
		"\x1b[2J\x07\x7f":            `\x1b[2J\x07\x7f`,
		"\u009b31m":                  `\u009b31m`,
		"a\u202eb\u2066\u200b\ufeff": `a\u202eb\u2066\u200b\ufeff`,
		"\xff\xc3":                   `\xff\xc3`,
		"a\r\n\tb\u2028":             `a\r\n\tb\u2028`,
		"\U000e0041":                 `\U000e0041`,
	} {
		if got := Visible(in); got != want {
			t.Errorf("Visible(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestJSONKeepsTheText(t *testing.T) {
	r := sample(t)
	r.Broker.Name = "a\u202e\u009b\x7f\U000e0041b"
	var back Result
	data := render(t, r, JSON)
	if err := json.Unmarshal(data, &back); err != nil || back.Broker.Name != r.Broker.Name {
		t.Errorf("%q came back as %q, %v", r.Broker.Name, back.Broker.Name, err)
	}
	if !bytes.Contains(data, []byte(`a\u202e\u009b\u007f\udb40\udc41b`)) {
		t.Error("not escaped")
	}
}
