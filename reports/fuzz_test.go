package reports

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzRead holds three things of any file: reading it does not panic, an error
// is one line, and what is read is written so that it reads the same.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":"1.0","statements":[]}`))
	f.Add([]byte(`{"schemaVersion":"1.9","statements":[{"id":"v5/MQTT-3.3.1-4","verdict":"fail","checks":[{"name":"x","verdict":"fail","trace":null}]}],"observations":[{"key":"k"}]}`))
	f.Add([]byte(`{"schemaVersion":2,"statements":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(bytes.NewReader(b))
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("not one line: %q", err)
			}
			return
		}
		once := render(t, r, JSON)
		again, err := Read(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("%v in %s", err, once)
		}
		if twice := render(t, again, JSON); !bytes.Equal(once, twice) {
			t.Fatalf("written as %s and then as %s", once, twice)
		}
	})
}
