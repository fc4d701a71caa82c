package core

import (
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// connectPacket carries out CONNECT, or what was meant to be one.
func (s *Server) connectPacket(c *conn, decoded packet.Packet, err error) {
	p, _ := decoded.(*packet.Connect)
	if c.state != fresh {
		// [v311/MQTT-3.1.0-2] [v5/MQTT-3.1.0-2] [v5/MQTT-3.2.0-2]
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
	p = s.rules.connect(p)
	c.version = p.Version
	if p.Version != packet.V311 && p.Version != packet.V5 {
		c.version = packet.V311 // a tolerated level is served as this
	}
	if !s.offers(c.version) {
		s.refuseLevel(c, byte(c.version))
		return
	}
	if c.five() {
		s.noteAnnounced(c, p)
	}
	if why, ok := s.identify(c, p); !ok {
		s.refuse(c, why)
		return
	}
	if why, ok := s.servesWill(c, p); !ok {
		s.refuse(c, why)
		return
	}
	if why, ok := s.authenticate(c, p); !ok {
		s.refuse(c, why) // [v311/3.1.4-checks-fail-close] [v311/3.1.4-checks-fail-connack] [v5/MQTT-3.1.4-2]
		return
	}
	if c.five() && s.policy.ServerReference == "connect" {
		s.refuse(c, elsewhere) // [v5/4.11-server-reference] [v5/3.2.2.2-connack-code-9c]
		return
	}
	if why, refused := s.rules.refuses(s, c, p); refused {
		s.refuse(c, why)
		return
	}
	c.connect = p
	if c.method != "" {
		s.startAuthentication(c)
		return
	}
	s.accept(c, p)
}

// identify judges the Client Identifier, and makes one where it is empty.
func (s *Server) identify(c *conn, p *packet.Connect) (refusal, bool) {
	if p.ClientID != "" {
		// [v311/MQTT-3.1.3-5] [v5/MQTT-3.1.3-5]: any other is taken as well
		// [v311/3.1.3.1-longer-client-id] [v5/3.1.3.1-longer-client-id]
		if !s.rules.takesClientID(p.ClientID) {
			return identifierRejected, false // [v311/MQTT-3.1.3-9] [v5/MQTT-3.1.3-8]
		}
		return refusal{}, true
	}
	// [v311/MQTT-3.1.3-8]; in MQTT 5.0 it may stand with Clean Start 0
	// [v5/3.1.3.1-empty-client-id]
	if !c.five() && !p.CleanStart && s.rules.refusesEmptyID {
		return identifierRejected, false
	}
	if s.policy.EmptyClientID == "refuse" {
		return identifierRejected, false // [v311/MQTT-3.1.3-9] [v5/MQTT-3.1.3-8]
	}
	// [v311/MQTT-3.1.3-6] [v5/MQTT-3.1.3-6] [v5/MQTT-3.2.2-16]
	for p.ClientID == "" || s.sessions[p.ClientID] != nil && s.rules.assignsUnique {
		s.assigned++
		p.ClientID = s.rules.assignedID(fmt.Sprintf("auto-%d-%s", s.assigned, hex.EncodeToString(c.entropy[:6])))
	}
	if c.five() {
		c.assigned = &p.ClientID
	}
	return refusal{}, true
}

// servesWill holds the will to what CONNACK would announce.
// [v5/MQTT-3.2.2-12] [v5/MQTT-3.2.2-13]
func (s *Server) servesWill(c *conn, p *packet.Connect) (refusal, bool) {
	switch {
	case p.Will == nil || !c.five():
	case int(p.Will.QoS) > s.policy.MaximumQoS && s.rules.enforcesMaximumQoS:
		return refusal{5, packet.QoSNotSupported, "the Will QoS is above the Maximum QoS"}, false
	case p.Will.Retain && !s.policy.Retain && s.rules.enforcesRetainAvailable:
		return refusal{5, packet.RetainNotSupported, "retained messages are not available"}, false
	case s.misformatted(&p.Will.Properties, p.Will.Payload): // [v5/3.1.3.2.3-will-payload-format-check]
		return refusal{5, packet.PayloadFormatInvalid, "the payload of the will is not the UTF-8 that it is said to be"}, false
	}
	return refusal{}, true
}

// refusal is why a CONNECT is turned down, in the codes of both versions.
type refusal struct {
	v311 packet.ReasonCode
	v5   packet.ReasonCode
	text string
}

// [v311/3.2.2.3-code-1] [v311/3.2.2.3-code-2] [v311/3.2.2.3-code-3] [v311/3.2.2.3-code-4] [v311/3.2.2.3-code-5]
// [v311/MQTT-3.2.2-6] [v5/MQTT-3.2.2-8]
var (
	badLevel           = refusal{1, packet.UnsupportedProtocolVersion, "the protocol version is not supported"}
	identifierRejected = refusal{2, packet.ClientIdentifierNotValid, "the Client Identifier is not allowed"}
	tooManySessions    = refusal{3, packet.QuotaExceeded, "the server holds too many Sessions"}
	badCredentials     = refusal{4, packet.BadUserNameOrPassword, "user name or password is wrong"}
	notAuthorized      = refusal{5, packet.NotAuthorized, "not authorized"}
	elsewhere          = refusal{3, packet.UseAnotherServer, "another server takes this client"}
)

// refuse answers CONNECT with a code and ends the connection. Session Present
// is 0. [v311/MQTT-3.2.2-4] [v311/MQTT-3.2.2-5] [v5/MQTT-3.2.2-6] [v5/MQTT-3.2.2-7]
// [v311/3.2.2.3-send-connack]
func (s *Server) refuse(c *conn, why refusal) {
	ack := &packet.Connack{Code: why.v311, SessionPresent: s.rules.presentOnRefusal}
	if c.five() {
		ack.Code = why.v5
		ack.Properties.ReasonString = &why.text
		ack.Properties.ServerReference = serverReference(why.v5)
	}
	ack.Code = s.rules.refusalCode(c, ack.Code)
	if s.rules.answersRefusal(c, why) {
		s.send(c, ack)
	}
	if s.rules.afterRefusal != nil {
		s.rules.afterRefusal(s, c)
		return
	}
	s.close(c, failed) // [v311/MQTT-3.1.4-5] [v5/MQTT-3.1.4-6]: nothing behind it is read
}

// otherServer is where clients are sent by policy.
const otherServer = "other.example:1883"

// serverReference returns the Server Reference that goes with a code, nil for
// none. [v5/3.2.2.3.16-server-reference-with-code]
func serverReference(code packet.ReasonCode) *string {
	if code != packet.UseAnotherServer && code != packet.ServerMoved {
		return nil
	}
	other := otherServer
	return &other
}

// adopt serves a connection that has no accepted CONNECT: only defects do so.
func (s *Server) adopt(c *conn) {
	c.version = max(c.version, packet.V311)
	c.state, c.quota = established, 65535
	s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
	s.assigned++
	s.attach(c, &packet.Connect{ClientID: fmt.Sprintf("adopted-%d", s.assigned), CleanStart: true})
}

// refuseBroken ends a connection whose CONNECT is malformed: in MQTT 3.1.1
// without CONNACK, in MQTT 5.0 with the code.
// [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.4-1] [v5/3.1.4-connack-for-malformed] [v5/4.13.1-connect-error-connack]
func (s *Server) refuseBroken(c *conn, p *packet.Connect, err error) {
	var broken *packet.Error
	if !errors.As(err, &broken) {
		broken = &packet.Error{Code: packet.MalformedPacket, Text: "CONNECT is malformed"}
	}
	if p != nil && broken.Rule == packet.RuleProtocolLevel {
		s.refuseLevel(c, byte(p.Version))
		return
	}
	if broken.Rule == packet.RuleProtocolName {
		s.close(c, failed) // [v311/MQTT-3.1.2-1] [v5/MQTT-3.1.2-1]
		return
	}
	five := p != nil && p.Version == packet.V5 && p.ProtocolName == "MQTT"
	switch {
	case five && s.policy.MalformedConnect != "close":
		c.version = packet.V5
		s.send(c, &packet.Connack{Code: broken.Code, Properties: packet.Properties{ReasonString: &broken.Text}})
	case !five && s.rules.answersBrokenConnect(broken.Rule):
		s.send(c, &packet.Connack{Code: identifierRejected.v311})
	}
	if s.rules.endsBrokenConnect(broken.Rule) {
		s.close(c, failed)
	}
}

// refuseLevel answers a CONNECT of a level that is not offered.
// [v311/MQTT-3.1.2-2] [v5/MQTT-3.1.2-2]
func (s *Server) refuseLevel(c *conn, level byte) {
	c.version = packet.V311
	if s.policy.UnknownLevel == "0x84" && level >= 5 {
		c.version = packet.V5
	}
	if s.policy.UnknownLevel == "close" && level >= 5 {
		s.close(c, failed)
		return
	}
	s.refuse(c, badLevel)
}

// offers tells whether a version is served. [v311/3.1.4-other-versions] [v5/3.1.4-other-versions]
func (s *Server) offers(v packet.Version) bool {
	return s.policy.Versions == "both" || s.policy.Versions == "3.1.1" && v == packet.V311 || s.policy.Versions == "5" && v == packet.V5
}

// noteAnnounced notes what the client announces in MQTT 5.0. It counts for
// this connection only. [v5/3.1.2.11.3-receive-maximum-per-connection]
func (s *Server) noteAnnounced(c *conn, p *packet.Connect) {
	ps := &p.Properties
	most := 65535 // [v5/3.1.2.11.3-receive-maximum-default]
	if ps.ReceiveMaximum != nil {
		most = int(*ps.ReceiveMaximum)
	}
	c.quota = s.rules.sendQuota(c, min(most, s.policy.Window)) // [v5/MQTT-4.9.0-1] [v5/4.9-quota-reset]
	if ps.MaximumPacketSize != nil {
		c.maxPacket = *ps.MaximumPacketSize
	}
	if ps.TopicAliasMaximum != nil {
		c.aliasMax = *ps.TopicAliasMaximum // else 0 [v5/3.1.2.11.5-topic-alias-maximum-default]
	}
	if ps.RequestProblemInformation != nil {
		c.problemInfo = *ps.RequestProblemInformation == 1
	}
	if ps.AuthenticationMethod != nil {
		c.method = *ps.AuthenticationMethod
	}
}

// accept starts or resumes the Session and answers with CONNACK 0x00, the
// first packet on the connection.
// [v311/MQTT-3.1.4-4] [v311/MQTT-3.2.0-1] [v5/MQTT-3.1.4-5] [v5/MQTT-3.2.0-1]
func (s *Server) accept(c *conn, p *packet.Connect) {
	if len(s.sessions) >= maxSessions && s.sessions[p.ClientID] == nil {
		s.refuse(c, tooManySessions)
		return
	}
	c.expiry = s.grantedExpiry(c, p)
	resumed := s.attach(c, p)
	c.state = established
	s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
	if !c.five() {
		c.quota = s.policy.Window // [v311/4.3-window]
	}
	c.will = s.willOf(c.session, p) // [v311/MQTT-3.1.2-8] [v5/MQTT-3.1.2-7]
	s.startKeepAlive(c, p.KeepAlive)

	// [v311/MQTT-3.2.2-1] [v311/MQTT-3.2.2-2] [v311/MQTT-3.2.2-3] [v5/MQTT-3.2.2-2] [v5/MQTT-3.2.2-3]
	ack := &packet.Connack{SessionPresent: s.rules.sessionPresent(resumed, p.CleanStart), Properties: s.lastAuthentication(c)}
	if c.five() {
		s.announce(c, p, ack)
	}
	first := len(s.out)
	if s.rules.answersConnect(p) && !s.send(c, ack) {
		s.close(c, failed) // the client takes no CONNACK of that size
		return
	}
	connack := len(s.out)
	s.resume(c.session)
	if s.rules.connackLast && len(s.out) > connack {
		late := append([]Output{}, s.out[connack:]...)
		s.out = append(append(s.out[:first:first], late...), s.out[first:connack]...)
	}
}

// grantedExpiry returns the Session Expiry Interval in force. In MQTT 3.1.1
// Clean Session decides. [v311/MQTT-3.1.2-4] [v311/MQTT-3.1.2-6]
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
func (s *Server) announce(c *conn, p *packet.Connect, ack *packet.Connack) {
	ps := &ack.Properties
	ps.AssignedClientIdentifier = c.assigned // [v5/MQTT-3.1.3-7] [v5/MQTT-3.2.2-16] [v5/3.2.2.3.7-assigned-id-only-for-empty]
	if e := p.Properties.SessionExpiryInterval; e != nil && *e != c.expiry {
		ps.SessionExpiryInterval = &c.expiry // [v5/3.2.2.3.2-session-expiry-override]
	}
	if s.policy.ServerKeepAlive > 0 {
		seconds := uint16(s.policy.ServerKeepAlive)
		ps.ServerKeepAlive = &seconds // [v5/MQTT-3.2.2-21]
	}
	if n := s.policy.ReceiveMaximum; n < 65535 || s.policy.Announce == "all" {
		most := uint16(n)
		ps.ReceiveMaximum = &most
	}
	if n := s.policy.TopicAliasMaximum; n > 0 || s.policy.Announce == "all" {
		most := uint16(n)
		ps.TopicAliasMaximum = &most
	}
	size := uint32(s.policy.MaximumPacketSize)
	if size == 0 {
		size = maxPacketSize
	}
	ps.MaximumPacketSize = &size
	if q := byte(s.policy.MaximumQoS); q < 2 {
		ps.MaximumQoS = &q // [v5/MQTT-3.2.2-9] [v5/3.2.2.3.4-maximum-qos-value]
	}
	no := func(available bool) *byte {
		if available && s.policy.Announce == "all" {
			yes := byte(1)
			return &yes
		}
		if available {
			return nil // absent means that it is available [v5/3.2.2.3.5-retain-available-default]
		}
		return new(byte)
	}
	ps.RetainAvailable = no(s.policy.Retain)
	ps.WildcardSubscriptionAvailable = no(s.policy.Wildcards)
	ps.SubscriptionIdentifierAvailable = no(s.policy.SubscriptionIdentifiers)
	ps.SharedSubscriptionAvailable = no(s.policy.Shared)
	// [v5/MQTT-3.1.2-28] [v5/3.1.2.11.6-request-response-information-one]
	asked := p.Properties.RequestResponseInformation != nil && *p.Properties.RequestResponseInformation == 1
	if s.policy.ResponseInformation != "" && s.rules.givesResponseInformation(asked) {
		ps.ResponseInformation = &s.policy.ResponseInformation
	}
	s.rules.announced(ps)
}
