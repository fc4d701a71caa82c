package core

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

var citation = regexp.MustCompile(`\[(v311|v5)/([^\]\s]+)\]`)

// cited returns where each key is cited in the sources of the reference.
func cited(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range citation.FindAllStringSubmatch(string(text), -1) {
			found[m[1]+"/"+m[2]] = path
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestCitedKeysExist(t *testing.T) {
	for key, path := range cited(t) {
		if _, ok := normative.Lookup(key); !ok {
			t.Errorf("%s cites %s, which is none; near it: %v", path, key, normative.Nearest(key, 3))
		}
	}
}

// TestServerStatementsAreCited holds the source against the catalogue: at some
// line of the reference each numbered statement of a server is obeyed.
func TestServerStatementsAreCited(t *testing.T) {
	found := cited(t)
	var missing []string
	for _, st := range normative.All() {
		if st.Numbered && st.Actor != "client" && found[st.Key] == "" && !slices.Contains(uncited, st.Key) {
			missing = append(missing, st.Key)
		}
	}
	if len(missing) > 0 {
		t.Errorf("cited nowhere: %s", strings.Join(missing, " "))
	}
}

// uncited statements are obeyed at no single line.
var uncited = []string{
	"v311/MQTT-7.0.0-1", // this server opens no connections
	"v311/MQTT-7.0.0-2", // a statement about the whole
}

var defectName = regexp.MustCompile(`^[a-z0-9-]+$`)

func TestDefectsAreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Defects() {
		if !defectName.MatchString(d.Name) || seen[d.Name] {
			t.Errorf("the name %q is ill-formed or there twice", d.Name)
		}
		seen[d.Name] = true
		if len(d.Breaks) == 0 {
			t.Errorf("%s breaks nothing", d.Name)
		}
		for i, key := range d.Breaks {
			if _, ok := normative.Lookup(key); !ok {
				t.Errorf("%s breaks %s, which is none", d.Name, key)
			}
			if slices.Contains(d.Breaks[:i], key) {
				t.Errorf("%s names %s twice", d.Name, key)
			}
		}
		if !slices.Contains([]string{Run, Warn, Hook, Fuzz}, d.Shows) {
			t.Errorf("%s shows as %q", d.Name, d.Shows)
		}
		if !strings.HasSuffix(d.About, ".") || strings.ContainsAny(d.About, "\t\n") {
			t.Errorf("%s: About is no sentence: %q", d.Name, d.About)
		}
		if _, err := New(Config{Defects: []string{d.Name}}); err != nil {
			t.Error(err)
		}
	}
}

// TestDefectsDoNotCrash runs every script on a server with each defect: it may
// do anything but panic. (Those that are meant to crash show as Fuzz.)
func TestDefectsDoNotCrash(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var scripts []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		scripts = append(scripts, string(text))
	}
	for _, d := range Defects() {
		if d.Shows == Fuzz {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			for _, text := range scripts {
				runScript(t, "defect "+d.Name+"\n"+text)
			}
		})
	}
}

func TestPoliciesAreWellFormed(t *testing.T) {
	value := regexp.MustCompile(`^[A-Za-z0-9.:-]+$`)
	for _, info := range Policies() {
		for _, v := range info.Values {
			var p Policy
			if err := p.SetPolicy(info.Name, v); err != nil || !value.MatchString(v) {
				t.Errorf("policy %s=%s: %v", info.Name, v, err)
			}
		}
	}
	var p Policy
	if p.SetPolicy("overlap", "thrice") == nil || p.SetPolicy("none", "such") == nil || p.SetPolicy("window", "-1") == nil {
		t.Error("a wrong policy is taken")
	}
}
