package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// standingDefects are malformed packets of the server.
var standingDefects = []Defect{
	{"pingresp-flags", []string{"v311/MQTT-2.2.2-1", "v5/MQTT-2.1.3-1"}, "PINGRESP has the flags 0001.", Run,
		rawly(packet.PINGRESP, func(b []byte) []byte { return append([]byte{b[0] | 1}, b[1:]...) })},
	{"pingresp-body", []string{"v311/3.13-pingresp-format", "v5/3.13.1-pingresp-format"}, "PINGRESP has a body.", Run,
		rawly(packet.PINGRESP, func(b []byte) []byte { return []byte{b[0], 1, 0} })},
	{"pingreq-from-server", []string{"v311/2.2.1-client-only-types", "v5/2.1.2-client-only-types-from-server"}, "A PINGREQ follows each PUBREC.", Run,
		rawly(packet.PUBREC, func(b []byte) []byte { return append(b[:len(b):len(b)], byte(packet.PINGREQ)<<4, 0) })},
	{"connack-long", []string{"v311/3.2.1-connack-length"}, "A CONNACK with code 2 has a third byte in MQTT 3.1.1.", Run,
		rawly(packet.CONNACK, func(b []byte) []byte {
			if len(b) != 4 || b[3] != 2 {
				return b
			}
			return append([]byte{b[0], 3}, append(append([]byte{}, b[2:]...), 0)...)
		})},
	{"connack-bits", []string{"v311/3.2.2.1-reserved-bits", "v5/MQTT-3.2.2-1"}, "A CONNACK that accepts has a reserved bit of its flags set.", Run,
		rawly(packet.CONNACK, func(b []byte) []byte {
			c := append([]byte{}, b...)
			if i := 2; c[i+1] == 0 {
				c[i] |= 0x40
			}
			return c
		})},
	{"publish-qos0-id", []string{"v311/MQTT-2.3.1-5", "v5/MQTT-2.2.1-2"}, "A delivery at QoS 0 has a Packet Identifier.", Run,
		func(r *rules) {
			r.rawOutgoing = func(_ *conn, p packet.Packet, b []byte) []byte {
				m, ok := p.(*packet.Publish)
				if !ok || m.QoS > 0 || string(m.Payload) != "payload" {
					return b
				}
				n := len(b) - len(m.Payload)
				c := append(append(append([]byte{}, b[:n]...), 0, 7), b[n:]...)
				c[1] += 2
				return c
			}
		}},
	{"puback-long", []string{"v311/3.4-fixed-lengths"}, "PUBACK has a third byte in MQTT 3.1.1.", Run,
		func(r *rules) {
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				if p.Type() != packet.PUBACK || c.five() {
					return b
				}
				return append([]byte{b[0], 3}, append(append([]byte{}, b[2:]...), 0)...)
			}
		}},
	{"stream-garbled", []string{"v311/MQTT-7.1.1-1", "v5/MQTT-4.2-1"}, "CONNECT has to come in one piece.", Run,
		func(r *rules) { r.wantsWholeConnect = true }},
	{"reserved-type-sent", []string{"v311/2.2.1-reserved-types", "v5/2.1.2-packet-type-0"}, "A packet of type 0 is sent.", Run,
		behindMessage(func(*conn) []byte { return []byte{0, 0} })},
	{"publish-cut-off", []string{"v311/7.1.1-packet-format", "v5/7.1.1-packet-format"}, "A PUBLISH is sent that ends in its Topic Name.", Run,
		behindMessage(func(*conn) []byte { return []byte{0x30, 3, 0, 5, 'a'} })},
	{"publish-qos-3-sent", []string{"v311/MQTT-3.3.1-4", "v5/MQTT-3.3.1-4", "v5/3.1.2.11.5-topic-alias-maximum-default", "v5/MQTT-3.1.2-27", "v5/MQTT-3.3.4-3"}, "A PUBLISH is sent with both QoS bits set.", Run,
		behindMessage(func(c *conn) []byte {
			if c.five() {
				return []byte{0x36, 6, 0, 1, 'a', 0, 9, 0}
			}
			return []byte{0x36, 5, 0, 1, 'a', 0, 9}
		})},
	{"empty-topic-sent", []string{"v311/MQTT-4.7.3-1"}, "A PUBLISH is sent with an empty Topic Name in MQTT 3.1.1.", Run,
		behindMessage(func(c *conn) []byte {
			if c.five() {
				return nil
			}
			return []byte{0x30, 3, 0, 0, 'x'}
		})},
}

// rawly makes a defect of changing the bytes of one type of packet.
func rawly(kind packet.Type, change func(b []byte) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(_ *conn, p packet.Packet, b []byte) []byte {
			if p.Type() != kind {
				return b
			}
			return change(b)
		}
	}
}

// behindMessage makes a defect of sending bytes behind each delivery of the
// text message.
func behindMessage(more func(c *conn) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
			if m, ok := p.(*packet.Publish); ok && string(m.Payload) == "message" {
				return append(b[:len(b):len(b)], more(c)...)
			}
			return b
		}
	}
}
