package main

import (
	"encoding/json"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// unseenAfter is the number of waits for a kind of packet that must have
// expired, without one such packet in the whole run, before the wait for it is
// shortened.
const unseenAfter = 5

// sightings counts over the whole run which kinds of packet came and which
// were waited for in vain.
type sightings struct {
	expired   map[string]int
	seen      map[string]bool
	shortened map[string][]string // kind → checks whose wait for it was short
}

func newSightings() *sightings {
	return &sightings{expired: map[string]int{}, seen: map[string]bool{}, shortened: map[string][]string{}}
}

// add counts what one check saw; told is what its batch had been told is
// unseen. It returns the checks that have to run again because they waited
// only briefly for a kind that has come now: the order of the checks must not
// change what is said of a broker that does send it.
func (s *sightings) add(name string, w probe.Waits, told map[string]bool) (again []string) {
	for kind, n := range w.Expired {
		s.expired[kind] += n
		if told[kind] && !s.seen[kind] {
			s.shortened[kind] = append(s.shortened[kind], name)
		}
		if told[kind] && s.seen[kind] {
			again = append(again, name)
		}
	}
	for kind, came := range w.Seen {
		if came && !s.seen[kind] {
			s.seen[kind] = true
			again = append(again, s.shortened[kind]...)
			delete(s.shortened, kind)
		}
	}
	return again
}

// unseen returns the kinds that the next batch need not wait for at length.
func (s *sightings) unseen() map[string]bool {
	out := map[string]bool{}
	for kind, n := range s.expired {
		if n >= unseenAfter && !s.seen[kind] {
			out[kind] = true
		}
	}
	return out
}

// waitsOf reads the entry of a report in which the check says what it waited
// for.
func waitsOf(r types.SpecReport) probe.Waits {
	var sum probe.Waits
	for _, e := range r.ReportEntries {
		if e.Name == "waits" {
			// An entry that does not parse says nothing.
			_ = json.Unmarshal([]byte(e.Value.AsJSON), &sum)
		}
	}
	return sum
}
