package main

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"time"
)

// kind is what sort of batch a worker runs.
type kind int

const (
	plain  kind = iota
	timing      // checks that wait, or may: they cost no CPU
	lone        // one check again, in a child of its own, after a child died
	serial      // checks that need the broker for themselves
)

// maxChildren bounds the children of a run.
const maxChildren = 48

// batchAim is how long a batch of ordinary checks should take. Setting Ginkgo
// up for one costs some 10 ms of CPU, so much shorter ones are waste, and much
// longer ones leave a tail and learn late what the run has not seen.
const batchAim = 400 * time.Millisecond

// dealer decides which checks run next, and how many at a time.
type dealer struct {
	queues  map[kind][]check
	procs   int           // --procs; 0 leaves the number to the dealer
	mean    time.Duration // of the ordinary checks so far
	results int           // that mean is of
	running map[kind]int  // workers
}

// newDealer sorts the checks into queues. With shuffle the seed decides the
// order in each. What may wait long goes ahead: begun last it would be a tail.
func newDealer(checks []check, procs int, shuffle bool, seed int64) *dealer {
	d := &dealer{queues: map[kind][]check{}, running: map[kind]int{}, procs: procs, mean: guess}
	checks = slices.Clone(checks)
	if shuffle {
		r := rand.New(rand.NewPCG(uint64(seed), 0))
		r.Shuffle(len(checks), func(i, j int) { checks[i], checks[j] = checks[j], checks[i] })
	}
	var patient []check
	for _, c := range checks {
		switch {
		case c.Serial:
			d.again(serial, c)
		case c.Patient:
			patient = append(patient, c)
		case c.Timing:
			d.again(timing, c)
		default:
			d.again(plain, c)
		}
	}
	d.queues[timing] = append(patient, d.queues[timing]...)
	return d
}

// slots is how many children there may be at a time.
func (d *dealer) slots() int {
	if d.procs > 0 {
		return min(d.procs, maxChildren)
	}
	return maxChildren
}

// guess is the mean by which the first batches are cut, and enough results are
// so many that little is left of it.
const (
	guess  = 100 * time.Millisecond
	enough = 8
)

// plainCost is about what an ordinary check costs in CPU, here and at the
// broker, with some to spare.
const plainCost = 16 * time.Millisecond

// plainSlots is how many children may run ordinary checks: twice the CPUs, and
// more where the checks mostly wait, up to what keeps the CPUs busy.
func (d *dealer) plainSlots() int {
	cpus := runtime.NumCPU()
	n := 2 * cpus
	if d.results >= enough {
		n = max(n, int(time.Duration(cpus)*d.mean/plainCost))
	}
	return max(1, min(n, d.slots()))
}

// timingSlots leaves room for the ordinary checks where there is any.
func (d *dealer) timingSlots() int {
	if len(d.queues[plain]) == 0 {
		return d.slots()
	}
	return max(1, d.slots()-min(2*runtime.NumCPU(), d.slots()/2))
}

// left is the number of checks that have not been dealt.
func (d *dealer) left() int {
	n := 0
	for _, q := range d.queues {
		n += len(q)
	}
	return n
}

// busy is the number of workers with a batch.
func (d *dealer) busy() int {
	n := 0
	for _, k := range d.running {
		n += k
	}
	return n
}

// next takes the checks of the next batch out of their queue; ok is false when
// nothing may start now. A batch holds checks of one version.
func (d *dealer) next() (k kind, batch []check, ok bool) {
	if d.running[serial] > 0 || d.busy() >= d.slots() {
		return 0, nil, false
	}
	switch {
	case len(d.queues[timing]) > 0 && d.running[timing] < d.timingSlots():
		// One at a time: beside seconds of waiting the cost of a batch is nothing,
		// and all children are done with them at about the same time.
		return timing, d.take(timing, 1), true
	case len(d.queues[plain]) > 0 && d.running[plain] < d.plainSlots():
		return plain, d.take(plain, d.size()), true
	case len(d.queues[plain]) == 0 && len(d.queues[lone]) > 0 && d.running[lone] < d.plainSlots():
		return lone, d.take(lone, 1), true
	case d.busy() == 0 && len(d.queues[serial]) > 0:
		return serial, d.take(serial, len(d.queues[serial])), true
	}
	return 0, nil, false
}

// size is the number of ordinary checks in the next batch: what takes about
// batchAim by the mean so far, and near the end less, so that all children end
// at about the same time.
func (d *dealer) size() int {
	left := len(d.queues[plain])
	n := int(batchAim / max(d.mean, time.Millisecond))
	fair := left / (2 * d.plainSlots())
	floor := int(batchAim / 8 / max(d.mean, time.Millisecond))
	return max(1, min(n, max(fair, floor), left))
}

func (d *dealer) take(k kind, n int) []check {
	q := d.queues[k]
	n = min(n, len(q))
	for i := 1; i < n; i++ {
		if !slices.Equal(q[i].Versions, q[0].Versions) {
			n = i
			break
		}
	}
	d.queues[k] = q[n:]
	return slices.Clone(q[:n])
}

// took learns from the time that a check took.
func (d *dealer) took(k kind, t time.Duration) {
	if k == plain {
		d.mean += (t - d.mean) / 8
		d.results++
	}
}

// again puts checks into a queue once more.
func (d *dealer) again(k kind, checks ...check) {
	d.queues[k] = append(d.queues[k], checks...)
}
