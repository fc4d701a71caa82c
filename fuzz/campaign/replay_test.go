package campaign

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
)

const (
	connect5   = `A > 10 0e 0004 "MQTT" 05 00 0000 00 0001 "a"` + "\n"
	connect311 = `A > 10 0d 0004 "MQTT" 04 02 0000 0001 "a"` + "\n"
	resume311  = `A > 10 0d 0004 "MQTT" 04 00 0000 0001 "a"` + "\n"
	subscribe1 = `A > 82 07 0001 0002 "a/" 01` + "\nA fence\n"
	publish1   = `A > 32 07 0002 "a/" 0002 "m"` + "\nA fence\n"
)

// known are the smallest scripts that are known to show the planted faults: what
// the minimiser leaves is held against them. A pause gives the broker time to know
// of the end of a connection, which it hears of by no other way than what comes next.
var known = []struct{ defect, oracle, key, script string }{
	{"crash-subscribe-without-options", oracle.Crash, "process-core.readsOptionsUnchecked", "A open 5\n" + connect5 + `A > 82 06 0001 00 0001 "a"`},
	{"crash-property-length", oracle.Crash, "process-core.init", "A open 5\n" + connect5 + `A > 30 04 0001 "a" 05`},
	{"crash-before-connect", oracle.Crash, "process-core.init", "A open 5\nA > c0 00"},
	{"crash-share-without-filter", oracle.Crash, "process-core.init", "A open 5\n" + connect5 + `A > 82 0e 0001 00 0008 "$share/s" 00`},
	{"crash-unknown-alias", oracle.Crash, "process-core.init", "A open 5\n" + connect5 + `A > 30 07 0001 "a" 03 23 ffff`},
	{"crash-takeover-with-open-qos2", oracle.Crash, "process-core.init", "A open 3.1.1\n" + connect311 + "A > 34 06 0001 \"a\" 0001 00\nA fence\nA open 3.1.1\n" + connect311},
	{"hang-deep-filter", oracle.Hang, "broker", "A open 3.1.1\n" + connect311 + `A > 82 b1 02 0001 012c 2f*300 00`},
	{"hang-empty-unsubscribe-filter", oracle.Hang, "broker", "A open 3.1.1\n" + connect311 + `A > a2 04 0001 0000`},
	{"hang-share-without-member", oracle.Hang, "broker", "A open 5\n" + `A > 10 13 0004 "MQTT" 05 00 0000 05 11 000000ff 0001 "a"` + "\n" + `A > 82 10 0001 00 000a "$share/s/a" 00` +
		"\nA fence\nA rst\npause 100ms\nB open 3.1.1\n" + `B > 10 0d 0004 "MQTT" 04 02 0000 0001 "b"` + "\n" + `B > 30 03 0001 "a"`},
	{"hang-busy-after-half-close", oracle.Hang, Busy, "A open 5\nA fin"},
	{"leak-open-identifier", oracle.Leak, "memory", "A open 5\n" + connect5 + `A > 34 06 0001 "a" 0001 00`},
	{"leak-unsubscribed", oracle.Leak, "memory", "A open 3.1.1\n" + connect311 + `A > 82 06 0001 0001 "a" 00` + "\n" + `A > a2 05 0001 0001 "a"`},
	{"leak-will", oracle.Leak, "memory", "A open 3.1.1\n" + `A > 10 13 0004 "MQTT" 04 06 0000 0001 "a" 0001 "a" 0001 "m"`},
	{"leak-descriptor", oracle.Leak, "descriptors", "A open 5\nA fin"},

	{"delivered-at-granted-qos", oracle.Model, "qos-too-high", "A open 3.1.1\n" + connect311 + subscribe1 + `A > 30 05 0002 "a/" "m"` + "\nA fence"},
	{"unsubscribe-ignored", oracle.Model, "undue-delivery", "A open 3.1.1\n" + connect311 + subscribe1 + `A > a2 06 0002 0002 "a/"` + "\nA fence\n" + publish1},
	{"plus-many-levels", oracle.Model, "undue-delivery", "A open 3.1.1\n" + connect311 + `A > 82 08 0001 0003 "a/+" 00` + "\nA fence\n" + `A > 30 08 0005 "a/b/c" "m"` + "\nA fence"},
	{"suback-missing", oracle.Model, "unanswered-suback", "A open 3.1.1\n" + connect311 + `A > 82 06 000c 0001 "a" 00` + "\nA fence"},
	{"qos1-unacknowledged", oracle.Model, "unanswered-puback", "A open 3.1.1\n" + connect311 + publish1},
	{"session-present-always", oracle.Model, "session-present-unknown", "A open 3.1.1\n" + resume311},
	{"no-local-ignored", oracle.Model, "no-local", "A open 5\n" + connect5 + `A > 82 08 0001 00 0002 "a/" 04` + "\nA fence\n" + `A > 30 06 0002 "a/" 00 "m"` + "\nA fence"},
	{"dup-always", oracle.Model, "dup-first", "A open 3.1.1\n" + connect311 + subscribe1 + publish1},
	{"always-clean", oracle.Model, "session-lost", "A open 3.1.1\n" + resume311 + "A fence\nA fin\nA open 3.1.1\n" + resume311 + "A fence"},
	{"will-after-disconnect", oracle.Model, "will-after-disconnect", "A open 3.1.1\n" + connect311 + subscribe1 + "B open 3.1.1\n" + `B > 10 15 0004 "MQTT" 04 06 0000 0002 "ab" 0002 "a/" 0001 "w"` +
		"\nB fence\nB > e0 00\nB fin\nA fence"},
	{"qos1-forgotten", oracle.Model, "not-sent-again", "A open 3.1.1\n" + resume311 + subscribe1 + "A hold\n" + publish1 + "A fin\nA open 3.1.1\n" + resume311 + "A fence"},
	{"qos2-forgotten-on-drop", oracle.Model, "too-many-copies", "B open 3.1.1\n" + `B > 10 0e 0004 "MQTT" 04 02 0000 0002 "ab"` + "\n" + `B > 82 07 0001 0002 "a/" 02` + "\nB fence\n" +
		"A open 3.1.1\n" + resume311 + `A > 34 07 0002 "a/" 0002 "m"` + "\nA fence\nB fence\nA fin\nA open 3.1.1\n" + resume311 + "A fence\n" + `A > 3c 07 0002 "a/" 0002 "m"` + "\nA fence\nB fence"},
	{"session-subscriptions-lost", oracle.Model, "lost-on-resume", "A open 3.1.1\n" + resume311 + subscribe1 + "A fin\nA open 3.1.1\n" + resume311 + "A fence\n" + publish1},
	{"user-properties-sorted", oracle.Model, "property-user-property", "A open 5\n" + connect5 + `A > 82 08 0001 00 0002 "a/" 00` +
		"\nA fence\n" + `A > 30 14 0002 "a/" 0e 26 0001 "z" 0001 "1" 26 0001 "a" 0001 "1" "m"` + "\nA fence"},
	{"takeover-ignored", oracle.Model, "takeover-ignored", "A open 3.1.1\n" + connect311 + "A fence\nB open 3.1.1\n" + `B > 10 0d 0004 "MQTT" 04 02 0000 0001 "a"` + "\nB fence\nA fence"},
}

