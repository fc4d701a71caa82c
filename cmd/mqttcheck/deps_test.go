package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/mqttcheck/mqttcheck/"

// arrows says what each package may import, beside the standard library and
// itself: a prefix of import paths each.
var arrows = map[string][]string{
	"specs/normative":  {},
	"specs/wire":       {"github.com/gobwas/ws"},
	"specs/probe":      {"github.com/onsi/", modulePath + "specs/wire", modulePath + "specs/normative"},
	"specs":            {"github.com/onsi/", modulePath + "specs/"},
	"reference/packet": {},
	"reference/topic":  {},
	"reference/core":   {modulePath + "reference/packet", modulePath + "reference/topic"},
	"reference":        {modulePath + "reference/", "go.etcd.io/bbolt", "github.com/coder/websocket", "golang.org/x/crypto"},
	"reports":          {"github.com/onsi/ginkgo/v2/types", modulePath + "specs/normative", modulePath + "specs/wire"},
	"cmd/mqttcheck":    {modulePath, "github.com/onsi/", "github.com/spf13/", "golang.org/x/"},
}

// forbidden are packages of the standard library that some may not import, and
// why.
var forbidden = map[string]map[string]string{
	"specs":          {"os": "specs know a broker by its address", "net": "specs know a broker by its address"},
	"specs/probe":    {"os": "the parent owns the outside", "net": "the wire package dials"},
	"reference/core": {"net": "the core is pure", "os": "the core is pure", "math/rand": "entropy comes with the event", "crypto/rand": "entropy comes with the event"},
	"reference":      {"testing": "it is a product"},
}

// calls are calls that some packages may not make.
var calls = map[string][]string{
	"specs": {"time.Sleep"}, "specs/probe": {"time.Sleep"},
	"reference/core": {"time.Now", "time.Sleep", "time.Since"},
}

func TestPackagesImportOnlyWhatTheyMay(t *testing.T) {
	eachFile(t, func(dir, path string, file *ast.File) {
		allowed, known := arrows[dir]
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if why, no := forbidden[dir][imported]; no {
				t.Errorf("%s imports %s: %s", path, imported, why)
			}
			standard := !strings.Contains(strings.Split(imported, "/")[0], ".")
			if standard || !known {
				continue
			}
			if !slices.ContainsFunc(allowed, func(prefix string) bool { return strings.HasPrefix(imported+"/", prefix) || strings.HasPrefix(imported, prefix) }) {
				t.Errorf("%s imports %s, which no arrow allows", path, imported)
			}
		}
	})
}

func TestPackagesCallNoClockThatTheyMayNot(t *testing.T) {
	eachFile(t, func(dir, path string, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(calls[dir], x.Name+"."+sel.Sel.Name) {
				t.Errorf("%s uses %s.%s", path, x.Name, sel.Sel.Name)
			}
			return true
		})
	})
}

// eachFile parses every file of the product that is no test.
func eachFile(t *testing.T, visit func(dir, path string, file *ast.File)) {
	t.Helper()
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "test" || d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
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
