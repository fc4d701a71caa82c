package main

import (
	"net"
	"net/url"
	"strconv"
	"strings"

	"github.com/mqttcheck/mqttcheck/reports"
)

// defaultPort is the port that mqtt:// stands for.
const defaultPort = 1883

// address is where a broker listens and with what one logs in.
type address struct {
	url                string // without credentials
	username, password string
}

// parseAddress reads a URL such as mqtt://user:password@localhost:1883.
func parseAddress(text string) (address, error) {
	shown := reports.Visible(reports.MaskURL(text))
	scheme, rest, _ := strings.Cut(text, "://")
	if !strings.EqualFold(scheme, "mqtt") && !strings.EqualFold(scheme, "tcp") {
		_, host, _ := strings.Cut(shown, "://")
		return address{}, exitf(exitUsage, "%s: the scheme is mqtt, not %q: write mqtt://%s", shown, scheme, host)
	}
	u, err := url.Parse("mqtt://" + rest)
	switch {
	case err != nil:
		return address{}, exitf(exitUsage, "%s is no valid address: write mqtt://HOST:PORT", shown)
	case u.Hostname() == "":
		return address{}, exitf(exitUsage, "%s has no host: write mqtt://HOST:PORT", shown)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return address{}, exitf(exitUsage, "%s: an mqtt address ends after the port", shown)
	}
	port := defaultPort
	if u.Port() != "" {
		if port, err = strconv.Atoi(u.Port()); err != nil || port < 1 || port > 65535 {
			return address{}, exitf(exitUsage, "%s: the port %s is not between 1 and 65535", shown, u.Port())
		}
	}
	a := address{url: "mqtt://" + net.JoinHostPort(u.Hostname(), strconv.Itoa(port)), username: u.User.Username()}
	a.password, _ = u.User.Password()
	return a, nil
}

// hostURL returns the URL of a host as -h gives it, IPv6 with or without
// brackets.
func hostURL(host string, port int) string {
	return "mqtt://" + net.JoinHostPort(strings.Trim(host, "[]"), strconv.Itoa(port))
}
