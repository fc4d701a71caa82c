package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	fuzzing "github.com/mqttcheck/mqttcheck/fuzz/campaign"
	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	times       int
	timeout     time.Duration
	allowRemote bool
	defects     []string
	tls         target.TLSFlags
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:     "replay FILE [URL]",
		Short:   "Play a finding of the fuzzer again",
		GroupID: "check",
		Long: "Plays the script of a finding on the broker at URL, or on the embedded reference broker,\n" +
			"and says whether it still happens.\n\nExit codes:\n  0    it does not happen\n  1    it still happens\n  2    wrong usage, or no such file\n  3    the broker did not answer before",
		Example: "  mqttcheck replay found/findings/crash-process.mqr mqtt://localhost:1883",
		Args:    cobra.RangeArgs(1, 2),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.times, "times", 3, "play it up to `N` times until it happens")
	flags.DurationVar(&f.timeout, "timeout", time.Second, "wait `D` for an answer")
	flags.StringArrayVar(&f.defects, "defect", nil, "give the embedded reference broker the defect `NAME` (can be repeated)")
	tlsFlags(flags, &f.tls)
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "play it on a broker on another machine: only with its owner's leave")
	return cmd
}

func (a *app) replay(ctx context.Context, f replayFlags, args []string) error {
	file, err := finding.Load(args[0])
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return exitf(exitUsage, "there is no file %s", args[0])
		}
		return exitf(exitUsage, "%s: %w", args[0], err)
	}
	if f.times < 1 || f.times > 100 {
		return exitf(exitUsage, "--times %d: between 1 and 100", f.times)
	}
	broker, stop, err := f.broker(args[1:])
	if err != nil {
		return err
	}
	defer stop()
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer cancel()
	limited, over := context.WithTimeout(ctx, replayTime)
	defer over()
	again, err := fuzzing.Replay(limited, file, broker, f.timeout, f.times)
	switch {
	case ctx.Err() != nil:
		return exitWith(exitInterrupted)
	case err != nil:
		return exitf(exitBroker, "%s: %w", reports.MaskURL(broker.URL), err)
	}
	fmt.Fprint(a.stdout, again.Observed)
	if again.Happened {
		fmt.Fprintf(a.stdout, "it still happens: %s %s: %s\n", file.Oracle, oneLine(file.Key), oneLine(again.About))
		return exitWith(exitFail)
	}
	fmt.Fprintf(a.stdout, "it does not happen: %s %s, played %d times\n", file.Oracle, oneLine(file.Key), again.Times)
	return nil
}

// replayTime bounds all playings of one command.
const replayTime = 15 * time.Second

// broker returns the address that was given, or starts the reference broker.
func (f replayFlags) broker(urls []string) (wire.Address, func(), error) {
	if len(urls) == 1 {
		if len(f.defects) > 0 {
			return wire.Address{}, nil, exitf(exitUsage, "--defect is for the embedded reference broker: leave the address out")
		}
		_, broker, err := fuzzed(urls[0], f.allowRemote, f.tls)
		return broker, func() {}, err
	}
	if err := vetDefects(f.defects); err != nil {
		return wire.Address{}, nil, err
	}
	b, err := reference.Start(reference.Options{Defects: f.defects})
	if err != nil {
		return wire.Address{}, nil, exitf(exitUnsure, "the embedded reference broker does not start: %w", err)
	}
	return wire.Address{URL: b.URL()}, func() { _ = b.Close() }, nil
}
