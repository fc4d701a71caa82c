package core

import (
	"encoding/binary"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// authDefects are the faults in enhanced authentication, sections 3.15 and
// 4.12.
var authDefects = []Defect{
	{"unknown-method-let-in", []string{"v5/MQTT-4.12.0-1"}, "A client that names an unknown Authentication Method is let in without authentication.", Run,
		func(r *rules) { r.refusesUnknownMethod = false }},
	{"unknown-method-stays-open", []string{"v5/MQTT-4.12.0-1"}, "The connection stays open when CONNACK has refused the Authentication Method.", Run,
		func(r *rules) {
			r.afterRefusal = closesUnless(func(c *conn) bool { return c.state == fresh && c.method != "" })
		}},
	{"unknown-method-busy", []string{"v5/MQTT-4.12.0-1"}, "An unknown Authentication Method is refused with the code Server busy.", Warn,
		func(r *rules) {
			r.refusalCode = func(_ *conn, code packet.ReasonCode) packet.ReasonCode {
				if code == packet.BadAuthenticationMethod {
					return packet.ServerBusy
				}
				return code
			}
		}},
	{"auth-code-zero", []string{"v5/MQTT-4.12.0-2"}, "AUTH that asks for more before CONNACK has the code 0x00.", Hook,
		func(r *rules) {
			r.challengeCode = func(c *conn) packet.ReasonCode {
				if c.state == authenticating {
					return packet.Success
				}
				return packet.ContinueAuthentication
			}
		}},
	{"auth-code-reauthenticate", []string{"v5/MQTT-3.15.2-1"}, "AUTH that asks for more in a re-authentication has the code 0x19.", Hook,
		func(r *rules) {
			r.challengeCode = func(c *conn) packet.ReasonCode {
				if c.state == established {
					return packet.ReAuthenticate
				}
				return packet.ContinueAuthentication
			}
		}},
	{"auth-failure-believed", []string{"v5/MQTT-4.12.0-4"}, "A client that cannot prove who it is is let in.", Hook,
		func(r *rules) { r.believesFailure = func(c *conn) bool { return c.state == authenticating } }},
	{"auth-refusal-stays-open", []string{"v5/MQTT-4.12.0-4"}, "The connection stays open when CONNACK has rejected the authentication.", Hook,
		func(r *rules) {
			failed := map[*conn]bool{}
			r.refusalCode = func(c *conn, code packet.ReasonCode) packet.ReasonCode {
				failed[c] = c.state == authenticating && code == packet.NotAuthorized
				return code
			}
			r.afterRefusal = closesUnless(func(c *conn) bool { return failed[c] })
		}},
	{"connack-without-method", []string{"v5/MQTT-4.12.0-5"}, "CONNACK does not name the Authentication Method.", Hook,
		func(r *rules) { r.connackMethod = func(*string) *string { return nil } }},
	{"auth-method-lower-case", []string{"v5/MQTT-4.12.0-5"}, "AUTH has the name of the Authentication Method in lower case.", Hook,
		func(r *rules) {
			r.authMethod = func(method *string) *string {
				lower := strings.ToLower(*method)
				return &lower
			}
		}},
	{"auth-other-method-taken", []string{"v5/MQTT-4.12.0-5"}, "AUTH before CONNACK may name any Authentication Method.", Warn,
		func(r *rules) {
			r.fitsMethod = func(c *conn, p *packet.Auth) bool {
				return sameMethod(c, p) || c.state == authenticating && p.Properties.AuthenticationMethod != nil
			}
		}},
	{"method-sent-unasked", []string{"v5/MQTT-4.12.0-6"}, "CONNACK names an Authentication Method that the client did not ask for.", Run,
		func(r *rules) {
			r.announced = func(ps *packet.Properties) {
				if ps.AuthenticationMethod == nil {
					name := challengeMethod
					ps.AuthenticationMethod = &name
				}
			}
		}},
	{"auth-sent-unasked", []string{"v5/MQTT-4.12.0-6"}, "A server with a method sends AUTH ahead of the CONNACK of a client that named none.", Hook,
		func(r *rules) {
			r.outgoing = func(s *Server, c *conn, p packet.Packet) []packet.Packet {
				ack, ok := p.(*packet.Connack)
				if !ok || ack.Code != packet.Success && ack.Code != packet.NotAuthorized || !c.five() || c.method != "" || s.policy.AuthSecret == "" {
					return []packet.Packet{p}
				}
				name := challengeMethod
				return []packet.Packet{&packet.Auth{Code: packet.ContinueAuthentication, Properties: packet.Properties{AuthenticationMethod: &name}}, p}
			}
		}},
	{"auth-unasked-ignored", []string{"v5/MQTT-4.12.0-7"}, "AUTH from a client that named no Authentication Method is ignored.", Warn,
		ignores(func(c *conn, p *packet.Auth) bool { return c.method == "" })},
	{"auth-left-unheard", []string{"v5/4.12-client-may-leave"}, "DISCONNECT during the authentication is ignored.", Warn,
		func(r *rules) { r.mayLeave = false }},
	{"reauth-unanswered", []string{"v5/4.12.1-reauthentication"}, "AUTH 0x19 is not answered.", Hook,
		ignores(func(c *conn, p *packet.Auth) bool {
			return c.state == established && c.method != "" && p.Code == packet.ReAuthenticate
		})},
	{"reauth-blocks-traffic", []string{"v5/4.12.1-traffic-goes-on"}, "Other packets are dropped during a re-authentication.", Hook,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if c.state == established && c.exchange != nil && p.Type() != packet.AUTH {
					return nil
				}
				return p
			}
		}},
	{"reauth-failure-survived", []string{"v5/MQTT-4.12.1-2"}, "A re-authentication that fails leaves the connection open.", Hook,
		func(r *rules) { r.endsFailedReauthentication = false }},
	{"reauth-other-method-taken", []string{"v5/MQTT-4.12.1-1"}, "A re-authentication may name any Authentication Method.", Warn,
		func(r *rules) {
			r.fitsMethod = func(c *conn, p *packet.Auth) bool {
				return sameMethod(c, p) || c.state == established && c.method != ""
			}
		}},
	{"reauth-early", []string{"v5/4.12.1-reauthentication-before-connack"}, "AUTH 0x19 before CONNACK continues the authentication.", Warn,
		continuesWith(func(code packet.ReasonCode) bool { return code == packet.ReAuthenticate })},

	{"auth-flags-ignored", []string{"v5/MQTT-3.15.1-1"}, "The flag bits of AUTH are not looked at.", Hook,
		tolerate(packet.RuleAuthFlags)},
	{"auth-with-flags-skipped", []string{"v5/MQTT-3.15.1-1"}, "AUTH with flag bits is skipped.", Run,
		func(r *rules) {
			r.skips = func(_ *Server, _ *conn, first byte, _ []byte) bool {
				return packet.Type(first>>4) == packet.AUTH && first&15 != 0
			}
		}},
	{"auth-code-undefined-taken", []string{"v5/MQTT-3.15.2-1"}, "AUTH with an undefined code continues the authentication.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleAuthCode] = true
			continuesWith(func(code packet.ReasonCode) bool { return code != packet.Success && code != packet.ReAuthenticate })(r)
		}},
	{"auth-success-taken", []string{"v5/3.15.2.1-auth-success-from-client"}, "AUTH 0x00 of a client continues the authentication.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleAuthCodeFromClient] = true
			continuesWith(func(code packet.ReasonCode) bool { return code == packet.Success })(r)
		}},
	{"auth-empty-ignored", []string{"v5/3.15.2.1-short-form"}, "AUTH of Remaining Length 0 is ignored.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleAuthCodeFromClient] = true
			r.tolerated[packet.RuleAuthMethod] = true
			ignores(func(_ *conn, p *packet.Auth) bool {
				return p.Code == packet.Success && p.Properties.AuthenticationMethod == nil
			})(r)
		}},
	{"auth-method-optional", []string{"v5/3.15.2.2.2-auth-method-missing"}, "AUTH may leave the Authentication Method out.", Warn,
		func(r *rules) {
			r.tolerated[packet.RuleAuthMethod] = true
			r.fitsMethod = func(c *conn, p *packet.Auth) bool {
				return sameMethod(c, p) || c.method != "" && p.Properties.AuthenticationMethod == nil
			}
		}},
	{"auth-method-twice-taken", []string{"v5/3.15.2.2.2-auth-authentication-method-twice"}, "The Authentication Method may stand twice in AUTH.", Warn,
		tolerate(packet.RuleAuthAuthenticationMethodTwice)},
	{"auth-data-twice-taken", []string{"v5/3.15.2.2.3-auth-authentication-data-twice"}, "The Authentication Data may stand twice in AUTH.", Warn,
		tolerate(packet.RuleAuthAuthenticationDataTwice)},
	{"auth-reason-twice-taken", []string{"v5/3.15.2.2.4-auth-reason-string-twice"}, "The Reason String may stand twice in AUTH.", Warn,
		tolerate(packet.RuleAuthReasonStringTwice)},
	{"auth-method-twice", []string{"v5/3.15.2.2.2-auth-authentication-method-twice"}, "AUTH has the Authentication Method twice.", Hook,
		addsToAuth(func(c *conn, _ *packet.Auth, b []byte) []byte {
			return withProperty(b, 1, append([]byte{0x15, 0, byte(len(c.method))}, c.method...))
		})},
	{"auth-data-twice", []string{"v5/3.15.2.2.3-auth-authentication-data-twice"}, "AUTH has the Authentication Data twice.", Hook,
		addsToAuth(func(_ *conn, p *packet.Auth, b []byte) []byte {
			if p.Properties.AuthenticationData == nil {
				return b
			}
			return withProperty(b, 1, []byte{0x16, 0, 1, 'x'})
		})},
	{"auth-reason-twice", []string{"v5/3.15.2.2.4-auth-reason-string-twice"}, "AUTH has a second Reason String, where there is room for it.", Hook,
		addsToAuth(func(c *conn, p *packet.Auth, b []byte) []byte {
			if p.Properties.ReasonString == nil || c.maxPacket > 0 {
				return b
			}
			return withProperty(b, 1, []byte{0x1f, 0, 2, 'n', 'o'})
		})},
	{"auth-reason-too-large", []string{"v5/MQTT-3.15.2-2"}, "AUTH has a Reason String, however small the client's Maximum Packet Size is.", Hook,
		func(r *rules) {
			r.trimsReason = func(kind packet.Type) bool { return kind != packet.AUTH }
			r.honoursPacketSize = func(p packet.Packet) bool { return p.Type() != packet.AUTH }
		}},
	{"auth-user-property-too-large", []string{"v5/MQTT-3.15.2-3"}, "AUTH has a User Property, however small the client's Maximum Packet Size is.", Hook,
		func(r *rules) {
			r.trimsUserProperties = func(kind packet.Type) bool { return kind != packet.AUTH }
			r.honoursPacketSize = func(p packet.Packet) bool { return p.Type() != packet.AUTH }
		}},
	{"connect-method-twice-taken", []string{"v5/3.1.2.11.9-connect-authentication-method-twice"}, "The Authentication Method may stand twice in CONNECT.", Warn,
		tolerate(packet.RuleConnectAuthenticationMethodTwice)},
	{"connect-data-twice-taken", []string{"v5/3.1.2.11.10-connect-authentication-data-twice"}, "The Authentication Data may stand twice in CONNECT.", Warn,
		tolerate(packet.RuleConnectAuthenticationDataTwice)},
	{"connect-data-alone-taken", []string{"v5/3.1.2.11.10-data-without-method"}, "CONNECT may have Authentication Data without an Authentication Method.", Warn,
		tolerate(packet.RuleAuthData)},
}

