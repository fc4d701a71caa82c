package core

import "github.com/mqttcheck/mqttcheck/reference/packet"

// A will is a Will Message as it stood in CONNECT.
type will struct {
	message *message
	delay   uint32 // seconds
}

// willOf makes the will of a CONNECT, nil where it has none.
// [v311/MQTT-3.1.2-9] [v311/MQTT-3.1.2-12] [v311/MQTT-3.1.3-1] [v5/MQTT-3.1.2-9] [v5/MQTT-3.1.3-1]
func (s *Server) willOf(se *session, p *packet.Connect) *will {
	w := p.Will
	if w == nil {
		return s.rules.missingWill(se)
	}
	m := &message{
		topic: w.Topic, payload: w.Payload, qos: w.QoS,
		retain:    w.Retain, // [v311/MQTT-3.1.2-16] [v311/MQTT-3.1.2-17] [v5/MQTT-3.1.2-14] [v5/MQTT-3.1.2-15]
		publisher: p.ClientID,
		// [v5/3.1.3.2-will-properties-forwarded] [v5/MQTT-3.1.3-10]
		properties: s.rules.forwarded(&w.Properties),
		expiry:     w.Properties.MessageExpiryInterval, // [v5/3.1.3.2.4-will-expiry-absent]
	}
	var delay uint32 // [v5/3.1.3.2.2-will-delay-default]
	if d := w.Properties.WillDelayInterval; d != nil {
		delay = *d
	}
	return s.rules.storedWill(se, &will{message: m, delay: delay})
}

// putOffWill publishes the will of a connection that has ended, or keeps it
// until its delay is over or the Session ends.
// [v311/MQTT-3.1.2-8] [v311/3.1.2.5-will-promptly] [v311/3.1.2.5-will-on-network-drop]
// [v311/3.1.2.5-will-on-protocol-error] [v5/MQTT-3.1.2-8] [v5/3.1.2.5-will-promptly]
// [v5/3.1.2.5-will-on-network-drop] [v5/3.1.2.5-will-on-server-close] [v5/3.1.3.2.2-will-on-takeover-no-delay]
func (s *Server) putOffWill(se *session, c *conn) {
	se.will = c.will
	delay := s.rules.willDelay(c.will.delay, se.expiry)
	if delay == 0 {
		s.publishWill(se)
		return
	}
	s.timers.set(timerKey{kind: willTimer, id: se.id}, s.now.Add(s.seconds(float64(delay))))
}

// publishWill publishes a will as any message, once.
// [v311/MQTT-3.1.2-8] [v311/MQTT-3.1.2-10] [v5/MQTT-3.1.2-8] [v5/MQTT-3.1.2-10] [v5/3.1.3.2.4-will-expiry-sent]
func (s *Server) publishWill(se *session) {
	w := se.will
	if w == nil {
		return
	}
	se.will = nil
	s.ledger.session(se)
	m := *w.message
	m.arrived = s.now
	if s.deniedPublish(se.user, m.topic) {
		return
	}
	for range s.rules.willCopies {
		copied := m
		s.route(&copied)
	}
}
