package reports

import (
	"strings"
	"time"
)

// SchemaVersion is the version of the form of result.json. Within a major
// version the form only grows: readers ignore what they do not know.
const SchemaVersion = "1.0"

// Result is the outcome of a run: the content of result.json.
type Result struct {
	SchemaVersion string        `json:"schemaVersion" jsonschema:"pattern=^1\\.[0-9]+$"`
	Tool          Tool          `json:"tool"`
	Run           Run           `json:"run"`
	Target        Target        `json:"target"`
	Broker        Broker        `json:"broker"`
	Summary       Summary       `json:"summary"`
	Statements    []Statement   `json:"statements"`
	Observations  []Observation `json:"observations"`
}

// Tool is the program that made the result.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Run is how and when the suite ran.
type Run struct {
	ID            string    `json:"id"`
	Seed          int64     `json:"seed"`
	Command       []string  `json:"command"` // as typed, without credentials
	Started       time.Time `json:"started"`
	DurationMs    float64   `json:"durationMs"`
	Versions      []string  `json:"versions"`  // "v311", "v5": those asked for
	Selectors     []string  `json:"selectors"` // empty: the whole suite
	Strict        bool      `json:"strict"`    // warnings count as failures
	Partial       bool      `json:"partial"`   // the run ended early
	PartialReason string    `json:"partialReason"`
	Interrupted   bool      `json:"interrupted"`
	BrokerGone    bool      `json:"brokerGone"`
	ExitCode      int       `json:"exitCode"`
}

// Target is where the broker was reached.
type Target struct {
	URL       string   `json:"url"`      // without credentials
	Embedded  bool     `json:"embedded"` // the reference broker inside the program
	Also      []string `json:"also"`     // further listeners
	TimeoutMs float64  `json:"timeoutMs"`
}

// Broker is what the broker said of itself.
type Broker struct {
	Name      string            `json:"name"`
	Version   string            `json:"version"`
	Announced map[string]string `json:"announced"` // property of CONNACK → value
	Offered   map[string]bool   `json:"offered"`   // "v311", "v5" → accepted
}

// Counts is the number of statements by verdict.
type Counts struct {
	Pass         int `json:"pass"`
	Fail         int `json:"fail"`
	Warn         int `json:"warn"`
	Info         int `json:"info"`
	Unsupported  int `json:"unsupported"`
	Inconclusive int `json:"inconclusive"`
	Skip         int `json:"skip"`
	Error        int `json:"error"`
	Untested     int `json:"untested"`
}

// Summary adds the statements up. Sections are chapters with their version:
// "v5/3.3".
type Summary struct {
	Conformant bool              `json:"conformant"`
	Checks     int               `json:"checks"` // checks that ran
	ByVerdict  Counts            `json:"byVerdict"`
	ByLevel    map[string]Counts `json:"byLevel"`
	BySection  map[string]Counts `json:"bySection"`
}

// Statement is one normative statement and what the checks say of it.
type Statement struct {
	ID          string  `json:"id" jsonschema:"pattern=^v(311|5)/"` // "v5/MQTT-3.3.1-4"
	Section     string  `json:"section"`
	Title       string  `json:"title"` // of the section
	Level       string  `json:"level"`
	Actor       string  `json:"actor"`
	Testability string  `json:"testability"`
	Summary     string  `json:"summary"`
	Verdict     Verdict `json:"verdict"`
	Reason      string  `json:"reason"`
	Checks      []Check `json:"checks"`
}

// Version returns the version that the statement belongs to: "v311" or "v5".
func (s Statement) Version() string { return versionOf(s.ID) }

// Check is one spec, as far as it says something of the statement it stands
// under. Subject is the statement that the check is about; a failure belongs
// to that one only.
type Check struct {
	Name       string  `json:"name"`
	Verdict    Verdict `json:"verdict"`
	Reason     string  `json:"reason"`
	Expected   string  `json:"expected"`
	Observed   string  `json:"observed"`
	DurationMs float64 `json:"durationMs"`
	Subject    string  `json:"subject"`
	Elsewhere  bool    `json:"elsewhere"` // it failed or warned for Subject and leaves this statement open
	Trace      []Event `json:"trace"`     // of checks that did not pass
	Source     string  `json:"source"`
}

// ownReason returns the reason unless it only repeats what was expected and
// observed.
func (c Check) ownReason() string {
	squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	reason := squeeze(c.Reason)
	if c.Expected != "" && strings.Contains(squeeze(c.Expected), reason) ||
		c.Observed != "" && strings.Contains(reason, squeeze(c.Observed)) {
		return ""
	}
	return c.Reason
}

// Event is one thing that happened on a connection: a packet sent to the
// broker ("send"), one received ("recv"), or a remark ("note").
type Event struct {
	Ms     float64 `json:"ms"` // since the start of the check
	Client string  `json:"client"`
	Dir    string  `json:"dir"`
	Type   string  `json:"type"`
	Text   string  `json:"text"`
	Hex    string  `json:"hex"`  // credentials masked; of a long packet the beginning
	Size   int     `json:"size"` // bytes of the whole packet
}

// Observation is how the broker used a freedom that the text leaves it.
type Observation struct {
	Key     string `json:"key"`
	Value   string `json:"value"` // a sentence
	Section string `json:"section"`
	Check   string `json:"check,omitempty"` // that has observed it
}

// versionOf returns the version in a key: what stands before the first slash.
func versionOf(key string) string {
	version, _, _ := strings.Cut(key, "/")
	return version
}

// bareID returns a key without its version.
func bareID(key string) string {
	_, id, _ := strings.Cut(key, "/")
	return id
}

// VersionName returns the name of "v311" or "v5" as people write it.
func VersionName(version string) string {
	switch version {
	case "v311":
		return "MQTT 3.1.1"
	case "v5":
		return "MQTT 5.0"
	}
	return version
}
