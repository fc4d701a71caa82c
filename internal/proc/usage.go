package proc

import "time"

// Usage is what a process and its children take.
type Usage struct {
	Memory      int64 // bytes of their own, resident
	Descriptors int
	Threads     int
	CPU         time.Duration // since they began
}

// LastOutput returns what the process has written since it was last started.
func (p *Process) LastOutput() string { return p.current().output.String() }
