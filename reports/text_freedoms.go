package reports

import (
	"fmt"
	"strings"
)

// freedom is what was observed, with the versions in which it is the same.
type freedom struct {
	section, value string
	versions       []string
}

// freedoms puts together what was observed alike in several versions, in the
// order of the sections.
func freedoms(r Result) []freedom {
	var list []freedom
	at := map[string]int{}
	for _, o := range r.Observations {
		version := VersionName(versionOf(o.Key))
		i, known := at[o.Value]
		if !known {
			at[o.Value] = len(list)
			list = append(list, freedom{section: o.Section, value: o.Value, versions: []string{version}})
			continue
		}
		if f := &list[i]; f.versions[len(f.versions)-1] != version {
			f.versions = append(f.versions, version)
		}
	}
	return list
}

// freedoms prints how the broker uses the freedoms that the text leaves it.
func (t *textReport) freedoms() {
	list := freedoms(t.r)
	if len(list) == 0 {
		return
	}
	t.printf("%s\n\n", t.paint(bold, "How the broker uses its freedoms"))
	for _, f := range list {
		var short []string
		for _, v := range f.versions {
			short = append(short, strings.TrimPrefix(v, "MQTT "))
		}
		name := fmt.Sprintf("  %s %-10s %-10s ", t.verdict(Info, Info.glyph()), f.section, strings.Join(short, ", "))
		t.field(name, 26, visibleLines(f.value), "")
	}
	t.printf("\n")
}
