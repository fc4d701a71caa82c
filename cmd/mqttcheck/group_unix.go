//go:build unix

package main

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts a command that is about to start into a process group of its
// own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the process group of a command that ownGroup was called for.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// interruptSelf sends this process the signal of Ctrl-C.
func interruptSelf() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }
