package play

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

func start(t testing.TB) wire.Address {
	b, err := reference.Start(reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return wire.Address{URL: b.URL()}
}

func parse(t testing.TB, text string) script.Script {
	s, err := script.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// received lists what came on a connection, by type. PINGRESP counts no more
// than the script asks for: how many rounds of fences the end takes is a matter of
// time.
func received(l *Log, conn int) map[wire.Type]int {
	count := map[wire.Type]int{}
	for _, e := range l.Events {
		if e.Conn == conn && e.Kind == Received {
			count[e.Packet.Type]++
		}
	}
	asked := 0
	for _, st := range l.Script {
		if st.Op == script.Fence && st.Client == l.Conns[conn].Client {
			asked++
		}
	}
	count[wire.PINGRESP] = min(count[wire.PINGRESP], asked)
	return count
}

const exchange = `
A open 3.1.1
A > 10 0d 0004 "MQTT" 04 02 0000 0001 61
A > 82 06 0001 0001 74 02
A fence
B open 5
B > 10 0e 0004 "MQTT" 05 02 0000 00 0001 62
B > 34 07 0001 74 0007 00 "x"
B fence
`

func TestPlayAcknowledgesAndFences(t *testing.T) {
	log := Play(t.Context(), parse(t, exchange), Options{Address: start(t)})
	for conn, want := range []map[wire.Type]int{
		{wire.CONNACK: 1, wire.SUBACK: 1, wire.PUBLISH: 1, wire.PUBREL: 1, wire.PINGRESP: 1},
		{wire.CONNACK: 1, wire.PUBREC: 1, wire.PINGRESP: 1},
	} {
		if got := received(log, conn); !maps.Equal(got, want) {
			t.Errorf("connection %d received %v, want %v", conn, got, want)
		}
	}
	if log.Stuck() || log.Refused() {
		t.Error("a connection was refused or stuck")
	}
	for _, c := range log.Conns {
		if len(c.Violations) > 0 {
			t.Errorf("violations: %v", c.Violations)
		}
	}
}

func TestAnUnfinishedPacketIsCutShort(t *testing.T) {
	begin := time.Now()
	log := Play(t.Context(), parse(t, "A open 5\nA > 10 20 00\nA fence\n"), Options{Address: start(t), Patience: 5 * time.Second})
	if log.Stuck() || time.Since(begin) > 3*time.Second {
		t.Errorf("stuck: %v, after %s", log.Stuck(), time.Since(begin))
	}
	if last := log.Events[len(log.Events)-1]; last.Kind != Ended {
		t.Errorf("the last event is %v, want the end of the connection", last.Kind)
	}
}

func TestNobodyThere(t *testing.T) {
	log := Play(t.Context(), parse(t, exchange), Options{Address: wire.Address{URL: "mqtt://127.0.0.1:1"}})
	if !log.Refused() {
		t.Error("no connection was refused")
	}
}

func BenchmarkPlay(b *testing.B) {
	address := start(b)
	s := parse(b, exchange)
	for b.Loop() {
		Play(b.Context(), s, Options{Address: address})
	}
}
