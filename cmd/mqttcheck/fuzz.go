package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	fuzzing "github.com/mqttcheck/mqttcheck/fuzz/campaign"
	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// fuzzFlags are the flags of fuzz.
type fuzzFlags struct {
	start, against string
	duration       time.Duration
	most           uint64
	seed, first    uint64
	workers        int
	rate           float64
	dir, corpus    string
	json, html     string
	allowRemote    bool
	versions       []string
	patience, slim time.Duration
	login          loginFlags
	tls            target.TLSFlags
}

const fuzzHelp = `Has conversations with the broker at URL, legal ones and such in which one client breaks
the rules, and looks for crashes, hangs, leaks, malformed packets, and answers and
deliveries that the specification does not allow. Each finding is made as small as
possible and saved as a script that mqttcheck replay plays again.

With --start the broker is started by mqttcheck, and again whenever it dies: then the
campaign goes on, and what fells the broker is made small. Without it the campaign ends
there, and leaks and busy loops are not looked for.

With --against a second broker has the same conversations, and where the two differ in
what the specification fixes, that is reported too. With --corpus a later campaign of
the same seed goes on where this one ends.

A user name and password, from the address or -u and -P, are put into each CONNECT when
it is sent. They stand in no finding and no file: give them to mqttcheck replay again. A
broker of --against takes those of its own address.

Exit codes:
  0    nothing was found
  1    at least one finding
  2    wrong usage, or a folder or file that cannot be written
  3    the broker never answered
  130  interrupted; all findings are saved`

