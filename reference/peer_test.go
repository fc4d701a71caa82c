package reference

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// patience bounds the wait of a test for what must come.
const patience = 60 * time.Second

// peer is a client made of bytes: it does what no client library would.
type peer struct {
	t  *testing.T
	nc net.Conn
	r  *bufio.Reader
}

// dial connects to a broker without a word.
func dial(t *testing.T, url string) *peer {
	t.Helper()
	scheme, address, _ := strings.Cut(url, "://")
	var nc net.Conn
	var err error
	switch scheme {
	case "mqtt":
		nc, err = net.Dial("tcp", address)
	case "mqtts":
		nc, err = tls.Dial("tcp", address, anybody)
	default:
		nc, err = dialWS(url, "mqtt")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nc.Close() })
	return &peer{t, nc, bufio.NewReader(nc)}
}

// anybody trusts every broker.
var anybody = &tls.Config{InsecureSkipVerify: true}

func dialWS(url string, subprotocols ...string) (net.Conn, error) {
	c, err := openWS(url, subprotocols...)
	if err != nil {
		return nil, err
	}
	return websocket.NetConn(context.Background(), c, websocket.MessageBinary), nil
}

func openWS(url string, subprotocols ...string) (*websocket.Conn, error) {
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: anybody, DisableKeepAlives: true}}
	c, _, err := websocket.Dial(context.Background(), url, &websocket.DialOptions{HTTPClient: client, Subprotocols: subprotocols})
	return c, err
}

// join connects and is accepted.
func join(t *testing.T, url string, version byte, id string) *peer {
	t.Helper()
	p := dial(t, url)
	p.send(connect(version, id))
	if first, body := p.read(); first != 0x20 || body[1] != 0 {
		t.Fatalf("CONNACK %x % x", first, body)
	}
	return p
}

func (p *peer) send(b []byte) {
	p.t.Helper()
	_ = p.nc.SetWriteDeadline(time.Now().Add(patience))
	if _, err := p.nc.Write(b); err != nil {
		p.t.Fatal(err)
	}
}

// read returns the next packet.
func (p *peer) read() (first byte, body []byte) {
	p.t.Helper()
	_ = p.nc.SetReadDeadline(time.Now().Add(patience))
	first, err := p.r.ReadByte()
	if err != nil {
		p.t.Fatalf("reading a packet: %v", err)
	}
	n, err := binary.ReadUvarint(p.r)
	if err != nil {
		p.t.Fatalf("reading a length: %v", err)
	}
	body = make([]byte, n)
	if _, err := io.ReadFull(p.r, body); err != nil {
		p.t.Fatalf("reading a body: %v", err)
	}
	return first, body
}

// expect demands that the next packet has this first byte.
func (p *peer) expect(first byte) []byte {
	p.t.Helper()
	got, body := p.read()
	if got != first {
		p.t.Fatalf("got packet %x % x, want %x", got, body, first)
	}
	return body
}

// ends demands that the broker closes, and not by a reset, after at most the
// packets that the peer has not read.
func (p *peer) ends() {
	p.t.Helper()
	_ = p.nc.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, p.r); err != nil {
		p.t.Fatalf("the connection ended with %v", err)
	}
}

// pings demands that the broker still serves the peer.
func (p *peer) pings() {
	p.t.Helper()
	p.send([]byte{0xC0, 0})
	p.expect(0xD0)
}

// frame puts a fixed header before a body.
func frame(first byte, body ...[]byte) []byte {
	n := 0
	for _, b := range body {
		n += len(b)
	}
	out := binary.AppendUvarint([]byte{first}, uint64(n))
	for _, b := range body {
		out = append(out, b...)
	}
	return out
}

func text(s string) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(s))), s...)
}

// connect is a CONNECT that starts clean, with Keep Alive off.
func connect(version byte, id string) []byte {
	return connectAs(version, id, "", "")
}

func connectAs(version byte, id, user, password string) []byte {
	flags := byte(0x02)
	payload := text(id)
	if user != "" {
		flags |= 0xC0
		payload = append(append(payload, text(user)...), text(password)...)
	}
	head := append(text("MQTT"), version, flags, 0, 0)
	if version == 5 {
		head = append(head, 0)
	}
	return frame(0x10, head, payload)
}

func subscribe(version byte, filter string, qos byte) []byte {
	head := []byte{0, 1}
	if version == 5 {
		head = append(head, 0)
	}
	return frame(0x82, head, text(filter), []byte{qos})
}

func publish0(topic string, payload []byte) []byte { return frame(0x30, text(topic), payload) }

func publish1(topic string, id uint16, payload []byte) []byte {
	return frame(0x32, text(topic), binary.BigEndian.AppendUint16(nil, id), payload)
}
