//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

func TestServeUntilInterrupted(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			cmd := program(t, "serve", "--listen", "127.0.0.1:0", "--listen", "mqtt://127.0.0.1:0", "--policy", "sys=none")
			var talk bytes.Buffer
			cmd.Stderr = &talk
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(out)
			for range 2 {
				connects(t, listeningOn(t, lines))
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			if lines.Scan() {
				t.Errorf("and then on stdout: %q", lines.Text())
			}
			if err := cmd.Wait(); err != nil || talk.Len() > 0 {
				t.Errorf("it ended with %v, and said %q", err, &talk)
			}
		})
	}
}

func TestServeOverTLSAndWebSocket(t *testing.T) {
	cmd := program(t, "serve", "--listen", "wss://127.0.0.1:0/deep", "--listen", "ws://127.0.0.1:0", "-u", "ann", "-P", "open sesame")
	var talk bytes.Buffer
	cmd.Stderr = &talk
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, flags := range [][]string{{"--insecure"}, nil} {
		if !lines.Scan() {
			t.Fatalf("serve printed no address: %v", lines.Err())
		}
		url := strings.TrimPrefix(lines.Text(), "listening on ")
		if code, _, talk := judge(t, append(flags, url, "v311/3.12", "-u", "ann", "-P", "wrong")...); code != exitBroker || !strings.Contains(talk, "refuses the credentials") {
			t.Errorf("%s with a wrong password: exit %d, %s", url, code, talk)
		}
		if code, _, talk := judge(t, append(flags, url, "v311/3.12", "-u", "ann", "-P", "open sesame")...); code != exitOK {
			t.Errorf("%s: exit %d, %s", url, code, talk)
		}
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := cmd.Wait(); err != nil || !strings.Contains(talk.String(), "made a certificate for TLS") {
		t.Errorf("it ended with %v, and said %q", err, &talk)
	}
}

// listeningOn reads the next address that serve prints.
func listeningOn(t *testing.T, lines *bufio.Scanner) (address string) {
	t.Helper()
	if !lines.Scan() {
		t.Fatalf("serve printed no address: %v", lines.Err())
	}
	address, ok := strings.CutPrefix(lines.Text(), "listening on mqtt://")
	if !ok || strings.HasSuffix(address, ":0") {
		t.Fatalf("serve printed %q", lines.Text())
	}
	return address
}

// connects demands that a CONNECT is accepted; the connection stays open to the
// end of the test.
func connects(t *testing.T, address string) {
	t.Helper()
	nc, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	_ = nc.SetDeadline(time.Now().Add(30 * time.Second))
	if _, err := io.WriteString(nc, "\x10\x0d\x00\x04MQTT\x04\x02\x00\x00\x00\x01a"); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 4)
	if _, err := io.ReadFull(nc, answer); err != nil || string(answer) != "\x20\x02\x00\x00" {
		t.Fatalf("CONNACK % x, %v", answer, err)
	}
}

// The lists are read by programs: their form is fixed.
func TestListsOfServe(t *testing.T) {
	var out bytes.Buffer
	printDefects(&out)
	defect := regexp.MustCompile(`^[a-z0-9-]+\t[^\t ]+\t[^\t]+\.\t(run|warn|hook|fuzz)$`)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != len(core.Defects()) {
		t.Errorf("%d lines for %d defects", len(lines), len(core.Defects()))
	}
	for _, line := range lines {
		if !defect.MatchString(line) {
			t.Errorf("not the form of a defect: %q", line)
			continue
		}
		for _, key := range strings.Split(strings.Split(line, "\t")[1], ",") {
			if _, ok := normative.Lookup(key); !ok {
				t.Errorf("%q breaks no statement: %q", line, key)
			}
		}
	}
	out.Reset()
	printPolicies(&out)
	policy := regexp.MustCompile(`^[a-z0-9-]+=[A-Za-z0-9.:-]+\t[^\t ]+\t[^\t]+\.$`)
	for line := range strings.Lines(out.String()) {
		if !policy.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("not the form of a policy: %q", line)
		}
	}
}

func TestNearestNames(t *testing.T) {
	names := []string{"dup-forwarded", "overlap", "retain", "retain-qos0", "sys"}
	for wrong, want := range map[string]string{
		"dup-forwardet": "dup-forwarded", "DUP-FORWARDED": "dup-forwarded", "overlaps": "overlap", "qos0": "retain-qos0", "sy": "sys",
	} {
		if got := nearest(wrong, names); got[0] != want || len(got) != nearestShown {
			t.Errorf("nearest to %q: %q, want %q first", wrong, got, want)
		}
	}
	if got := fmt.Sprint(normative.Distance("kitten", "sitting"), normative.Distance("", "ab"), normative.Distance("ab", "")); got != "3 2 2" {
		t.Errorf("edits %s, want 3 2 2", got)
	}
}
