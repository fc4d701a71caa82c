package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/ginkgo/v2/extensions/globals"
	"github.com/onsi/ginkgo/v2/formatter"
	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/specs"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// ginkgoMu guards Ginkgo's global state: one suite at a time in a process.
var ginkgoMu sync.Mutex

// runSpecs runs the named specs in this process, in the order that the seed
// gives when shuffle is set, and calls start and done around each. From when on
// enough returns true, the remaining ones are left out. It is the only place
// that calls ginkgo.RunSpecs, which ends the process on a bad configuration and
// is therefore given none that was not vetted. It can be called again, but
// leaves one goroutine of Ginkgo behind each time.
func runSpecs(target probe.Target, b batch, enough func() bool, start func(name string), done func(types.SpecReport)) error {
	focus := exactly(b.Names)
	if _, err := regexp.Compile(focus); err != nil {
		return fmt.Errorf("focus expression: %w", err)
	}
	ginkgoMu.Lock()
	defer ginkgoMu.Unlock()
	suite, reporter := configuration()
	suite.FocusStrings = []string{focus}
	suite.RandomSeed = b.Seed
	suite.RandomizeAllSpecs = b.Shuffle
	suite.Timeout = suiteBound
	suite.GracePeriod = 2 * time.Second

	globals.Reset()
	specs.RegisterSections(target, b.Sections, wireVersions(b.Versions)...)
	wanted := make(map[string]bool, len(b.Names))
	for _, name := range b.Names {
		wanted[name] = true
	}
	ginkgo.BeforeEach(func() {
		if enough() {
			ginkgo.Skip(leftOut)
		}
	})
	ginkgo.ReportBeforeEach(func(r types.SpecReport) {
		if name := r.FullText(); wanted[name] && !filtered(r) {
			start(name)
		}
	})
	ginkgo.ReportAfterEach(func(r types.SpecReport) {
		if wanted[r.FullText()] && !filtered(r) && r.FailureMessage() != leftOut {
			done(r)
		}
	})

	defer silence()()
	ginkgo.RunSpecs(discardT{}, specs.Suite, suite, reporter)
	// Ginkgo leaves its handler installed: give the signals back.
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	return nil
}

// leftOut is the message of a spec that runSpecs did not begin.
const leftOut = "left out: the parent has taken it back"

// previewSpecs returns a report of every spec without running any. A process
// that previews runs none afterwards.
func previewSpecs() []types.SpecReport {
	ginkgoMu.Lock()
	defer ginkgoMu.Unlock()
	globals.Reset()
	specs.Register(probe.Target{})
	defer silence()()
	suite, reporter := configuration()
	all := ginkgo.PreviewSpecs(specs.Suite, suite, reporter).SpecReports
	signal.Reset(os.Interrupt, syscall.SIGTERM) // it catches them, too
	globals.Reset()
	return all
}

// configuration returns Ginkgo's configuration with nothing of the command
// line or of an earlier run left in it.
func configuration() (types.SuiteConfig, types.ReporterConfig) {
	suite, reporter := ginkgo.GinkgoConfiguration()
	suite.LabelFilter, suite.FocusStrings, suite.SkipStrings = "", nil, nil
	suite.FocusFiles, suite.SkipFiles = nil, nil
	suite.FailFast, suite.DryRun = false, false
	suite.ParallelTotal, suite.ParallelProcess = 1, 1
	reporter.NoColor = true
	reporter.Verbose, reporter.VeryVerbose = false, false
	return suite, reporter
}

// silence keeps Ginkgo from printing, until the function it returns is called.
// What it says before it ends the process goes to stderr and stays.
func silence() func() {
	console := formatter.ColorableStdOut
	formatter.ColorableStdOut = io.Discard
	return func() { formatter.ColorableStdOut = console }
}

// filtered tells whether a spec was left out by the focus, or not reached when
// the suite was interrupted: both are skipped without a word.
func filtered(r types.SpecReport) bool {
	return r.State.Is(types.SpecStateSkipped|types.SpecStatePending) && r.FailureMessage() == "" && len(r.ReportEntries) == 0
}

// exactly returns a focus expression for just these specs: Ginkgo matches it
// against the suite's description, a space and the spec's full text.
func exactly(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = regexp.QuoteMeta(name)
	}
	return "^" + regexp.QuoteMeta(specs.Suite) + " (?:" + strings.Join(quoted, "|") + ")$"
}

// discardT is a ginkgo.GinkgoTestingT: the verdict comes from the reports.
type discardT struct{}

func (discardT) Fail() {}
