package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the prefix of the import paths of our own packages.
const module = "github.com/mqttcheck/mqttcheck/"

// arrows is the architecture: which packages a package may import, beside the
// standard library. "x/..." stands for x and all below it; paths of our own
// are written without the module. Every package of the product has a row.
var arrows = map[string][]string{
	// Data, and the tester's own codec: fuzz uses both without a suite.
	"specs/normative": {},
	"specs/wire":      {"github.com/gobwas/ws/..."},

	// The suite knows a broker by its address only, and not how it is reported.
	"specs/probe": {"github.com/onsi/ginkgo/v2/...", "github.com/onsi/gomega/...", "github.com/xdg-go/scram", "specs/wire", "specs/normative"},
	"specs":       {"github.com/onsi/ginkgo/v2/...", "github.com/onsi/gomega/...", "specs/wire", "specs/normative", "specs/probe"},

	// The reference is written from the standard, not from the suite: two
	// codecs, so that the bug of one shows.
	"reference/packet": {},
	"reference/topic":  {},
	"reference/core":   {"reference/packet", "reference/topic", "github.com/xdg-go/scram"},
	"reference/store":  {"reference/core", "go.etcd.io/bbolt/..."},
	"reference":        {"reference/...", "github.com/coder/websocket", "golang.org/x/crypto/..."},

	// Reports are of any broker: they read what the suite said, as data.
	"reports": {"github.com/onsi/ginkgo/v2/types", "specs/normative", "specs/wire"},

	"fuzz":            {"reference/...", "specs/wire", "specs/normative", "internal/proc"},
	"fuzz/script":     {"specs/wire"},
	"fuzz/play":       {"fuzz/script", "specs/wire"},
	"fuzz/generate":   {"fuzz/script", "specs/wire"},
	"fuzz/model":      {"fuzz/play", "fuzz/script", "reference/packet", "reference/topic", "specs/wire"},
	"fuzz/oracle":     {"fuzz/model", "fuzz/play", "fuzz/script", "specs/wire"},
	"fuzz/shrink":     {"fuzz/script", "specs/wire"},
	"fuzz/finding":    {"fuzz/script"},
	"fuzz/campaign":   {"fuzz/...", "internal/proc", "specs/wire"},
	"internal/proc":   {},
	"internal/target": {"github.com/knadh/koanf/...", "go.yaml.in/yaml/..."},

	"cmd/mqttcheck": {"specs/...", "reference/...", "reports", "fuzz/...", "internal/...", "github.com/onsi/ginkgo/v2/...", "github.com/spf13/cobra", "github.com/spf13/pflag"},
}

// once are imports that a package keeps in one of its files.
var once = map[string][]string{
	"specs/wire":      {"github.com/gobwas/ws/..."},
	"specs/probe":     {"github.com/xdg-go/scram"},
	"reports":         {"github.com/onsi/ginkgo/v2/types"},
	"reference/store": {"go.etcd.io/bbolt/..."},
}

// banned are packages of the standard library that some packages may not
// import, and why.
var banned = map[string]map[string]string{
	"specs":           {"os/...": "a spec knows a broker by its address", "net/...": "a spec knows a broker by its address"},
	"specs/probe":     {"os/...": "the parent owns the outside", "net/...": "wire dials"},
	"reference/core":  {"net/...": "the core is pure", "os/...": "the core is pure", "math/rand/...": "random bytes come with the event", "crypto/rand": "random bytes come with the event", "testing": "it is a product"},
	"reference/store": {"testing": "it is a product"},
	"reference":       {"testing": "it is a product"},
	"cmd/mqttcheck":   {"flag": "Ginkgo fills flag.CommandLine when it is imported"},
}

