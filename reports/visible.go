package reports

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with everything that does not print as itself written out:
// control characters of both ranges, what turns the direction of text, is
// invisible or breaks a line ("\u202e"), and bytes that are no UTF-8 ("\xff").
// What is left can neither move a cursor nor hide, nor command the log of a
// CI system ("##["). A line break becomes "\n".
func Visible(s string) string {
	s = strings.ReplaceAll(s, "##[", `#\u0023[`)
	if plain(s) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case unicode.IsPrint(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// visibleLines is Visible for text that may have several lines: line breaks
// stay, a tab is four spaces.
func visibleLines(s string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, line := range lines {
		lines[i] = noCommand(Visible(strings.ReplaceAll(line, "\t", "    ")))
	}
	return strings.Join(lines, "\n")
}

// noCommand keeps a line from being a workflow command of GitHub, which begins
// with "::" after any number of spaces.
func noCommand(line string) string {
	if rest := strings.TrimLeft(line, " "); strings.HasPrefix(rest, "::") {
		return line[:len(line)-len(rest)] + `\u003a` + rest[1:]
	}
	return line
}

// clip shortens s to n bytes or less, between two characters.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + " …"
}
