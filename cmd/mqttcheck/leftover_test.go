//go:build unix

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
)

// TestRunLeavesNothing looks at the broker after a whole run.
func TestRunLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole suite")
	}
	broker := holdingBroker(t)
	var out, talk bytes.Buffer
	if code := mqttcheck([]string{"run", broker.URL()}, nil, &out, &talk); code != exitOK {
		t.Errorf("exit %d\n%s", code, &talk)
	}
	holdsNothing(t, broker)
}

// TestInterruptedRunLeavesNothing ends runs at moments of chance, by each of
// the ways in which a run is ended from outside. Killed, the parent leaves the
// cleaning to its children.
func TestInterruptedRunLeavesNothing(t *testing.T) {
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		for _, sig := range signals {
			broker := holdingBroker(t)
			moment := time.Duration(rand.Int64N(int64(time.Second)))
			interruptedAt(t, broker, sig, moment)
			holdsNothing(t, broker)
		}
	}
}

// leaving are checks that make sessions and retained messages, and do not wait.
var leaving = []string{"v311/3.3.1", "v5/3.3.1", "v311/4.3", "v5/4.3", "v311/4.4", "v5/4.4"}

// interruptedAt starts a run and ends it some time after its checks have begun
// to leave something on the broker.
func interruptedAt(t *testing.T, broker *reference.Broker, sig os.Signal, moment time.Duration) {
	t.Helper()
	args := append([]string{"run", broker.URL(), "--shuffle", "--seed", strconv.Itoa(rand.IntN(1000))}, leaving...)
	cmd := program(t, args...)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); len(broker.Holding().Sessions) == 0; {
		if time.Since(begun) > 20*time.Second {
			t.Fatalf("no check has begun: %s", &talk)
		}
		time.Sleep(5 * time.Millisecond)
	}
	time.Sleep(moment)
	held := broker.Holding()
	t.Logf("%s after %s: %d connections, %d sessions, %d subscriptions, %d retained messages",
		sig, moment.Round(time.Millisecond), held.Connections, len(held.Sessions), len(held.Subscriptions), len(held.Retained))
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); sig != syscall.SIGKILL && got != exitInterrupted {
		t.Errorf("exit %d, want %d\n%s", got, exitInterrupted, &talk)
	}
}

// holdingBroker starts a reference broker that can be asked what it holds.
func holdingBroker(t *testing.T) *reference.Broker {
	t.Helper()
	t.Setenv("MQTTCHECK_URL", "")
	broker, err := reference.Start(reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = broker.Close() })
	return broker
}

// holdsNothing gives the broker time to notice that connections have ended,
// and the children of a killed run to clean up.
func holdsNothing(t *testing.T, broker *reference.Broker) {
	t.Helper()
	var held core.Holding
	for deadline := time.Now().Add(15 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if held = broker.Holding(); held.Empty() {
			return
		}
	}
	t.Errorf("what is left: %d connections, sessions %q, subscriptions %q, retained messages %q",
		held.Connections, held.Sessions, held.Subscriptions, held.Retained)
}
