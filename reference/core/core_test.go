package core

import (
	"crypto/hmac"
	"crypto/sha256"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// peer is a client of a server under test that keeps what it gets.
type peer struct {
	t       *testing.T
	s       *Server
	id      ConnID
	version packet.Version
	got     []packet.Packet
	closed  bool
}

var start = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

func (p *peer) handle(ev Event) {
	p.t.Helper()
	for _, out := range p.s.Handle(start, ev) {
		switch out := out.(type) {
		case Send:
			if out.Conn != p.id {
				continue
			}
			first, body, _, err := packet.SplitFrame(out.Bytes, p.version, nil)
			if err != nil {
				p.t.Fatal(err)
			}
			d := packet.Decoder{Version: p.version, From: packet.FromServer}
			q, err := d.Decode(first, body)
			if err != nil {
				p.t.Fatal(err)
			}
			p.got = append(p.got, q)
		case Close:
			p.closed = p.closed || out.Conn == p.id
		}
	}
}

func (p *peer) send(q packet.Packet) {
	p.t.Helper()
	p.handle(Received{Conn: p.id, Bytes: packet.Append(nil, p.version, q)})
}

func (p *peer) last() packet.Packet {
	if len(p.got) == 0 {
		return nil
	}
	return p.got[len(p.got)-1]
}

func TestChallengeIsMetAndMetAgain(t *testing.T) {
	var policy Policy
	if err := policy.SetPolicy("auth-secret", "sesame"); err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{Policy: policy})
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, s: s, id: 1, version: packet.V5}
	method := challengeMethod
	answer := func() *packet.Auth {
		mac := hmac.New(sha256.New, []byte("sesame"))
		mac.Write(p.last().(*packet.Auth).Properties.AuthenticationData)
		return &packet.Auth{Code: packet.ContinueAuthentication, Properties: packet.Properties{AuthenticationMethod: &method, AuthenticationData: mac.Sum(nil)}}
	}
	p.handle(Opened{Conn: 1})
	p.send(&packet.Connect{ProtocolName: "MQTT", Version: packet.V5, CleanStart: true, Properties: packet.Properties{AuthenticationMethod: &method}})
	first := answer()
	p.send(first)
	ack, ok := p.last().(*packet.Connack)
	if !ok || ack.Code != 0 || ack.Properties.AuthenticationMethod == nil || ack.Properties.AssignedClientIdentifier == nil {
		t.Fatalf("CONNACK is %+v", p.last())
	}
	p.send(&packet.Auth{Code: packet.ReAuthenticate, Properties: packet.Properties{AuthenticationMethod: &method}})
	p.send(&packet.Pingreq{})
	if p.last().Type() != packet.PINGRESP {
		t.Fatal("traffic does not go on")
	}
	p.got = p.got[:len(p.got)-1]
	p.send(answer())
	if done, ok := p.last().(*packet.Auth); !ok || done.Code != packet.Success {
		t.Fatalf("the second exchange ends with %+v", p.last())
	}
	p.send(&packet.Auth{Code: packet.ReAuthenticate, Properties: packet.Properties{AuthenticationMethod: &method}})
	p.send(first) // an old answer
	if !p.closed {
		t.Error("an old answer is taken")
	}
}

// TestQueueIsBounded publishes to a client that is away until its Session is full.
func TestQueueIsBounded(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, s: s, id: 1, version: packet.V311}
	p.handle(Opened{Conn: 1})
	p.send(&packet.Connect{ProtocolName: "MQTT", Version: packet.V311, ClientID: "away"})
	p.send(&packet.Subscribe{ID: 1, Subscriptions: []packet.Subscription{{Filter: "t", QoS: 1}}})
	p.handle(Closed{Conn: 1})
	p.id = 2
	p.handle(Opened{Conn: 2})
	p.send(&packet.Connect{ProtocolName: "MQTT", Version: packet.V311, ClientID: "pub", CleanStart: true})
	for range maxQueue + 10 {
		p.send(&packet.Publish{Topic: "t", QoS: 1, ID: 1})
	}
	if n := len(s.sessions["away"].queue); n != maxQueue {
		t.Errorf("%d messages wait, the bound is %d", n, maxQueue)
	}
	large := make([]byte, 1<<20)
	s.sessions["away"].outbox = newOutbox()
	for range 2 * maxQueueBytes >> 20 {
		p.send(&packet.Publish{Topic: "t", QoS: 1, ID: 1, Payload: large})
	}
	if n := s.sessions["away"].queueBytes; n > maxQueueBytes {
		t.Errorf("%d bytes wait, the bound is %d", n, maxQueueBytes)
	}
}

// TestLengthsAreNotBelieved announces large packets and sends none of them.
func TestLengthsAreNotBelieved(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{t: t, s: s, id: 1, version: packet.V311}
	p.handle(Opened{Conn: 1})
	p.handle(Received{Conn: 1, Bytes: []byte{0x10, 0xff, 0xff, 0xff, 0x7f}})
	if !p.closed {
		t.Error("a CONNECT of 256 MiB is awaited")
	}
	p.id, p.closed = 2, false
	p.handle(Opened{Conn: 2})
	p.send(&packet.Connect{ProtocolName: "MQTT", Version: packet.V311, ClientID: "a", CleanStart: true})
	p.handle(Received{Conn: 2, Bytes: []byte{0x30, 0xff, 0xff, 0xff, 0x7f}})
	if !p.closed {
		t.Error("a PUBLISH of 256 MiB is awaited")
	}
}

// FuzzHandle feeds a server with bytes on three connections, in any order.
func FuzzHandle(f *testing.F) {
	hello := packet.Append(nil, packet.V5, &packet.Connect{ProtocolName: "MQTT", Version: packet.V5, ClientID: "a", CleanStart: true})
	f.Add(append([]byte{byte(len(hello))}, hello...))
	f.Add([]byte("\x02\x10\x00\x00\x05\xc0\x00\xe0\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		now := start
		for id := range ConnID(3) {
			s.Handle(now, Opened{Conn: id})
		}
		for id := ConnID(0); len(data) > 0; id = (id + 1) % 3 {
			n := min(int(data[0]), len(data)-1)
			now = now.Add(time.Duration(data[0]) * time.Millisecond)
			s.Handle(now, Received{Conn: id, Bytes: data[1 : 1+n]})
			if data[0] == 0xff {
				s.Handle(now, Closed{Conn: id})
				s.Handle(now, Opened{Conn: id})
			}
			data = data[1+n:]
		}
		if at, ok := s.Deadline(); ok {
			s.Handle(at, Tick{})
		}
	})
}
