package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2/types"
)

// worker is a child process as the parent sees it. Only the campaign's
// goroutine uses its fields; the goroutine that reads the child sends events.
type worker struct {
	id    int
	cmd   *exec.Cmd
	stdin io.WriteCloser
	log   *tail

	kind     kind            // of the batch it runs
	pending  map[string]bool // what the batch has not reported yet
	unseen   map[string]bool // what the batch was told
	current  string          // the running spec
	began    time.Time       // when it got the batch
	asked    bool            // to give the batch back
	heard    time.Time       // when it last sent something
	busy     bool
	finished bool      // it gets no more work
	stopped  time.Time // when it was told to stop, zero when it was not
	cause    string    // why, where the running check is to blame
}

// event is what a worker's reader tells the campaign.
type event struct {
	w      *worker
	line   line
	report types.SpecReport // of line.Spec
	exited bool
	err    error // with exited: how the process ended
}

// startWorker starts a child and a goroutine that sends its lines to events
// until it has ended; the last event has exited set.
func startWorker(id int, events chan<- event) (*worker, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("shard: find this program: %w", err)
	}
	w := &worker{id: id, cmd: exec.Command(self, shardName), log: &tail{}, heard: time.Now()}
	w.cmd.Stderr = w.log
	// A group of its own: Ctrl-C reaches the parent alone, which decides.
	ownGroup(w.cmd)
	// What a child of a child holds open must not hold up the parent.
	w.cmd.WaitDelay = time.Second
	if w.stdin, err = w.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("shard: %w", err)
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("shard: start: %w", err)
	}
	go w.read(stdout, events)
	return w, nil
}

func (w *worker) read(stdout io.Reader, events chan<- event) {
	in := json.NewDecoder(stdout)
	var broken error
	for {
		var l line
		if err := in.Decode(&l); err != nil {
			if !errors.Is(err, io.EOF) {
				broken = fmt.Errorf("what it sent is no report: %w", err)
				killGroup(w.cmd)
			}
			break
		}
		ev := event{w: w, line: l}
		if l.Spec != nil {
			var err error
			if ev.report, err = l.report(); err != nil {
				broken = fmt.Errorf("what it sent is no report: %w", err)
				killGroup(w.cmd)
				break
			}
		}
		events <- ev
	}
	err := w.cmd.Wait()
	if broken != nil {
		err = broken
	}
	events <- event{w: w, exited: true, err: err}
}

// send gives the worker an order. An error needs no handling: the worker has
// ended then, and its reader says so.
func (w *worker) send(o order) {
	raw, err := json.Marshal(o)
	if err == nil {
		_, _ = w.stdin.Write(append(raw, '\n'))
	}
}

// finish lets the worker end after what it has.
func (w *worker) finish() {
	w.finished = true
	_ = w.stdin.Close()
}

// interrupt makes the running spec clean up, and the worker end. The end of its
// stdin does that; a signal besides would cut the cleaning short.
func (w *worker) interrupt(now time.Time) {
	if w.stopped.IsZero() {
		w.stopped = now
		w.finish()
	}
}

// kill ends the worker at once.
func (w *worker) kill() { killGroup(w.cmd) }

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// tailSize is enough for a panic with the first goroutine's stack.
const tailSize = 4096

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, p...)
	if over := len(t.data) - tailSize; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
