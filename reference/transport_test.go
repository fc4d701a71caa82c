package reference

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"go.uber.org/goleak"
)

// everyTransport is an address of each.
var everyTransport = []string{"mqtt://127.0.0.1:0", "mqtts://127.0.0.1:0", "ws://127.0.0.1:0", "wss://127.0.0.1:0/deep/mqtt"}

func TestOneBrokerOverEveryTransport(t *testing.T) {
	b := begin(t, Options{Listen: everyTransport})
	if urls := b.URLs(); !strings.HasSuffix(urls[2], "/mqtt") || !strings.HasSuffix(urls[3], "/deep/mqtt") {
		t.Errorf("URLs %q", urls)
	}
	var peers []*peer
	for _, url := range b.URLs() {
		p := join(t, url, 5, url)
		p.send(subscribe(5, "all", 0))
		p.expect(0x90)
		peers = append(peers, p)
	}
	big := strings.Repeat("x", 300<<10)
	join(t, b.URL(), 4, "publisher").send(publish0("all", []byte(big)))
	for i, p := range peers {
		if body := p.expect(0x30); !strings.HasSuffix(string(body), big) {
			t.Errorf("%s gets %d bytes", b.URLs()[i], len(body))
		}
		p.send([]byte{0x36, 0}) // PUBLISH with QoS 3
		if body := p.expect(0xE0); body[0] != 0x81 {
			t.Errorf("%s: DISCONNECT %#x", b.URLs()[i], body[0])
		}
		p.ends()
	}
}

func TestTheCertificateIsMadeOrGiven(t *testing.T) {
	made := begin(t, Options{Listen: []string{"mqtts://127.0.0.1:0"}})
	trust := x509.NewCertPool()
	if !trust.AppendCertsFromPEM(made.CA()) {
		t.Fatal("no CA")
	}
	nc, err := tls.Dial("tcp", strings.TrimPrefix(made.URL(), "mqtts://"), &tls.Config{RootCAs: trust})
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()

	own, ca, err := selfSigned("broker.test")
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM(ca)
	given := begin(t, Options{Listen: []string{"mqtts://127.0.0.1:0"}, Certificates: []tls.Certificate{own}, ClientCAs: clients})
	if given.CA() != nil {
		t.Error("a certificate was made all the same")
	}
	config := &tls.Config{RootCAs: clients, ServerName: "broker.test"}
	if nc, err = tls.Dial("tcp", strings.TrimPrefix(given.URL(), "mqtts://"), config); err == nil {
		_, err = nc.Read(make([]byte, 1))
	}
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a client without a certificate: %v", err)
	}
}

func TestHandshakesOfWebSocket(t *testing.T) {
	for _, tt := range []struct {
		offered []string
		policy  string
		picked  string
		refused bool
	}{
		{[]string{"mqtt"}, "required", "mqtt", false},
		{[]string{"x-other", "mqtt"}, "required", "mqtt", false},
		{[]string{"x-other"}, "required", "", true},
		{nil, "required", "", true},
		{[]string{"x-other"}, "optional", "", false},
		{nil, "optional", "", false},
	} {
		b := begin(t, Options{Listen: everyTransport, Policies: map[string]string{"subprotocol": tt.policy}})
		c, err := openWS(b.URLs()[2], tt.offered...)
		if (err != nil) != tt.refused {
			t.Errorf("%+v: %v", tt, err)
		}
		if err == nil && c.Subprotocol() != tt.picked {
			t.Errorf("%+v: %q", tt, c.Subprotocol())
		}
		for url, want := range map[string]int{"/mqtt": 400, "/": 404, "/mqtt/more": 404} {
			answer, err := http.Get("http" + strings.TrimSuffix(strings.TrimPrefix(b.URLs()[2], "ws"), "/mqtt") + url)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			// Without the policy a plain request gets as far as the upgrade.
			if got := answer.StatusCode; got != want && !(tt.policy == "optional" && got == http.StatusUpgradeRequired && want == 400) {
				t.Errorf("GET %s: %d, want %d", url, got, want)
			}
		}
	}
}

func TestATextMessageEndsAWebSocket(t *testing.T) {
	b := begin(t, Options{Listen: []string{"ws://127.0.0.1:0"}})
	for _, late := range []bool{false, true} {
		c, err := openWS(b.URL(), "mqtt")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		if late {
			_ = c.Write(ctx, websocket.MessageBinary, connect(4, "late"))
			if kind, b, err := c.Read(ctx); kind != websocket.MessageBinary || b[0] != 0x20 || err != nil {
				t.Errorf("%v % x %v", kind, b, err)
			}
		}
		_ = c.Write(ctx, websocket.MessageText, connect(4, "text"))
		if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusUnsupportedData {
			t.Errorf("late %t: %v, want a Close frame with code 1003", late, err)
		}
		cancel()
	}
}

// A handshake has its time, and costs nothing once the broker is gone.
func TestUnfinishedHandshakes(t *testing.T) {
	// The HTTP server lingers behind a refusal.
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
	for i, beginning := range []string{"", "\x16\x03\x01", "GET /mqtt HTTP/1.1\r\n", "GET /mqtt HTTP/1.1\r\nA: " + strings.Repeat("a", 64<<10)} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			b := begin(t, Options{Listen: everyTransport, Second: 20 * time.Millisecond})
			for _, url := range b.URLs() {
				_, rest, _ := strings.Cut(url, "://")
				host, _, _ := strings.Cut(rest, "/")
				nc, err := net.Dial("tcp", host)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				_, _ = io.WriteString(nc, beginning)
				_ = nc.SetReadDeadline(time.Now().Add(patience))
				if _, err := io.Copy(io.Discard, nc); err != nil && !strings.Contains(err.Error(), "reset") {
					t.Errorf("%s: %v", url, err)
				}
			}
		})
	}
}

// A client may leave in the middle of anything.
func TestAWebSocketThatBreaks(t *testing.T) {
	b := begin(t, Options{Listen: []string{"ws://127.0.0.1:0", "mqtt://127.0.0.1:0"}})
	watch := join(t, b.URLs()[1], 4, "watch")
	watch.send(subscribe(4, "will", 0))
	watch.expect(0x90)
	will := frame(0x10, text("MQTT"), []byte{4, 6, 0, 0}, text("dying"), text("will"), text("gone"))
	for name, leave := range map[string]func(c *websocket.Conn){
		"a Close frame": func(c *websocket.Conn) { _ = c.Close(websocket.StatusGoingAway, "") },
		"no farewell":   func(c *websocket.Conn) { _ = c.CloseNow() },
	} {
		c, err := openWS(b.URL(), "mqtt")
		if err != nil {
			t.Fatal(err)
		}
		nc := websocket.NetConn(context.Background(), c, websocket.MessageBinary)
		p := &peer{t, nc, bufio.NewReader(nc)}
		p.send(will)
		p.expect(0x20)
		p.pings()
		leave(c)
		if body := watch.expect(0x30); !strings.HasSuffix(string(body), "gone") {
			t.Errorf("%s: %q", name, body)
		}
	}
}
