package main

import (
	"crypto/rand"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// runFlags are the flags of run as they were given.
type runFlags struct {
	host            string
	port            int
	login           loginFlags
	tls             target.TLSFlags
	also            []string
	versions, skip  []string
	procs           int
	timeout, settle time.Duration
	seed            int64
	shuffle, slow   bool
	strict          bool
	defects         []string
	second          time.Duration
	json, junit     string
	html, markdown  string
}

// urlHelp explains the addresses.
const urlHelp = `URL is one of, with the usual port where none is given:
  mqtt://[USER:PASSWORD@]HOST[:1883]        TCP
  mqtts://[USER:PASSWORD@]HOST[:8883]       TLS
  ws://[USER:PASSWORD@]HOST[:80][/mqtt]     WebSocket
  wss://[USER:PASSWORD@]HOST[:443][/mqtt]   WebSocket over TLS`

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run [URL] [SELECTOR...]",
		Short:   "Judge a broker, statement by statement",
		GroupID: "check",
		Long: "Judges the broker at URL. Without a URL, -h and MQTTCHECK_URL it judges the embedded\n" +
			"reference broker, with all its variants. A selector leaves only the checks of some\n" +
			"statements: v5, v5/3.3, v5/MQTT-3.3.1-4.\n\n" + urlHelp + "\n\n" + exitHelp,
		Example: "  mqttcheck run\n  mqttcheck run mqtt://localhost:1883 -V 3.1.1 --html report.html\n  mqttcheck run mqtt://localhost v311/3.3 v311/MQTT-4.7.2-1\n  mqttcheck run mqtts://localhost --cafile ca.pem --also ws://localhost:8080/mqtt",
		RunE:    func(cmd *cobra.Command, args []string) error { return a.run(cmd, f, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.host, "host", "h", "", "`HOST` of the broker, instead of a URL")
	flags.IntVarP(&f.port, "port", "p", defaultPort, "`PORT` of the broker, with -h")
	f.login.add(flags)
	tlsFlags(flags, &f.tls)
	flags.StringArrayVar(&f.also, "also", nil, "a further listener of the same broker, such as ws://HOST:PORT/mqtt: `URL` (can be repeated)")
	flags.StringSliceVarP(&f.versions, "protocol-version", "V", nil, "`VERSIONS` to check: 3.1.1, 5 (default: those that have checks)")
	flags.StringArrayVar(&f.skip, "skip", nil, "leave out the checks that `SELECTOR` names (can be repeated)")
	flags.IntVar(&f.procs, "procs", 0, "run at most `N` checks at a time (default: as suits the machine)")
	flags.DurationVar(&f.second, "second", 0, "let a second of the protocol last `D` on the embedded reference broker")
	_ = flags.MarkHidden("second")
	flags.DurationVar(&f.timeout, "timeout", probe.DefaultTimeout, "wait `D` for a packet that must come")
	flags.DurationVar(&f.settle, "settle", 0, "wait `D` before a packet counts as absent, for clusters")
	flags.Int64Var(&f.seed, "seed", 1, "`N` that decides the order with --shuffle")
	flags.BoolVar(&f.shuffle, "shuffle", false, "run the checks in another order for each seed")
	flags.BoolVar(&f.slow, "slow", false, "also run checks that wait longer than three seconds")
	flags.BoolVar(&f.strict, "strict", false, "count warnings as failures")
	flags.StringArrayVar(&f.defects, "defect", nil, "give the embedded reference broker the defect `NAME` (can be repeated)")
	flags.StringVar(&f.json, "json", "", "write the result to `FILE` as JSON, or - for stdout")
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	flags.StringVar(&f.html, "html", "", "write an HTML report to `FILE`")
	flags.StringVar(&f.markdown, "markdown", "", "write a Markdown report to `FILE`")
	return cmd
}

// outputs returns the files that the run has to write.
func (f runFlags) outputs() []output {
	return []output{
		{f.json, reports.JSON}, {f.junit, reports.JUnit}, {f.html, reports.HTML}, {f.markdown, reports.Markdown},
	}
}

// plan is a run whose arguments have been understood.
type plan struct {
	runFlags
	address   target.Address
	further   []string // listeners of --also
	trust     wire.TLS
	embedded  bool
	versions  []string // of -V; nil: those that have checks
	selectors []target.Selector
	skips     []target.Selector
}

// plan reads the arguments: what has "://" in it is the address, all others are
// selectors.
func (f runFlags) plan(cmd *cobra.Command, args []string) (plan, error) {
	p := plan{runFlags: f}
	urls, selectors, err := target.Split(args)
	if err != nil {
		return p, exitf(exitUsage, "%w", err)
	}
	p.selectors = selectors
	for _, arg := range f.skip {
		s, err := target.ParseSelector(arg)
		if err != nil {
			return p, exitf(exitUsage, "%w", err)
		}
		p.skips = append(p.skips, s)
	}
	if p.versions, err = parseVersions(f.versions); err != nil {
		return p, err
	}
	if err := f.vet(); err != nil {
		return p, err
	}
	return p, p.where(cmd, urls)
}

// vet checks the numbers among the flags.
func (f runFlags) vet() error {
	switch {
	case f.procs < 0 || f.procs > maxChildren:
		return exitf(exitUsage, "--procs %d: between 1 and %d", f.procs, maxChildren)
	case f.timeout < 50*time.Millisecond || f.timeout > time.Minute:
		return exitf(exitUsage, "--timeout %s: between 50ms and 1m", f.timeout)
	case f.settle < 0 || f.settle > time.Minute:
		return exitf(exitUsage, "--settle %s: between 0 and 1m", f.settle)
	}
	return nil
}

// where decides between the broker at an address and the embedded one, which
// alone has defects and a second of its own.
func (p *plan) where(cmd *cobra.Command, urls []string) error {
	address, named, err := p.locate(cmd.Flags(), urls, os.Getenv("MQTTCHECK_URL"))
	if err != nil {
		return err
	}
	p.address, p.embedded = address, !named
	switch {
	case p.embedded && len(p.also) > 0:
		return exitf(exitUsage, "--also is for a broker at an address: the embedded one has all listeners")
	case p.embedded && p.tls != (target.TLSFlags{}):
		return exitf(exitUsage, "the flags of TLS are for a broker at an address: write one, such as mqtts://HOST:PORT")
	case p.embedded:
		return vetDefects(p.defects)
	case p.second != 0:
		return exitf(exitUsage, "--second is for the embedded reference broker: leave the address out")
	case len(p.defects) > 0:
		return exitf(exitUsage, "--defect is for the embedded reference broker: leave the address out")
	}
	p.further, p.trust, err = p.listeners(address)
	return err
}

// newRunID returns a name for the run's topics and Client Identifiers that no
// other run on the broker has.
func newRunID() string { return strings.ToLower(rand.Text()[:6]) }
