package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reports"
)

// The proof: every defect of the reference broker is caught by the checks of
// exactly the statements that it declares, and every check can fail.
//
// A plain test run judges some defects of the kill matrix by the checks of their
// statements and a few others. With MQTTCHECK_PROOF=sample it is every defect and
// more of the others, with MQTTCHECK_PROOF=all every defect and the whole suite;
// sample:i/n and i/n leave a share. With -update what was seen is written to the
// kill matrix. Some defects alone: -run 'TestProofDefectsAreCaught/^(NAME|NAME)$'.

var update = flag.Bool("update", false, "write docs/proof.tsv (with MQTTCHECK_PROOF)")

// sampled is what MQTTCHECK_PROOF begins with where checks are drawn for each
// defect.
const sampled = "sample"

// mostOpen is how many defects may not be proven yet.
const mostOpen = 0

// mostUnkilled is how many checks of a version no defect may kill yet. It only
// falls.
var mostUnkilled = map[string]int{"v311": 0, "v5": 0}

func TestProofDefectsAreCaught(t *testing.T) {
	if testing.Short() {
		t.Skip("the proof takes minutes: leave -short out")
	}
	t.Setenv("MQTTCHECK_URL", "")
	asked := os.Getenv("MQTTCHECK_PROOF")
	share, drawn := strings.CutPrefix(asked, sampled)
	chosen, others := chosenDefects(t, strings.TrimPrefix(share, ":")), 20
	if asked == "" {
		chosen, others, drawn = provenDefects(t, chosen), 5, true
	}
	all := allChecks()
	trials := make([]trial, len(chosen))
	inParallel(len(chosen), 4, func(i int) {
		var selectors []string
		if drawn {
			selectors = sample(all, chosen[i], others)
		}
		trials[i] = try(t, chosen[i], selectors)
	})
	for _, tr := range trials {
		t.Run(tr.defect.Name, tr.report)
	}
	if asked != "" && *update {
		writeMatrix(t, trials)
	}
}

// plainShare is which part of the proven defects a plain run tries: every eighth
// one, which takes some two minutes on two processors.
const plainShare = 8

// provenDefects leaves a share of the defects that are in the kill matrix. What
// is not in it was not seen to be exact yet: make proof tries it.
func provenDefects(t *testing.T, chosen []core.Defect) []core.Defect {
	caught := map[string]bool{}
	for _, k := range readMatrix(t) {
		caught[k.defect] = true
	}
	at := 0
	return slices.DeleteFunc(chosen, func(d core.Defect) bool {
		if !caught[d.Name] {
			return true
		}
		at++
		return at%plainShare != 1
	})
}

// TestProofIsWhole holds the kill matrix against the suite: no defect is
// missing in it, and no check that passes on the reference.
func TestProofIsWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the suite")
	}
	t.Setenv("MQTTCHECK_URL", "")
	killed, caught, open := map[string]bool{}, map[string]bool{}, 0
	for _, k := range readMatrix(t) {
		caught[k.defect] = true
		killed[k.target()] = true
	}
	for _, d := range core.Defects() {
		if !caught[d.Name] && d.Shows != core.Fuzz {
			t.Logf("the defect %s is not proven: run make proof", d.Name)
			open++
		}
	}
	if open > mostOpen {
		t.Errorf("%d defects are not proven, more than %d", open, mostOpen)
	}
	missing := map[string]bool{}
	for _, st := range proofRun(t, "--second", "250ms").Statements {
		for _, c := range st.Checks {
			k := kill{"", st.ID, c.Name, ""}
			if c.Verdict == reports.Pass && !killed[k.target()] {
				missing[k.target()] = true
			}
		}
	}
	perVersion := map[string]int{}
	for _, name := range sortedKeys(missing) {
		v, _, _ := strings.Cut(name, " ")
		perVersion[v]++
		t.Logf("no defect kills %s", name)
	}
	for v, n := range perVersion {
		if n > mostUnkilled[v] {
			t.Errorf("no defect kills %d checks of %s, more than %d", n, v, mostUnkilled[v])
		}
	}
	t.Logf("checks that no defect kills: %v", perVersion)
}

// shareOf reads a share of what there is to try: all of it (an empty word, or
// all), or every n-th (i/n). It tells whether what has a number is in it.
func shareOf(t *testing.T, word string) func(number int) bool {
	t.Helper()
	i, n := 1, 1
	if word == "" || word == "all" {
		return func(int) bool { return true }
	}
	if _, err := fmt.Sscanf(word, "%d/%d", &i, &n); err != nil || n < 1 || i < 1 || i > n {
		t.Fatalf("%q is no share: write all, or i/n", word)
	}
	return func(number int) bool { return number%n == i-1 }
}

// chosenDefects returns a share of the defects that show in a run.
func chosenDefects(t *testing.T, share string) []core.Defect {
	t.Helper()
	mine := shareOf(t, share)
	// What -run says of subtests is asked for before they begin: all are tried
	// ahead of them, some at a time.
	_, named, _ := strings.Cut(flag.Lookup("test.run").Value.String(), "/")
	name, err := regexp.Compile(named)
	if err != nil {
		t.Fatal(err)
	}
	var chosen []core.Defect
	for at, d := range core.Defects() {
		if mine(at) && d.Shows != core.Fuzz && name.MatchString(d.Name) {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// inParallel calls do for 0 to n-1, some at a time.
func inParallel(n, most int, do func(i int)) {
	free := make(chan bool, most)
	var wg sync.WaitGroup
	for i := range n {
		free <- true
		wg.Go(func() {
			defer func() { <-free }()
			do(i)
		})
	}
	wg.Wait()
}
