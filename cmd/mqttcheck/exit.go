package main

import (
	"errors"
	"fmt"
)

// The exit codes of mqttcheck. They are part of its interface and are never
// renumbered.
const (
	exitOK          = 0   // nothing that a broker must do is broken
	exitFail        = 1   // a statement failed
	exitUsage       = 2   // wrong usage, configuration, file or output path
	exitBroker      = 3   // unreachable, no MQTT broker, refused, or died
	exitUnsure      = 4   // an error of ours, or inconclusive checks and no failure
	exitNothing     = 5   // nothing ran
	exitInterrupted = 130 // Ctrl-C or SIGTERM
)

// exitHelp explains the codes at the end of the help.
const exitHelp = `Exit codes:
  0    nothing that binds the broker is broken
  1    at least one statement failed
  2    wrong usage, configuration, file or output path
  3    the broker cannot be reached, is no MQTT broker, refuses the credentials or died
  4    a check ended in an error, or checks were inconclusive and none failed
  5    nothing ran: no check matches, or no version asked for is offered
  130  interrupted; what was done until then is reported`

// exitError is an error that decides the exit code. A nil err means that
// everything there is to say has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exitf returns an exitError with a message.
func exitf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// exitWith returns an exitError without a message, and nil for success.
func exitWith(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// exitCode returns the code for what a command returned. What carries no code
// comes from cobra's reading of the command line.
func exitCode(err error) (code int, message string) {
	if err == nil {
		return exitOK, ""
	}
	if e := (*exitError)(nil); errors.As(err, &e) {
		if e.err == nil {
			return e.code, ""
		}
		return e.code, err.Error()
	}
	return exitUsage, err.Error()
}
