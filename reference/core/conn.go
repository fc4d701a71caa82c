package core

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

type connState byte

const (
	fresh          connState = iota // no CONNECT yet
	authenticating                  // CONNECT came, AUTH packets go to and fro
	established                     // CONNACK with success was sent
	refused                         // CONNECT was turned down: nothing is acted on
)

// ending tells why a connection ended: that decides over the will.
type ending byte

const (
	dropped      ending = iota // the network connection broke or was closed
	disconnected               // DISCONNECT 0x00
	willAsked                  // DISCONNECT with another code
	failed                     // the client broke a rule
	silent                     // the Keep Alive ran out
	takenOver                  // the Client Identifier connected again
	stopping                   // the server goes away
)

// conn is one network connection. What it holds ends with it.
type conn struct {
	id      ConnID
	entropy [16]byte
	state   connState
	ended   bool // nothing more is read or sent
	buf     []byte
	version packet.Version
	session *session
	user    *User

	will       *will
	keepAlive  time.Duration // one and a half Keep Alive; 0 for none
	quota      int           // QoS 1 and 2 deliveries that may be open
	inFlight   int           // of them, those that are
	lastShared *delivery     // at QoS 0, by a share
	incoming   map[uint16]bool
	maxPacket  uint32          // 0 for no limit
	slow       bool            // the client reads slowly
	ungreeted  []*subscription // whose retained messages are looked up later

	// The Topic Aliases of both directions. [v5/MQTT-3.3.2-7] [v5/3.3.2.3.4-alias-directions-independent]
	aliasMax   uint16
	aliasesIn  map[uint16]string
	aliasesOut map[string]uint16

	problemInfo bool
	method      string          // Authentication Method, "" for none
	exchange    exchange        // of an enhanced authentication that is not finished, or nil
	proof       []byte          // the server's last data of an exchange
	connect     *packet.Connect // while authenticating
	assigned    *string         // Client Identifier that the server made, or nil
	expiry      uint32          // Session Expiry Interval of the CONNECT
}

// open makes the state of a new connection.
func (s *Server) open(ev Opened) {
	c := &conn{
		id: ev.Conn, entropy: ev.Entropy, problemInfo: true, incoming: map[uint16]bool{},
		aliasesIn: map[uint16]string{}, aliasesOut: map[string]uint16{},
	}
	s.conns[ev.Conn] = c
	s.timers.set(timerKey{kind: connectTimer, conn: c.id}, s.now.Add(s.seconds(connectSeconds)))
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
	if c.ended {
		return
	}
	if s.rules.bytesKeepAlive {
		s.touch(c)
	}
	if s.rules.wantsWholeConnect && c.state == fresh && len(c.buf)+len(b) < 14 {
		s.close(c, failed)
		return
	}
	c.buf = append(c.buf, b...)
	for !c.ended {
		first, body, size, err := packet.SplitFrame(c.buf, c.wireVersion(), s.tolerate)
		if err != nil {
			s.failWith(c, err) // [v311/MQTT-4.8.0-1] [v5/MQTT-4.13.1-1]
			break
		}
		// The size is judged as soon as the length is known: no buffer grows
		// beyond it. [v5/3.2.2.3.6-packet-too-large]
		if s.rules.exceeds(frameSize(c.buf), s.sizeLimit(c)) {
			s.fail(c, packet.PacketTooLarge, "the packet is larger than this server takes")
			break
		}
		if size == 0 {
			return
		}
		c.buf = c.buf[size:]
		s.packet(c, first, body)
	}
	c.buf = nil
}

// sizeLimit is the size of the largest packet that is taken at this moment.
func (s *Server) sizeLimit(c *conn) int {
	switch {
	case c.state == fresh:
		return maxConnectSize
	case c.five() && s.policy.MaximumPacketSize > 0:
		return s.policy.MaximumPacketSize
	}
	return maxPacketSize
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
	if c.state == refused || s.rules.skips(s, c, first, body) {
		return // [v311/MQTT-3.1.4-5] [v5/MQTT-3.1.4-6]
	}
	if c.state == fresh && kind != packet.CONNECT {
		if !s.rules.ignoresBeforeConnect {
			s.close(c, failed) // [v311/MQTT-3.1.0-1] [v5/MQTT-3.1.0-1]
		}
		return
	}
	d := packet.Decoder{Version: c.wireVersion(), From: packet.FromClient, Tolerate: s.tolerate}
	p, err := d.Decode(first, body)
	switch {
	case kind == packet.CONNECT:
		s.connectPacket(c, p, err)
	case err != nil:
		s.failWith(c, err)
	default:
		if s.rules.restartsKeepAlive(kind) {
			s.touch(c)
		}
		if p = s.rules.incoming(s, c, p); p != nil {
			s.carryOut(c, p)
		}
	}
}

