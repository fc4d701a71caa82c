package campaign

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
)

var digits = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)

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
	Files         []string       `json:"files"`
	Profile       []string       `json:"profile"` // freedoms that the broker was seen to use
	Notes         []string       `json:"notes"`
	Ended         string         `json:"ended"` // why it ended before its time

	cells map[generate.Cell]int
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
}

func newSummary() Summary {
	return Summary{
		Sent: map[string]int{}, Answers: map[string]int{}, Seen: map[string]int{},
		Findings: []Found{}, Files: []string{}, Profile: []string{}, Notes: []string{}, cells: map[generate.Cell]int{},
	}
}

// count adds one conversation.
func (c *campaign) count(k generate.Case, log *play.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.summary
	s.Conversations++
	packets(k.Script, s.Sent)
	for _, cell := range k.Cells {
		s.cells[cell]++
	}
	for _, e := range log.Events {
		switch e.Kind {
		case play.Sent:
			s.Packets++
		case play.Received:
			s.Received++
			s.Answers[answer(e)]++
		}
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

// snapshot is the summary at this moment. The maps are those of the campaign
// only once it is over.
func (c *campaign) snapshot() Summary {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.summary
	s.Seconds = time.Since(c.begun).Seconds()
	s.Cells = len(s.cells)
	s.Findings = append([]Found{}, s.Findings...)
	return s
}

func (c *campaign) finish() Summary {
	s := c.snapshot()
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
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			c.o.Progress(c.snapshot())
		}
	}
}
