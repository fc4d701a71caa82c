package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patience bounds waits for what has to come; no test waits for it to expire.
const patience = 60 * time.Second

// listenOnce starts a server that serves one connection, and returns its
// address.
func listenOnce(t *testing.T, serve func(nc *net.TCPConn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		nc, err := l.Accept()
		if err != nil {
			return
		}
		defer nc.Close()
		serve(nc.(*net.TCPConn))
	}()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	return l.Addr().String()
}

// fake starts a server that serves one connection, and dials it.
func fake(t *testing.T, o Options, serve func(nc *net.TCPConn)) *Conn {
	t.Helper()
	return dialFake(t, "mqtt", o, serve)
}

func dialFake(t *testing.T, scheme string, o Options, serve func(nc *net.TCPConn)) *Conn {
	t.Helper()
	c, err := Dial(context.Background(), Address{URL: scheme + "://" + listenOnce(t, serve)}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// hold keeps the server's side open until the client ends it.
func hold(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) }

func wait(t *testing.T, c *Conn) error {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(patience):
		t.Fatal("the connection does not end")
	}
	ended, why, at := c.Ended()
	if !ended || why == nil || at.IsZero() {
		t.Fatalf("Ended() = %t, %v, %v", ended, why, at)
	}
	return why
}

func ofType(want Type) func(Received) bool { return func(r Received) bool { return r.Type == want } }

func TestSegmentsAndPacketsHaveDifferentBorders(t *testing.T) {
	stream := Bytes(V311, Connack{}, Publish{Topic: "a", Payload: "one"}, Publish{Topic: "b", QoS: 1, ID: 7}, Pingresp{})
	for n := 1; n <= len(stream); n++ {
		rest := stream
		c := fake(t, Options{Version: V311}, func(nc *net.TCPConn) {
			for ; len(rest) > 0; rest = rest[min(n, len(rest)):] {
				_, _ = nc.Write(rest[:min(n, len(rest))])
			}
		})
		why := wait(t, c)

		var got []Type
		for i, r := range c.All() {
			got = append(got, r.Type)
			if r.Seq != i+1 || r.Err != nil {
				t.Errorf("pieces of %d: packet %d: %+v", n, i, r)
			}
		}
		want := []Type{CONNACK, PUBLISH, PUBLISH, PINGRESP}
		if !reflect.DeepEqual(got, want) || why.Error() != "the broker closed the connection" {
			t.Errorf("pieces of %d: %v, %v", n, got, why)
		}
	}
}

