package reference

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// A broker that is closed and started again goes on where it was.
func TestDataOutlivesTheBroker(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	folder := t.TempDir()
	b, err := Start(Options{Data: folder, Second: 200 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if second, err := Start(Options{Data: folder}); err == nil {
		_ = second.Close()
		t.Error("two brokers share a file")
	} else if !strings.Contains(err.Error(), "in use by another process") {
		t.Error(err)
	}
	p := dial(t, b.URL())
	p.send(slices.Concat(frame(0x10, text("MQTT"), []byte{4, 0, 0, 0}, text("a")), subscribe(4, "t", 1), publish1("t", 7, []byte("kept"))))
	p.expect(0x20)
	p.expect(0x90)
	p.expect(0x32)
	p.expect(0x40)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = begin(t, Options{Data: folder})
	p = dial(t, b.URL())
	p.send(frame(0x10, text("MQTT"), []byte{4, 0, 0, 0}, text("a")))
	if body := p.expect(0x20); body[0] != 1 {
		t.Error("the Session is not present")
	}
	if body := p.expect(0x3A); !bytes.HasSuffix(body, []byte("kept")) {
		t.Errorf("received %q", body)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// A broker that cannot store any more acknowledges nothing and ends.
func TestBrokerThatCannotStoreEnds(t *testing.T) {
	b := begin(t, Options{Data: t.TempDir()})
	p := dial(t, b.URL())
	p.send(frame(0x10, text("MQTT"), []byte{4, 0, 0, 0}, text("a")))
	p.expect(0x20)
	_ = b.keeper.store.Close()
	p.send(subscribe(4, "t", 1))
	select {
	case err := <-b.Failed():
		if !strings.Contains(err.Error(), "broker.db") {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("it goes on")
	}
	_ = b.Close()
	_ = p.nc.SetReadDeadline(time.Now().Add(patience))
	if first, err := p.r.ReadByte(); err == nil {
		t.Errorf("it answers with %#x", first)
	}
}
