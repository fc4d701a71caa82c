package core

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// challengeMethod is the one Authentication Method that the server knows: the
// server sends random bytes, and the client answers with their HMAC-SHA-256
// under a shared secret, the policy auth-secret. The server's last packet of
// the exchange has the text "welcome" as its Authentication Data.
const challengeMethod = "mqttcheck-hmac"

// authenticate checks user name and password, where there are users.
// [v5/3.1.4-authenticate] [v5/4.12-basic-authentication] [v5/3.1.2.9-password-without-user-name]
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

// startAuthentication begins an enhanced authentication.
// [v5/MQTT-4.12.0-1] [v5/4.12-optional]
func (s *Server) startAuthentication(c *conn) {
	if c.method != challengeMethod || s.policy.AuthSecret == "" {
		s.refuse(c, refusal{5, packet.BadAuthenticationMethod, "the Authentication Method is not supported"})
		return
	}
	c.state = authenticating
	s.sendChallenge(c)
}

// sendChallenge asks the client to go on. [v5/MQTT-4.12.0-2] [v5/MQTT-4.12.0-5] [v5/MQTT-3.15.2-1]
func (s *Server) sendChallenge(c *conn) {
	// No two challenges are the same: the next is derived from this one.
	next := sha256.Sum256(c.entropy[:])
	copy(c.entropy[:], next[:16])
	c.challenge = append([]byte{}, next[16:]...)
	s.send(c, &packet.Auth{Code: s.rules.challengeCode, Properties: packet.Properties{
		AuthenticationMethod: s.rules.authMethod(&c.method), AuthenticationData: c.challenge,
	}})
}

// solved tells whether the client's data answers the challenge, which can be
// answered once.
func (s *Server) solved(c *conn, p *packet.Auth) bool {
	challenge := c.challenge
	c.challenge = nil
	mac := hmac.New(sha256.New, []byte(s.policy.AuthSecret))
	mac.Write(challenge)
	return challenge != nil && hmac.Equal(mac.Sum(nil), p.Properties.AuthenticationData) || s.rules.letsEverybodyIn
}

// sameMethod tells whether an AUTH names the method of the CONNECT.
// [v5/MQTT-4.12.0-5] [v5/MQTT-4.12.1-1] [v5/3.15-auth-without-method]
func sameMethod(c *conn, p *packet.Auth) bool {
	m := p.Properties.AuthenticationMethod
	return c.method != "" && m != nil && *m == c.method
}

// duringAuthentication takes the packets between CONNECT and CONNACK: only
// AUTH and DISCONNECT may come. [v5/MQTT-3.1.2-30] [v5/MQTT-4.12.0-3] [v5/4.12-client-may-leave]
func (s *Server) duringAuthentication(c *conn, p packet.Packet) {
	switch p := p.(type) {
	case *packet.Auth:
		switch {
		case p.Code != packet.ContinueAuthentication, !sameMethod(c, p): // [v5/4.12.1-reauthentication-before-connack]
			s.refuse(c, refusal{5, packet.ProtocolError, "AUTH does not continue the exchange"})
		case !s.solved(c, p):
			s.refuse(c, refusal{5, packet.NotAuthorized, "the challenge was not met"}) // [v5/MQTT-4.12.0-4]
		default:
			s.accept(c, c.connect)
		}
	case *packet.Disconnect:
		s.close(c, disconnected)
	default:
		s.close(c, failed)
	}
}

// lastAuthentication returns what ends an exchange.
func (s *Server) lastAuthentication(c *conn) packet.Properties {
	if c.method == "" {
		return packet.Properties{} // [v5/MQTT-4.12.0-6] [v5/3.1.2.11.9-no-method-no-extended-authentication]
	}
	return packet.Properties{AuthenticationMethod: s.rules.authMethod(&c.method), AuthenticationData: []byte("welcome")}
}

// reauthenticate carries out AUTH on an accepted connection; other packets go
// on meanwhile. [v5/MQTT-4.12.1-1] [v5/MQTT-4.12.1-2] [v5/MQTT-4.12.0-6]
// [v5/MQTT-4.12.0-7] [v5/4.12.1-reauthentication] [v5/4.12.1-traffic-goes-on]
func (s *Server) reauthenticate(c *conn, p *packet.Auth) {
	switch {
	case !sameMethod(c, p):
		s.fail(c, packet.ProtocolError, "AUTH does not fit the method of the CONNECT")
	case p.Code == packet.ReAuthenticate:
		s.sendChallenge(c)
	case p.Code != packet.ContinueAuthentication || c.challenge == nil:
		s.fail(c, packet.ProtocolError, "AUTH continues no exchange") // [v5/3.15.2.1-auth-success-from-client]
	case s.solved(c, p):
		s.send(c, &packet.Auth{Code: packet.Success, Properties: s.lastAuthentication(c)})
	case s.rules.endsFailedReauthentication:
		s.fail(c, packet.NotAuthorized, "the re-authentication failed")
	}
}