func TestTake(t *testing.T) {
	next := make(chan struct{})
	c := fake(t, Options{Version: V311}, func(nc *net.TCPConn) {
		_, _ = nc.Write(Bytes(V311, Connack{}, Publish{Topic: "a"}, Pingresp{}))
		<-next
		_, _ = nc.Write(Bytes(V311, Publish{Topic: "b"}))
		hold(nc)
	})
	deadline := time.Now().Add(patience)

	if r, status := c.Take(deadline, ofType(PINGRESP)); status != Got || r.Seq != 3 {
		t.Errorf("PINGRESP: %+v, %v", r, status)
	}
	if r, status := c.Take(deadline, ofType(PUBLISH)); status != Got || r.Packet.(Publish).Topic != "a" {
		t.Errorf("the first PUBLISH: %+v, %v", r, status)
	}
	if n := c.Pending(); n != 1 {
		t.Errorf("%d packets pending, want the CONNACK", n)
	}
	if _, status := c.Take(time.Now(), ofType(PUBLISH)); status != TimedOut {
		t.Errorf("a PUBLISH that has not come: %v", status)
	}
	close(next)
	if r, status := c.Take(deadline, ofType(PUBLISH)); status != Got || r.Packet.(Publish).Topic != "b" {
		t.Errorf("the second PUBLISH: %+v, %v", r, status)
	}
	if len(c.All()) != 4 {
		t.Errorf("history of %d packets", len(c.All()))
	}
	if err := c.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if r, status := c.Take(deadline, ofType(CONNACK)); status != Got || r.Seq != 1 {
		t.Errorf("CONNACK after the end: %+v, %v", r, status)
	}
	if _, status := c.Take(deadline, ofType(PUBLISH)); status != Ended {
		t.Errorf("a PUBLISH after the end: %v", status)
	}
	if err := c.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestSend(t *testing.T) {
	got := make(chan []byte, 1)
	c := fake(t, Options{Version: V5}, func(nc *net.TCPConn) {
		all, _ := io.ReadAll(nc)
		got <- all
		_, _ = nc.Write(Bytes(V5, Pingresp{}))
	})
	want := Bytes(V5, Connect{ClientID: "c"}, Pingreq{}, Disconnect{})

	err := errors.Join(c.Send(Connect{ClientID: "c"}, Pingreq{}), c.SendSplit(Bytes(V5, Disconnect{}), 1), c.CloseWrite())
	if err != nil {
		t.Fatal(err)
	}
	if all := <-got; !bytes.Equal(all, want) {
		t.Errorf("sent %x, want %x", all, want)
	}
	if _, status := c.Take(time.Now().Add(patience), ofType(PINGRESP)); status != Got {
		t.Errorf("after CloseWrite the broker is read no more: %v", status)
	}
}

func TestResetByTheBroker(t *testing.T) {
	c := fake(t, Options{Version: V5}, func(nc *net.TCPConn) {
		_, _ = nc.Read(make([]byte, 1))
		_ = nc.SetLinger(0)
	})
	if err := c.SendBytes([]byte{0xc0, 0}); err != nil {
		t.Fatal(err)
	}
	if why := wait(t, c); !strings.HasPrefix(why.Error(), "the connection broke: ") {
		t.Errorf("ended because %v", why)
	}
}

func TestReset(t *testing.T) {
	seen := make(chan error, 1)
	c := fake(t, Options{Version: V5}, func(nc *net.TCPConn) {
		_, err := nc.Read(make([]byte, 1))
		seen <- err
	})
	if err := c.Reset(); err != nil {
		t.Fatal(err)
	}
	if err := <-seen; err == nil || errors.Is(err, io.EOF) {
		t.Errorf("the broker sees %v and no reset", err)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestAnAnnouncedLengthCostsNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		limit int
		sent  string
		why   string
	}{
		"more than is taken": {0, "30 FFFFFF7F", "a packet of 268435455 bytes, more than a client has to take"},
		"never sent":         {1 << 28, "30 FFFFFF7F", "the broker closed the connection"},
		"no length":          {0, "30 FFFFFFFF", "more than four bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			before := allocated()
			c := fake(t, Options{Version: V311, MaxPacket: tt.limit}, func(nc *net.TCPConn) {
				_, _ = nc.Write(unhex(t, tt.sent))
				_ = nc.CloseWrite()
				hold(nc)
			})
			why := wait(t, c)
			if used := allocated() - before; used > 1<<20 {
				t.Errorf("%d bytes were allocated", used)
			}
			if !strings.Contains(why.Error(), tt.why) && !strings.Contains(why.Error(), "EOF") {
				t.Errorf("ended because %v", why)
			}
			if len(c.All()) != 0 {
				t.Errorf("packets %v", c.All())
			}
		})
	}
}

func TestNoiseWithoutEnd(t *testing.T) {
	var properties Properties
	for range 30_000 {
		properties = append(properties, Property{ID: PayloadFormatIndicator})
	}
	for name, tt := range map[string]struct {
		piece   []byte
		version Version
	}{
		"small packets":   {bytes.Repeat([]byte{0}, 4096), V311},
		"large packets":   {Bytes(V311, Publish{Topic: "a", Payload: strings.Repeat("x", 1<<20)}), V311},
		"many properties": {Bytes(V5, Publish{Topic: "a", Properties: properties}), V5},
	} {
		t.Run(name, func(t *testing.T) {
			trace := NewTrace()
			c := fake(t, Options{Version: tt.version, Trace: trace}, func(nc *net.TCPConn) {
				for {
					if _, err := nc.Write(tt.piece); err != nil {
						return
					}
				}
			})
			why := wait(t, c)

			if !errors.Is(why, errFlood) {
				t.Errorf("ended because %v", why)
			}
			kept := 0
			for _, r := range c.All() {
				kept += cost(r)
			}
			if n := len(c.All()); n > maxCount || kept > maxReceived {
				t.Errorf("%d packets, %d bytes kept", n, kept)
			}
			if n := len(trace.Events()); n > maxEvents+1 {
				t.Errorf("%d events shown", n)
			}
		})
	}
}