func (a *app) fuzzCommand() *cobra.Command {
	var f fuzzFlags
	cmd := &cobra.Command{
		Use:     "fuzz URL",
		Short:   "Look for crashes, hangs and wrong answers of a broker",
		GroupID: "check",
		Long:    fuzzHelp,
		Example: "  mqttcheck fuzz mqtt://localhost:1883 --duration 5m --out found\n  mqttcheck fuzz mqtt://localhost:1899 --start 'mosquitto -p 1899' --out found",
		Args:    arguments(1, 1, "fuzz takes one address, such as mqtt://localhost:1883"),
		RunE:    func(cmd *cobra.Command, args []string) error { return a.fuzz(cmd.Context(), f, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.start, "start", "", "start the broker with `COMMAND`, and again when it dies")
	flags.StringVar(&f.against, "against", "", "have the same conversations with the broker at `URL`, and report differences")
	flags.DurationVar(&f.duration, "duration", time.Minute, "go on for `D`")
	flags.Uint64Var(&f.most, "max-conversations", 0, "have at most `N` conversations (default: no limit)")
	flags.Uint64Var(&f.seed, "seed", 1, "`N` that decides the conversations")
	flags.Uint64Var(&f.first, "first", 0, "begin with conversation `N`: machines share a campaign by ranges")
	flags.IntVar(&f.workers, "workers", 4, "have `N` conversations at a time")
	flags.Float64Var(&f.rate, "rate", 0, "have at most `N` conversations a second (default: no limit)")
	flags.StringVar(&f.dir, "out", "", "save the findings in `DIR`/findings")
	flags.StringVar(&f.corpus, "corpus", "", "keep what is new in `DIR`, begin with what it holds, and go on where it ends")
	flags.StringVar(&f.json, "json", "", "write the summary to `FILE`")
	flags.StringVar(&f.html, "html", "", "write the summary to `FILE` as one page")
	flags.StringSliceVarP(&f.versions, "protocol-version", "V", nil, "`VERSIONS` to speak: 3.1.1, 5 (default: those that the broker offers)")
	flags.DurationVar(&f.patience, "timeout", 2*time.Second, "wait `D` for an answer")
	flags.DurationVar(&f.slim, "shrink", 20*time.Second, "spend at most `D` on making a finding small")
	f.login.add(flags)
	tlsFlags(flags, &f.tls)
	flags.BoolVar(&f.allowRemote, "allow-remote", false, "fuzz a broker on another machine: only with its owner's leave")
	cmd.AddCommand(a.fuzzMergeCommand())
	return cmd
}

// fuzz runs a campaign.
func (a *app) fuzz(ctx context.Context, f fuzzFlags, url string) error {
	if err := f.vet(); err != nil {
		return err
	}
	address, broker, login, err := fuzzed(url, f.login, f.allowRemote, f.tls)
	if err != nil {
		return err
	}
	if err := f.outputs(); err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	o := fuzzing.Options{
		Address: broker, Login: login, Broker: reports.MaskURL(address.URL()), Seed: f.seed, First: f.first, Most: f.most, Duration: f.duration, Workers: f.workers, Rate: f.rate,
		Dir: f.dir, Corpus: f.corpus, Patience: f.patience, Shrink: f.slim, Found: a.tellFinding, Progress: a.tellProgress,
		Start: started(f.start, address),
	}
	if o.Against, o.AsOther, err = f.other(); err != nil {
		return err
	}
	if o.Versions, err = f.spoken(ctx, broker, login); err != nil {
		return err
	}
	s, err := fuzzing.Run(ctx, o)
	if err != nil && ctx.Err() == nil {
		return exitf(exitBroker, "cannot fuzz %s: %s", reports.MaskURL(address.URL()), strings.TrimPrefix(plainReason(err).Error(), "proc: "))
	}
	a.tellSummary(s, address.URL())
	if err := f.write(s, address.URL()); err != nil {
		return exitf(exitUsage, "%w", err)
	}
	switch {
	case ctx.Err() != nil:
		return exitWith(exitInterrupted)
	case len(s.Findings) > 0:
		return exitWith(exitFail)
	}
	return nil
}

// started is the command that starts the broker, nil for none.
func started(line string, address target.Address) *proc.Command {
	if line == "" {
		return nil
	}
	return &proc.Command{Args: proc.Shell(line), Address: net.JoinHostPort(address.Host, strconv.Itoa(address.Port)), Grace: 2 * time.Second, Ready: startTime}
}

// startTime is how long a broker may take to listen.
const startTime = 30 * time.Second

// other is the broker to compare with, nil for none. What it asks for stands in its
// address: -u and -P are for the one that is fuzzed.
func (f fuzzFlags) other() (*wire.Address, *play.Login, error) {
	if f.against == "" {
		return nil, nil, nil
	}
	_, other, login, err := fuzzed(f.against, loginFlags{}, f.allowRemote, f.tls)
	return &other, login, err
}

// write writes the summary to the files that were asked for.
func (f fuzzFlags) write(s fuzzing.Summary, url string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(map[string]any{"schemaVersion": 1, "broker": reports.MaskURL(url), "seed": f.seed, "summary": s}); err != nil {
		return err
	}
	if f.json != "" {
		if err := reports.WriteFile(f.json, func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }); err != nil {
			return err
		}
	}
	if f.html == "" {
		return nil
	}
	return reports.WriteFile(f.html, func(w io.Writer) error { return reports.FuzzHTML(w, b.Bytes()) })
}

// vet checks the numbers among the flags.
func (f fuzzFlags) vet() error {
	switch {
	case f.workers < 1 || f.workers > 64:
		return exitf(exitUsage, "--workers %d: between 1 and 64", f.workers)
	case f.duration <= 0:
		return exitf(exitUsage, "--duration %s: write how long, such as 5m", f.duration)
	case f.rate < 0:
		return exitf(exitUsage, "--rate %g: at least 0", f.rate)
	case f.patience < 50*time.Millisecond || f.patience > time.Minute:
		return exitf(exitUsage, "--timeout %s: between 50ms and 1m", f.patience)
	}
	return nil
}

// fuzzed returns the broker at a URL that the fuzzer may talk to.
func fuzzed(url string, as loginFlags, allowRemote bool, flags target.TLSFlags) (target.Address, wire.Address, *play.Login, error) {
	address, err := as.locate(url)
	var trust target.TLS
	if err == nil {
		trust, err = flags.Read(address)
	}
	switch {
	case err != nil:
		return address, wire.Address{}, nil, exitf(exitUsage, "%w", err)
	case !allowRemote && !loopback(address.Host):
		return address, wire.Address{}, nil, exitf(exitUsage, "%s is not on this machine: fuzz only what is yours, with --allow-remote", address.Host)
	}
	var login *play.Login
	if address.Username != "" {
		login = &play.Login{Username: address.Username, Password: address.Password}
	}
	return address, wire.Address{URL: address.URL(), TLS: wire.TLS(trust)}, login, nil
}

// loopback tells whether a host is this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// outputs checks where the results go, and makes the folders of the findings and
// of the corpus.
func (f fuzzFlags) outputs() error {
	for _, path := range []string{f.json, f.html} {
		if path == "" {
			continue
		}
		if err := reports.CheckOutput(path); err != nil {
			return exitf(exitUsage, "%w", err)
		}
	}
	if err := makeFolder("--out", f.dir, fuzzing.FindingsDir(f.dir)); err != nil {
		return err
	}
	return makeFolder("--corpus", f.corpus, f.corpus)
}

// makeFolder makes a folder of a flag and what lies in it, within one that
// exists.
func makeFolder(flag, dir, inner string) error {
	if dir == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(filepath.Clean(dir))); err != nil || !info.IsDir() {
		return exitf(exitUsage, "%s %s: there is no folder %s", flag, dir, filepath.Dir(filepath.Clean(dir)))
	}
	if err := os.MkdirAll(inner, 0o755); err != nil {
		return exitf(exitUsage, "%s %s: %w", flag, dir, plainReason(err))
	}
	return nil
}

