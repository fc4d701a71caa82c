package main

import (
	"fmt"
	"slices"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// startEmbedded starts the reference broker with all its variants and points
// the target at it. The function that it returns stops them.
func startEmbedded(t probe.Target, defects []string) (probe.Target, func(), error) {
	fleet, err := reference.StartVariants(reference.Options{Defects: defects, Second: t.Second})
	if err != nil {
		return t, nil, fmt.Errorf("embedded reference broker: %w", err)
	}
	t.URL, t.Variants = fleet.URL(), fleet.Variants()
	t.Users = &probe.Users{
		Username: reference.Username, Password: reference.Password,
		DeniedPublish: []string{reference.DeniedTopic}, DeniedSubscribe: []string{reference.DeniedFilter},
	}
	return t, func() { _ = fleet.Close() }, nil
}

// defectsOf returns the defects of the reference broker that break a statement.
func defectsOf(key string) []defect {
	var list []defect
	for _, d := range core.Defects() {
		if slices.Contains(d.Breaks, key) {
			list = append(list, defect{name: d.Name, sentence: d.About})
		}
	}
	return list
}
