package normative_test

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

func TestTheCatalogueIsWhole(t *testing.T) {
	for version, want := range map[string]struct {
		numbered, ours int
		testable       map[string]int
	}{
		normative.V311: {141, 82, map[string]int{"broker": 120, "timing": 2, "config": 5, "client": 10, "none": 4}},
		normative.V5:   {251, 385, map[string]int{"broker": 206, "timing": 10, "config": 19, "client": 15, "none": 1}},
	} {
		numbered, ours, testable := 0, 0, map[string]int{}
		for _, st := range normative.All(version) {
			if !st.Numbered {
				ours++
				continue
			}
			numbered++
			testable[st.Testable]++
		}
		if numbered != want.numbered || ours != want.ours {
			t.Errorf("%s: %d numbered statements and %d of ours, want %d and %d", version, numbered, ours, want.numbered, want.ours)
		}
		for kind, n := range want.testable {
			if testable[kind] != n {
				t.Errorf("%s: %d statements are testable as %q, want %d", version, testable[kind], kind, n)
			}
		}
	}
}

func TestEveryRowIsSound(t *testing.T) {
	seen := map[string]bool{}
	for _, st := range normative.All() {
		if seen[st.Key] {
			t.Errorf("%s stands twice", st.Key)
		}
		seen[st.Key] = true
		if st.Summary == "" || st.Section == "" || st.Title == "" {
			t.Errorf("%s: summary, section or title is empty", st.Key)
		}
		if st.Actor != "server" && st.Actor != "client" && st.Actor != "both" {
			t.Errorf("%s: actor %q", st.Key, st.Actor)
		}
		if !st.Observable() && st.Reason == "" {
			t.Errorf("%s cannot be observed, and no reason is given", st.Key)
		}
		if strings.ContainsAny(st.Key, " \t&|!,()") {
			t.Errorf("%s: the key cannot be a label", st.Key)
		}
		for _, other := range append(st.Counterparts, st.DuplicateOf...) {
			if _, ok := normative.Lookup(other); !ok {
				t.Errorf("%s refers to %s, which does not exist", st.Key, other)
			}
		}
	}
}

func TestKeysAndLabels(t *testing.T) {
	const key = "v5/MQTT-3.3.1-10"
	st, ok := normative.Lookup(key)
	if !ok || st.ID != "MQTT-3.3.1-10" || st.Version != normative.V5 {
		t.Fatalf("Lookup(%q) = %+v, %v", key, st, ok)
	}
	other, _ := normative.Lookup("v311/MQTT-3.3.1-10")
	if other.Summary == st.Summary {
		t.Error("the same number means different things in the two versions")
	}
	if got, ok := normative.FromLabel(normative.Label(key)); !ok || got != key {
		t.Errorf("FromLabel(Label(%q)) = %q, %v", key, got, ok)
	}
	if _, ok := normative.Lookup("MQTT-3.3.1-10"); ok {
		t.Error("a bare number is no key")
	}
}

func TestNearestFindsWhatWasMeant(t *testing.T) {
	for written, want := range map[string]string{
		"v5/MQTT-3.3.1-44":  "v5/MQTT-3.3.1-4",
		"MQTT-3.3.1-4":      "v311/MQTT-3.3.1-4",
		"v311/mqtt-3.1.2-1": "v311/MQTT-3.1.2-1",
	} {
		if got := normative.Nearest(written, 3); len(got) != 3 || got[0] != want {
			t.Errorf("Nearest(%q) = %q, want %q first", written, got, want)
		}
	}
}

// Statements stand in the order of the specification: by section, in a section
// the numbered ones first and by number, then ours by name.
func TestStatementsStandInTheOrderOfTheSpecification(t *testing.T) {
	for _, version := range []string{normative.V311, normative.V5} {
		all := normative.All(version)
		for i := range all[1:] {
			if before(all[i+1], all[i]) {
				t.Errorf("%s stands behind %s", all[i+1].Key, all[i].Key)
			}
		}
	}
	both := normative.All()
	if len(both) != 141+251+467 || both[0].Version != normative.V311 {
		t.Errorf("%d statements of both versions, the first is %s", len(both), both[0].Key)
	}
}

