package main

import (
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reports"
)

// The proof: every defect of the reference broker is caught by the checks of
// exactly the statements that it declares, and every check can fail.
//
// A plain test run judges each defect by the checks of its statements and some
// others. With MQTTCHECK_PROOF=all (or i/n for a share) each defect meets the
// whole suite, and what was seen is written to the kill matrix.

// matrix is the kill matrix that the whole proof writes.
var matrix = filepath.Join("..", "..", "docs", "proof.tsv")

// kill is one check that a defect has moved off pass.
type kill struct{ defect, statement, check, verdict string }

func (k kill) String() string {
	return strings.Join([]string{k.defect, k.statement, k.check, k.verdict}, "\t")
}

// judgeDefect runs the suite, or the selected statements, on the reference
// with one defect and returns the checks that failed or warned.
func judgeDefect(t *testing.T, d core.Defect, selectors ...string) []kill {
	t.Helper()
	args := append([]string{"--defect", d.Name, "--timeout", "250ms", "--second", "50ms"}, selectors...)
	_, result, talk := judge(t, args...)
	if len(result.Statements) == 0 {
		t.Fatalf("%s: no result: %s", d.Name, talk)
	}
	kills := []kill{}
	for _, st := range result.Statements {
		for _, c := range st.Checks {
			if c.Verdict == reports.Error {
				t.Errorf("%s: %s: %s is an error: %s", d.Name, st.ID, c.Name, c.Reason)
			}
			if (c.Verdict == reports.Fail || c.Verdict == reports.Warn) && !c.Elsewhere {
				kills = append(kills, kill{d.Name, st.ID, c.Name, string(c.Verdict)})
			}
		}
	}
	return kills
}

// hold holds what a defect has moved against what it declares.
func hold(t *testing.T, d core.Defect, kills []kill) {
	t.Helper()
	grade := "fail"
	if d.Shows == core.Warn {
		grade = "warn"
	}
	for _, key := range d.Breaks {
		if !slices.ContainsFunc(kills, func(k kill) bool { return k.statement == key && k.verdict == grade }) {
			t.Errorf("%s: no check of %s becomes %s", d.Name, key, grade)
		}
	}
	for _, k := range kills {
		if !slices.Contains(d.Breaks, k.statement) {
			t.Errorf("%s: it does not declare %s, of which %q becomes %s", d.Name, k.statement, k.check, k.verdict)
		}
	}
}

func TestProofDefectsAreCaught(t *testing.T) {
	share := os.Getenv("MQTTCHECK_PROOF")
	if testing.Short() {
		t.Skip("the proof takes minutes: leave -short out")
	}
	i, n := 0, 1
	if share != "" && share != "all" {
		if _, err := fmt.Sscanf(share, "%d/%d", &i, &n); err != nil || n < 1 || i < 1 || i > n {
			t.Fatalf("MQTTCHECK_PROOF is %q: write all, or i/n", share)
		}
		i--
	}
	only := os.Getenv("MQTTCHECK_DEFECT")
	var all []kill
	for at, d := range core.Defects() {
		if at%n != i || only != "" && !strings.HasPrefix(d.Name, only) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			var selectors []string
			if share == "" {
				selectors = append(slices.Clone(d.Breaks), others(d.Name)...)
			}
			kills := judgeDefect(t, d, selectors...)
			hold(t, d, kills)
			all = append(all, kills...)
		})
	}
	if share != "" && only == "" {
		writeMatrix(t, all, n > 1)
	}
}

// others draws checks that a defect should leave alone, by a hash of its name.
func others(name string) []string {
	h := fnv.New32a()
	h.Write([]byte(name))
	checks := allChecks()
	var keys []string
	for k := range uint32(20) {
		if c := checks[(h.Sum32()+k*7919)%uint32(len(checks))]; !c.Timing && len(c.Keys) > 0 {
			keys = append(keys, c.Keys[0])
		}
	}
	return keys
}

// writeMatrix writes the kills, sorted; a share adds to what is there.
func writeMatrix(t *testing.T, kills []kill, add bool) {
	t.Helper()
	lines := []string{}
	if add {
		lines = matrixLines(t)
	}
	for _, k := range kills {
		lines = append(lines, k.String())
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	text := "defect\tstatement\tcheck\tverdict\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(matrix, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func matrixLines(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(matrix)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[1:]
}

// TestProofIsWhole holds the kill matrix against the suite: no defect and no
// check is missing in it.
func TestProofIsWhole(t *testing.T) {
	killed, caught := map[string]bool{}, map[string]bool{}
	for _, line := range matrixLines(t) {
		f := strings.Split(line, "\t")
		caught[f[0]], killed[f[2]] = true, true
	}
	for _, d := range core.Defects() {
		if !caught[d.Name] {
			t.Errorf("no check catches the defect %s: run make proof", d.Name)
		}
	}
	for _, c := range allChecks() {
		observes := slices.Contains(c.preview.Labels(), "kind:observation")
		alwaysSkipped := strings.Contains(c.Name, "6 WebSocket")
		if !killed[reports.CheckName(c.preview)] && !observes && !alwaysSkipped {
			t.Errorf("no defect kills the check %q", c.Name)
		}
	}
}
