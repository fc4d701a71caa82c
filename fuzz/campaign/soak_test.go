package campaign

import (
	"os"
	"testing"
	"time"
)

// soaked are the policies under which the healthy reference is fuzzed.
var soaked = [][]string{
	nil,
	{"overlap=each", "qos2-onward=pubrel", "qos0-offline=keep"},
	{"maximum-qos=1", "granted-qos-311=1", "retain=no", "receive-maximum=20"},
	{"window=1", "packet-ids=lowest", "acknowledges=first", "welcome=before-suback"},
	{"disconnects=never", "diagnostics=always", "unknown-acks=close"},
	{"acknowledges=early", "welcome=later"},
	{"shared=no", "wildcards=no", "subscription-identifiers=no"},
}

// TestSoak fuzzes the healthy reference in a process of its own: whatever is
// found is a fault of the fuzzer. MQTTCHECK_SOAK is the time of all campaigns.
func TestSoak(t *testing.T) {
	whole, err := time.ParseDuration(os.Getenv("MQTTCHECK_SOAK"))
	if err != nil {
		t.Skip("MQTTCHECK_SOAK is no time: make soak")
	}
	for i, policies := range soaked {
		o := Options{Seed: 100 + uint64(i), Duration: whole / time.Duration(len(soaked))}
		o.Address, o.Start = child(t, policies...)
		s, err := Run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%v: %d conversations, %d packets in %.0f s, %d situations, %d restarts\n%v", policies, s.Conversations, s.Packets, s.Seconds, s.Cells, s.Restarts, s.Profile)
		for _, f := range s.Findings {
			t.Errorf("%v: %s %s (%s): %s\n%s", policies, f.Oracle, f.Key, f.Seed, f.About, f.Script)
		}
		if s.Ended != "" || s.Restarts > 0 {
			t.Errorf("%v: ended: %q, %d restarts", policies, s.Ended, s.Restarts)
		}
	}
}
