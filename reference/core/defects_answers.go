package core

import (
	"bytes"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// answerDefects are packets of the server that break the format of MQTT 5.0 in
// their codes, lengths and properties. CONNACK has most properties, and breaks
// the rules where it refuses: nobody goes by it.
var answerDefects = []Defect{
	{"connack-session-expiry-twice", []string{"v5/3.2.2.3.2-connack-session-expiry-interval-twice"}, "A CONNACK that refuses has the Session Expiry Interval twice.", Run,
		refusesWith(twice(0x11, 0, 0, 0, 0))},
	{"connack-receive-maximum-twice", []string{"v5/3.2.2.3.3-connack-receive-maximum-twice"}, "A CONNACK that refuses has the Receive Maximum twice.", Run,
		refusesWith(twice(0x21, 0, 9))},
	{"connack-receive-maximum-zero", []string{"v5/3.2.2.3.3-receive-maximum-zero"}, "A CONNACK that refuses has a Receive Maximum of 0.", Run,
		refusesWith([]byte{0x21, 0, 0})},
	{"connack-maximum-qos-twice", []string{"v5/3.2.2.3.4-connack-maximum-qos-twice"}, "A CONNACK that refuses has the Maximum QoS twice.", Run,
		refusesWith(twice(0x24, 1))},
	{"connack-maximum-qos-two", []string{"v5/3.2.2.3.4-maximum-qos-value"}, "A CONNACK that refuses has a Maximum QoS of 2.", Run,
		refusesWith([]byte{0x24, 2})},
	{"connack-retain-twice", []string{"v5/3.2.2.3.5-connack-retain-available-twice"}, "A CONNACK that refuses has Retain Available twice.", Run,
		refusesWith(twice(0x25, 1))},
	{"connack-retain-two", []string{"v5/3.2.2.3.5-retain-available-value"}, "In a CONNACK that refuses Retain Available is 2.", Run,
		refusesWith([]byte{0x25, 2})},
	{"connack-assigned-twice", []string{"v5/3.2.2.3.7-connack-assigned-client-identifier-twice"}, "A CONNACK that refuses has two Assigned Client Identifiers.", Run,
		refusesWith(twice(0x12, 0, 1, 'x'))},
	{"connack-wildcard-twice", []string{"v5/3.2.2.3.11-connack-wildcard-subscription-available-twice"}, "A CONNACK that refuses has Wildcard Subscription Available twice.", Run,
		refusesWith(twice(0x28, 1))},
	{"connack-identifier-twice", []string{"v5/3.2.2.3.12-connack-subscription-identifier-available-twice"}, "A CONNACK that refuses has Subscription Identifier Available twice.", Run,
		refusesWith(twice(0x29, 1))},
	{"connack-shared-twice", []string{"v5/3.2.2.3.13-connack-shared-subscription-available-twice"}, "A CONNACK that refuses has Shared Subscription Available twice.", Run,
		refusesWith(twice(0x2a, 1))},
	{"connack-keep-alive-twice", []string{"v5/3.2.2.3.14-connack-server-keep-alive-twice"}, "A CONNACK that refuses has the Server Keep Alive twice.", Run,
		refusesWith(twice(0x13, 0, 9))},
	{"connack-reference-unfit", []string{"v5/3.2.2.3.16-server-reference-with-code"}, "A CONNACK that refuses has a Server Reference, whatever its code.", Run,
		refusesWith([]byte{0x1c, 0, 1, 'x'})},
	{"connack-reference-twice", []string{"v5/3.2.2.3.16-connack-server-reference-twice"}, "A malformed CONNECT is sent to another server, by two Server References.", Run,
		changesConnack(func(_ *conn, p *packet.Connack, b []byte) []byte {
			if p.Code == packet.MalformedPacket {
				return coded(withProperty(b, 2, twice(0x1c, 0, 1, 'x')), packet.UseAnotherServer)
			}
			return b
		})},
	{"connack-response-twice", []string{"v5/3.2.2.3.15-connack-response-information-twice"}, "A client that asks for Response Information gets it twice.", Run,
		changesConnack(func(c *conn, p *packet.Connack, b []byte) []byte {
			if c.connect == nil || p.Code != packet.Success {
				return b
			}
			if asked := c.connect.Properties.RequestResponseInformation; asked == nil || *asked == 0 {
				return b
			}
			return withProperty(b, 2, twice(0x1a, 0, 1, 'x'))
		})},
	{"response-information-unasked", []string{"v5/MQTT-3.1.2-28"}, "Every client gets Response Information.", Run,
		func(r *rules) {
			r.announced = func(ps *packet.Properties) {
				if text := "answers"; ps.ResponseInformation == nil {
					ps.ResponseInformation = &text
				}
			}
		}},
	{"connack-method-twice", []string{"v5/3.2.2.3.17-connack-authentication-method-twice"}, "A CONNACK that refuses an Authentication Method names it twice.", Run,
		changesConnack(func(c *conn, p *packet.Connack, b []byte) []byte {
			if p.Code != packet.BadAuthenticationMethod || len(c.method) > 255 {
				return b
			}
			return withProperty(b, 2, twice(0x15, append([]byte{0, byte(len(c.method))}, c.method...)...))
		})},
	{"connack-data-twice", []string{"v5/3.2.2.3.18-connack-authentication-data-twice"}, "A CONNACK that refuses has the Authentication Data twice.", Run,
		refusesWith(twice(0x16, 0, 1, 'x'))},

	{"connack-code-unknown", []string{"v5/MQTT-3.2.2-8"}, "A malformed CONNECT is answered with the code of a take-over.", Run,
		changesConnack(func(_ *conn, p *packet.Connack, b []byte) []byte {
			if p.Code == packet.MalformedPacket {
				return coded(b, packet.SessionTakenOver)
			}
			return b
		})},
	{"connack-without-properties", []string{"v5/MQTT-2.2.2-1"}, "The CONNACK for a malformed CONNECT ends behind its code.", Run,
		changesConnack(func(_ *conn, p *packet.Connack, b []byte) []byte {
			if p.Code == packet.MalformedPacket {
				return []byte{b[0], 2, 0, byte(p.Code)}
			}
			return b
		})},
	{"suback-length-padded", []string{"v5/MQTT-1.5.5-1"}, "A Property Length of 0 in SUBACK takes two bytes.", Run,
		inFive(packet.SUBACK, func(_ packet.Packet, b []byte) []byte {
			if len(b) < 5 || b[4] != 0 || b[1] > 126 {
				return b
			}
			return bytes.Join([][]byte{{b[0], b[1] + 1}, b[2:4], {0x80, 0}, b[5:]}, nil)
		})},
	{"suback-foreign-property", []string{"v5/2.2.2-server-packets-properties"}, "SUBACK has a Payload Format Indicator.", Run,
		inFive(packet.SUBACK, func(_ packet.Packet, b []byte) []byte { return withProperty(b, 2, []byte{0x01, 0}) })},
	{"puback-code-sent", []string{"v5/MQTT-3.4.2-1"}, "That nobody gets the message is said in PUBACK with the code 0x11.", Run,
		inFive(packet.PUBACK, instead(packet.NoMatchingSubscribers, 0x11))},
	{"pubrec-code-sent", []string{"v5/MQTT-3.5.2-1"}, "That nobody gets the message is said in PUBREC with the code 0x11.", Run,
		inFive(packet.PUBREC, instead(packet.NoMatchingSubscribers, 0x11))},
	{"pubcomp-code-sent", []string{"v5/MQTT-3.7.2-1", "v5/MQTT-4.3.3-11"}, "That a Packet Identifier is not known is said in PUBCOMP with the code 0x93.", Run,
		inFive(packet.PUBCOMP, instead(packet.PacketIdentifierNotFound, 0x93))},
	{"disconnect-reference-twice", []string{"v5/3.14.2.2.5-disconnect-server-reference-twice"}, "A client that was silent is sent to another server, by two Server References.", Run,
		inFive(packet.DISCONNECT, func(p packet.Packet, b []byte) []byte {
			if p.(*packet.Disconnect).Code != packet.KeepAliveTimeout {
				return b
			}
			b = withProperty(b, 1, twice(0x1c, 0, 1, 'x'))
			b[len(b)-len(bodyOf(b))] = byte(packet.UseAnotherServer)
			return b
		})},
}

// twice returns the bytes of a property two times.
func twice(id byte, value ...byte) []byte {
	one := append([]byte{id}, value...)
	return append(one[:len(one):len(one)], one...)
}

// changesConnack makes a defect of changing the bytes of CONNACK for clients of
// MQTT 5.0 that set no Maximum Packet Size.
func changesConnack(change func(c *conn, p *packet.Connack, b []byte) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
			if ack, ok := p.(*packet.Connack); ok && c.five() && c.maxPacket == 0 {
				return change(c, ack, b)
			}
			return b
		}
	}
}