// calls are functions of package time that some packages may not use, and why.
var calls = map[string]map[string]string{
	"specs":          {"Sleep": "absence is proved by a sentinel"},
	"specs/probe":    {"Sleep": "absence is proved by a sentinel"},
	"reference/core": {"Sleep": "the core does not wait", "Now": "time comes with the event", "Since": "time comes with the event", "Until": "time comes with the event", "After": "the core asks to be woken", "AfterFunc": "the core asks to be woken", "NewTimer": "the core asks to be woken", "Tick": "the core asks to be woken", "NewTicker": "the core asks to be woken"},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	kept := map[string][]string{} // package and import, to files
	rows := map[string]bool{}
	eachFile(t, func(dir, path string, file *ast.File) {
		allowed, known := arrows[dir]
		if !known {
			t.Errorf("%s: the package %s has no row in the table of arrows", path, dir)
		}
		rows[dir] = true
		for _, imported := range imports(t, file) {
			for pattern, why := range banned[dir] {
				if matchesPath(pattern, imported) {
					t.Errorf("%s imports %s: %s", path, imported, why)
				}
			}
			for _, pattern := range once[dir] {
				if at := dir + " " + pattern; matchesPath(pattern, imported) && !slices.Contains(kept[at], path) {
					kept[at] = append(kept[at], path)
				}
			}
			if standard(imported) {
				continue
			}
			name := strings.TrimPrefix(imported, module)
			if !slices.ContainsFunc(allowed, func(pattern string) bool { return matchesPath(pattern, name) }) {
				t.Errorf("%s imports %s, which no arrow allows", path, imported)
			}
		}
	})
	for what, files := range kept {
		if len(files) > 1 {
			t.Errorf("%s is imported by %d files, and one is to keep it: %v", what, len(files), files)
		}
	}
	// fuzz has test files only until the network fuzzer is there.
	for dir := range maps.Keys(arrows) {
		if !rows[dir] && dir != "fuzz" {
			t.Errorf("the table of arrows has a row for %s, which has no files", dir)
		}
	}
}

func TestPackagesUseNoClockThatTheyMayNot(t *testing.T) {
	eachFile(t, func(dir, path string, file *ast.File) {
		clock := nameOf(file, "time")
		if clock == "" || calls[dir] == nil {
			return
		}
		if clock == "." {
			t.Errorf("%s imports time without its name", path)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, ok := sel.X.(*ast.Ident)
			if why, no := calls[dir][sel.Sel.Name]; ok && no && x.Name == clock {
				t.Errorf("%s uses time.%s: %s", path, sel.Sel.Name, why)
			}
			return true
		})
	})
}

// The test is worth nothing if its patterns match too much or too little.
func TestPatternsOfArrows(t *testing.T) {
	for _, tc := range []struct {
		pattern, path string
		want          bool
	}{
		{"os/...", "os", true},
		{"os/...", "os/exec", true},
		{"os/...", "ostrich", false},
		{"specs/wire", "specs/wire", true},
		{"specs/wire", "specs/wireless", false},
		{"github.com/onsi/ginkgo/v2/types", "github.com/onsi/ginkgo/v2", false},
		{"reference/...", "reference/core", true},
	} {
		if got := matchesPath(tc.pattern, tc.path); got != tc.want {
			t.Errorf("%s matches %s: %v, want %v", tc.pattern, tc.path, got, tc.want)
		}
	}
}

// matchesPath tells whether a path of arrows names an import path.
func matchesPath(pattern, path string) bool {
	if prefix, all := strings.CutSuffix(pattern, "/..."); all {
		return path == prefix || strings.HasPrefix(path, prefix+"/")
	}
	return path == pattern
}

// standard tells whether a package is of the standard library: the first part
// of all other paths is a host.
func standard(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return !strings.Contains(host, ".")
}

func imports(t *testing.T, file *ast.File) []string {
	t.Helper()
	list := make([]string, len(file.Imports))
	for i, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = path
	}
	return list
}

// nameOf returns the name under which a file imports a package of one word, ""
// when it does not.
func nameOf(file *ast.File, path string) string {
	for _, spec := range file.Imports {
		switch {
		case spec.Path.Value != strconv.Quote(path):
		case spec.Name != nil:
			return spec.Name.Name
		default:
			return path
		}
	}
	return ""
}

// eachFile parses every file of the product that is no test. Nested modules
// are not part of it.
func eachFile(t *testing.T, visit func(dir, path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && (nested == nil || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		seen++
		visit(filepath.ToSlash(dir), path, file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 50 {
		t.Fatalf("only %d files found", seen)
	}
}
