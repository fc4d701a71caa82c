package reference

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// handshakeSeconds is how long a client may take for the handshake of a
// WebSocket.
const handshakeSeconds = 10

// maxHandshake bounds the header of a handshake.
const maxHandshake = 8 << 10

// listener is one address that the broker listens on.
type listener struct {
	net.Listener
	web *http.Server // of a WebSocket; nil for all others
}

// close ends it, and the handshakes that are not done.
func (l listener) close() error {
	if l.web != nil {
		return l.web.Close()
	}
	return l.Listener.Close()
}

// listen opens a listener at a URL, whose scheme is the transport.
// [v5/MQTT-4.2-1] [v5/4.2-other-transports]
func (b *Broker) listen(address string, o Options) error {
	u, err := url.Parse(address)
	secure, web := false, false
	if err == nil {
		secure = u.Scheme == "mqtts" || u.Scheme == "wss"
		web = u.Scheme == "ws" || u.Scheme == "wss"
	}
	if err != nil || u.Scheme != "mqtt" && !secure && !web || u.Host == "" || u.User != nil || u.Path != "" && !web || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("reference: listen address %q: write mqtt://HOST:PORT, or mqtts, ws or wss in its place", address)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil {
		return fmt.Errorf("reference: listen address %q: the port is a number from 0 to 65535", address)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(u.Hostname(), strconv.FormatUint(port, 10)))
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	if secure {
		config, err := b.tlsConfig(o, u.Hostname())
		if err != nil {
			return errors.Join(err, l.Close())
		}
		l = securely{l, config}
	}
	opened := url.URL{Scheme: u.Scheme, Host: l.Addr().String()}
	if web {
		if opened.Path = u.Path; opened.Path == "" {
			opened.Path = "/mqtt"
		}
	}
	b.listeners = append(b.listeners, listener{Listener: l, web: b.webServer(web, opened.Path, o.Second)})
	b.urls = append(b.urls, opened.String())
	return nil
}

// webServer returns what does the handshakes of WebSockets at a path.
func (b *Broker) webServer(wanted bool, path string, second time.Duration) *http.Server {
	if !wanted {
		return nil
	}
	if second == 0 {
		second = time.Second
	}
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != path {
				http.NotFound(w, r)
				return
			}
			b.upgrade(w, r)
		}),
		ReadHeaderTimeout: handshakeSeconds * second,
		MaxHeaderBytes:    maxHandshake,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	s.SetKeepAlivesEnabled(false)
	return s
}

// tlsConfig returns how the broker speaks TLS: with the certificate of the
// options, or one that it makes.
func (b *Broker) tlsConfig(o Options, host string) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: o.Certificates}
	if o.ClientCAs != nil {
		config.ClientCAs, config.ClientAuth = o.ClientCAs, tls.RequireAndVerifyClientCert
	}
	if len(config.Certificates) > 0 {
		return config, nil
	}
	made, ca, err := selfSigned("localhost", "127.0.0.1", "::1", host)
	if err != nil {
		return nil, err
	}
	config.Certificates = []tls.Certificate{made}
	b.ca = append(b.ca, ca...)
	return config, nil
}

// securely is a listener over TLS.
type securely struct {
	net.Listener
	config *tls.Config
}

// Accept leaves the handshake to the first read.
func (s securely) Accept() (net.Conn, error) {
	nc, err := s.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return secured{tls.Server(nc, s.config)}, nil
}

// secured is a connection over TLS.
type secured struct{ *tls.Conn }

// CloseWrite says by TLS and then by TCP that nothing more comes.
func (s secured) CloseWrite() error {
	err := s.Conn.CloseWrite()
	if half, ok := s.NetConn().(interface{ CloseWrite() error }); ok {
		err = errors.Join(err, half.CloseWrite())
	}
	return err
}

// Close ends the connection at once: to say so by TLS could take a while with a
// client that does not read.
func (s secured) Close() error { return s.NetConn().Close() }

// accept takes connections until the listener is closed.
func (b *Broker) accept(l listener) {
	defer b.wg.Done()
	if l.web != nil {
		_ = l.web.Serve(l.Listener) // until it is closed
		return
	}
	for {
		nc, err := l.Accept()
		switch {
		case err == nil:
			b.take(nc)
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		// Out of file descriptors, as a rule: connections must end first.
		select {
		case <-b.done:
			return
		case <-time.After(acceptPause):
		}
	}
}

// take serves a connection, unless the broker has ended.
func (b *Broker) take(nc net.Conn) {
	b.mu.Lock()
	if b.ended {
		b.mu.Unlock()
		_ = nc.Close()
		return
	}
	b.next++
	l := newLink(b.next, nc)
	l.delay, l.bytes = b.delay, b.bytes
	b.conns[l.id] = l
	b.wg.Add(2)
	b.mu.Unlock()
	go b.read(l)
	go b.write(l)
}
