package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"
)

// Subprotocol is the name of MQTT among the subprotocols of WebSocket.
const Subprotocol = "mqtt"

// maxHandshake bounds the bytes that are read of the answer to a handshake.
const maxHandshake = 64 << 10

// HandshakeError is an answer to the handshake of a WebSocket that is not 101
// Switching Protocols, or not one by RFC 6455, or the end of the connection.
type HandshakeError struct {
	Status int    // of HTTP; 0 for the end
	Text   string // what is wrong
}

func (e *HandshakeError) Error() string { return e.Text }

// upgrade makes a WebSocket of a connection, which it closes on an error.
func upgrade(ctx context.Context, nc net.Conn, a Address, u *url.URL) (net.Conn, error) {
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(time.Unix(1, 0)) })
	s, err := shakeHands(nc, a, u)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = nc.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return s, nil
}

func shakeHands(nc net.Conn, a Address, u *url.URL) (*webSocket, error) {
	key := base64.StdEncoding.EncodeToString([]byte(rand.Text()[:16]))
	request := handshake(u, key, a.Subprotocols)
	if _, err := nc.Write(request); err != nil {
		return nil, err
	}
	bounded := &io.LimitedReader{R: nc, N: maxHandshake}
	in := bufio.NewReaderSize(bounded, 16<<10)
	answer, err := http.ReadResponse(in, &http.Request{Method: http.MethodGet})
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return nil, &HandshakeError{Text: "it closes the connection in the WebSocket handshake"}
	case err != nil:
		return nil, fmt.Errorf("the WebSocket handshake: %w", err)
	}
	defer answer.Body.Close()
	if err := judgeHandshake(answer, key); err != nil {
		return nil, err
	}
	bounded.N = math.MaxInt64
	return &webSocket{
		Conn: nc, in: in, patient: writeTimeout,
		subprotocol: strings.Join(answer.Header.Values("Sec-WebSocket-Protocol"), ", "),
	}, nil
}

// handshake returns the request; nil subprotocols stand for mqtt.
func handshake(u *url.URL, key string, subprotocols []string) []byte {
	if subprotocols == nil {
		subprotocols = []string{Subprotocol}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n", u.RequestURI(), u.Host)
	fmt.Fprintf(&b, "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n", key)
	if len(subprotocols) > 0 {
		fmt.Fprintf(&b, "Sec-WebSocket-Protocol: %s\r\n", strings.Join(subprotocols, ", "))
	}
	b.WriteString("\r\n")
	return b.Bytes()
}

// judgeHandshake tells whether the answer makes the connection a WebSocket. The
// subprotocol is left to whoever wants to judge it.
func judgeHandshake(answer *http.Response, key string) error {
	refused := func(format string, args ...any) error {
		return &HandshakeError{Status: answer.StatusCode, Text: fmt.Sprintf(format, args...)}
	}
	accept := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	switch {
	case answer.StatusCode != http.StatusSwitchingProtocols:
		return refused("it answers the WebSocket handshake with HTTP status %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	case !strings.EqualFold(answer.Header.Get("Upgrade"), "websocket"):
		return refused("its answer to the WebSocket handshake has no header Upgrade: websocket")
	case answer.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(accept[:]):
		return refused("its answer to the WebSocket handshake has not the right Sec-WebSocket-Accept")
	}
	return nil
}
