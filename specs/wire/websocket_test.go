package wire

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gobwas/ws"
)

// fakeWS is fake over WebSocket: serve is called behind the handshake.
func fakeWS(t *testing.T, o Options, serve func(nc *net.TCPConn, in *bufio.Reader)) *Conn {
	t.Helper()
	return dialFake(t, "ws", o, func(nc *net.TCPConn) {
		in := bufio.NewReader(nc)
		request, err := http.ReadRequest(in)
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(nc, switching(request, "Sec-WebSocket-Protocol: mqtt\r\n"))
		serve(nc, in)
	})
}

func switching(r *http.Request, more string) string {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n" + more + "\r\n"
}

// frame returns a frame as a server sends it.
func frame(op Opcode, more bool, payload []byte) []byte {
	return ws.MustCompileFrame(ws.NewFrame(ws.OpCode(op), !more, payload))
}

// cut puts the bytes into frames of n bytes: messages of one frame each, or one
// message of many.
func cut(all []byte, n int, continued bool, between []byte) []byte {
	var out []byte
	op := OpBinary
	for part := range slices.Chunk(all, n) {
		last := len(part) < n || &part[len(part)-1] == &all[len(all)-1]
		out = append(out, frame(op, continued && !last, part)...)
		out = append(out, between...)
		if continued {
			op = OpContinuation
		}
	}
	return out
}

func TestFramesAndPacketsHaveDifferentBorders(t *testing.T) {
	stream := Bytes(V311, Connack{}, Publish{Topic: "a", Payload: strings.Repeat("x", 300)}, Pingresp{})
	for name, between := range map[string][]byte{"": nil, "pings": frame(OpPing, false, []byte("hi")), "pongs": frame(OpPong, false, nil)} {
		for _, continued := range []bool{false, true} {
			for _, n := range []int{1, 3, 4, 5, 100, len(stream)} {
				c := fakeWS(t, Options{Version: V311}, func(nc *net.TCPConn, in *bufio.Reader) {
					_, _ = nc.Write(cut(stream, n, continued, between))
					if name == "pings" {
						h, err := ws.ReadHeader(in)
						if err != nil || h.OpCode != ws.OpPong || !h.Masked || h.Length != 2 {
							t.Errorf("the answer to a ping: %+v, %v", h, err)
						}
					}
					_, _ = nc.Write(frame(OpClose, false, []byte{3, 232}))
					hold(nc)
				})
				why := wait(t, c)
				var got []Type
				for _, r := range c.All() {
					got = append(got, r.Type)
				}
				if want := []Type{CONNACK, PUBLISH, PINGRESP}; !reflect.DeepEqual(got, want) {
					t.Errorf("%s, continued %t, %d bytes a frame: %v, %v", name, continued, n, got, why)
				}
				if want := "the broker closed the connection (Close frame, code 1000)"; why.Error() != want {
					t.Errorf("ended because %v", why)
				}
				if len(c.Violations()) > 0 || !slices.Contains(c.Evidence(), "v311/MQTT-6.0.0-1") {
					t.Errorf("violations %v, evidence %v", c.Violations(), c.Evidence())
				}
			}
		}
	}
}

func TestATextFrameIsReadAndAccused(t *testing.T) {
	c := fakeWS(t, Options{Version: V5}, func(nc *net.TCPConn, _ *bufio.Reader) {
		_, _ = nc.Write(frame(OpText, false, Bytes(V5, Connack{})))
		_, _ = nc.Write(frame(OpBinary, false, Bytes(V5, Pingresp{})))
		hold(nc)
	})
	if _, status := c.Take(time.Now().Add(patience), ofType(PINGRESP)); status != Got {
		t.Fatal(status)
	}
	found := c.Violations()
	if len(found) == 0 || found[0].Key != "v5/MQTT-6.0.0-1" || found[0].Text != "MQTT travels in binary frames, but packet 1 comes in a text frame" {
		t.Errorf("%+v", found)
	}
}

