package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/reports"
)

// TestMosquittoOverEveryTransport holds that the verdicts of a real broker are
// those of TCP over TLS and over WebSocket too.
func TestMosquittoOverEveryTransport(t *testing.T) {
	program := proc.Need(t, "mosquitto")
	argued, same := findings(t, program)
	plain, web, secure, trust := mosquittoOverAll(t)

	also := []string{"-V", "3.1.1", "--also", web, "--also", secure, "--cafile", trust}
	code, tcp, talk := judge(t, append([]string{plain}, also...)...)
	if code != exitFail && code != exitOK {
		t.Fatalf("exit %d: %s", code, talk)
	}
	for _, st := range tcp.Statements {
		if st.Section != "6" {
			continue
		}
		bad := st.Verdict != reports.Pass && st.Verdict != reports.Untested
		if bad && same && !slices.Contains(argued, st.ID) {
			t.Errorf("%s is %s: %s", st.ID, st.Verdict, st.Reason)
		}
	}
	for _, url := range []string{web, secure} {
		scheme, _, _ := strings.Cut(url, "://")
		_, other, talk := judge(t, append([]string{url}, also...)...)
		if len(other.Statements) != len(tcp.Statements) {
			t.Fatalf("%s: %d statements, want %d: %s", scheme, len(other.Statements), len(tcp.Statements), talk)
		}
		for i, st := range tcp.Statements {
			if got := other.Statements[i]; got.ID != st.ID || got.Verdict != st.Verdict {
				t.Errorf("%s: %s is %s (%s), over TCP %s (%s)", scheme, got.ID, got.Verdict, got.Reason, st.Verdict, st.Reason)
			}
		}
	}
}

// mosquittoOverAll starts mosquitto with a listener of each kind and returns
// their addresses, and the file with the authority of the one over TLS.
func mosquittoOverAll(t *testing.T) (plain, web, secure, trust string) {
	t.Helper()
	a := newAuthority(t)
	cert, key := a.issue(t, "broker", time.Hour, "127.0.0.1")
	webPort, err := proc.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	securePort, err := proc.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	broker, plain, err := proc.StartMosquitto(t.Context(), t.TempDir(),
		// Without the family it listens on every address.
		fmt.Sprintf("listener %d 127.0.0.1", webPort), "protocol websockets", "socket_domain ipv4",
		fmt.Sprintf("listener %d 127.0.0.1", securePort), "certfile "+cert, "keyfile "+key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := broker.Alive(); err != nil {
			t.Errorf("after the runs: %v", err)
		}
		_ = broker.Stop()
	})
	return plain, fmt.Sprintf("ws://127.0.0.1:%d/mqtt", webPort), fmt.Sprintf("mqtts://127.0.0.1:%d", securePort), a.file("ca.pem")
}
