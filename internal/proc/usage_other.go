//go:build !linux

package proc

import "errors"

// Usage is known on Linux only.
func (p *Process) Usage() (Usage, error) {
	return Usage{}, errors.New("proc: what a process takes is read from /proc, which only Linux has")
}
