package wire

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// selfSigned returns a certificate for a name, which is its own CA, and both as
// PEM.
func selfSigned(t *testing.T, name string) (pair tls.Certificate, certPEM, keyPEM []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return pair, certPEM, keyPEM
}

// fakeTLS is fake over TLS.
func fakeTLS(t *testing.T, serve func(nc *tls.Conn)) *Conn {
	t.Helper()
	pair, ca, _ := selfSigned(t, "broker.test")
	l := listenOnce(t, func(nc *net.TCPConn) {
		serve(tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{pair}}))
	})
	a := Address{URL: "mqtts://" + l, TLS: TLS{CA: ca, ServerName: "broker.test"}}
	c, err := Dial(context.Background(), a, Options{Version: V311})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestWhomTLSTrusts(t *testing.T) {
	pair, ca, key := selfSigned(t, "broker.test")
	_, other, _ := selfSigned(t, "broker.test")
	for name, tt := range map[string]struct {
		trust TLS
		want  any // type of the error; nil for none
	}{
		"the CA":             {TLS{CA: ca, ServerName: "broker.test"}, nil},
		"anybody":            {TLS{Insecure: true}, nil},
		"the system":         {TLS{ServerName: "broker.test"}, &x509.UnknownAuthorityError{}},
		"another CA":         {TLS{CA: other, ServerName: "broker.test"}, &x509.UnknownAuthorityError{}},
		"another name":       {TLS{CA: ca, ServerName: "else.test"}, &x509.HostnameError{}},
		"the address":        {TLS{CA: ca}, &x509.HostnameError{}},
		"client certificate": {TLS{CA: ca, ServerName: "broker.test", Cert: ca, Key: key}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			shown := make(chan int, 1)
			l := listenOnce(t, func(nc *net.TCPConn) {
				s := tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert})
				_, _ = s.Read(make([]byte, 1))
				shown <- len(s.ConnectionState().PeerCertificates)
			})
			nc, err := Open(context.Background(), Address{URL: "mqtts://" + l, TLS: tt.trust})
			if err == nil {
				_ = nc.Close()
			}
			failed := (*TLSError)(nil)
			if (err != nil) != (tt.want != nil) || err != nil && (!errors.As(err, &failed) || !errors.As(err, tt.want)) {
				t.Errorf("%v, want %T", err, tt.want)
			}
			if n := <-shown; n > 0 != (tt.trust.Cert != nil) {
				t.Errorf("the client shows %d certificates", n)
			}
		})
	}
}

func TestTLSThatCannotBe(t *testing.T) {
	for name, trust := range map[string]TLS{"no CA": {CA: []byte("x")}, "no certificate": {Cert: []byte("x")}} {
		if _, err := Open(context.Background(), Address{URL: "mqtts://127.0.0.1:1", TLS: trust}); err == nil || strings.Contains(err.Error(), "refused") {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := listenOnce(t, func(nc *net.TCPConn) { _, _ = io.WriteString(nc, "HTTP/1.1 400 Bad Request\r\n"); hold(nc) })
	failed := (*TLSError)(nil)
	if _, err := Open(context.Background(), Address{URL: "mqtts://" + plain}); !errors.As(err, &failed) {
		t.Errorf("a listener without TLS: %v", err)
	}
}

// TestSegmentsOverTLS holds that what goes out in pieces is not put together on
// the way.
func TestSegmentsOverTLS(t *testing.T) {
	sizes := make(chan []int, 1)
	c := fakeTLS(t, func(nc *tls.Conn) {
		var got []int
		buf := make([]byte, 100)
		for {
			n, err := nc.Read(buf)
			if n > 0 {
				got = append(got, n)
			}
			if err != nil {
				sizes <- got
				return
			}
		}
	})
	all := Bytes(V311, Publish{Topic: "a"})
	if err := errors.Join(c.SendSplit(all, 1), c.CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if got := <-sizes; !slices.Equal(got, slices.Repeat([]int{1}, len(all))) {
		t.Errorf("%v", got)
	}
}

func TestFarewellsOverTLS(t *testing.T) {
	for name, tt := range map[string]struct {
		leave func(c *Conn) error
		want  error // nil for any but EOF
	}{
		"CloseWrite": {(*Conn).CloseWrite, io.EOF},
		"Close":      {(*Conn).Close, io.EOF},
		"Reset":      {(*Conn).Reset, nil},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan error, 1)
			c := fakeTLS(t, func(nc *tls.Conn) {
				_, err := nc.Read(make([]byte, 1))
				_, _ = nc.Write(bytes.Repeat(Bytes(V311, Pingresp{}), 2))
				seen <- err
			})
			if err := tt.leave(c); err != nil {
				t.Error(err)
			}
			if err := <-seen; err == nil || (tt.want == io.EOF) != (err == io.EOF) {
				t.Errorf("the broker sees %v", err)
			}
			if _, status := c.Take(time.Now().Add(patience), ofType(PINGRESP)); name == "CloseWrite" && status != Got {
				t.Error("after CloseWrite the broker is read no more")
			}
		})
	}
}
