package main

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// protocol is one version of the specification by all the names it goes by.
type protocol struct {
	key    string // in statement keys and selectors
	number string // on the command line and in texts
	root   string // the root container of its specs
	wire   wire.Version
}

// versions are the versions that mqttcheck knows, oldest first.
var versions = []protocol{
	{"v311", "3.1.1", "MQTT 3.1.1", wire.V311},
	{"v5", "5.0", "MQTT 5.0", wire.V5},
}

// parseVersions reads the values of -V: "3.1.1", "5", and the names that
// mosquitto_pub and the keys give them.
func parseVersions(values []string) ([]string, error) {
	var keys []string
	for _, value := range values {
		for name := range strings.SplitSeq(value, ",") {
			key := ""
			switch strings.ToLower(strings.TrimSpace(name)) {
			case "3.1.1", "311", "v311", "mqttv311", "4":
				key = "v311"
			case "5", "5.0", "v5", "mqttv5":
				key = "v5"
			case "all":
				return []string{"v311", "v5"}, nil
			default:
				return nil, exitf(exitUsage, "-V %q: the versions are 3.1.1 and 5", name)
			}
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys) // v311 before v5
	return keys, nil
}

// numberOf returns the number of a version by its key: "3.1.1" for "v311".
func numberOf(key string) string {
	for _, v := range versions {
		if v.key == key {
			return v.number
		}
	}
	return key
}

// wireVersions returns versions by their keys as the codec numbers them.
func wireVersions(keys []string) []wire.Version {
	var out []wire.Version
	for _, v := range versions {
		if slices.Contains(keys, v.key) {
			out = append(out, v.wire)
		}
	}
	return out
}
