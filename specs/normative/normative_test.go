package normative_test

import (
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
