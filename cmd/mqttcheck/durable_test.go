//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// durable is a broker with a folder for its data, in a process that is killed
// and started again.
type durable struct {
	t      *testing.T
	folder string
	cmd    *exec.Cmd
	url    string
}

func (b *durable) start() {
	b.t.Helper()
	b.cmd = program(b.t, "serve", "--listen", "127.0.0.1:0", "--data", b.folder)
	out, err := b.cmd.StdoutPipe()
	if err == nil {
		err = b.cmd.Start()
	}
	if err != nil {
		b.t.Fatal(err)
	}
	b.url = "mqtt://" + listeningOn(b.t, bufio.NewScanner(out))
}

func (b *durable) kill() {
	_ = b.cmd.Process.Signal(syscall.SIGKILL)
	_ = b.cmd.Wait()
}

func (b *durable) dial(connect wire.Connect) *wire.Conn {
	b.t.Helper()
	c, err := wire.Dial(context.Background(), wire.Address{URL: b.url}, wire.Options{Version: wire.V5})
	if err == nil {
		b.t.Cleanup(func() { _ = c.Close() })
		err = c.Send(connect)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// lasting is a CONNECT of a Session that lasts.
func lasting(id string) wire.Connect {
	return wire.Connect{ClientID: id, Properties: wire.Properties{{ID: wire.SessionExpiryInterval, Int: 1000}}}
}

// takes returns the next packet of a connection; ok is false when none comes.
func takes(c *wire.Conn, wait time.Duration) (wire.Received, bool) {
	r, status := c.Take(time.Now().Add(wait), func(wire.Received) bool { return true })
	return r, status == wire.Got
}

// sender publishes numbered messages, the even ones at QoS 1 and the odd ones
// at QoS 2, and remembers what is open as a client should.
type sender struct {
	next int
	open map[uint16]*opened
	ids  uint16
	lost error
}

type opened struct {
	publish  wire.Publish
	received bool // PUBREC came
}

// publishing sends until the connection ends or stop is closed, and then until
// nothing is open.
func (s *sender) publishing(c *wire.Conn, stop <-chan struct{}) {
	for id, o := range s.open {
		if o.received {
			_ = c.Send(wire.Ack{Type: wire.PUBREL, ID: id})
			continue
		}
		o.publish.Dup = true
		_ = c.Send(o.publish)
	}
	for {
		stopped := false
		select {
		case <-stop:
			stopped = true
		default:
		}
		if stopped && len(s.open) == 0 {
			return
		}
		for !stopped && len(s.open) < 20 {
			s.ids++
			p := wire.Publish{Topic: "t", QoS: byte(1 + s.next%2), ID: s.ids, Payload: fmt.Sprint(s.next)}
			s.next++
			s.open[p.ID] = &opened{publish: p}
			_ = c.Send(p)
		}
		r, ok := takes(c, 5*time.Second)
		if !ok {
			return
		}
		s.heed(c, r)
	}
}

func (s *sender) heed(c *wire.Conn, r wire.Received) {
	ack, ok := r.Packet.(wire.Ack)
	if !ok {
		return
	}
	o := s.open[ack.ID]
	switch {
	case ack.Type == wire.PUBCOMP:
		delete(s.open, ack.ID) // also with 0x92: the first PUBCOMP was lost
	case o == nil || ack.Code >= 0x80:
		s.lost = fmt.Errorf("%v for identifier %d with code %#x", ack.Type, ack.ID, ack.Code)
	case ack.Type == wire.PUBACK:
		delete(s.open, ack.ID)
	case ack.Type == wire.PUBREC:
		o.received = true
		_ = c.Send(wire.Ack{Type: wire.PUBREL, ID: ack.ID})
	}
}

// taker receives them, and counts.
type taker struct {
	open  map[uint16]bool
	count map[string]int
}

func (s *taker) receiving(c *wire.Conn, wait time.Duration) {
	for {
		r, ok := takes(c, wait)
		if !ok {
			return
		}
		switch p := r.Packet.(type) {
		case wire.Publish:
			if p.QoS < 2 || !s.open[p.ID] {
				s.count[p.Topic+" "+p.Payload]++
			}
			if p.QoS == 2 {
				s.open[p.ID] = true
				_ = c.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})
			} else if p.QoS == 1 {
				_ = c.Send(wire.Ack{Type: wire.PUBACK, ID: p.ID})
			}
		case wire.Ack:
			delete(s.open, p.ID)
			_ = c.Send(wire.Ack{Type: wire.PUBCOMP, ID: p.ID})
		}
	}
}

