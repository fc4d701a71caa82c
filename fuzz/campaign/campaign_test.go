package campaign

import (
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

func start(t testing.TB, o reference.Options) wire.Address {
	b, err := reference.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return wire.Address{URL: b.URL()}
}

func TestAHealthyBrokerIsNotAccused(t *testing.T) {
	s, err := Run(t.Context(), Options{Address: start(t, reference.Options{}), Seed: 5, Most: 400})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range s.Findings {
		t.Errorf("%s %s: %s\n%s", f.Oracle, f.Key, f.About, f.Script)
	}
	if s.Conversations != 400 || s.Packets < 2000 || s.Cells < 100 {
		t.Errorf("%d conversations, %d packets, %d cells", s.Conversations, s.Packets, s.Cells)
	}
	t.Logf("%d conversations, %d packets, %.1f s", s.Conversations, s.Packets, s.Seconds)
}

// planted are faults of the reference broker that the fuzzer has to find, with
// what it finds and the packets that its smallest script may have.
var planted = []struct {
	defect, oracle, key string
	packets             int
}{
	{"delivered-at-granted-qos", "model", "qos-too-high", 6},
	{"unsubscribe-ignored", "model", "undue-delivery", 8},
	{"plus-many-levels", "model", "undue-delivery", 6},
	{"suback-missing", "model", "unanswered-suback", 4},
	{"qos1-unacknowledged", "model", "unanswered-puback", 4},
	{"session-present-always", "model", "session-present-unknown", 4},
}

func TestPlantedFaultsAreFound(t *testing.T) {
	for _, p := range planted {
		t.Run(p.defect, func(t *testing.T) {
			var files []finding.File
			s, err := Run(t.Context(), Options{
				Address: start(t, reference.Options{Defects: []string{p.defect}}), Seed: 1, Most: 400, Duration: 20 * time.Second, Shrink: 10 * time.Second,
				Found: func(f finding.File) { files = append(files, f) },
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				if f.Oracle == p.oracle && f.Key == p.key {
					if f.Script.Packets() > p.packets {
						t.Errorf("%d packets are left, more than %d", f.Script.Packets(), p.packets)
					}
					t.Logf("after %d conversations: %s, %d packets\n%s", s.Conversations, f.About, f.Script.Packets(), f.Script)
					return
				}
			}
			t.Errorf("%d conversations, not found; found: %v", s.Conversations, s.Seen)
		})
	}
}
