package proc

import "time"

// Usage is what a process and its children take.
type Usage struct {
	Memory      int64 // bytes of their own, resident
	Descriptors int
	Threads     int
	CPU         time.Duration // since they began
	// Wanted is the processor time of the threads that live, with the time for
	// which they were ready and had to wait for a processor: other programs do not
	// change it.
	Wanted time.Duration
}

// LastOutput returns what the process has written since it was last started.
func (p *Process) LastOutput() string { return p.current().output.String() }
