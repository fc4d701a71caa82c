package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/onsi/ginkgo/v2/types"
	"github.com/spf13/cobra"
)

// shardName is the hidden command that makes a process a child of run.
const shardName = "__shard"

func (a *app) shardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    shardName,
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c := newChild(a.stdin, a.stdout)
			// What a library prints must not fall among the lines of the protocol.
			os.Stdout = os.Stderr
			// Most of what a short batch costs is Ginkgo building its tree: garbage.
			debug.SetGCPercent(400)
			// When the parent is gone, writing to it must not end the child before
			// it has cleaned up.
			signal.Ignore(syscall.SIGPIPE)
			return c.run()
		},
	}
}

// child runs the batches that its parent sends, one after the other.
type child struct {
	orders  chan batch
	answers chan answer
	signals chan os.Signal

	mu  sync.Mutex // one line at a time
	out *json.Encoder

	asking  sync.Mutex  // one request at a time
	running atomic.Bool // a batch
	enough  atomic.Bool // the rest of the batch is to be given back
}

func newChild(stdin io.Reader, stdout io.Writer) *child {
	c := &child{
		orders:  make(chan batch, 1),
		answers: make(chan answer, 1),
		signals: make(chan os.Signal, 1),
		out:     json.NewEncoder(stdout),
	}
	go c.read(json.NewDecoder(stdin))
	return c
}

// read passes on what the parent sends. When there is no more, it interrupts
// the running spec, so that it cleans up behind itself. Ginkgo may not listen
// yet: then it is told to leave out the specs. A second signal would end the
// cleaning.
func (c *child) read(in *json.Decoder) {
	defer close(c.orders)
	for {
		var o order
		if err := in.Decode(&o); err != nil {
			close(c.answers)
			c.enough.Store(true)
			if c.running.Load() {
				interruptSelf()
			}
			return
		}
		if o.Answer != nil {
			c.answers <- *o.Answer
		}
		if o.GiveBack {
			c.enough.Store(true)
		}
		if o.Batch != nil {
			c.enough.Store(false)
			c.orders <- *o.Batch
		}
	}
}

// run runs batches until there are no more, or until a signal comes.
func (c *child) run() error {
	for {
		// Ginkgo catches signals while specs run and runSpecs gives them back.
		signal.Notify(c.signals, os.Interrupt, syscall.SIGTERM)
		select {
		case <-c.signals:
			return nil
		case b, ok := <-c.orders:
			if !ok {
				return nil
			}
			if err := c.runBatch(b); err != nil {
				return exitf(exitUnsure, "shard: %w", err)
			}
		}
	}
}

func (c *child) runBatch(b batch) error {
	c.running.Store(true)
	defer c.running.Store(false)
	target := b.Target
	if b.Restart {
		target.Restart = func(kill bool) error { return c.ask(line{Ask: askRestart, Kill: kill}) }
		target.Alive = func() error { return c.ask(line{Ask: askAlive}) }
	}
	err := runSpecs(target, b, c.enough.Load,
		func(name string) { _ = c.write(line{Start: name}) },
		func(r types.SpecReport) {
			raw, err := json.Marshal(r)
			if err != nil {
				_ = c.write(line{Fault: fmt.Sprintf("the report of %q: %v", r.FullText(), err)})
				return
			}
			_ = c.write(line{Spec: (*json.RawMessage)(&raw)})
		})
	if err != nil {
		return c.write(line{Fault: err.Error(), Done: true})
	}
	return c.write(line{Done: true})
}

// write sends one line. An error means that the parent is gone; the end of
// stdin says so too.
func (c *child) write(l line) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.out.Encode(l)
}

// ask sends a request and waits for its answer.
func (c *child) ask(l line) error {
	c.asking.Lock()
	defer c.asking.Unlock()
	if err := c.write(l); err != nil {
		return fmt.Errorf("shard: ask for %s: %w", l.Ask, err)
	}
	a, ok := <-c.answers
	switch {
	case !ok:
		return errors.New("shard: the parent is gone")
	case a.Error != "":
		return errors.New(a.Error)
	}
	return nil
}
