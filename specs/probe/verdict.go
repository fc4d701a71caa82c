package probe

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// Outcome is what a spec found, as it travels in its report entry "verdict".
type Outcome struct {
	Verdict   string `json:"verdict"` // fail warn info unsupported inconclusive skip error
	Statement string `json:"statement,omitempty"`
	Reason    string `json:"reason,omitempty"`
	Expected  string `json:"expected,omitempty"`
	Observed  string `json:"observed,omitempty"`
}

// Observation is the value that a freedom has at the broker, as it travels in
// the report entry "observation".
type Observation struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Section string `json:"section"`
}

// asJSON makes an entry the same in this process and through a child's report.
type asJSON struct{ v any }

func (a asJSON) MarshalJSON() ([]byte, error) { return json.Marshal(a.v) }

// String is what Ginkgo's own reporters show of the entry.
func (a asJSON) String() string {
	b, err := json.Marshal(a.v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func attach(name string, v any) {
	ginkgo.AddReportEntry(name, asJSON{v}, ginkgo.ReportEntryVisibilityFailureOrVerbose)
}

// current is the running spec: Gomega's fail handler has no other way to it.
var current atomic.Pointer[spec]

// Fail is the fail handler for Gomega: an assertion that does not hold is a
// failure of the first statement that the spec cites.
func Fail(message string, callerSkip ...int) {
	fail("fail", "", message, callerSkip)
}

func fail(verdict, statement, message string, callerSkip []int) {
	skip := 1
	if len(callerSkip) > 0 {
		skip += callerSkip[0]
	}
	if strings.Contains(message, "atcher expects ") {
		// The assertion itself is wrong: that accuses nobody.
		record(Outcome{Verdict: "error", Reason: message})
		ginkgo.Fail(message, skip+1)
	}
	record(outcome(verdict, statement, message))
	if verdict == "fail" {
		ginkgo.Fail(message, skip+1)
	}
	ginkgo.Skip(message, skip+1)
}

func record(o Outcome) {
	if s := current.Load(); s != nil {
		s.record(o)
	}
}

// What Gomega writes around the values, which says nothing to the reader.
var (
	typePrefix = regexp.MustCompile(`<[^<>\n]*>: ?`)
	fieldNote  = regexp.MustCompile(`Value for field '([^']*)' failed to satisfy matcher\.\s*`)
	idle       = regexp.MustCompile(`^be (true|false|a packet)$`) // says nothing beside a note
	internals  = regexp.MustCompile(`Matcher|Field: |0x[0-9a-f]{8,}`)
)

// outcome splits a message of Gomega into what was expected and what was seen.
// The annotation of an assertion says best what was expected.
func outcome(verdict, statement, message string) Outcome {
	o := Outcome{Verdict: verdict, Statement: statement, Reason: message}
	note, rest, ok := strings.Cut(message, "Expected\n")
	if !ok {
		return o
	}
	field := ""
	if m := fieldNote.FindStringSubmatch(note); m != nil {
		field = m[1] + " "
		note = fieldNote.ReplaceAllString(note, "")
	}
	var observed, expected []string
	seen := false
	for line := range strings.SplitSeq(typePrefix.ReplaceAllString(rest, ""), "\n") {
		if !seen && !strings.HasPrefix(line, " ") && (strings.HasPrefix(line, "to ") || strings.HasPrefix(line, "not to ")) {
			seen = true
		}
		if seen {
			expected = append(expected, strings.TrimSpace(line))
		} else {
			observed = append(observed, strings.TrimSpace(line))
		}
	}
	note = strings.TrimSpace(note)
	detail := strings.TrimPrefix(strings.Join(expected, " "), "to ")
	if internals.MatchString(detail) || note != "" && idle.MatchString(detail) {
		detail = ""
	} else if detail != "" {
		detail = field + detail
	}
	o.Observed = strings.TrimSpace(field + strings.Join(observed, "\n"))
	switch {
	case note == "":
		o.Expected, o.Reason = detail, strings.Join(strings.Fields(detail+", but "+o.Observed), " ")
	case detail == "":
		o.Expected, o.Reason = note, note
	default:
		o.Expected, o.Reason = note+" ("+detail+")", note
	}
	return o
}

// For returns assertions whose failure is one of the statement with this key,
// for a spec that cites several.
func For(key string) gomega.Gomega {
	known(key)
	return gomega.NewGomega(func(message string, callerSkip ...int) { fail("fail", key, message, callerSkip) })
}

// Reaction returns assertions on how the broker reacts to a breach of the
// statement with this key that the tester committed. What binds the server
// decides the grade: an undetected breach is a failure where the text tells
// the server to check, in MQTT 3.1.1 also where it calls the case an error,
// and a warning, "lenient", elsewhere (section 4.13.1 of MQTT 5.0 leaves the
// depth of checking free).
func Reaction(key string) gomega.Gomega {
	verdict := reaction(known(key))
	return gomega.NewGomega(func(message string, callerSkip ...int) {
		if verdict == "warn" {
			message = "lenient: " + message
		}
		fail(verdict, key, message, callerSkip)
	})
}

// reaction returns the verdict on a breach that the broker does not detect.
func reaction(st normative.Statement) string {
	binding := st.Binding()
	if binding == "explicit" || binding == "stated" && st.Version == normative.V311 {
		return "fail"
	}
	return "warn"
}

// Advice returns assertions for a SHOULD: a failure is recorded as a warning
// and the spec goes on.
func Advice(key string) gomega.Gomega {
	known(key)
	return gomega.NewGomega(func(message string, _ ...int) { record(outcome("warn", key, message)) })
}

// Warns returns assertions whose failure is a warning and ends the spec.
func Warns(key string) gomega.Gomega {
	known(key)
	return gomega.NewGomega(func(message string, callerSkip ...int) { fail("warn", key, message, callerSkip) })
}

func known(key string) normative.Statement {
	st, ok := normative.Lookup(key)
	if !ok {
		panic(fmt.Sprintf("no such statement: %q", key))
	}
	return st
}

// Unsupported ends the spec: the broker announced, or showed by a permitted
// freedom, that it has not what the check is about.
func Unsupported(format string, args ...any) {
	end("unsupported", 1, format, args...)
}

// Inconclusive ends the spec: it did not get as far as its own matter.
func Inconclusive(format string, args ...any) {
	ginkgo.GinkgoHelper()
	message := fmt.Sprintf(format, args...)
	record(Outcome{Verdict: "inconclusive", Reason: message})
	ginkgo.Fail("inconclusive: " + message)
}

// SkipFor ends the spec: a hook, an address or a variant was not given.
func SkipFor(format string, args ...any) {
	end("skip", 1, format, args...)
}

func end(verdict string, skip int, format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	record(Outcome{Verdict: verdict, Reason: message})
	ginkgo.Skip(verdict+": "+message, skip+1)
}

// Observe records which value a freedom has at this broker. The key is one of
// the statements, or a name of ours below it; it never fails anybody.
func Observe(key, format string, args ...any) {
	section := sectionOf(key)
	value := fmt.Sprintf(format, args...)
	if slices.Contains(ginkgo.CurrentSpecReport().Labels(), "kind:observation") {
		record(Outcome{Verdict: "info", Reason: value})
	}
	attach("observation", Observation{Key: key, Value: value, Section: section})
}

// sectionInKey finds the section in the name of an observation, such as
// "v5/4.8.2-dispatch".
var sectionInKey = regexp.MustCompile(`^v[0-9]+/(?:MQTT-)?([0-9]+(?:\.[0-9]+)*)-`)

func sectionOf(key string) string {
	if st, ok := normative.Lookup(key); ok {
		return st.Section
	}
	if m := sectionInKey.FindStringSubmatch(key); m != nil {
		return m[1]
	}
	return ""
}

var _ gomegatypes.GomegaFailHandler = Fail
