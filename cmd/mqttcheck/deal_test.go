package main

import (
	"slices"
	"testing"
	"time"
)

// dealt plays a campaign on paper: every batch that may start does, the oldest
// ends. It returns the kinds of the batches in order and the checks of each.
func dealt(d *dealer) (kinds []kind, batches [][]check, most int) {
	var running []kind
	for d.left() > 0 || len(running) > 0 {
		for {
			k, batch, ok := d.next()
			if !ok {
				break
			}
			d.running[k]++
			running = append(running, k)
			kinds, batches = append(kinds, k), append(batches, batch)
		}
		most = max(most, len(running))
		if len(running) == 0 {
			return kinds, batches, most // stuck
		}
		d.running[running[0]]--
		running = running[1:]
	}
	return kinds, batches, most
}

// dealing returns checks: some that wait, ordinary ones, and serial ones.
func dealing(waiting, ordinary, alone int) []check {
	checks := actors(slices.Repeat([]string{"passes"}, waiting+ordinary+alone)...)
	for i := range waiting {
		checks[ordinary+i].Timing = true
	}
	for i := range alone {
		checks[i].Serial = true
	}
	return checks
}

func TestEachCheckIsDealtOnce(t *testing.T) {
	for _, procs := range []int{0, 1, 2, 7, 32} {
		checks := dealing(20, 300, 4)
		_, batches, most := dealt(newDealer(checks, procs, true, 42))
		seen := map[string]int{}
		for _, batch := range batches {
			for _, c := range batch {
				seen[c.Name]++
			}
		}
		for _, c := range checks {
			if seen[c.Name] != 1 {
				t.Errorf("--procs %d: %q is dealt %d times", procs, c.Name, seen[c.Name])
			}
		}
		if limit := newDealer(nil, procs, false, 0).slots(); most > limit {
			t.Errorf("--procs %d: %d children at a time", procs, most)
		}
	}
}

func TestWaitingChecksComeFirstAndSerialOnesLast(t *testing.T) {
	kinds, batches, _ := dealt(newDealer(dealing(20, 300, 4), 0, false, 1))
	if kinds[0] != timing {
		t.Errorf("the first batch is of kind %d, want %d", kinds[0], timing)
	}
	for i, k := range kinds {
		if k == timing && len(batches[i]) > 2 {
			t.Errorf("a child has %d checks that wait", len(batches[i]))
		}
		if k == serial && i != len(kinds)-1 {
			t.Errorf("the serial checks are batch %d of %d", i, len(kinds))
		}
	}
}

func TestABatchHoldsOneVersion(t *testing.T) {
	checks := dealing(0, 40, 0)
	for i := 20; i < 40; i++ {
		checks[i].Versions = []string{"v5"}
	}
	_, batches, _ := dealt(newDealer(checks, 1, true, 3))
	for _, batch := range batches {
		for _, c := range batch {
			if !slices.Equal(c.Versions, batch[0].Versions) {
				t.Fatalf("a batch has checks of %v and %v", c.Versions, batch[0].Versions)
			}
		}
	}
}

func TestWhereChecksWaitForNothingMoreChildrenTakeOneEach(t *testing.T) {
	d := newDealer(dealing(0, 300, 0), 0, false, 1)
	few := d.plainSlots()
	for range 50 {
		d.took(plain, 2*time.Second)
	}
	if d.plainSlots() != maxChildren || few >= maxChildren {
		t.Errorf("%d children, then %d; want more", few, d.plainSlots())
	}
	if n := d.size(); n != 1 {
		t.Errorf("a batch has %d checks of two seconds each", n)
	}
}

func TestShuffleDependsOnTheSeedOnly(t *testing.T) {
	order := func(seed int64) []string {
		return names(newDealer(dealing(0, 50, 0), 1, true, seed).queues[plain])
	}
	if !slices.Equal(order(7), order(7)) {
		t.Error("the same seed gives two orders")
	}
	if slices.Equal(order(7), order(8)) {
		t.Error("two seeds give the same order")
	}
}
