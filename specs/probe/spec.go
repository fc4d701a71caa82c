package probe

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/normative"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// specBudget bounds one spec: a broker that answers each packet at the last
// moment must not hold up the run.
const specBudget = 45 * time.Second

// spec is the state of the running spec.
type spec struct {
	trace   *wire.Trace
	started time.Time

	mu       sync.Mutex
	over     bool // End has begun: no connection is opened any more
	outcomes []Outcome
	clients  []*Client
	sessions map[stored]bool
	retained map[place]bool
	expired  map[string]int // waits that ran out, by kind of packet
	seen     map[string]bool
}

func (s *spec) record(o Outcome) {
	s.enter()
	defer s.mu.Unlock()
	s.outcomes = append(s.outcomes, o)
}

// enter locks the spec for its body. The body of a spec that is interrupted
// goes on beside End, on connections that End has closed: it comes to rest
// here, since nothing that it does or finds may count any more. The process is
// about to end.
func (s *spec) enter() {
	s.mu.Lock()
	if s.over {
		s.mu.Unlock()
		rest()
	}
}

func rest() { select {} }

// enlist adds a client to those that End takes leave of; false when that has
// begun.
func (s *spec) enlist(c *Client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.clients = append(s.clients, c)
	}
	return !s.over
}

// Standing is what the packets of a spec say of the format rules, as it
// travels in the report entry "standing".
type Standing struct {
	Evidence   []string         `json:"evidence"`
	Violations []wire.Violation `json:"violations"`
	Sent       []string         `json:"sent,omitempty"` // the keys of the Reason Codes that came
}

// Waits tells the parent which packets were waited for in vain, and which came.
type Waits struct {
	Expired map[string]int  `json:"expired,omitempty"`
	Seen    map[string]bool `json:"seen,omitempty"`
}

// Begin starts the bookkeeping of a spec. Call it in a BeforeEach.
func (b *Broker) Begin() {
	b.spec = &spec{
		trace:    wire.NewTrace(),
		started:  time.Now(),
		sessions: map[stored]bool{},
		retained: map[place]bool{},
		expired:  map[string]int{},
		seen:     map[string]bool{},
	}
	current.Store(b.spec)
	b.witness.attend(b)
}

// End drains every connection, judges every packet that came by the standing
// checks, takes away what the spec left on the broker, and attaches what was
// found to the report. Call it in an AfterEach.
func (b *Broker) End() {
	s := b.spec
	s.mu.Lock()
	s.over = true
	clients, outcomes := slices.Clone(s.clients), slices.Clone(s.outcomes)
	s.mu.Unlock()
	b.witness.ask()
	deadline := time.Now().Add(min(b.Timeout, 250*time.Millisecond))
	standing := s.drain(clients, b.Version, deadline)
	if topic, ok := b.witness.stray(deadline); ok && s.seen[wire.PUBLISH.String()] {
		outcomes = append(outcomes, Outcome{Verdict: "inconclusive", Reason: "the broker delivers messages to a client that did not subscribe to them (such as " +
			topic + "): what it delivers proves nothing"})
	}
	waits := Waits{Expired: s.expired, Seen: s.seen}
	for _, c := range clients {
		c.farewell()
		c.noteAssigned()
	}
	s.clean(b)

	for _, o := range outcomes {
		attach("verdict", o)
	}
	attach("standing", standing)
	attach("waits", waits)
	failed := ginkgo.CurrentSpecReport().Failed()
	if len(outcomes) > 0 || len(standing.Violations) > 0 || failed {
		attach("trace", s.trace)
	}
}

// drain waits until each connection has ended or answered a PINGREQ, so that
// what the broker still had to send is judged too. A client of another version
// is no witness: its packets are judged in the specs of that version.
func (s *spec) drain(clients []*Client, v wire.Version, deadline time.Time) Standing {
	for _, c := range clients {
		c.startDrain()
	}
	evidence, sent := map[string]bool{}, map[string]bool{}
	standing := Standing{Evidence: []string{}, Violations: []wire.Violation{}}
	for _, c := range clients {
		c.finishDrain(deadline)
		received := c.conn.All()
		for _, r := range received {
			s.seen[r.Type.String()] = true
		}
		if c.b.Version != v {
			continue
		}
		for _, r := range received {
			for _, key := range codeKeys(v, r) {
				sent[key] = true
			}
		}
		for _, key := range c.conn.Evidence() {
			evidence[key] = true
		}
		for _, v := range c.conn.Violations() {
			v.Text = c.name + ": " + v.Text
			standing.Violations = append(standing.Violations, v)
		}
	}
	standing.Evidence = append(standing.Evidence, slices.Sorted(maps.Keys(evidence))...)
	standing.Sent = slices.Sorted(maps.Keys(sent))
	return standing
}

// codeFamilies begin the keys of the statements on what a Reason Code means in a
// packet of MQTT 5.0.
var codeFamilies = map[wire.Type]string{
	wire.CONNACK:    "v5/3.2.2.2-connack-code-",
	wire.PUBACK:     "v5/3.4.2.1-puback-pubrec-code-",
	wire.PUBREC:     "v5/3.4.2.1-puback-pubrec-code-",
	wire.SUBACK:     "v5/3.9.3-suback-code-",
	wire.UNSUBACK:   "v5/3.11.3-unsuback-code-",
	wire.DISCONNECT: "v5/3.14.2.1-disconnect-code-",
}

// codeKeys returns the statements on the Reason Codes that a packet has.
func codeKeys(v wire.Version, r wire.Received) []string {
	family := codeFamilies[r.Type]
	if v != wire.V5 || family == "" {
		return nil
	}
	var keys []string
	for _, code := range wire.Codes(r.Packet) {
		key := fmt.Sprintf("%s%02x", family, code)
		if _, ok := normative.Lookup(key); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

func (s *spec) expire(kinds []wire.Type) {
	s.enter()
	defer s.mu.Unlock()
	for _, k := range kinds {
		s.expired[k.String()]++
	}
}

// overdue ends a spec that has used up its budget.
func (s *spec) overdue() {
	ginkgo.GinkgoHelper()
	if d := time.Since(s.started); d > specBudget {
		Inconclusive("the check took longer than %s; the broker answers too slowly", specBudget)
	}
}

func kindNames(kinds []wire.Type) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.String()
	}
	return strings.Join(names, " or ")
}
