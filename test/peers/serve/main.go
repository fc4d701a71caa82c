// Command serve runs a broker that others wrote on a free port of the loopback
// interface, to try mqttcheck on: it prints the URL and serves until it is
// interrupted.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/mqttcheck/mqttcheck/test/peers"
)

func main() {
	url, stop, err := peers.StartMochi()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(url)
	over := make(chan os.Signal, 1)
	signal.Notify(over, os.Interrupt, syscall.SIGTERM)
	<-over
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
