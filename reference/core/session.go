package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// neverExpires is the Session Expiry Interval of a Session that does not end
// by itself. [v5/3.1.2.11.2-session-expiry-max]
const neverExpires = 0xFFFFFFFF

// session is the Session State of a Client Identifier. It is there for as long
// as the connection at least, also when it holds nothing.
// [v311/MQTT-4.1.0-1] [v311/MQTT-4.1.0-2] [v5/MQTT-4.1.0-1] [v311/3.1.2.4-session-without-content]
type session struct {
	id     string // [v311/MQTT-3.1.3-2] [v5/MQTT-3.1.3-2]
	conn   *conn  // nil while the client is away
	expiry uint32 // seconds after the connection's end
	user   *User
	subs   map[string]*subscription // by Topic Filter, with their identifiers [v5/3.8.4-subscription-ids-in-session]
	ghosts []*subscription          // only a defect puts subscriptions here
	will   *will                    // put off until its delay is over [v5/4.1-will-in-session]
	ended  time.Time                // when the last connection did
	saved  bool                     // there are records of it
	over   bool                     // it has ended
	outbox
	inbox
}

// attach finds or makes the Session for an accepted CONNECT and reports
// whether the client resumes one.
// [v311/MQTT-3.1.2-4] [v311/MQTT-3.1.4-3] [v5/MQTT-3.1.2-5] [v5/MQTT-3.1.2-6] [v5/MQTT-3.1.4-4]
func (s *Server) attach(c *conn, p *packet.Connect) (resumed bool) {
	id := s.rules.sessionKey(p.ClientID)
	old := s.sessions[id]
	live := old != nil && old.conn != nil
	if live && s.rules.takesOver(old.conn) {
		s.takeOver(old.conn)
		old = s.sessions[id] // it may have ended with its connection
	}
	if old != nil && s.rules.startsClean(p, live) {
		s.endSession(old) // [v311/MQTT-3.1.2-6] [v5/MQTT-3.1.2-4]
		old = nil
	}
	se := old
	if se == nil {
		se = s.newSession(id)
	}
	s.timers.stop(timerKey{kind: expiryTimer, id: se.id})
	if s.rules.cancelsWill {
		s.timers.stop(timerKey{kind: willTimer, id: se.id})
		se.will = nil // [v5/MQTT-3.1.3-9] [v5/3.1.3.2.2-no-will-on-takeover-with-delay]
	}
	se.conn, se.expiry, se.user = c, c.expiry, c.user
	c.session = se
	s.ledger.session(se)
	s.rules.attached(s, se, old != nil)
	return old != nil
}

// newSession makes an empty Session.
func (s *Server) newSession(id string) *session {
	se := &session{id: id, subs: map[string]*subscription{}, outbox: newOutbox(), inbox: newInbox()}
	s.sessions[id] = se
	s.ledger.track(se)
	return se
}

// takeOver ends the older connection of a Client Identifier. What becomes of
// its will follows the usual rules. [v311/MQTT-3.1.4-2] [v5/MQTT-3.1.4-3]
// [v311/3.1.2.5-will-on-takeover] [v5/3.1.4-takeover-will]
func (s *Server) takeOver(other *conn) {
	if s.rules.saysTakenOver {
		s.bye(other, packet.SessionTakenOver, "the Client Identifier connected again")
	}
	s.close(other, takenOver)
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
	se.conn, se.ended = nil, s.now
	s.ledger.session(se)
	se.detach(s.policy.QoS0Offline == "keep")
	s.greetNow(c)
	s.rules.detached(s, se, why)
	s.handOver(c, se, why)
	if c.will != nil && s.rules.publishesWill(c, why) {
		s.putOffWill(se, c)
	}
	c.will = nil // [v311/MQTT-3.1.2-10] [v5/MQTT-3.1.2-10] [v311/MQTT-3.14.4-3] [v5/MQTT-3.14.4-3]
	// A Session outlives its connection by the Session Expiry Interval.
	// [v311/MQTT-3.1.2-4] [v5/MQTT-3.1.2-23] [v5/4.1-session-lifetime] [v5/3.1.2.11.2-clean-start-with-expiry]
	switch expiry := s.rules.sessionExpiry(c, se.expiry); expiry {
	case 0:
		s.endSession(se)
	case neverExpires:
	default:
		s.timers.set(timerKey{kind: expiryTimer, id: se.id}, s.now.Add(s.seconds(float64(expiry)))) // [v5/MQTT-4.1.0-2]
	}
}

// endSession throws a Session away. Retained messages are no part of it.
// [v311/MQTT-3.1.2-7] [v5/4.1-retained-not-session]
func (s *Server) endSession(se *session) {
	s.timers.stop(timerKey{kind: expiryTimer, id: se.id})
	if s.sessions[se.id] == se {
		delete(s.sessions, se.id)
	}
	for _, sub := range se.subs {
		s.removeSubscription(se, sub) // [v5/4.8.2-leave-on-session-end] [v5/3.8.4-subscription-ids-removed]
	}
	// A will that is put off is due when the Session ends.
	// [v5/3.1.3.2.2-will-at-session-end] [v5/3.1.3.2.2-will-on-takeover-clean-start]
	s.timers.stop(timerKey{kind: willTimer, id: se.id})
	if s.rules.endsWill {
		s.publishWill(se)
	}
	s.handOn(se)
	s.ledger.ended(se)
	s.rules.sessionEnded(s, se)
}

// disconnect carries out DISCONNECT. Nothing that stands behind it is read.
// [v311/3.14.4-nothing-after] [v5/3.14.4-nothing-processed-after]
func (s *Server) disconnect(c *conn, p *packet.Disconnect) {
	if s.rules.readsOn {
		s.receive(c, nil)
	}
	if e := p.Properties.SessionExpiryInterval; e != nil {
		if c.expiry == 0 && *e != 0 && s.rules.refusesRaisedExpiry {
			// [v5/3.14.2.2.2-session-expiry-raised-from-zero]
			s.fail(c, packet.ProtocolError, "a Session Expiry Interval of 0 cannot be raised at the end")
			return
		}
		// [v5/3.14.2.2.2-session-expiry-changed]; without one the old holds
		// [v5/3.14.2.2.2-session-expiry-kept]
		c.session.expiry = s.rules.disconnectExpiry(c.session.expiry, *e)
	}
	why := disconnected // [v311/MQTT-3.14.4-3] [v5/MQTT-3.14.4-3]
	if s.rules.leavesWill(p.Code) {
		why = willAsked // [v5/3.14.2.1-disconnect-with-will] [v5/3.14-will-unless-normal]
	}
	if s.rules.closesOnDisconnect {
		s.close(c, why) // [v311/3.14.4-server-closes] [v5/3.14.4-receiver-closes]
		return
	}
	s.end(c, why)
}
