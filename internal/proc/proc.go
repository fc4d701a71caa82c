// Package proc runs a broker as a child process: it starts the command, waits
// until the broker answers at its address, keeps the end of what it says,
// notices when it dies, stops it with all its children, and starts it again.
package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Defaults of a Command, and the bounds on what is kept.
const (
	DefaultReady = 120 * time.Second // slow brokers need more than a minute
	DefaultGrace = 10 * time.Second  // between SIGTERM and SIGKILL
	dialTimeout  = 500 * time.Millisecond
	pollInterval = 20 * time.Millisecond
	pipeDelay    = time.Second // for grandchildren that hold the output open
)

// Command tells how a broker is started.
type Command struct {
	// Args are the program and its arguments.
	Args []string
	// Dir is the working folder; empty for that of this process.
	Dir string
	// Env is added to the environment of this process.
	Env []string
	// Address is the host:port at which the broker listens once it is ready.
	Address string
	// Ready bounds the wait for it (default DefaultReady).
	Ready time.Duration
	// Grace bounds the wait between SIGTERM and SIGKILL (default DefaultGrace).
	Grace time.Duration
}

// Shell returns the arguments that run a command line by the shell, which is
// replaced by the program where the line is a simple command.
func Shell(line string) []string { return []string{"/bin/sh", "-c", line} }

// ErrInUse is the error of Start when something listens at the address before
// the broker was started: what one would then talk to is another broker.
var ErrInUse = errors.New("something listens there already")

// Process is a broker that was started. It is safe for concurrent use.
type Process struct {
	command Command
	output  *tail

	mu  sync.Mutex
	run *run
}

// run is one life of the process.
type run struct {
	cmd    *exec.Cmd
	output *tail         // of this life
	done   chan struct{} // closed when it has ended
	err    error         // of Wait; valid once done is closed
}

// Start starts a broker and waits until its address accepts connections. The
// error holds the end of what the broker said. The context bounds the wait
// only: the process lives until Stop or Kill.
func Start(ctx context.Context, c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("proc: no command")
	}
	if c.Ready == 0 {
		c.Ready = DefaultReady
	}
	if c.Grace == 0 {
		c.Grace = DefaultGrace
	}
	p := &Process{command: c, output: &tail{}}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Process) start(ctx context.Context) error {
	c := p.command
	if answers(ctx, c.Address) {
		return fmt.Errorf("proc: %s: %w", c.Address, ErrInUse)
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	r := &run{cmd: cmd, output: &tail{}, done: make(chan struct{})}
	said := io.MultiWriter(p.output, r.output)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.WaitDelay = pipeDelay
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("proc: %w", err)
	}
	go func() {
		r.err = cmd.Wait()
		close(r.done)
	}()
	p.mu.Lock()
	p.run = r
	p.mu.Unlock()
	if err := p.awaitReady(ctx, r); err != nil {
		killGroup(cmd)
		<-r.done
		return err
	}
	return nil
}

// awaitReady waits until the broker accepts a connection.
func (p *Process) awaitReady(ctx context.Context, r *run) error {
	ctx, cancel := context.WithTimeout(ctx, p.command.Ready)
	defer cancel()
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		if answers(ctx, p.command.Address) {
			return nil
		}
		select {
		case <-r.done:
			return fmt.Errorf("proc: %s ended before it listened on %s: %s%s", p.command.Args[0], p.command.Address, describe(r.err), p.said())
		case <-ctx.Done():
			return fmt.Errorf("proc: %s does not listen on %s: %w%s", p.command.Args[0], p.command.Address, context.Cause(ctx), p.said())
		case <-ticker.C:
		}
	}
}

// answers tells whether an address accepts connections.
func answers(ctx context.Context, address string) bool {
	d := net.Dialer{Timeout: dialTimeout}
	nc, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = nc.Close()
	return true
}

// said is the last line of the output, for an error.
func (p *Process) said() string {
	lines := strings.Split(strings.TrimSpace(p.Output()), "\n")
	if last := strings.TrimSpace(lines[len(lines)-1]); last != "" {
		return ": " + last
	}
	return ""
}

func (p *Process) current() *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.run
}

// Done is closed when the process has ended; Restart makes a new one.
func (p *Process) Done() <-chan struct{} { return p.current().done }

// PID returns the process id.
func (p *Process) PID() int { return p.current().cmd.Process.Pid }

// Alive returns nil while the process runs, and otherwise an error that says
// how it ended.
func (p *Process) Alive() error {
	r := p.current()
	select {
	case <-r.done:
		return fmt.Errorf("proc: %s has ended: %s", p.command.Args[0], describe(r.err))
	default:
		return nil
	}
}

// Output returns what the process wrote on stdout and stderr, over all its
// lives: the beginning and the end where it is long.
func (p *Process) Output() string { return p.output.String() }

// Stop asks the process and its children to end, kills them when the grace is
// over, and waits. A process that has ended already is no error.
func (p *Process) Stop() error {
	r := p.current()
	terminateGroup(r.cmd)
	timer := time.NewTimer(p.command.Grace)
	defer timer.Stop()
	select {
	case <-r.done:
	case <-timer.C:
	}
	return p.end(r)
}

// Kill ends the process and its children at once, and waits.
func (p *Process) Kill() error { return p.end(p.current()) }

// end kills what is left of the group, also children of a parent that ended.
func (p *Process) end(r *run) error {
	killGroup(r.cmd)
	<-r.done
	if e := (*exec.ExitError)(nil); r.err == nil || errors.As(r.err, &e) || errors.Is(r.err, exec.ErrWaitDelay) {
		return nil
	}
	return fmt.Errorf("proc: %w", r.err)
}

// Restart ends the process, by signal or by kill, starts the same command
// again and waits until it is ready.
func (p *Process) Restart(ctx context.Context, kill bool) error {
	end := p.Stop
	if kill {
		end = p.Kill
	}
	if err := end(); err != nil {
		return err
	}
	return p.start(ctx)
}

// describe says how a process ended.
func describe(err error) string {
	if err == nil {
		return "exit 0"
	}
	var e *exec.ExitError
	if !errors.As(err, &e) {
		return err.Error()
	}
	if status, ok := e.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit %d", e.ExitCode())
}
