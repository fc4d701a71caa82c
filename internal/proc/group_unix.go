//go:build unix

package proc

import (
	"os/exec"
	"syscall"
)

// ownGroup makes the process the leader of a group of its own, so that a
// Ctrl-C at the terminal does not reach it and that it can be ended together
// with its children.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func terminateGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
