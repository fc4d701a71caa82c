package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reports"
)

// judge runs the whole program on a broker and returns its exit code and
// result.
func judge(t *testing.T, args ...string) (int, reports.Result, string) {
	t.Helper()
	t.Setenv("MQTTCHECK_URL", "")
	return judged(t, args)
}

// judged is judge for several runs at a time: they mostly wait.
func judged(t *testing.T, args []string) (int, reports.Result, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "result.json")
	var out, talk bytes.Buffer
	code := mqttcheck(append(append([]string{"run"}, args...), "--json", file), nil, &out, &talk)
	if _, err := os.Stat(file); err != nil {
		return code, reports.Result{}, talk.String()
	}
	return code, resultIn(t, file), talk.String()
}

// resultIn reads the result that a run has written.
func resultIn(t *testing.T, file string) reports.Result {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	result, err := reports.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// nullPasses are the numbered statements that a broker may keep which
// acknowledges everything and delivers nothing, and why.
var nullPasses = map[string]string{
	"v311/MQTT-2.2.2-1":  "its packets have the flag bits of their types",
	"v311/MQTT-2.3.1-7":  "SUBACK and UNSUBACK repeat the identifier",
	"v311/MQTT-3.1.3-5":  "it takes every Client Identifier",
	"v311/MQTT-3.1.3-6":  "two clients without a Client Identifier stay connected",
	"v311/MQTT-3.1.4-4":  "it answers CONNECT with code 0",
	"v311/MQTT-3.2.2-1":  "Session Present is always 0",
	"v311/MQTT-3.2.2-3":  "Session Present is always 0",
	"v311/MQTT-3.8.4-2":  "SUBACK repeats the identifier",
	"v311/MQTT-3.8.4-5":  "SUBACK has a code for each filter",
	"v311/MQTT-3.9.3-1":  "the codes are those asked for",
	"v311/MQTT-3.9.3-2":  "the codes are those asked for",
	"v311/MQTT-3.10.4-4": "UNSUBACK repeats the identifier",
	"v311/MQTT-3.10.4-5": "it answers every UNSUBSCRIBE",
	"v311/MQTT-3.12.4-1": "it answers PINGREQ",
	"v311/MQTT-7.1.1-1":  "it is reached over TCP",
}

// floodPasses are those that one may keep besides which copies each PUBLISH to
// every subscriber. A check that saw a delivery is inconclusive there: see
// witness in specs/probe.
var floodPasses = map[string]string{
	"v311/MQTT-3.8.4-1": "it answers each SUBSCRIBE, and a copy of what is published arrives",
	"v311/MQTT-2.3.1-6": "PUBACK, PUBREC and PUBREL repeat the identifier",
	"v311/MQTT-3.1.2-6": "it stores nothing, so that a clean Session finds nothing",
	"v311/MQTT-3.3.1-7": "it retains nothing, so that nothing old is left",
	"v311/MQTT-3.3.1-8": "it copies the RETAIN flag of messages that reach a subscriber too early",
	"v311/MQTT-4.1.0-2": "a message reaches a client that has been quiet for a while",
	"v311/MQTT-3.3.4-1": "it answers each PUBLISH as its QoS asks for, and a copy arrives",
	"v311/MQTT-4.3.2-2": "it acknowledges and copies whatever comes under a Packet Identifier",
	"v311/MQTT-4.6.0-4": "it answers each PUBREC with PUBREL at once",
	"v311/MQTT-4.6.0-5": "it copies each message as it comes, hence in order",
}

// nullPasses5 and floodPasses5 are the same for MQTT 5.0.
var nullPasses5 = map[string]string{
	"v5/MQTT-1.5.5-1":  "its lengths are short",
	"v5/MQTT-2.2.1-6":  "SUBACK and UNSUBACK repeat the identifier",
	"v5/MQTT-2.2.2-1":  "its packets have a Property Length",
	"v5/MQTT-3.1.2-28": "it sends no Response Information",
	"v5/MQTT-3.1.3-5":  "it takes every Client Identifier",
	"v5/MQTT-3.1.3-6":  "two clients without a Client Identifier stay connected",
	"v5/MQTT-3.1.4-5":  "it answers CONNECT with code 0",
	"v5/MQTT-3.2.2-1":  "the other bits of the flags are 0",
	"v5/MQTT-3.2.2-2":  "Session Present is always 0",
	"v5/MQTT-3.2.2-8":  "the code of its CONNACK is one",
	"v5/MQTT-3.8.4-2":  "SUBACK repeats the identifier",
	"v5/MQTT-3.8.4-6":  "SUBACK has a code for each filter",
	"v5/MQTT-3.9.3-2":  "the codes are those asked for",
	"v5/MQTT-3.10.4-4": "UNSUBACK repeats the identifier",
	"v5/MQTT-3.10.4-5": "it answers every UNSUBSCRIBE",
	"v5/MQTT-3.11.3-2": "the codes of UNSUBACK are some",
	"v5/MQTT-3.12.4-1": "it answers PINGREQ",
	"v5/MQTT-4.2-1":    "it is reached over TCP",
	"v5/MQTT-4.12.0-6": "it sends no AUTH",
}

var floodPasses5 = map[string]string{
	"v5/MQTT-2.2.1-5": "PUBACK, PUBREC and PUBREL repeat the identifier",
	"v5/MQTT-3.2.2-9": "it announces no Maximum QoS, and copies at every QoS",
	"v5/MQTT-3.3.1-7": "it retains nothing, so that nothing old is left",
	"v5/MQTT-3.3.4-1": "it answers each PUBLISH as its QoS asks for, and a copy arrives",
	"v5/MQTT-3.6.2-1": "the code of its PUBREL is one",
	"v5/MQTT-3.8.4-1": "it answers each SUBSCRIBE, and a copy of what is published arrives",
	"v5/MQTT-3.8.4-7": "its codes are those asked for, and copies arrive so",
	"v5/MQTT-3.9.3-1": "its codes are those asked for, and copies arrive so",
	"v5/MQTT-4.1.0-1": "a message reaches a client that has been quiet for a while",
	"v5/MQTT-4.3.2-4": "it acknowledges each message, and a copy arrives",
	"v5/MQTT-4.3.2-5": "it acknowledges and copies whatever comes under a Packet Identifier",
	"v5/MQTT-4.6.0-6": "it copies each message as it comes, hence in order",
}

// nullRun is what came of a run on a null broker.
type nullRun struct {
	code   int
	result reports.Result
	talk   string
	took   time.Duration
}

// TestNullBrokers runs the suite on brokers that do nothing worth the name: no
// run succeeds, each ends in time, and hardly a statement passes.
func TestNullBrokers(t *testing.T) {
	cases := []struct {
		name    string
		start   func(testing.TB) string
		version string
		exits   []int
		ceiling int
		passes  []map[string]string
	}{
		{"close", func(t testing.TB) string { return strangers(t)["CLOSE"] }, "3.1.1", []int{exitBroker}, 0, nil},
		{"noise", func(t testing.TB) string { return strangers(t)["NOISE"] }, "3.1.1", []int{exitBroker}, 0, nil},
		{"yes", nullYes, "3.1.1", []int{exitFail, exitUnsure}, 20, []map[string]string{nullPasses}},
		{"flood", nullFlood, "3.1.1", []int{exitFail, exitUnsure}, 25, []map[string]string{nullPasses, floodPasses}},
		{"yes-5", nullYes, "5", []int{exitFail, exitUnsure}, 20, []map[string]string{nullPasses5}},
		{"flood-5", nullFlood, "5", []int{exitFail, exitUnsure}, 25, []map[string]string{nullPasses5, floodPasses5}},
	}
	t.Setenv("MQTTCHECK_URL", "")
	runs := make([]nullRun, len(cases))
	inParallel(len(cases), 2, func(i int) {
		start := time.Now()
		runs[i].code, runs[i].result, runs[i].talk = judged(t, []string{cases[i].start(t), "-V", cases[i].version})
		runs[i].took = time.Since(start)
	})
	for i, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			run := runs[i]
			if !slices.Contains(tc.exits, run.code) {
				t.Errorf("exit %d, want one of %v\n%s", run.code, tc.exits, run.talk)
			}
			passed := 0
			for _, st := range run.result.Statements {
				if st.Verdict != reports.Pass || !strings.Contains(st.ID, "/MQTT-") {
					continue
				}
				passed++
				if !slices.ContainsFunc(tc.passes, func(known map[string]string) bool { return known[st.ID] != "" }) {
					t.Errorf("%s passes, and no reason for that is known", st.ID)
				}
			}
			if passed > tc.ceiling {
				t.Errorf("%d numbered statements pass, more than %d", passed, tc.ceiling)
			}
			t.Logf("exit %d in %s, %d numbered statements pass", run.code, run.took.Round(time.Millisecond), passed)
		})
	}
}