func TestSendFrames(t *testing.T) {
	got := make(chan string, 1)
	c := fakeWS(t, Options{Version: V311}, func(nc *net.TCPConn, in *bufio.Reader) {
		var seen []string
		for range 6 {
			h, err := ws.ReadHeader(in)
			if err != nil || !h.Masked {
				t.Errorf("%+v, %v", h, err)
				break
			}
			payload := make([]byte, h.Length)
			_, _ = io.ReadFull(in, payload)
			ws.Cipher(payload, h.Mask, 0)
			seen = append(seen, fmt.Sprintf("%s %t %x", Opcode(h.OpCode), h.Fin, payload))
		}
		got <- strings.Join(seen, "; ")
		hold(nc)
	})
	pub := Bytes(V311, Publish{Topic: "a"})
	err := errors.Join(c.Send(Pingreq{}), c.SendFrames(
		WSFrame{Op: OpBinary, More: true, Payload: pub[:1]}, WSFrame{Op: OpPing}, WSFrame{Op: OpContinuation, Payload: pub[1:]},
		WSFrame{Op: OpText, Payload: []byte("text")}))
	_ = c.CloseWrite() // the peer may have gone by then
	if err != nil {
		t.Error(err)
	}
	want := "binary true c000; binary false 30; ping true ; continuation true 03000161; text true 74657874; Close true 03e8"
	if all := <-got; all != want {
		t.Errorf("sent %s\nwant %s", all, want)
	}
	if fake(t, Options{}, func(nc *net.TCPConn) { hold(nc) }).SendFrames(WSFrame{}) == nil {
		t.Error("frames go out without a WebSocket")
	}
}

// TestFarewellsOverWebSocket holds what the three ways to end a connection mean
// to a broker.
func TestFarewellsOverWebSocket(t *testing.T) {
	for name, tt := range map[string]struct {
		leave func(c *Conn) error
		frame bool // a Close frame comes first
		reset bool
	}{
		"CloseWrite": {(*Conn).CloseWrite, true, false},
		"Close":      {(*Conn).Close, true, false},
		"Reset":      {(*Conn).Reset, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan error, 1)
			c := fakeWS(t, Options{Version: V311}, func(nc *net.TCPConn, in *bufio.Reader) {
				if tt.frame {
					if h, err := ws.ReadHeader(in); err != nil || h.OpCode != ws.OpClose {
						t.Errorf("%+v, %v", h, err)
					}
				}
				_, err := io.Copy(io.Discard, in)
				_, _ = nc.Write(frame(OpBinary, false, Bytes(V311, Pingresp{})))
				seen <- err
			})
			if err := tt.leave(c); err != nil {
				t.Error(err)
			}
			if err := <-seen; (err != nil) != tt.reset {
				t.Errorf("the broker sees %v", err)
			}
			if _, status := c.Take(time.Now().Add(patience), ofType(PINGRESP)); name == "CloseWrite" && status != Got {
				t.Error("after CloseWrite the broker is read no more")
			}
		})
	}
}

