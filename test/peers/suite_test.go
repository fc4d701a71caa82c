package peers

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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
	program, server, file := filepath.Join(dir, "mqttcheck"), filepath.Join(dir, "mochi"), filepath.Join(dir, "result.json")
	build(ctx, t, filepath.Join("..", ".."), program, "./cmd/mqttcheck")
	build(ctx, t, ".", server, "./serve")

	args := []string{"run", serveMochi(ctx, t, server), "--json", file}
	for _, key := range mochiSkipped {
		args = append(args, "--skip", key)
	}
	judging := command(ctx, program, args...)
	judging.Env = append(os.Environ(), "MQTTCHECK_URL=")
	out, err := judging.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("the run ended with %v\n%s", err, out[max(0, len(out)-4000):])
	}

	for _, st := range readResult(t, file).Statements {
		known, _ := normative.Lookup(st.ID)
		switch st.Verdict {
		case reports.Error:
			t.Errorf("%s is %s: %s", st.ID, st.Verdict, st.Reason)
		case reports.Untested:
			if known.Numbered && known.Observable() && !slices.Contains(mochiSkipped, st.ID) {
				t.Errorf("%s is %s: %s", st.ID, st.Verdict, st.Reason)
			}
		case reports.Fail, reports.Warn:
			if !slices.Contains(argued, st.ID) {
				t.Errorf("%s is %s, which docs/findings/mochi.md does not argue: %s", st.ID, st.Verdict, st.Reason)
			}
		}
	}
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
