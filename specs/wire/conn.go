package wire

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Limits of one connection against a hostile broker.
const (
	maxPacket    = 4 << 20  // bytes of one packet
	maxReceived  = 16 << 20 // bytes kept of one connection
	maxCount     = 20_000   // packets kept of one connection
	writeTimeout = 10 * time.Second
)

// Address is where a broker listens.
type Address struct {
	// URL begins with mqtt, mqtts, ws or wss.
	URL string
	// TLS is for mqtts and wss.
	TLS TLS
	// Subprotocols are what the handshake of a WebSocket offers; nil stands for
	// mqtt.
	Subprotocols []string
}

// Options of a connection.
type Options struct {
	// Name stands for the connection in traces.
	Name string
	// Version is the format of the packets.
	Version Version
	// Trace receives every packet; nil keeps none.
	Trace *Trace
	// MaxPacket is the size in bytes of the largest packet that is read; the
	// connection ends with a larger one. 0 means 4 MiB.
	MaxPacket int
	// WriteTimeout bounds each write to a broker that does not read. 0 means
	// 10 seconds.
	WriteTimeout time.Duration
}

// Status tells how a wait ended.
type Status int

// The ends of a wait.
const (
	Got      Status = iota // a packet matched
	Ended                  // the connection ended first
	TimedOut               // neither
)

// Received is one Control Packet that the broker sent.
type Received struct {
	Seq    int // 1 for the first packet of the connection
	At     time.Time
	Type   Type
	Flags  byte
	Raw    []byte // all its bytes
	Packet Packet
	Err    error // why Packet is only a Frame, or what is wrong with it

	padded bool // a Variable Byte Integer is longer than need be
}

// Conn is one network connection to a broker. Its reader records everything
// that comes and asserts nothing.
type Conn struct {
	name    string
	version Version
	trace   *Trace
	nc      net.Conn
	done    chan struct{}

	maxPacket    int
	writeTimeout time.Duration
	partial      atomic.Int64

	mu      sync.Mutex
	arrived chan struct{} // closed and replaced when a packet comes
	history []Received
	taken   []bool
	first   int // nothing untaken stands before it
	bytes   int
	why     error
	endedAt time.Time
	checker *checker
	enough  func(Received) bool
}

// Dial opens a network connection to the broker. It sends nothing.
func Dial(ctx context.Context, a Address, o Options) (*Conn, error) {
	nc, err := dial(ctx, a)
	if err != nil {
		return nil, err
	}
	return newConn(nc, o), nil
}

func newConn(nc net.Conn, o Options) *Conn {
	c := &Conn{
		name: o.Name, version: o.Version, trace: o.Trace, nc: nc,
		done: make(chan struct{}), arrived: make(chan struct{}),
		maxPacket: o.MaxPacket, writeTimeout: o.WriteTimeout,
		checker: newChecker(o.Version),
	}
	if c.maxPacket <= 0 {
		c.maxPacket = maxPacket
	}
	if c.writeTimeout <= 0 {
		c.writeTimeout = writeTimeout
	}
	if s, ok := nc.(*webSocket); ok {
		s.saw, s.patient = c.sawFrame, c.writeTimeout
	}
	go c.read()
	return c
}

// Send writes packets, all in one write.
func (c *Conn) Send(packets ...Packet) error {
	var all []byte
	for _, p := range packets {
		start := len(all)
		all = p.Append(all, c.version)
		c.record(all[start:])
	}
	return c.write(all)
}

// SendBytes writes bytes as they are, in one write.
func (c *Conn) SendBytes(b []byte) error {
	c.record(b)
	return c.write(b)
}

// segmentPause gives the other end time to read a segment before the next one: it
// proves no absence, it keeps the network from joining them.
const segmentPause = time.Millisecond

// SendSplit writes the bytes n at a time, each in a segment of its own as far
// as the network keeps them apart.
func (c *Conn) SendSplit(b []byte, n int) error {
	c.trace.Note(c.name, "the next packet goes out %d byte(s) at a time", n)
	c.record(b)
	for part := range slices.Chunk(b, max(n, 1)) {
		time.Sleep(segmentPause)
		if err := c.write(part); err != nil {
			return err
		}
	}
	return nil
}

