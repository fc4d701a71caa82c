package wire

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
)

// dialer opens the byte stream of one kind of address. Transports other than
// TCP add theirs to dialers.
type dialer func(ctx context.Context, a Address, u *url.URL) (net.Conn, error)

// dialers holds the transports by the scheme of their URLs.
var dialers = map[string]dialer{
	"mqtt":  dialTCP,
	"tcp":   dialTCP,
	"mqtts": dialTLS,
	"ws":    dialWS,
	"wss":   dialWSS,
}

// Open opens the stream of bytes that packets travel in to and from a broker,
// and sends nothing of MQTT. Dial does so, too.
func Open(ctx context.Context, a Address) (net.Conn, error) { return dial(ctx, a) }

func dial(ctx context.Context, a Address) (net.Conn, error) {
	u, err := url.Parse(a.URL)
	if err != nil {
		return nil, fmt.Errorf("wire: address: %w", err)
	}
	open, ok := dialers[u.Scheme]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(dialers)), ", ")
		return nil, fmt.Errorf("wire: scheme %q is not supported (known: %s)", u.Scheme, known)
	}
	nc, err := open(ctx, a, u)
	if err != nil {
		return nil, fmt.Errorf("wire: %w", err)
	}
	return nc, nil
}

func dialTCP(ctx context.Context, _ Address, u *url.URL) (net.Conn, error) {
	return dialTCPAt(ctx, hostPort(u, "1883"))
}

func dialTCPAt(ctx context.Context, hostPort string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", hostPort)
}

// hostPort returns the address of the URL with the usual port of its scheme
// where it names none.
func hostPort(u *url.URL, usual string) string {
	port := u.Port()
	if port == "" {
		port = usual
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// closeWrite ends the sending half of a connection; of one that has no halves
// it ends both.
func closeWrite(nc net.Conn) error {
	if half, ok := nc.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nc.Close()
}

// underlying returns the connection that a layer such as TLS stands on.
func underlying(nc net.Conn) net.Conn {
	for {
		layer, ok := nc.(interface{ NetConn() net.Conn })
		if !ok {
			return nc
		}
		nc = layer.NetConn()
	}
}
