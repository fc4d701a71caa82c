package main

import (
	"context"
	"slices"
	"time"

	"github.com/onsi/ginkgo/v2/types"
)

// watch keeps reports that do not speak for the broker back until the broker
// is known to have been alive after they were made: what goes wrong because
// the broker has died accuses nobody.
type watch struct {
	alive   func(context.Context) error // nil: the broker is never looked at
	results chan error
	held    []types.SpecReport // wait for the next look
	looked  []types.SpecReport // wait for the look that is on its way
	looking bool
}

// looks is how often a broker is asked before it counts as gone.
const looks = 3

func newWatch(alive func(context.Context) error) *watch {
	return &watch{alive: alive, results: make(chan error, 1)}
}

// hold keeps a report and starts a look at the broker when none is on its way.
func (w *watch) hold(r types.SpecReport) {
	w.held = append(w.held, r)
	w.look()
}

func (w *watch) look() {
	if w.looking || len(w.held) == 0 {
		return
	}
	w.looking = true
	w.looked, w.held = w.held, nil
	if w.alive == nil {
		w.results <- nil
		return
	}
	go func() {
		var err error
		for range looks {
			ctx, cancel := context.WithTimeout(context.Background(), aliveWait)
			err = w.alive(ctx)
			if err == nil {
				cancel()
				break
			}
			pause := time.NewTimer(200 * time.Millisecond)
			<-pause.C
			cancel()
		}
		w.results <- err
	}()
}

// release ends a look and returns the reports that were waiting for it; when
// the broker is gone, all.
func (w *watch) release(alive bool) []types.SpecReport {
	out := w.looked
	w.looked, w.looking = nil, false
	if !alive {
		out = append(out, w.held...)
		w.held = nil
	}
	w.look()
	return out
}

// drop forgets the report of a check that runs again.
func (w *watch) drop(name string) {
	is := func(r types.SpecReport) bool { return r.FullText() == name }
	w.held = slices.DeleteFunc(w.held, is)
	w.looked = slices.DeleteFunc(w.looked, is)
}

// abandon stops waiting for a look that is on its way; what it was for is lost.
func (w *watch) abandon() {
	w.held, w.looked, w.looking = nil, nil, false
}

// busy tells whether reports wait.
func (w *watch) busy() bool { return w.looking || len(w.held) > 0 }