// spoken returns the versions to speak: those that were asked for, and of a broker
// that runs already those that it offers. One that is yet to be started is asked
// by the campaign.
func (f fuzzFlags) spoken(ctx context.Context, address wire.Address, login *play.Login) ([]wire.Version, error) {
	asked, err := parseVersions(f.versions)
	if err != nil {
		return nil, err
	}
	if asked == nil {
		asked = []string{"v311", "v5"}
	}
	offered := map[string]bool{}
	for _, key := range asked {
		offered[key] = true
	}
	if f.start == "" {
		t := probe.Target{URL: address.URL, TLS: address.TLS, Timeout: f.patience}
		if login != nil {
			t.Username, t.Password = login.Username, login.Password
		}
		found, err := preflight(ctx, t, asked)
		if err != nil {
			return nil, err
		}
		offered = found.offered
	}
	var list []wire.Version
	for _, v := range versions {
		if offered[v.key] {
			list = append(list, v.wire)
		}
	}
	return list, nil
}

// plainReason is an error without the name of a package.
func plainReason(err error) error {
	if e := errors.Unwrap(err); e != nil {
		return e
	}
	return err
}

func (a *app) tellFinding(f finding.File) {
	fmt.Fprintf(a.stderr, "found %s: %s (%d packets, %d bytes, %s)\n", f.Name(), oneLine(f.About), f.Script.Packets(), f.Script.Size(), f.Minimised)
}

func (a *app) tellProgress(s fuzzing.Summary) {
	fmt.Fprintf(a.stderr, "%5.0f s  %d conversations, %d packets, %d situations, %d findings\n", s.Seconds, s.Conversations, s.Packets, s.Cells, len(s.Findings))
}

// tellSummary prints what was done, as the data of the command.
func (a *app) tellSummary(s fuzzing.Summary, url string) {
	w := a.stdout
	fmt.Fprintf(w, "%s: %d conversations in %.1f s (%.0f a second), %d packets sent, %d received, %d situations\n",
		reports.MaskURL(url), s.Conversations, s.Seconds, float64(s.Conversations)/max(s.Seconds, 0.001), s.Packets, s.Received, s.Cells)
	for _, line := range s.Profile {
		fmt.Fprintln(w, "  saw", line)
	}
	for _, note := range s.Notes {
		fmt.Fprintln(w, "  note:", oneLine(note))
	}
	if s.Restarts > 0 {
		fmt.Fprintf(w, "  the broker was started again %d times\n", s.Restarts)
	}
	if s.Ended != "" {
		fmt.Fprintln(w, "  ended early:", oneLine(s.Ended))
	}
	for _, f := range s.Findings {
		fmt.Fprintf(w, "\n%s %s (conversation %s, seen %d times)\n  %s\n", f.Oracle, oneLine(f.Key), f.Seed, s.Seen[f.Oracle+"-"+f.Key], oneLine(f.About))
		if f.File != "" {
			fmt.Fprintf(w, "  play it again: mqttcheck replay %s %s\n", f.File, reports.MaskURL(url))
		}
	}
	if len(s.Findings) == 0 {
		fmt.Fprintln(w, "nothing found")
	}
}

// fuzzMergeCommand puts the findings of several campaigns into one folder.
func (a *app) fuzzMergeCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "merge OUT DIR...",
		Short:   "Put the findings of several campaigns into one folder",
		Example: "  mqttcheck fuzz merge all machine-1 machine-2",
		Args:    arguments(2, 0, "fuzz merge takes the folder to write and at least one to read"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := (fuzzFlags{dir: args[0]}).outputs(); err != nil {
				return err
			}
			n, err := fuzzing.Merge(args[0], args[1:])
			if err != nil {
				return exitf(exitUsage, "%w", err)
			}
			fmt.Fprintf(a.stdout, "%d findings in %s\n", n, fuzzing.FindingsDir(args[0]))
			return nil
		},
	}
}
