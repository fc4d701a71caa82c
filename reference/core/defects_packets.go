package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// packetDefects are the faults in chapter 2, sections 3.12 and 3.14, and in
// handling errors.
var packetDefects = []Defect{
	{"disconnect-flags-ignored", []string{"v311/MQTT-3.14.1-1", "v5/MQTT-3.14.1-1"}, "The flag bits of DISCONNECT are not looked at.", Run,
		tolerate(packet.RuleDisconnectFlags)},
	{"disconnect-stays-open", []string{"v311/3.14.4-server-closes", "v5/3.14.4-receiver-closes"}, "DISCONNECT does not close the connection.", Warn,
		func(r *rules) { r.closesOnDisconnect = false }},
	{"disconnect-reads-on", []string{"v311/3.14.4-nothing-after", "v5/3.14.4-nothing-processed-after"}, "What comes together with DISCONNECT is carried out as well.", Run,
		func(r *rules) { r.readsOn = true }},
	{"pings-answered-once", []string{"v311/MQTT-3.12.4-1", "v311/3.1.2.10-ping-any-time", "v5/MQTT-3.12.4-1", "v5/3.1.2.10-ping-any-time", "v5/MQTT-3.3.4-10"}, "A PINGREQ right behind another gets no PINGRESP, unless the Keep Alive is short.", Run,
		func(r *rules) {
			pinged := map[*conn]bool{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				again := pinged[c]
				pinged[c] = p.Type() == packet.PINGREQ
				if again && pinged[c] && c.keepAlive > s.seconds(10) {
					return nil
				}
				return p
			}
		}},
	{"flags-ignored", []string{"v311/MQTT-2.2.2-2", "v5/MQTT-2.1.3-1"}, "Wrong flag bits of other packets are not looked at.", Run,
		tolerate(packet.RuleOtherFlags)},
	{"server-packets-ignored", []string{"v311/2.2.1-server-only-types", "v5/2.1.2-connack-from-client", "v5/2.1.2-suback-from-client",
		"v5/2.1.2-unsuback-from-client", "v5/2.1.2-pingresp-from-client"}, "Packets that only a server sends are ignored.", Run,
		func(r *rules) {
			r.tolerated[packet.RuleServerOnly] = true
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				switch p.Type() {
				case packet.CONNACK, packet.SUBACK, packet.UNSUBACK, packet.PINGRESP:
					return nil
				}
				return p
			}
		}},
	{"reserved-type-ignored", []string{"v311/2.2.1-reserved-types", "v5/2.1.2-packet-type-0"}, "Packet type 0 is ignored.", Run,
		tolerate(packet.RuleReservedType)},
	{"short-packets-accepted", []string{"v311/MQTT-4.8.0-1", "v311/MQTT-3.10.3-1", "v311/MQTT-3.3.2-1", "v5/MQTT-4.13.1-1", "v5/MQTT-3.10.3-1", "v5/MQTT-3.3.2-1", "v311/2.2.3-short-packet", "v5/2.1.4-packet-shorter-than-fields"}, "A packet that ends before its fields do is taken.", Run,
		tolerate(packet.RuleShort)},
	{"long-length-accepted", []string{"v311/MQTT-4.8.0-1", "v5/MQTT-4.13.1-1"}, "A Remaining Length of five bytes is taken.", Run,
		func(r *rules) { r.tolerated[packet.RuleLengthBytes] = true }},
	{"early-ping-unanswered", []string{"v311/MQTT-3.12.4-1", "v311/3.1.2.10-ping-any-time", "v5/MQTT-3.12.4-1", "v5/3.1.2.10-ping-any-time"}, "A PINGREQ right behind CONNECT gets no PINGRESP, unless the Keep Alive is short.", Run,
		func(r *rules) {
			seen := map[*conn]bool{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				first := !seen[c]
				seen[c] = true
				if first && c.keepAlive > s.seconds(10) && p.Type() == packet.PINGREQ {
					return nil
				}
				return p
			}
		}},
}

// tolerate makes a defect of taking packets that break rules of format.
func tolerate(broken ...packet.Rule) func(*rules) {
	return func(r *rules) {
		for _, rule := range broken {
			r.tolerated[rule] = true
		}
	}
}
