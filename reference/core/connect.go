package core

import (
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// connectPacket carries out CONNECT, or what was meant to be one.
func (s *Server) connectPacket(c *conn, decoded packet.Packet, err error) {
	p, _ := decoded.(*packet.Connect)
	if c.state != fresh {
		// [v311/MQTT-3.1.0-2] [v5/MQTT-3.1.0-2]
		if err == nil && s.rules.servesSecondConnect {
			s.send(c, &packet.Connack{})
			return
		}
		s.fail(c, packet.ProtocolError, "CONNECT came a second time")
		return
	}
	if err != nil {
		s.refuseBroken(c, p, err)
		return
	}
	c.version = p.Version
	if p.ProtocolName != "MQTT" || p.Version != packet.V311 && p.Version != packet.V5 {
		c.version = packet.V311 // a tolerated name or level is served as this
	}
	if !s.offers(c.version) {
		s.refuseLevel(c, byte(c.version))
		return
	}
	if c.five() {
		s.announcements(c, p)
	}
	if p.ClientID == "" {
		// [v311/MQTT-3.1.3-7] [v311/MQTT-3.1.3-8]
		if !c.five() && !p.CleanStart && s.rules.refusesEmptyID {
			s.refuse(c, identifierRejected)
			return
		}
		if s.policy.EmptyClientID == "refuse" {
			s.refuse(c, identifierRejected) // [v311/MQTT-3.1.3-9]
			return
		}
		// [v311/MQTT-3.1.3-6] [v5/MQTT-3.1.3-6]
		s.assigned++
		p.ClientID = s.rules.assignedID(fmt.Sprintf("auto-%d-%s", s.assigned, hex.EncodeToString(c.entropy[:6])))
		c.connect = p
		if c.five() {
			s.admit(c, p, &p.ClientID)
			return
		}
	}
	if !s.rules.takesClientID(p.ClientID) {
		s.refuse(c, identifierRejected) // [v311/MQTT-3.1.3-9] [v5/MQTT-3.1.3-8]
		return
	}
	s.admit(c, p, nil)
}

// refusal is why a CONNECT is turned down, in the codes of both versions.
type refusal struct {
	v311 packet.ReasonCode
	v5   packet.ReasonCode
	text string
}

var (
	badLevel           = refusal{1, packet.UnsupportedProtocolVersion, "the protocol version is not supported"}
	identifierRejected = refusal{2, packet.ClientIdentifierNotValid, "the Client Identifier is not allowed"}
	badCredentials     = refusal{4, packet.BadUserNameOrPassword, "user name or password is wrong"}
	notAuthorized      = refusal{5, packet.NotAuthorized, "not authorized"}
)

// refuse answers CONNECT with a code and ends the connection. Session Present
// is 0. [v311/MQTT-3.2.2-4] [v311/MQTT-3.2.2-5] [v5/MQTT-3.2.2-6] [v5/MQTT-3.2.2-7]
func (s *Server) refuse(c *conn, why refusal) {
	ack := &packet.Connack{Code: why.v311, SessionPresent: s.rules.presentOnRefusal}
	if c.five() {
		ack.Code = why.v5
		ack.Properties.ReasonString = &why.text
	}
	ack.Code = s.rules.refusalCode(c, ack.Code)
	if s.rules.answersRefusal {
		s.send(c, ack)
	}
	if s.rules.closesAfterRefusal {
		s.close(c, failed) // [v311/MQTT-3.1.4-5]: nothing behind it is read
		return
	}
	s.adopt(c)
}

// adopt serves a connection that has no accepted CONNECT: only defects do so.
func (s *Server) adopt(c *conn) {
	c.version = max(c.version, packet.V311)
	c.state, c.receiveMax = established, 65535
	s.assigned++
	s.attach(c, &packet.Connect{ClientID: fmt.Sprintf("adopted-%d", s.assigned), CleanStart: true})
}

// refuseBroken ends a connection whose CONNECT is malformed: in MQTT 3.1.1
// without CONNACK, in MQTT 5.0 with the code. [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1] [v5/MQTT-3.1.4-2]
func (s *Server) refuseBroken(c *conn, p *packet.Connect, err error) {
	var broken *packet.Error
	if errors.As(err, &broken) && p != nil && broken.Rule == packet.RuleProtocolLevel {
		s.refuseLevel(c, byte(p.Version))
		return
	}
	if broken != nil && broken.Rule == packet.RuleProtocolName {
		s.close(c, failed) // [v311/MQTT-3.1.2-1] [v5/MQTT-3.1.2-1]
		return
	}
	five := p != nil && p.Version == packet.V5 && p.ProtocolName == "MQTT"
	switch {
	case five && broken != nil && s.policy.MalformedConnect != "close":
		c.version = packet.V5
		s.send(c, &packet.Connack{Code: broken.Code, Properties: packet.Properties{ReasonString: &broken.Text}})
	case !five && s.rules.answersBrokenConnect != 0:
		s.send(c, &packet.Connack{Code: s.rules.answersBrokenConnect})
	}
	s.close(c, failed)
}

// refuseLevel answers a CONNECT of a level that is not offered.
// [v311/MQTT-3.1.2-2] [v5/MQTT-3.1.2-2]
func (s *Server) refuseLevel(c *conn, level byte) {
	c.version = packet.V311
	if s.policy.UnknownLevel == "0x84" && level >= 5 {
		c.version = packet.V5
	}
	if s.policy.UnknownLevel == "close" && level > 5 {
		s.close(c, failed)
		return
	}
	s.refuse(c, badLevel)
}

func (s *Server) offers(v packet.Version) bool {
	return s.policy.Versions == "both" || s.policy.Versions == "3.1.1" && v == packet.V311 || s.policy.Versions == "5" && v == packet.V5
}

// announcements notes what the client announces in MQTT 5.0.
func (s *Server) announcements(c *conn, p *packet.Connect) {
	ps := &p.Properties
	c.receiveMax = 65535 // [v5/3.1.2.11.3-receive-maximum-default]
	if ps.ReceiveMaximum != nil {
		c.receiveMax = int(*ps.ReceiveMaximum)
	}
	if ps.MaximumPacketSize != nil {
		c.maxPacket = *ps.MaximumPacketSize
	}
	if ps.TopicAliasMaximum != nil {
		c.aliasMax = *ps.TopicAliasMaximum
	}
	if ps.RequestProblemInformation != nil {
		c.problemInfo = *ps.RequestProblemInformation == 1
	}
	if ps.AuthenticationMethod != nil {
		c.method = *ps.AuthenticationMethod
	}
}

// admit authenticates the client and accepts it. assigned is the Client
// Identifier that the server made, or nil.
func (s *Server) admit(c *conn, p *packet.Connect, assigned *string) {
	c.connect = p
	if why, ok := s.authenticate(c, p); !ok {
		s.refuse(c, why)
		return
	}
	if c.method != "" {
		s.startAuthentication(c, p)
		return
	}
	s.accept(c, p, assigned, packet.Properties{})
}

// authenticate checks user name and password. [v5/3.1.4-authenticate]
func (s *Server) authenticate(c *conn, p *packet.Connect) (refusal, bool) {
	if s.cfg.Users == nil || c.method != "" {
		return refusal{}, true
	}
	if p.Username == nil {
		return notAuthorized, s.rules.letsEverybodyIn
	}
	for i := range s.cfg.Users {
		u := &s.cfg.Users[i]
		if u.Name == *p.Username && hmac.Equal([]byte(u.Password), p.Password) {
			c.user = u
			return refusal{}, true
		}
	}
	return badCredentials, s.rules.letsEverybodyIn
}

// accept starts or resumes the Session and answers with CONNACK 0x00, the
// first packet on the connection. [v311/MQTT-3.1.4-4] [v311/MQTT-3.2.0-1] [v5/MQTT-3.1.4-5] [v5/MQTT-3.2.0-1]
func (s *Server) accept(c *conn, p *packet.Connect, assigned *string, ps packet.Properties) {
	c.expiry = s.grantedExpiry(c, p)
	resumed := s.attach(c, p)
	c.state = established
	s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
	if !c.five() {
		c.receiveMax = s.policy.Window
	}
	if p.Will != nil {
		c.will = s.rules.storedWill(s.willOf(c, p))
	}
	keepAlive := p.KeepAlive
	if s.policy.ServerKeepAlive > 0 && c.five() {
		keepAlive = uint16(s.policy.ServerKeepAlive) // [v5/MQTT-3.2.2-21]
	}
	c.keepAlive = s.seconds(s.rules.keepAliveFactor * float64(keepAlive))

	// [v311/MQTT-3.2.2-1] [v311/MQTT-3.2.2-2] [v311/MQTT-3.2.2-3] [v5/MQTT-3.2.2-2] [v5/MQTT-3.2.2-3]
	ack := &packet.Connack{SessionPresent: s.rules.sessionPresent(resumed, p.CleanStart), Properties: ps}
	if c.five() {
		s.announce(c, p, ack, assigned)
	}
	first := len(s.out)
	s.send(c, ack)
	connack := len(s.out)
	s.touch(c)
	s.resume(c.session)
	if s.rules.connackLast && len(s.out) > connack {
		late := append([]Output{}, s.out[connack:]...)
		s.out = append(append(s.out[:first:first], late...), s.out[first:connack]...)
	}
}

// grantedExpiry returns the Session Expiry Interval in force. In MQTT 3.1.1
// Clean Session decides. [v311/MQTT-3.1.2-6] [v5/3.2.2.3.2-session-expiry-override]
func (s *Server) grantedExpiry(c *conn, p *packet.Connect) uint32 {
	if !c.five() {
		if p.CleanStart {
			return 0
		}
		return neverExpires
	}
	var asked uint32 // [v5/3.1.2.11.2-session-expiry-absent]
	if e := p.Properties.SessionExpiryInterval; e != nil {
		asked = *e
	}
	if limit := uint32(s.policy.MaximumSessionExpiry); limit > 0 {
		return min(asked, limit)
	}
	return asked
}

// announce fills the properties of a success CONNACK of MQTT 5.0.
func (s *Server) announce(c *conn, p *packet.Connect, ack *packet.Connack, assigned *string) {
	ps := &ack.Properties
	ps.AssignedClientIdentifier = assigned // [v5/MQTT-3.1.3-7] [v5/MQTT-3.2.2-16]
	if e := p.Properties.SessionExpiryInterval; e != nil && *e != c.expiry {
		ps.SessionExpiryInterval = &c.expiry
	}
	if c.method != "" {
		ps.AuthenticationMethod = &c.method // [v5/MQTT-4.12.0-5]
	}
	if s.policy.ServerKeepAlive > 0 {
		seconds := uint16(s.policy.ServerKeepAlive)
		ps.ServerKeepAlive = &seconds
	}
	if n := s.policy.ReceiveMaximum; n < 65535 {
		most := uint16(n)
		ps.ReceiveMaximum = &most
	}
	if n := s.policy.TopicAliasMaximum; n > 0 {
		most := uint16(n)
		ps.TopicAliasMaximum = &most
	}
	size := uint32(s.policy.MaximumPacketSize)
	if size == 0 {
		size = maxPacketSize
	}
	ps.MaximumPacketSize = &size
	if q := byte(s.policy.MaximumQoS); q < 2 {
		ps.MaximumQoS = &q // [v5/MQTT-3.2.2-9]
	}
	no := func(available bool) *byte {
		if available {
			return nil
		}
		return new(byte)
	}
	ps.RetainAvailable = no(s.policy.Retain)
	ps.WildcardSubscriptionAvailable = no(s.policy.Wildcards)
	ps.SubscriptionIdentifierAvailable = no(s.policy.SubscriptionIdentifiers)
	ps.SharedSubscriptionAvailable = no(s.policy.Shared)
	// [v5/MQTT-3.1.2-28] [v5/3.1.2.11.6-request-response-information-one]
	if r := p.Properties.RequestResponseInformation; r != nil && *r == 1 && s.policy.ResponseInformation != "" {
		ps.ResponseInformation = &s.policy.ResponseInformation
	}
	s.rules.announced(ps)
}

// willOf makes the will message of a CONNECT.
func (s *Server) willOf(c *conn, p *packet.Connect) *will {
	w := p.Will
	m := &message{
		topic: w.Topic, payload: w.Payload, qos: w.QoS, retain: w.Retain,
		publisher: p.ClientID, properties: forwarded(&w.Properties), expiry: w.Properties.MessageExpiryInterval,
	}
	delay := uint32(0) // [v5/3.1.3.2.2-will-delay-default]
	if d := w.Properties.WillDelayInterval; d != nil {
		delay = *d
	}
	return &will{message: m, delay: delay}
}
