package peers

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/internal/proc"
)

// seedsEnv is the environment variable that says with how many seeds the fuzzer is
// let loose on mochi-mqtt.
const seedsEnv = "MQTTCHECK_MOCHI_SEEDS"

// The bounds of one campaign. A SUBSCRIBE that ends before its options makes
// mochi-mqtt 2.7.9 panic: docs/findings/mochi.md.
const (
	conversations = 1500
	campaignTime  = 4 * time.Minute // for them, on a machine that is busy
	campaignBound = 5 * time.Minute
	fault         = "SubscribeDecode"
)

// hunted is what one seed came to.
type hunted struct {
	conversation int // in which it was found, from 1; 0 for not found
	seconds      float64
	file         string // of the finding
	script       string
	partly       bool // time ran out before it was as small as it gets
	replays      int
	summary      string // of the campaign, where it was not found
}

// small tells whether a script has two packets, of which the second is a SUBSCRIBE
// with a Topic Filter of one character at most and no options.
var small = regexp.MustCompile(`^([A-H]) open \S+\n[A-H] >\d* 10 .*\n[A-H] >\d* 82 0[3-6] \w\w \w\w (?:00 )?(?:00 01 (?:\w\w|"[^"]")|00 00)(?:  #.*)?\n(?:[A-H] (?:fence|fin|rst)\n)*$`)

// TestFuzzerFellsMochi has the fuzzer look for a fault of a broker that others wrote,
// with several seeds: it is found soon, made small, and happens again each time.
func TestFuzzerFellsMochi(t *testing.T) {
	seeds, err := strconv.Atoi(os.Getenv(seedsEnv))
	if err != nil {
		t.Skip(seedsEnv + " is no number: make mochi")
	}
	program, server := programs(t.Context(), t)
	found, slow := 0, 0
	for seed := 1; seed <= seeds; seed++ {
		h := hunt(t, program, server, seed)
		if h.conversation == 0 || h.conversation > conversations {
			t.Logf("seed %d: not found: %s", seed, h.summary)
			continue
		}
		found++
		if h.seconds > 10 {
			slow++
		}
		t.Logf("seed %d: in conversation %d, small after %.1f s, happens again %d times of 10", seed, h.conversation, h.seconds, h.replays)
		if !small.MatchString(h.script) {
			t.Errorf("seed %d: it is not as small as it can be (time ran out: %v):\n%s", seed, h.partly, h.script)
		}
		if h.replays < 10 {
			t.Errorf("seed %d: it happens again %d times of 10:\n%s", seed, h.replays, h.script)
		}
	}
	t.Logf("found with %d of %d seeds, %d of them after more than 10 s", found, seeds, slow)
	if found*20 < seeds*19 {
		t.Errorf("found with %d of %d seeds", found, seeds)
	}
}

// hunt has conversations with the broker until the fault is found and made small, and
// plays what was found ten times.
func hunt(t *testing.T, program, server string, seed int) (h hunted) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), campaignBound)
	defer cancel()
	port, err := proc.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	dir, address := t.TempDir(), net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	url, start := "mqtt://"+address, server+" "+address
	cmd := command(ctx, program, "fuzz", url, "--start", start, "--seed", strconv.Itoa(seed), "--max-conversations", strconv.Itoa(conversations), "--duration", campaignTime.String(), "--out", dir)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends the broker too
	cmd.WaitDelay = 20 * time.Second
	var summary bytes.Buffer
	cmd.Stdout = &summary
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var last []string
	for lines := bufio.NewScanner(said); lines.Scan(); {
		if last = append(last, lines.Text()); len(last) > 5 {
			last = last[1:]
		}
		if h.file == "" && strings.HasPrefix(lines.Text(), "found ") && strings.Contains(strings.ToLower(lines.Text()), strings.ToLower(fault)) {
			h.file = strings.TrimSuffix(strings.Fields(lines.Text())[1], ":")
			h.seconds = time.Since(begun).Seconds()
			cancel()
		}
	}
	err = cmd.Wait()
	if h.file == "" {
		h.seconds = time.Since(begun).Seconds()
		if code := exitCode(err); code != 0 && code != 1 {
			t.Fatalf("seed %d: %v: %s", seed, err, strings.Join(last, "\n"))
		}
		h.summary, _, _ = strings.Cut(summary.String(), "\n")
		return h
	}
	h.file = filepath.Join(dir, "findings", h.file)
	f, err := finding.Load(h.file)
	if err != nil {
		t.Fatal(err)
	}
	h.script, h.partly = f.Script.String(), f.Minimised != finding.Fully
	var of, n int
	if _, err := fmt.Sscanf(f.Seed, "%d/%d", &of, &n); err == nil {
		h.conversation = n + 1
	}
	for range 10 {
		err := command(t.Context(), program, "replay", h.file, url, "--start", start).Run()
		if exitCode(err) == 1 {
			h.replays++
		}
	}
	return h
}

// exitCode is that of a program that has ended, -1 for one that was killed.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return -1
}
