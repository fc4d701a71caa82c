// Package peers holds brokers and clients that others wrote, pinned, in a
// module of its own: the product does not depend on them. Its tests let the
// clients drive the reference broker.
package peers

import (
	"fmt"
	"io"
	"log/slog"
	"net"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
)

// StartMochi starts a mochi-mqtt broker in this process, on a free port of the
// loopback interface and open to everybody. It returns its URL and the function
// that stops it.
func StartMochi() (url string, stop func() error, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("peers: %w", err)
	}
	server := mochi.New(&mochi.Options{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err := server.AddHook(new(auth.AllowHook), nil); err != nil {
		return "", nil, fmt.Errorf("peers: mochi: %w", err)
	}
	if err := server.AddListener(listeners.NewNet("loopback", l)); err != nil {
		return "", nil, fmt.Errorf("peers: mochi: %w", err)
	}
	if err := server.Serve(); err != nil {
		return "", nil, fmt.Errorf("peers: mochi: %w", err)
	}
	return "mqtt://" + l.Addr().String(), server.Close, nil
}
