package campaign

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
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

// TestAgainstFindsADifference compares two reference brokers: one is healthy.
func TestAgainstFindsADifference(t *testing.T) {
	for _, k := range []struct {
		defect string
		key    string // "" for none
	}{{"", ""}, {"second-connect-accepted", "reaction-connect"}} {
		other := reference.Options{}
		if k.defect != "" {
			other.Defects = []string{k.defect}
		}
		against := start(t, other)
		s, err := Run(t.Context(), Options{Address: start(t, reference.Options{}), Against: &against, Seed: 9, Most: 150, Shrink: time.Second})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Findings {
			if f.Oracle != oracle.Differ || f.Key != k.key {
				t.Errorf("%s %s: %s\n%s", f.Oracle, f.Key, f.About, f.Script)
			}
		}
		if k.key != "" && len(s.Findings) == 0 {
			t.Errorf("%s is no difference", k.defect)
		}
	}
}

func TestCorpusGoesOnWhereItEnded(t *testing.T) {
	dir := t.TempDir()
	o := Options{Address: start(t, reference.Options{}), Seed: 3, Most: 40, Corpus: dir}
	first, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if first.Next != 40 || first.Conversations != 40 {
		t.Errorf("%d conversations, the next is %d", first.Conversations, first.Next)
	}
	held, _ := filepath.Glob(filepath.Join(dir, "conversations", "*.mqr"))
	inputs, _ := filepath.Glob(filepath.Join(dir, "FuzzDecode", "*"))
	if len(held) < 20 || len(inputs) < 20 {
		t.Fatalf("%d conversations and %d inputs are kept", len(held), len(inputs))
	}
	text, err := os.ReadFile(inputs[0])
	if err != nil || !strings.HasPrefix(string(text), "go test fuzz v1\n[]byte(") || strings.Count(string(text), "\n") != 4 {
		t.Errorf("an input is %q, %v", text, err)
	}
	second, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if second.Next != 80 || second.Conversations != 40+len(held) {
		t.Errorf("then %d conversations, %d were kept, the next is %d", second.Conversations, len(held), second.Next)
	}
}

// TestShardsAreTheWhole has a campaign in two ranges and merges what they found.
func TestShardsAreTheWhole(t *testing.T) {
	o := Options{Address: start(t, reference.Options{Defects: []string{"qos1-unacknowledged"}}), Seed: 1, Most: 10, Shrink: time.Second}
	var dirs []string
	for n := range uint64(2) {
		o.First, o.Dir = 10*n, t.TempDir()
		dirs = append(dirs, o.Dir)
		if err := os.Mkdir(FindingsDir(o.Dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if s, err := Run(t.Context(), o); err != nil || s.Conversations != 10 || s.Seen["model-unanswered-puback"] == 0 {
			t.Fatalf("shard %d: %d conversations, %v, %v", n, s.Conversations, s.Seen, err)
		}
	}
	all := t.TempDir()
	if err := os.Mkdir(FindingsDir(all), 0o755); err != nil {
		t.Fatal(err)
	}
	n, err := Merge(all, dirs)
	if err != nil || n < 1 {
		t.Fatalf("%d findings, %v", n, err)
	}
	f, err := finding.Load(filepath.Join(FindingsDir(all), "model-unanswered-puback.mqr"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if other, err := finding.Load(filepath.Join(FindingsDir(dir), f.Name())); err != nil || other.Script.Size() < f.Script.Size() {
			t.Errorf("a smaller one was left: %d bytes of %d, %v", other.Script.Size(), f.Script.Size(), err)
		}
	}
}

// TestInterruptedCampaignKeepsItsFindings ends a campaign in the middle.
func TestInterruptedCampaignKeepsItsFindings(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	if err := os.Mkdir(FindingsDir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	var stopped time.Time
	o := Options{Address: start(t, reference.Options{Defects: []string{"qos1-unacknowledged"}}), Seed: 1, Dir: dir, Shrink: time.Minute, Duration: time.Hour}
	o.Progress = func(s Summary) {
		if len(s.Seen) > 0 && stopped.IsZero() {
			stopped = time.Now()
			stop()
		}
	}
	s, err := Run(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	if taken := time.Since(stopped); taken > 5*time.Second {
		t.Errorf("it went on for %s", taken)
	}
	files, _ := filepath.Glob(filepath.Join(FindingsDir(dir), "*.mqr"))
	if len(s.Findings) == 0 || len(files) != len(s.Findings) {
		t.Errorf("%d findings, %d files", len(s.Findings), len(files))
	}
}
