package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// sizeDefects are the faults in the Maximum Packet Size of both sides, and in
// the Reason Strings and User Properties of answers.
var sizeDefects = []Defect{
	{"packet-size-ignored", []string{"v5/MQTT-3.1.2-24", "v5/MQTT-3.1.2-25"}, "The client's Maximum Packet Size is not looked at for messages.", Run,
		sendsAnySize(func(p packet.Packet) bool { return p.Type() == packet.PUBLISH })},
	{"packet-size-off-by-one", []string{"v5/MQTT-3.1.2-24"}, "The first byte of a message is not counted for the client's Maximum Packet Size.", Run,
		func(r *rules) {
			r.countedSize = func(p packet.Packet, size int) int {
				if p.Type() == packet.PUBLISH {
					return size - 1
				}
				return size
			}
		}},
	{"packet-size-without-identifier", []string{"v5/MQTT-3.1.2-24"}, "The Subscription Identifier of a message is not counted for the client's Maximum Packet Size.", Run,
		func(r *rules) {
			r.countedSize = func(p packet.Packet, size int) int {
				if m, ok := p.(*packet.Publish); ok {
					return size - 5*len(m.Properties.SubscriptionIdentifiers)
				}
				return size
			}
		}},
	{"packet-size-without-alias", []string{"v5/MQTT-3.1.2-24"}, "The Topic Alias of a message is not counted for the client's Maximum Packet Size.", Run,
		func(r *rules) {
			r.countedSize = func(p packet.Packet, size int) int {
				if m, ok := p.(*packet.Publish); ok && m.Properties.TopicAlias != nil {
					return size - 3
				}
				return size
			}
		}},
	{"largest-packet-dropped", []string{"v5/MQTT-4.5.0-1"}, "A message of exactly the client's Maximum Packet Size is discarded.", Run,
		func(r *rules) {
			r.countedSize = func(p packet.Packet, size int) int {
				if p.Type() == packet.PUBLISH {
					return size + 1
				}
				return size
			}
		}},
	{"connack-any-size", []string{"v5/MQTT-3.1.2-24"}, "CONNACK is sent whatever the client's Maximum Packet Size is.", Run,
		sendsAnySize(func(p packet.Packet) bool { return p.Type() == packet.CONNACK })},
	{"subacks-any-size", []string{"v5/MQTT-3.1.2-24"}, "SUBACK and UNSUBACK are sent whatever the client's Maximum Packet Size is.", Run,
		sendsAnySize(func(p packet.Packet) bool { return p.Type() == packet.SUBACK || p.Type() == packet.UNSUBACK })},
	{"largest-subacks-dropped", []string{"v5/MQTT-3.8.4-1", "v5/MQTT-3.10.4-4"}, "A SUBACK or UNSUBACK of exactly the client's Maximum Packet Size is not sent.", Run,
		func(r *rules) {
			r.countedSize = func(p packet.Packet, size int) int {
				if kind := p.Type(); kind == packet.SUBACK || kind == packet.UNSUBACK {
					return size + 1
				}
				return size
			}
		}},
	{"too-large-keeps-its-place", []string{"v5/MQTT-3.1.2-25"}, "A message that is too large for the client keeps its place in the Receive Maximum, and is sent when the client comes back.", Run,
		func(r *rules) { r.discarded = func(*Server, *conn, *delivery) {} }},
	{"too-large-ends-connection", []string{"v5/MQTT-3.1.2-25"}, "A message that is too large for the client ends its connection.", Run,
		func(r *rules) {
			r.discarded = func(s *Server, c *conn, d *delivery) {
				c.session.done(d)
				s.fail(c, packet.PacketTooLarge, "a message is larger than you take")
			}
		}},
	{"too-large-for-all", []string{"v5/MQTT-3.1.2-25"}, "A message that is too large for one client goes to none.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, m *message, found map[*session]*match) {
				for se := range found {
					if c := se.conn; c != nil && c.maxPacket > 0 && len(m.payload) >= int(c.maxPacket) {
						clear(found)
						return
					}
				}
			}
		}},
	{"too-large-unretained", []string{"v5/MQTT-3.1.2-25"}, "A retained message that is too large for a client is removed.", Run,
		func(r *rules) {
			r.discarded = func(s *Server, c *conn, d *delivery) {
				c.session.done(d)
				if d.retain {
					s.retained.delete(d.message.topic)
				}
			}
		}},
	{"packet-limit-ignored", []string{"v5/MQTT-3.2.2-15", "v5/3.2.2.3.6-packet-too-large"}, "A packet above the server's Maximum Packet Size is taken.", Warn,
		func(r *rules) { r.exceeds = func(int, int) bool { return false } }},
	{"packet-limit-exclusive", []string{"v5/MQTT-3.3.4-1"}, "A packet of exactly the server's Maximum Packet Size ends the connection.", Hook,
		func(r *rules) { r.exceeds = func(size, limit int) bool { return size >= limit } }},
	{"packet-limit-code", []string{"v5/3.2.2.3.6-packet-too-large"}, "A packet above the server's Maximum Packet Size is called a Protocol Error.", Warn,
		disconnectsWith(packet.PacketTooLarge, packet.ProtocolError)},
	{"reasons-too-large", []string{
		"v5/MQTT-3.2.2-19", "v5/MQTT-3.4.2-2", "v5/MQTT-3.5.2-2", "v5/MQTT-3.6.2-2", "v5/MQTT-3.7.2-2", "v5/MQTT-3.9.2-1", "v5/MQTT-3.11.2-1", "v5/MQTT-3.14.2-3", "v5/MQTT-3.1.2-24",
	}, "Answers have a Reason String, however small the client's Maximum Packet Size is.", Run,
		func(r *rules) {
			r.trimsReason = isAuth
			r.honoursPacketSize = func(p packet.Packet) bool {
				ps, _ := diagnostics(p)
				return isAuth(p.Type()) || ps == nil || ps.ReasonString == nil
			}
		}},
	{"user-properties-too-large", []string{
		"v5/MQTT-3.2.2-20", "v5/MQTT-3.4.2-3", "v5/MQTT-3.5.2-3", "v5/MQTT-3.6.2-3", "v5/MQTT-3.7.2-3", "v5/MQTT-3.9.2-2", "v5/MQTT-3.11.2-2", "v5/MQTT-3.14.2-4", "v5/MQTT-3.1.2-24",
	}, "Answers have a User Property, however small the client's Maximum Packet Size is.", Run,
		func(r *rules) {
			r.trimsUserProperties = isAuth
			r.honoursPacketSize = func(p packet.Packet) bool {
				ps, _ := diagnostics(p)
				return isAuth(p.Type()) || ps == nil || ps.UserProperties == nil
			}
		}},
	{"too-large-unanswered", []string{"v5/MQTT-3.3.4-1", "v5/MQTT-4.3.3-11", "v5/MQTT-3.10.4-4"}, "An answer whose Reason String is too large for the client is not sent at all.", Run,
		func(r *rules) { r.trimsReason, r.trimsUserProperties = isAuth, isAuth }},
	{"problems-unasked", []string{"v5/MQTT-3.1.2-29"}, "A client that wants no problem information gets it in every answer but AUTH.", Run,
		func(r *rules) { r.honoursProblemInfo = isAuth }},
	{"problems-out-of-messages", []string{"v5/MQTT-3.3.2-17"}, "A client that wants no problem information gets messages without their User Properties.", Run,
		func(r *rules) {
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if m, ok := p.(*packet.Publish); ok && !c.problemInfo {
					m.Properties.UserProperties = nil
				}
				return []packet.Packet{p}
			}
		}},
	{"reason-strings-twice", []string{
		"v5/3.2.2.3.9-connack-reason-string-twice", "v5/3.4.2.2.2-puback-reason-string-twice", "v5/3.5.2.2.2-pubrec-reason-string-twice",
		"v5/3.6.2.2.2-pubrel-reason-string-twice", "v5/3.7.2.2.2-pubcomp-reason-string-twice", "v5/3.9.2.1.2-suback-reason-string-twice",
		"v5/3.11.2.1.2-unsuback-reason-string-twice", "v5/3.14.2.2.3-disconnect-reason-string-twice",
	}, "Every answer with a Reason String but AUTH has a second one, where the client sets no limit.", Run,
		func(r *rules) {
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				ps, _ := diagnostics(p)
				if ps == nil || ps.ReasonString == nil || isAuth(p.Type()) || c.maxPacket > 0 {
					return b
				}
				return withProperty(b, propertiesAt[p.Type()], []byte{0x1f, 0, 2, 'n', 'o'})
			}
		}},
	{"reason-strings-twice-taken", []string{
		"v5/3.4.2.2.2-puback-reason-string-twice", "v5/3.5.2.2.2-pubrec-reason-string-twice",
		"v5/3.6.2.2.2-pubrel-reason-string-twice", "v5/3.7.2.2.2-pubcomp-reason-string-twice",
	}, "Acknowledgements with two Reason Strings are taken.", Warn,
		tolerate(packet.RulePubackReasonStringTwice, packet.RulePubrecReasonStringTwice, packet.RulePubrelReasonStringTwice, packet.RulePubcompReasonStringTwice)},
	{"connack-limits-twice", []string{
		"v5/3.2.2.3.6-connack-maximum-packet-size-twice", "v5/3.2.2.3.8-connack-topic-alias-maximum-twice",
	}, "Maximum Packet Size and Topic Alias Maximum stand twice in the CONNACK of a client that wants no problem information.", Run,
		limitsInConnack([]byte{0x27, 0, 1, 0, 0, 0x22, 0, 10})},
	{"connack-packet-size-0", []string{"v5/3.2.2.3.6-maximum-packet-size-zero", "v5/3.2.2.3.6-connack-maximum-packet-size-twice"}, "A Maximum Packet Size of 0 stands before the other in the CONNACK of a client that wants no problem information.", Run,
		limitsInConnack([]byte{0x27, 0, 0, 0, 0})},
	{"pubrel-code", []string{"v5/MQTT-3.6.2-1"}, "PUBREL has a code that only PUBREC may have.", Run,
		releasesWith(packet.Success, packet.NoMatchingSubscribers)},
	{"pubrel-unknown-code", []string{"v5/MQTT-3.6.2-1"}, "PUBREL for an identifier that is not known has a code that only PUBREC may have.", Run,
		releasesWith(packet.PacketIdentifierNotFound, packet.UnspecifiedError)},
}

