package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// nearestShown is the number of names offered for one that does not exist.
const nearestShown = 3

// unknownName is the error for the name of something that does not exist: it
// offers the nearest names, and the flag of serve that lists them all.
func unknownName(kind, name, list string, names []string) error {
	near := nearest(name, names)
	if len(near) == 0 {
		return exitf(exitUsage, "there is no %s %q; mqttcheck serve %s shows them", kind, name, list)
	}
	return exitf(exitUsage, "there is no %s %q; the nearest are %s; mqttcheck serve %s shows them", kind, name, strings.Join(near, ", "), list)
}

// unknownDefect is the error for a defect that does not exist.
func unknownDefect(name string) error {
	var names []string
	for _, d := range core.Defects() {
		names = append(names, d.Name)
	}
	return unknownName("defect", name, "--list-defects", names)
}

// setPolicy reads one --policy into the policies.
func setPolicy(policies map[string]string, setting string) error {
	name, value, ok := strings.Cut(setting, "=")
	if !ok || name == "" || value == "" {
		return exitf(exitUsage, "--policy %q: write NAME=VALUE", setting)
	}
	var names []string
	for _, p := range core.Policies() {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, name) {
		return unknownName("policy", name, "--list-policies", names)
	}
	if err := new(core.Policy).SetPolicy(name, value); err != nil {
		return exitf(exitUsage, "%s", reasonOf(err))
	}
	if before, set := policies[name]; set && before != value {
		return exitf(exitUsage, "the policy %s is set twice, to %s and to %s", name, before, value)
	}
	policies[name] = value
	return nil
}

// nearest returns the names that somebody who wrote name may have meant, the
// likeliest first.
func nearest(name string, names []string) []string {
	name = strings.ToLower(name)
	type candidate struct {
		name     string
		distance int
	}
	list := make([]candidate, 0, len(names))
	for _, n := range names {
		c := candidate{n, normative.Distance(name, n)}
		if len(name) >= 3 && strings.Contains(n, name) {
			c.distance = 0
		}
		list = append(list, c)
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var near []string
	for _, c := range list[:min(nearestShown, len(list))] {
		near = append(near, c.name)
	}
	return near
}
