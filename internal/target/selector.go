package target

import (
	"fmt"
	"strings"
)

// Selector names statements: all of a version, a section with those beneath
// it, or one statement. Whether there are such statements is not known here.
type Selector struct {
	// Text is the selector as written.
	Text string
	// Version is "v311" or "v5".
	Version string
	// Rest is a section or the id of a statement; "" is the whole version.
	Rest string
}

// Split sorts the arguments of a command: what holds "://" is an address, all
// others are selectors. How many addresses a command takes, Locate decides.
func Split(args []string) (urls []string, selectors []Selector, err error) {
	for _, arg := range args {
		if strings.Contains(arg, "://") {
			urls = append(urls, arg)
			continue
		}
		s, err := ParseSelector(arg)
		if err != nil {
			return nil, nil, err
		}
		selectors = append(selectors, s)
	}
	return urls, selectors, nil
}

// ParseSelector reads "v5", "v5/3.3", "v5/MQTT-3.3.1-4" or
// "v311/4.7.2-dollar-explicit-filter". The error says what was probably meant.
func ParseSelector(text string) (Selector, error) {
	version, rest, slash := strings.Cut(text, "/")
	known := version == "v311" || version == "v5"
	switch {
	case known && slash && rest == "":
		return Selector{}, fmt.Errorf("%q ends in a slash; write %s for the whole version", text, version)
	case known && strings.ContainsAny(rest, "/ \t"):
		return Selector{}, fmt.Errorf("%q is no selector: write %s/3.3 for a section, %s/MQTT-3.3.1-4 for a statement", text, version, version)
	case known:
		return Selector{text, version, rest}, nil
	case strings.HasPrefix(text, "MQTT-") || numeric(text):
		return Selector{}, fmt.Errorf("%q has no version: write v311/%s or v5/%s", text, printable(text), printable(text))
	case meant[strings.ToLower(version)] != "":
		want := meant[strings.ToLower(version)] + strings.TrimPrefix(text, version)
		return Selector{}, fmt.Errorf("%q is no selector: write %s", text, printable(want))
	case strings.HasPrefix(version, "v") && numeric(version[1:]):
		return Selector{}, fmt.Errorf("%q is no selector: the versions are v311 and v5", masked(text))
	case strings.HasPrefix(text, "v5:MQTT-"), strings.HasPrefix(text, "v311:MQTT-"):
		return Selector{}, fmt.Errorf("%q is no selector: write %s", text, printable(strings.Replace(text, ":", "/", 1)))
	case strings.Contains(text, ":"):
		return Selector{}, fmt.Errorf("%q is no address: write mqtt://%s", masked(text), printable(masked(text)))
	default:
		return Selector{}, fmt.Errorf("%q is neither an address such as mqtt://localhost:1883 nor a selector such as v5/3.3", masked(text))
	}
}

// numeric tells whether a text is of digits and dots, as the numbers of versions and
// sections are.
func numeric(text string) bool { return text != "" && strings.Trim(text, "0123456789.") == "" }

// meant are ways to write a version that selectors do not know.
var meant = map[string]string{
	"v3.1.1": "v311", "3.1.1": "v311", "v3": "v311", "mqtt311": "v311", "v311": "v311",
	"v5.0": "v5", "5.0": "v5", "5": "v5", "mqtt5": "v5", "v5": "v5",
}
