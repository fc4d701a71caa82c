package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/reports"
)

// reportCommand runs the report command alone.
func reportCommand(stdin string, args ...string) (code int, stdout, message string) {
	cmd := newReport()
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetIn(strings.NewReader(stdin))
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(args)
	code, message = exitCode(cmd.Execute())
	return code, out.String(), message
}

func writeResult(t *testing.T) (path, content string) {
	t.Helper()
	r := reports.Build(reports.RunInfo{Tool: "0.1.0", Versions: []string{"v5"}, Selectors: []string{"v5/3.3"}}, nil)
	path = filepath.Join(t.TempDir(), "result.json")
	var b bytes.Buffer
	if err := reports.JSON(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, b.String()
}

func TestReportRendersEveryFormat(t *testing.T) {
	path, content := writeResult(t)
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	code, stdout, message := reportCommand("", "--html", at("r.html"), "--junit", at("r.xml"), "--markdown", at("r.md"), path)
	if code != exitOK || stdout != "" || message != "" {
		t.Fatalf("exit %d, stdout %q, %s", code, stdout, message)
	}
	for name, want := range map[string]string{"r.html": "<!doctype html>", "r.xml": "<testsuites", "r.md": "nothing was checked"} {
		if data, err := os.ReadFile(at(name)); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("%s: %v, no %q", name, err, want)
		}
	}
	if code, stdout, _ := reportCommand("", path); code != exitOK || !strings.Contains(stdout, "NOTHING WAS CHECKED") {
		t.Errorf("exit %d, text:\n%s", code, stdout)
	}
	if code, stdout, _ := reportCommand(content, "--markdown", "-", "-"); code != exitOK || !strings.HasPrefix(stdout, "### ?") {
		t.Errorf("exit %d, standard input to standard output:\n%s", code, stdout)
	}
}

func TestReportRefuses(t *testing.T) {
	path, content := writeResult(t)
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	if err := os.WriteFile(broken, []byte(content[:len(content)/2]), 0o644); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.json")
	data, _ := json.Marshal(map[string]int{"a": 1})
	if err := os.WriteFile(other, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no argument":    {nil, "one result.json"},
		"two arguments":  {[]string{path, path}, "one result.json"},
		"missing file":   {[]string{filepath.Join(dir, "none.json")}, "no such file"},
		"a folder":       {[]string{dir}, "is a directory"},
		"broken":         {[]string{broken}, "broken.json: no result of mqttcheck: line"},
		"another file":   {[]string{other}, "schemaVersion or statements is missing"},
		"missing folder": {[]string{"--html", filepath.Join(dir, "none", "x.html"), path}, "there is no folder"},
		"empty path":     {[]string{"--junit", "", path}, "--junit needs the path of a file"},
		"unknown flag":   {[]string{"--pdf", "x", path}, "unknown flag"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, message := reportCommand("", c.args...)
			if code != exitUsage || !strings.Contains(message, c.want) {
				t.Errorf("exit %d, %q; want %d, %q", code, message, exitUsage, c.want)
			}
			if stdout != "" || strings.Contains(message, "\n") {
				t.Errorf("not one clear line: %q and %q", message, stdout)
			}
		})
	}
}

// A full disk takes away the file that is on it, and nothing else.
func TestWhatCannotBeWrittenKeepsNothingBack(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full")
	}
	path, _ := writeResult(t)
	page := filepath.Join(t.TempDir(), "r.md")
	code, stdout, message := reportCommand("", "--text", "--html", "/dev/full", "--markdown", page, path)
	if code != exitUsage || !strings.Contains(message, "no space left") || !strings.Contains(stdout, "NOTHING WAS CHECKED") {
		t.Errorf("exit %d, %q, text:\n%s", code, message, stdout)
	}
	if _, err := os.Stat(page); err != nil {
		t.Errorf("the other file: %v", err)
	}
}
