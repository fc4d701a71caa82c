package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// matrix is the kill matrix: which defect moves which check.
var matrix = filepath.Join("..", "..", "docs", "proof.tsv")

const matrixHead = "defect\tstatement\tcheck\tverdict\n"

// kill is one check that a defect has moved off pass.
type kill struct{ defect, statement, check, verdict string }

func (k kill) line() string {
	return strings.Join([]string{k.defect, k.statement, k.check, k.verdict}, "\t")
}

// target names what was killed: a check of a version, or the standing check of
// one statement.
func (k kill) target() string {
	v, _, _ := strings.Cut(k.statement, "/")
	if strings.HasPrefix(k.check, "standing:") {
		return v + " standing check of " + k.statement
	}
	return v + " " + k.check
}

type kills []kill

// of tells whether a check of the statement has come to the verdict.
func (list kills) of(statement, verdict string) bool {
	return slices.ContainsFunc(list, func(k kill) bool { return k.statement == statement && k.verdict == verdict })
}

func readMatrix(t *testing.T) []kill {
	t.Helper()
	b, err := os.ReadFile(matrix)
	if err != nil {
		t.Fatal(err)
	}
	var kills []kill
	for line := range strings.Lines(strings.TrimPrefix(string(b), matrixHead)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != 4 {
			t.Fatalf("%s: %q", matrix, line)
		}
		kills = append(kills, kill{f[0], f[1], f[2], f[3]})
	}
	return kills
}

// writeMatrix writes what the trials moved, sorted. What was known of defects
// that they are not about stays, as long as there are such defects.
func writeMatrix(t *testing.T, trials []trial) {
	t.Helper()
	tried := map[string]bool{}
	var lines []string
	for _, tr := range trials {
		tried[tr.defect.Name] = true
		if len(tr.problems()) > 0 {
			continue // only what is exact counts
		}
		for _, k := range tr.kills {
			lines = append(lines, k.line())
		}
	}
	if _, err := os.Stat(matrix); err == nil {
		for _, k := range readMatrix(t) {
			if _, err := core.LookupDefect(k.defect); err == nil && !tried[k.defect] {
				lines = append(lines, k.line())
			}
		}
	}
	slices.Sort(lines)
	text := matrixHead + strings.Join(slices.Compact(lines), "\n") + "\n"
	if err := os.MkdirAll(filepath.Dir(matrix), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(matrix, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
