package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/url"
)

// TLS is what a connection over TLS trusts and shows. It is plain data, so that
// it can be handed to a child process.
type TLS struct {
	// CA holds the certificates that are trusted, as PEM; without any those of
	// the system are.
	CA []byte `json:"ca,omitempty"`
	// Cert and Key are the certificate of the client, as PEM.
	Cert []byte `json:"cert,omitempty"`
	Key  []byte `json:"key,omitempty"`
	// ServerName is the name that the certificate of the broker has to be for;
	// "" stands for the host of the URL.
	ServerName string `json:"serverName,omitempty"`
	// Insecure takes any certificate.
	Insecure bool `json:"insecure,omitempty"`
}

func (t TLS) config(host string) (*tls.Config, error) {
	c := &tls.Config{ServerName: t.ServerName, InsecureSkipVerify: t.Insecure, MinVersion: tls.VersionTLS12}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if len(t.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, errors.New("no certificate in the PEM of the CA")
		}
	}
	if len(t.Cert) > 0 {
		pair, err := tls.X509KeyPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// tlsStream is a connection over TLS whose halves can be ended.
type tlsStream struct{ *tls.Conn }

// CloseWrite says by TLS and then by TCP that nothing more comes.
func (s tlsStream) CloseWrite() error {
	return errors.Join(s.Conn.CloseWrite(), closeWrite(underlying(s.Conn)))
}

func dialTLS(ctx context.Context, a Address, u *url.URL) (net.Conn, error) {
	return dialTLSAt(ctx, a, u, "8883")
}

func dialTLSAt(ctx context.Context, a Address, u *url.URL, usual string) (net.Conn, error) {
	config, err := a.TLS.config(u.Hostname())
	if err != nil {
		return nil, err
	}
	nc, err := dialTCPAt(ctx, hostPort(u, usual))
	if err != nil {
		return nil, err
	}
	secured := tls.Client(nc, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = nc.Close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, &TLSError{err}
	}
	return tlsStream{secured}, nil
}

// TLSError is a failed handshake of TLS.
type TLSError struct{ Err error }

func (e *TLSError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *TLSError) Unwrap() error { return e.Err }
