package shrink

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

func bytesOf(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestPiecesAreLeftOut(t *testing.T) {
	for name, k := range map[string]struct {
		packet string
		v      wire.Version
		want   []string
	}{
		"properties of SUBSCRIBE": {"82 09 0001 03 0bc801 0001 61", wire.V5, []string{"82 06 0001 00 0001 61"}},
		"an entry of SUBSCRIBE":   {"82 09 0001 0001 61 00 0001 62", wire.V311, []string{"82 05 0001 0001 62"}},
		"an entry of UNSUBSCRIBE": {"a2 08 0001 0001 61 0009 62", wire.V311, []string{"a2 05 0001 0009 62"}},
		"properties of PUBLISH":   {"32 0b 0001 61 0001 03 0bc801 6d 6d", wire.V5, []string{"32 08 0001 61 0001 00 6d 6d"}},
		"no properties":           {"82 06 0001 00 0001 61", wire.V5, nil},
		"properties go beyond":    {"82 06 0001 09 0001 61", wire.V5, nil},
		"PINGREQ":                 {"c0 00", wire.V5, nil},
		"no whole packet":         {"82 0a 0001 00", wire.V5, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var want [][]byte
			for _, text := range k.want {
				want = append(want, bytesOf(t, text))
			}
			if got := pieces(bytesOf(t, k.packet), k.v); !slices.EqualFunc(got, want, bytes.Equal) {
				t.Errorf("% x, want % x", got, want)
			}
		})
	}
}

// TestScriptLeavesOutProperties has a packet whose last filter lacks its options: what
// shows is that, and that the packet is a SUBSCRIBE.
func TestScriptLeavesOutProperties(t *testing.T) {
	s := script.Script{
		{Op: script.Open, Version: wire.V5},
		{Op: script.Send, Bytes: bytesOf(t, "82 1b 0001 10 26 0003 6b6579 0005 76616c7565 0bc801 0002 6162 00 0001 61")},
	}
	shows := func(s script.Script) bool {
		if len(s) < 2 || s[0].Op != script.Open {
			return false
		}
		b := s[len(s)-1].Bytes
		size, ok := wire.FrameSize(b)
		if !ok || size != len(b) || b[0] != 0x82 || len(b) < 5 {
			return false
		}
		n, used, err := wire.Varint(b[4:])
		if err != nil || 4+used+n > len(b) {
			return false
		}
		rest := b[4+used+n:]
		for len(rest) >= 2 {
			filter := int(rest[0])<<8 + int(rest[1])
			if len(rest) == 2+filter {
				return true
			}
			if len(rest) < 3+filter {
				return false
			}
			rest = rest[3+filter:]
		}
		return false
	}
	if !shows(s) {
		t.Fatal("it does not show")
	}
	r := Script(t.Context(), s, Limits{}, shows)
	if got := r.Script[len(r.Script)-1].Bytes; len(got) > 8 || !r.Whole {
		t.Errorf("% x is left after %d plays, whole %v", got, r.Plays, r.Whole)
	}
}
