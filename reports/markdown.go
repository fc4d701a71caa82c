package reports

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// maxMarkdown bounds the Markdown report: GitHub takes 1 MiB a step.
const maxMarkdown = 900_000

// Markdown writes the result for a job summary, a comment or an issue.
func Markdown(w io.Writer, r Result) error {
	var b bytes.Buffer
	h := r.headline()
	sign := map[string]string{"good": "✓", "bad": "✗", "open": "?"}[h.Mood]
	fmt.Fprintf(&b, "### %s %s: %s\n\n", sign, markdownText(r.broker()), strings.ToLower(h.Head))
	fmt.Fprintf(&b, "**%s**", markdownText(strings.ToUpper(h.Detail[:1])+h.Detail[1:]))
	if h.Rest != "" {
		fmt.Fprintf(&b, " %s", markdownText(h.Rest))
	}
	fmt.Fprintf(&b, "\n\n%s · seed `%d`\n\n", r.footer(), r.Run.Seed)
	markdownLevels(&b, r)
	list := attention(r)
	if len(list) > 0 {
		b.WriteString("| | Statement | What happened |\n|---|---|---|\n")
		for _, s := range list {
			fmt.Fprintf(&b, "| %s %s | %s<br>%s | %s |\n", s.Verdict.glyph(), s.Verdict,
				markdownCode(s.ID), markdownText(s.Summary), markdownCode(clip(firstLine(s), 300)))
		}
		b.WriteString("\n")
	}
	for i, s := range list {
		var one bytes.Buffer
		markdownStatement(&one, r, s)
		if b.Len()+one.Len() > maxMarkdown {
			fmt.Fprintf(&b, "The packets of %s are left out here; the HTML report has them.\n\n", plural(len(list)-i, "statement", "statements"))
			break
		}
		b.Write(one.Bytes())
	}
	if len(r.Observations) > 0 {
		b.WriteString("<details><summary>How the broker uses its freedoms</summary>\n\n| Section | Freedom | Observed |\n|---|---|---|\n")
		for _, o := range r.Observations {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", markdownText(o.Section), markdownCode(o.Key), markdownCode(clip(o.Value, 300)))
		}
		b.WriteString("\n</details>\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

func markdownLevels(b *bytes.Buffer, r Result) {
	b.WriteString("| |")
	for _, v := range Verdicts {
		fmt.Fprintf(b, " %s |", v)
	}
	b.WriteString(" of |\n|---|" + strings.Repeat("---:|", len(Verdicts)+1) + "\n")
	for _, level := range levels(r.Summary) {
		c := r.Summary.ByLevel[level]
		fmt.Fprintf(b, "| %s |", markdownText(level))
		for _, v := range Verdicts {
			if n := c.Of(v); n > 0 {
				fmt.Fprintf(b, " %d |", n)
			} else {
				b.WriteString(" |")
			}
		}
		fmt.Fprintf(b, " %d |\n", c.Total())
	}
	b.WriteString("\n")
}

func markdownStatement(b *bytes.Buffer, r Result, s Statement) {
	fmt.Fprintf(b, "<details><summary>%s %s</summary>\n\n", s.Verdict.glyph(), markdownCode(s.ID))
	for _, c := range s.Checks {
		if c.Verdict == Pass || c.Verdict == Info {
			continue
		}
		body := "check: " + visibleLines(c.Name) + " (" + string(c.Verdict) + ")" + evidence(s, c)
		fence := fenceFor(body)
		fmt.Fprintf(b, "%stext\n%s\n%s\n\n", fence, strings.TrimRight(body, "\n"), fence)
	}
	command := r.Again(s.ID)
	fence := fenceFor(command)
	fmt.Fprintf(b, "%ssh\n%s\n%s\n\n</details>\n\n", fence, command, fence)
}

// fenceFor returns a fence of backticks longer than any in the text.
func fenceFor(s string) string {
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}

// markdownText returns text in one line without meaning to Markdown, HTML or
// GitHub: all ASCII punctuation that could have one is a character reference.
func markdownText(s string) string {
	var b strings.Builder
	for _, r := range oneLine(s) {
		if r < 0x80 && strings.ContainsRune("\\`*_{}[]()<>#+!|~&@:$^=", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// markdownCode is markdownText as code: GitHub makes no mentions or references
// of it.
func markdownCode(s string) string { return "<code>" + markdownText(s) + "</code>" }