func TestABrokerThatNeverReads(t *testing.T) {
	release := make(chan struct{})
	c := fake(t, Options{Version: V311, WriteTimeout: 100 * time.Millisecond}, func(*net.TCPConn) { <-release })
	defer close(release)

	big := Publish{Topic: "a", Payload: strings.Repeat("x", 1<<20)}
	for range 1000 {
		if err := c.Send(big); err != nil {
			var timeout net.Error
			if !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("Send: %v, want a timeout", err)
			}
			return
		}
	}
	t.Error("1000 MB were written to a broker that reads nothing")
}

func TestCloseEndsTheReader(t *testing.T) {
	for range 20 {
		c := fake(t, Options{Version: V311}, func(nc *net.TCPConn) { hold(nc) })
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		if why := wait(t, c); why.Error() != "the client closed the connection" {
			t.Errorf("ended because %v", why)
		}
	}
	// The goroutine itself ends right after Done; give the scheduler its turn.
	deadline := time.Now().Add(patience)
	for readers() > 0 {
		if time.Now().After(deadline) {
			t.Fatalf("%d readers are left", readers())
		}
		runtime.Gosched()
	}
}

func readers() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "wire.(*Conn).read(")
}

func TestDialErrors(t *testing.T) {
	for url, want := range map[string]string{
		"http://127.0.0.1": `wire: scheme "http" is not supported (known: mqtt, mqtts, tcp, ws, wss)`,
		"mqtt://[":         "wire: address: ",
	} {
		if _, err := Dial(context.Background(), Address{URL: url}, Options{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Dial(ctx, Address{URL: "mqtt://127.0.0.1"}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled dial: %v", err)
	}
}

func TestStandingChecksOfAConnection(t *testing.T) {
	c := fake(t, Options{Version: V311}, func(nc *net.TCPConn) {
		_, _ = nc.Read(make([]byte, 100))
		_, _ = nc.Write([]byte{0x20, 2, 0, 0, 0xd1, 0})
		hold(nc)
	})
	if err := c.Send(Connect{ClientID: "c", CleanStart: true}); err != nil {
		t.Fatal(err)
	}
	if _, status := c.Take(time.Now().Add(patience), ofType(PINGRESP)); status != Got {
		t.Fatal(status)
	}
	want := []Violation{{Key: "v311/MQTT-2.2.2-1", Seq: 2, Text: "the flag bits of PINGRESP are 0000 and not 0001, but packet 2 is PINGRESP"}}
	if got := c.Violations(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if len(c.Evidence()) == 0 {
		t.Error("no evidence")
	}
}

func TestEndWithClosesBehindThePacketThatIsEnough(t *testing.T) {
	first, last := Publish{Topic: "a", Payload: "first"}, Publish{Topic: "a", Payload: "last"}
	begin := make(chan struct{})
	c := fake(t, Options{Version: V311}, func(nc *net.TCPConn) {
		<-begin
		for _, p := range []Publish{first, last, first} {
			_, _ = nc.Write(Bytes(V311, p))
		}
		_, _ = io.Copy(io.Discard, nc)
	})
	c.EndWith(func(r Received) bool { return r.Packet.(Publish).Payload == "last" })
	close(begin)

	if why := wait(t, c); !errors.Is(why, errEnough) {
		t.Errorf("ended because %v", why)
	}
	if n := len(c.All()); n != 2 {
		t.Errorf("%d packets came, want 2", n)
	}
}