// refusesWith makes a defect of properties that are too much in a CONNACK that
// refuses.
func refusesWith(properties []byte) func(*rules) {
	return changesConnack(func(_ *conn, p *packet.Connack, b []byte) []byte {
		if p.Code == packet.Success {
			return b
		}
		return withProperty(b, 2, properties)
	})
}

// inFive is rawly for connections of MQTT 5.0 that set no Maximum Packet Size.
func inFive(kind packet.Type, change func(p packet.Packet, b []byte) []byte) func(*rules) {
	return func(r *rules) {
		r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
			if p.Type() != kind || !c.five() || c.maxPacket > 0 {
				return b
			}
			return change(p, b)
		}
	}
}

// instead replaces the code of an acknowledgement.
func instead(due packet.ReasonCode, sent byte) func(packet.Packet, []byte) []byte {
	return func(p packet.Packet, b []byte) []byte {
		if p.(*packet.Ack).Code != due {
			return b
		}
		changed := bytes.Clone(b)
		changed[len(b)-len(bodyOf(b))+2] = sent
		return changed
	}
}

// coded replaces the code of a CONNACK.
func coded(b []byte, code packet.ReasonCode) []byte {
	changed := bytes.Clone(b)
	changed[len(b)-len(bodyOf(b))+1] = byte(code)
	return changed
}

// bodyOf returns what stands behind the fixed header.
func bodyOf(b []byte) []byte {
	_, body, _, err := packet.SplitFrame(b, packet.V5, nil)
	if err != nil {
		return nil
	}
	return body
}
