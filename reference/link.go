package reference

import (
	"net"
	"sync"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// link is one network connection with its queue of outgoing bytes.
type link struct {
	id core.ConnID
	nc net.Conn

	mu     sync.Mutex
	ready  *sync.Cond
	queue  []byte
	ending bool // nothing is added any more; close once the queue is written
	gone   bool // the connection is of no more use
}

func newLink(id core.ConnID, nc net.Conn) *link {
	l := &link{id: id, nc: nc}
	l.ready = sync.NewCond(&l.mu)
	return l
}

// send queues bytes. A client that does not read is cut off.
func (l *link) send(b []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending || l.gone {
		return
	}
	if len(l.queue)+len(b) > maxOutgoing {
		l.gone = true
		_ = l.nc.Close()
		l.ready.Signal()
		return
	}
	l.queue = append(l.queue, b...)
	l.ready.Signal()
}

// finish ends the connection once all is written.
func (l *link) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ending = true
	l.ready.Signal()
}

// abandon ends the connection at once.
func (l *link) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
	_ = l.nc.Close()
	l.ready.Signal()
}

// write writes what is queued until the connection ends.
func (l *link) write() {
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.ending && !l.gone {
			l.ready.Wait()
		}
		b, last, gone := l.queue, l.ending, l.gone
		l.queue = nil
		l.mu.Unlock()
		if gone {
			return
		}
		if len(b) > 0 {
			_ = l.nc.SetWriteDeadline(time.Now().Add(writeTimeout))
			if _, err := l.nc.Write(b); err != nil {
				l.abandon()
				return
			}
		}
		if last {
			l.part()
			return
		}
	}
}

// part ends the sending half and leaves the client a moment to read: closing
// at once, with bytes of the client unread, would be a reset that can take the
// last packet with it. The reader ends with the client, or here.
func (l *link) part() {
	if tcp, ok := l.nc.(*net.TCPConn); ok {
		_ = tcp.CloseWrite()
		_ = l.nc.SetReadDeadline(time.Now().Add(lingerTime))
		return
	}
	_ = l.nc.Close()
}
