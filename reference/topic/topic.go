// Package topic knows Topic Names and Topic Filters: which are valid, and
// which match. [section 4.7]
package topic

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// Errors of names and filters.
var (
	ErrEmpty    = errors.New("topic: it is empty")
	ErrLong     = errors.New("topic: it has more than 65535 bytes")
	ErrUTF8     = errors.New("topic: it is not well-formed UTF-8, or holds U+0000")
	ErrWildcard = errors.New("topic: a Topic Name has no wildcards")
	ErrHash     = errors.New("topic: '#' stands alone in the last level")
	ErrPlus     = errors.New("topic: '+' takes up a whole level")
	ErrShare    = errors.New("topic: a shared filter is $share/ShareName/filter, with a ShareName of no wildcards")
)

// ValidName tells whether s may be a Topic Name: nil, ErrEmpty, ErrLong,
// ErrUTF8 or ErrWildcard.
// [v311/MQTT-4.7.1-1] [v5/MQTT-4.7.0-1]
func ValidName(s string) error {
	if err := text(s); err != nil {
		return err
	}
	if strings.ContainsAny(s, "#+") {
		return ErrWildcard
	}
	return nil
}

// text judges what Topic Names and Topic Filters have in common.
// [v311/MQTT-4.7.3-1] [v311/MQTT-4.7.3-2] [v311/MQTT-4.7.3-3]
// [v5/MQTT-4.7.3-1] [v5/MQTT-4.7.3-2] [v5/MQTT-4.7.3-3]
func text(s string) error {
	switch {
	case s == "":
		return ErrEmpty
	case len(s) > 65535:
		return ErrLong
	case !utf8.ValidString(s) || strings.Contains(s, "\x00"):
		return ErrUTF8
	}
	return nil
}

// ValidFilter tells whether s may be a Topic Filter: nil, ErrEmpty, ErrLong,
// ErrUTF8, ErrHash or ErrPlus.
// [v311/MQTT-4.7.1-2] [v311/MQTT-4.7.1-3] [v5/MQTT-4.7.1-1] [v5/MQTT-4.7.1-2]
func ValidFilter(s string) error {
	if err := text(s); err != nil {
		return err
	}
	if i := strings.IndexByte(s, '#'); i >= 0 && (i != len(s)-1 || i > 0 && s[i-1] != '/') {
		return ErrHash
	}
	for level := range strings.SplitSeq(s, "/") {
		if len(level) > 1 && strings.Contains(level, "+") {
			return ErrPlus
		}
	}
	return nil
}

// Match tells whether a filter matches a Topic Name. Both are taken as they
// are, byte by byte. [v311/MQTT-4.7.3-4] [v5/MQTT-4.7.3-4]
func Match(filter, name string) bool {
	// [v311/MQTT-4.7.2-1] [v5/MQTT-4.7.2-1]
	if strings.HasPrefix(name, "$") && (strings.HasPrefix(filter, "#") || strings.HasPrefix(filter, "+")) {
		return false
	}
	for {
		f, restFilter, moreFilter := strings.Cut(filter, "/")
		if f == "#" {
			return true // the parent level too [v311/4.7.1.2-hash-includes-parent] [v5/4.7.1.2-hash-includes-parent]
		}
		n, restName, moreName := strings.Cut(name, "/")
		if f != "+" && f != n {
			return false
		}
		if !moreName {
			return !moreFilter || restFilter == "#"
		}
		if !moreFilter {
			return false
		}
		filter, name = restFilter, restName
	}
}

// ParseShared takes $share/ShareName/filter of MQTT 5.0 apart. shared is false
// for an ordinary filter. The error is ErrShare where there is no ShareName, it
// has a wildcard, or no filter follows; inner is left to ValidFilter. [v5/MQTT-4.8.2-1] [v5/MQTT-4.8.2-2]
func ParseShared(filter string) (group, inner string, shared bool, err error) {
	rest, ok := strings.CutPrefix(filter, "$share/")
	if !ok {
		if filter == "$share" {
			return "", filter, false, ErrShare
		}
		return "", filter, false, nil
	}
	group, inner, ok = strings.Cut(rest, "/")
	if !ok || group == "" || inner == "" || strings.ContainsAny(group, "#+") {
		return "", filter, false, ErrShare
	}
	return group, inner, true, nil
}
