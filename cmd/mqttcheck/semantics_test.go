package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// TestSemanticsNamesWhatThereIs holds docs/semantics.md against the catalogue,
// the defects and the policies.
func TestSemanticsNamesWhatThereIs(t *testing.T) {
	text := document(t, "semantics.md")
	var defects, policies []string
	for _, d := range core.Defects() {
		defects = append(defects, d.Name)
	}
	for _, p := range core.Policies() {
		policies = append(policies, p.Name)
	}
	named := func(kind, row string, known []string) {
		for _, list := range regexp.MustCompile(`(?:`+kind+`) ([a-z0-9-]+(?:, [a-z0-9-]+)*)`).FindAllStringSubmatch(row, -1) {
			for _, name := range strings.Split(list[1], ", ") {
				if name != "of" && !slices.Contains(known, name) {
					t.Errorf("there is no %s %q: %s", kind, name, row)
				}
			}
		}
	}
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "| **") {
			continue
		}
		cells := strings.Split(line, "|")
		moved := cells[len(cells)-2]
		named("defects?", moved, defects)
		named("policy|policies", moved, policies)
		for _, id := range regexp.MustCompile(`MQTT-[0-9.]+-[0-9]+`).FindAllString(line, -1) {
			_, five := normative.Lookup("v5/" + id)
			_, three := normative.Lookup("v311/" + id)
			if !five && !three {
				t.Errorf("there is no statement %s: %s", id, line)
			}
		}
	}
}

// document returns the text of a file of docs.
func document(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "docs"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