// smallest is the smallest known script of a planted fault.
func smallest(t *testing.T, defect string) script.Script {
	t.Helper()
	for _, k := range known {
		if k.defect == defect {
			s, err := script.Parse(strings.NewReader(k.script))
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("no script is known that shows %s", defect)
	return nil
}

// TestEachPlantedFaultHasAKnownScript: the minimiser is held against it.
func TestEachPlantedFaultHasAKnownScript(t *testing.T) {
	for _, p := range planted {
		if n := smallest(t, p.defect).Packets(); n > p.packets {
			t.Errorf("%s: the known script has %d packets, and what is found may have %d", p.defect, n, p.packets)
		}
	}
}

// TestOraclesSeeWhatTheyAreFor plays smallest scripts on brokers of ours, with
// the fault and without it.
func TestOraclesSeeWhatTheyAreFor(t *testing.T) {
	for _, k := range known {
		t.Run(k.defect, func(t *testing.T) {
			if testing.Short() && k.oracle != oracle.Crash && k.defect != "leak-descriptor" {
				t.Skip("it takes seconds")
			}
			f, err := finding.Read(strings.NewReader("mqttcheck-replay 1\noracle: " + k.oracle + "\nkey: " + k.key + "\nprefix: a\n-- script --\n" + k.script))
			if err != nil {
				t.Fatal(err)
			}
			for _, defects := range [][]string{{k.defect}, nil} {
				o := ReplayOptions{Patience: time.Second, Times: 1}
				o.Address, o.Start = child(t, defects...)
				if k.oracle == oracle.Hang {
					o.Patience = 300 * time.Millisecond
				}
				r, err := Replay(t.Context(), f, o)
				if err != nil {
					t.Fatal(err)
				}
				if want := defects != nil; r.Happened != want {
					t.Errorf("with %v it happens: %v (%s)\n%s", defects, r.Happened, r.About, r.Observed)
				} else if want {
					t.Log(r.About)
				}
			}
		})
	}
}

func TestReplaySaysWhatItNeeds(t *testing.T) {
	for oracle, want := range map[string]error{oracle.Leak: ErrNeedsStart, oracle.Differ: ErrNeedsAgainst, kept: ErrNoFinding} {
		if _, err := Replay(t.Context(), finding.File{Oracle: oracle}, ReplayOptions{Times: 1}); !errors.Is(err, want) {
			t.Errorf("%s: %v", oracle, err)
		}
	}
}
