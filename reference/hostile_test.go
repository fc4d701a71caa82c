package reference

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"
	"time"
)

// begin starts a broker for a test.
func begin(t *testing.T, o Options) *Broker {
	t.Helper()
	b, err := Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// allocated returns the bytes allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// inUse returns the bytes in use.
func inUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// huge is the beginning of a packet that announces 256 MB.
func huge(first byte) []byte { return []byte{first, 0xFF, 0xFF, 0xFF, 0x7F} }

func TestConnectMustCome(t *testing.T) {
	b := begin(t, Options{Second: 20 * time.Millisecond})
	began := time.Now()
	peers := map[string]*peer{}
	for name, beginning := range map[string][]byte{
		"nothing": {}, "one byte": {0x10}, "half a CONNECT": connect(4, "half")[:9],
	} {
		peers[name] = dial(t, b.URL())
		peers[name].send(beginning)
	}
	for name, p := range peers {
		t.Run(name, func(t *testing.T) {
			p.ends()
			if took := time.Since(began); took < 10*20*time.Millisecond {
				t.Errorf("cut after %v, before its ten seconds", took)
			}
		})
	}
}

func TestAnnouncedLengthIsNotBelieved(t *testing.T) {
	b := begin(t, Options{})
	bystander := join(t, b.URL(), 4, "bystander")
	before := allocated()
	for range 20 {
		p := dial(t, b.URL())
		p.send(huge(0x10))
		p.ends()
	}
	for _, version := range []byte{4, 5} {
		p := join(t, b.URL(), version, "announcer")
		p.send(append(huge(0x30), "and so on"...))
		if version == 5 {
			if body := p.expect(0xE0); body[0] != 0x95 {
				t.Errorf("DISCONNECT %#x, want Packet too large", body[0])
			}
		}
		p.ends()
	}
	if grown := allocated() - before; grown > 16<<20 {
		t.Errorf("%d bytes were allocated for lengths", grown)
	}
	bystander.pings()
}

func TestBytesBeforeConnectAreBounded(t *testing.T) {
	b := begin(t, Options{})
	// The largest length that a CONNECT can have is waited for, and no more.
	p := dial(t, b.URL())
	p.send([]byte{0x10, 0x80, 0x80, 0x80, 0x01}) // 2 MB
	p.ends()
	p = dial(t, b.URL())
	p.send([]byte{0x10, 0x80, 0x80, 0x10}) // 256 KB
	p.send(make([]byte, 100<<10))
	before := inUse()
	if before > 64<<20 {
		t.Errorf("%d bytes in use", before)
	}
}

// A client that subscribes and never reads costs bounded memory, and nobody
// else anything. QoS 0 is dropped for it from a mebibyte on; QoS 1 waits in its
// Session.
func TestClientThatNeverReads(t *testing.T) {
	const size, messages = 64 << 10, 640 // 40 MiB
	for _, c := range []struct {
		qos   byte
		bound uint64 // bytes
	}{{0, 12 << 20}, {1, 56 << 20}} {
		t.Run(fmt.Sprintf("QoS %d", c.qos), func(t *testing.T) {
			b := begin(t, Options{})
			sleeper := join(t, b.URL(), 4, "sleeper")
			sleeper.send(subscribe(4, "flood", c.qos))
			sleeper.expect(0x90)
			bystander := join(t, b.URL(), 4, "bystander")
			publisher := join(t, b.URL(), 4, "publisher")
			before := inUse()
			payload := make([]byte, size)
			go func() {
				for i := range messages {
					packet := publish0("flood", payload)
					if c.qos == 1 {
						packet = publish1("flood", uint16(i+1), payload)
					}
					_, _ = publisher.nc.Write(packet)
				}
				_, _ = publisher.nc.Write([]byte{0xC0, 0})
			}()
			bystander.pings()
			for first := byte(0); first != 0xD0; {
				first, _ = publisher.read()
			}
			bystander.pings()
			if now := inUse(); now > before+c.bound {
				t.Errorf("%d bytes in use for one sleeper, want at most %d", now-before, c.bound)
			}
		})
	}
}

func TestWritersGiveUp(t *testing.T) {
	t.Run("on a full queue", func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		l := newLink(1, ours)
		go l.write(func() {})
		for range maxOutgoing/(1<<20) + 2 {
			l.send(make([]byte, 1<<20), "")
		}
		awaitEnd(t, l)
		if !l.finished() || len(l.queue) != 0 {
			t.Errorf("the connection goes on with %d bytes", len(l.queue))
		}
	})
	t.Run("on a client that takes nothing", func(t *testing.T) {
		ours, theirs := net.Pipe()
		defer theirs.Close()
		l := newLink(1, ours)
		l.patience = 10 * time.Millisecond
		go l.write(func() {})
		l.send([]byte("something"), "")
		awaitEnd(t, l)
		if !l.finished() {
			t.Error("the connection goes on")
		}
	})
}

func awaitEnd(t *testing.T, l *link) {
	t.Helper()
	select {
	case <-l.written:
	case <-time.After(patience):
		t.Fatal("the writer still waits")
	}
}

// What is unwritten is told up and down, so that the core can hold back.
func TestUnwrittenBytesAreReported(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	l := newLink(1, ours)
	if l.send(make([]byte, reportStep-1), "") {
		t.Error("little is reported")
	}
	if !l.send(make([]byte, 1), "") {
		t.Error("much is not reported")
	}
	if n := l.report(); n != reportStep {
		t.Errorf("reported %d, want %d", n, reportStep)
	}
	told := make(chan int, 100)
	go l.write(func() { told <- l.report() })
	if _, err := io.CopyN(io.Discard, theirs, reportStep); err != nil {
		t.Fatal(err)
	}
	for n := -1; n != 0; {
		select {
		case n = <-told:
		case <-time.After(patience):
			t.Fatal("an empty queue is not reported")
		}
	}
	l.abandon()
	awaitEnd(t, l)
}

// A reader that is slow but reads gets everything of QoS 1, in order.
func TestSlowReaderLosesNothingOfQoS1(t *testing.T) {
	const messages = 300
	b := begin(t, Options{})
	slow := join(t, b.URL(), 4, "slow")
	slow.send(subscribe(4, "flood", 1))
	slow.expect(0x90)
	publisher := join(t, b.URL(), 4, "publisher")
	payload := bytes.Repeat([]byte("x"), 64<<10)
	go func() {
		for i := range messages {
			_, _ = publisher.nc.Write(publish1("flood", uint16(i+1), append([]byte{byte(i >> 8), byte(i)}, payload...)))
		}
	}()
	for range messages {
		publisher.expect(0x40)
	}
	for i := range messages {
		body := slow.expect(0x32)
		rest := body[2+len("flood"):]
		slow.send(frame(0x40, rest[:2]))
		if got := int(rest[2])<<8 | int(rest[3]); got != i {
			t.Fatalf("message %d, want %d", got, i)
		}
	}
}
