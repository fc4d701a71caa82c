//go:build unix

package main

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program returns the whole program as a command in a process of its own.
func program(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, self)
	cmd.Args = append([]string{"mqttcheck"}, args...)
	cmd.Env = append(os.Environ(), "MQTTCHECK_URL=")
	return cmd
}

func TestCtrlCLeavesAPartialReport(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			connections := make(chan struct{}, 1000)
			url := listen(t, func(c net.Conn) {
				connections <- struct{}{}
				answering("\x20\x02\x00\x00")(c)
			})
			file := filepath.Join(t.TempDir(), "result.json")
			cmd := program(t, "run", url, "-V", "3.1.1", "--procs", "2", "--json", file)
			var out, talk bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &talk
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for range 4 { // two of the preflight, then checks are at work
				select {
				case <-connections:
				case <-time.After(20 * time.Second):
					t.Fatal("no check has connected")
				}
			}

			children := childrenOf(t, cmd.Process.Pid)

			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()

			if got := cmd.ProcessState.ExitCode(); got != exitInterrupted {
				t.Errorf("exit %d, want %d\n%s%s", got, exitInterrupted, &out, &talk)
			}
			result := resultIn(t, file)
			if !result.Run.Partial || !result.Run.Interrupted || result.Run.ExitCode != exitInterrupted {
				t.Errorf("the result says partial %v, interrupted %v, exit %d", result.Run.Partial, result.Run.Interrupted, result.Run.ExitCode)
			}
			if !strings.Contains(out.String(), "interrupted") {
				t.Errorf("the text does not say that the run was interrupted:\n%s", &out)
			}
			for _, pid := range children {
				if syscall.Kill(pid, 0) == nil {
					t.Errorf("child %d has outlived the run", pid)
				}
			}
		})
	}
}

// TestChildrenEndWithTheirParent kills the parent without warning.
func TestChildrenEndWithTheirParent(t *testing.T) {
	connections := make(chan struct{}, 1000)
	url := listen(t, func(c net.Conn) {
		connections <- struct{}{}
		answering("\x20\x02\x00\x00")(c)
	})
	cmd := program(t, "run", url, "-V", "3.1.1", "--procs", "2")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		<-connections
	}
	children := childrenOf(t, cmd.Process.Pid)
	if len(children) == 0 {
		t.Skip("cannot see processes here")
	}

	_ = cmd.Process.Kill()
	_ = cmd.Wait()

	deadline := time.Now().Add(20 * time.Second)
	for _, pid := range children {
		for syscall.Kill(pid, 0) == nil {
			if time.Now().After(deadline) {
				t.Fatalf("child %d goes on without its parent", pid)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// childrenOf returns the processes that a process has started, where /proc
// tells.
func childrenOf(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, path := range stats {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// pid (name) state ppid ...
		_, rest, _ := strings.Cut(string(raw), ") ")
		fields := strings.Fields(rest)
		if len(fields) > 1 && fields[1] == strconv.Itoa(pid) && fields[0] != "Z" {
			if child, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}