func (c *Conn) record(raw []byte) {
	if c.trace != nil {
		text, kind, shown := sent(raw, c.version)
		c.trace.add(Event{Client: c.name, Dir: "send", Type: kind, Text: text, Bytes: shown})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.checker.sent(raw)
}

func (c *Conn) write(b []byte) error {
	if err := c.nc.SetWriteDeadline(time.Now().Add(c.writeTimeout)); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	if _, err := c.nc.Write(b); err != nil {
		return fmt.Errorf("wire: %w", err)
	}
	return nil
}

// CloseWrite ends the sending half of the connection (FIN; over WebSocket and
// TLS as they do it, before); reading goes on. On a connection that has ended it
// does nothing.
func (c *Conn) CloseWrite() error {
	c.trace.Note(c.name, "the client ends its half of the connection (FIN)")
	if err := closeWrite(c.nc); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// Close ends the connection (FIN) and waits until its reader has stopped. On a
// connection that has ended it does nothing.
func (c *Conn) Close() error {
	err := c.nc.Close()
	<-c.done
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// Reset ends the connection with a reset (RST) where the transport can.
func (c *Conn) Reset() error {
	c.trace.Note(c.name, "the client resets the connection (RST)")
	if tcp, ok := underlying(c.nc).(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
		// Before a layer above can say goodbye.
		_ = tcp.Close()
	}
	_ = c.Close()
	return nil
}

// Done is closed when the connection has ended, from either side, and all
// that came has been recorded.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Ended tells whether, why and when the connection has ended. A reset by the
// broker counts as an end like any other.
//
//lint:ignore ST1008 the error says how the connection ended and is no failure of the call
func (c *Conn) Ended() (bool, error, time.Time) {
	select {
	case <-c.done:
		c.mu.Lock()
		defer c.mu.Unlock()
		return true, c.why, c.endedAt
	default:
		return false, nil, time.Time{}
	}
}

// Take removes and returns the first packet that matches and has not been
// taken; others stay for later calls. It waits for one until the deadline, or
// the end of the connection, but never for what is there already.
func (c *Conn) Take(deadline time.Time, match func(Received) bool) (Received, Status) {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for {
		got, ok, arrived := c.takeNow(match)
		if ok {
			return got, Got
		}
		select {
		case <-arrived:
		case <-c.done:
			if got, ok, _ := c.takeNow(match); ok {
				return got, Got
			}
			return Received{}, Ended
		case <-timer.C:
			if got, ok, _ := c.takeNow(match); ok {
				return got, Got
			}
			return Received{}, TimedOut
		}
	}
}

func (c *Conn) takeNow(match func(Received) bool) (Received, bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := c.first; i < len(c.history); i++ {
		if c.taken[i] {
			if i == c.first {
				c.first++
			}
			continue
		}
		if match(c.history[i]) {
			c.taken[i] = true
			return c.history[i], true, nil
		}
	}
	return Received{}, false, c.arrived
}

// All returns every packet that has come, taken or not.
func (c *Conn) All() []Received {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.history)
}

// Pending returns how many packets have come and have not been taken.
func (c *Conn) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, taken := range c.taken[c.first:] {
		if !taken {
			n++
		}
	}
	return n
}

// Violations returns what the standing checks found wrong with the packets
// that came.
func (c *Conn) Violations() []Violation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.checker.violations)
}

// Evidence returns the keys of the statements that a packet which came could
// have broken.
func (c *Conn) Evidence() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.checker.evidence()
}

// read records packets until the connection ends.
func (c *Conn) read() {
	defer close(c.done)
	in := bufio.NewReaderSize(counted{quick{c.nc}, &c.partial}, 16<<10)
	var err error
	for err == nil {
		err = c.readPacket(in)
	}
	_ = c.nc.Close()
	c.mu.Lock()
	c.why, c.endedAt = describe(err), time.Now()
	c.mu.Unlock()
	c.trace.Note(c.name, "%v", describe(err))
}

// counted counts the bytes that are read.
type counted struct {
	io.Reader
	n *atomic.Int64
}

func (r counted) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	r.n.Add(int64(n))
	return n, err
}

// Partial returns how many bytes have come of a packet that is not complete.
func (c *Conn) Partial() int { return int(c.partial.Load()) }

