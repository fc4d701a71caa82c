package reference

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// webSocket is a connection over WebSocket: a stream of bytes in messages whose
// borders mean nothing. What it decides stands in core.WebSocket.
// [v311/MQTT-6.0.0-2] [v5/MQTT-6.0.0-2]
type webSocket struct {
	net.Conn // underneath: TCP or TLS
	ws       *websocket.Conn
	rules    core.WebSocket
	message  io.Reader // that is being read; nil between two
	lost     bool      // the rest of it
	parting  websocket.StatusCode
}

// Errors of a read. The first leaves time for the farewell.
var (
	errNoMQTT = fmt.Errorf("the client sent what is no MQTT over WebSocket: %w", io.EOF)
	errParted = errors.New("the client has closed the WebSocket")
)

// upgrade does the handshake of a WebSocket and serves the connection.
func (b *Broker) upgrade(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		return
	}
	b.wg.Add(1)
	b.mu.Unlock()
	defer b.wg.Done()

	picked := b.webRules.Subprotocol(offered(r)) // [v311/MQTT-6.0.0-4] [v5/MQTT-6.0.0-4]
	if picked == "" && b.webRules.RequiresSubprotocol {
		http.Error(w, "this is MQTT: offer the subprotocol "+core.Subprotocol, http.StatusBadRequest)
		return
	}
	if picked != "" {
		w.Header().Set("Sec-WebSocket-Protocol", picked)
	}
	s := &webSocket{rules: b.webRules, parting: websocket.StatusNormalClosure}
	taken := &taking{ResponseWriter: w}
	var err error
	s.ws, err = websocket.Accept(taken, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // a page of any origin may be a client
		OnPingReceived:     s.pinged,
	})
	if err != nil {
		return // it has answered
	}
	s.ws.SetReadLimit(-1) // the core bounds what a packet may be
	s.Conn = taken.nc
	// [v311/6-uri-no-impact] [v5/6-uri-no-impact]
	if r.URL.RawQuery != "" && !b.webRules.TakesQuery {
		_ = s.Close()
		return
	}
	b.take(s)
}

// offered returns the subprotocols that a client offers.
func offered(r *http.Request) []string {
	var names []string
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for name := range strings.SplitSeq(line, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// taking keeps the connection that a WebSocket takes from the HTTP server.
type taking struct {
	http.ResponseWriter
	nc net.Conn
}

// Hijack is http.Hijacker.
func (t *taking) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	nc, rw, err := http.NewResponseController(t.ResponseWriter).Hijack()
	t.nc = nc
	return nc, rw, err
}

// Read reads from the messages.
func (s *webSocket) Read(b []byte) (int, error) {
	for {
		if s.message == nil {
			if err := s.next(); err != nil {
				return 0, err
			}
		}
		n, err := s.message.Read(b)
		if s.lost {
			n = 0
		}
		if n > 0 && !s.rules.JoinsFragments {
			s.lost = true
		}
		if errors.Is(err, io.EOF) {
			s.message, err = nil, nil
		}
		if err != nil {
			return n, ended(err)
		}
		if n > 0 {
			return s.payload(b, n)
		}
	}
}

// next waits for the next message. One that is not binary ends the connection.
// [v311/MQTT-6.0.0-1] [v5/MQTT-6.0.0-1]
func (s *webSocket) next() error {
	kind, message, err := s.ws.Reader(context.Background())
	if err != nil {
		return ended(err)
	}
	if kind != websocket.MessageBinary && !s.rules.TakesText {
		s.parting = websocket.StatusUnsupportedData
		return errNoMQTT
	}
	s.message, s.lost = message, kind != websocket.MessageBinary && s.rules.LosesText
	return nil
}

func (s *webSocket) payload(b []byte, n int) (int, error) {
	read, ok := s.rules.Payload(b[:n])
	if !ok {
		s.parting = websocket.StatusUnsupportedData
		return 0, errNoMQTT
	}
	return copy(b, read), nil
}

// pinged is called while a read goes on.
func (s *webSocket) pinged(context.Context, []byte) bool {
	if s.message != nil && !s.rules.KeepsOverPing {
		s.lost = true
	}
	return true
}

// ended translates the end of a WebSocket: behind a Close frame, which is
// answered already, nothing may follow.
func ended(err error) error {
	if websocket.CloseStatus(err) >= 0 {
		return errParted
	}
	return err
}

// Write sends one binary message. [v311/MQTT-6.0.0-1] [v5/MQTT-6.0.0-1]
func (s *webSocket) Write(b []byte) (int, error) {
	kind := websocket.MessageBinary
	if s.rules.SendsText {
		kind = websocket.MessageText
	}
	if err := s.ws.Write(context.Background(), kind, b); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite sends a Close frame and waits for that of the client, or for the
// deadline.
func (s *webSocket) CloseWrite() error {
	_ = s.SetWriteDeadline(time.Now().Add(flushTime))
	return s.ws.Close(s.parting, "")
}
