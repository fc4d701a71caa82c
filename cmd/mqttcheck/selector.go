package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// matches tells whether the selector names a statement.
func matches(s target.Selector, st normative.Statement) bool {
	switch {
	case st.Version != s.Version:
		return false
	case s.Rest == "" || st.ID == s.Rest:
		return true
	default:
		return st.Section == s.Rest || strings.HasPrefix(st.Section, s.Rest+".")
	}
}

// keysOf returns the keys of the statements that the selectors name. A selector
// that names none is an error with the nearest statements.
func keysOf(selectors []target.Selector) (map[string]bool, error) {
	keys := map[string]bool{}
	for _, s := range selectors {
		found := false
		for _, st := range normative.All() {
			if matches(s, st) {
				keys[st.Key], found = true, true
			}
		}
		if !found && s.Rest != "" && strings.Trim(s.Rest, "0123456789.") == "" {
			return nil, exitf(exitNothing, "no statement is in section %s of MQTT %s", s.Rest, numberOf(s.Version))
		}
		if !found {
			return nil, exitf(exitNothing, "%s", unknownStatement(s.Text))
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
