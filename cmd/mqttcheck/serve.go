package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	listen, defects, policies []string
	listDefects, listPolicies bool
}

// serveCommand runs the reference broker until it is interrupted.
func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:     "serve",
		Short:   "Run the reference broker",
		GroupID: "serve",
		Example: "  mqttcheck serve --listen 127.0.0.1:1883\n  mqttcheck serve --defect dup-forwarded\n  mqttcheck serve --policy overlap=each",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.listen, "listen", []string{"127.0.0.1:1883"}, "listen on `ADDRESS`, HOST:PORT or mqtt://HOST:PORT (can be repeated)")
	flags.StringArrayVar(&f.defects, "defect", nil, "give the broker the defect `NAME` (can be repeated)")
	flags.StringArrayVar(&f.policies, "policy", nil, "set a permitted freedom, as `NAME=VALUE` (can be repeated)")
	flags.BoolVar(&f.listDefects, "list-defects", false, "list the defects: name, statements, sentence, how it shows")
	flags.BoolVar(&f.listPolicies, "list-policies", false, "list the policies: name=value, sections, sentence")
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
	options := reference.Options{Defects: f.defects, Policies: map[string]string{}}
	for _, name := range f.defects {
		if _, err := core.LookupDefect(name); err != nil {
			return unknownDefect(name)
		}
	}
	for _, setting := range f.policies {
		if err := setPolicy(options.Policies, setting); err != nil {
			return err
		}
	}
	for _, address := range f.listen {
		if !strings.Contains(address, "://") {
			address = "mqtt://" + address
		}
		options.Listen = append(options.Listen, address)
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
	for _, url := range b.URLs() {
		fmt.Fprintln(a.stdout, "listening on", url)
	}
	<-ctx.Done()
	return b.Close()
}

// reasonOf takes the names of packages off an error for the user.
func reasonOf(err error) string {
	text := err.Error()
	for _, prefix := range []string{"reference: ", "core: "} {
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
