// Package play carries out scripts on a broker and records what happened, in
// the order in which the player saw it.
package play

import (
	"fmt"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Kind is what an event is.
type Kind byte

// The kinds of events.
const (
	Opened   Kind = iota // a connection was made
	Refused              // no connection could be made
	Sent                 // bytes were written: of a step, or an acknowledgement
	Received             // a packet came
	Fenced               // all that the connection had sent is dealt with
	Stuck                // the fence was not answered in time
	Cut                  // the player ended the connection, or its half
	Ended                // the broker ended the connection
)

// Event is something that happened on one connection. An event that stands
// before another happened before it, but for packets received: those may have
// arrived earlier than they were seen, never later.
type Event struct {
	Kind   Kind
	Conn   int // index in Log.Conns
	Step   int // index in the script that was carried out at the time
	Bytes  []byte
	Auto   bool // Sent: by the player itself, not by the script
	Packet wire.Received
}

// Conn is one connection of the log.
type Conn struct {
	Client     int
	Version    wire.Version
	Violations []wire.Violation // of the format rules, by the broker
}

// Log is what happened in one playing of a script.
type Log struct {
	Script script.Script
	Conns  []Conn
	Events []Event
}

// add appends an event.
func (l *Log) add(e Event) { l.Events = append(l.Events, e) }

// Refused tells whether a connection could not be made.
func (l *Log) Refused() bool { return l.has(Refused) }

// Stuck tells whether a fence was not answered in time.
func (l *Log) Stuck() bool { return l.has(Stuck) }

func (l *Log) has(k Kind) bool {
	for _, e := range l.Events {
		if e.Kind == k {
			return true
		}
	}
	return false
}

// Text lists the packets of a log, one on a line, in the order in which they
// were seen: client, direction, packet.
func (l *Log) Text() string {
	var b strings.Builder
	for _, e := range l.Events {
		name := script.Name(l.Conns[e.Conn].Client)
		switch e.Kind {
		case Sent:
			fmt.Fprintf(&b, "%s > %s\n", name, script.Describe(e.Bytes, l.Conns[e.Conn].Version))
		case Received:
			raw := e.Packet.Raw
			fmt.Fprintf(&b, "%s < %s  # % x\n", name, script.Describe(raw, l.Conns[e.Conn].Version), raw[:min(len(raw), 64)])
		case Refused:
			fmt.Fprintf(&b, "%s   no connection could be made\n", name)
		case Stuck:
			fmt.Fprintf(&b, "%s   PINGREQ was not answered\n", name)
		case Cut:
			fmt.Fprintf(&b, "%s   ended by the client\n", name)
		case Ended:
			fmt.Fprintf(&b, "%s   ended by the broker\n", name)
		}
	}
	return b.String()
}
