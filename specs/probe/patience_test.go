package probe

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A broker that answers nobody is told from one that does not answer one
// client: a wait that ran out accuses only the second.
func TestABrokerThatAnswersNobody(t *testing.T) {
	for answer, want := range map[string]bool{"": false, "\x20\x02\x00\x00": true, "\x20\x02\x00\x05": true, "HTTP": false} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			_, _ = io.WriteString(c, answer)
			_, _ = io.Copy(io.Discard, c)
		}()
		b := New(Target{URL: "mqtt://" + l.Addr().String(), Timeout: 300 * time.Millisecond}, wire.V311)

		if got := b.answers(b.URL); got != want {
			t.Errorf("after %q: answers %v, want %v", answer, got, want)
		}
	}
}
