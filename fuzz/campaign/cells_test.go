package campaign

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// cellsEnv is the environment variable that says how long a campaign may take to
// come to the cells, or, with an x behind it, how many conversations are made for that
// and not played.
const cellsEnv = "MQTTCHECK_CELLS"

// all are the cells: version, state, packet and validity.
func all() []generate.Cell {
	var list []generate.Cell
	for _, v := range []wire.Version{wire.V311, wire.V5} {
		for state := generate.Closed; state <= generate.Holding; state++ {
			for kind := range wire.Type(16) {
				for _, validity := range []generate.Validity{generate.Legal, generate.Misplaced, generate.Malformed} {
					list = append(list, generate.Cell{Version: v, State: state, Kind: kind, Validity: validity})
				}
			}
		}
	}
	return list
}

// possible tells whether a script can come to a cell at all.
func possible(c generate.Cell) bool {
	started := c.State != generate.Fresh
	switch {
	case c.State == generate.Closed:
		return false // there is nothing to send on
	case c.Validity == generate.Malformed:
		return true // the first byte names any type
	case c.Validity == generate.Misplaced && started:
		return c.Kind != wire.PINGREQ // which may come at any time
	case c.Validity == generate.Misplaced:
		return c.Kind != wire.CONNECT
	case !started:
		return c.Kind == wire.CONNECT
	case c.Kind == wire.SUBSCRIBE:
		return c.State != generate.Connected // with it the client counts as subscribed
	}
	// PUBACK, PUBREC and PUBCOMP are due when the broker has sent something: no
	// script has them, whoever plays it sends them. No client agrees on AUTH.
	return slices.Contains([]wire.Type{wire.PUBLISH, wire.PUBREL, wire.UNSUBSCRIBE, wire.PINGREQ, wire.DISCONNECT}, c.Kind)
}

// reachable are the possible cells, by name.
func reachable() map[string]bool {
	names := map[string]bool{}
	for _, c := range all() {
		if possible(c) {
			names[c.String()] = true
		}
	}
	return names
}

// missing are the cells that were not come to, in the order of their names.
func missing(reachable map[string]bool, seen []Situation) (list []string) {
	met := map[string]bool{}
	for _, s := range seen {
		met[strings.Join([]string{s.Version, s.State, s.Packet, s.Validity}, " ")] = true
	}
	for name := range reachable {
		if !met[name] {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// TestConversationsReachTheirCells: the conversations come to cells that are
// possible only, and to most of them soon.
func TestConversationsReachTheirCells(t *testing.T) {
	most := uint64(20_000)
	if n, err := strconv.ParseUint(strings.TrimSuffix(os.Getenv(cellsEnv), "x"), 10, 32); err == nil {
		most = n
	}
	cells := map[generate.Cell]int{}
	g := generate.New(generate.Options{Seed: 1})
	for n := range most {
		for _, c := range g.Case(n).Cells {
			if cells[c]++; cells[c] == 1 && !possible(c) {
				t.Errorf("conversation %d comes to %s, which is not possible", n, c)
			}
		}
	}
	can := reachable()
	left := missing(can, coverage(cells))
	if len(left) > len(can)/4 {
		t.Error("more than a fourth of the cells are not come to")
	}
	t.Logf("%d conversations: %s", most, reached(can, left))
}

// reached tells to how many cells it was come.
func reached(can map[string]bool, left []string) string {
	n := len(can) - len(left)
	return fmt.Sprintf("%d cells of %d that are possible (%.1f %%), of %d in all; not: %s", n, len(can), 100*float64(n)/float64(len(can)), len(all()), strings.Join(left, ", "))
}

// TestCellsOfACampaign prints to which share of the cells a campaign on the
// reference broker comes in the time of MQTTCHECK_CELLS.
func TestCellsOfACampaign(t *testing.T) {
	d, err := time.ParseDuration(os.Getenv(cellsEnv))
	if err != nil {
		t.Skip(cellsEnv + " is no time: make cells")
	}
	o := Options{Seed: 1, Duration: d}
	o.Address, o.Start = child(t)
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	can := reachable()
	left := missing(can, s.Coverage)
	t.Logf("%d conversations in %.0f s: %s", s.Conversations, s.Seconds, reached(can, left))
	if len(can)-len(left) != s.Cells {
		t.Errorf("the summary has %d cells", s.Cells)
	}
	for _, f := range s.Findings {
		t.Errorf("%s %s: %s", f.Oracle, f.Key, f.About)
	}
}
