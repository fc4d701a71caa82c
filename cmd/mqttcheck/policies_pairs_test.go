package main

import (
	"slices"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// deliveryPolicies are those that say whom messages reach, when and how often.
// Their values may hide each other's faults: every two values meet in one of
// the covering runs.
var deliveryPolicies = []string{
	"share-dispatch", "dollar-topics", "share-redelivery", "share-311", "share-311-retained", "window",
	"welcome", "acknowledges", "share-away", "share-busy", "share-order", "share-joining", "share-qos0-sent",
	"share-too-large", "overlap", "qos0-offline", "qos0-while-blocked", "qos2-onward", "retain-qos0",
	"unsubscribe-buffered", "packet-ids", "downgraded-duplicates", "no-local-retained", "no-local-overlap",
	"resent-identifiers", "outgoing-aliases", "sys",
}

// mostCovering is how many runs may be needed.
const mostCovering = 20

// policyPair is a value of each of two policies.
type policyPair struct {
	i, j int // of the policies
	x, y string
}

// coveringRuns returns settings of the policies such that every two values of
// any two of them come together in one: each run takes, policy by policy, the
// value that brings most pairs that are still missing, beginning with a pair
// that is.
func coveringRuns(names []string, values [][]string) []map[string]string {
	var missing []policyPair
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			for _, x := range values[i] {
				for _, y := range values[j] {
					missing = append(missing, policyPair{i, j, x, y})
				}
			}
		}
	}
	var runs []map[string]string
	for len(missing) > 0 {
		run := map[string]string{names[missing[0].i]: missing[0].x, names[missing[0].j]: missing[0].y}
		for k, name := range names {
			if run[name] == "" {
				run[name] = mostPairs(missing, names, run, k, values[k])
			}
		}
		missing = slices.DeleteFunc(missing, func(p policyPair) bool { return run[names[p.i]] == p.x && run[names[p.j]] == p.y })
		runs = append(runs, run)
	}
	return runs
}

// mostPairs returns the value of the k-th policy that makes most of the missing
// pairs with what a run has already.
func mostPairs(missing []policyPair, names []string, run map[string]string, k int, values []string) string {
	best, most := values[0], -1
	for _, value := range values {
		n := 0
		for _, p := range missing {
			if p.i == k && p.x == value && run[names[p.j]] == p.y || p.j == k && p.y == value && run[names[p.i]] == p.x {
				n++
			}
		}
		if n > most {
			best, most = value, n
		}
	}
	return best
}

// covering returns the covering runs over the delivery policies.
func covering(t *testing.T) []map[string]string {
	t.Helper()
	values := make([][]string, len(deliveryPolicies))
	for i, name := range deliveryPolicies {
		at := slices.IndexFunc(core.Policies(), func(p core.PolicyInfo) bool { return p.Name == name })
		if at < 0 {
			t.Fatalf("there is no policy %q", name)
		}
		values[i] = core.Policies()[at].Values
	}
	return coveringRuns(deliveryPolicies, values)
}

func TestPoliciesCoveringRunsHaveEveryPair(t *testing.T) {
	runs := covering(t)
	if len(runs) > mostCovering {
		t.Errorf("%d runs, more than %d", len(runs), mostCovering)
	}
	for i, a := range deliveryPolicies {
		for _, b := range deliveryPolicies[i+1:] {
			pairs := map[[2]string]bool{}
			for _, run := range runs {
				pairs[[2]string{run[a], run[b]}] = true
			}
			if want := valuesOf(a) * valuesOf(b); len(pairs) != want {
				t.Errorf("%s and %s come together in %d ways, want %d", a, b, len(pairs), want)
			}
		}
	}
}

func valuesOf(name string) int {
	for _, p := range core.Policies() {
		if p.Name == name {
			return len(p.Values)
		}
	}
	return 0
}
