package probe

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega/format"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A Client can be shown while packets arrive.
func TestAClientIsShownByItsName(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		for err == nil {
			_, err = c.Write([]byte{0xd0, 0, 0xd0, 0})
		}
	}()
	b := New(Target{URL: "mqtt://" + l.Addr().String(), Timeout: time.Second}, wire.V311)
	c, err := b.dial(b.URL, "client", wire.NewTrace())
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()

	for range 100 {
		if got, want := format.Object([]*Client{c}, 0), "client "; len(got) > 300 || !strings.Contains(got, want) {
			t.Fatalf("shown as %.300q", got)
		}
	}
}
