package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reports"
)

// judge runs the whole program on a broker and returns its exit code and
// result.
func judge(t *testing.T, args ...string) (int, reports.Result, string) {
	t.Helper()
	t.Setenv("MQTTCHECK_URL", "")
	file := filepath.Join(t.TempDir(), "result.json")
	var out, talk bytes.Buffer
	code := mqttcheck(append(append([]string{"run"}, args...), "--json", file), nil, &out, &talk)
	f, err := os.Open(file)
	if err != nil {
		return code, reports.Result{}, talk.String()
	}
	defer f.Close()
	result, err := reports.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return code, result, talk.String()
}

// TestNullBrokers runs the suite on brokers that do nothing worth the name: no
// run succeeds, and each ends in time.
func TestNullBrokers(t *testing.T) {
	for _, tc := range []struct {
		name  string
		start func(testing.TB) string
		exits []int
	}{
		{"close", func(t testing.TB) string { return strangers(t)["CLOSE"] }, []int{exitBroker}},
		{"noise", func(t testing.TB) string { return strangers(t)["NOISE"] }, []int{exitBroker}},
		{"yes", nullYes, []int{exitFail, exitUnsure}},
		{"flood", nullFlood, []int{exitFail, exitUnsure}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Now()
			code, result, talk := judge(t, tc.start(t), "-V", "3.1.1")
			t.Logf("exit %d in %s, %d of %d statements pass", code, time.Since(start).Round(time.Millisecond),
				result.Summary.ByVerdict.Pass, len(result.Statements))
			if code != tc.exits[0] && code != tc.exits[len(tc.exits)-1] {
				t.Errorf("exit %d, want one of %v\n%s", code, tc.exits, talk)
			}
			if took := time.Since(start); took > 40*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}
