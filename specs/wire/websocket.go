package wire

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/gobwas/ws"
)

// Opcode is the type of a WebSocket frame [RFC 6455, section 5.2].
type Opcode byte

// The opcodes that RFC 6455 defines.
const (
	OpContinuation Opcode = 0
	OpText         Opcode = 1
	OpBinary       Opcode = 2
	OpClose        Opcode = 8
	OpPing         Opcode = 9
	OpPong         Opcode = 10
)

var opcodeNames = map[Opcode]string{
	OpContinuation: "continuation", OpText: "text", OpBinary: "binary", OpClose: "Close", OpPing: "ping", OpPong: "pong",
}

// String returns the name of the opcode, or its number.
func (op Opcode) String() string {
	if name, ok := opcodeNames[op]; ok {
		return name
	}
	return fmt.Sprintf("0x%x", byte(op))
}

// WSFrame is one WebSocket frame as a client sends it, masked.
type WSFrame struct {
	Op      Opcode
	More    bool // further frames of the message follow: FIN is 0
	Payload []byte
}

// Limits of a WebSocket against a hostile broker.
const (
	maxIdleFrames  = 20_000 // frames of a connection that carry nothing for MQTT
	farewellWindow = 200 * time.Millisecond
)

// webSocket is the byte stream in the data frames of a WebSocket. What it reads
// it takes from frames of any size, text frames too; each Write is one binary
// frame.
type webSocket struct {
	net.Conn    // TCP or TLS
	in          *bufio.Reader
	subprotocol string // that the broker returned

	// saw is told of each frame that begins to arrive; nil tells nobody.
	saw  func(op Opcode)
	rest int64 // bytes of the data frame that are not read yet
	open bool  // the message goes on behind the frame
	idle int   // frames without a byte for MQTT

	writing sync.Mutex
	closing bool // a Close frame was sent
	patient time.Duration
}

// NetConn returns the connection underneath.
func (s *webSocket) NetConn() net.Conn { return s.Conn }

// Read reads what the frames carry. Pings are answered on the way.
func (s *webSocket) Read(b []byte) (int, error) {
	for s.rest == 0 {
		if err := s.nextFrame(); err != nil {
			return 0, err
		}
	}
	n, err := s.in.Read(b[:min(int64(len(b)), s.rest)])
	s.rest -= int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// nextFrame reads the header of a frame, and all of a control frame.
func (s *webSocket) nextFrame() error {
	h, err := ws.ReadHeader(s.in)
	if err != nil {
		return err
	}
	state := ws.StateClientSide
	if s.open {
		state = state.Set(ws.StateFragmented)
	}
	if err := ws.CheckHeader(h, state); err != nil {
		return fmt.Errorf("a WebSocket frame of the broker breaks RFC 6455: %w", err)
	}
	op := Opcode(h.OpCode)
	if s.saw != nil {
		s.saw(op)
	}
	if op >= OpClose {
		return s.control(op, int(h.Length))
	}
	s.open, s.rest = !h.Fin, h.Length
	if h.Length == 0 {
		return s.idled()
	}
	return nil
}

func (s *webSocket) idled() error {
	if s.idle++; s.idle > maxIdleFrames {
		return errFlood
	}
	return nil
}

// control reads and answers a control frame, which has at most 125 bytes.
func (s *webSocket) control(op Opcode, size int) error {
	payload := make([]byte, size)
	if _, err := io.ReadFull(s.in, payload); err != nil {
		return err
	}
	switch op {
	case OpPing:
		if err := s.answer(WSFrame{Op: OpPong, Payload: payload}); err != nil {
			return err
		}
	case OpClose:
		_ = s.answer(WSFrame{Op: OpClose, Payload: payload[:min(size, 2)]})
		return closedByFrame(payload)
	}
	return s.idled()
}

// answer sends a control frame, unless the client has said goodbye.
func (s *webSocket) answer(f WSFrame) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closing {
		return nil
	}
	s.closing = f.Op == OpClose
	if err := s.SetWriteDeadline(time.Now().Add(s.patient)); err != nil {
		return err
	}
	return s.put(f)
}

// closeFrame is how a connection ends by a Close frame of the broker.
type closeFrame struct {
	code   int
	reason string
}

