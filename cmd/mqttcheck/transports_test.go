package main

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference"
)

// transports starts the reference broker with listeners of all kinds, and what
// may be mistaken for one, each until the end of the test. It returns their
// addresses without a scheme, and files, by the name of the variable that
// scripts know them by.
func transports(t testing.TB) map[string]string {
	t.Helper()
	a := newAuthority(t)
	cert, key := a.issue(t, "broker", time.Hour, "broker.test")
	stale, staleKey := a.issue(t, "stale", -time.Hour, "127.0.0.1")
	a.issue(t, "client", time.Hour)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(site.Close)

	all := map[string]string{
		"CA": a.file("ca.pem"), "CERT": cert, "KEY": key, "DIR": a.dir,
		"CLIENT": a.file("client.pem"), "CLIENT_KEY": a.file("client.key"), "OTHER_CA": newAuthority(t).file("ca.pem"),
		"SITE": strings.TrimPrefix(site.URL, "http://"),
	}
	for name, o := range map[string]reference.Options{
		"PLAIN":   {Listen: []string{"mqtt://127.0.0.1:0"}},
		"WEB":     {Listen: []string{"ws://127.0.0.1:0"}},
		"SECURE":  {Listen: []string{"mqtts://127.0.0.1:0"}, Certificates: load(t, cert, key)},
		"STALE":   {Listen: []string{"mqtts://127.0.0.1:0"}, Certificates: load(t, stale, staleKey)},
		"WSECURE": {Listen: []string{"wss://127.0.0.1:0"}, Certificates: load(t, cert, key)},
		"MUTUAL":  {Listen: []string{"mqtts://127.0.0.1:0"}, Certificates: load(t, cert, key), ClientCAs: pool(t, all["CA"])},
	} {
		b, err := reference.Start(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		_, address, _ := strings.Cut(b.URL(), "://")
		all[name], _, _ = strings.Cut(address, "/")
	}
	return all
}

func load(t testing.TB, cert, key string) []tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	return []tls.Certificate{pair}
}

func pool(t testing.TB, file string) *x509.CertPool {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := x509.NewCertPool()
	p.AppendCertsFromPEM(b)
	return p
}

// A broker behind TLS that is not MQTT is told from one.
func TestStrangersBehindTLS(t *testing.T) {
	a := newAuthority(t)
	cert, key := a.issue(t, "broker", time.Hour, "127.0.0.1")
	config := &tls.Config{Certificates: load(t, cert, key)}
	behind := func(serve func(net.Conn)) string {
		return "mqtts" + strings.TrimPrefix(listen(t, func(c net.Conn) { serve(tls.Server(c, config)) }), "mqtt")
	}
	for name, tt := range map[string]struct{ url, want string }{
		"close":  {behind(func(c net.Conn) { _, _ = c.Read(make([]byte, 1)); _ = c.Close() }), "is no MQTT broker: it closes the connection"},
		"HTTP":   {behind(answering("HTTP/1.1 400 Bad Request\r\n\r\n")), "it speaks HTTP: for MQTT over WebSocket write wss://127.0.0.1:"},
		"refuse": {behind(answering("\x20\x02\x00\x05")), "refuses the credentials"},
	} {
		code, _, talk := judge(t, tt.url, "--cafile", a.file("ca.pem"), "-V", "3.1.1")
		if code != exitBroker || !strings.Contains(talk, tt.want) || strings.Count(talk, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, want %q", name, code, talk, tt.want)
		}
	}
}
