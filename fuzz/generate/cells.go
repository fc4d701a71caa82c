package generate

import "github.com/mqttcheck/mqttcheck/specs/wire"

// State is what a client is in the middle of, as far as the generator knows.
type State byte

// The states. The richer ones are told apart by what is open.
const (
	Closed State = iota
	Fresh
	Connected
	Subscribed
	Publishing // a QoS 2 publication awaits PUBREL
	Holding    // acknowledges nothing
	states
)

var stateNames = [states]string{"closed", "fresh", "connected", "subscribed", "publishing", "holding"}

func (s State) String() string { return stateNames[s] }

// Validity is how a packet stands to the rules.
type Validity byte

// The validities.
const (
	Legal     Validity = iota
	Misplaced          // well formed, and not allowed now
	Malformed
	validities
)

var validityNames = [validities]string{"legal", "misplaced", "malformed"}

func (v Validity) String() string { return validityNames[v] }

// Cell is a situation in which a broker can be put: who it hears from, what
// comes, and how that stands to the rules.
type Cell struct {
	Version  wire.Version
	State    State
	Kind     wire.Type
	Validity Validity
}

// String names the cell for people.
func (c Cell) String() string {
	v := "3.1.1"
	if c.Version == wire.V5 {
		v = "5"
	}
	return v + " " + c.State.String() + " " + c.Kind.String() + " " + c.Validity.String()
}

// note notes the cell of what a client is about to send.
func (w *writer) note(c *client, b []byte, v Validity) {
	state := c.state
	switch {
	case state != Connected:
	case c.hold:
		state = Holding
	case len(c.open2) > 0:
		state = Publishing
	case len(c.filters) > 0:
		state = Subscribed
	}
	kind := wire.Type(0)
	if len(b) > 0 {
		kind = wire.Type(b[0] >> 4)
	}
	w.c.Cells = append(w.c.Cells, Cell{c.version, state, kind, v})
}
