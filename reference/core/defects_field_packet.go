package core

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// fieldPacketDefects are faults that brokers have had with packets that are
// not as they should be, with sizes, and with WebSocket. One that crashed a
// broker ends the connections of all here.
var fieldPacketDefects = []Defect{
	{"dup-at-qos-0-accepted", []string{"v311/MQTT-3.3.1-2", "v5/MQTT-3.3.1-2"}, "A PUBLISH at QoS 0 with DUP 1 is taken.", Warn,
		tolerate(packet.RuleDupQoS0)},
	{"ack-flags-copied", []string{"v311/MQTT-2.2.2-1", "v5/MQTT-2.1.3-1"}, "SUBACK and PUBACK have the flag bits of what they answer.", Run,
		func(r *rules) {
			r.rawOutgoing = func(_ *conn, p packet.Packet, b []byte) []byte {
				if p.Type() == packet.SUBACK || p.Type() == packet.PUBACK {
					return append([]byte{b[0] | 2}, b[1:]...)
				}
				return b
			}
		}},
	{"unsuback-with-code", []string{"v311/3.4-fixed-lengths"}, "UNSUBACK has a code in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				if p.Type() == packet.UNSUBACK && !c.five() {
					return append([]byte{b[0], b[1] + 1}, append(slices.Clone(b[2:]), 0)...)
				}
				return b
			}
		}},
	{"connack-answered", []string{"v5/MQTT-3.2.0-2"}, "A CONNACK of a client is answered with CONNACK.", Run,
		func(r *rules) {
			r.skips = func(s *Server, c *conn, first byte, _ []byte) bool {
				if packet.Type(first>>4) == packet.CONNACK && c.state == established {
					s.send(c, &packet.Connack{})
				}
				return false
			}
		}},
	{"early-ping-answered", []string{"v311/MQTT-3.2.0-1", "v5/MQTT-3.2.0-1", "v311/MQTT-3.1.0-1", "v5/MQTT-3.1.0-1"}, "A PINGREQ ahead of CONNECT is answered.", Run,
		func(r *rules) {
			r.skips = func(s *Server, c *conn, first byte, _ []byte) bool {
				early := packet.Type(first>>4) == packet.PINGREQ && c.state == fresh
				if early {
					s.send(c, &packet.Pingresp{})
				}
				return early
			}
		}},
	{"auth-unasked-answered", []string{"v5/MQTT-4.12.0-6", "v5/MQTT-4.12.0-7"}, "AUTH of a client that named no method is answered with AUTH.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if p.Type() != packet.AUTH || c.method != "" {
					return p
				}
				s.send(c, &packet.Auth{})
				return nil
			}
		}},
	{"long-property-length-taken", []string{"v5/1.5.5-vbi-max-four-bytes"}, "A Property Length of five bytes is taken.", Warn,
		tolerate(packet.RuleVarintBytes)},
	{"unsubscribe-closes", []string{"v311/MQTT-3.10.4-4"}, "UNSUBSCRIBE ends the connection in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if p.Type() == packet.UNSUBSCRIBE && !c.five() {
					s.close(c, failed)
					return nil
				}
				return p
			}
		}},
	{"stray-acks-end-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "An acknowledgement ahead of CONNECT ends the connections of all.", Run,
		endsAllOn(func(c *conn, first byte, _ []byte) bool {
			kind := packet.Type(first >> 4)
			return c.state == fresh && kind >= packet.PUBACK && kind <= packet.PUBCOMP
		})},
	{"other-protocols-end-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A request of HTTP ends the connections of all.", Run,
		endsAllOn(func(c *conn, first byte, _ []byte) bool { return c.state == fresh && first == 'G' })},
	{"broken-connect-ends-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A CONNECT that ends before its Keep Alive does ends the connections of all.", Run,
		endsAllOn(func(_ *conn, first byte, body []byte) bool {
			return packet.Type(first>>4) == packet.CONNECT && len(body) < 10
		})},
	{"server-packets-end-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A CONNACK of a client ends the connections of all.", Run,
		endsAllOn(func(_ *conn, first byte, _ []byte) bool { return packet.Type(first>>4) == packet.CONNACK })},
	{"short-acks-end-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "An acknowledgement that ends before its Packet Identifier does ends the connections of all.", Run,
		endsAllOn(func(_ *conn, first byte, body []byte) bool {
			kind := packet.Type(first >> 4)
			return kind >= packet.PUBACK && kind <= packet.PUBCOMP && len(body) < 2
		})},
	{"short-publish-ends-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A PUBLISH that ends behind its Topic Name ends the connections of all.", Run,
		endsAllOn(func(c *conn, first byte, body []byte) bool {
			return packet.Type(first>>4) == packet.PUBLISH && first&6 != 0 && len(body) >= 2 && len(body) == 2+int(body[0])<<8+int(body[1])
		})},
	{"short-subscribe-ends-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A SUBSCRIBE that ends behind its Packet Identifier ends the connections of all.", Run,
		endsAllOn(func(c *conn, first byte, body []byte) bool {
			return packet.Type(first>>4) == packet.SUBSCRIBE && len(body) <= 3
		})},
	{"short-properties-end-others", []string{"v5/4.13.1-other-sessions-unharmed"}, "A PUBLISH whose properties end within one ends the connections of all of MQTT 5.0.", Run,
		endsAllOn(func(c *conn, first byte, body []byte) bool {
			if !c.five() || packet.Type(first>>4) != packet.PUBLISH || first&6 != 0 || len(body) < 4 {
				return false
			}
			at := 2 + int(body[0])<<8 + int(body[1])
			return len(body) == at+2 && body[at] == 1
		})},
	{"unknown-properties-end-others", []string{"v5/4.13.1-other-sessions-unharmed"}, "A PUBLISH with a property that is not defined ends the connections of all of MQTT 5.0.", Run,
		endsAllOn(func(c *conn, first byte, body []byte) bool {
			if !c.five() || packet.Type(first>>4) != packet.PUBLISH || first&6 != 0 || len(body) < 5 {
				return false
			}
			at := 2 + int(body[0])<<8 + int(body[1])
			return len(body) > at+1 && body[at] > 0 && (body[at+1] == 0x7f || body[at+1] == 0)
		})},
	{"deep-filters-end-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A filter or a Topic Name of more than 10,000 levels ends the connections of all.", Run,
		endsAllOn(func(_ *conn, first byte, body []byte) bool {
			kind := packet.Type(first >> 4)
			return (kind == packet.SUBSCRIBE || kind == packet.PUBLISH) && strings.Count(string(body), "/") > 10_000
		})},
	{"empty-topic-ends-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A PUBLISH with nothing but an empty Topic Name ends the connections of all.", Run,
		endsAllOn(func(_ *conn, first byte, body []byte) bool {
			return first == 0x30 && (len(body) == 2 || len(body) == 3) && body[0] == 0 && body[1] == 0
		})},
	{"loss-in-flight-ends-others", []string{"v5/4.13.1-other-sessions-unharmed", "v311/4.8-transient-error-others"}, "A connection that is reset or taken over with ten deliveries open ends the connections of all.", Run,
		func(r *rules) {
			r.detached = func(s *Server, se *session, why ending) {
				if why != dropped && why != takenOver || len(se.byID) < 10 {
					return
				}
				for _, other := range s.conns {
					if other.session != se {
						s.close(other, stopping)
					}
				}
			}
		}},
	{"packet-limit-without-header", []string{"v5/MQTT-3.2.2-15"}, "The fixed header is not counted for the server's Maximum Packet Size.", Hook,
		func(r *rules) { r.exceeds = func(size, limit int) bool { return size-2 > limit } }},
	{"packet-limit-stalls", []string{"v5/3.2.2.3.6-packet-too-large"}, "A packet above the server's Maximum Packet Size is neither read nor refused.", Warn,
		func(r *rules) {
			r.survives = func(c *conn, code packet.ReasonCode) bool {
				if code != packet.PacketTooLarge {
					return false
				}
				c.state = refused
				return true
			}
		}},
	{"four-length-bytes-refused", []string{"v5/3.2.2.3.6-packet-too-large"}, "A packet whose Remaining Length takes four bytes ends the connection.", Warn,
		func(r *rules) { r.exceeds = func(size, limit int) bool { return size > limit || size > 2097151+4 } }},
	{"ws-list-returned", []string{"v311/MQTT-6.0.0-4", "v5/MQTT-6.0.0-4"}, "The handshake of a WebSocket returns the whole list of subprotocols that the client offers.", Run,
		func(r *rules) {
			r.webSocket.Subprotocol = func(offered []string) string { return strings.Join(offered, ", ") }
		}},
	{"ws-frame-cut", []string{"v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2"}, "Of a WebSocket frame the first 4096 bytes are read.", Run,
		func(r *rules) {
			r.webSocket.Payload = func(b []byte) ([]byte, bool) { return b[:min(len(b), 4096)], true }
		}},
}

// endsAllOn makes a defect of a packet that ends the connections of all
// clients, as the end of a broker's process does.
func endsAllOn(fatal func(c *conn, first byte, body []byte) bool) func(*rules) {
	return func(r *rules) {
		r.skips = func(s *Server, c *conn, first byte, body []byte) bool {
			if !fatal(c, first, body) {
				return false
			}
			for _, other := range s.conns {
				s.close(other, dropped)
			}
			return true
		}
	}
}
