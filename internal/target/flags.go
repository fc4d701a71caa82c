package target

import (
	"fmt"
	"strings"
)

// Flags are -h, -p, -u and -P as they were given, where nil stands for not
// given, and those of TLS.
type Flags struct {
	Host               *string
	Port               *int
	Username, Password *string
	TLS                TLSFlags
}

// Locate returns the address that the arguments with "://", the flags and the
// environment variable MQTTCHECK_URL name together, in this order of weight.
// It returns false when none of them names one; Username and Password of the
// flags alone do not.
func Locate(urls []string, f Flags, env string) (Address, bool, error) {
	var a Address
	var err error
	named := true
	switch {
	case len(urls) > 1:
		return Address{}, false, fmt.Errorf("two addresses, %s and %s: write only one", shown(urls[0]), shown(urls[1]))
	case len(urls) == 1 && (f.Host != nil || f.Port != nil):
		return Address{}, false, fmt.Errorf("the address stands in %s already: leave -h and -p out", shown(urls[0]))
	case len(urls) == 1:
		a, err = Parse(urls[0])
	case f.Host != nil || f.Port != nil:
		a, err = f.address()
	case env != "":
		if a, err = Parse(env); err != nil {
			err = fmt.Errorf("MQTTCHECK_URL is wrong: %w", err)
		}
	default:
		named = false
	}
	if err != nil {
		return Address{}, false, err
	}
	if f.Username != nil {
		a.Username, a.HasUsername = *f.Username, true
	}
	if f.Password != nil {
		a.Password, a.HasPassword = *f.Password, true
	}
	if a.HasPassword && !a.HasUsername {
		return Address{}, false, fmt.Errorf("-P without -u: a password needs a user name")
	}
	return a, named, nil
}

// Also reads the addresses of further listeners of a broker.
func Also(texts []string) ([]Address, error) {
	var all []Address
	for _, text := range texts {
		a, err := Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--also: %w", err)
		}
		if a.HasUsername || a.HasPassword {
			return nil, fmt.Errorf("--also %s: the user name and password of the broker hold for all its listeners: leave them out", shown(text))
		}
		all = append(all, a)
	}
	return all, nil
}

// address returns the address that -h and -p name: each has a default. A flag
// of TLS makes it one of TLS, as in mosquitto_pub.
func (f Flags) address() (Address, error) {
	a := Address{Scheme: "mqtt", Host: "localhost", Port: DefaultPort}
	if f.TLS.given() != "" {
		a.Scheme, a.Port = "mqtts", transports["mqtts"].port
	}
	if f.Port != nil {
		if a.Port = *f.Port; a.Port < 1 || a.Port > 65535 {
			return Address{}, fmt.Errorf("-p %d: the port is not between 1 and 65535", a.Port)
		}
	}
	if f.Host == nil {
		return a, nil
	}
	host := *f.Host
	bare := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	name, port, colon := strings.Cut(host, ":")
	switch {
	case strings.Contains(host, "://"):
		return Address{}, fmt.Errorf("-h %s: it takes the name of a host: leave -h out before a URL", shown(host))
	case bare == "":
		return Address{}, fmt.Errorf("-h is empty: write -h HOST")
	case colon && strings.Count(host, ":") == 1:
		return Address{}, fmt.Errorf("-h %s: the port has a flag of its own: write -h %s -p %s", printable(host), printable(name), printable(port))
	case strings.ContainsAny(bare, "[]/?#@ ") || printable(bare) != bare:
		return Address{}, fmt.Errorf("-h %q is no name of a host", masked(host))
	}
	a.Host = bare
	return a, nil
}
