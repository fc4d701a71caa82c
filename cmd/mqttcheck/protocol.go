package main

import (
	"encoding/json"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// The protocol between the parent, which owns the outside, and its children,
// which run specs. The parent writes orders to a child's stdin, the child
// writes lines to its stdout; both are one JSON document a line. The end of
// its stdin ends a child, so that none outlives its parent.

// order is what a parent sends: a batch, the answer to what the child asked, or
// the demand to give back what it has not begun of the batch.
type order struct {
	Batch    *batch  `json:"batch,omitempty"`
	Answer   *answer `json:"answer,omitempty"`
	GiveBack bool    `json:"giveBack,omitempty"`
}

// batch is the specs to run next, and all that they know of the outside.
type batch struct {
	Target probe.Target `json:"target"`
	Names  []string     `json:"names"`
	// Versions are those that the specs belong to: no others are registered.
	Versions []string `json:"versions"`
	// Sections are those that register the specs; nil stands for all.
	Sections []int `json:"sections,omitempty"`
	Seed     int64 `json:"seed"`
	Shuffle  bool  `json:"shuffle,omitempty"`
	// Restart tells that the parent can restart the broker.
	Restart bool `json:"restart,omitempty"`
}

// answer is the outcome of a request; Error is empty when it was done.
type answer struct {
	Error string `json:"error"`
}

// line is what a child sends; one of the fields is set.
type line struct {
	Start string           `json:"start,omitempty"` // a spec begins
	Spec  *json.RawMessage `json:"spec,omitempty"`  // a spec has ended: its report
	Done  bool             `json:"done,omitempty"`  // the batch has ended; what has no report was given back
	Ask   string           `json:"ask,omitempty"`   // askRestart or askAlive
	Kill  bool             `json:"kill,omitempty"`  // with askRestart: without warning
	Fault string           `json:"fault,omitempty"` // the batch could not be run
}

// What a child can ask of its parent.
const (
	askRestart = "restart"
	askAlive   = "alive"
)

// suiteBound ends one RunSpecs whatever happens in it; the parent's watch over
// single specs is much shorter.
const suiteBound = time.Hour

// report decodes the report of a spec.
func (l line) report() (types.SpecReport, error) {
	var r types.SpecReport
	err := json.Unmarshal(*l.Spec, &r)
	return r, err
}
