package model

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// cases is how many conversations the healthy reference has with the model
// looking on. MQTTCHECK_SOUND_CASES sets another number, MQTTCHECK_SOUND_URL
// another broker.
func cases(t *testing.T) uint64 {
	if n, err := strconv.ParseUint(os.Getenv("MQTTCHECK_SOUND_CASES"), 10, 32); err == nil {
		return n
	}
	if testing.Short() {
		return 300
	}
	return 2000
}

// seed is that of the conversations; MQTTCHECK_SOUND_SEED sets another.
func seed() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("MQTTCHECK_SOUND_SEED"), 10, 64); err == nil {
		return n
	}
	return 11
}

// TestTheModelAccusesNobodyWrongly holds the model against the healthy
// reference broker, and against it under policies: a finding is a fault of the
// model.
func TestTheModelAccusesNobodyWrongly(t *testing.T) {
	for name, policies := range map[string]map[string]string{
		"defaults": nil,
		"each":     {"overlap": "each", "qos2-onward": "pubrel", "qos0-offline": "keep"},
		"limits":   {"maximum-qos": "1", "granted-qos-311": "1", "retain": "no", "receive-maximum": "10"},
		"window":   {"window": "1", "packet-ids": "lowest", "acknowledges": "first", "welcome": "before-suback"},
	} {
		t.Run(name, func(t *testing.T) {
			url := os.Getenv("MQTTCHECK_SOUND_URL")
			if url == "" {
				b, err := reference.Start(reference.Options{Policies: policies})
				if err != nil {
					t.Fatal(err)
				}
				defer b.Close()
				url = b.URL()
			}
			watch(t, url, cases(t))
		})
	}
}

func watch(t *testing.T, url string, n uint64) {
	t.Helper()
	g := generate.New(generate.Options{Seed: seed()})
	var profile Profile
	var wg sync.WaitGroup
	begin := time.Now()
	for k := range uint64(4) {
		wg.Go(func() {
			for i := k; i < n && !t.Failed(); i += 4 {
				c := g.Case(i)
				log := play.Play(t.Context(), c.Script, play.Options{Address: wire.Address{URL: url}})
				for _, f := range Judge(log, c.Prefix, &profile) {
					t.Errorf("case %d, step %d: %s: %s\n%s\n%s", i, f.Step, f.Key, f.Text, c.Script, show(log))
				}
				for _, conn := range log.Conns {
					for _, v := range conn.Violations {
						t.Errorf("case %d: %s: %s\n%s", i, v.Key, v.Text, c.Script)
					}
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d conversations in %s\n%v", n, time.Since(begin).Round(time.Millisecond), profile.Lines())
}
