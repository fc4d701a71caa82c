// Package reference is a complete MQTT 3.1.1 and 5.0 broker, written to be
// right. This package is its shell: sockets and timers around the pure server
// of package core.
package reference

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// Options of a broker.
type Options struct {
	// Listen holds the addresses, such as mqtt://127.0.0.1:1883. Port 0 picks
	// a free one.
	Listen []string
	// Defects are deliberate faults, by name; see core.Defects.
	Defects []string
	// Policies are values of permitted freedoms, by name; see core.Policies.
	Policies map[string]string
	// Second is the length of a second of the protocol (default a real one).
	Second time.Duration
	// Users that may connect; nil lets everybody in.
	Users []core.User
}

// Limits of one connection, in bytes and time.
const (
	maxOutgoing  = 16 << 20 // written to a client that does not read
	writeTimeout = 20 * time.Second
	lingerTime   = 2 * time.Second // for a client to read the last packet
	readSize     = 32 << 10
)

// Broker is a running broker.
type Broker struct {
	listeners []net.Listener
	urls      []string
	events    chan event
	done      chan struct{}
	closing   sync.Once
	wg        sync.WaitGroup

	mu    sync.Mutex
	conns map[core.ConnID]*link
	next  core.ConnID
	ended bool
}

// event is one for the core; reply is closed when it has been handled.
type event struct {
	ev    core.Event
	reply chan struct{}
}

// Start opens the listeners and serves until Close.
func Start(o Options) (*Broker, error) {
	var policy core.Policy
	for name, value := range o.Policies {
		if err := policy.SetPolicy(name, value); err != nil {
			return nil, fmt.Errorf("reference: %w", err)
		}
	}
	server, err := core.New(core.Config{Policy: policy, Defects: o.Defects, Users: o.Users, Second: o.Second})
	if err != nil {
		return nil, fmt.Errorf("reference: %w", err)
	}
	b := &Broker{events: make(chan event), done: make(chan struct{}), conns: map[core.ConnID]*link{}}
	listen := o.Listen
	if len(listen) == 0 {
		listen = []string{"mqtt://127.0.0.1:0"}
	}
	for _, address := range listen {
		if err := b.listen(address); err != nil {
			for _, l := range b.listeners {
				_ = l.Close()
			}
			return nil, err
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

func (b *Broker) listen(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("reference: listen address %q: %w", address, err)
	}
	if u.Scheme != "mqtt" || u.Host == "" {
		return fmt.Errorf("reference: listen address %q: write mqtt://HOST:PORT", address)
	}
	l, err := net.Listen("tcp", u.Host)
	if err != nil {
		return fmt.Errorf("reference: %w", err)
	}
	b.listeners = append(b.listeners, l)
	b.urls = append(b.urls, "mqtt://"+l.Addr().String())
	return nil
}

// URL returns the address of the first listener.
func (b *Broker) URL() string { return b.urls[0] }

// URLs returns the addresses of all listeners.
func (b *Broker) URLs() []string { return append([]string{}, b.urls...) }

// Close ends all connections and listeners and waits until nothing runs any more.
func (b *Broker) Close() error {
	var err error
	b.closing.Do(func() {
		close(b.done)
		for _, l := range b.listeners {
			err = errors.Join(err, l.Close())
		}
		b.mu.Lock()
		b.ended = true
		for _, l := range b.conns {
			_ = l.nc.Close()
		}
		b.mu.Unlock()
		b.wg.Wait()
	})
	return err
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
		timer.Reset(max(wait, 0))
		var e event
		select {
		case e = <-b.events:
		case <-timer.C:
			e.ev = core.Tick{}
		case <-b.done:
			return
		}
		for _, out := range server.Handle(time.Now(), e.ev) {
			b.carryOut(out)
		}
		if e.reply != nil {
			close(e.reply)
		}
	}
}

func (b *Broker) carryOut(out core.Output) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch out := out.(type) {
	case core.Send:
		if l := b.conns[out.Conn]; l != nil {
			l.send(out.Bytes)
		}
	case core.Close:
		if l := b.conns[out.Conn]; l != nil {
			l.finish()
		}
	}
}

// tell hands an event to the server and waits until it has been handled; it
// reports whether the broker still runs.
func (b *Broker) tell(ev core.Event) bool {
	e := event{ev: ev, reply: make(chan struct{})}
	select {
	case b.events <- e:
	case <-b.done:
		return false
	}
	select {
	case <-e.reply:
		return true
	case <-b.done:
		return false
	}
}

func (b *Broker) accept(l net.Listener) {
	defer b.wg.Done()
	for {
		nc, err := l.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			continue
		}
		b.mu.Lock()
		if b.ended {
			b.mu.Unlock()
			_ = nc.Close()
			return
		}
		b.next++
		c := newLink(b.next, nc)
		b.conns[c.id] = c
		b.wg.Add(2)
		b.mu.Unlock()
		go b.read(c)
		go func() {
			defer b.wg.Done()
			c.write()
		}()
	}
}

// read hands what comes on a connection to the server.
func (b *Broker) read(l *link) {
	defer b.wg.Done()
	defer func() {
		b.mu.Lock()
		delete(b.conns, l.id)
		b.mu.Unlock()
		l.abandon()
	}()
	opened := core.Opened{Conn: l.id}
	if _, err := rand.Read(opened.Entropy[:]); err != nil || !b.tell(opened) {
		return
	}
	buf := make([]byte, readSize)
	for {
		n, err := l.nc.Read(buf)
		if n > 0 && !b.tell(core.Received{Conn: l.id, Bytes: append([]byte{}, buf[:n]...)}) {
			return
		}
		if err != nil {
			b.tell(core.Closed{Conn: l.id})
			return
		}
	}
}
