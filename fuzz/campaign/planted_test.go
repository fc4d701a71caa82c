package campaign

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// serveEnv makes the test binary a broker: the address, its defects, and its
// policies, NAME=VALUE.
const serveEnv = "MQTTCHECK_FUZZ_SERVE"

func TestMain(m *testing.M) {
	if address, defects, ok := strings.Cut(os.Getenv(serveEnv), " "); ok {
		serve(address, strings.Fields(defects))
		return
	}
	os.Exit(m.Run())
}

func serve(address string, settings []string) {
	o := reference.Options{Listen: []string{"mqtt://" + address}, Policies: map[string]string{}}
	for _, s := range settings {
		if name, value, policy := strings.Cut(s, "="); policy {
			o.Policies[name] = value
		} else {
			o.Defects = append(o.Defects, s)
		}
	}
	b, err := reference.Start(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	over := make(chan os.Signal, 1)
	signal.Notify(over, os.Interrupt, syscall.SIGTERM)
	<-over
	_ = b.Close()
}

// child is the reference broker in a process of its own.
func child(t testing.TB, settings ...string) (wire.Address, *proc.Command) {
	t.Helper()
	port, err := proc.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return wire.Address{URL: "mqtt://" + address}, &proc.Command{
		Args: []string{os.Args[0]}, Env: []string{serveEnv + "=" + address + " " + strings.Join(settings, " ")},
		Address: address, Grace: time.Second, Ready: 20 * time.Second,
	}
}

// planted are faults of the reference broker that the fuzzer has to find, with
// what it finds, the packets that its smallest script may have, and the
// conversations that it may take. Those of every plain run of the tests are
// marked.
var planted = []struct {
	defect, oracle, key string
	packets             int
	most                int
	plain               bool
}{
	{"crash-subscribe-without-options", oracle.Crash, "process-", 2, 3000, true},
	{"crash-property-length", oracle.Crash, "process-", 2, 3000, false},
	{"crash-before-connect", oracle.Crash, "process-", 1, 3000, false},
	{"crash-share-without-filter", oracle.Crash, "process-", 2, 3000, false},
	{"crash-takeover-with-open-qos2", oracle.Crash, "process-", 3, 3000, false},
	{"crash-unknown-alias", oracle.Crash, "process-", 2, 6000, false},
	{"hang-deep-filter", oracle.Hang, "broker", 2, 3000, false},
	{"hang-empty-unsubscribe-filter", oracle.Hang, "broker", 2, 12000, false},
	{"hang-share-without-member", oracle.Hang, "broker", 4, 3000, false},
	{"hang-busy-after-half-close", oracle.Hang, Busy, 1, 3000, false},
	{"leak-open-identifier", oracle.Leak, "memory", 3, 6000, false},
	{"leak-unsubscribed", oracle.Leak, "memory", 5, 12000, false},
	{"leak-will", oracle.Leak, "memory", 4, 12000, false},
	{"leak-descriptor", oracle.Leak, "descriptors", 2, 6000, false},

	{"delivered-at-granted-qos", oracle.Model, "qos-too-high", 6, 1000, false},
	{"unsubscribe-ignored", oracle.Model, "undue-delivery", 8, 3000, true},
	{"plus-many-levels", oracle.Model, "undue-delivery", 6, 3000, false},
	{"suback-missing", oracle.Model, "unanswered-suback", 4, 1000, false},
	{"qos1-unacknowledged", oracle.Model, "unanswered-puback", 4, 1000, true},
	{"session-present-always", oracle.Model, "session-present-unknown", 4, 1000, false},
	{"no-local-ignored", oracle.Model, "no-local", 4, 3000, false},
	{"dup-always", oracle.Model, "dup-first", 4, 1000, false},
	{"always-clean", oracle.Model, "session-lost", 3, 3000, false},
	{"will-after-disconnect", oracle.Model, "will-after-disconnect", 5, 6000, false},
	{"qos1-forgotten", oracle.Model, "not-sent-again", 6, 3000, false},
	{"qos2-forgotten-on-drop", oracle.Model, "too-many-copies", 6, 12000, false},
	{"session-subscriptions-lost", oracle.Model, "lost-on-resume", 6, 6000, false},
	{"user-properties-sorted", oracle.Model, "property-user-property", 4, 6000, false},
	{"takeover-ignored", oracle.Model, "takeover-ignored", 3, 6000, false},
}

// plantedEnv is the environment variable under which all are looked for.
const plantedEnv = "MQTTCHECK_PLANTED"

func TestPlantedFaultsAreFound(t *testing.T) {
	all := os.Getenv(plantedEnv)
	for _, p := range planted {
		if all == "" && (testing.Short() || !p.plain) || all != "" && all != "all" && !strings.Contains(p.defect, all) {
			continue
		}
		t.Run(p.defect, func(t *testing.T) {
			found, s, o := hunt(t, p.defect, p.oracle, p.key, uint64(p.most))
			if found == nil {
				t.Fatalf("%d conversations in %.0f s, not found; found: %+v", s.Conversations, s.Seconds, s.Findings)
			}
			if n := found.Script.Packets(); n > p.packets {
				t.Errorf("%d packets are left, more than %d", n, p.packets)
			}
			t.Logf("after %d conversations and %.0f s: %s, %s, %d packets, %d bytes\n%s", s.Conversations, s.Seconds, found.About, found.Minimised, found.Script.Packets(), found.Script.Size(), found.Script)
			t.Logf("minimiser: %s: %d packets, the smallest known script has %d; %d plays", p.defect, found.Script.Packets(), smallest(t, p.defect).Packets(), found.Plays)
			for n := range 10 {
				again, err := Replay(t.Context(), *found, o)
				if err != nil || !again.Happened {
					t.Fatalf("playing %d: it does not happen: %v\n%s", n+1, err, again.Observed)
				}
			}
		})
	}
}

// hunt has conversations with a broker that has a defect until it is found. It
// returns how a finding is to be played again.
func hunt(t *testing.T, defect, oracle, key string, most uint64) (*finding.File, Summary, ReplayOptions) {
	d, err := core.LookupDefect(defect)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o := Options{Seed: 1, Most: most, Duration: 90 * time.Second, Shrink: 20 * time.Second}
	if d.Shows == core.Fuzz {
		o.Address, o.Start = child(t, defect)
	} else {
		o.Address = start(t, reference.Options{Defects: []string{defect}})
	}
	var mu sync.Mutex
	var found *finding.File
	o.Found = func(f finding.File) {
		mu.Lock()
		defer mu.Unlock()
		if f.Oracle == oracle && strings.HasPrefix(f.Key, key) && found == nil {
			found = &f
			stop()
		}
	}
	s, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	return found, s, ReplayOptions{Address: o.Address, Start: o.Start, Patience: time.Second, Times: 3}
}
