package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// message is an Application Message that the server has taken over.
type message struct {
	topic      string
	payload    []byte
	qos        byte
	retain     bool
	dup        bool   // as the publisher sent it; no delivery depends on it
	publisher  string // Client Identifier
	properties packet.Properties
	expiry     *uint32 // Message Expiry Interval in seconds
	arrived    time.Time
	serial     uint64
}

// forwarded returns the properties that travel with a message unaltered.
// [v5/MQTT-3.3.2-4] [v5/MQTT-3.3.2-15] [v5/MQTT-3.3.2-16] [v5/MQTT-3.3.2-17] [v5/MQTT-3.3.2-18] [v5/MQTT-3.3.2-20]
func forwarded(ps *packet.Properties) packet.Properties {
	return packet.Properties{
		PayloadFormatIndicator: ps.PayloadFormatIndicator,
		ContentType:            ps.ContentType,
		ResponseTopic:          ps.ResponseTopic,
		CorrelationData:        ps.CorrelationData,
		UserProperties:         ps.UserProperties, // in their order [v5/MQTT-3.3.2-18]
	}
}

// expired tells whether the Message Expiry Interval is over. [v5/MQTT-3.3.2-5]
func (s *Server) expired(m *message) bool {
	return m.expiry != nil && s.rules.expiresMessages && s.sinceArrival(m) >= *m.expiry && s.now.Sub(m.arrived) >= s.seconds(float64(*m.expiry))
}

// publish carries out a PUBLISH from a client.
func (s *Server) publish(c *conn, p *packet.Publish) {
	if !s.resolveAlias(c, p) || !s.withinAnnounced(c, p) {
		return
	}
	s.received++
	se := c.session
	m := &message{
		topic: s.rules.receivedTopic(p.Topic), payload: p.Payload, qos: p.QoS, retain: p.Retain, dup: p.Dup,
		publisher: se.id, properties: forwarded(&p.Properties), expiry: p.Properties.MessageExpiryInterval, arrived: s.now,
	}
	if s.denied(se.user, p.Topic) && s.rules.enforcesPermissions {
		s.refusePublish(c, p)
		return
	}
	code := packet.Success
	switch p.QoS {
	case 0: // no answer [v311/MQTT-3.3.4-1] [v5/MQTT-3.3.4-1]
		s.route(m)
		if s.rules.answersQoS0 {
			s.send(c, &packet.Ack{Kind: packet.PUBACK, ID: 1})
		}
	case 1: // [v311/MQTT-4.3.2-2] [v5/MQTT-4.3.2-4] [v5/MQTT-4.3.2-5]
		if !p.Dup || s.rules.takesDuplicates {
			code = s.resultCode(c, s.route(m))
		}
		s.send(c, &packet.Ack{Kind: packet.PUBACK, ID: s.rules.ackID(p.ID), Code: code})
	default:
		s.publishOnce(c, p, m)
	}
}

// publishOnce is the receiving half of the QoS 2 exchange. A Packet Identifier
// that awaits PUBREL marks a repetition, which is answered and not passed on.
// [v311/MQTT-4.3.3-2] [v5/MQTT-4.3.3-8] [v5/MQTT-4.3.3-10]
func (s *Server) publishOnce(c *conn, p *packet.Publish, m *message) {
	se := c.session
	code := packet.Success
	if !se.pending[p.ID] || s.rules.forgetsIncoming {
		// [v5/3.3.4-receive-maximum-exceeded] [v5/MQTT-3.3.4-7]
		if c.five() && len(se.pending) >= s.policy.ReceiveMaximum && s.rules.limitsIncoming {
			s.fail(c, packet.ReceiveMaximumExceeded, "more publications are open than this server allows")
			return
		}
		se.pending[p.ID] = true
		// [v311/4.3.3-onward-moment]: at PUBLISH or at PUBREL
		if s.policy.QoS2Onward == "pubrel" {
			se.held[p.ID] = m
		} else {
			code = s.resultCode(c, s.route(m))
		}
	}
	s.send(c, &packet.Ack{Kind: packet.PUBREC, ID: s.rules.ackID(p.ID), Code: code})
}

// release answers PUBREL. [v311/MQTT-4.3.3-2] [v5/MQTT-4.3.3-11]
func (s *Server) release(c *conn, id uint16) {
	se := c.session
	known := se.pending[id]
	if m := se.held[id]; m != nil {
		delete(se.held, id)
		s.route(m)
	}
	if s.rules.releasesIncoming {
		delete(se.pending, id) // [v5/MQTT-4.3.3-12]: from now on it is new
	}
	ack := &packet.Ack{Kind: packet.PUBCOMP, ID: s.rules.releaseID(id)}
	if c.five() && !known {
		ack.Code = packet.PacketIdentifierNotFound // [v5/4.4-pubrel-for-unknown]
	}
	s.send(c, ack)
}

