package script

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

var sample = Script{
	{Client: 0, Op: Open, Version: wire.V5},
	{Client: 0, Op: Send, Bytes: wire.Bytes(wire.V5, wire.Connect{CleanStart: true, ClientID: "a"})},
	{Client: 1, Op: Open, Version: wire.V311},
	{Client: 1, Op: Send, Bytes: bytes.Repeat([]byte{'x'}, 300), Split: 2},
	{Client: 1, Op: Hold},
	{Client: 0, Op: Fence},
	{Op: Pause, Pause: 20 * time.Millisecond},
	{Client: 1, Op: Finish},
	{Client: 0, Op: Reset},
}

func TestTextIsReadBack(t *testing.T) {
	got, err := Parse(strings.NewReader(sample.String()))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, sample) {
		t.Errorf("read back:\n%s\nwant:\n%s", got, sample)
	}
}

func TestTextIsReadable(t *testing.T) {
	for _, want := range []string{
		"A open 5\n", `A > 10 0e 00 04 "MQTT" 05 02 00 00 00 00 01 61  # CONNECT "a"`, "B >2 78*300", "pause 20ms\n", "B fin\n", "A rst\n", "B hold\n", "A fence\n",
	} {
		if !strings.Contains(sample.String(), want) {
			t.Errorf("%q is missing in\n%s", want, sample)
		}
	}
}

func TestBrokenTextIsExplained(t *testing.T) {
	for text, want := range map[string]string{
		"Z open 5":          "line 1: \"Z\" is no client",
		"A":                 "does nothing",
		"\n\nA dance":       "line 3: \"dance\" is no step",
		"A open 4":          "open 5 or open 3.1.1",
		"A > zz":            "no hex",
		"A > 61*x":          "how many times",
		"A > 61*99999999":   "how many times",
		`A > "abc`:          "does not end",
		"A >0 61":           "at a time",
		"pause":             "pause 20ms",
		"pause 3h":          "from 0 to 10s",
		"pause x":           "invalid duration",
		"A fence now":       "no step",
		"A > 6":             "no hex",
		"Aopen 5 # comment": "no client",
	} {
		if _, err := Parse(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
}

// FuzzParse holds that whatever is read is printed so that it reads the same.
func FuzzParse(f *testing.F) {
	f.Add(sample.String())
	f.Add("A > 10 0004 \"MQ\\x00T\" 61*12 # x\r\n\npause 1s\nH rst")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		again, err := Parse(strings.NewReader(s.String()))
		if err != nil {
			t.Fatalf("%v in\n%s", err, s)
		}
		if len(s) != len(again) {
			t.Fatalf("%d steps, read back %d", len(s), len(again))
		}
		for i := range s {
			if !s[i].Equal(again[i]) {
				t.Fatalf("step %d is %+v, read back %+v", i, s[i], again[i])
			}
		}
	})
}
