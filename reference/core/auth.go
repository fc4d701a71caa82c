package core

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// challengeMethod is the one Authentication Method that the server knows: the
// server sends random bytes, and the client answers with their HMAC-SHA-256
// under the password of the user "mqttcheck".
const challengeMethod = "mqttcheck-hmac"

// startAuthentication begins an enhanced authentication. [v5/MQTT-4.12.0-1] [v5/MQTT-4.12.0-2]
func (s *Server) startAuthentication(c *conn, _ *packet.Connect) {
	if c.method != challengeMethod || s.policy.AuthSecret == "" {
		s.refuse(c, refusal{5, packet.BadAuthenticationMethod, "the Authentication Method is not supported"})
		return
	}
	c.state = authenticating
	s.sendChallenge(c)
}

// sendChallenge asks the client to go on. [v5/MQTT-4.12.0-2] [v5/MQTT-4.12.0-5]
func (s *Server) sendChallenge(c *conn) {
	c.challenge = append([]byte{}, c.entropy[:]...)
	// The next challenge must differ: it is derived from this one.
	next := sha256.Sum256(c.entropy[:])
	copy(c.entropy[:], next[:])
	s.send(c, &packet.Auth{Code: packet.ContinueAuthentication, Properties: packet.Properties{
		AuthenticationMethod: s.rules.authMethod(&c.method), AuthenticationData: c.challenge,
	}})
}

// solved tells whether the client's data answers the challenge.
func (s *Server) solved(c *conn, p *packet.Auth) bool {
	mac := hmac.New(sha256.New, []byte(s.policy.AuthSecret))
	mac.Write(c.challenge)
	return c.challenge != nil && hmac.Equal(mac.Sum(nil), p.Properties.AuthenticationData)
}

// sameMethod tells whether an AUTH names the method of the CONNECT.
// [v5/MQTT-4.12.0-3] [v5/MQTT-4.12.0-5] [v5/MQTT-4.12.1-1]
func sameMethod(c *conn, p *packet.Auth) bool {
	m := p.Properties.AuthenticationMethod
	return m != nil && *m == c.method
}

// duringAuthentication takes the packets between CONNECT and CONNACK: only
// AUTH and DISCONNECT may come. [v5/MQTT-3.1.2-30]
func (s *Server) duringAuthentication(c *conn, p packet.Packet) {
	switch p := p.(type) {
	case *packet.Auth:
		switch {
		case p.Code != packet.ContinueAuthentication, !sameMethod(c, p):
			s.refuse(c, refusal{5, packet.ProtocolError, "AUTH does not continue the exchange"})
		case !s.solved(c, p):
			s.refuse(c, refusal{5, packet.NotAuthorized, "the challenge was not met"}) // [v5/MQTT-4.12.0-4]
		default:
			c.challenge = nil
			var assigned *string
			if c.connect.ClientID == "" {
				assigned = &c.connect.ClientID
			}
			s.accept(c, c.connect, assigned, packet.Properties{})
		}
	case *packet.Disconnect:
		s.close(c, disconnected)
	default:
		s.close(c, failed)
	}
}

// reauthenticate carries out AUTH on an accepted connection.
// [v5/MQTT-4.12.1-1] [v5/MQTT-4.12.1-2] [v5/MQTT-4.12.0-6] [v5/MQTT-4.12.0-7]
func (s *Server) reauthenticate(c *conn, p *packet.Auth) {
	switch {
	case c.method == "" || !sameMethod(c, p):
		s.fail(c, packet.ProtocolError, "AUTH does not fit the method of the CONNECT")
	case p.Code == packet.ReAuthenticate:
		s.sendChallenge(c)
	case p.Code == packet.ContinueAuthentication && s.solved(c, p):
		c.challenge = nil
		s.send(c, &packet.Auth{Code: packet.Success, Properties: packet.Properties{AuthenticationMethod: &c.method}})
	default:
		s.fail(c, packet.NotAuthorized, "the re-authentication failed")
	}
}
