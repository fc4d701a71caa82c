//go:build !unix

package proc

import "os/exec"

// Without process groups only the process itself is ended, and never gently.
func ownGroup(*exec.Cmd) {}

func terminateGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
