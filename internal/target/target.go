// Package target reads what a user writes about a broker: its URL, flags in the
// manner of mosquitto_pub, and which arguments are statements instead. Its
// errors are whole messages of one line that say how to mend the input; they
// never hold a user name, a password or a query.
package target

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Address is where a broker listens, over which transport, and with what one
// logs in there.
type Address struct {
	// Scheme is the transport: "mqtt" (TCP), "mqtts" (TLS), "ws" or "wss"
	// (WebSocket, over TLS).
	Scheme string
	// Host is a name or an address, IPv6 without brackets.
	Host string
	// Port is the TCP port, from 1 to 65535.
	Port int
	// Path is the request target of the WebSocket handshake with its query;
	// "" without WebSocket.
	Path string
	// Username and Password are what CONNECT carries; HasUsername and
	// HasPassword tell the absent ones from the empty ones.
	Username, Password       string
	HasUsername, HasPassword bool
}

// transport is what a scheme stands for.
type transport struct {
	port              int
	secure, webSocket bool
}

// transports is the one place that knows which transports there are.
var transports = map[string]transport{
	"mqtt":  {port: 1883},
	"mqtts": {port: 8883, secure: true},
	"ws":    {port: 80, webSocket: true},
	"wss":   {port: 443, secure: true, webSocket: true},
}

// aliases are names that other programs have for the schemes.
var aliases = map[string]string{"tcp": "mqtt", "ssl": "mqtts", "tls": "mqtts"}

// DefaultPort is the port of mqtt:// where none is given.
const DefaultPort = 1883

// defaultPath is where a broker offers MQTT over WebSocket by custom.
const defaultPath = "/mqtt"

// Parse reads a URL such as mqtt://user:password@localhost:1883.
func Parse(text string) (Address, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return Address{}, fmt.Errorf("%q is no address: write mqtt://%s", masked(text), printable(masked(text)))
	}
	name := strings.ToLower(scheme)
	if other, ok := aliases[name]; ok {
		name = other
	}
	t, known := transports[name]
	if !known {
		return Address{}, fmt.Errorf("%s: the scheme is mqtt, mqtts, ws or wss, not %q: write mqtt://%s", shown(text), scheme, printable(masked(rest)))
	}
	if err := vetAuthority(text, rest); err != nil {
		return Address{}, err
	}
	u, err := url.Parse(name + "://" + rest)
	if err != nil {
		// url.Error repeats the text, and with it the password.
		return Address{}, fmt.Errorf("%s is no valid address: write %s://HOST:PORT", shown(text), name)
	}
	a := Address{Scheme: name, Host: u.Hostname(), Port: t.port, Username: u.User.Username(), HasUsername: u.User.Username() != ""}
	a.Password, a.HasPassword = u.User.Password()
	switch {
	case a.Host == "":
		return Address{}, fmt.Errorf("%s has no host: write %s://HOST:PORT", shown(text), name)
	case !utf8.ValidString(a.Host):
		return Address{}, fmt.Errorf("%s: the host is no text: write %s://HOST:PORT", shown(text), name)
	case a.HasPassword && !a.HasUsername:
		return Address{}, fmt.Errorf("%s has a password and no user name: write %s://USER:PASSWORD@%s", shown(text), name, printable(u.Host))
	case u.Fragment != "":
		return Address{}, fmt.Errorf("%s: an address has no part behind #", shown(text))
	case !t.webSocket && (u.RawQuery != "" || u.Path != "" && u.Path != "/"):
		return Address{}, fmt.Errorf("%s: an %s address ends after the port", shown(text), name)
	}
	if port := u.Port(); port != "" {
		if a.Port, err = strconv.Atoi(port); err != nil || a.Port < 1 || a.Port > 65535 {
			return Address{}, fmt.Errorf("%s: the port %s is not between 1 and 65535", shown(text), port)
		}
	}
	if t.webSocket {
		if a.Path = u.RequestURI(); u.Path == "" {
			a.Path = defaultPath + strings.TrimPrefix(a.Path, "/")
		}
	}
	return a, nil
}

// vetAuthority finds what people often write between the scheme and the path
// that net/url refuses without saying how to mend it, or takes for something
// else.
func vetAuthority(text, rest string) error {
	authority := rest
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority = rest[:i]
		// What stands behind the colon is a password unless it is a port.
		if _, behind, colon := strings.Cut(authority, ":"); colon && !strings.ContainsAny(authority, "@[") &&
			strings.Trim(behind, "0123456789") != "" && strings.Contains(rest[i:], "@") {
			return fmt.Errorf("%s: in a password write / as %%2F, ? as %%3F and # as %%23, or use -u and -P", shown(text))
		}
	}
	at := strings.LastIndexByte(authority, '@')
	host := authority[at+1:]
	if strings.Contains(authority[:max(at, 0)], "@") {
		return fmt.Errorf("%s: in a user name or password write @ as %%40, or use -u and -P", shown(text))
	}
	if !strings.HasPrefix(host, "[") && strings.Count(host, ":") > 1 {
		return fmt.Errorf("%s: an IPv6 address stands in brackets: write [%s]", shown(text), bracketable(host))
	}
	return nil
}

// bracketable returns the address that somebody wrote without brackets, or an
// example where its port cannot be told from it.
func bracketable(host string) string {
	if net.ParseIP(host) != nil {
		return host
	}
	return "ADDRESS"
}

// URL returns the address without credentials, with its port.
func (a Address) URL() string {
	path, query, _ := strings.Cut(a.Path, "?")
	u := url.URL{Scheme: a.Scheme, Host: net.JoinHostPort(a.Host, strconv.Itoa(a.Port)), RawQuery: query}
	if decoded, err := url.PathUnescape(path); err == nil {
		u.Path, u.RawPath = decoded, path
	}
	return u.String()
}

// String returns the URL for people: credentials, and a query that may hold
// some, are masked.
func (a Address) String() string {
	text := a.URL()
	if a.HasUsername || a.HasPassword {
		text = strings.Replace(text, "://", "://"+mask+"@", 1)
	}
	return Mask(text)
}

// Secure tells whether the transport is over TLS.
func (a Address) Secure() bool { return transports[a.Scheme].secure }

// WebSocket tells whether the transport is WebSocket.
func (a Address) WebSocket() bool { return transports[a.Scheme].webSocket }

// In returns the address with another scheme; a WebSocket gets the path that it
// usually has.
func (a Address) In(scheme string) Address {
	if a.Scheme = scheme; a.WebSocket() && a.Path == "" {
		a.Path = defaultPath
	}
	if !a.WebSocket() {
		a.Path = ""
	}
	return a
}
