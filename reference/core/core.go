// Package core is the MQTT Server itself, for MQTT 3.1.1 and 5.0, as a pure
// state machine: it has no sockets, no clock and no goroutines. Handle takes
// what happened and when, and returns what is to be sent and closed. It is
// written to be read beside the specifications: at the line that obeys a rule
// stands the key of the rule.
package core

import (
	"time"

	"github.com/xdg-go/scram"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// ConnID names a network connection.
type ConnID uint64

// Event is something that happened outside.
type Event interface{ event() }

// Opened says that a network connection was made: an ordered, lossless stream
// of bytes in both directions. [v311/MQTT-7.1.1-1] [v5/MQTT-4.2-1]
type Opened struct {
	Conn ConnID
	// Entropy are random bytes, from which the server makes Client Identifiers
	// and challenges.
	Entropy [16]byte
}

// Received says that bytes came on a connection. Their borders mean nothing.
// [v311/MQTT-6.0.0-2] [v5/MQTT-6.0.0-2] [v5/2.1.4-split-and-joined-packets]
type Received struct {
	Conn  ConnID
	Bytes []byte
}

// Closed says that the client, or the network, has ended a connection.
type Closed struct{ Conn ConnID }

// Pending says how many bytes of a connection wait to be written, whenever
// that changes much: to a client that reads slowly the server sends less, and
// one that does not read is cut off.
type Pending struct {
	Conn  ConnID
	Bytes int
}

// Tick says that time has passed: Deadline has been reached.
type Tick struct{}

// Shutdown says that the server is about to stop: every client is told, and
// disconnected. Wills stay unpublished; those of a durable server are published
// when it is restored.
// [v311/3.1.2.5-will-after-restart] [v5/3.1.2.5-will-after-restart]
type Shutdown struct{}

func (Opened) event()   {}
func (Received) event() {}
func (Closed) event()   {}
func (Pending) event()  {}
func (Tick) event()     {}
func (Shutdown) event() {}

// Output is something to be done outside: a Send or a Close.
type Output interface{ output() }

// Send asks for bytes to be written to a connection. Those of a Stream keep their
// order and may be overtaken by others; without one all do.
type Send struct {
	Conn   ConnID
	Bytes  []byte
	Stream string
}

// Close asks for a connection to be ended once what was sent is written.
type Close struct{ Conn ConnID }

func (Send) output()  {}
func (Close) output() {}

// Config is what a Server is set up with.
type Config struct {
	// Policy holds the freedoms that the specification leaves to a server.
	Policy Policy
	// Defects are the deliberate faults, by name.
	Defects []string
	// Users that may connect; nil lets everybody in.
	Users []User
	// Second is the length of a second of the protocol (default a real one).
	Second time.Duration
	// Version of the server, as it appears in $SYS/broker/version.
	Version string
	// Durable makes Changes tell what is to outlive the process.
	Durable bool
}

// User is an account with its permissions.
type User struct {
	Name            string
	Password        string
	DeniedPublish   []string // Topic Filters of topics that may not be published to
	DeniedSubscribe []string // Topic Filters of topics that may not be received
}

// Server is the state of an MQTT Server. It is not safe for concurrent use.
type Server struct {
	cfg    Config
	policy Policy
	rules  rules

	now      time.Time
	out      []Output
	conns    map[ConnID]*conn
	sessions map[string]*session // by Client Identifier
	subs     topic.Trie[*subscription]
	shares   map[string]*share // by the full filter $share/ShareName/filter
	retained retainedStore
	early    map[string][]routed // acknowledged and not passed on, by publisher
	timers   timers
	serial   uint64 // numbers messages in the order of their arrival
	assigned uint64 // numbers the Client Identifiers that the server made
	started  time.Time
	received uint64  // PUBLISH packets, for $SYS
	ledger   *ledger // nil unless the server is durable

	scramKeys map[string]scram.StoredCredentials // by user name
}

// New returns a server in its initial state, and an error for a defect that
// does not exist.
func New(cfg Config) (*Server, error) {
	if cfg.Second == 0 {
		cfg.Second = time.Second
	}
	if cfg.Version == "" {
		cfg.Version = "mqttcheck reference"
	}
	s := &Server{
		cfg: cfg, policy: cfg.Policy.withDefaults(), rules: standard(),
		conns:    map[ConnID]*conn{},
		sessions: map[string]*session{},
		shares:   map[string]*share{},
		retained: newRetainedStore(),
		early:    map[string][]routed{},
		timers:   newTimers(),

		scramKeys: map[string]scram.StoredCredentials{},
	}
	if cfg.Durable {
		s.ledger = newLedger(s.policy.QoS0Offline == "keep")
		s.retained.note = s.ledger.topic
	}
	for _, name := range cfg.Defects {
		d, err := LookupDefect(name)
		if err != nil {
			return nil, err
		}
		d.apply(&s.rules)
	}
	return s, nil
}

// Handle carries out one event and returns what follows from it, in order.
// Time must not run backwards.
func (s *Server) Handle(now time.Time, ev Event) []Output {
	s.now, s.out = now, nil
	if s.started.IsZero() {
		s.started = now
		s.startSys()
	}
	s.runTimers()
	switch ev := ev.(type) {
	case Opened:
		s.open(ev)
	case Received:
		if c := s.conns[ev.Conn]; c != nil {
			s.receive(c, ev.Bytes)
		}
	case Closed:
		if c := s.conns[ev.Conn]; c != nil {
			s.end(c, dropped)
			delete(s.conns, c.id)
		}
	case Pending:
		if c := s.conns[ev.Conn]; c != nil {
			s.pendingBytes(c, ev.Bytes)
		}
	case Shutdown:
		s.shutDown()
	case Tick:
	}
	return s.out
}

// Policy returns the freedoms as they are set, with the defaults.
func (s *Server) Policy() Policy { return s.policy }

// Deadline returns when the next Tick is due; ok is false when none is.
func (s *Server) Deadline() (at time.Time, ok bool) { return s.timers.next() }

// seconds converts seconds of the protocol to time.
func (s *Server) seconds(n float64) time.Duration { return time.Duration(n * float64(s.cfg.Second)) }

// send encodes a packet for the client, unless it is larger than the client
// takes; it reports whether it went out.
func (s *Server) send(c *conn, p packet.Packet) bool { return s.sendIn(c, p, "") }

// sendIn is send for a packet that keeps its place in a stream only.
func (s *Server) sendIn(c *conn, p packet.Packet, stream string) bool {
	if c.ended {
		return false
	}
	for _, q := range s.rules.outgoing(s, c, p) {
		s.explain(c, q)
		s.trim(c, q)
		b := packet.Append(nil, c.wireVersion(), q)
		// [v5/MQTT-3.1.2-24] [v5/MQTT-3.1.2-25]
		if s.tooLarge(c, q) && s.rules.honoursPacketSize(q) {
			return false
		}
		s.out = append(s.out, Send{Conn: c.id, Bytes: s.rules.rawOutgoing(c, q, b), Stream: stream})
	}
	return true
}
