package main

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// fewestPasses is how many of the observable numbered statements of a version
// Debian's mosquitto is known to keep at the least: fewer are a fault of the
// suite.
var fewestPasses = map[string]int{"v311": 105, "v5": 180}

// TestMosquittoIsJudgedAsArgued runs the suite on a real broker that others
// wrote. What the suite says against it has to be argued in docs/findings.
func TestMosquittoIsJudgedAsArgued(t *testing.T) {
	program := proc.Need(t, "mosquitto")
	argued, same := findings(t, program)
	broker, url, err := proc.StartMosquitto(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = broker.Stop() })

	code, result, talk := judge(t, url)
	if code != exitOK && code != exitFail {
		t.Fatalf("exit %d: %s", code, talk)
	}
	if err := broker.Alive(); err != nil {
		t.Errorf("after the run: %v", err)
	}
	passed := map[string]int{}
	for _, st := range result.Statements {
		known, _ := normative.Lookup(st.ID)
		switch observable := known.Numbered && known.Observable(); {
		case st.Verdict == reports.Pass && observable:
			passed[known.Key[:strings.Index(known.Key, "/")]]++
		case st.Verdict == reports.Error, st.Verdict == reports.Untested && observable:
			t.Errorf("%s is %s: %s", st.ID, st.Verdict, st.Reason)
		case st.Verdict != reports.Fail && st.Verdict != reports.Warn, slices.Contains(argued, st.ID):
		case same:
			t.Errorf("%s is %s, which docs/findings/mosquitto.md does not argue: %s", st.ID, st.Verdict, st.Reason)
		default:
			t.Logf("%s is %s on another version of mosquitto than that of docs/findings: %s", st.ID, st.Verdict, st.Reason)
		}
	}
	for v, fewest := range fewestPasses {
		if passed[v] < fewest {
			t.Errorf("%d observable statements of %s pass, want at least %d", passed[v], v, fewest)
		}
	}
	t.Logf("observable numbered statements that pass: %v", passed)
}

// findings returns the statements whose verdicts on mosquitto are argued, and
// whether that is about the version installed here.
func findings(t *testing.T, program string) (argued []string, same bool) {
	t.Helper()
	text := document(t, "findings", "mosquitto.md")
	for _, heading := range regexp.MustCompile(`(?m)^### (v\S+):`).FindAllStringSubmatch(text, -1) {
		argued = append(argued, heading[1])
	}
	// It exits with 3 after its help, which begins with the version.
	help, _ := exec.CommandContext(t.Context(), program, "-h").CombinedOutput()
	version := regexp.MustCompile(`[0-9]+\.[0-9]+\.[0-9]+`)
	installed := version.FindString(string(help))
	return argued, installed != "" && installed == version.FindString(text)
}