func TestHandshakesThatFail(t *testing.T) {
	for name, tt := range map[string]struct {
		answer func(r *http.Request) string
		want   string
	}{
		"not found":   {func(*http.Request) string { return "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n" }, "it answers the WebSocket handshake with HTTP status 404 Not Found"},
		"a page":      {func(*http.Request) string { return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi" }, "it answers the WebSocket handshake with HTTP status 200 OK"},
		"no upgrade":  {func(*http.Request) string { return "HTTP/1.1 101 Switching Protocols\r\n\r\n" }, "has no header Upgrade: websocket"},
		"another key": {func(*http.Request) string { return switching(&http.Request{}, "") }, "has not the right Sec-WebSocket-Accept"},
		"nothing":     {func(*http.Request) string { return "" }, "it closes the connection in the WebSocket handshake"},
		"MQTT":        {func(*http.Request) string { return "\x20\x02\x00\x00" }, "malformed HTTP"},
		"no end":      {func(*http.Request) string { return "HTTP/1.1 101 Yes\r\n" + strings.Repeat("A: b\r\n", 1<<20) }, "it closes the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			l := listenOnce(t, func(nc *net.TCPConn) {
				request, err := http.ReadRequest(bufio.NewReader(nc))
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.WriteString(nc, tt.answer(request))
			})
			_, err := Open(context.Background(), Address{URL: "ws://" + l + "/mqtt"})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func TestAHandshakeWithoutAnAnswerEndsInTime(t *testing.T) {
	l := listenOnce(t, func(nc *net.TCPConn) { hold(nc) })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, Address{URL: "ws://" + l}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestTheHandshakeOffersMQTT(t *testing.T) {
	for _, tt := range []struct {
		offered []string
		want    string
	}{{nil, "mqtt"}, {[]string{"x-other", "mqtt"}, "x-other, mqtt"}, {[]string{}, ""}} {
		l := listenOnce(t, func(nc *net.TCPConn) {
			request, err := http.ReadRequest(bufio.NewReader(nc))
			if err != nil {
				t.Error(err)
				return
			}
			if got := request.Header.Get("Sec-WebSocket-Protocol"); got != tt.want || request.URL.String() != "/a%2Fb?x=1" {
				t.Errorf("%q for %s, want %q", got, request.URL, tt.want)
			}
			_, _ = io.WriteString(nc, switching(request, "Sec-WebSocket-Protocol: picked\r\n"))
			hold(nc)
		})
		c, err := Dial(context.Background(), Address{URL: "ws://" + l + "/a%2Fb?x=1", Subprotocols: tt.offered}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Subprotocol() != "picked" {
			t.Errorf("subprotocol %q", c.Subprotocol())
		}
		_ = c.Close()
	}
}

func TestFramesWithoutEnd(t *testing.T) {
	for name, piece := range map[string][]byte{
		"pings":        bytes.Repeat(frame(OpPing, false, nil), 100),
		"empty frames": bytes.Repeat(frame(OpBinary, false, nil), 100),
	} {
		t.Run(name, func(t *testing.T) {
			c := fakeWS(t, Options{Version: V311}, func(nc *net.TCPConn, in *bufio.Reader) {
				go func() { _, _ = io.Copy(io.Discard, in) }()
				for {
					if _, err := nc.Write(piece); err != nil {
						return
					}
				}
			})
			if why := wait(t, c); !errors.Is(why, errFlood) {
				t.Errorf("ended because %v", why)
			}
		})
	}
}

// memory is a connection to a broker that has said all that it will ever say.
type memory struct {
	net.Conn
	said *bytes.Reader
}

func (m memory) Read(b []byte) (int, error)       { return m.said.Read(b) }
func (m memory) Write(b []byte) (int, error)      { return len(b), nil }
func (m memory) SetWriteDeadline(time.Time) error { return nil }
func (m memory) Close() error                     { return nil }

func reassembled(raw []byte) ([]byte, error) {
	s := &webSocket{Conn: memory{said: bytes.NewReader(raw)}, patient: time.Second}
	s.in = bufio.NewReader(s.Conn)
	return io.ReadAll(s)
}

// FuzzReassembly holds two things of a WebSocket: whatever bytes come, it does
// not panic and reads no more than they are; and however a stream is cut into
// frames (each byte of cuts says how the next frame is made), it is read as it
// was.
func FuzzReassembly(f *testing.F) {
	f.Add([]byte{0x82, 2, 0xd0, 0}, []byte{1, 0x81, 2, 0x42, 3})
	f.Add([]byte{0x02, 1, 0x20, 0x89, 0, 0x80, 3, 2, 0, 0}, []byte{0x84, 0xc4, 4, 0})
	f.Add([]byte{0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, []byte{})
	f.Add([]byte{0x88, 5, 3, 0xe8, 'b', 'y', 'e'}, []byte{0xff, 0xff, 0x3f})
	f.Fuzz(func(t *testing.T, raw, cuts []byte) {
		got, err := reassembled(raw)
		if len(got) > len(raw) {
			t.Fatalf("%d bytes of %d, %v", len(got), len(raw), err)
		}
		frames := inFrames(raw, cuts)
		got, err = reassembled(frames)
		if !bytes.Equal(got, raw) || err != nil {
			t.Fatalf("%x in the frames %x is read as %x, %v", raw, frames, got, err)
		}
	})
}

// inFrames cuts a stream: the low bits of a cut are the size of a frame, the
// high ones let its message go on, and a control frame follow.
func inFrames(stream, cuts []byte) []byte {
	var out []byte
	op := OpBinary
	for _, c := range cuts {
		n := min(int(c&0x3f), len(stream))
		more := c&0x80 != 0
		out = append(out, frame(op, more, stream[:n])...)
		stream = stream[n:]
		if op = OpBinary; more {
			op = OpContinuation
		}
		if c&0x40 != 0 {
			out = append(out, frame(OpPing, false, []byte{c})...)
		}
	}
	return append(out, frame(op, false, stream)...)
}