// propertiesAt is where the Property Length of an answer stands in its body.
var propertiesAt = map[packet.Type]int{
	packet.CONNACK: 2, packet.PUBACK: 3, packet.PUBREC: 3, packet.PUBREL: 3, packet.PUBCOMP: 3,
	packet.SUBACK: 2, packet.UNSUBACK: 2, packet.DISCONNECT: 1,
}

// limitsInConnack makes a defect of putting more properties into the CONNACK
// of a client that wants no problem information.
func limitsInConnack(more []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
			if p.Type() != packet.CONNACK || c.problemInfo || !c.five() {
				return b
			}
			return withProperty(b, propertiesAt[packet.CONNACK], more)
		}
	}
}

// releasesWith makes a defect of giving another code in PUBREL.
func releasesWith(right, wrong packet.ReasonCode) func(*rules) {
	return func(r *rules) {
		r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
			if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBREL && c.five() && a.Code == right {
				a.Code = wrong
			}
			return []packet.Packet{p}
		}
	}
}

// isAuth leaves AUTH alone, which has defects of its own.
func isAuth(kind packet.Type) bool { return kind == packet.AUTH }

// sendsAnySize makes a defect of sending some packets whatever the client's
// Maximum Packet Size is.
func sendsAnySize(which func(p packet.Packet) bool) func(*rules) {
	return func(r *rules) { r.honoursPacketSize = func(p packet.Packet) bool { return !which(p) } }
}