func before(a, b normative.Statement) bool {
	if c := slices.Compare(numbers(a.Section), numbers(b.Section)); c != 0 {
		return c < 0
	}
	if a.Numbered != b.Numbered {
		return a.Numbered
	}
	if a.Numbered {
		return slices.Compare(numbers(a.ID), numbers(b.ID)) < 0
	}
	return cmp.Less(a.Key, b.Key)
}

var digits = regexp.MustCompile(`[0-9]+`)

// numbers returns the numbers of a section or id; of "3.2, 3.4" the first's.
func numbers(text string) []int {
	first, _, _ := strings.Cut(text, ",")
	var list []int
	for _, d := range digits.FindAllString(first, -1) {
		n, _ := strconv.Atoi(d)
		list = append(list, n)
	}
	return list
}

func TestColumnsHoldOnlyTheirWords(t *testing.T) {
	words := map[string][]string{
		"testability": {"broker", "timing", "config", "restart", "client", "none"},
		"basis":       {"", "explicit", "stated", "derived", "by packet"},
		"level":       {"MUST", "SHOULD", "MAY", "STATED"},
	}
	section := regexp.MustCompile(`^[0-9]+(\.[0-9]+)*(, ?[0-9]+(\.[0-9]+)*)*$`)
	bare := regexp.MustCompile(`(^|[^/])MQTT-[0-9]`)
	bases := map[string]int{}
	for _, st := range normative.All() {
		for column, value := range map[string]string{"testability": st.Testable, "basis": st.Basis, "level": st.Level()} {
			if !slices.Contains(words[column], value) {
				t.Errorf("%s: %s is %q", st.Key, column, value)
			}
		}
		if !section.MatchString(st.Section) {
			t.Errorf("%s: section %q", st.Key, st.Section)
		}
		if st.Observable() && st.Reason != "" {
			t.Errorf("%s can be observed, yet there is a reason against it: %s", st.Key, st.Reason)
		}
		if bare.MatchString(st.Reason) {
			t.Errorf("%s: the reason names a statement without its version: %s", st.Key, st.Reason)
		}
		if strings.Contains(st.Summary+st.Reason, ".tsv") {
			t.Errorf("%s names a file: %s %s", st.Key, st.Summary, st.Reason)
		}
		bases[st.Basis]++
	}
	for basis, want := range map[string]int{"explicit": 59, "stated": 24, "derived": 24, "by packet": 5} {
		if bases[basis] != want {
			t.Errorf("%d statements have the basis %q, want %d", bases[basis], basis, want)
		}
	}
}

// What binds a server where the specification gives no number is what the text
// says of the case, unless that is our reading.
func TestBinding(t *testing.T) {
	for key, want := range map[string]string{
		"v311/MQTT-3.8.1-1":            "explicit",
		"v311/MQTT-3.8.3-3":            "stated",
		"v311/MQTT-4.7.1-1":            "derived",
		"v5/MQTT-4.13.1-1":             "",
		"v311/2.2.1-server-only-types": "stated",
		"v311/3.12-pingreq-length":     "stated",
		"v5/3.12.1-pingreq-with-body":  "derived",
		"v5/2.1.2-packet-type-0":       "derived",
		"v5/3.3.2.3.4-alias-zero":      "stated",
	} {
		st, ok := normative.Lookup(key)
		if !ok || st.Binding() != want {
			t.Errorf("%s (known: %v) has the binding %q, want %q", key, ok, st.Binding(), want)
		}
	}
}

// A counterpart is of the other version, and what a duplicate points to of the
// same one and itself no duplicate: a check of it serves both.
func TestReferencesPointTheRightWay(t *testing.T) {
	for _, st := range normative.All() {
		for _, key := range st.Counterparts {
			if other, ok := normative.Lookup(key); !ok || other.Version == st.Version {
				t.Errorf("%s: %q is no statement of the other version", st.Key, key)
			}
		}
		for _, key := range st.DuplicateOf {
			if other, ok := normative.Lookup(key); !ok || other.Version != st.Version || len(other.DuplicateOf) > 0 || st.Numbered {
				t.Errorf("%s is said to be %q again", st.Key, key)
			}
		}
	}
}
