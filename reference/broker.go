// Package reference is a complete MQTT 3.1.1 and 5.0 broker, written to be
// right. This package is its shell: sockets and timers around the pure server
// of package core.
package reference

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// Options of a broker.
type Options struct {
	// Listen holds the addresses, such as mqtt://127.0.0.1:1883; the scheme mqtts
	// is TLS, ws and wss are WebSocket, at the path /mqtt where none is given.
	// Port 0 picks a free one.
	Listen []string
	// Certificates of the broker for TLS; without any it makes one.
	Certificates []tls.Certificate
	// ClientCAs, when not nil, have to have signed the certificate of a client
	// that comes over TLS.
	ClientCAs *x509.CertPool
	// Defects are deliberate faults, by name; see core.Defects.
	Defects []string
	// Policies are values of permitted freedoms, by name; see core.Policies.
	Policies map[string]string
	// Second is the length of a second of the protocol (default a real one).
	Second time.Duration
	// Users that may connect; nil lets everybody in.
	Users []core.User
	// Data is the folder of a broker whose Sessions and retained messages outlive
	// it, "" for one that keeps all in memory.
	Data string
}

// Limits of the stop: the time that clients have to read the last packet, and
// the pause after a connection that could not be accepted.
const (
	stopTime    = 250 * time.Millisecond
	acceptPause = 50 * time.Millisecond
)

// Broker is a running broker.
type Broker struct {
	listeners []listener
	urls      []string
	ca        []byte // of the certificates that it made
	webRules  core.WebSocket
	shell     core.Shell
	events    chan event
	done      chan struct{}
	closing   sync.Once
	spinning  sync.Once // by a defect
	delay     time.Duration
	bytes     bool
	wg        sync.WaitGroup

	mu    sync.Mutex
	conns map[core.ConnID]*link
	kept  []net.Conn // by a defect
	next  core.ConnID
	ended bool          // no connection is taken any more
	empty chan struct{} // closed once it has ended and has no connections

	keeper *keeper // nil for a broker that keeps all in memory
	failed chan error
}

// event is one for the core. A link without an event has written much; where
// handled is not nil it gets a value when the event has been handled. One with
// ask is none: it is asked what the core holds.
type event struct {
	ev      core.Event
	link    *link
	handled chan<- struct{}
	ask     chan<- core.Holding
}

// Start opens the listeners and serves until Close.
func Start(o Options) (*Broker, error) {
	var policy core.Policy
	for name, value := range o.Policies {
		if err := policy.SetPolicy(name, value); err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
	}
	server, keeper, err := newServer(core.Config{Policy: policy, Defects: o.Defects, Users: o.Users, Second: o.Second}, o.Data)
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	b := &Broker{
		events: make(chan event), done: make(chan struct{}), empty: make(chan struct{}), conns: map[core.ConnID]*link{},
		webRules: server.WebSocket(), shell: server.Shell(), keeper: keeper, failed: make(chan error, 1),
	}
	b.delay = time.Duration(server.Policy().Delay) * time.Millisecond
	b.bytes = server.Policy().Segments == "bytes"
	listen := o.Listen
	if len(listen) == 0 {
		listen = []string{"mqtt://127.0.0.1:0"}
	}
	for _, address := range listen {
		if err := b.listen(address, o); err != nil {
			for _, l := range b.listeners {
				_ = l.Listener.Close()
			}
			return nil, errors.Join(err, keeper.close())
		}
	}
	b.wg.Add(1)
	go b.serve(server)
	for _, l := range b.listeners {
		b.wg.Add(1)
		go b.accept(l)
	}
	return b, nil
}

// URL returns the address of the first listener.
func (b *Broker) URL() string { return b.urls[0] }

// URLs returns the addresses of all listeners.
func (b *Broker) URLs() []string { return append([]string{}, b.urls...) }

// Holding returns what the broker keeps for its clients, nothing once it is
// closed.
func (b *Broker) Holding() core.Holding {
	answer := make(chan core.Holding, 1)
	select {
	case b.events <- event{ask: answer}:
	case <-b.done:
		return core.Holding{}
	}
	select {
	case h := <-answer:
		return h
	case <-b.done:
		return core.Holding{}
	}
}

// Failed tells when the broker has ended by itself, and why: it can store
// nothing any more. It is still to be closed.
func (b *Broker) Failed() <-chan error { return b.failed }

// CA returns the certificates, as PEM, that a client has to trust for those that
// the broker made; nil where it made none.
func (b *Broker) CA() []byte { return b.ca }

// Close tells the clients, ends all connections and listeners and waits until
// nothing runs any more. It takes little longer than stopTime.
func (b *Broker) Close() error {
	var err error
	b.closing.Do(func() {
		for _, l := range b.listeners {
			err = errors.Join(err, l.close())
		}
		b.mu.Lock()
		b.ended = true
		if len(b.conns) == 0 {
			close(b.empty)
		}
		b.mu.Unlock()
		b.partAll()
		close(b.done)
		b.mu.Lock()
		for _, l := range b.conns {
			l.abandon()
		}
		b.mu.Unlock()
		b.wg.Wait()
		err = errors.Join(err, b.keeper.close())
	})
	return err
}

