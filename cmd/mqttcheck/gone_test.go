package main

import (
	"context"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// mortal starts a nullYes that dies with the nth connection: it closes all and
// listens no more.
func mortal(t testing.TB, n int) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		var mu sync.Mutex
		var conns []net.Conn
		for range n {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			go (&yes{}).serve(c)
		}
		l.Close()
		for _, c := range conns {
			c.Close()
		}
	}()
	return "mqtt://" + l.Addr().String()
}

func TestABrokerThatDiesEndsTheRun(t *testing.T) {
	code, result, talk := judge(t, mortal(t, 5), "-V", "3.1.1", "--procs", "2")

	if code != exitBroker || !result.Run.BrokerGone || !result.Run.Partial {
		t.Errorf("exit %d, broker gone %v, partial %v", code, result.Run.BrokerGone, result.Run.Partial)
	}
	if !strings.Contains(talk, stopGone) {
		t.Errorf("nothing is said of it: %q", talk)
	}
	n := 0
	for _, s := range result.Statements {
		for _, c := range s.Checks {
			if c.Verdict == reports.Fail || c.Verdict == reports.Warn {
				t.Errorf("%s accuses the dead of %s: %s", c.Name, s.ID, c.Reason)
			}
			if c.Verdict == reports.Inconclusive && c.Reason == stopGone {
				n++
			}
		}
	}
	if n == 0 {
		t.Error("no check is inconclusive because the broker is gone")
	}
}

// A broker that takes longer than the timeout for a CONNACK now and then is
// slow: it has not died.
func TestASlowBrokerHasNotDied(t *testing.T) {
	url := listen(t, func(c net.Conn) {
		time.Sleep(probe.DefaultTimeout + 300*time.Millisecond)
		answering("\x20\x02\x00\x00")(c)
	})

	if err := aliveAt(probe.Target{URL: url}, offer{offered: map[string]bool{"v311": true}})(context.Background()); err != nil {
		t.Errorf("the broker counts as dead: %v", err)
	}
}
