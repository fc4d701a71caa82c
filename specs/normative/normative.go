// Package normative is the catalogue of what MQTT 3.1.1 and MQTT 5.0 demand:
// every numbered statement and, under keys of ours, further requirements that
// the text makes without a number. Summaries are our own words; the text of
// the specifications is that of OASIS and is not part of it.
package normative

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The versions of the specification, as keys begin with them.
const (
	V311 = "v311"
	V5   = "v5"
)

// Statement is one requirement of one version.
type Statement struct {
	// Key is the name by which everything refers to the statement: the
	// version, a slash and the ID, such as "v5/MQTT-3.3.1-10". Many IDs occur
	// in both versions with different meanings, so there are no bare ones.
	Key string
	// ID is the number in the specification, or our own name.
	ID string
	// Version is V311 or V5.
	Version string
	// Section is the section in whose body it stands, Title its heading.
	Section, Title string
	// Actor is who is bound: "server", "client" or "both".
	Actor string
	// Keyword holds the RFC 2119 words of the sentence, or PROTOCOL-ERROR,
	// MALFORMED, STATED or NONE where the text puts it otherwise.
	Keyword string
	// Testable is "broker", "timing", "config" or "restart" where a client can
	// see at a broker whether it is kept, and with what; else "client" or "none".
	Testable string
	// Basis is what binds a server when a client breaks the statement:
	// "explicit", "stated", "derived", "by packet", or "" where that is not
	// what the statement is about.
	Basis string
	// Summary says in one sentence of ours what is demanded.
	Summary string
	// Reason says in words why a broker cannot be checked for it.
	Reason string
	// Numbered tells whether the specification itself numbers the statement.
	Numbered bool
	// Counterparts are the keys of the same duty in the other version.
	Counterparts []string
	// DuplicateOf is the key of another statement whose checks serve this one.
	DuplicateOf []string
}

//go:embed statements-3.1.1.tsv
var table311 string

//go:embed statements-5.0.tsv
var table5 string

const columns = 11

var (
	all   = append(parse(V311, table311), parse(V5, table5)...)
	byKey = index(all)
)

func parse(version, table string) []Statement {
	var list []Statement
	for line := range strings.Lines(table) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) != columns {
			panic(fmt.Sprintf("normative: %s: %d columns in %q", version, len(f), line))
		}
		if f[0] == "key" {
			continue
		}
		_, id, _ := strings.Cut(f[0], "/")
		list = append(list, Statement{
			Key: f[0], ID: id, Version: version, Section: f[1], Title: f[2],
			Actor: f[3], Keyword: f[4], Testable: f[5], Basis: f[6],
			Counterparts: keys(f[7]), DuplicateOf: keys(f[8]),
			Summary: f[9], Reason: f[10],
			Numbered: strings.HasPrefix(id, "MQTT-"),
		})
	}
	return list
}

func keys(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ",")
}

func index(list []Statement) map[string]int {
	m := make(map[string]int, len(list))
	for i, st := range list {
		m[st.Key] = i
	}
	return m
}

// Lookup returns the statement with a key.
func Lookup(key string) (Statement, bool) {
	i, ok := byKey[key]
	if !ok {
		return Statement{}, false
	}
	return all[i], true
}

// All returns the statements of the versions, or of both when none is named,
// in the order of the specification.
func All(versions ...string) []Statement {
	if len(versions) == 0 {
		return slices.Clone(all)
	}
	var list []Statement
	for _, st := range all {
		if slices.Contains(versions, st.Version) {
			list = append(list, st)
		}
	}
	return list
}

// IsReasonCode tells whether the statement says what one Reason Code means in one
// packet of MQTT 5.0: its ID ends in the code. Where no check asks for it, a run
// tells whether the broker has sent it.
func (s Statement) IsReasonCode() bool { return s.Version == V5 && reasonCode.MatchString(s.ID) }

var reasonCode = regexp.MustCompile(`-code-[0-9a-f]{2}$`)

// Observable tells whether a client can see at a broker if it keeps the
// statement.
func (s Statement) Observable() bool { return s.Testable != "client" && s.Testable != "none" }

// Binding returns what binds a server when a client breaks the statement:
// Basis, and for one without a number what our words for it say. The text
// calls the case an error, or leaves it to the reader that it is one.
func (s Statement) Binding() string {
	switch {
	case s.Basis != "" || s.Numbered:
		return s.Basis
	case strings.Contains(s.Summary, "implied"):
		return "derived"
	default:
		return "stated"
	}
}

// Level returns the strength of the statement for tables: MUST, SHOULD, MAY,
// or STATED for what is said without such a word.
func (s Statement) Level() string {
	switch {
	case strings.HasPrefix(s.Keyword, "MUST"), s.Keyword == "PROTOCOL-ERROR", s.Keyword == "MALFORMED":
		return "MUST"
	case strings.HasPrefix(s.Keyword, "SHOULD"):
		return "SHOULD"
	case strings.HasPrefix(s.Keyword, "MAY"):
		return "MAY"
	case s.Numbered:
		return "MUST"
	default:
		return "STATED"
	}
}

// Label returns the form of a key that may stand in a Ginkgo label, where a
// slash may not.
func Label(key string) string { return strings.Replace(key, "/", ":", 1) }

// FromLabel returns the key that a label stands for.
func FromLabel(label string) (string, bool) {
	key := strings.Replace(label, ":", "/", 1)
	_, ok := byKey[key]
	return key, ok
}