// closesUnless makes the end of a refused connection a matter of a condition.
func closesUnless(open func(c *conn) bool) func(*Server, *conn) {
	return func(s *Server, c *conn) {
		if open(c) {
			c.state = refused
			return
		}
		s.close(c, failed)
	}
}

// ignores makes a defect of dropping some AUTH packets.
func ignores(dropped func(c *conn, p *packet.Auth) bool) func(*rules) {
	return func(r *rules) {
		r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
			if auth, ok := p.(*packet.Auth); ok && dropped(c, auth) {
				return nil
			}
			return p
		}
	}
}

// continuesWith makes a defect of taking other codes for 0x18.
func continuesWith(too func(code packet.ReasonCode) bool) func(*rules) {
	return func(r *rules) {
		r.continues = func(code packet.ReasonCode) bool { return code == packet.ContinueAuthentication || too(code) }
	}
}

// addsToAuth makes a defect of changing the bytes of AUTH packets.
func addsToAuth(change func(c *conn, p *packet.Auth, b []byte) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
			if auth, ok := p.(*packet.Auth); ok {
				return change(c, auth, b)
			}
			return b
		}
	}
}

// withProperty puts the bytes of properties in front of those of a packet of
// MQTT 5.0, whose Property Length stands behind so many bytes of the body. A
// packet that ends before it is left as it is.
func withProperty(b []byte, behind int, properties []byte) []byte {
	first, body, _, err := packet.SplitFrame(b, packet.V5, nil)
	if err != nil || len(body) <= behind {
		return b
	}
	length, used := binary.Uvarint(body[behind:])
	changed := append([]byte{}, body[:behind]...)
	changed = binary.AppendUvarint(changed, length+uint64(len(properties)))
	changed = append(append(changed, properties...), body[behind+used:]...)
	return append(binary.AppendUvarint([]byte{first}, uint64(len(changed))), changed...)
}
