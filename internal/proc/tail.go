package proc

import (
	"fmt"
	"sync"
)

// What is kept of the output of a process: the beginning, which has the first
// words of a crash, and the end.
const (
	maxHead = 32 << 10
	maxTail = 32 << 10
)

// tail is an io.Writer that keeps a bounded part of what is written to it.
type tail struct {
	mu      sync.Mutex
	head    []byte
	end     []byte
	dropped int
}

// Write keeps what fits; it never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(b)
	fits := min(maxHead-len(t.head), len(b))
	t.head = append(t.head, b[:fits]...)
	b = b[fits:]
	if len(b) > maxTail {
		t.dropped += len(b) - maxTail
		b = b[len(b)-maxTail:]
	}
	if over := len(t.end) + len(b) - maxTail; over > 0 {
		t.dropped += over
		t.end = append(t.end[:0], t.end[over:]...)
	}
	t.end = append(t.end, b...)
	return n, nil
}

// String returns what is kept, with a note where something is missing.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dropped == 0 {
		return string(t.head) + string(t.end)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", t.head, t.dropped, t.end)
}
