package wire

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// Limits of what a trace shows: a hostile broker must not make a report grow
// without end.
const (
	maxEvents     = 400  // events shown; what lies between is counted
	maxKept       = 8000 // events kept at all
	maxEventBytes = 1024 // bytes of one packet
	maxEventText  = 400  // bytes of its description
)

// Trace is the packet log of one spec, shared by all its connections. It is
// safe for concurrent use.
type Trace struct {
	start time.Time

	mu      sync.Mutex
	events  []Event
	dropped int
}

// Event is one packet, or one thing that happened, on one connection.
type Event struct {
	At     time.Duration // since the trace began
	Client string
	Dir    string // "send" to the broker, "recv" from it, "note"
	Type   string // packet type, or ""
	Text   string
	Bytes  []byte
	Size   int // size of the packet when Bytes is only its beginning
}

// NewTrace returns an empty trace that begins now.
func NewTrace() *Trace { return &Trace{start: time.Now()} }

func (t *Trace) add(e Event) {
	if t == nil {
		return
	}
	e.Size = len(e.Bytes)
	if len(e.Bytes) > maxEventBytes {
		e.Bytes = e.Bytes[:maxEventBytes]
	}
	e.Bytes = bytes.Clone(e.Bytes)
	e.Text = short(e.Text, maxEventText)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) >= maxKept {
		// What is shown is the beginning and the end.
		t.dropped += maxKept - maxEvents
		t.events = slices.Delete(t.events, maxEvents/2, maxKept-maxEvents/2)
	}
	e.At = time.Since(t.start)
	t.events = append(t.events, e)
}

// Note adds a remark, such as that nothing came for a while.
func (t *Trace) Note(client, format string, args ...any) {
	t.add(Event{Client: client, Dir: "note", Text: fmt.Sprintf(format, args...)})
}

// Events returns the events so far; of very many, those in the middle are
// replaced by a note.
func (t *Trace) Events() []Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.events)
	if n <= maxEvents && t.dropped == 0 {
		return append([]Event{}, t.events...)
	}
	half := min(maxEvents/2, n/2)
	list := append([]Event{}, t.events[:half]...)
	list = append(list, Event{At: t.events[half].At, Dir: "note", Text: fmt.Sprintf("%d more events", n-2*half+t.dropped)})
	return append(list, t.events[n-half:]...)
}

// MarshalJSON writes the events as a list.
func (t *Trace) MarshalJSON() ([]byte, error) {
	type event struct {
		Ms     float64 `json:"ms"`
		Client string  `json:"client"`
		Dir    string  `json:"dir"`
		Type   string  `json:"type"`
		Text   string  `json:"text"`
		Hex    string  `json:"hex"`
		Size   int     `json:"size"`
	}
	list := []event{}
	for _, e := range t.Events() {
		list = append(list, event{
			Ms: float64(e.At.Microseconds()) / 1000, Client: e.Client, Dir: e.Dir,
			Type: e.Type, Text: e.Text, Hex: hex.EncodeToString(e.Bytes), Size: e.Size,
		})
	}
	return json.Marshal(list)
}

// String returns the trace as lines of text.
func (t *Trace) String() string {
	var b strings.Builder
	for _, e := range t.Events() {
		arrow := map[string]string{"send": "->", "recv": "<-", "note": "--"}[e.Dir]
		fmt.Fprintf(&b, "%8.1f ms  %-10s %s %s\n", float64(e.At.Microseconds())/1000, e.Client, arrow, e.Text)
	}
	return b.String()
}

// sent describes bytes that the tester sends: packets are named by their
// types, and their secrets masked in the bytes too.
func sent(raw []byte, v Version) (text, kind string, shown []byte) {
	size, ok := FrameSize(raw)
	if !ok || size != len(raw) {
		return fmt.Sprintf("%d bytes that are no whole packet", len(raw)), "", masked(raw, v)
	}
	r := receive(raw, v)
	text = brief(r.Packet)
	if r.Err != nil {
		text += " (" + r.Err.Error() + ")"
	}
	if r.Type != PUBLISH && r.Flags != fixedFlags(r.Type) {
		text += fmt.Sprintf(" (flags 0x%x)", r.Flags)
	}
	if r.padded {
		text += " (a length longer than need be)"
	}
	return text, r.Type.String(), masked(raw, v)
}
