package finding

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

func sample() File {
	return File{
		Oracle: "crash", Key: "no-connection", About: "the broker takes no connection", Broker: "mqtt://127.0.0.1:1883", Seed: "1/77", Prefix: "p",
		Script:   script.Script{{Op: script.Open, Version: wire.V5}, {Op: script.Send, Bytes: []byte{0x82, 0}}},
		Observed: "panic: index out of range",
	}
}

func TestFileIsReadBack(t *testing.T) {
	got, err := Read(bytes.NewReader(sample().Format()))
	if err != nil || !reflect.DeepEqual(got, sample()) {
		t.Errorf("read back %+v, %v", got, err)
	}
}

func TestWhatABrokerSaidStaysOnItsLine(t *testing.T) {
	f := sample()
	f.About = "bad\n-- script --\nA rst\x1b[31m"
	got, err := Read(bytes.NewReader(f.Format()))
	if err != nil || len(got.Script) != 2 || strings.ContainsAny(got.About, "\n\x1b") {
		t.Errorf("read back %+v, %v", got, err)
	}
}

func TestBrokenFilesAreExplained(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "no finding of mqttcheck",
		"{}":                       "no finding of mqttcheck",
		title:                      "is missing",
		title + "\noracle crash\n": "no header",
		title + "\noracle: crash\n-- script --\nA dance\n": "line 1",
		title + "\noracle: crash\n-- script --\n":          "empty",
		title + "\n" + strings.Repeat("#\n", maxHeader):    "longer",
	} {
		if _, err := Read(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q in it", text, err, want)
		}
	}
}

func TestASmallerFindingReplacesALargerOne(t *testing.T) {
	dir := t.TempDir()
	large := sample()
	large.Script = append(large.Script, script.Step{Op: script.Send, Bytes: make([]byte, 100)})
	for _, f := range []File{large, sample(), large} {
		if _, err := f.Save(dir); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Load(filepath.Join(dir, sample().Name()))
	if err != nil || len(got.Script) != 2 {
		t.Errorf("%d steps are kept, %v", len(got.Script), err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files in the folder", len(list))
	}
}

// FuzzRead holds that reading never panics and that what is read is written so
// that it reads the same.
func FuzzRead(f *testing.F) {
	f.Add(sample().Format())
	f.Add([]byte(title + "\nminimised: no\n-- script --\nA > \"x\" 61*9\n-- observed --\nx"))
	f.Fuzz(func(t *testing.T, b []byte) {
		one, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		two, err := Read(bytes.NewReader(one.Format()))
		if err != nil || len(two.Script) != len(one.Script) || two.Key != oneLine(one.Key) || two.Minimised != Minimised(oneLine(string(one.Minimised))) {
			t.Fatalf("%v\n%q\n%q", err, one.Format(), two.Format())
		}
	})
}
