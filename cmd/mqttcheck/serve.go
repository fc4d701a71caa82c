package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, defects, policies []string
	cafile, cert, key         string
	username, password        string
	data                      string
	listDefects, listPolicies bool
}

// serveCommand runs the reference broker until it is interrupted.
func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run the reference broker",
		GroupID: "serve",
		Long: "Runs the reference broker, which keeps all statements, until it is interrupted. A defect\n" +
			"makes it break some of them, to see what finds that; a policy makes it use a freedom of\n" +
			"the specification otherwise, to see that nothing takes that for a fault.",
		Example: "  mqttcheck serve --listen 127.0.0.1:1883\n  mqttcheck serve --listen ws://127.0.0.1:8080/mqtt --listen mqtts://127.0.0.1:8883\n  mqttcheck serve --defect dup-forwarded\n  mqttcheck serve --policy overlap=each\n  mqttcheck serve --data /var/lib/mqttcheck",
		Args:    arguments(0, 0, "serve takes no arguments: an address stands behind --listen"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.listen, "listen", []string{"127.0.0.1:1883"}, "listen on `ADDRESS`, HOST:PORT or a URL with mqtt, mqtts, ws or wss (can be repeated)")
	flags.StringVar(&f.data, "data", "", "keep Sessions and retained messages in the folder `DIR`, so that they outlive the broker")
	flags.StringVar(&f.cert, "cert", "", "the certificate for mqtts and wss is in `FILE` (PEM; default: one is made)")
	flags.StringVar(&f.key, "key", "", "the private key of --cert is in `FILE` (PEM)")
	flags.StringVar(&f.cafile, "cafile", "", "demand a client certificate of an authority in `FILE` (PEM) with mqtts and wss")
	flags.StringVarP(&f.username, "username", "u", "", "let only the user `NAME` in")
	flags.StringVarP(&f.password, "password", "P", "", "the `PASSWORD` of that user")
	flags.StringArrayVar(&f.defects, "defect", nil, "give the broker the defect `NAME` (can be repeated)")
	flags.StringArrayVar(&f.policies, "policy", nil, "set a permitted freedom, as `NAME=VALUE` (can be repeated)")
	flags.BoolVar(&f.listDefects, "list-defects", false, "list the defects: name, statements, sentence, how it shows")
	flags.BoolVar(&f.listPolicies, "list-policies", false, "list the policies, the default of each first: name=value, sections, sentence")
	return cmd
}

func (a *app) serve(ctx context.Context, f serveFlags) error {
	if f.listDefects || f.listPolicies {
		if f.listDefects {
			printDefects(a.stdout)
		}
		if f.listPolicies {
			printPolicies(a.stdout)
		}
		return nil
	}
	options, err := f.options()
	if err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	b, err := reference.Start(options)
	if err != nil {
		return exitf(exitUsage, "%s", reasonOf(err))
	}
	if b.CA() != nil {
		fmt.Fprintln(a.stderr, "mqttcheck: made a certificate for TLS: trust it with --insecure, or give one with --cert and --key")
	}
	for _, url := range b.URLs() {
		fmt.Fprintln(a.stdout, "listening on", url)
	}
	select {
	case <-ctx.Done():
		return b.Close()
	case err := <-b.Failed():
		_ = b.Close()
		return exitf(exitUnsure, "%s", reasonOf(err))
	}
}

// options reads what the broker is to be.
func (f serveFlags) options() (reference.Options, error) {
	o := reference.Options{Data: f.data, Defects: f.defects, Policies: map[string]string{}}
	for _, name := range f.defects {
		if _, err := core.LookupDefect(name); err != nil {
			return o, unknownDefect(name)
		}
	}
	for _, setting := range f.policies {
		if err := setPolicy(o.Policies, setting); err != nil {
			return o, err
		}
	}
	for _, address := range f.listen {
		if !strings.Contains(address, "://") {
			if !strings.Contains(address, ":") {
				return o, exitf(exitUsage, "--listen %q: write HOST:PORT, or a URL such as ws://HOST:PORT/mqtt", address)
			}
			address = "mqtt://" + address
		}
		o.Listen = append(o.Listen, address)
	}
	if f.password != "" && f.username == "" {
		return o, exitf(exitUsage, "-P without -u: a password needs a user name")
	}
	if f.username != "" {
		o.Users = []core.User{{Name: f.username, Password: f.password}}
	}
	return o, f.secure(&o)
}

// secure reads the files for TLS.
func (f serveFlags) secure(o *reference.Options) error {
	secure := slices.ContainsFunc(o.Listen, func(a string) bool {
		return strings.HasPrefix(a, "mqtts://") || strings.HasPrefix(a, "wss://")
	})
	ca, err := target.ReadCA(f.cafile)
	if err != nil {
		return exitf(exitUsage, "%w", err)
	}
	cert, key, err := target.ReadPair(f.cert, f.key)
	switch {
	case err != nil:
		return exitf(exitUsage, "%w", err)
	case (ca != nil || cert != nil) && !secure:
		return exitf(exitUsage, "--cert, --key and --cafile are for TLS: add --listen mqtts://HOST:PORT")
	}
	if ca != nil {
		o.ClientCAs = x509.NewCertPool()
		o.ClientCAs.AppendCertsFromPEM(ca)
	}
	if cert != nil {
		pair, err := tls.X509KeyPair(cert, key)
		if err != nil {
			return exitf(exitUsage, "--cert %s: %w", f.cert, err)
		}
		o.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// reasonOf takes the names of packages off an error for the user.
func reasonOf(err error) string {
	text := err.Error()
	for _, prefix := range []string{"reference: ", "store: ", "core: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if errors.Is(err, syscall.EADDRINUSE) {
		text += "; choose another with --listen"
	}
	return text
}

func printDefects(w io.Writer) {
	for _, d := range core.Defects() {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Name, strings.Join(d.Breaks, ","), d.About, d.Shows)
	}
}

func printPolicies(w io.Writer) {
	for _, p := range core.Policies() {
		for _, value := range p.Values {
			fmt.Fprintf(w, "%s=%s\t%s\t%s\n", p.Name, value, p.Permits, p.About)
		}
	}
}
