package reports

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files and the schema")

// golden compares what was rendered with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./reports -update writes it)", err)
	}
	if !bytes.Equal(got, want) {
		line := 1
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				break
			}
			if got[i] == '\n' {
				line++
			}
		}
		t.Errorf("%s differs from line %d on (go test ./reports -update writes it)", path, line)
	}
}

// render returns what a rendering writes.
func render(t testing.TB, r Result, f func(io.Writer, Result) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func text(color bool) func(io.Writer, Result) error {
	return func(w io.Writer, r Result) error { return Text(w, r, TextOptions{Color: color}) }
}

func TestGoldenText(t *testing.T) {
	golden(t, "sample.txt", render(t, sample(t), text(false)))
	golden(t, "sample.ansi", render(t, sample(t), text(true)))
}

func TestGoldenJSON(t *testing.T) {
	golden(t, "sample.json", render(t, sample(t), JSON))
}

func TestGoldenJUnit(t *testing.T) {
	golden(t, "sample.junit.xml", render(t, sample(t), JUnit))
}

func TestGoldenMarkdown(t *testing.T) {
	golden(t, "sample.md", render(t, sample(t), Markdown))
}

func TestGoldenHTML(t *testing.T) {
	golden(t, "sample.html", render(t, sample(t), HTML))
}
