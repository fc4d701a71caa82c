// Package core is the MQTT Server itself, for MQTT 3.1.1 and 5.0, as a pure
// state machine: it has no sockets, no clock and no goroutines. Handle takes
// what happened and when, and returns what is to be sent and closed. It is
// written to be read beside the specifications: at the line that obeys a rule
// stands the key of the rule.
package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// ConnID names a network connection.
type ConnID uint64

// Event is something that happened outside.
type Event interface{ event() }

// Opened says that a network connection was made. Entropy are random bytes,
// from which the server makes Client Identifiers and challenges.
type Opened struct {
	Conn    ConnID
	Entropy [16]byte
}

// Received says that bytes came on a connection.
type Received struct {
	Conn  ConnID
	Bytes []byte
}

// Closed says that the client, or the network, has ended a connection.
type Closed struct{ Conn ConnID }

// Tick says that time has passed: Deadline has been reached.
type Tick struct{}

func (Opened) event()   {}
func (Received) event() {}
func (Closed) event()   {}
func (Tick) event()     {}

// Output is something to be done outside: a Send or a Close.
type Output interface{ output() }

// Send asks for bytes to be written to a connection.
type Send struct {
	Conn  ConnID
	Bytes []byte
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
	// Name and Version of the server appear in $SYS topics.
	Version string
}

// User is an account with its permissions.
type User struct {
	Name            string
	Password        string
	DeniedPublish   []string // Topic Filters of topics that may not be published to
	DeniedSubscribe []string // Topic Filters that may not be subscribed to
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
	shares   map[string]*share // by the full filter $share/group/filter
	retained map[string]*message
	timers   timers
	serial   uint64 // numbers messages in the order of their arrival
	assigned uint64 // numbers the Client Identifiers that the server made
	started  time.Time
	received uint64 // PUBLISH packets, for $SYS
}

// New returns a server in its initial state, and an error for a defect or a
// policy value that does not exist.
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
		retained: map[string]*message{},
		timers:   newTimers(),
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
	if s.started.IsZero() {
		s.started = now
		s.startSys()
	}
	s.now, s.out = now, nil
	s.runTimers()
	switch ev := ev.(type) {
	case Opened:
		c := &conn{id: ev.Conn, entropy: ev.Entropy, problemInfo: true}
		s.conns[ev.Conn] = c
		s.timers.set(timerKey{kind: connectTimer, conn: c.id}, now.Add(s.seconds(connectSeconds)))
	case Received:
		if c := s.conns[ev.Conn]; c != nil {
			s.receive(c, ev.Bytes)
		}
	case Closed:
		if c := s.conns[ev.Conn]; c != nil {
			s.end(c, dropped)
			delete(s.conns, c.id)
		}
	case Tick:
	}
	return s.out
}

// Deadline returns when the next Tick is due; ok is false when none is.
func (s *Server) Deadline() (at time.Time, ok bool) { return s.timers.next() }

// seconds converts seconds of the protocol to time.
func (s *Server) seconds(n float64) time.Duration { return time.Duration(n * float64(s.cfg.Second)) }

// send encodes a packet for the client, unless it is larger than the client
// takes; it reports whether it went out.
func (s *Server) send(c *conn, p packet.Packet) bool {
	if c.ended {
		return false
	}
	for _, q := range s.rules.outgoing(s, c, p) {
		s.trim(c, q)
		b := packet.Append(nil, c.wireVersion(), q)
		// [v5/MQTT-3.1.2-24] [v5/MQTT-3.1.2-25]
		if c.maxPacket > 0 && len(b) > int(c.maxPacket) && s.rules.honoursPacketSize {
			return false
		}
		s.out = append(s.out, Send{Conn: c.id, Bytes: s.rules.rawOutgoing(q, b)})
	}
	return true
}
