package reference

import (
	"bytes"
	"hash/fnv"
	"io"
	"slices"
	"time"
)

// A message holds its place in a stream only, such as those on its topic: servers
// that route each topic by itself answer a client before a message has left, and
// send messages on other topics ahead of it. The policy overtaking has each
// stream wait for a time of its own.
const (
	leastHeld = 5 * time.Millisecond
	heldSteps = 30 // the messages of a stream wait up to as many milliseconds longer
)

// held is a message that waits for its time.
type held struct {
	due time.Time
	b   []byte
}

// hold keeps a message back; the lock is held.
func (l *link) hold(stream string, b []byte) {
	h := fnv.New32a()
	_, _ = io.WriteString(h, stream)
	wait := leastHeld + time.Duration(h.Sum32()%heldSteps)*time.Millisecond
	l.held = append(l.held, held{time.Now().Add(wait), bytes.Clone(b)})
	// Stable: those of one stream wait equally long and keep their order.
	slices.SortStableFunc(l.held, func(a, b held) int { return a.due.Compare(b.due) })
	time.AfterFunc(wait, l.release)
}

// release sends what has waited long enough.
func (l *link) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending || l.gone {
		l.held = nil
		return
	}
	for now := time.Now(); len(l.held) > 0 && !l.held[0].due.After(now); l.held = l.held[1:] {
		l.add(l.held[0].b)
	}
}
