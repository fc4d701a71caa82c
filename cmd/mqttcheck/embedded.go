package main

import (
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
		return t, nil, exitf(exitUnsure, "the embedded reference broker does not start: %w", err)
	}
	t.URL, t.Variants, t.TLS.CA = fleet.URL(), fleet.Variants(), fleet.CA()
	t.Users = &probe.Users{
		Username: reference.Username, Password: reference.Password,
		DeniedPublish: []string{reference.DeniedTopic}, DeniedSubscribe: []string{reference.DeniedFilter},
	}
	t.AuthMethods = []probe.AuthMethod{
		{Name: reference.AuthMethod, Password: reference.AuthSecret},
		{Name: reference.ScramMethod, Username: reference.Username, Password: reference.Password},
	}
	return t, func() { _ = fleet.Close() }, nil
}

// vetDefects checks the names of defects before anything is started. One that
// ends or hangs the process needs a process of its own.
func vetDefects(names []string) error {
	for _, name := range names {
		d, err := core.LookupDefect(name)
		if err != nil {
			return unknownDefect(name)
		}
		if d.Shows == core.Fuzz {
			return exitf(exitUsage, "the defect %s ends the broker's process: give it to mqttcheck serve", name)
		}
	}
	return nil
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
