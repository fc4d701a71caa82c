package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// TestFieldFaultsAreKnown holds docs/field-faults.md: the defects that it names
// are there, and break the statements that it says find them.
func TestFieldFaultsAreKnown(t *testing.T) {
	text := document(t, "field-faults.md")
	names := regexp.MustCompile("`([^`]+)`")
	faults := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || strings.Contains(line, "found by") {
			continue
		}
		faults++
		var broken []string
		for _, name := range names.FindAllStringSubmatch(cells[2], -1) {
			d, err := core.LookupDefect(name[1])
			if err != nil {
				t.Errorf("%s: %v", cells[0], err)
			}
			broken = append(broken, d.Breaks...)
		}
		if len(broken) == 0 && (cells[2] != "none" || strings.Trim(cells[3], " |") == "") {
			t.Errorf("%s: neither a defect nor a reason", cells[0])
		}
		for _, key := range names.FindAllStringSubmatch(cells[3], -1) {
			_, known := normative.Lookup(key[1])
			switch {
			case !strings.HasPrefix(key[1], "v"):
			case !known:
				t.Errorf("%s: there is no statement %s", cells[0], key[1])
			case !slices.Contains(broken, key[1]):
				t.Errorf("%s: none of the defects breaks %s", cells[0], key[1])
			}
		}
	}
	if faults < 150 {
		t.Errorf("%d faults, which is too few: is the document in the form that is read here?", faults)
	}
}
