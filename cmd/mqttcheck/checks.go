package main

import (
	"slices"
	"strings"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/specs"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// check is one spec of the suite as the parent knows it: by its name and
// labels, without having run it.
type check struct {
	Name     string
	Versions []string // "v311", "v5"
	Keys     []string // the statements it cites; a failure belongs to the first
	Timing   bool     // it waits for time to pass
	Patient  bool     // where it fails it waits for several times the timeout
	Slow     bool     // it waits for longer than a default run may
	Serial   bool     // nothing else may use the broker meanwhile
	Source   string   // file:line
	Section  int      // of specs, -1 for none

	preview types.SpecReport
}

// labels that mean something to the dealer; all others are statements or needs.
const (
	labelTiming  = "timing"
	labelPatient = "patient"
	labelSlow    = "slow"
)

// allChecks returns every check of the suite in the order of the specification.
func allChecks() []check {
	reports := previewSpecs()
	all := make([]check, 0, len(reports))
	for _, r := range reports {
		if r.LeafNodeType.Is(types.NodeTypeIt) {
			all = append(all, checkOf(r))
		}
	}
	// Ginkgo shuffles the root containers.
	slices.SortStableFunc(all, func(x, y check) int {
		return strings.Compare(strings.Join(x.Versions, ""), strings.Join(y.Versions, ""))
	})
	return all
}

func checkOf(r types.SpecReport) check {
	c := check{Name: r.FullText(), Serial: r.IsSerial, Source: shortLocation(r.LeafNodeLocation), Section: -1, preview: r}
	if n, ok := specs.SectionOf(r.Labels()); ok {
		c.Section = n
	}
	for _, label := range r.Labels() {
		switch label {
		case labelTiming:
			c.Timing = true
		case labelPatient:
			c.Patient = true
		case labelSlow:
			c.Slow = true
		default:
			if key, ok := normative.FromLabel(label); ok && !slices.Contains(c.Keys, key) {
				c.Keys = append(c.Keys, key)
			}
		}
	}
	for _, key := range c.Keys {
		v, _, _ := strings.Cut(key, "/")
		if !slices.Contains(c.Versions, v) {
			c.Versions = append(c.Versions, v)
		}
	}
	if len(c.Versions) == 0 {
		c.Versions = versionsOfName(c.Name)
	}
	return c
}

// versionsOfName reads the version off the root container, for checks that
// cite no statement.
func versionsOfName(name string) []string {
	for _, v := range versions {
		if strings.HasPrefix(name, v.root+" ") {
			return []string{v.key}
		}
	}
	return nil
}

// shortLocation returns a location from the folder of the specs on, so that
// it does not depend on where the program was built.
func shortLocation(at types.CodeLocation) string {
	s := at.String()
	if i := strings.LastIndex(s, "/specs/"); i >= 0 {
		return s[i+1:]
	}
	return s
}

// checksOf returns the checks that cite a statement.
func checksOf(all []check, key string) []check {
	var out []check
	for _, c := range all {
		if slices.Contains(c.Keys, key) {
			out = append(out, c)
		}
	}
	return out
}

// sectionsOf returns the sections that register the checks; nil where that is
// not known of one.
func sectionsOf(checks []check) []int {
	var list []int
	for _, c := range checks {
		if c.Section < 0 {
			return nil
		}
		if !slices.Contains(list, c.Section) {
			list = append(list, c.Section)
		}
	}
	return list
}

// names returns the names of checks.
func names(checks []check) []string {
	out := make([]string, len(checks))
	for i, c := range checks {
		out[i] = c.Name
	}
	return out
}
