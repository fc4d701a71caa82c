package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// authority signs certificates for a test and writes them into files.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority returns a new authority, whose own certificate is in ca.pem.
func newAuthority(t testing.TB) authority {
	t.Helper()
	a := authority{dir: t.TempDir()}
	template := certificate("authority", time.Hour)
	template.IsCA, template.BasicConstraintsValid = true, true
	a.cert, a.key = a.sign(t, "ca", template)
	return a
}

func (a authority) file(name string) string { return filepath.Join(a.dir, name) }

// issue writes NAME.pem and NAME.key: a certificate for hosts that ends after
// some time.
func (a authority) issue(t testing.TB, name string, life time.Duration, hosts ...string) (cert, key string) {
	t.Helper()
	template := certificate(name, life)
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	a.sign(t, name, template)
	return a.file(name + ".pem"), a.file(name + ".key")
}

func certificate(name string, life time.Duration) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(life),
	}
}

// sign signs with the key of the authority; its own certificate with the new
// key.
func (a authority) sign(t testing.TB, name string, template *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	parent, signer := a.cert, a.key
	if signer == nil {
		parent, signer = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		name + ".pem": {Type: "CERTIFICATE", Bytes: der}, name + ".key": {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(a.file(file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}
