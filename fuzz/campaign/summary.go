package campaign

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Summary is what a campaign has done so far.
type Summary struct {
	Conversations int            `json:"conversations"`
	Packets       int            `json:"packets"`  // sent, acknowledgements too
	Received      int            `json:"received"` // packets of the broker
	Seconds       float64        `json:"seconds"`
	Restarts      int            `json:"restarts"`
	Cells         int            `json:"cells"`    // situations the broker was put in
	Sent          map[string]int `json:"sent"`     // packets of the scripts by type
	Answers       map[string]int `json:"answers"`  // kinds of answers, with their codes
	Seen          map[string]int `json:"seen"`     // findings by name, repeated ones too
	Findings      []Found        `json:"findings"` // each once
	Coverage      []Situation    `json:"coverage"`
	Next          uint64         `json:"next"`    // number of the conversation that would have come next
	Profile       []string       `json:"profile"` // freedoms that the broker was seen to use
	Notes         []string       `json:"notes"`
	Ended         string         `json:"ended"` // why it ended before its time

	cells map[generate.Cell]int
}

// Situation is a cell of the coverage: in which state of a client which packet
// came, how it stood to the rules, and how often.
type Situation struct {
	Version  string `json:"version"`
	State    string `json:"state"`
	Packet   string `json:"packet"`
	Validity string `json:"validity"`
	Times    int    `json:"times"`
}

// Found is one finding as the summary has it.
type Found struct {
	Oracle    string `json:"oracle"`
	Key       string `json:"key"`
	About     string `json:"about"`
	Seed      string `json:"seed"`
	Packets   int    `json:"packets"`
	Bytes     int    `json:"bytes"`
	Minimised bool   `json:"minimised"`
	Script    string `json:"script"`
	File      string `json:"file"`
}

func newSummary() Summary {
	return Summary{
		Sent: map[string]int{}, Answers: map[string]int{}, Seen: map[string]int{},
		Findings: []Found{}, Coverage: []Situation{}, Profile: []string{}, Notes: []string{}, cells: map[generate.Cell]int{},
	}
}

// count adds one conversation.
func (c *campaign) count(k generate.Case, log *play.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.summary
	s.Conversations++
	packets(k.Script, s.Sent)
	var news []string
	for _, cell := range k.Cells {
		if s.cells[cell]++; s.cells[cell] == 1 {
			news = append(news, cell.String())
		}
	}
	for _, e := range log.Events {
		switch e.Kind {
		case play.Sent:
			s.Packets++
		case play.Received:
			s.Received++
			name := answer(e)
			if s.Answers[name]++; s.Answers[name] == 1 {
				news = append(news, "answer "+name)
			}
		}
	}
	if err := c.corpus.keep(k, c.o.Seed, news); err != nil {
		s.Notes = append(s.Notes, "the corpus: "+err.Error())
	}
}

// answer names a kind of answer: the type and, where there is one, the code.
func answer(e play.Event) string {
	raw := e.Packet.Raw
	name := e.Packet.Type.String()
	switch {
	case len(raw) == 4 && raw[0]>>4 == 2:
		return fmt.Sprintf("%s %02x", name, raw[3])
	case len(raw) > 4 && raw[0]>>4 == 2, len(raw) > 4 && raw[0]>>4 > 3 && raw[0]>>4 < 8:
		return fmt.Sprintf("%s %02x", name, raw[3+min(1, int(raw[0]>>4)/4)])
	case len(raw) > 2 && raw[0]>>4 == 14:
		return fmt.Sprintf("%s %02x", name, raw[2])
	}
	return name
}

// snapshot is the summary at this moment.
func (c *campaign) snapshot() Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.summary
	s.Seconds = time.Since(c.begun).Seconds()
	s.Cells = len(s.cells)
	s.Next = c.next.Load()
	s.Findings, s.Notes = slices.Clone(s.Findings), slices.Clone(s.Notes)
	s.Sent, s.Answers, s.Seen = maps.Clone(s.Sent), maps.Clone(s.Answers), maps.Clone(s.Seen)
	return s
}

func (c *campaign) finish() Summary {
	s := c.snapshot()
	if c.o.Most > 0 {
		s.Next = min(s.Next, c.o.First+c.o.Most)
	}
	if err := c.corpus.close(c.o.Seed, s.Next); err != nil {
		s.Notes = append(s.Notes, "the corpus: "+err.Error())
	}
	s.Coverage = coverage(s.cells)
	s.Profile = append(s.Profile, c.profile.Lines()...)
	if c.gone != nil {
		s.Ended = c.gone.Error()
	}
	return s
}

func (c *campaign) report(ctx context.Context) {
	if c.o.Progress == nil {
		return
	}
	every(ctx, progressEvery, func() { c.o.Progress(c.snapshot()) })
}

// every calls do again and again, until the context ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// coverage lists the cells in the order of their names.
func coverage(cells map[generate.Cell]int) []Situation {
	list := []Situation{}
	names := map[string]generate.Cell{}
	for cell := range cells {
		names[cell.String()] = cell
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		cell := names[name]
		version := "3.1.1"
		if cell.Version == wire.V5 {
			version = "5"
		}
		list = append(list, Situation{version, cell.State.String(), cell.Kind.String(), cell.Validity.String(), cells[cell]})
	}
	return list
}
