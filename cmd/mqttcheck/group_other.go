//go:build !unix

package main

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// interruptSelf ends this process: the signal cannot be sent here.
func interruptSelf() { os.Exit(exitInterrupted) }
