package shrink

import (
	"slices"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
)

// steps makes a script of two clients: each letter sends one byte.
func steps(letters string) script.Script {
	var s script.Script
	for _, c := range []byte(letters) {
		switch c {
		case '|':
			s = append(s, script.Step{Op: script.Fence})
		case '.':
			s = append(s, script.Step{Op: script.Finish})
		default:
			s = append(s, script.Step{Op: script.Send, Bytes: []byte{c}})
		}
	}
	return s
}

func text(s script.Script) string {
	var b []byte
	for _, st := range s {
		switch st.Op {
		case script.Fence:
			b = append(b, '|')
		case script.Finish:
			b = append(b, '.')
		default:
			b = append(b, st.Bytes...)
		}
	}
	return string(b)
}

func TestScriptLeavesWhatShows(t *testing.T) {
	shows := func(s script.Script) bool {
		got := text(s)
		return slices.Contains([]byte(got), 'x') && slices.Contains([]byte(got), 'y')
	}
	r := Script(t.Context(), steps("ab|xcd|e|yf."), Limits{}, shows)
	if got := text(r.Script); got != "xy" || !r.Whole {
		t.Errorf("%q is left, whole %v", got, r.Whole)
	}
	plays := 0
	r = Script(t.Context(), steps("ab|xcd|e|yf."), Limits{Fits: func(script.Script) bool { return false }}, func(script.Script) bool { plays++; return true })
	if plays > 0 || r.Plays > 0 || text(r.Script) != "ab|xcd|e|yf." {
		t.Errorf("%d plays of what does not fit; %q is left", plays, text(r.Script))
	}
}

// TestSteady has scripts that show something each second time unless a fence, or
// the end of a connection, stands where it has to.
func TestSteady(t *testing.T) {
	for name, k := range map[string]struct {
		script, want string
		sure         func(text string) bool
	}{
		"steady already":  {"xy", "xy", func(string) bool { return true }},
		"needs one fence": {"xy", "x|y", func(s string) bool { return len(s) > 2 && s[:3] == "x|y" }},
		"needs an end":    {"xy", "xy.", func(s string) bool { return s[len(s)-1] == '.' }},
		"never so":        {"xy", "xy", func(string) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			shows := func(s script.Script) bool {
				n++
				return k.sure(text(s)) || n%2 == 0
			}
			got := Steady(t.Context(), steps(k.script), Limits{Plays: 4, Time: time.Minute}, shows)
			if text(got) != k.want {
				t.Errorf("%q becomes %q, want %q", k.script, text(got), k.want)
			}
		})
	}
}
