package core

import (
	"unicode/utf8"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// connectPropertyDefects are the faults in sections 3.1.2.9 to 3.1.2.11 and
// 3.1.3.6: Keep Alive, password and the properties of CONNECT.
var connectPropertyDefects = []Defect{
	{"connect-session-expiry-twice-accepted", []string{"v5/3.1.2.11.2-connect-session-expiry-interval-twice"}, "A CONNECT with two Session Expiry Intervals is taken.", Warn,
		tolerate(packet.RuleConnectSessionExpiryIntervalTwice)},
	{"connect-receive-maximum-twice-accepted", []string{"v5/3.1.2.11.3-connect-receive-maximum-twice"}, "A CONNECT with two Receive Maximums is taken.", Warn,
		tolerate(packet.RuleConnectReceiveMaximumTwice)},
	{"connect-packet-size-twice-accepted", []string{"v5/3.1.2.11.4-connect-maximum-packet-size-twice"}, "A CONNECT with two Maximum Packet Sizes is taken.", Warn,
		tolerate(packet.RuleConnectMaximumPacketSizeTwice)},
	{"connect-alias-maximum-twice-accepted", []string{"v5/3.1.2.11.5-connect-topic-alias-maximum-twice"}, "A CONNECT with two Topic Alias Maximums is taken.", Warn,
		tolerate(packet.RuleConnectTopicAliasMaximumTwice)},
	{"connect-response-request-twice-accepted", []string{"v5/3.1.2.11.6-connect-request-response-information-twice"}, "A CONNECT that asks twice for Response Information is taken.", Warn,
		tolerate(packet.RuleConnectRequestResponseInformationTwice)},
	{"connect-problem-request-twice-accepted", []string{"v5/3.1.2.11.7-connect-request-problem-information-twice"}, "A CONNECT that asks twice for problem information is taken.", Warn,
		tolerate(packet.RuleConnectRequestProblemInformationTwice)},
	{"connect-receive-maximum-zero-accepted", []string{"v5/3.1.2.11.3-receive-maximum-zero"}, "A CONNECT with the Receive Maximum 0 is taken.", Warn,
		tolerate(packet.RuleConnectReceiveMaximumZero)},
	{"connect-packet-size-zero-accepted", []string{"v5/3.1.2.11.4-maximum-packet-size-zero"}, "A CONNECT with the Maximum Packet Size 0 is taken.", Warn,
		tolerate(packet.RuleConnectMaximumPacketSizeZero)},
	{"response-request-2-accepted", []string{"v5/3.1.2.11.6-request-response-information-value"}, "The Request Response Information 2 is taken.", Warn,
		tolerate(packet.RuleRequestResponseInformationValue)},
	{"problem-request-2-accepted", []string{"v5/3.1.2.11.7-request-problem-information-value"}, "The Request Problem Information 2 is taken.", Warn,
		tolerate(packet.RuleRequestProblemInformationValue)},
	{"repeated-user-property-refused", []string{"v5/3.1.2.11.8-user-property-repeats"}, "A CONNECT in which the name of a User Property stands twice is refused.", Run,
		func(r *rules) {
			r.refuses = func(_ *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				seen := map[string]bool{}
				for _, u := range p.Properties.UserProperties {
					if seen[u.Name] {
						return refusal{v5: packet.ProtocolError, text: "a User Property stands twice"}, true
					}
					seen[u.Name] = true
				}
				return refusal{}, false
			}
		}},
	{"lone-password-refused", []string{"v5/3.1.2.9-password-without-user-name"}, "A password without a User Name is refused as malformed, as in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.refuses = func(_ *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				return refusal{v5: packet.MalformedPacket, text: "the password has no User Name"}, p.Password != nil && p.Username == nil
			}
		}},
	{"password-is-text", []string{"v5/3.1.3.6-password-binary", "v311/3.1.3.5-password-binary"}, "A password that is no UTF-8 string makes the CONNECT malformed.", Run,
		func(r *rules) {
			malformed := refusal{v5: packet.MalformedPacket, text: "the password is no string"}
			r.refuses = func(_ *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				return malformed, !utf8.Valid(p.Password)
			}
			r.answersRefusal = func(c *conn, why refusal) bool { return c.five() || why != malformed }
		}},
	{"keep-alive-zero-counted", []string{"v5/3.1.2.10-keep-alive-zero"}, "A client with Keep Alive 0 is disconnected after one and a half seconds of silence.", Run,
		func(r *rules) {
			r.silence = func(keepAlive uint16) float64 { return 1.5 * float64(max(keepAlive, 1)) }
		}},
	{"ping-without-keep-alive-unanswered", []string{"v311/3.1.2.10-ping-any-time", "v5/3.1.2.10-ping-any-time"}, "PINGREQ is not answered where the Keep Alive is 0.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if p.Type() == packet.PINGREQ && c.keepAlive == 0 {
					return nil
				}
				return p
			}
		}},
	{"only-pings-keep-alive", []string{"v5/3.1.2.10-other-packets-count", "v311/MQTT-3.1.2-24"}, "Only PINGREQ restarts the Keep Alive.", Run,
		func(r *rules) { r.restartsKeepAlive = func(t packet.Type) bool { return t == packet.PINGREQ } }},
	{"keep-alive-of-session", []string{"v5/MQTT-3.2.2-22", "v311/MQTT-3.1.2-24"}, "The Keep Alive of the CONNECT that began a Session is used for all its connections.", Run,
		func(r *rules) {
			first := map[*session]uint16{}
			var now *session
			r.attached = func(_ *Server, se *session, resumed bool) {
				if now = se; !resumed {
					delete(first, se)
				}
			}
			r.silence = func(keepAlive uint16) float64 {
				if _, known := first[now]; !known {
					first[now] = keepAlive
				}
				return 1.5 * float64(first[now])
			}
		}},
}
