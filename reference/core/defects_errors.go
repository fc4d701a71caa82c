package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// errorDefects are faults in how a server of MQTT 5.0 handles errors: section
// 4.13, and what section 3.14 says of its DISCONNECT.
var errorDefects = []Defect{
	{"messages-behind-disconnect", []string{"v5/MQTT-3.14.4-1"}, "The last message at QoS 0 is sent again behind the server's DISCONNECT.", Run,
		func(r *rules) {
			last := map[*conn]*packet.Publish{}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				switch p := p.(type) {
				case *packet.Publish:
					if p.QoS == 0 {
						last[c] = p
					}
				case *packet.Disconnect:
					if again := last[c]; again != nil {
						return []packet.Packet{p, again}
					}
				}
				return []packet.Packet{p}
			}
		}},
	{"error-waits-for-exchange", []string{"v5/MQTT-4.13.2-1"}, "After an error the connection of a subscriber stays open while a publication of the client is open.", Run,
		func(r *rules) {
			waits := false
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				bye, ok := p.(*packet.Disconnect)
				waits = ok && bye.Code <= packet.ProtocolError && len(c.incoming) > 0 && len(c.session.subs) > 0
				return []packet.Packet{p}
			}
			r.closesBehindBye = func(ending) bool {
				held := waits
				waits = false
				return !held
			}
		}},
	{"disconnect-before-connack", []string{"v5/MQTT-3.14.0-1"}, "A malformed CONNECT is answered with DISCONNECT.", Run,
		func(r *rules) {
			r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
				if ack, ok := p.(*packet.Connack); ok && ack.Code == packet.MalformedPacket {
					return []packet.Packet{&packet.Disconnect{Code: ack.Code, Properties: packet.Properties{ReasonString: ack.Properties.ReasonString}}}
				}
				return []packet.Packet{p}
			}
		}},
	{"disconnect-expiry-sent", []string{"v5/MQTT-3.14.2-2"}, "The server's DISCONNECT has the Session Expiry Interval.", Run,
		func(r *rules) {
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if bye, ok := p.(*packet.Disconnect); ok {
					bye.Properties.SessionExpiryInterval = &c.expiry
				}
				return []packet.Packet{p}
			}
		}},
	{"alias-said-protocol-error", []string{"v5/4.13.1-code-choice"}, "A Topic Alias that is not valid is called a Protocol Error.", Warn,
		insteadOf(packet.TopicAliasInvalid, packet.ProtocolError)},
	{"errors-without-disconnect", []string{"v5/4.13.1-disconnect-with-code"}, "On malformed packets and Protocol Errors the connection is closed without DISCONNECT.", Warn,
		func(r *rules) {
			r.outgoing = func(_ *Server, _ *conn, p packet.Packet) []packet.Packet {
				if bye, ok := p.(*packet.Disconnect); ok && (bye.Code == packet.MalformedPacket || bye.Code == packet.ProtocolError) {
					return nil
				}
				return []packet.Packet{p}
			}
		}},
	{"error-ends-others", []string{"v5/4.13.1-other-sessions-unharmed"}, "AUTH from a client that named no method ends the connections of all clients of MQTT 5.0.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if p.Type() == packet.AUTH && c.method == "" {
					for _, other := range s.conns {
						if other.five() && other != c {
							s.close(other, dropped)
						}
					}
				}
				return p
			}
		}},
	{"unfinished-subscribe-ends-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A connection that breaks in the middle of a SUBSCRIBE takes all others with it.", Run,
		func(r *rules) {
			on := map[*session]*conn{}
			r.attached = func(_ *Server, se *session, _ bool) { on[se] = se.conn }
			r.detached = func(s *Server, se *session, why ending) {
				c := on[se]
				delete(on, se)
				if c == nil || why != dropped || len(c.buf) == 0 || packet.Type(c.buf[0]>>4) != packet.SUBSCRIBE {
					return
				}
				for _, other := range s.conns {
					s.close(other, dropped)
				}
			}
		}},
	{"error-puback-ends", []string{"v5/4.13.2-error-acks-harmless"}, "A PUBACK of the client with the code of an error ends the connection.", Run,
		endsOnErrorAck(packet.PUBACK)},
	{"error-pubrec-ends", []string{"v5/4.13.2-error-acks-harmless"}, "A PUBREC of the client with the code of an error ends the connection.", Run,
		endsOnErrorAck(packet.PUBREC)},
	{"denied-publish-deafens", []string{"v5/4.13.2-error-acks-harmless"}, "What comes behind a PUBLISH that was refused in its PUBACK is ignored.", Run,
		func(r *rules) {
			deaf := map[*conn]bool{}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if ack, ok := p.(*packet.Ack); ok && ack.Kind == packet.PUBACK && ack.Code >= 0x80 {
					deaf[c] = true
				}
				return []packet.Packet{p}
			}
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if deaf[c] {
					return nil
				}
				return p
			}
		}},
}

// endsOnErrorAck makes a defect of ending a connection on an acknowledgement
// of the client that has the code of an error.
func endsOnErrorAck(kind packet.Type) func(*rules) {
	return func(r *rules) {
		r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
			if ack, ok := p.(*packet.Ack); ok && ack.Kind == kind && ack.Code >= 0x80 {
				s.close(c, failed)
				return nil
			}
			return p
		}
	}
}
