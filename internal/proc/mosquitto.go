package proc

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// FreePort returns a TCP port of 127.0.0.1 that nobody listens on.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("proc: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	return port, l.Close()
}

// StartMosquitto starts Debian's mosquitto on a free port of the loopback
// interface, open to everybody and without persistence. It writes its
// configuration, with the lines given added, into dir. It returns the broker
// and its URL, and *Missing when mosquitto is not installed.
func StartMosquitto(ctx context.Context, dir string, lines ...string) (*Process, string, error) {
	program, err := Find("mosquitto")
	if err != nil {
		return nil, "", err
	}
	port, err := FreePort()
	if err != nil {
		return nil, "", err
	}
	config := append([]string{
		fmt.Sprintf("listener %d 127.0.0.1", port),
		"allow_anonymous true",
		"persistence false",
		"log_dest stderr",
	}, lines...)
	if os.Getuid() == 0 {
		// Else it changes to a user that cannot read folders of a test.
		config = append(config, "user root")
	}
	file := filepath.Join(dir, "mosquitto.conf")
	if err := os.WriteFile(file, []byte(strings.Join(config, "\n")+"\n"), 0o600); err != nil {
		return nil, "", fmt.Errorf("proc: %w", err)
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	p, err := Start(ctx, Command{Args: []string{program, "-c", file}, Dir: dir, Address: address, Ready: 20 * time.Second})
	if err != nil {
		return nil, "", err
	}
	return p, "mqtt://" + address, nil
}
