package fuzz_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every native fuzz target stands in docs/fuzzing.md, with its package.
func TestTargetsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "docs", "fuzzing.md"))
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	found := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(path), ".."+string(filepath.Separator)))
		for _, m := range target.FindAllSubmatch(text, -1) {
			found++
			if row := "| `" + folder + "` | `" + string(m[1]) + "` |"; !strings.Contains(string(doc), row) {
				t.Errorf("docs/fuzzing.md has no row that begins with %s", row)
			}
		}
		return err
	})
	if err != nil || found < 10 {
		t.Errorf("%d targets, %v", found, err)
	}
}
