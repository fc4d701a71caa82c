package core

import (
	"slices"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// neverExpires is the Session Expiry Interval of a Session that does not end
// by itself. [v5/3.1.2.11.2-session-expiry-max]
const neverExpires = 0xFFFFFFFF

// maxQueue bounds what a server keeps for one Session, in messages.
const maxQueue = 20_000

// session is the Session State of a Client Identifier. It is there for as long
// as the connection at least. [v311/MQTT-4.1.0-1] [v311/MQTT-4.1.0-2] [v5/MQTT-4.1.0-1] [v5/MQTT-4.1.0-2]
type session struct {
	id      string // [v311/MQTT-3.1.3-2] [v5/MQTT-3.1.3-2]
	conn    *conn  // nil while the client is away
	expiry  uint32 // seconds after the connection's end
	subs    map[string]*subscription
	queue   []*delivery     // not sent yet
	open    []*delivery     // sent and not finished, in the order of their first sending
	pending map[uint16]bool // QoS 2 Packet Identifiers from the client that await PUBREL
	held    map[uint16]*message
	nextID  uint16
	will    *will // put off until its delay is over
	user    *User
	// The version and limits of the last connection, for what is queued.
	version packet.Version
}

// attach finds or makes the Session for an accepted CONNECT and reports
// whether the client resumes one.
func (s *Server) attach(c *conn, p *packet.Connect) (resumed bool) {
	old := s.sessions[p.ClientID]
	if old != nil && old.conn != nil && s.rules.takesOver(old.conn) {
		// [v311/MQTT-3.1.4-2] [v5/MQTT-3.1.4-3]
		other := old.conn
		if other.five() {
			s.bye(other, packet.SessionTakenOver, "the Client Identifier connected again")
		}
		s.close(other, takenOver)
		old = s.sessions[p.ClientID]
	}
	if old != nil && s.rules.startsClean(p.CleanStart, p.Will != nil) {
		// [v311/MQTT-3.1.2-6] [v311/MQTT-3.1.4-3] [v5/MQTT-3.1.2-4]
		s.endSession(old)
		old = nil
	}
	// [v311/MQTT-3.1.2-4] [v5/MQTT-3.1.2-5] [v5/MQTT-3.1.2-6]
	se := old
	if se == nil {
		se = &session{id: p.ClientID, subs: map[string]*subscription{}, pending: map[uint16]bool{}, held: map[uint16]*message{}}
		s.sessions[p.ClientID] = se
	}
	s.timers.stop(timerKey{kind: expiryTimer, id: se.id})
	s.timers.stop(timerKey{kind: willTimer, id: se.id})
	se.will = nil // [v5/MQTT-3.1.3-9]
	se.conn, se.expiry, se.user, se.version = c, c.expiry, c.user, c.version
	c.session = se
	return old != nil
}

// end carries out what follows from the end of a connection.
func (s *Server) end(c *conn, why ending) {
	if c.ended {
		return
	}
	c.ended = true
	s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
	s.timers.stop(timerKey{kind: keepAliveTimer, conn: c.id})
	se := c.session
	if se == nil || se.conn != c {
		return
	}
	se.conn = nil
	s.forgetQoS0(se)
	if c.will != nil && s.rules.publishesWill(c, why) {
		s.putOffWill(se, c, why)
	}
	if !s.rules.keepsWill {
		c.will = nil // [v311/MQTT-3.1.2-10] [v5/MQTT-3.1.2-10] [v311/MQTT-3.14.4-3] [v5/MQTT-3.14.4-3]
	}
	// [v5/MQTT-3.1.2-23] [v311/MQTT-3.1.2-5]
	switch expiry := s.rules.sessionExpiry(c, se.expiry); expiry {
	case 0:
		s.endSession(se)
	case neverExpires:
	default:
		s.timers.set(timerKey{kind: expiryTimer, id: se.id}, s.now.Add(s.seconds(float64(expiry))))
	}
}

// endSession throws a Session away. Retained messages are no part of it.
// [v311/MQTT-3.1.2-7]
func (s *Server) endSession(se *session) {
	s.timers.stop(timerKey{kind: expiryTimer, id: se.id})
	if s.sessions[se.id] == se {
		delete(s.sessions, se.id)
	}
	for _, sub := range se.subs {
		s.removeSubscription(se, sub)
	}
	// A will that is put off is due when the Session ends.
	// [v5/3.1.3.2.2-will-at-session-end]
	if se.will != nil {
		s.timers.stop(timerKey{kind: willTimer, id: se.id})
		s.publishWill(se)
	}
	s.handOn(se)
}

// forgetQoS0 drops what need not outlive the connection.
// [v311/3.1.2.4-qos0-offline] [v5/4.1-qos0-offline-optional]
func (s *Server) forgetQoS0(se *session) {
	if s.policy.QoS0Offline == "keep" {
		return
	}
	se.queue = slices.DeleteFunc(se.queue, func(d *delivery) bool { return d.qos == 0 })
}

// freeID returns a Packet Identifier that no open delivery uses; ok is false
// when all are in use. [v311/MQTT-2.3.1-1] [v311/MQTT-2.3.1-4] [v5/MQTT-2.2.1-4]
func (s *Server) freeID(se *session) (id uint16, ok bool) {
	used := make(map[uint16]bool, len(se.open))
	for _, d := range se.open {
		used[d.id] = true
	}
	for range 65535 {
		se.nextID++
		if se.nextID == 0 {
			se.nextID = 1
		}
		if !used[se.nextID] {
			return s.rules.packetID(se.nextID), true
		}
	}
	return 0, false
}

// disconnect carries out DISCONNECT.
func (s *Server) disconnect(c *conn, p *packet.Disconnect) {
	if e := p.Properties.SessionExpiryInterval; e != nil && c.session != nil {
		// [v5/3.14.2.2.2-session-expiry-raised-from-zero]
		if c.expiry == 0 && *e != 0 && s.rules.refusesRaisedExpiry {
			s.fail(c, packet.ProtocolError, "a Session Expiry Interval of 0 cannot be raised at the end")
			return
		}
		c.session.expiry = s.rules.disconnectExpiry(c.session.expiry, *e)
	}
	why := disconnected
	if c.five() && p.Code != packet.NormalDisconnection {
		why = willAsked
	}
	if s.rules.closesOnDisconnect {
		s.close(c, why) // [v311/3.14.4-server-closes] [v5/MQTT-3.14.4-2]
		return
	}
	s.end(c, why)
	c.ended = false
}

// A will is a will message as it stood in CONNECT.
type will struct {
	message *message
	delay   uint32 // seconds
}

// putOffWill publishes the will of a connection that has ended, or keeps it
// until its delay is over. [v311/MQTT-3.1.2-8] [v5/MQTT-3.1.2-8]
func (s *Server) putOffWill(se *session, c *conn, why ending) {
	w := *c.will
	se.will = &w
	delay := min(w.delay, se.expiry)
	if delay == 0 || !s.rules.delaysWill {
		s.publishWill(se)
		return
	}
	s.timers.set(timerKey{kind: willTimer, id: se.id}, s.now.Add(s.seconds(float64(delay))))
}

// publishWill publishes a will as any message. [v311/MQTT-3.1.2-9] [v5/MQTT-3.1.2-9]
func (s *Server) publishWill(se *session) {
	w := se.will
	if w == nil {
		return
	}
	if !s.rules.keepsWill {
		se.will = nil // [v311/MQTT-3.1.2-10] [v5/MQTT-3.1.2-10]
	}
	m := *w.message
	m.arrived = s.now
	if s.denied(se.user, m.topic) {
		return
	}
	s.route(&m)
}

// sinceArrival is how long a message has waited, in whole seconds of the protocol.
func (s *Server) sinceArrival(m *message) uint32 {
	waited := s.now.Sub(m.arrived)
	if waited <= 0 {
		return 0
	}
	return uint32(waited / s.cfg.Second)
}

var _ = time.Second
