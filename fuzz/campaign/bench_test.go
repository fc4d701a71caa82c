package campaign

import (
	"bufio"
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Each of the three that are compared runs for a window before the next has its
// turn, in several rounds: a machine that is slow for a while is slow for all.
const (
	window = 2 * time.Second
	rounds = 3
)

// BenchmarkFuzz has a campaign with all oracles, the same conversations played and
// not judged, and a bare sender take turns on one broker, each with as many workers.
// It prints what the campaign sends in a second, and which share that is of what the
// others do; it fails nothing.
func BenchmarkFuzz(b *testing.B) {
	for name, start := range map[string]func(b *testing.B) (*proc.Process, string, error){
		"reference": func(b *testing.B) (*proc.Process, string, error) {
			address, command := child(b)
			p, err := proc.Start(b.Context(), *command)
			return p, address.URL, err
		},
		"mosquitto": func(b *testing.B) (*proc.Process, string, error) {
			proc.Need(b, "mosquitto")
			return proc.StartMosquitto(b.Context(), b.TempDir())
		},
	} {
		b.Run(name, func(b *testing.B) {
			p, url, err := start(b)
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = p.Stop() }()
			address := wire.Address{URL: url}
			var bare, played, judged rate
			for b.Loop() {
				for round := range uint64(rounds) {
					bare.add(measure(b.Context(), func(ctx context.Context, _ uint64) rate { return bareSender(ctx, b, address) }))
					gen := generate.New(generate.Options{Seed: 1000 + round})
					played.add(measure(b.Context(), func(ctx context.Context, n uint64) rate {
						return sent(play.Play(ctx, gen.Case(n).Script, play.Options{Address: address}))
					}))
					s, err := Run(b.Context(), Options{Address: address, Seed: 1000 + round, Duration: window})
					if err != nil {
						b.Fatal(err)
					}
					judged.add(rate{conversations: float64(s.Conversations), packets: float64(s.Packets), connections: float64(s.Sent["CONNECT"]), seconds: s.Seconds})
				}
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(judged.conversations/judged.seconds, "conversations/s")
			b.ReportMetric(judged.packets/judged.seconds, "packets/s")
			b.ReportMetric(bare.packets/bare.seconds, "bare-packets/s")
			b.ReportMetric(judged.packets/judged.seconds*bare.seconds/bare.packets, "of-bare")
			b.ReportMetric(judged.connections/judged.seconds*bare.seconds/bare.connections, "of-bare-connections")
			b.ReportMetric(judged.conversations/judged.seconds*played.seconds/played.conversations, "of-played")
		})
	}
}

// rate is what was done, and how long that took.
type rate struct{ conversations, connections, packets, seconds float64 }

func (r *rate) add(o rate) {
	r.conversations += o.conversations
	r.connections += o.connections
	r.packets += o.packets
	r.seconds += o.seconds
}

// measure lets workers do something again and again for the time of a window.
func measure(ctx context.Context, do func(ctx context.Context, n uint64) rate) (sum rate) {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var next atomic.Uint64
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range defaultWorkers {
		workers.Go(func() {
			var own rate
			for ctx.Err() == nil {
				own.add(do(ctx, next.Add(1)-1))
			}
			mu.Lock()
			defer mu.Unlock()
			sum.add(own)
		})
	}
	workers.Wait()
	sum.seconds = time.Since(begun).Seconds()
	return sum
}

// bareSender connects, publishes and leaves, and looks at nothing but that CONNACK
// has come.
func bareSender(ctx context.Context, b *testing.B, address wire.Address) rate {
	conn, err := wire.Open(context.WithoutCancel(ctx), address)
	if err != nil {
		b.Error(err)
		return rate{}
	}
	defer conn.Close()
	_, _ = conn.Write(wire.Bytes(wire.V311, wire.Connect{CleanStart: true, KeepAlive: 60}))
	if _, err := bufio.NewReader(conn).Discard(4); err != nil {
		b.Error(err)
		return rate{}
	}
	_, _ = conn.Write(wire.Bytes(wire.V311, wire.Publish{Topic: "mqttcheck-fuzz/bare", Payload: "bare"}, wire.Disconnect{}))
	_, _ = io.Copy(io.Discard, conn) // the broker ends it
	return rate{conversations: 1, connections: 1, packets: 3}
}

// sent counts what was sent in a playing.
func sent(log *play.Log) rate {
	r := rate{conversations: 1}
	for _, e := range log.Events {
		switch e.Kind {
		case play.Sent:
			r.packets++
		case play.Opened:
			r.connections++
		}
	}
	return r
}
