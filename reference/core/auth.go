package core

import (
	"crypto/hmac"
	"crypto/sha256"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// The Authentication Methods that the server knows.
const (
	// challengeMethod: the server sends random bytes, and the client answers
	// with their HMAC-SHA-256 under a shared secret, the policy auth-secret.
	// The last packet of the exchange has the text "welcome" as its data.
	challengeMethod = "mqttcheck-hmac"
	// scramMethod is that of RFC 7677, for the users of the server.
	scramMethod = "SCRAM-SHA-256"
)

// exchange is the server's part of an enhanced authentication.
type exchange interface {
	// step takes the client's data, nil for none, and returns the server's. It
	// is done once the client has proved who it is; ok is false when the client
	// has failed to.
	step(data []byte) (reply []byte, done, ok bool)
	// user is who the client has proved to be, nil for nobody in particular.
	user() *User
}

// authenticate checks user name and password, where there are users.
// [v5/3.1.4-authenticate] [v5/4.12-basic-authentication] [v5/3.1.2.9-password-without-user-name]
func (s *Server) authenticate(c *conn, p *packet.Connect) (refusal, bool) {
	if s.cfg.Users == nil || c.method != "" {
		return refusal{}, true
	}
	if p.Username == nil {
		return notAuthorized, s.rules.letsEverybodyIn
	}
	if u := s.userNamed(*p.Username); u != nil && hmac.Equal([]byte(u.Password), p.Password) {
		c.user = u
		return refusal{}, true
	}
	return badCredentials, s.rules.letsEverybodyIn
}

// newExchange returns the beginning of an exchange under the method of the
// connection, nil where the server does not know it. [v5/4.12-optional]
func (s *Server) newExchange(c *conn) exchange {
	switch {
	case c.method == challengeMethod && s.policy.AuthSecret != "":
		return &challengeExchange{secret: s.policy.AuthSecret, challenge: c.random()}
	case c.method == scramMethod && s.cfg.Users != nil:
		return s.newScram(c)
	}
	return nil
}

// random returns 16 bytes that nobody can foresee. Each is made of the one
// before it.
func (c *conn) random() []byte {
	next := sha256.Sum256(c.entropy[:])
	copy(c.entropy[:], next[:16])
	return next[16:]
}

// startAuthentication begins an enhanced authentication. [v5/MQTT-4.12.0-1]
func (s *Server) startAuthentication(c *conn) {
	c.exchange = s.newExchange(c)
	switch {
	case c.exchange == nil && s.rules.refusesUnknownMethod:
		s.refuse(c, refusal{5, packet.BadAuthenticationMethod, "the Authentication Method is not supported"})
	case c.exchange == nil:
		s.accept(c, c.connect)
	default:
		c.state = authenticating
		s.goOn(c, c.connect.Properties.AuthenticationData)
	}
}

// goOn carries an exchange on with the client's data: it ends with CONNACK, or
// with AUTH 0x00 where it is a re-authentication, or it needs more.
func (s *Server) goOn(c *conn, data []byte) {
	reply, done, ok := c.exchange.step(data)
	if !ok && s.rules.believesFailure(c) {
		done, ok = true, true
	}
	if ok && c.state == established && done && c.user != c.exchange.user() {
		ok = false // the scope of a re-authentication is limited to the user
	}
	switch {
	case ok && !done:
		s.sendAuth(c, s.rules.challengeCode(c), reply)
	case c.state == authenticating && ok:
		c.user, c.proof = c.exchange.user(), reply
		c.exchange = nil
		s.accept(c, c.connect)
	case c.state == authenticating:
		s.refuse(c, refusal{5, packet.NotAuthorized, "the authentication failed"}) // [v5/MQTT-4.12.0-4]
	case ok:
		c.exchange = nil
		s.sendAuth(c, packet.Success, reply)
	case s.rules.endsFailedReauthentication:
		s.fail(c, packet.NotAuthorized, "the re-authentication failed") // [v5/MQTT-4.12.1-2]
	default:
		c.exchange = nil
	}
}

// sendAuth sends the server's data. To go on is asked for by the code 0x18.
// [v5/MQTT-4.12.0-2] [v5/MQTT-4.12.0-5] [v5/MQTT-3.15.2-1]
func (s *Server) sendAuth(c *conn, code packet.ReasonCode, data []byte) {
	s.send(c, &packet.Auth{Code: code, Properties: packet.Properties{AuthenticationMethod: s.rules.authMethod(&c.method), AuthenticationData: data}})
}

// lastAuthentication returns what CONNACK says of the exchange.
func (s *Server) lastAuthentication(c *conn) packet.Properties {
	if c.method == "" {
		return packet.Properties{} // [v5/MQTT-4.12.0-6] [v5/3.1.2.11.9-no-method-no-extended-authentication]
	}
	return packet.Properties{AuthenticationMethod: s.rules.connackMethod(&c.method), AuthenticationData: c.proof} // [v5/MQTT-4.12.0-5]
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
		// [v5/4.12.1-reauthentication-before-connack] [v5/3.15.2.1-auth-success-from-client]
		if !s.rules.continues(p.Code) || !s.rules.fitsMethod(c, p) {
			s.refuse(c, refusal{5, packet.ProtocolError, "AUTH does not continue the exchange"})
			return
		}
		s.goOn(c, p.Properties.AuthenticationData)
	case *packet.Disconnect:
		if s.rules.mayLeave {
			s.close(c, disconnected)
		}
	default:
		s.close(c, failed)
	}
}

// reauthenticate carries out AUTH on an accepted connection; other packets go
// on meanwhile, and a new beginning takes the place of an exchange that has
// begun. [v5/MQTT-4.12.1-1] [v5/MQTT-4.12.0-6] [v5/MQTT-4.12.0-7]
// [v5/4.12.1-reauthentication] [v5/4.12.1-traffic-goes-on]
func (s *Server) reauthenticate(c *conn, p *packet.Auth) {
	if !s.rules.fitsMethod(c, p) {
		s.fail(c, packet.ProtocolError, "AUTH does not fit the method of the CONNECT")
		return
	}
	if p.Code == packet.ReAuthenticate {
		c.exchange = s.newExchange(c)
	} else if !s.rules.continues(p.Code) {
		c.exchange = nil
	}
	if c.exchange == nil {
		s.fail(c, packet.ProtocolError, "AUTH continues no exchange") // [v5/3.15.2.1-auth-success-from-client]
		return
	}
	s.goOn(c, p.Properties.AuthenticationData)
}

// challengeExchange is an exchange under challengeMethod.
type challengeExchange struct {
	secret    string
	challenge []byte
	asked     bool
}

func (x *challengeExchange) step(data []byte) (reply []byte, done, ok bool) {
	if !x.asked {
		x.asked = true
		return x.challenge, false, true
	}
	mac := hmac.New(sha256.New, []byte(x.secret))
	mac.Write(x.challenge)
	ok = hmac.Equal(mac.Sum(nil), data)
	return []byte("welcome"), ok, ok
}

func (*challengeExchange) user() *User { return nil }
