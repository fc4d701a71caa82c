package target_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/internal/target"
)

// pair writes a certificate and its key into files.
func pair(t *testing.T, dir, name string) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return put(t, dir, name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		put(t, dir, name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
}

func put(t *testing.T, dir, name string, b []byte) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func address(t *testing.T, text string) target.Address {
	t.Helper()
	a, err := target.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestTheFilesOfTLSAreRead(t *testing.T) {
	cert, key := pair(t, t.TempDir(), "a")
	flags := target.TLSFlags{CAFile: cert, Cert: cert, Key: key, ServerName: "b", Insecure: true}
	got, err := flags.Read(address(t, "mqtt://h"), address(t, "wss://h"))
	if err != nil || len(got.CA) == 0 || string(got.Cert) != string(got.CA) || !strings.Contains(string(got.Key), "PRIVATE") || got.ServerName != "b" || !got.Insecure {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := (target.TLSFlags{}).Read(address(t, "mqtt://h")); err != nil || got.CA != nil || got.Cert != nil {
		t.Errorf("without flags: %+v, %v", got, err)
	}
}

func TestWhatIsWrongWithTLSIsSaid(t *testing.T) {
	dir := t.TempDir()
	cert, key := pair(t, dir, "a")
	_, other := pair(t, dir, "b")
	junk := put(t, dir, "junk", []byte("junk"))
	locked := put(t, dir, "locked", pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")}))
	large := put(t, dir, "large", make([]byte, 5<<20))
	for _, tc := range []struct {
		flags target.TLSFlags
		want  string
	}{
		{target.TLSFlags{CAFile: dir + "/none"}, "--cafile DIR/none: no such file or directory"},
		{target.TLSFlags{CAFile: dir}, "--cafile DIR: is a directory"},
		{target.TLSFlags{CAFile: junk}, "--cafile DIR/junk holds no certificate in the form PEM"},
		{target.TLSFlags{CAFile: key}, "--cafile DIR/a.key holds no certificate in the form PEM"},
		{target.TLSFlags{CAFile: large}, "--cafile DIR/large: it is too large for a certificate or key"},
		{target.TLSFlags{Cert: cert}, "--cert without --key: a certificate needs its private key"},
		{target.TLSFlags{Key: key}, "--key without --cert: a private key needs its certificate"},
		{target.TLSFlags{Cert: dir + "/none", Key: key}, "--cert DIR/none: no such file or directory"},
		{target.TLSFlags{Cert: cert, Key: dir + "/none"}, "--key DIR/none: no such file or directory"},
		{target.TLSFlags{Cert: cert, Key: other}, "--cert DIR/a.pem and --key DIR/b.key: private key does not match public key"},
		{target.TLSFlags{Cert: junk, Key: key}, "--cert DIR/junk and --key DIR/a.key: failed to find any PEM data in certificate input"},
		{target.TLSFlags{Cert: cert, Key: locked}, "--key DIR/locked is encrypted: give a key without a passphrase"},
	} {
		_, err := tc.flags.Read(address(t, "mqtts://h"))
		if err == nil || strings.ReplaceAll(err.Error(), dir, "DIR") != tc.want {
			t.Errorf("%+v:\n got %v\nwant %s", tc.flags, err, tc.want)
		}
	}
	if _, err := (target.TLSFlags{Insecure: true}).Read(address(t, "ws://h")); err == nil || err.Error() != "--insecure is for mqtts:// and wss://: write such an address, or leave it out" {
		t.Errorf("without TLS: %v", err)
	}
}

func TestFurtherListeners(t *testing.T) {
	all, err := target.Also([]string{"ws://h/x", "mqtts://h"})
	if err != nil || len(all) != 2 || all[0].URL() != "ws://h:80/x" || !all[1].Secure() {
		t.Errorf("%v, %v", all, err)
	}
	for text, want := range map[string]string{
		"h:1":           `--also: "h:1" is no address: write mqtt://h:1`,
		"ws://u:cret@h": "--also ws://***@h: the user name and password of the broker hold for all its listeners: leave them out",
	} {
		if _, err := target.Also([]string{text}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
