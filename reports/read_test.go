package reports

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
)

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	want := sample(t)
	got, err := Read(bytes.NewReader(render(t, want, JSON)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Statements { // JSON cannot hold bytes that are no UTF-8
		for j := range want.Statements[i].Checks {
			for k, e := range want.Statements[i].Checks[j].Trace {
				want.Statements[i].Checks[j].Trace[k].Text = strings.ToValidUTF8(e.Text, "\ufffd")
			}
		}
	}
	for k, v := range want.Broker.Announced {
		want.Broker.Announced[k] = strings.ToValidUTF8(v, "\ufffd")
	}
	want.Broker.Version = strings.ToValidUTF8(want.Broker.Version, "\ufffd")
	if !reflect.DeepEqual(got, want) {
		t.Error("the result differs after writing and reading")
	}
	for _, f := range []func(*testing.T){TestGoldenText, TestGoldenHTML} {
		f(t)
	}
}

// TestReadOlder reads a result as version 1.0 wrote it, which every later
// version has to go on reading, and one with fields of a later version.
func TestReadOlder(t *testing.T) {
	data, err := os.ReadFile("testdata/result-1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		string(data),
		strings.Replace(string(data), `"schemaVersion": "1.0"`, `"schemaVersion": "1.9", "later": {"x": 1}`, 1),
	} {
		r, err := Read(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Statements) != 2 || r.Statements[0].Verdict != Fail || r.Statements[0].Checks[0].Trace[0].Type != "PUBLISH" || r.ExitCode() != 1 {
			t.Errorf("read %+v", r.Statements)
		}
		if out := render(t, r, text2); !bytes.Contains(out, []byte("NOT CONFORMANT")) {
			t.Errorf("text of an older result:\n%s", out)
		}
		render(t, r, HTML)
	}
}

var text2 = text(false)

func TestReadRefuses(t *testing.T) {
	good := string(render(t, sample(t), JSON))
	for name, c := range map[string]struct{ in, want string }{
		"empty":            {"", "the file is empty"},
		"blank":            {" \n", "the file is empty"},
		"text":             {"hello", "line 1: invalid character 'h'"},
		"a list":           {"[]", "cannot unmarshal array"},
		"other JSON":       {`{"a":1}`, "schemaVersion or statements is missing"},
		"truncated":        {good[:len(good)/2], "unexpected end of JSON input"},
		"two":              {good + good, "invalid character '{' after top-level value"},
		"a later major":    {strings.Replace(good, `"1.0"`, `"2.0"`, 1), `schema version "2.0", this mqttcheck reads 1.x`},
		"a number":         {strings.Replace(good, `"1.0"`, `1`, 1), `schema version "1"`},
		"wrong type":       {strings.Replace(good, `"seed": 1790000000`, `"seed": "x"`, 1), "damaged result: line"},
		"unknown verdict":  {strings.Replace(good, `"verdict": "skip"`, `"verdict": "\u001b[2J"`, 1), "has the unknown verdict"},
		"id without slash": {strings.Replace(good, `"id": "v5/MQTT-3.3.1-4"`, `"id": "MQTT-3.3.1-4"`, 1), `no valid id: "MQTT-3.3.1-4"`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.in == good {
				t.Fatal("nothing was changed")
			}
			_, err := Read(strings.NewReader(c.in))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("not one clear line: %q", err)
			}
		})
	}
}