func closedByFrame(payload []byte) error {
	if len(payload) < 2 {
		return closeFrame{}
	}
	return closeFrame{code: int(binary.BigEndian.Uint16(payload)), reason: string(payload[2:])}
}

func (c closeFrame) Error() string {
	switch {
	case c.code == 0:
		return "the broker closed the connection (Close frame)"
	case c.reason == "":
		return fmt.Sprintf("the broker closed the connection (Close frame, code %d)", c.code)
	}
	return fmt.Sprintf("the broker closed the connection (Close frame, code %d, %q)", c.code, c.reason)
}

// Write sends the bytes as one binary frame.
func (s *webSocket) Write(b []byte) (int, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.put(WSFrame{Op: OpBinary, Payload: b}); err != nil {
		return 0, err
	}
	return len(b), nil
}

// send sends frames as they are, all in one write.
func (s *webSocket) send(frames []WSFrame) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.put(frames...)
}

// put masks frames and writes them; the lock is held.
func (s *webSocket) put(frames ...WSFrame) error {
	var all []byte
	for _, f := range frames {
		raw := ws.Frame{
			Header:  ws.Header{Fin: !f.More, OpCode: ws.OpCode(f.Op), Length: int64(len(f.Payload))},
			Payload: slices.Clone(f.Payload),
		}
		b, err := ws.CompileFrame(ws.MaskFrameInPlace(raw))
		if err != nil {
			return err
		}
		all = append(all, b...)
	}
	_, err := s.Conn.Write(all)
	return err
}

// sayClose sends a Close frame, if none was sent and no write is under way.
func (s *webSocket) sayClose() {
	if !s.writing.TryLock() {
		return
	}
	defer s.writing.Unlock()
	if s.closing {
		return
	}
	s.closing = true
	_ = s.SetWriteDeadline(time.Now().Add(farewellWindow))
	_ = s.put(WSFrame{Op: OpClose, Payload: ws.NewCloseFrameBody(ws.StatusNormalClosure, "")})
}

// CloseWrite sends a Close frame and ends the sending half underneath.
func (s *webSocket) CloseWrite() error {
	s.sayClose()
	return closeWrite(s.Conn)
}

// Close sends a Close frame and ends the connection without waiting for the
// answer.
func (s *webSocket) Close() error {
	s.sayClose()
	return s.Conn.Close()
}

func dialWS(ctx context.Context, a Address, u *url.URL) (net.Conn, error) {
	nc, err := dialTCPAt(ctx, hostPort(u, "80"))
	if err != nil {
		return nil, err
	}
	return upgrade(ctx, nc, a, u)
}

func dialWSS(ctx context.Context, a Address, u *url.URL) (net.Conn, error) {
	nc, err := dialTLSAt(ctx, a, u, "443")
	if err != nil {
		return nil, err
	}
	return upgrade(ctx, nc, a, u)
}

// Subprotocol returns what the broker answered in the handshake of a WebSocket;
// "" where it returned none.
func (c *Conn) Subprotocol() string {
	if s, ok := c.nc.(*webSocket); ok {
		return s.subprotocol
	}
	return ""
}

// SendFrames sends WebSocket frames as they are, all in one write.
func (c *Conn) SendFrames(frames ...WSFrame) error {
	s, ok := c.nc.(*webSocket)
	if !ok {
		return errors.New("wire: the connection is no WebSocket")
	}
	var all []byte
	for _, f := range frames {
		more := ""
		if f.More {
			more = ", and the message goes on"
		}
		c.trace.Note(c.name, "a %s frame of %d byte(s) goes out%s", f.Op, len(f.Payload), more)
		if f.Op < OpClose {
			all = append(all, f.Payload...)
		}
	}
	if len(all) > 0 {
		// In one piece, in which secrets are found.
		c.record(all)
	}
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	if err := s.send(frames); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	return nil
}

// sawFrame records a frame that begins to arrive. Of frames with data those are
// noted that are not what MQTT wants: a broker may send each byte in its own.
func (c *Conn) sawFrame(op Opcode) {
	if op != OpBinary && op != OpContinuation {
		c.trace.Note(c.name, "the broker sends a %s frame", op)
	}
	if op != OpBinary && op != OpText {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checker.dataFrame(op, len(c.history)+1)
}
