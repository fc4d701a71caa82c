package main

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// byVersion answers a CONNECT of each version with its own bytes; "" closes and
// "silence" says nothing.
func byVersion(answers map[wire.Version]string) func(net.Conn) {
	return func(c net.Conn) {
		_, body, err := nextFrame(bufio.NewReader(c))
		if err != nil || len(body) < 7 {
			return
		}
		switch answer := answers[wire.Version(body[6])]; answer {
		case "":
			return
		case "silence":
		default:
			_, _ = io.WriteString(c, answer)
		}
		_, _ = io.Copy(io.Discard, c)
	}
}

const (
	ok311 = "\x20\x02\x00\x00"
	ok5   = "\x20\x03\x00\x00\x00"
)

func TestAVersionThatIsNotOfferedHasFiveShapes(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answers map[wire.Version]string
		offered map[string]bool
		seen    string // of what is not offered
	}{
		{"both", map[wire.Version]string{wire.V311: ok311, wire.V5: ok5}, map[string]bool{"v311": true, "v5": true}, ""},
		{"CONNACK 0x01", map[wire.Version]string{wire.V311: ok311, wire.V5: "\x20\x02\x00\x01"}, map[string]bool{"v311": true, "v5": false}, "CONNACK of 3.1.1, return code 0x01"},
		{"close", map[wire.Version]string{wire.V311: ok311}, map[string]bool{"v311": true, "v5": false}, "closes the connection"},
		{"silence", map[wire.Version]string{wire.V311: ok311, wire.V5: "silence"}, map[string]bool{"v311": true, "v5": false}, "does not answer"},
		{"CONNACK of 3.1.1 with success", map[wire.Version]string{wire.V311: ok311, wire.V5: ok311}, map[string]bool{"v311": true, "v5": false}, "CONNACK of 3.1.1, return code 0x00"},
		{"CONNACK 0x84 in the form of 5.0", map[wire.Version]string{wire.V311: ok311, wire.V5: "\x20\x03\x00\x84\x00"}, map[string]bool{"v311": true, "v5": false}, "reason code 0x84"},
		{"only 5.0, 0x84 to the older", map[wire.Version]string{wire.V311: "\x20\x03\x00\x84\x00", wire.V5: ok5}, map[string]bool{"v311": false, "v5": true}, "0x84"},
		{"only 5.0, 0x01 to the older", map[wire.Version]string{wire.V311: "\x20\x02\x00\x01", wire.V5: ok5}, map[string]bool{"v311": false, "v5": true}, "0x01"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			target := probe.Target{URL: listen(t, byVersion(tc.answers)), Timeout: 100 * time.Millisecond}
			o, err := preflight(context.Background(), target, []string{"v311", "v5"})
			if err != nil {
				t.Fatal(err)
			}
			for v, want := range tc.offered {
				if o.offered[v] != want {
					t.Errorf("%s offered: %v, want %v", v, o.offered[v], want)
				}
				if seen, missing := o.notOffered[v]; missing == want || !want && !strings.Contains(seen, tc.seen) {
					t.Errorf("%s not offered: %q, want %q", v, seen, tc.seen)
				}
			}
		})
	}
}

func TestABrokerWithoutTheVersionIsABroker(t *testing.T) {
	target := probe.Target{URL: listen(t, byVersion(map[wire.Version]string{wire.V311: ok311})), Timeout: 100 * time.Millisecond}

	_, err := preflight(context.Background(), target, []string{"v5"})

	if code, message := exitCode(err); code != exitNothing || !strings.Contains(message, "5.0: it closes the connection") {
		t.Errorf("exit %d %q, want %d", code, message, exitNothing)
	}
}

func TestAnnouncementsAreLearned(t *testing.T) {
	ack := wire.Connack{Properties: wire.Properties{
		{ID: wire.MaximumQoS, Int: 0},
		{ID: wire.RetainAvailable, Int: 0},
		{ID: wire.SharedSubscriptionAvailable, Int: 1},
		{ID: wire.ReceiveMaximum, Int: 20},
	}}
	target := probe.Target{URL: listen(t, byVersion(map[wire.Version]string{
		wire.V311: ok311, wire.V5: string(ack.Append(nil, wire.V5)),
	}))}

	o, err := preflight(context.Background(), target, []string{"v5"})
	if err != nil {
		t.Fatal(err)
	}

	if o.announced["Receive Maximum"] != "20" || o.announced["Maximum QoS"] != "0" {
		t.Errorf("announced %v", o.announced)
	}
	for feature, lacking := range map[string]bool{"v5:qos1": true, "v5:qos2": true, "v5:retain": true, "v5:shared": false, "v5:wildcard": false} {
		if _, ok := o.lacks[feature]; ok != lacking {
			t.Errorf("lacks %s: %v, want %v", feature, ok, lacking)
		}
	}
}

// TestThePreflightBelievesNoLength gives it a CONNACK of 256 megabytes that
// never ends.
func TestThePreflightBelievesNoLength(t *testing.T) {
	sent := make(chan int64, 2)
	url := listen(t, func(c net.Conn) {
		n, _ := io.WriteString(c, "\x20\xff\xff\xff\x7f")
		total := int64(n)
		for {
			n, err := c.Write(make([]byte, 64<<10))
			if total += int64(n); err != nil {
				sent <- total
				return
			}
		}
	})
	start := time.Now()

	_, err := preflight(context.Background(), probe.Target{URL: url}, []string{"v311", "v5"})

	if code, _ := exitCode(err); code != exitBroker {
		t.Errorf("%v, want exit %d", err, exitBroker)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %s to see that this is no CONNACK", took)
	}
	for range 2 {
		if total := <-sent; total > 64<<20 {
			t.Errorf("%d bytes were taken", total)
		}
	}
}

func TestAnInterruptEndsThePreflight(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(100*time.Millisecond, cancel)
	target := probe.Target{URL: strangers(t)["SILENCE"], Timeout: 30 * time.Second}
	start := time.Now()

	_, err := preflight(ctx, target, []string{"v311"})

	if code, message := exitCode(err); code != exitInterrupted || message != "" {
		t.Errorf("exit %d %q, want %d", code, message, exitInterrupted)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
