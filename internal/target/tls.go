package target

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// TLSFlags are --cafile, --cert, --key, --server-name and --insecure as they
// were given; "" stands for not given.
type TLSFlags struct {
	CAFile, Cert, Key string
	ServerName        string
	Insecure          bool
}

// TLS is what the flags stand for: the content of the files, as PEM.
type TLS struct {
	CA         []byte
	Cert, Key  []byte
	ServerName string
	Insecure   bool
}

// maxPEM bounds a file that is read.
const maxPEM = 4 << 20

// given returns the first flag that was given, "" when none was.
func (f TLSFlags) given() string {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--cafile", f.CAFile != ""}, {"--cert", f.Cert != ""}, {"--key", f.Key != ""},
		{"--server-name", f.ServerName != ""}, {"--insecure", f.Insecure},
	} {
		if flag.given {
			return flag.name
		}
	}
	return ""
}

// Read reads the files for a run on the listeners.
func (f TLSFlags) Read(listeners ...Address) (TLS, error) {
	name := f.given()
	switch {
	case name == "":
		return TLS{}, nil
	case !slices.ContainsFunc(listeners, Address.Secure):
		return TLS{}, fmt.Errorf("%s is for mqtts:// and wss://: write such an address, or leave it out", name)
	}
	t := TLS{ServerName: f.ServerName, Insecure: f.Insecure}
	var err error
	if t.CA, err = ReadCA(f.CAFile); err != nil {
		return TLS{}, err
	}
	t.Cert, t.Key, err = ReadPair(f.Cert, f.Key)
	return t, err
}

// ReadCA reads the certificates of --cafile, as PEM; nil when it was not given.
func ReadCA(file string) ([]byte, error) {
	if file == "" {
		return nil, nil
	}
	b, err := readFile("--cafile", file)
	if err != nil {
		return nil, err
	}
	if !x509.NewCertPool().AppendCertsFromPEM(b) {
		return nil, fmt.Errorf("--cafile %s holds no certificate in the form PEM", printable(file))
	}
	return b, nil
}

// ReadPair reads the files of --cert and --key, as PEM; nil when they were not
// given.
func ReadPair(certFile, keyFile string) (cert, key []byte, err error) {
	switch {
	case certFile == "" && keyFile == "":
		return nil, nil, nil
	case keyFile == "":
		return nil, nil, errors.New("--cert without --key: a certificate needs its private key")
	case certFile == "":
		return nil, nil, errors.New("--key without --cert: a private key needs its certificate")
	}
	if cert, err = readFile("--cert", certFile); err != nil {
		return nil, nil, err
	}
	if key, err = readFile("--key", keyFile); err != nil {
		return nil, nil, err
	}
	if block, _ := pem.Decode(key); block != nil && (block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "") {
		return nil, nil, fmt.Errorf("--key %s is encrypted: give a key without a passphrase", printable(keyFile))
	}
	if _, err := tls.X509KeyPair(cert, key); err != nil {
		return nil, nil, fmt.Errorf("--cert %s and --key %s: %s", printable(certFile), printable(keyFile), strings.TrimPrefix(err.Error(), "tls: "))
	}
	return cert, key, nil
}

func readFile(flag, file string) ([]byte, error) {
	f, err := os.Open(file)
	if err == nil {
		defer f.Close()
		var b []byte
		if b, err = io.ReadAll(io.LimitReader(f, maxPEM+1)); err == nil && len(b) > maxPEM {
			err = errors.New("it is too large for a certificate or key")
		}
		if err == nil {
			return b, nil
		}
	}
	if cause := (*fs.PathError)(nil); errors.As(err, &cause) {
		err = cause.Err
	}
	return nil, fmt.Errorf("%s %s: %w", flag, printable(file), err)
}
