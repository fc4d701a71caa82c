package peers

import (
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference"
)

// patience bounds the wait of a test for what must come.
const patience = 60 * time.Second

// message is an Application Message as a client library shows it.
type message struct {
	topic    string
	payload  string
	qos      byte
	retained bool
}

// options of a connection.
type options struct {
	id     string
	resume bool // keep the Session, also when the connection ends
	will   *message
}

// client is a connected client of some library.
type client interface {
	// subscribe returns when the subscription is acknowledged with its QoS.
	subscribe(filter string, qos byte)
	// publish returns when the flow of the QoS is done.
	publish(m message)
	// received are the messages as they come.
	received() <-chan message
	// present tells whether the broker had a Session.
	present() bool
	// leave sends DISCONNECT and closes.
	leave()
	// drop closes without a word.
	drop()
}

// library makes clients.
type library struct {
	name    string
	connect func(t *testing.T, url string, o options) client
}

var libraries = []library{
	{"paho.mqtt.golang", connectPaho311},
	{"paho.golang", connectPaho5},
}

// eachLibrary runs a test with every library, each on a broker of its own.
func eachLibrary(t *testing.T, run func(t *testing.T, join func(options) client)) {
	for _, lib := range libraries {
		t.Run(lib.name, func(t *testing.T) {
			url := startReference(t)
			run(t, func(o options) client { return lib.connect(t, url, o) })
		})
	}
}

func startReference(t *testing.T) (url string) {
	t.Helper()
	b, err := reference.Start(reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b.URL()
}

// next returns the next message of a client.
func next(t *testing.T, c client) message {
	t.Helper()
	select {
	case m := <-c.received():
		return m
	case <-time.After(patience):
		t.Fatal("no message came")
		return message{}
	}
}

// expect demands that these messages come, in this order.
func expect(t *testing.T, c client, want ...message) {
	t.Helper()
	for _, w := range want {
		if got := next(t, c); got != w {
			t.Fatalf("received %+v, want %+v", got, w)
		}
	}
}

// awaited waits for something that a library does on another goroutine.
func awaited(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("in vain: " + what)
	}
}
