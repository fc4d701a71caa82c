package main

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// defaultPort is the port that mqtt:// stands for.
const defaultPort = target.DefaultPort

// tlsFlags adds the flags about mqtts:// and wss://, as mosquitto_pub has them.
func tlsFlags(flags *pflag.FlagSet, f *target.TLSFlags) {
	flags.StringVar(&f.CAFile, "cafile", "", "trust the authorities in `FILE` (PEM) with mqtts:// and wss://")
	flags.StringVar(&f.Cert, "cert", "", "show the broker the client certificate in `FILE` (PEM)")
	flags.StringVar(&f.Key, "key", "", "the private key of --cert is in `FILE` (PEM)")
	flags.StringVar(&f.ServerName, "server-name", "", "expect the broker's certificate to be for `NAME`, not for the host")
	flags.BoolVar(&f.Insecure, "insecure", false, "trust any certificate of the broker")
}

// loginFlags are -u and -P of the commands that connect to a broker.
type loginFlags struct {
	username, password string
	flags              *pflag.FlagSet
}

func (l *loginFlags) add(flags *pflag.FlagSet) {
	l.flags = flags
	flags.StringVarP(&l.username, "username", "u", "", "user `NAME` to connect with")
	flags.StringVarP(&l.password, "password", "P", "", "`PASSWORD` to connect with")
}

// given tells whether one of the two is there.
func (l loginFlags) given() bool {
	return l.flags != nil && (l.flags.Changed("username") || l.flags.Changed("password"))
}

// into sets what was given.
func (l loginFlags) into(given *target.Flags) {
	if l.flags != nil && l.flags.Changed("username") {
		given.Username = &l.username
	}
	if l.flags != nil && l.flags.Changed("password") {
		given.Password = &l.password
	}
}

// locate returns the address of a URL, with -u and -P.
func (l loginFlags) locate(url string) (target.Address, error) {
	var given target.Flags
	l.into(&given)
	address, _, err := target.Locate([]string{url}, given, "")
	return address, err
}

// locate returns the address that the arguments, -h, -p, -u, -P and the
// environment name; false when they name none.
func (f runFlags) locate(flags *pflag.FlagSet, urls []string, env string) (target.Address, bool, error) {
	given := target.Flags{TLS: f.tls}
	if flags.Changed("host") {
		given.Host = &f.host
	}
	if flags.Changed("port") {
		given.Port = &f.port
	}
	f.login.into(&given)
	address, named, err := target.Locate(urls, given, env)
	if err != nil {
		return target.Address{}, false, exitf(exitUsage, "%w", err)
	}
	return address, named, nil
}

// listeners returns the addresses of --also, and what the flags of TLS stand
// for at them and the broker's own.
func (f runFlags) listeners(own target.Address) ([]string, wire.TLS, error) {
	also, err := target.Also(f.also)
	if err != nil {
		return nil, wire.TLS{}, exitf(exitUsage, "%w", err)
	}
	t, err := f.tls.Read(append(also, own)...)
	if err != nil {
		return nil, wire.TLS{}, exitf(exitUsage, "%w", err)
	}
	var urls []string
	for _, a := range also {
		urls = append(urls, a.URL())
	}
	return urls, wire.TLS(t), nil
}

// further greets the other listeners of the broker, in a version that it
// offers: an address that does not answer is a mistake, and no skip.
func (o offer) further(ctx context.Context, t probe.Target) error {
	for _, url := range t.Also {
		at := t
		at.URL = url
		var h hello
		for _, v := range versions {
			if o.offered[v.key] {
				h = greet(ctx, at, v.wire, "also"+v.key)
				break
			}
		}
		if h.shape != accepted {
			found := []hello{h}
			suggest(ctx, at, found)
			h = found[0]
		}
		where := target.Mask(url)
		switch {
		case ctx.Err() != nil:
			return exitWith(exitInterrupted)
		case h.shape == unreachable:
			return exitf(exitBroker, "cannot reach %s: %s", where, h.seen)
		case h.shape != accepted:
			return exitf(exitBroker, "%s is no listener of the broker: %s", where, h.seen)
		}
	}
	return nil
}
