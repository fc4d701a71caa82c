// Package peers holds brokers and clients that others wrote, pinned, in a
// module of its own: the product does not depend on them. Its tests let the
// clients drive the reference broker.
package peers

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"time"

	mochi "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/listeners"
)

// StartMochi starts a mochi-mqtt broker in this process, on a free port of the
// loopback interface and open to everybody. It returns its URL and the function
// that stops it.
func StartMochi() (url string, stop func() error, err error) { return StartMochiAt("127.0.0.1:0") }

// StartMochiAt is StartMochi on an address of one's choice.
func StartMochiAt(address string) (url string, stop func() error, err error) {
	l, err := net.Listen("tcp", address)
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
	return "mqtt://" + l.Addr().String(), func() error { return stopMochi(server) }, nil
}

// The bounds of stopping a broker: for its clients to be gone, and for itself.
const (
	clientsGone = 2 * time.Second
	brokerGone  = 5 * time.Second
)

// stopMochi stops a broker once it has forgotten the clients that left. Its
// Close takes a read lock twice over (Clients.GetByListener, Clients.Len), and
// blocks for ever when a client that is just leaving waits for the write lock
// in between.
func stopMochi(server *mochi.Server) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for until := time.Now().Add(clientsGone); server.Clients.Len() > 0 && time.Now().Before(until); {
		<-tick.C
	}
	closed := make(chan error, 1)
	go func() { closed <- server.Close() }()
	select {
	case err := <-closed:
		return err
	case <-time.After(brokerGone):
		return fmt.Errorf("peers: mochi: it has not stopped within %s", brokerGone)
	}
}