// resultCode tells a publisher of MQTT 5.0 that nobody was there to get the
// message. [v5/3.4.2.1-puback-pubrec-code-10]
func (s *Server) resultCode(c *conn, takers int) packet.ReasonCode {
	if takers == 0 && c.five() && s.policy.NoMatchingSubscribers == "report" {
		return packet.NoMatchingSubscribers
	}
	return packet.Success
}

// resolveAlias replaces a Topic Alias by its Topic Name.
// [v5/MQTT-3.3.2-7] [v5/MQTT-3.3.2-9] [v5/MQTT-3.3.2-12] [v5/3.3.2.3.4-alias-set-and-use]
func (s *Server) resolveAlias(c *conn, p *packet.Publish) bool {
	alias := p.Properties.TopicAlias
	if alias == nil {
		return true
	}
	if s.policy.TopicAliasMaximum == 0 || int(*alias) > s.policy.TopicAliasMaximum || *alias == 0 {
		s.fail(c, packet.TopicAliasInvalid, "the Topic Alias is 0 or above the maximum")
		return false
	}
	if p.Topic != "" {
		if c.aliasesIn == nil {
			c.aliasesIn = map[uint16]string{}
		}
		c.aliasesIn[*alias] = p.Topic
		return true
	}
	name, ok := c.aliasesIn[*alias]
	if !ok {
		s.fail(c, packet.ProtocolError, "the Topic Alias has no Topic Name yet")
		return false
	}
	p.Topic = name
	return true
}

// withinAnnounced holds the client to what CONNACK said.
// [v5/MQTT-3.2.2-11] [v5/MQTT-3.2.2-14] [v5/3.2.2.3.4-publish-above-maximum-qos] [v5/3.2.2.3.5-publish-retain-not-available]
func (s *Server) withinAnnounced(c *conn, p *packet.Publish) bool {
	if !c.five() {
		return true
	}
	if int(p.QoS) > s.policy.MaximumQoS && s.rules.enforcesMaximumQoS {
		s.fail(c, packet.QoSNotSupported, "the QoS is above the Maximum QoS")
		return false
	}
	if p.Retain && !s.policy.Retain && s.rules.enforcesRetainAvailable {
		s.fail(c, packet.RetainNotSupported, "retained messages are not available")
		return false
	}
	return true
}

// denied tells whether a user may not publish to a topic.
func (s *Server) denied(u *User, name string) bool {
	return u != nil && matchesAny(u.DeniedPublish, name)
}

func matchesAny(filters []string, name string) bool {
	for _, f := range filters {
		if f == name || topic.Match(f, name) {
			return true
		}
	}
	return false
}

// refusePublish answers a PUBLISH that is not authorized: MQTT 3.1.1 knows no
// refusal but acknowledging as usual, or closing. [v311/MQTT-3.3.5-2] [v5/3.4.2.1-puback-pubrec-code-87]
func (s *Server) refusePublish(c *conn, p *packet.Publish) {
	if !c.five() && s.policy.DeniedPublish == "close" {
		s.close(c, failed)
		return
	}
	if !s.rules.acknowledgesDenied {
		return
	}
	ack := &packet.Ack{Kind: packet.PUBACK, ID: p.ID}
	if c.five() {
		ack.Code = packet.NotAuthorized
	}
	switch p.QoS {
	case 1:
		s.send(c, ack)
	case 2:
		ack.Kind = packet.PUBREC
		if !c.five() {
			c.session.pending[p.ID] = true
		}
		s.send(c, ack)
	}
}

// route takes a message over: it updates the retained message of the topic
// and adds the message to every Session with a matching subscription. It
// returns how many get it. [v311/MQTT-4.5.0-1] [v5/MQTT-4.5.0-1]
func (s *Server) route(m *message) (takers int) {
	s.serial++
	m.serial = s.serial
	if !s.rules.accepts(m) {
		return 0
	}
	if m.retain {
		s.retain(m)
	} else if s.rules.retainsPlain != nil {
		s.rules.retainsPlain(s, m)
	}
	return s.deliverAll(m)
}

// retain stores or removes the retained message of a topic.
func (s *Server) retain(m *message) {
	if !s.policy.Retain {
		return
	}
	if len(m.payload) == 0 && s.rules.emptyDeletes {
		// [v311/MQTT-3.3.1-10] [v311/MQTT-3.3.1-11] [v5/MQTT-3.3.1-6] [v5/MQTT-3.3.1-7]
		delete(s.retained, m.topic)
		return
	}
	if m.qos == 0 && s.policy.RetainQoS0 == "drop" {
		delete(s.retained, m.topic) // [v311/MQTT-3.3.1-7]
		return
	}
	// [v311/MQTT-3.3.1-5] [v311/MQTT-3.3.1-7] [v311/MQTT-3.1.2-17] [v5/MQTT-3.3.1-5] [v5/MQTT-3.1.2-15]
	s.rules.store(s, m)
}
