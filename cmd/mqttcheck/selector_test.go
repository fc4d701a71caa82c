package main

import (
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

func TestSelectors(t *testing.T) {
	for _, tc := range []struct {
		text, key string
		want      bool
	}{
		{"v5", "v5/MQTT-3.3.1-4", true},
		{"v5", "v311/MQTT-3.3.1-4", false},
		{"v5/3.3", "v5/MQTT-3.3.1-4", true},
		{"v5/3.1", "v5/MQTT-3.12.4-1", false},
		{"v5/MQTT-3.3.1-1", "v5/MQTT-3.3.1-1", true},
		{"v5/MQTT-3.3.1-1", "v5/MQTT-3.3.1-10", false},
	} {
		s, err := target.ParseSelector(tc.text)
		if err != nil {
			t.Fatal(err)
		}
		st, ok := normative.Lookup(tc.key)
		if !ok {
			t.Fatalf("no statement %s", tc.key)
		}
		if got := matches(s, st); got != tc.want {
			t.Errorf("%s matches %s: %v, want %v", tc.text, tc.key, got, tc.want)
		}
	}
}

func TestASelectorThatNamesNothingShowsTheNearest(t *testing.T) {
	s, err := target.ParseSelector("v5/MQTT-3.3.1-44")
	if err != nil {
		t.Fatal(err)
	}
	_, err = keysOf([]target.Selector{s})
	if code, message := exitCode(err); code != exitNothing || !strings.Contains(message, "v5/MQTT-3.3.1-4") {
		t.Errorf("exit %d %q", code, message)
	}
}
