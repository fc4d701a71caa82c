package main

import (
	"github.com/spf13/pflag"

	"github.com/mqttcheck/mqttcheck/internal/target"
)

// defaultPort is the port that mqtt:// stands for.
const defaultPort = target.DefaultPort

// locate returns the address that the arguments, -h, -p, -u, -P and the
// environment name; false when they name none. A transport that a run does not
// speak is an error.
func (f runFlags) locate(flags *pflag.FlagSet, urls []string, env string) (target.Address, bool, error) {
	var given target.Flags
	if flags.Changed("host") {
		given.Host = &f.host
	}
	if flags.Changed("port") {
		given.Port = &f.port
	}
	if flags.Changed("username") {
		given.Username = &f.username
	}
	if flags.Changed("password") {
		given.Password = &f.password
	}
	address, named, err := target.Locate(urls, given, env)
	if err == nil && named {
		err = address.Supported()
	}
	if err != nil {
		return target.Address{}, false, exitf(exitUsage, "%w", err)
	}
	return address, named, nil
}
