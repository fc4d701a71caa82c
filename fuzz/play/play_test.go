package play

import (
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

// received lists what came on a connection, by type.
func received(l *Log, conn int) string {
	var names []string
	for _, e := range l.Events {
		if e.Conn == conn && e.Kind == Received {
			names = append(names, e.Packet.Type.String())
		}
	}
	return strings.Join(names, " ")
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
	if got, want := received(log, 0), "CONNACK SUBACK PINGRESP PUBLISH PUBREL PINGRESP PINGRESP"; sorted(got) != sorted(want) {
		t.Errorf("A received %s, want %s in some order", got, want)
	}
	if got, want := received(log, 1), "CONNACK PUBREC PINGRESP"; !strings.HasPrefix(got, want) {
		t.Errorf("B received %s, want it to begin with %s", got, want)
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

func sorted(s string) string {
	count := map[string]int{}
	for _, w := range strings.Fields(s) {
		count[w]++
	}
	var b strings.Builder
	for _, w := range []string{"CONNACK", "SUBACK", "PUBLISH", "PUBREL", "PINGRESP"} {
		for range count[w] {
			b.WriteString(w + " ")
		}
	}
	return b.String()
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
