package core

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// message is an Application Message that the server has taken over.
type message struct {
	topic      string
	payload    []byte // may be empty [v311/3.3.3-empty-payload]
	qos        byte
	retain     bool
	dup        bool   // as the publisher sent it; no delivery depends on it
	publisher  string // Client Identifier
	properties packet.Properties
	expiry     *uint32 // Message Expiry Interval in seconds; nil for none [v5/3.3.2.3.3-no-expiry]
	arrived    time.Time
	serial     uint64
	saved      *savedMark // nil unless the server is durable
}

// forwarded returns the properties that travel with a message unaltered. User
// Properties keep their order.
// [v5/MQTT-3.3.2-4] [v5/MQTT-3.3.2-15] [v5/MQTT-3.3.2-16] [v5/MQTT-3.3.2-17] [v5/MQTT-3.3.2-18]
// [v5/MQTT-3.3.2-20] [v5/4.10-request-response]
func forwarded(ps *packet.Properties) packet.Properties {
	return packet.Properties{
		PayloadFormatIndicator: ps.PayloadFormatIndicator,
		ContentType:            ps.ContentType,
		ResponseTopic:          ps.ResponseTopic,
		CorrelationData:        ps.CorrelationData,
		UserProperties:         ps.UserProperties,
	}
}

// waited is how long the server has had a message.
func (s *Server) waited(m *message) time.Duration { return max(0, s.now.Sub(m.arrived)) }

// expired tells whether the Message Expiry Interval is over. A message with an
// interval of 0 is passed on at once or not at all.
// [v5/MQTT-3.3.2-5] [v5/3.3.2.3.3-expiry-zero]
func (s *Server) expired(m *message) bool {
	if m.expiry == nil || !s.rules.expiresMessages {
		return false
	}
	waited := s.waited(m)
	return waited > 0 && waited >= s.seconds(float64(*m.expiry))
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
		publisher: se.id, properties: s.rules.forwarded(&p.Properties), expiry: p.Properties.MessageExpiryInterval, arrived: s.now,
	}
	if s.deniedPublish(se.user, p.Topic) {
		s.refusePublish(c, p)
		return
	}
	if c.five() && s.misformatted(&p.Properties, p.Payload) {
		s.refuseFormat(c, p)
		return
	}
	if c.five() && s.policy.DollarTopics == "refused" && strings.HasPrefix(p.Topic, "$") && p.QoS > 0 {
		s.refuseTopic(c, p)
		return
	}
	switch p.QoS {
	case 0: // no answer [v311/MQTT-3.3.4-1] [v5/MQTT-3.3.4-1]
		s.route(m)
		if s.rules.answersQoS0 {
			s.send(c, &packet.Ack{Kind: packet.PUBACK, ID: 1})
		}
	case 1:
		s.publishAtLeastOnce(c, p, m)
	default:
		s.publishOnce(c, p, m)
	}
}

// misformatted tells whether a payload is said to be UTF-8 and is not, for a
// server that checks it.
func (s *Server) misformatted(ps *packet.Properties, payload []byte) bool {
	format := ps.PayloadFormatIndicator
	return s.policy.PayloadFormat == "checked" && format != nil && *format == 1 && !utf8.Valid(payload)
}

// refuseFormat answers a PUBLISH whose payload is not of the format that it is
// said to be. [v5/3.3.2.3.2-payload-format-check] [v5/3.3.2.3.2-utf8-payload]
func (s *Server) refuseFormat(c *conn, p *packet.Publish) {
	switch p.QoS {
	case 0:
		s.fail(c, packet.PayloadFormatInvalid, "the payload is not the UTF-8 that it is said to be")
	case 1:
		s.send(c, &packet.Ack{Kind: packet.PUBACK, ID: p.ID, Code: packet.PayloadFormatInvalid})
	default:
		s.send(c, &packet.Ack{Kind: packet.PUBREC, ID: p.ID, Code: packet.PayloadFormatInvalid})
	}
}

// refuseTopic answers a PUBLISH to a topic that the server does not take.
// [v5/3.4.2.1-puback-pubrec-code-90]
func (s *Server) refuseTopic(c *conn, p *packet.Publish) {
	kind := packet.PUBACK
	if p.QoS == 2 {
		kind = packet.PUBREC // it ends the exchange [v5/MQTT-4.3.3-9]
	}
	s.send(c, &packet.Ack{Kind: kind, ID: p.ID, Code: packet.TopicNameInvalid})
}

// resultCode tells a publisher of MQTT 5.0 that nobody was there to get the
// message, where that is known. [v5/3.4.2.1-puback-pubrec-code-10]
func (s *Server) resultCode(c *conn, takers int) packet.ReasonCode {
	if takers == 0 && !s.routesLater() && c.five() && s.policy.NoMatchingSubscribers == "report" {
		return packet.NoMatchingSubscribers
	}
	return packet.Success
}

