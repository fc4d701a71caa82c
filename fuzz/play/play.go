package play

import (
	"context"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Options of a playing.
type Options struct {
	// Address is where the broker listens.
	Address wire.Address
	// Patience is how long the answer to a fence is awaited (default 2 s).
	Patience time.Duration
	// Login is put into each CONNECT; nil puts nothing.
	Login *Login
	// Trace receives every packet; nil keeps none.
	Trace *wire.Trace
}

// farewell is how long a connection whose half the player has ended may stay
// open before the player goes on.
const farewell = 250 * time.Millisecond

// Play carries out a script. Connections that are open at its end are fenced
// and then dropped. It returns early when the context ends.
func Play(ctx context.Context, s script.Script, o Options) *Log {
	if o.Patience <= 0 {
		o.Patience = 2 * time.Second
	}
	p := &player{o: o, log: &Log{Script: s}, now: map[int]*link{}}
	for i, st := range s {
		if ctx.Err() != nil {
			break
		}
		p.step = i
		p.carryOut(ctx, st)
	}
	p.step = len(s)
	p.finish(ctx)
	return p.log
}

// player is the state of one playing.
type player struct {
	o     Options
	log   *Log
	step  int
	now   map[int]*link // the latest connection of each client
	links []*link
}

// link is one connection.
type link struct {
	index  int
	client int
	conn   *wire.Conn
	seen   int    // packets taken into the log
	tail   []byte // what was sent of a packet that is not complete
	hold   bool   // acknowledges nothing
	pings  int    // PINGREQ sent
	pongs  int    // PINGRESP received
	cut    bool   // ended by the player
	ended  bool   // noted in the log
}

func (p *player) carryOut(ctx context.Context, st script.Step) {
	if st.Op == script.Pause {
		wait(ctx, st.Pause)
		p.pumpAll()
		return
	}
	if st.Op == script.Open {
		p.open(ctx, st)
		return
	}
	l := p.now[st.Client]
	if l == nil || l.ended {
		return // its connection is gone: the rest of its script is void
	}
	switch st.Op {
	case script.Send:
		p.write(l, st.Bytes, st.Split, false)
	case script.Fence:
		p.fence(ctx, l)
	case script.Hold:
		l.hold = true
	case script.Finish:
		p.half(ctx, l)
	case script.Reset:
		p.pump(l)
		p.cut(l, l.conn.Reset)
		p.pump(l)
	}
}

func (p *player) open(ctx context.Context, st script.Step) {
	dialing, cancel := context.WithTimeout(ctx, p.o.Patience)
	defer cancel()
	index := len(p.log.Conns)
	p.log.Conns = append(p.log.Conns, Conn{Client: st.Client, Version: st.Version})
	conn, err := wire.Dial(dialing, p.o.Address, wire.Options{Name: script.Name(st.Client), Version: st.Version, Trace: p.o.Trace})
	if err != nil {
		if ctx.Err() == nil {
			p.log.add(Event{Kind: Refused, Conn: index, Step: p.step})
		}
		return
	}
	l := &link{index: index, client: st.Client, conn: conn}
	p.links = append(p.links, l)
	p.now[st.Client] = l
	p.log.add(Event{Kind: Opened, Conn: index, Step: p.step})
}

// write writes bytes and notes them before: what they bring about comes behind
// them in the log.
func (p *player) write(l *link, b []byte, split int, auto bool) {
	p.log.add(Event{Kind: Sent, Conn: l.index, Step: p.step, Bytes: b, Auto: auto})
	l.follow(b)
	b = p.o.Login.into(b, p.log.Conns[l.index].Version)
	if split > 0 {
		_ = l.conn.SendSplit(b, split)
		return
	}
	_ = l.conn.SendBytes(b)
}

// follow keeps track of the borders of packets, and counts PINGREQ.
func (l *link) follow(b []byte) {
	l.tail = append(l.tail, b...)
	for {
		size, ok := wire.FrameSize(l.tail)
		if !ok || size > len(l.tail) {
			return
		}
		if wire.Type(l.tail[0]>>4) == wire.PINGREQ {
			l.pings++
		}
		l.tail = l.tail[size:]
	}
}

// fence waits until the broker has dealt with all that the connection sent. A
// connection in the middle of a packet can only be ended.
func (p *player) fence(ctx context.Context, l *link) {
	p.pumpAll()
	if l.ended || l.cut {
		return
	}
	if len(l.tail) > 0 {
		p.half(ctx, l)
		return
	}
	p.write(l, []byte{0xc0, 0}, 0, true)
	deadline := time.Now().Add(p.o.Patience)
	for {
		arrived := p.pump(l)
		switch {
		case l.pongs >= l.pings:
			p.log.add(Event{Kind: Fenced, Conn: l.index, Step: p.step})
			p.pumpAll()
			return
		case l.ended || ctx.Err() != nil:
			return
		case !sleepUntil(ctx, deadline, arrived, l.conn.Done()):
			p.log.add(Event{Kind: Stuck, Conn: l.index, Step: p.step})
			p.cut(l, l.conn.Close)
			p.pump(l)
			return
		}
	}
}

// cut notes that the player ends a connection, or its half, and does so.
func (p *player) cut(l *link, end func() error) {
	l.cut = true
	p.log.add(Event{Kind: Cut, Conn: l.index, Step: p.step})
	_ = end()
}

// half ends the player's half of a connection, and waits a while until the
// broker has ended the other.
func (p *player) half(ctx context.Context, l *link) {
	p.cut(l, l.conn.CloseWrite)
	deadline := time.Now().Add(farewell)
	for !l.ended && ctx.Err() == nil {
		arrived := p.pump(l)
		if l.ended || !sleepUntil(ctx, deadline, arrived, l.conn.Done()) {
			break
		}
	}
	_ = l.conn.Close()
	p.pump(l)
}

func (p *player) pumpAll() {
	for _, l := range p.links {
		if !l.ended {
			p.pump(l)
		}
	}
}

// pump takes what has come into the log and acknowledges it. It returns a
// channel that is closed when more comes.
func (p *player) pump(l *link) <-chan struct{} {
	if l.ended {
		return nil
	}
	over := false
	select {
	case <-l.conn.Done():
		over = true // before the packets are taken: none is missed
	default:
	}
	got, arrived := l.conn.From(l.seen)
	for _, r := range got {
		l.seen++
		p.log.add(Event{Kind: Received, Conn: l.index, Step: p.step, Packet: r})
		if r.Type == wire.PINGRESP {
			l.pongs++
		}
		if !l.hold && !l.cut && !over && len(l.tail) == 0 {
			p.acknowledge(l, r)
		}
	}
	if over {
		l.ended = true
		p.log.add(Event{Kind: Ended, Conn: l.index, Step: p.step})
		p.log.Conns[l.index].Violations = l.conn.Violations()
	}
	return arrived
}

// acknowledge answers a delivery as a client has to.
func (p *player) acknowledge(l *link, r wire.Received) {
	answer := wire.Ack{}
	switch got := r.Packet.(type) {
	case wire.Publish:
		answer.ID = got.ID
		switch got.QoS {
		case 1:
			answer.Type = wire.PUBACK
		case 2:
			answer.Type = wire.PUBREC
		default:
			return
		}
	case wire.Ack:
		if got.Type != wire.PUBREL {
			return
		}
		answer.Type, answer.ID = wire.PUBCOMP, got.ID
	default:
		return
	}
	p.write(l, answer.Append(nil, p.log.Conns[l.index].Version), 0, true)
}

// rounds is how often all connections are fenced at the end, at most.
const rounds = 100

// finish fences what is open until nothing new comes: what one round brought
// about, such as the next message that had to wait for an acknowledgement, is
// dealt with in the next. Then it drops all connections.
func (p *player) finish(ctx context.Context) {
	for range rounds {
		before := p.substance()
		for _, l := range p.links {
			if !l.ended && !l.cut {
				p.fence(ctx, l)
			}
		}
		if p.substance() == before || ctx.Err() != nil {
			break
		}
	}
	for _, l := range p.links {
		if l.ended {
			continue
		}
		p.pump(l)
		if !l.ended {
			p.cut(l, l.conn.Close)
			p.pump(l)
		}
	}
}

// substance counts the packets that have come, but for answers to fences.
func (p *player) substance() int {
	n := 0
	for _, l := range p.links {
		n += l.seen - l.pongs
	}
	return n
}

// sleepUntil waits for one of the channels; false when the time is over first.
func sleepUntil(ctx context.Context, deadline time.Time, arrived, done <-chan struct{}) bool {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-arrived:
		return true
	case <-done:
		return true
	case <-ctx.Done():
		return true
	case <-timer.C:
		return false
	}
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