// partAll has the server say goodbye and gives the clients a moment to leave.
func (b *Broker) partAll() {
	timer := time.NewTimer(stopTime)
	defer timer.Stop()
	select {
	case b.events <- event{ev: core.Shutdown{}}:
	case <-timer.C:
		return
	}
	select {
	case <-b.empty:
	case <-timer.C:
	}
}

// serve is the one goroutine that the server runs in.
func (b *Broker) serve(server *core.Server) {
	defer b.wg.Done()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := time.Hour
		if at, ok := server.Deadline(); ok {
			wait = time.Until(at)
		}
		timer.Reset(max(b.keeper.wait(wait), 0))
		var e event
		select {
		case e = <-b.events:
		case <-timer.C:
			e.ev = core.Tick{}
		case <-b.done:
			return
		}
		outputs, handled := b.handle(server, e)
		if !b.carryOutAll(server, outputs) {
			return
		}
		for _, done := range handled {
			done <- struct{}{}
		}
	}
}

// handle hands an event to the server, and where that stores what comes of it
// also those that wait already: they are stored together. It returns whom to
// tell once all is carried out.
func (b *Broker) handle(server *core.Server, e event) (outputs []core.Output, handled []chan<- struct{}) {
	for range maxGroup {
		switch {
		case e.ask != nil:
			e.ask <- server.Holding()
		case e.ev == nil:
			outputs = append(outputs, server.Handle(time.Now(), core.Pending{Conn: e.link.id, Bytes: e.link.report()})...)
		default:
			outputs = append(outputs, server.Handle(time.Now(), e.ev)...)
		}
		if e.handled != nil {
			handled = append(handled, e.handled)
		}
		if b.keeper == nil {
			break
		}
		select {
		case e = <-b.events:
		default:
			return outputs, handled
		}
	}
	return outputs, handled
}

// carryOutAll carries out outputs, after what has changed is stored, and
// whatever follows from how much then waits to be written. It reports whether
// the broker can go on.
func (b *Broker) carryOutAll(server *core.Server, outputs []core.Output) bool {
	for {
		if err := b.keeper.keep(server); err != nil {
			b.failed <- err
			return false
		}
		if len(outputs) == 0 {
			return true
		}
		var changed []*link
		for _, out := range outputs {
			if l := b.carryOut(out); l != nil {
				changed = append(changed, l)
			}
		}
		outputs = nil
		for _, l := range changed {
			if l.unreported() {
				outputs = append(outputs, server.Handle(time.Now(), core.Pending{Conn: l.id, Bytes: l.report()})...)
			}
		}
	}
}

// carryOut carries out an output. It returns the connection if the server
// should hear how much waits there.
func (b *Broker) carryOut(out core.Output) *link {
	switch out := out.(type) {
	case core.Send:
		if l := b.link(out.Conn); l != nil && l.send(out.Bytes, out.Stream) {
			return l
		}
	case core.Close:
		if l := b.link(out.Conn); l != nil {
			l.finish()
		}
	}
	return nil
}

func (b *Broker) link(id core.ConnID) *link {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conns[id]
}

// tell hands an event of a connection to the server and waits until it has
// been handled, so that a client sends no faster than the server takes; it
// reports whether the broker still runs.
func (b *Broker) tell(l *link, ev core.Event) bool {
	select {
	case b.events <- event{ev: ev, handled: l.handled}:
	case <-b.done:
		return false
	}
	select {
	case <-l.handled:
		return true
	case <-b.done:
		return false
	}
}

// write writes what the server sends on a connection.
func (b *Broker) write(l *link) {
	defer b.wg.Done()
	l.write(func() {
		select {
		case b.events <- event{link: l}:
		case <-b.done:
		}
	})
}

// read hands what comes on a connection to the server.
func (b *Broker) read(l *link) {
	defer b.wg.Done()
	defer b.forget(l)
	opened := core.Opened{Conn: l.id}
	if _, err := rand.Read(opened.Entropy[:]); err != nil || !b.tell(l, opened) {
		return
	}
	buf := make([]byte, readSize)
	for {
		n, err := l.nc.Read(buf)
		// The server copies what it keeps, and is done when tell returns.
		if n > 0 && !l.finished() && !b.tell(l, core.Received{Conn: l.id, Bytes: buf[:n]}) {
			return
		}
		if err == nil {
			continue
		}
		running := b.tell(l, core.Closed{Conn: l.id})
		if errors.Is(err, io.EOF) && b.shell.SpinsBehindHalf {
			b.spinning.Do(func() { go b.spin() })
		}
		if errors.Is(err, io.EOF) && running {
			// The client has ended its half only: it may still read answers.
			l.finish()
			select {
			case <-l.written:
			case <-b.done:
			}
		}
		return
	}
}

// spin is what a defect leaves behind.
func (b *Broker) spin() {
	for {
		select {
		case <-b.done:
			return
		default:
			runtime.Gosched()
		}
	}
}

// forget ends a connection that is read no more.
func (b *Broker) forget(l *link) {
	if b.shell.KeepsDescriptors && l.finished() {
		l.keeps.Store(true)
		b.mu.Lock()
		b.kept = append(b.kept, l.nc)
		b.mu.Unlock()
	}
	l.abandon()
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.conns, l.id)
	if b.ended && len(b.conns) == 0 {
		close(b.empty)
	}
}