// carryOut carries out any packet but CONNECT.
func (s *Server) carryOut(c *conn, p packet.Packet) {
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
		// [v311/2.2.1-server-only-types] [v5/2.1.2-connack-from-client]
		s.fail(c, packet.ProtocolError, "a client does not send this packet")
	}
}

// failWith ends a connection for a packet that does not decode.
func (s *Server) failWith(c *conn, err error) {
	var broken *packet.Error
	if errors.As(err, &broken) {
		if !s.rules.endsMalformed(broken.Rule) {
			s.bye(c, broken.Code, broken.Text)
			c.state = refused
			return
		}
		s.fail(c, broken.Code, broken.Text)
		return
	}
	s.fail(c, packet.MalformedPacket, "the packet is malformed")
}

// fail ends a connection on which the client broke a rule: in MQTT 5.0 with a
// DISCONNECT that says why. Nothing else is touched by it.
// [v311/MQTT-4.8.0-1] [v311/MQTT-4.8.0-2] [v5/MQTT-4.13.1-1] [v5/MQTT-4.13.2-1]
// [v5/4.13.1-disconnect-with-code] [v5/4.13.1-other-sessions-unharmed]
func (s *Server) fail(c *conn, code packet.ReasonCode, text string) {
	if s.rules.survives(c, code) {
		return
	}
	s.bye(c, code, text)
	s.close(c, failed)
}

// bye sends DISCONNECT, which only MQTT 5.0 allows a server, and only after a
// success CONNACK. It has no Session Expiry Interval. The close follows, and
// nothing is sent between. [v5/MQTT-3.14.0-1] [v5/MQTT-3.14.2-2] [v5/MQTT-3.14.4-1] [v5/MQTT-3.14.4-2]
func (s *Server) bye(c *conn, code packet.ReasonCode, text string) {
	if !c.five() || c.state != established && !s.rules.byeBeforeConnack || s.policy.Disconnects == "never" {
		return
	}
	code = s.rules.disconnectCode(code) // [v5/MQTT-3.14.2-1]
	s.send(c, &packet.Disconnect{Code: code, Properties: packet.Properties{ReasonString: &text, ServerReference: serverReference(code)}})
}

// close asks for the end of the connection and carries out what follows.
func (s *Server) close(c *conn, why ending) {
	if c.ended {
		return
	}
	s.end(c, why)
	if s.rules.closesBehindBye(why) {
		s.out = append(s.out, Close{Conn: c.id})
	}
}

// suspend ends a connection and leaves what follows from that, the will above
// all, to the server that is restored.
// [v311/3.1.2.5-will-after-restart] [v5/3.1.2.5-will-after-restart]
func (s *Server) suspend(c *conn) {
	if !c.ended {
		c.ended = true
		s.timers.stop(timerKey{kind: connectTimer, conn: c.id})
		s.timers.stop(timerKey{kind: keepAliveTimer, conn: c.id})
		s.out = append(s.out, Close{Conn: c.id})
	}
}

// shutDown disconnects everybody.
func (s *Server) shutDown() {
	for _, id := range slices.Sorted(maps.Keys(s.conns)) {
		c := s.conns[id]
		if s.policy.ServerReference == "shutdown" {
			s.bye(c, packet.ServerMoved, "the server has moved") // [v5/4.11-server-reference] [v5/3.14.2.1-disconnect-code-9d]
		} else {
			s.bye(c, packet.ServerShuttingDown, "the server shuts down")
		}
		if s.ledger != nil {
			s.suspend(c)
			continue
		}
		s.close(c, stopping)
	}
}
