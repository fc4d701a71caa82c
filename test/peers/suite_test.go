package peers

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// suiteBound bounds the whole test of the suite on mochi-mqtt, which takes
// less than a minute on two free cores.
const suiteBound = 8 * time.Minute

// mochiSkipped are the statements whose checks mochi-mqtt does not survive, or
// not for seconds; docs/findings/mochi.md has the reasons.
var mochiSkipped = []string{"v5/MQTT-4.13.1-1", "v5/2.1.4-packet-shorter-than-fields", "v311/4.7.3-many-levels", "v5/4.7.3-many-levels"}

// TestMochiIsJudgedAsArgued runs the suite on a broker that others wrote. What
// it says against that broker has to be argued in docs/findings.
func TestMochiIsJudgedAsArgued(t *testing.T) {
	if testing.Short() {
		t.Skip("the whole suite takes a minute: leave -short out")
	}
	ctx, cancel := context.WithTimeout(t.Context(), suiteBound)
	defer cancel()
	argued := mochiArgued(t)
	dir := t.TempDir()
	program, server := programs(ctx, t)

	url := serveMochi(ctx, t, server)
	judged := func(name string, selectors ...string) []reports.Statement {
		file := filepath.Join(dir, name+".json")
		args := append([]string{"run", url, "--json", file}, selectors...)
		for _, key := range mochiSkipped {
			args = append(args, "--skip", key)
		}
		judging := command(ctx, program, args...)
		judging.Env = append(os.Environ(), "MQTTCHECK_URL=")
		out, err := judging.CombinedOutput()
		if !slices.Contains([]int{0, 1, 4}, exitCode(err)) {
			t.Fatalf("the run ended with %v\n%s", err, out[max(0, len(out)-4000):])
		}
		return readResult(t, file).Statements
	}

	surprises := surprising(judged("whole"), argued)
	if len(surprises) == 0 {
		return
	}
	// Other programs may take the machine from a run of a minute. What a verdict
	// is about is seen again when its statement is judged alone, three times.
	keys := slices.Sorted(maps.Keys(surprises))
	for _, key := range keys {
		t.Logf("in the whole run %s", surprises[key])
	}
	again := map[string]string{}
	for i := range 3 {
		maps.Copy(again, surprising(judged(fmt.Sprint("alone-", i), keys...), argued))
	}
	for _, key := range keys {
		if again[key] != "" {
			t.Errorf("alone %s", again[key])
		}
	}
}

// surprising says of each statement why its verdict on mochi-mqtt is none that
// is argued.
func surprising(statements []reports.Statement, argued []string) map[string]string {
	surprises := map[string]string{}
	for _, st := range statements {
		known, _ := normative.Lookup(st.ID)
		surprise, why := false, "which it may not be"
		switch st.Verdict {
		case reports.Error:
			surprise = true
		case reports.Untested:
			surprise = known.Numbered && known.Observable() && !slices.Contains(mochiSkipped, st.ID)
		case reports.Fail, reports.Warn:
			surprise, why = !slices.Contains(argued, st.ID), "which docs/findings/mochi.md does not argue"
		}
		if surprise {
			surprises[st.ID] = fmt.Sprintf("%s is %s, %s: %s%s", st.ID, st.Verdict, why, st.Reason, unwell(st.Checks))
		}
	}
	return surprises
}

// unwell holds the checks that failed or broke, with what they saw.
func unwell(checks []reports.Check) string {
	var text strings.Builder
	for _, c := range checks {
		if !slices.Contains([]reports.Verdict{reports.Fail, reports.Warn, reports.Error}, c.Verdict) {
			continue
		}
		fmt.Fprintf(&text, "\n%s: expected %s, observed %s", c.Name, c.Expected, c.Observed)
		for _, e := range c.Trace {
			fmt.Fprintf(&text, "\n%10.1f %s %s %s", e.Ms, e.Client, e.Dir, e.Text)
		}
	}
	return text.String()
}

// mochiArgued returns the statements whose verdicts on mochi-mqtt are argued.
func mochiArgued(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "findings", "mochi.md"))
	if err != nil {
		t.Fatal(err)
	}
	var argued []string
	for _, heading := range regexp.MustCompile(`(?m)^### (v\S+):`).FindAllSubmatch(text, -1) {
		argued = append(argued, string(heading[1]))
	}
	return argued
}

// command is a program that is killed when the context ends, and waited for no
// longer than that, whoever holds its output open.
func command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	return cmd
}

// programs builds mqttcheck and mochi-mqtt.
func programs(ctx context.Context, t *testing.T) (program, server string) {
	t.Helper()
	dir := t.TempDir()
	program, server = filepath.Join(dir, "mqttcheck"), filepath.Join(dir, "mochi")
	build(ctx, t, filepath.Join("..", ".."), program, "./cmd/mqttcheck")
	build(ctx, t, ".", server, "./serve")
	return program, server
}

func build(ctx context.Context, t *testing.T, dir, program, pkg string) {
	t.Helper()
	cmd := command(ctx, "go", "build", "-o", program, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
}

// serveMochi starts the broker as a process of its own, which ends with the
// test, and returns its URL.
func serveMochi(ctx context.Context, t *testing.T, program string) string {
	t.Helper()
	cmd := command(ctx, program)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out) // it ends with the process, at the latest when the context does
	if !lines.Scan() {
		t.Fatalf("mochi-mqtt has not said its URL: %v", lines.Err())
	}
	return lines.Text()
}

func readResult(t *testing.T, file string) reports.Result {
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
