package reports

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// chapter returns the part of a section number under which the tables put it:
// "3.3" for "3.3.1.2"; 2, 6 and 7 are not divided.
func chapter(section string) string {
	parts := strings.SplitN(section, ".", 3)
	if len(parts) == 1 || slices.Contains([]string{"2", "6", "7"}, parts[0]) {
		return parts[0]
	}
	return parts[0] + "." + parts[1]
}

// chapterTitles are the headings of the chapters that differ between the
// versions nowhere, and titles311 and titles5 those that do.
var (
	chapterTitles = map[string]string{
		"1.5": "Data representation", "2": "Control packet format",
		"3.1": "CONNECT", "3.2": "CONNACK", "3.3": "PUBLISH", "3.4": "PUBACK", "3.5": "PUBREC", "3.6": "PUBREL",
		"3.7": "PUBCOMP", "3.8": "SUBSCRIBE", "3.9": "SUBACK", "3.10": "UNSUBSCRIBE", "3.11": "UNSUBACK",
		"3.12": "PINGREQ", "3.13": "PINGRESP", "3.14": "DISCONNECT", "3.15": "AUTH",
		"4.1": "Session state", "4.2": "Network connections", "4.3": "QoS flows", "4.4": "Delivery retry",
		"4.5": "Message receipt", "4.6": "Message ordering", "4.7": "Topic names and filters",
		"5.4": "Security", "6": "WebSocket", "7": "Conformance",
	}
	titles311 = map[string]string{"4.8": "Handling errors"}
	titles5   = map[string]string{
		"4.8": "Subscriptions", "4.9": "Flow control", "4.10": "Request and response", "4.11": "Server redirection",
		"4.12": "Enhanced authentication", "4.13": "Handling errors",
	}
)

// chapterTitle returns the heading of a chapter.
func chapterTitle(version, number string) string {
	own := titles5
	if version == "v311" {
		own = titles311
	}
	return cmp.Or(own[number], chapterTitles[number], "Section "+number)
}

// Chapter names the chapter of a section in a version, as in "3.3 PUBLISH".
func Chapter(version, section string) string {
	number := chapter(section)
	return number + " " + chapterTitle(version, number)
}

// CompareSections orders section numbers, which may carry a version before
// them, number by number: "v5/3.1.2".
func CompareSections(a, b string) int {
	versionA, a, okA := strings.Cut(a, "/")
	versionB, b, okB := strings.Cut(b, "/")
	if !okA {
		versionA, a = "", versionA
	}
	if !okB {
		versionB, b = "", versionB
	}
	if c := cmp.Or(cmp.Compare(len(versionB), len(versionA)), cmp.Compare(versionA, versionB)); c != 0 {
		return c // v311 before v5
	}
	return compareNumbers(a, b)
}

func compareNumbers(a, b string) int {
	for a != "" || b != "" {
		var x, y string
		x, a, _ = strings.Cut(a, ".")
		y, b, _ = strings.Cut(b, ".")
		m, errX := strconv.Atoi(x)
		n, errY := strconv.Atoi(y)
		if errX != nil || errY != nil {
			if c := cmp.Compare(x, y); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(m, n); c != 0 {
			return c
		}
	}
	return 0
}

// group is the statements of one chapter of one version.
type group struct {
	Version, Number, Title string
	Counts                 Counts
	Statements             []Statement
}

// groups returns the statements by version and chapter, versions in the order
// of the run, chapters by number.
func groups(r Result) []*group {
	var list []*group
	index := map[string]*group{}
	for _, s := range r.Statements {
		number := chapter(s.Section)
		key := s.Version() + "/" + number
		g := index[key]
		if g == nil {
			g = &group{Version: s.Version(), Number: number, Title: chapterTitle(s.Version(), number)}
			index[key] = g
			at := len(list)
			for at > 0 && list[at-1].Version == g.Version && compareNumbers(list[at-1].Number, number) > 0 {
				at--
			}
			list = append(list[:at], append([]*group{g}, list[at:]...)...)
		}
		g.Statements = append(g.Statements, s)
		g.Counts.add(s.Verdict)
	}
	// The unnumbered requirements of a version may stand behind the numbered
	// ones of all versions: bring the versions together.
	var order []string
	byVersion := map[string][]*group{}
	for _, g := range list {
		if byVersion[g.Version] == nil {
			order = append(order, g.Version)
		}
		byVersion[g.Version] = append(byVersion[g.Version], g)
	}
	list = list[:0]
	for _, v := range order {
		list = append(list, byVersion[v]...)
	}
	return list
}