// describe says in words how a connection ended.
func describe(err error) error {
	switch {
	case errors.Is(err, net.ErrClosed):
		return errors.New("the client closed the connection")
	case errors.Is(err, io.EOF):
		return errors.New("the broker closed the connection")
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, errFlood), errors.Is(err, errEnough), errors.As(err, &closeFrame{}):
		return err
	default:
		return fmt.Errorf("the connection broke: %w", err)
	}
}

var (
	errFlood  = errors.New("the broker sent more than a client has to take; the client closed the connection")
	errEnough = errors.New("the client has seen what it waited for, and closed the connection")
)

// EndWith has the connection closed by the next packet that is enough for the
// client. What came before the call does not count.
func (c *Conn) EndWith(enough func(Received) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.enough = enough
}

func (c *Conn) readPacket(in *bufio.Reader) error {
	raw, err := readFrame(in, c.maxPacket)
	if err != nil {
		if len(raw) > 0 {
			c.trace.add(Event{Client: c.name, Dir: "recv", Text: fmt.Sprintf("%d bytes that are no whole packet", len(raw)), Bytes: raw})
			c.mu.Lock()
			c.checker.torn(raw, len(c.history)+1)
			c.mu.Unlock()
		}
		return err
	}
	c.partial.Add(-int64(len(raw)))
	r := receive(raw, c.version)
	if c.trace != nil {
		text := brief(r.Packet)
		if r.Err != nil {
			text += " (" + r.Err.Error() + ")"
		}
		c.trace.add(Event{Client: c.name, Dir: "recv", Type: r.Type.String(), Text: text, Bytes: masked(raw, c.version)})
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += cost(r)
	if c.bytes > maxReceived || len(c.history) >= maxCount {
		return errFlood
	}
	r.Seq = len(c.history) + 1
	c.checker.received(r)
	c.history = append(c.history, r)
	c.taken = append(c.taken, false)
	close(c.arrived)
	c.arrived = make(chan struct{})
	if c.enough != nil && c.enough(r) {
		return errEnough
	}
	return nil
}

// receive decodes the bytes of one packet.
func receive(raw []byte, v Version) Received {
	n, used, _ := Varint(raw[1:])
	r := Received{At: time.Now(), Type: Type(raw[0] >> 4), Flags: raw[0] & 0x0f, Raw: raw}
	r.Packet, r.padded, r.Err = decode(raw[0], raw[1+used:], v)
	r.padded = r.padded || used > varintSize(n)
	return r
}

// cost is about how many bytes of memory a packet takes: a decoded property
// takes far more than its two bytes or so on the wire.
func cost(r Received) int {
	const perProperty = 100
	return len(r.Raw) + perProperty*len(PropertiesOf(r.Packet))
}

// readFrame reads one Control Packet of at most limit bytes. The length is not
// believed before its bytes are there: the buffer grows with them. With an
// error it returns what it read.
func readFrame(in *bufio.Reader, limit int) ([]byte, error) {
	var raw []byte
	for len(raw) < 2 || raw[len(raw)-1]&0x80 != 0 {
		if len(raw) == 5 {
			return raw, errors.New("the broker sent a Remaining Length of more than four bytes; the client closed the connection")
		}
		b, err := in.ReadByte()
		if err != nil {
			return raw, err
		}
		raw = append(raw, b)
	}
	n, _, err := Varint(raw[1:])
	if err != nil {
		return raw, err
	}
	if n > limit {
		return raw, fmt.Errorf("the broker announced a packet of %d bytes, more than a client has to take; the client closed the connection", n)
	}
	const chunk = 16 << 10
	for n > 0 {
		part := min(n, chunk)
		start := len(raw)
		raw = append(raw, make([]byte, part)...)
		got, err := io.ReadFull(in, raw[start:])
		if err != nil {
			return raw[:start+got], err
		}
		n -= part
	}
	return raw, nil
}

// Find returns the first packet that matches, taken or not.
func (c *Conn) Find(match func(Received) bool) (Received, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.history, match)
	if i < 0 {
		return Received{}, false
	}
	return c.history[i], true
}

// From returns the packets that have come after the first n, and a channel that
// is closed when the next one comes.
func (c *Conn) From(n int) ([]Received, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n >= len(c.history) {
		return nil, c.arrived
	}
	return slices.Clone(c.history[n:]), c.arrived
}
