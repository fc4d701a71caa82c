package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// connectDefects are the faults in sections 3.1 and 3.2.
var connectDefects = []Defect{
	{"before-connect-ignored", []string{"v311/MQTT-3.1.0-1", "v5/MQTT-3.1.0-1"}, "Packets before CONNECT are ignored.", Warn,
		func(r *rules) { r.ignoresBeforeConnect = true }},
	{"second-connect-accepted", []string{"v311/MQTT-3.1.0-2", "v5/MQTT-3.1.0-2", "v5/MQTT-3.2.0-2"}, "A second CONNECT is answered with CONNACK 0.", Run,
		func(r *rules) { r.servesSecondConnect = true }},
	{"any-protocol-name", []string{"v311/MQTT-3.1.2-1", "v5/MQTT-3.1.2-1"}, "The protocol name is not looked at.", Run,
		tolerate(packet.RuleProtocolName)},
	{"any-protocol-level", []string{"v311/MQTT-3.1.2-2"}, "The protocol level is not looked at.", Run,
		tolerate(packet.RuleProtocolLevel)},
	{"connect-reserved-flag-ignored", []string{"v311/MQTT-3.1.2-3", "v5/MQTT-3.1.2-3"}, "The reserved bit of the Connect Flags is not looked at.", Run,
		tolerate(packet.RuleConnectReserved)},
	{"will-qos-without-will", []string{"v311/MQTT-3.1.2-13", "v5/MQTT-3.1.2-11"}, "Will QoS is taken without the Will Flag.", Run,
		tolerate(packet.RuleWillQoSNoWill)},
	{"will-retain-without-will", []string{"v311/MQTT-3.1.2-15", "v5/MQTT-3.1.2-13"}, "Will Retain is taken without the Will Flag.", Run,
		tolerate(packet.RuleWillRetainNoWill)},
	{"will-qos-3-accepted", []string{"v311/MQTT-3.1.2-14", "v5/MQTT-3.1.2-12"}, "Will QoS 3 is taken as 2.", Run,
		tolerate(packet.RuleWillQoS3)},
	{"password-without-user-name", []string{"v311/MQTT-3.1.2-22"}, "A password without a user name is taken in MQTT 3.1.1.", Run,
		tolerate(packet.RulePasswordAlone)},
	{"short-connect-accepted", []string{
		"v311/MQTT-3.1.4-1", "v311/MQTT-3.1.2-19", "v311/MQTT-3.1.2-21", "v311/MQTT-3.1.2-9", "v311/MQTT-3.1.3-3",
		"v5/MQTT-3.1.2-17", "v5/MQTT-3.1.2-19", "v5/MQTT-3.1.2-9", "v5/MQTT-3.1.3-3", "v5/MQTT-3.1.4-1",
	}, "A CONNECT that ends before its fields do is taken.", Run,
		func(r *rules) { r.tolerated[packet.RuleShortConnect] = true }},
	{"surplus-connect-accepted", []string{"v311/MQTT-3.1.4-1", "v311/MQTT-3.1.2-11", "v311/MQTT-3.1.2-18", "v311/MQTT-3.1.2-20",
		"v5/MQTT-3.1.4-1", "v5/MQTT-3.1.2-16", "v5/MQTT-3.1.2-18"}, "Bytes behind the last field of CONNECT are ignored.", Run,
		tolerate(packet.RuleSurplusConnect)},
	{"surplus-user-name-accepted", []string{"v311/MQTT-3.1.2-18", "v311/MQTT-3.1.2-11", "v5/MQTT-3.1.2-16"}, "A User Name is ignored where the User Name Flag is 0.", Run,
		tolerate(packet.RuleSurplusUsername)},
	{"surplus-password-accepted", []string{"v311/MQTT-3.1.2-20", "v5/MQTT-3.1.2-18"}, "A password is ignored where the Password Flag is 0.", Run,
		tolerate(packet.RuleSurplusPassword)},
	{"missing-user-name-accepted", []string{"v311/MQTT-3.1.2-19", "v5/MQTT-3.1.2-17"}, "The User Name may be missing where its flag is 1.", Run,
		tolerate(packet.RuleNoUsername)},
	{"missing-password-accepted", []string{"v311/MQTT-3.1.2-21", "v5/MQTT-3.1.2-19"}, "The password may be missing where its flag is 1.", Run,
		tolerate(packet.RuleNoPassword)},
	{"missing-will-accepted", []string{"v311/MQTT-3.1.2-9", "v5/MQTT-3.1.2-9"}, "The will may be missing where its flag is 1.", Run,
		tolerate(packet.RuleNoWillFields)},
	{"missing-client-id-accepted", []string{"v311/MQTT-3.1.3-3", "v5/MQTT-3.1.3-3"}, "A CONNECT without a payload is taken.", Run,
		tolerate(packet.RuleNoClientID)},
	{"broken-connect-answered", []string{"v311/MQTT-3.1.4-1"}, "A CONNECT with bytes behind its last field gets a CONNACK in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.answersBrokenConnect = func(broken packet.Rule) bool { return broken == packet.RuleSurplusConnect }
		}},
	{"client-id-utf8-unchecked", []string{"v311/MQTT-3.1.3-4", "v5/MQTT-3.1.3-4"}, "An ill-formed Client Identifier is taken.", Run,
		tolerate(packet.RuleClientIDUTF8)},
	{"client-id-nul-accepted", []string{"v311/MQTT-3.1.3-4", "v5/MQTT-3.1.3-4"}, "U+0000 in a Client Identifier is taken.", Run,
		tolerate(packet.RuleClientIDNUL)},
	{"will-topic-utf8-unchecked", []string{"v311/MQTT-3.1.3-10", "v5/MQTT-3.1.3-11"}, "An ill-formed Will Topic is taken.", Run,
		tolerate(packet.RuleWillTopicUTF8)},
	{"will-topic-nul-accepted", []string{"v311/MQTT-3.1.3-10", "v5/MQTT-3.1.3-11"}, "U+0000 in a Will Topic is taken.", Run,
		tolerate(packet.RuleWillTopicNUL)},
	{"user-name-utf8-unchecked", []string{"v311/MQTT-3.1.3-11", "v5/MQTT-3.1.3-12"}, "An ill-formed User Name is taken.", Run,
		tolerate(packet.RuleUsernameUTF8)},
	{"user-name-nul-accepted", []string{"v311/MQTT-3.1.3-11", "v5/MQTT-3.1.3-12"}, "U+0000 in a User Name is taken.", Run,
		tolerate(packet.RuleUsernameNUL)},
	{"empty-id-without-clean-accepted", []string{"v311/MQTT-3.1.3-8", "v311/MQTT-3.1.3-7", "v311/MQTT-3.1.3-9"}, "An empty Client Identifier with Clean Session 0 is taken.", Run,
		func(r *rules) { r.refusesEmptyID = false }},
	{"empty-id-code-1", []string{"v311/MQTT-3.1.3-8", "v311/MQTT-3.1.3-9"}, "A Client Identifier is refused with code 1.", Run,
		func(r *rules) {
			r.refusalCode = func(_ *conn, code packet.ReasonCode) packet.ReasonCode {
				if code == 2 {
					return 1
				}
				return code
			}
		}},
	{"assigned-ids-alike", []string{"v311/MQTT-3.1.3-6", "v5/MQTT-3.1.3-6", "v5/MQTT-3.2.2-16"}, "Every client without a Client Identifier gets the same one.", Run,
		func(r *rules) { r.assignedID, r.assignsUnique = func(string) string { return "anonymous" }, false }},
	{"short-ids-refused", []string{"v311/MQTT-3.1.3-5", "v5/MQTT-3.1.3-5"}, "A Client Identifier of one byte is refused.", Run,
		func(r *rules) { r.takesClientID = func(id string) bool { return len(id) > 1 } }},
	{"long-ids-refused", []string{"v311/MQTT-3.1.3-5", "v5/MQTT-3.1.3-5"}, "A Client Identifier of 23 bytes is refused.", Run,
		func(r *rules) { r.takesClientID = func(id string) bool { return len(id) != 23 } }},
	{"refusal-with-session-present", []string{"v311/MQTT-3.2.2-4", "v311/MQTT-3.1.2-2", "v5/MQTT-3.2.2-6", "v5/MQTT-3.1.2-2"}, "A CONNACK that refuses has Session Present 1.", Run,
		func(r *rules) { r.presentOnRefusal = true }},
	{"refusal-code-9", []string{"v311/MQTT-3.2.2-6", "v311/MQTT-3.1.3-8", "v311/MQTT-3.1.3-9", "v311/3.2.2.3-code-4"}, "A CONNECT is refused with the reserved code 9.", Run,
		func(r *rules) {
			r.refusalCode = func(c *conn, code packet.ReasonCode) packet.ReasonCode {
				if c.five() || code == 1 {
					return code
				}
				return 9
			}
		}},
	{"refusal-unanswered", []string{"v311/MQTT-3.1.3-8", "v311/MQTT-3.1.3-9", "v311/3.1.4-checks-fail-connack"}, "A CONNECT that is refused gets no CONNACK.", Run,
		func(r *rules) { r.answersRefusal = func(*conn, refusal) bool { return false } }},
	{"refusal-stays-open", []string{
		"v311/MQTT-3.2.2-5", "v311/3.1.4-checks-fail-close", "v311/MQTT-3.1.4-5", "v311/MQTT-3.1.3-8", "v311/MQTT-3.1.2-2", "v311/MQTT-3.1.3-7",
		"v311/MQTT-3.1.3-9", "v5/MQTT-3.1.2-2", "v5/MQTT-3.1.4-6", "v5/MQTT-3.1.4-2", "v5/MQTT-3.2.2-7", "v5/MQTT-4.12.0-1", "v5/MQTT-4.12.0-4",
		"v5/MQTT-4.12.0-5", "v5/4.12.1-reauthentication-before-connack",
	}, "A connection is served after CONNACK has refused it.", Run,
		func(r *rules) { r.afterRefusal = func(s *Server, c *conn) { s.adopt(c) } }},
	{"session-present-never", []string{"v311/MQTT-3.2.2-2", "v311/3.1.2.4-session-without-content", "v5/MQTT-3.2.2-3"}, "Session Present is 0 for a Session that is resumed.", Run,
		func(r *rules) { r.sessionPresent = func(_, _ bool) bool { return false } }},
	{"session-present-always", []string{"v311/MQTT-3.2.2-1", "v311/MQTT-3.2.2-3", "v5/MQTT-3.2.2-2", "v5/MQTT-3.2.2-3"}, "Session Present is 1 for every client.", Run,
		func(r *rules) { r.sessionPresent = func(_, _ bool) bool { return true } }},
	{"session-present-persistent", []string{"v311/MQTT-3.2.2-3", "v5/MQTT-3.2.2-3"}, "Session Present is 1 for every client that asks for a stored Session.", Run,
		func(r *rules) { r.sessionPresent = func(resumed, clean bool) bool { return resumed || !clean } }},
	{"connack-last", []string{"v311/MQTT-3.2.0-1", "v5/MQTT-3.2.0-1"}, "What is queued for a client is sent ahead of CONNACK.", Run,
		func(r *rules) { r.connackLast = true }},
	{"keep-alive-ignored", []string{"v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22", "v5/MQTT-3.2.2-22"}, "A silent client stays connected.", Run,
		func(r *rules) { r.silence = func(uint16) float64 { return 0 } }},
	{"keep-alive-half", []string{"v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22"}, "A client is disconnected after half its Keep Alive.", Run,
		func(r *rules) { r.silence = func(keepAlive uint16) float64 { return 0.5 * float64(keepAlive) } }},
	{"anybody-let-in", []string{"v311/3.1.4-checks-fail-close", "v5/MQTT-3.1.4-2"}, "A wrong password is let in.", Hook,
		func(r *rules) { r.letsEverybodyIn = true }},
	{"payload-order", []string{"v311/MQTT-3.1.3-1", "v5/MQTT-3.1.3-1"}, "Will Payload and User Name are taken from each other's place.", Run,
		func(r *rules) {
			r.connect = func(p *packet.Connect) *packet.Connect {
				if p.Will != nil && p.Username != nil {
					payload := string(p.Will.Payload)
					p.Will.Payload, *p.Username = []byte(*p.Username), payload
				}
				return p
			}
		}},
	{"connack-missing", []string{"v311/MQTT-3.1.4-4", "v5/MQTT-3.1.4-5"}, "An accepted CONNECT whose will has no payload is not answered.", Run,
		func(r *rules) {
			r.answersConnect = func(p *packet.Connect) bool { return p.Will == nil || len(p.Will.Payload) > 0 }
		}},
	{"acts-after-refusal", []string{"v311/MQTT-3.1.4-5", "v5/MQTT-3.1.4-6"}, "Packets behind a refused CONNECT are carried out before the connection is closed.", Run,
		func(r *rules) {
			r.afterRefusal = func(s *Server, c *conn) {
				rest := c.buf
				c.buf = nil
				s.adopt(c)
				for {
					first, body, size, err := packet.SplitFrame(rest, c.wireVersion(), s.tolerate)
					if err != nil || size == 0 {
						break
					}
					rest = rest[size:]
					d := packet.Decoder{Version: c.wireVersion()}
					if p, err := d.Decode(first, body); err == nil && p.Type() != packet.CONNECT {
						s.carryOut(c, p)
					}
				}
				s.close(c, failed)
			}
		}},
	{"refused-left-open", []string{
		"v311/MQTT-3.2.2-5", "v311/3.1.4-checks-fail-close", "v311/MQTT-3.1.2-2", "v311/MQTT-3.1.3-7", "v311/MQTT-3.1.3-8", "v311/MQTT-3.1.3-9",
		"v5/MQTT-3.1.2-2", "v5/MQTT-3.1.4-2", "v5/MQTT-3.2.2-7", "v5/MQTT-4.12.0-1", "v5/MQTT-4.12.0-4", "v5/MQTT-4.12.0-5",
		"v5/4.12.1-reauthentication-before-connack",
	}, "After a refusing CONNACK the connection stays open, and nothing on it is read.", Run,
		func(r *rules) {
			r.afterRefusal = func(s *Server, c *conn) {
				c.state = refused
				s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
			}
		}},
	{"pipelining-lost", []string{"v311/3.1.4-pipelining", "v5/3.1.4-pipelining"}, "What comes together with CONNECT is thrown away.", Run,
		func(r *rules) { r.attached = func(_ *Server, se *session, _ bool) { se.conn.buf = nil } }},
	{"connack-at-the-end", []string{"v5/MQTT-3.2.0-2"}, "DISCONNECT is answered with a second CONNACK.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if _, ok := p.(*packet.Disconnect); ok {
					s.send(c, &packet.Connack{})
				}
				return p
			}
		}},
	{"client-id-surrogate-accepted", []string{"v311/MQTT-3.1.3-4", "v5/MQTT-3.1.3-4"}, "A surrogate in a Client Identifier is taken.", Run,
		tolerate(packet.RuleClientIDSurrogate)},
	{"user-name-surrogate-accepted", []string{"v311/MQTT-3.1.3-11", "v5/MQTT-3.1.3-12"}, "A surrogate in a User Name is taken.", Run,
		tolerate(packet.RuleUsernameSurrogate)},
	{"will-topic-surrogate-accepted", []string{"v311/MQTT-3.1.3-10", "v5/MQTT-3.1.3-11"}, "A surrogate in a Will Topic is taken.", Run,
		tolerate(packet.RuleWillTopicSurrogate)},
}
