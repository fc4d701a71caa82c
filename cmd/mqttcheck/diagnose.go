package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// dialError returns the cause of a failed dial without the address, which
// stands before it already, and what to do about it.
func dialError(t probe.Target, url string, err error) string {
	var handshake *wire.HandshakeError
	var secured *wire.TLSError
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded):
		return "no answer in time"
	case errors.As(err, &dns):
		return "there is no host " + dns.Name
	case errors.As(err, &handshake):
		return handshakeError(url, handshake)
	case errors.As(err, &secured):
		return tlsError(t, url, secured.Err)
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "it does not answer the WebSocket handshake by HTTP"
	case errors.As(err, &op) && op.Err != nil:
		return strings.TrimPrefix(op.Err.Error(), "connect: ")
	}
	return err.Error()
}

// handshakeError is about an HTTP server that makes no WebSocket of the
// connection.
func handshakeError(url string, err *wire.HandshakeError) string {
	text := err.Text
	if a, wrong := target.Parse(url); err.Status == 404 && wrong == nil {
		path, _, _ := strings.Cut(a.Path, "?")
		text += fmt.Sprintf(": is %s the path of MQTT?", path)
	}
	return text
}

// tlsError is about a handshake of TLS that fails.
func tlsError(t probe.Target, url string, err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var op *net.OpError
	plain := "for a listener without TLS write " + plainScheme(url) + "://"
	switch {
	case errors.As(err, &unknown):
		return "its certificate is signed by an authority that is not trusted: name that with --cafile, or trust any with --insecure"
	case errors.As(err, &name):
		return fmt.Sprintf("its certificate is for %s and not for %s: connect to such a name, or say --server-name", namesOf(name.Certificate), name.Host)
	case errors.As(err, &invalid):
		return strings.TrimPrefix(invalid.Error(), "x509: ")
	case errors.As(err, &record):
		return "it does not speak TLS: " + plain
	case errors.As(err, &op) && op.Op == "remote error":
		return alertError(t, op.Err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "it closes the connection in the handshake of TLS: " + plain
	}
	return "the handshake of TLS fails: " + strings.TrimPrefix(err.Error(), "tls: ")
}

// plainScheme returns the scheme of a URL without TLS.
func plainScheme(url string) string {
	if strings.HasPrefix(url, "wss:") {
		return "ws"
	}
	return "mqtt"
}

// namesOf returns for whom a certificate is, as text that cannot move a cursor.
func namesOf(c *x509.Certificate) string {
	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return "no host"
	}
	if len(names) > 3 {
		names = append(names[:3], "others")
	}
	for i, n := range names {
		if quoted := fmt.Sprintf("%q", n); quoted != `"`+n+`"` {
			names[i] = quoted
		}
	}
	return strings.Join(names, ", ")
}

// alertError is about a broker that ends TLS with an alert.
func alertError(t probe.Target, alert error) string {
	text := strings.TrimPrefix(alert.Error(), "tls: ")
	if strings.Contains(text, "certificate required") || strings.Contains(text, "handshake failure") && len(t.TLS.Cert) == 0 {
		return "it wants a certificate of the client (" + text + "): give one with --cert and --key"
	}
	return "it refuses TLS: " + text
}

// alerted tells whether a broker has ended a connection with an alert of TLS.
func alerted(err error) (alert error, ok bool) {
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return op.Err, true
	}
	return nil, false
}

// speaksHTTP tells whether what did not answer CONNECT is an HTTP server: such a
// one waits for the end of a line.
func speaksHTTP(conn net.Conn) bool {
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "\r\n\r\n"); err != nil {
		return false
	}
	buf := make([]byte, 5)
	_, err := io.ReadFull(conn, buf)
	return err == nil && string(buf) == "HTTP/"
}

// speaksTLS tells whether there is TLS at an address where it was not expected,
// whosever certificate it has.
func speaksTLS(ctx context.Context, a target.Address) bool {
	if a.Secure() {
		return false
	}
	limited, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	nc, err := wire.Open(limited, wire.Address{URL: a.In("mqtts").URL(), TLS: wire.TLS{Insecure: true}})
	if err == nil {
		_ = nc.Close()
	}
	secured := (*wire.TLSError)(nil)
	if errors.As(err, &secured) {
		_, says := alerted(secured.Err)
		return says
	}
	return err == nil
}

// suggest finds out about what is no broker at the address whether there would
// be one in another scheme.
func suggest(ctx context.Context, t probe.Target, results []hello) {
	a, err := target.Parse(t.URL)
	if err != nil {
		return
	}
	for i, h := range results {
		switch {
		case h.shape == unreachable && a.WebSocket():
		case h.shape == closed, h.shape == silent, h.shape == foreign:
		default:
			return
		}
		if h.seen == seenHTTP && !a.WebSocket() {
			scheme := "ws"
			if a.Secure() {
				scheme = "wss"
			}
			results[i].seen += ": for MQTT over WebSocket write " + a.In(scheme).URL()
			return
		}
	}
	if !speaksTLS(ctx, a) {
		return
	}
	scheme := "mqtts"
	if a.WebSocket() {
		scheme = "wss"
	}
	for i := range results {
		results[i] = hello{shape: foreign, seen: "it speaks TLS: write " + target.Mask(a.In(scheme).URL())}
	}
}

// seenHTTP is what is said of an HTTP server.
const seenHTTP = "it speaks HTTP"
