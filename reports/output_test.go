package reports

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckOutput(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "new.html"):         "",
		file:                                   "",
		os.DevNull:                             "",
		filepath.Join(dir, "none", "out.html"): "there is no folder",
		filepath.Join(file, "out.html"):        "folder",
		dir:                                    "it is a folder",
	} {
		err := CheckOutput(path)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something is left behind: %v", entries)
	}
}

func TestCheckOutputOfReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if f, err := os.CreateTemp(dir, ""); err == nil {
		f.Close()
		t.Skip("this user may write everywhere")
	}
	if err := CheckOutput(filepath.Join(dir, "x")); err == nil || !strings.Contains(err.Error(), "not writable") {
		t.Errorf("error %v", err)
	}
}

func TestWriteFileKeepsTheOldUntilTheNewIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	write := func(s string, err error) error {
		return WriteFile(path, func(w io.Writer) error {
			_, _ = io.WriteString(w, s)
			return err
		})
	}
	if err := write("old", nil); err != nil {
		t.Fatal(err)
	}
	if err := write("half", errors.New("boom")); err == nil || !strings.Contains(err.Error(), "boom") {
		t.Errorf("error %v", err)
	}
	if data, _ := os.ReadFile(path); string(data) != "old" {
		t.Errorf("content %q after a failed write", data)
	}
	if err := write("new", nil); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "new" {
		t.Errorf("content %q", data)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("something is left behind: %v", entries)
	}
}

func TestMask(t *testing.T) {
	for in, want := range map[string]string{
		"mqtt://localhost:1883":         "mqtt://localhost:1883",
		"mqtt://joe:secret@h:1883":      "mqtt://***@h:1883",
		"mqtts://joe@h":                 "mqtts://***@h",
		"ws://joe:p@ss@h/mqtt":          "ws://***@h/mqtt",
		"mqtt://joe:se/cret@h:1883":     "mqtt://***@h:1883",
		"mqtt://h:1883/a@b":             "mqtt://h:1883/a@b",
		"v5/MQTT-3.3.1-4":               "v5/MQTT-3.3.1-4",
		"mqtt://joe:secret@[::1]:1883/": "mqtt://***@[::1]:1883/",
	} {
		if got := MaskURL(in); got != want {
			t.Errorf("MaskURL(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{
		"run -u joe -P secret v5":        "run -u *** -P *** v5",
		"run -ujoe -Psecret":             "run -u*** -P***",
		"run -P=secret":                  "run -P=***",
		"run --password=secret -P":       "run --password=*** -P",
		"run mqtt://a:b@h --json o.json": "run mqtt://***@h --json o.json",
	} {
		if got := strings.Join(MaskCommand(strings.Fields(in)), " "); got != want {
			t.Errorf("MaskCommand(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAgain(t *testing.T) {
	for in, want := range map[string]string{
		"mqttcheck run mqtt://h -V 5 v5/3.3 --html a.html --strict --timeout 1s": "mqttcheck run mqtt://h v5/MQTT-3.3.1-4 --strict --timeout 1s --seed 7",
		"mqttcheck run --defect keeps-dup --json=x --shuffle":                    "mqttcheck run v5/MQTT-3.3.1-4 --defect keeps-dup --shuffle --seed 7",
		"mqttcheck run --cafile=a'b":                                             `mqttcheck run v5/MQTT-3.3.1-4 '--cafile=a'\''b' --seed 7`,
	} {
		r := Result{Run: Run{Seed: 7, Command: strings.Fields(in)}}
		if strings.Contains(in, "mqtt://h") {
			r.Target.URL = "mqtt://h"
		}
		if got := r.Again("v5/MQTT-3.3.1-4"); got != want {
			t.Errorf("again after %q:\n%s, want\n%s", in, got, want)
		}
	}
}
