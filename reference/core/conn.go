package core

import (
	"errors"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// Limits against hostile clients, in bytes and seconds.
const (
	maxPacketSize  = 4 << 20   // of one packet once CONNECT is accepted
	maxConnectSize = 400 << 10 // of the CONNECT: five fields of 64 KiB and change
	connectSeconds = 10        // until CONNECT has come
)

type connState byte

const (
	fresh          connState = iota // no CONNECT yet
	authenticating                  // CONNECT came, AUTH packets go to and fro
	established                     // CONNACK with success was sent
)

// ending tells why a connection ended: that decides over the will.
type ending byte

const (
	dropped      ending = iota // the network connection broke or was closed
	disconnected               // DISCONNECT 0x00
	willAsked                  // DISCONNECT 0x04
	failed                     // the client broke a rule
	silent                     // the Keep Alive ran out
	takenOver                  // the Client Identifier connected again
)

// conn is one network connection.
type conn struct {
	id      ConnID
	entropy [16]byte
	state   connState
	ended   bool // nothing more is read or sent
	buf     []byte
	version packet.Version
	session *session
	user    *User

	will        *will
	keepAlive   time.Duration // one and a half Keep Alive; 0 for none
	receiveMax  int           // QoS 1 and 2 deliveries that may be open
	maxPacket   uint32        // 0 for no limit
	aliasMax    uint16
	aliasesIn   map[uint16]string
	aliasesOut  map[string]uint16
	problemInfo bool
	method      string // Authentication Method, "" for none
	challenge   []byte
	connect     *packet.Connect // while authenticating
	expiry      uint32          // Session Expiry Interval in force
}

// wireVersion is the version in which packets for the client are written.
func (c *conn) wireVersion() packet.Version {
	if c.version == packet.V5 {
		return packet.V5
	}
	return packet.V311
}

func (c *conn) five() bool { return c.version == packet.V5 }

// receive takes bytes apart into packets and carries them out.
func (s *Server) receive(c *conn, b []byte) {
	c.buf = append(c.buf, b...)
	for !c.ended {
		limit := maxPacketSize
		if c.state == fresh {
			limit = maxConnectSize
		} else if m := s.policy.MaximumPacketSize; m > 0 {
			limit = m
		}
		first, body, size, err := packet.SplitFrame(c.buf, c.wireVersion(), s.tolerate)
		if err != nil {
			s.failWith(c, err) // [v311/MQTT-4.8.0-1] [v5/MQTT-4.13.1-1]
			return
		}
		// The size is judged as soon as the length is known: no buffer grows
		// beyond it. [v5/3.2.2.3.6-packet-too-large]
		if announced := frameSize(c.buf); announced > limit && s.rules.limitsPacketSize {
			s.fail(c, packet.PacketTooLarge, "the packet is larger than this server takes")
			return
		}
		if size == 0 {
			return
		}
		c.buf = c.buf[size:]
		s.packet(c, first, body)
	}
	c.buf = nil
}

// frameSize is the size of the packet that b begins with, 0 while unknown.
func frameSize(b []byte) int {
	n := 0
	for i := 1; i < len(b) && i < 5; i++ {
		n |= int(b[i]&0x7f) << (7 * (i - 1))
		if b[i]&0x80 == 0 {
			return 1 + i + n
		}
	}
	return 0
}

func (s *Server) tolerate(r packet.Rule) bool { return s.rules.tolerated[r] }

// packet decodes and carries out one packet.
func (s *Server) packet(c *conn, first byte, body []byte) {
	kind := packet.Type(first >> 4)
	if c.state == fresh && kind != packet.CONNECT && !s.rules.servesBeforeConnect {
		s.close(c, failed) // [v311/MQTT-3.1.0-1] [v5/MQTT-3.1.0-1]
		return
	}
	if c.state == fresh && kind != packet.CONNECT {
		s.adopt(c)
	}
	d := packet.Decoder{Version: c.wireVersion(), Tolerate: s.tolerate}
	p, err := d.Decode(first, body)
	if kind == packet.CONNECT {
		s.connectPacket(c, p, err)
		return
	}
	if err != nil {
		s.failWith(c, err)
		return
	}
	s.touch(c)
	if p = s.rules.incoming(s, c, p); p == nil {
		return
	}
	if c.state == authenticating {
		s.duringAuthentication(c, p)
		return
	}
	switch p := p.(type) {
	case *packet.Publish:
		s.publish(c, p)
	case *packet.Ack:
		s.acknowledge(c, p)
	case *packet.Subscribe:
		s.subscribe(c, p)
	case *packet.Unsubscribe:
		s.unsubscribe(c, p)
	case *packet.Pingreq:
		s.send(c, &packet.Pingresp{}) // [v311/MQTT-3.12.4-1] [v5/MQTT-3.12.4-1]
	case *packet.Disconnect:
		s.disconnect(c, p)
	case *packet.Auth:
		s.reauthenticate(c, p)
	default:
		// CONNACK, SUBACK, UNSUBACK and PINGRESP never flow to a server.
		s.fail(c, packet.ProtocolError, "a client does not send this packet")
	}
}

// touch restarts the Keep Alive. [v311/MQTT-3.1.2-24] [v5/MQTT-3.1.2-22]
func (s *Server) touch(c *conn) {
	if c.keepAlive > 0 && !c.ended {
		s.timers.set(timerKey{kind: keepAliveTimer, conn: c.id}, s.now.Add(c.keepAlive))
	}
}

func (s *Server) keepAliveExpired(c *conn) {
	if c.ended {
		return
	}
	if c.five() {
		s.bye(c, packet.KeepAliveTimeout, "nothing came for one and a half Keep Alive")
	}
	s.close(c, silent)
}

// failWith ends a connection for a packet that does not decode.
func (s *Server) failWith(c *conn, err error) {
	var broken *packet.Error
	if errors.As(err, &broken) {
		s.fail(c, broken.Code, broken.Text)
		return
	}
	s.fail(c, packet.MalformedPacket, "the packet is malformed")
}

// fail ends a connection on which the client broke a rule: in MQTT 5.0 with a
// DISCONNECT that says why. [v311/MQTT-4.8.0-1] [v5/MQTT-4.13.1-1] [v5/4.13.1-disconnect-with-code]
func (s *Server) fail(c *conn, code packet.ReasonCode, text string) {
	if s.rules.survives(c, code) {
		return
	}
	s.bye(c, code, text)
	s.close(c, failed)
}

// bye sends DISCONNECT, which only MQTT 5.0 allows a server, and only after a
// success CONNACK. [v5/MQTT-3.14.0-1]
func (s *Server) bye(c *conn, code packet.ReasonCode, text string) {
	if !c.five() || c.state != established && !s.rules.byeBeforeConnack || s.policy.Disconnects == "never" {
		return
	}
	s.send(c, &packet.Disconnect{Code: code, Properties: packet.Properties{ReasonString: &text}})
}

// close asks for the end of the connection and carries out what follows.
func (s *Server) close(c *conn, why ending) {
	if c.ended {
		return
	}
	s.end(c, why)
	s.out = append(s.out, Close{Conn: c.id})
}

// trim takes away the properties that the client does not want, or that do
// not fit.
func (s *Server) trim(c *conn, p packet.Packet) {
	ps := diagnostics(p)
	if ps == nil {
		return
	}
	// [v5/MQTT-3.1.2-29]
	if !c.problemInfo && s.rules.honoursProblemInfo {
		if _, bye := p.(*packet.Disconnect); !bye {
			if _, ack := p.(*packet.Connack); !ack {
				ps.ReasonString, ps.UserProperties = nil, nil
			}
		}
	}
	// [v5/MQTT-3.2.2-19] [v5/MQTT-3.4.2-2] [v5/MQTT-3.5.2-2] [v5/MQTT-3.6.2-2] [v5/MQTT-3.7.2-2]
	// [v5/MQTT-3.9.2-1] [v5/MQTT-3.11.2-1] [v5/MQTT-3.14.2-3] [v5/MQTT-3.15.2-2]
	if c.maxPacket > 0 && s.rules.honoursPacketSize && packet.Size(c.wireVersion(), p) > int(c.maxPacket) {
		ps.ReasonString, ps.UserProperties = nil, nil
	}
}

// diagnostics returns the properties of an answer, which may hold a Reason
// String; nil for a packet that has none.
func diagnostics(p packet.Packet) *packet.Properties {
	switch p := p.(type) {
	case *packet.Connack:
		return &p.Properties
	case *packet.Ack:
		return &p.Properties
	case *packet.Suback:
		return &p.Properties
	case *packet.Unsuback:
		return &p.Properties
	case *packet.Disconnect:
		return &p.Properties
	case *packet.Auth:
		return &p.Properties
	}
	return nil
}
