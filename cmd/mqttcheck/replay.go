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
	start       string
	against     string
	login       loginFlags
	tls         target.TLSFlags
}

func (a *app) replayCommand() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:     "replay FILE [URL]",
		Short:   "Play a finding of the fuzzer again",
		GroupID: "check",
		Long: "Plays the script of a finding on the broker at URL, or on the embedded reference broker,\n" +
			"and says whether it still happens. A leak or a busy loop is only seen in a broker that is\n" +
			"started with --start, a difference only with a second broker, --against. A finding tells no\n" +
			"user name and password: give them again, in the address or by -u and -P.\n\nExit codes:\n  0    it does not happen\n  1    it still happens\n  2    wrong usage, or no such file\n  3    the broker did not answer before",
		Example: "  mqttcheck replay found/findings/crash-process.mqr mqtt://localhost:1883",
		Args:    arguments(1, 2, "replay takes a file of fuzz --out, and perhaps an address such as mqtt://localhost:1883"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), f, args) },
	}
	flags := cmd.Flags()
	flags.IntVar(&f.times, "times", 3, "play it up to `N` times until it happens")
	flags.DurationVar(&f.timeout, "timeout", time.Second, "wait `D` for an answer")
	flags.StringArrayVar(&f.defects, "defect", nil, "give the embedded reference broker the defect `NAME` (can be repeated)")
	flags.StringVar(&f.start, "start", "", "start the broker with `COMMAND`")
	flags.StringVar(&f.against, "against", "", "play it on the broker at `URL` as well, for a finding that is a difference")
	f.login.add(flags)
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
	o, stop, err := f.options(args[1:])
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
	again, err := fuzzing.Replay(limited, file, o)
	switch {
	case ctx.Err() != nil:
		return exitWith(exitInterrupted)
	case errors.Is(err, fuzzing.ErrNeedsStart), errors.Is(err, fuzzing.ErrNeedsAgainst), errors.Is(err, fuzzing.ErrNoFinding):
		return exitf(exitUsage, "%s: %w", args[0], err)
	case err != nil:
		return exitf(exitBroker, "%s: %w", reports.MaskURL(o.Address.URL), err)
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

// options say on what it is played: on the broker at the address that was given,
// or on the reference broker, which is started here.
func (f replayFlags) options(urls []string) (fuzzing.ReplayOptions, func(), error) {
	o := fuzzing.ReplayOptions{Patience: f.timeout, Times: f.times}
	stop := func() {}
	var err error
	if f.against != "" {
		if o.Against, o.AsOther, err = (fuzzFlags{against: f.against, allowRemote: f.allowRemote, tls: f.tls}).other(); err != nil {
			return o, stop, err
		}
	}
	if len(urls) == 1 {
		if len(f.defects) > 0 {
			return o, stop, exitf(exitUsage, "--defect is for the embedded reference broker: leave the address out")
		}
		var address target.Address
		address, o.Address, o.Login, err = fuzzed(urls[0], f.login, f.allowRemote, f.tls)
		if err == nil {
			o.Start = started(f.start, address)
		}
		return o, stop, err
	}
	if f.login.given() {
		return o, stop, exitf(exitUsage, "-u and -P are for a broker at an address: add a URL")
	}
	if f.start != "" {
		return o, stop, exitf(exitUsage, "--start needs the address at which the broker listens then: add a URL")
	}
	if err := vetDefects(f.defects); err != nil {
		return o, stop, err
	}
	b, err := reference.Start(reference.Options{Defects: f.defects})
	if err != nil {
		return o, stop, exitf(exitUnsure, "the embedded reference broker does not start: %w", err)
	}
	o.Address = wire.Address{URL: b.URL()}
	return o, func() { _ = b.Close() }, nil
}
