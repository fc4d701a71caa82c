package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// selector names statements: all of a version, a section with those beneath
// it, or one statement.
type selector struct {
	text    string
	version string // "v311" or "v5"
	rest    string // section or id; "" is the whole version
}

// parseSelector reads "v5", "v5/3.3" or "v5/MQTT-3.3.1-4". The error says what
// was probably meant.
func parseSelector(text string) (selector, error) {
	version, rest, slash := strings.Cut(text, "/")
	known := slices.ContainsFunc(versions, func(p protocol) bool { return p.key == version })
	switch {
	case known && (!slash || rest != ""):
		return selector{text, version, rest}, nil
	case known:
		return selector{}, exitf(exitUsage, "%q ends in a slash; write %s for the whole version", text, version)
	case strings.HasPrefix(text, "MQTT-"):
		return selector{}, exitf(exitUsage, "%q has no version: write v311/%s or v5/%s", text, text, text)
	case strings.Contains(text, ":"):
		return selector{}, exitf(exitUsage, "%q is no address: write mqtt://%s", text, text)
	case text != "" && strings.Trim(text, "0123456789.") == "":
		return selector{}, exitf(exitUsage, "%q has no version: write v311/%s or v5/%s", text, text, text)
	default:
		return selector{}, exitf(exitUsage, "%q is neither an address such as mqtt://localhost:1883 nor a selector such as v5/3.3", text)
	}
}

// matches tells whether the selector names a statement.
func (s selector) matches(st normative.Statement) bool {
	switch {
	case st.Version != s.version:
		return false
	case s.rest == "" || st.ID == s.rest:
		return true
	default:
		return st.Section == s.rest || strings.HasPrefix(st.Section, s.rest+".")
	}
}

// keysOf returns the keys of the statements that the selectors name. A selector
// that names none is an error with the nearest statements.
func keysOf(selectors []selector) (map[string]bool, error) {
	keys := map[string]bool{}
	for _, s := range selectors {
		found := false
		for _, st := range normative.All() {
			if s.matches(st) {
				keys[st.Key], found = true, true
			}
		}
		if !found {
			return nil, exitf(exitNothing, "%s", unknownStatement(s.text))
		}
	}
	return keys, nil
}

// unknownStatement says that there is no such statement, and the nearest.
func unknownStatement(text string) string {
	message := fmt.Sprintf("no statement is called %q", text)
	if near := normative.Nearest(text, 3); len(near) > 0 {
		message += "; the nearest are " + strings.Join(near, ", ")
	}
	return message
}

// choose returns the checks that the versions and selectors leave.
func choose(all []check, versions []string, want, skip map[string]bool, slow bool) []check {
	var out []check
	for _, c := range all {
		cites := func(keys map[string]bool) bool {
			return slices.ContainsFunc(c.Keys, func(key string) bool { return keys[key] })
		}
		ofVersion := slices.ContainsFunc(c.Versions, func(v string) bool { return slices.Contains(versions, v) })
		switch {
		case !ofVersion, c.Slow && !slow:
		case want != nil && !cites(want):
		case skip != nil && len(c.Keys) > 0 && skip[c.Keys[0]]:
		default:
			out = append(out, c)
		}
	}
	return out
}
