package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestSecretsAreMasked(t *testing.T) {
	const user, password = "a-user", "a-pass"
	connect := Connect{ClientID: "c", CleanStart: true, Username: ptr(user), Password: []byte(password),
		Properties: Properties{{ID: UserProperty, Pair: [2]string{"a-pas", "s"}}, {ID: AuthenticationData, Bin: []byte("a-proof")}}}
	whole := connect.Append(nil, V5)
	for name, tt := range map[string]struct {
		raw    []byte
		hidden []string
	}{
		"CONNECT":              {whole, []string{"a-user", "a-pass", "a-proof"}},
		"CONNECT that is cut":  {Shorten(whole, len(Body(whole))-1), []string{"a-user", "\x06a-pas", "a-proof"}},
		"CONNECT of no length": {WithRemainingLength(whole, 9999), []string{"a-pass", "a-proof"}},
		"CONNECT and more":     {append(append([]byte{}, whole...), 0xc0, 0), []string{"a-pass", "a-proof"}},
		"AUTH": {Auth{Code: 0x18, Properties: Properties{{ID: AuthenticationMethod, Str: "S"}, {ID: AuthenticationData, Bin: []byte("a-proof")}}}.Append(nil, V5),
			[]string{"a-proof"}},
		"AUTH that is cut": {unhex(t, "F0 0A 18 08 16 0010 612D70726F6F66"), []string{"a-proof"}},
		"CONNACK": {Connack{Properties: Properties{{ID: AuthenticationData, Bin: []byte("a-proof")}}}.Append(nil, V5),
			[]string{"a-proof"}},
	} {
		t.Run(name, func(t *testing.T) {
			before := string(tt.raw)
			text, _, shown := sent(tt.raw, V5)
			for _, secret := range tt.hidden {
				if strings.Contains(string(shown), secret) {
					t.Errorf("%q is shown in %q", secret, shown)
				}
			}
			if strings.Contains(text, "a-pass") || strings.Contains(text, "a-proof") {
				t.Errorf("text %q", text)
			}
			if len(shown) != len(tt.raw) || string(tt.raw) != before {
				t.Errorf("masking changed length or argument: %q", tt.raw)
			}
		})
	}
}

func TestTraceIsBounded(t *testing.T) {
	trace := NewTrace()
	for i := range 3 * maxKept {
		trace.add(Event{Client: "c", Dir: "recv", Text: strings.Repeat("é", i%1000), Bytes: make([]byte, 2*maxEventBytes)})
	}
	trace.Note("c", "%s", "the end")
	list := trace.Events()

	if len(list) != maxEvents+1 {
		t.Fatalf("%d events", len(list))
	}
	if want := fmt.Sprintf("%d more events", 3*maxKept+1-maxEvents); list[maxEvents/2].Text != want {
		t.Errorf("in the middle: %q, want %q", list[maxEvents/2].Text, want)
	}
	if last := list[len(list)-1].Text; last != "the end" {
		t.Errorf("the last event is %q", last)
	}
	for _, e := range list {
		if len(e.Bytes) > maxEventBytes || len(e.Text) > maxEventText+3 || strings.ToValidUTF8(e.Text, "") != e.Text {
			t.Fatalf("an event of %d bytes and %q", len(e.Bytes), e.Text)
		}
	}
}

func TestTraceJSON(t *testing.T) {
	trace := NewTrace()
	trace.add(Event{Client: "sub", Dir: "recv", Type: "PUBLISH", Text: "a\x00b", Bytes: []byte{0x30, 0}})
	b, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]any
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 1 {
		t.Fatalf("%s: %v", b, err)
	}
	for field, want := range map[string]any{"client": "sub", "dir": "recv", "type": "PUBLISH", "text": "a\x00b", "hex": "3000", "size": 2.0} {
		if list[0][field] != want {
			t.Errorf("%s = %v, want %v", field, list[0][field], want)
		}
	}
	if _, ok := list[0]["ms"].(float64); !ok {
		t.Errorf("ms = %v", list[0]["ms"])
	}
	if b, _ := json.Marshal(NewTrace()); string(b) != "[]" {
		t.Errorf("an empty trace is %s", b)
	}
}

func TestNoTrace(t *testing.T) {
	var trace *Trace
	trace.Note("c", "nothing keeps this")
}
