package main

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A null broker does as little as it can and must pass next to nothing.

// noise sends bytes that mean nothing for as long as they are taken.
func noise(c net.Conn) {
	go func() { _, _ = io.Copy(io.Discard, c) }()
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 1024)
	for {
		for i := range buf {
			buf[i] = byte(r.Uint32())
		}
		if _, err := c.Write(buf); err != nil {
			return
		}
	}
}

// nullYes starts a broker that answers every packet with its success
// acknowledgement, and never delivers nor closes.
func nullYes(t testing.TB) string {
	return listen(t, func(c net.Conn) { (&yes{}).serve(c) })
}

// nullFlood starts a nullYes that besides copies each PUBLISH to every
// subscriber, whatever its filter.
func nullFlood(t testing.TB) string {
	f := &flood{}
	return listen(t, func(c net.Conn) {
		defer f.remove(c)
		(&yes{flood: f}).serve(c)
	})
}

// yes is one connection of a broker that agrees to everything.
type yes struct {
	version wire.Version
	flood   *flood
}

func (y *yes) serve(c net.Conn) {
	r := bufio.NewReader(c)
	y.version = wire.V311
	for {
		first, body, err := nextFrame(r)
		if err != nil {
			// What has no frame gets no answer; the connection stays open.
			_, _ = io.Copy(io.Discard, r)
			return
		}
		if answer := y.answer(c, first, body); answer != nil {
			if y.flood != nil {
				y.flood.mu.Lock()
			}
			_, err = c.Write(answer)
			if y.flood != nil {
				y.flood.mu.Unlock()
			}
			if err != nil {
				return
			}
		}
	}
}

// answer returns the success acknowledgement of a packet, read as carelessly as
// can be.
func (y *yes) answer(c net.Conn, first byte, body []byte) []byte {
	id := func(at int) uint16 {
		if len(body) < at+2 {
			return 1
		}
		return uint16(body[at])<<8 | uint16(body[at+1])
	}
	var p wire.Packet
	switch wire.Type(first >> 4) {
	case wire.CONNECT:
		if len(body) > 6 && body[6] == byte(wire.V5) {
			y.version = wire.V5
		}
		p = wire.Connack{}
	case wire.PUBLISH:
		topicEnd := 2 + int(id(0))
		if y.flood != nil {
			y.flood.copy(first, body, y.version)
		}
		switch first >> 1 & 3 {
		case 0:
			return nil
		case 1:
			p = wire.Ack{Type: wire.PUBACK, ID: id(topicEnd)}
		default:
			p = wire.Ack{Type: wire.PUBREC, ID: id(topicEnd)}
		}
	case wire.PUBREC:
		p = wire.Ack{Type: wire.PUBREL, ID: id(0)}
	case wire.PUBREL:
		p = wire.Ack{Type: wire.PUBCOMP, ID: id(0)}
	case wire.SUBSCRIBE:
		p = wire.Suback{ID: id(0), Codes: y.grants(first, body)}
		if y.flood != nil {
			y.flood.add(c)
		}
	case wire.UNSUBSCRIBE:
		unsuback := wire.Unsuback{ID: id(0)}
		if y.version == wire.V5 {
			unsuback.Codes = make([]byte, max(1, filters(first, body, y.version)))
		}
		p = unsuback
	case wire.PINGREQ:
		p = wire.Pingresp{}
	default:
		return nil
	}
	return p.Append(nil, y.version)
}

// grants returns the QoS that was asked for, for each filter.
func (y *yes) grants(first byte, body []byte) []byte {
	p, _ := wire.Parse(first, body, y.version)
	s, ok := p.(wire.Subscribe)
	if !ok || len(s.Subscriptions) == 0 {
		return []byte{0}
	}
	var codes []byte
	for _, sub := range s.Subscriptions {
		codes = append(codes, min(sub.QoS, 2))
	}
	return codes
}

func filters(first byte, body []byte, v wire.Version) int {
	p, _ := wire.Parse(first, body, v)
	u, _ := p.(wire.Unsubscribe)
	return len(u.Filters)
}

// flood knows every connection that has ever subscribed.
type flood struct {
	mu    sync.Mutex
	conns []net.Conn
}

func (f *flood) add(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.Contains(f.conns, c) {
		f.conns = append(f.conns, c)
	}
}

func (f *flood) remove(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns = slices.DeleteFunc(f.conns, func(other net.Conn) bool { return other == c })
}

// copy sends a PUBLISH on as it came: flags, identifier and all.
func (f *flood) copy(first byte, body []byte, _ wire.Version) {
	frame := wire.Frame{Type: wire.PUBLISH, Flags: first & 0x0f, Body: body}.Append(nil, wire.V311)
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.conns {
		_, _ = c.Write(frame)
	}
}

// nextFrame reads one packet of at most a megabyte.
func nextFrame(r *bufio.Reader) (first byte, body []byte, err error) {
	if first, err = r.ReadByte(); err != nil {
		return 0, nil, err
	}
	var length []byte
	for {
		b, err := r.ReadByte()
		if err != nil {
			return 0, nil, err
		}
		length = append(length, b)
		n, _, err := wire.Varint(length)
		if err == nil {
			var buf bytes.Buffer
			_, err := io.CopyN(&buf, r, int64(min(n, 1<<20)))
			return first, buf.Bytes(), err
		}
		if len(length) == 4 {
			return 0, nil, err
		}
	}
}