// TestKilledBrokerLosesNothing kills the broker again and again in the middle of
// traffic: every message arrives, and none of QoS 2 twice.
func TestKilledBrokerLosesNothing(t *testing.T) {
	b := &durable{t: t, folder: t.TempDir()}
	b.start()
	s := &sender{open: map[uint16]*opened{}}
	r := &taker{open: map[uint16]bool{}, count: map[string]int{}}
	c := b.dial(lasting("taker"))
	_ = c.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: "t", QoS: 2}, {Filter: "will", QoS: 1}}})
	r.receiving(c, 200*time.Millisecond)
	_ = c.Close()
	kills := 6
	if testing.Short() {
		kills = 2
	}
	for round := range kills {
		will := lasting("dying")
		will.Will = &wire.Will{Topic: "will", Payload: fmt.Append(nil, round), QoS: 1}
		b.dial(will)
		ended := make(chan struct{}, 2)
		stop := make(chan struct{})
		from, to := b.dial(lasting("sender")), b.dial(lasting("taker"))
		go func() { s.publishing(from, stop); ended <- struct{}{} }()
		go func() { r.receiving(to, time.Minute); ended <- struct{}{} }()
		time.Sleep(50*time.Millisecond + rand.N(200*time.Millisecond))
		b.kill()
		<-ended
		<-ended
		b.start()
	}
	done := make(chan struct{})
	close(done)
	s.publishing(b.dial(lasting("sender")), done)
	r.receiving(b.dial(lasting("taker")), time.Second)
	if s.lost != nil || len(s.open) > 0 || s.next < 20*kills {
		t.Errorf("%d published, %d open; %v", s.next, len(s.open), s.lost)
	}
	for i := range s.next {
		if n := r.count[fmt.Sprint("t ", i)]; n == 0 || i%2 == 1 && n > 1 {
			t.Errorf("message %d at QoS %d came %d times", i, 1+i%2, n)
		}
	}
	for i := range kills {
		if r.count[fmt.Sprint("will ", i)] == 0 {
			t.Errorf("will %d was not published", i)
		}
	}
	t.Logf("%d messages, %d kills", s.next, kills)
	b.kill()
}

// TestRetainedMessagesOutliveTheBroker: with what is left of their expiry, and
// only until it is over; and a Session no longer than its expiry.
func TestRetainedMessagesOutliveTheBroker(t *testing.T) {
	b := &durable{t: t, folder: t.TempDir()}
	b.start()
	c := b.dial(lasting("publisher"))
	for _, p := range []struct {
		topic  string
		expiry uint32
	}{{"r/short", 1}, {"r/long", 100}, {"r/gone", 100}} {
		_ = c.Send(wire.Publish{Topic: p.topic, QoS: 1, ID: 1, Retain: true, Payload: "x", Properties: wire.Properties{{ID: wire.MessageExpiryInterval, Int: p.expiry}}})
	}
	_ = c.Send(wire.Publish{Topic: "r/gone", QoS: 1, ID: 2, Retain: true})
	awaitAcks(t, c, 4)
	brief := lasting("brief")
	brief.Properties[0].Int = 1
	d := b.dial(brief)
	if r, ok := takes(d, 5*time.Second); !ok || r.Type != wire.CONNACK {
		t.Fatal("no CONNACK")
	}
	b.kill()
	time.Sleep(2200 * time.Millisecond)
	b.start()
	if r, ok := takes(b.dial(brief), 5*time.Second); !ok || r.Packet.(wire.Connack).SessionPresent() {
		t.Error("a Session outlives its expiry")
	}
	c = b.dial(lasting("new"))
	_ = c.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: "r/#", QoS: 1}}})
	var got []string
	for {
		r, ok := takes(c, 500*time.Millisecond)
		if !ok {
			break
		}
		if p, ok := r.Packet.(wire.Publish); ok {
			got = append(got, p.Topic)
			if left := p.Properties[0].Int; left < 90 || left > 98 {
				t.Errorf("%d seconds are left", left)
			}
		}
	}
	if strings.Join(got, " ") != "r/long" {
		t.Errorf("retained: %q, want r/long", got)
	}
	b.kill()
}

func awaitAcks(t *testing.T, c *wire.Conn, n int) {
	t.Helper()
	for range n {
		if _, status := c.Take(time.Now().Add(10*time.Second), func(r wire.Received) bool { return r.Type == wire.PUBACK }); status != wire.Got {
			t.Fatal("no PUBACK")
		}
	}
}

// The whole suite passes on a broker that stores everything.
func TestSuiteOnABrokerWithData(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole run")
	}
	b := &durable{t: t, folder: t.TempDir()}
	b.start()
	defer b.kill()
	code, result, talk := judge(t, b.url)
	if code != exitOK {
		t.Errorf("exit %d, %s", code, talk)
	}
	for _, s := range result.Statements {
		if s.Verdict == "fail" || s.Verdict == "warn" || s.Verdict == "inconclusive" {
			t.Errorf("%s: %s, %s", s.ID, s.Verdict, s.Reason)
		}
	}
}