// resolveAlias replaces a Topic Alias by its Topic Name.
// [v5/MQTT-3.3.2-7] [v5/MQTT-3.3.2-12] [v5/3.3.2.3.4-alias-set-and-use] [v5/3.3.2.3.4-alias-change]
func (s *Server) resolveAlias(c *conn, p *packet.Publish) bool {
	alias := p.Properties.TopicAlias
	if alias == nil {
		return true
	}
	if s.rules.refusesAlias(*alias, s.policy.TopicAliasMaximum) {
		// [v5/MQTT-3.3.2-8] [v5/MQTT-3.3.2-9] [v5/3.3.2.3.4-alias-zero] [v5/3.3.2.3.4-alias-above-maximum]
		s.fail(c, packet.TopicAliasInvalid, "the Topic Alias is 0 or above the maximum")
		return false
	}
	if p.Topic != "" {
		if s.rules.notesAlias(c, p) {
			c.aliasesIn[*alias] = p.Topic
		}
		return true
	}
	name, ok := c.aliasesIn[*alias]
	if !ok {
		name, ok = s.rules.unknownAlias(*alias)
	}
	if !ok {
		// [v5/3.3.2.3.4-alias-unknown] [v5/3.3.2.1-empty-topic-no-alias]
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
		return true // not known to MQTT 3.1.1
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

// deniedPublish tells whether a user may not publish to a topic.
// [v311/4.7.3-selective-authorization]
func (s *Server) deniedPublish(u *User, name string) bool {
	return u != nil && matchesAny(u.DeniedPublish, name) && s.rules.enforcesPermissions
}

// deniedTopic tells whether a user may not receive a topic, or subscribe to a filter.
func (s *Server) deniedTopic(u *User, name string) bool {
	return u != nil && matchesAny(u.DeniedSubscribe, name) && s.rules.enforcesPermissions && s.rules.enforcesReading
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
// refusal but acknowledging as usual, or closing.
// [v311/MQTT-3.3.5-2] [v5/3.4.2.1-puback-pubrec-code-87] [v5/MQTT-3.4.2-1] [v5/MQTT-3.5.2-1]
func (s *Server) refusePublish(c *conn, p *packet.Publish) {
	if !c.five() && s.policy.DeniedPublish == "close" {
		s.close(c, failed)
		return
	}
	if !s.rules.acknowledgesDenied || p.QoS == 0 {
		return
	}
	ack := &packet.Ack{Kind: packet.PUBACK, ID: p.ID}
	if p.QoS == 2 {
		ack.Kind = packet.PUBREC
	}
	switch {
	case c.five():
		ack.Code = packet.NotAuthorized // it ends the exchange [v5/MQTT-4.3.3-9]
	case p.QoS == 2:
		c.session.await(p.ID, nil)
	}
	s.send(c, ack)
}

// route takes a message over: it updates the retained message of the topic
// and adds the message to every Session with a matching subscription. It
// returns how many get it. [v311/MQTT-4.5.0-1] [v5/MQTT-4.5.0-1]
func (s *Server) route(m *message) (takers int) {
	s.serial++
	m.serial = s.serial
	if !s.rules.accepts(m) || m.publisher != "" && s.reserved(m.topic) {
		return 0
	}
	if s.routesLater() && m.publisher != "" {
		s.passOnLater(m)
		return 0
	}
	s.retain(m)
	if !s.rules.passesOn(s, m) {
		return 0
	}
	return s.deliverAll(m)
}

// routingDelay is how long a message waits before it is passed on where the policy
// acknowledges it early, and as long again before it is retained: servers that route
// and store by other threads, or on other nodes, do so.
const routingDelay = 5 * time.Millisecond

// routesLater tells whether messages of clients are passed on behind their
// acknowledgement. A durable server does not: what it has acknowledged outlives the
// process.
func (s *Server) routesLater() bool { return s.policy.Acknowledges == "early" && s.ledger == nil }

// routed is a message that is passed on when it is due, or retained.
type routed struct {
	message *message
	due     time.Time
	passed  bool // on
}

// passOnLater has a message passed on when the delay is over, behind those of its
// publisher that wait. [v311/MQTT-4.6.0-6] [v5/MQTT-4.6.0-6]
func (s *Server) passOnLater(m *message) {
	due := s.now.Add(routingDelay)
	s.early[m.publisher] = append(s.early[m.publisher], routed{message: m, due: due})
	if len(s.early[m.publisher]) == 1 {
		s.timers.set(timerKey{kind: routingTimer, id: m.publisher}, due)
	}
}

// passOnDue passes the messages of a publisher on that have waited long enough, and
// retains those that were passed on as long ago.
func (s *Server) passOnDue(publisher string) {
	waiting := s.early[publisher]
	for len(waiting) > 0 && !waiting[0].due.After(s.now) {
		r := waiting[0]
		waiting = waiting[1:]
		if r.passed {
			s.retain(r.message)
			continue
		}
		if s.rules.passesOn(s, r.message) {
			s.deliverAll(r.message)
		}
		// All wait equally long, so that this one is the last.
		waiting = append(waiting, routed{message: r.message, due: s.now.Add(routingDelay), passed: true})
	}
	if len(waiting) == 0 {
		delete(s.early, publisher)
		return
	}
	s.early[publisher] = waiting
	s.timers.set(timerKey{kind: routingTimer, id: publisher}, waiting[0].due)
}

// reserved tells whether clients may not exchange messages on a topic: by policy
// none, the topics of the server, or all that begin with $.
// [v311/4.7.2-dollar-exchange] [v5/4.7.2-dollar-exchange]
func (s *Server) reserved(name string) bool {
	switch s.policy.DollarTopics {
	case "open":
		return false
	case "reserved", "refused":
		return strings.HasPrefix(name, "$")
	}
	return strings.HasPrefix(name, "$SYS/")
}
