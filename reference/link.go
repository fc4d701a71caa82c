package reference

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// Limits of one connection, in bytes and time. What waits for a client that
// does not read is bounded by maxOutgoing, what a client sends by the core,
// which knows how large a packet may be.
const (
	readSize     = 32 << 10         // read at a time
	writeSize    = 64 << 10         // written at a time, within writeTimeout
	writeTimeout = 20 * time.Second // a client that takes less than that is cut off
	maxOutgoing  = 16 << 20         // unwritten bytes at which a client is cut off
	reportStep   = 256 << 10        // a change of the unwritten bytes that the core is told
	flushTime    = 5 * time.Second  // to write the rest before the close
	lingerTime   = 2 * time.Second  // for the client to read the last packet
)

// link is one network connection with its queue of outgoing bytes.
type link struct {
	id      core.ConnID
	nc      net.Conn
	handled chan struct{} // the reader's event was handled
	written chan struct{} // closed when nothing is written any more
	// patience is the time in which a client must take writeSize bytes.
	patience time.Duration
	// delay is waited before each write; where bytes is set the beginning of
	// what is written comes byte by byte.
	delay time.Duration
	bytes bool
	keeps atomic.Bool // a defect keeps the descriptor

	mu       sync.Mutex
	ready    *sync.Cond
	queue    []byte
	held     []held // messages that wait, by the time when they are due
	writing  int    // bytes taken from the queue and not yet written
	reported int    // unwritten bytes that the core knows of
	queued   int    // bytes queued since then
	ending   bool   // nothing is added any more; close once the queue is written
	gone     bool   // the connection is of no more use
}

func newLink(id core.ConnID, nc net.Conn) *link {
	l := &link{id: id, nc: nc, handled: make(chan struct{}, 1), written: make(chan struct{}), patience: writeTimeout}
	l.ready = sync.NewCond(&l.mu)
	return l
}

// send queues bytes, those of a stream behind what is queued meanwhile. A client
// that does not read is cut off. It reports whether the core should hear how much
// waits.
func (l *link) send(b []byte, stream string) (tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending || l.gone {
		return false
	}
	if stream != "" {
		l.hold(stream, b)
		return false
	}
	if len(b) > 0 && packet.Type(b[0]>>4) == packet.DISCONNECT {
		l.held = nil // nothing comes behind it
	}
	return l.add(b)
}

// add queues bytes to be written; the lock is held.
func (l *link) add(b []byte) (tell bool) {
	if len(l.queue)+l.writing+len(b) > maxOutgoing {
		l.cut()
		return false
	}
	l.queue = append(l.queue, b...)
	l.queued += len(b)
	l.ready.Signal()
	return l.changed()
}

// changed tells whether the unwritten bytes differ much from what was
// reported, or whether all that was queued since is written. The lock is held.
func (l *link) changed() bool {
	n := len(l.queue) + l.writing
	return n >= l.reported+reportStep || n <= l.reported-reportStep ||
		n == 0 && (l.reported > 0 || l.queued >= reportStep)
}

// unreported is changed, with the lock.
func (l *link) unreported() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed()
}

// report returns the unwritten bytes for the core.
func (l *link) report() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reported, l.queued = len(l.queue)+l.writing, 0
	return l.reported
}

// finish ends the connection once all is written, which must be soon.
func (l *link) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending || l.gone {
		return
	}
	l.ending = true
	_ = l.nc.SetWriteDeadline(time.Now().Add(flushTime))
	l.ready.Signal()
}

// finished tells whether the core has done with the connection: what the
// client still sends is not for it.
func (l *link) finished() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ending || l.gone
}

// abandon ends the connection at once.
func (l *link) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut()
}

// cut ends the connection; the lock is held.
func (l *link) cut() {
	if l.gone {
		return
	}
	l.gone = true
	l.queue = nil
	if !l.keeps.Load() {
		_ = l.nc.Close()
	}
	l.ready.Signal()
}

// take waits for bytes to write. After the last ones last is true; ok is false
// when there is nothing more to do.
func (l *link) take() (b []byte, last, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) == 0 && !l.ending && !l.gone {
		l.ready.Wait()
	}
	if l.gone {
		return nil, false, false
	}
	n := min(len(l.queue), writeSize)
	b = l.queue[:n:n]
	l.queue = l.queue[n:]
	l.writing = n
	if len(l.queue) == 0 {
		l.queue = nil // what has been written is not kept
	}
	if n > 0 && !l.ending {
		_ = l.nc.SetWriteDeadline(time.Now().Add(l.patience))
	}
	return b, l.ending && len(l.queue) == 0, true
}

// wrote takes note that what was taken is written; it reports whether the core
// should hear of it.
func (l *link) wrote() (tell bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.writing = 0
	return l.changed() && !l.ending
}

// write writes what is queued until the connection ends. tell is called when
// much has been written.
func (l *link) write(tell func()) {
	defer close(l.written)
	for {
		b, last, ok := l.take()
		if !ok {
			return
		}
		if len(b) > 0 {
			if err := l.deliver(b); err != nil {
				l.abandon()
				return
			}
			if l.wrote() {
				tell()
			}
		}
		if last {
			l.part()
			return
		}
	}
}

// splitSize is how much of a write comes byte by byte.
const splitSize = 32

// deliver writes bytes in the manner that the policies ask for.
func (l *link) deliver(b []byte) error {
	if l.delay > 0 {
		time.Sleep(l.delay)
	}
	if l.bytes {
		for n := min(len(b), splitSize); n > 0; n-- {
			if _, err := l.nc.Write(b[:1]); err != nil {
				return err
			}
			b = b[1:]
		}
	}
	_, err := l.nc.Write(b)
	return err
}

// part ends the sending half and leaves the client a moment to read: closing
// at once, with bytes of the client unread, would be a reset that can take the
// last packet with it. The reader ends with the client, or here.
func (l *link) part() {
	if half, ok := l.nc.(interface{ CloseWrite() error }); ok {
		_ = l.nc.SetReadDeadline(time.Now().Add(lingerTime))
		_ = half.CloseWrite()
		return
	}
	_ = l.nc.Close()
}
