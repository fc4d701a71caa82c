package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// helloLimit bounds the bytes that are read of what answers a CONNECT: more
// than any CONNACK that a client has to expect.
const helloLimit = 1 << 18

// shape is what came of one CONNECT.
type shape int

const (
	accepted    shape = iota // CONNACK with success, in the form of the version
	unoffered                // a packet that says, or a form that shows, that the version is not offered
	refused                  // the credentials
	unavailable              // CONNACK with another refusal
	closed                   // the end of the connection, without a byte
	silent                   // nothing, in time
	foreign                  // bytes that are no CONNACK
	unreachable              // no connection
)

// hello is the outcome of one CONNECT, with what was seen in words.
type hello struct {
	shape   shape
	seen    string
	connack wire.Connack // of accepted
}

// offer is what the preflight found out about a broker.
type offer struct {
	offered    map[string]bool   // by version
	notOffered map[string]string // version → what was seen
	announced  map[string]string // property of the 5.0 CONNACK → value
	lacks      map[string]string // for probe.Target
}

// preflight finds out before any check whether there is an MQTT broker, which
// versions it offers, and what it says that it has not. It tries all versions,
// also those that were not asked for: that tells a broker without the version
// from something that is no broker.
func preflight(ctx context.Context, t probe.Target, asked []string) (offer, error) {
	results := make([]hello, len(versions))
	done := make(chan int)
	for i, v := range versions {
		go func() {
			results[i] = greet(ctx, t, v.wire, "pre"+v.key)
			done <- i
		}()
	}
	for range versions {
		<-done
	}
	if ctx.Err() != nil {
		return offer{}, exitWith(exitInterrupted)
	}
	if !slices.ContainsFunc(results, func(h hello) bool { return h.shape == accepted }) {
		suggest(ctx, t, results)
	}
	o := offer{offered: map[string]bool{}, notOffered: map[string]string{}, announced: map[string]string{}, lacks: map[string]string{}}
	for i, v := range versions {
		if results[i].shape == accepted {
			o.offered[v.key] = true
			if v.wire == wire.V5 {
				o.learn(results[i].connack)
			}
		} else if slices.Contains(asked, v.key) {
			o.offered[v.key] = false
			o.notOffered[v.key] = results[i].seen
		}
	}
	if err := o.judge(t, asked, results); err != nil {
		return o, err
	}
	if o.offered["v311"] && slices.Contains(asked, "v311") {
		o.inquire(ctx, t)
	}
	if ctx.Err() != nil {
		return offer{}, exitWith(exitInterrupted)
	}
	return o, o.further(ctx, t)
}

// judge returns the error that ends the run, nil where there is something to
// check.
func (o offer) judge(t probe.Target, asked []string, results []hello) error {
	where := target.Mask(t.URL)
	if slices.ContainsFunc(asked, func(v string) bool { return o.offered[v] }) {
		return nil
	}
	worst := func(s shape) (hello, bool) {
		i := slices.IndexFunc(results, func(h hello) bool { return h.shape == s })
		if i < 0 {
			return hello{}, false
		}
		return results[i], true
	}
	if h, ok := worst(unreachable); ok {
		return exitf(exitBroker, "cannot reach %s: %s", where, h.seen)
	}
	if h, ok := worst(refused); ok {
		return exitf(exitBroker, "%s refuses the credentials: %s", where, h.seen)
	}
	_, speaks := worst(accepted)
	_, says := worst(unoffered)
	if h, ok := worst(unavailable); ok && !speaks {
		return exitf(exitBroker, "%s refuses the connection: %s", where, h.seen)
	}
	if speaks || says {
		var seen []string
		for _, v := range asked {
			seen = append(seen, fmt.Sprintf("%s: %s", numberOf(v), o.notOffered[v]))
		}
		return exitf(exitNothing, "%s offers none of the versions asked for (%s)", where, strings.Join(seen, "; "))
	}
	for _, s := range []shape{foreign, silent, closed} {
		if h, ok := worst(s); ok {
			return exitf(exitBroker, "%s is no MQTT broker: %s", where, h.seen)
		}
	}
	return exitf(exitBroker, "%s is no MQTT broker", where)
}

// greet connects, sends a CONNECT of the version, and tells what came. It
// bounds the time and the bytes that it reads.
func greet(ctx context.Context, t probe.Target, v wire.Version, name string) hello {
	limited, cancel := context.WithTimeout(ctx, max(t.Timeout, probe.DefaultTimeout))
	defer cancel()
	conn, err := wire.Open(limited, wire.Address{URL: t.URL, TLS: t.TLS})
	if err != nil {
		return hello{shape: unreachable, seen: dialError(t, t.URL, err)}
	}
	defer conn.Close()
	stop := context.AfterFunc(limited, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	packet := wire.Connect{CleanStart: true, KeepAlive: 60, ClientID: "mc" + t.RunID + name}
	if t.Username != "" {
		packet.Username = &t.Username
	}
	if t.Password != "" {
		packet.Password = []byte(t.Password)
	}
	sent := packet.Append(nil, v)
	if _, err := conn.Write(sent); err != nil {
		return hello{shape: closed, seen: "it closes the connection without an answer to CONNECT"}
	}
	got, readErr := readPacket(io.LimitReader(conn, helloLimit))
	if alert, ok := alerted(readErr); ok && len(got) == 0 {
		return hello{shape: unreachable, seen: alertError(t, alert)}
	}
	h := recognize(got, readErr, sent, v)
	switch h.shape {
	case silent:
		if ctx.Err() == nil && speaksHTTP(conn) {
			h = hello{shape: foreign, seen: seenHTTP}
		}
	case accepted:
		_, _ = conn.Write(wire.Disconnect{}.Append(nil, v))
	}
	return h
}

// errNoPacket says that what was read does not begin a CONNACK.
var errNoPacket = errors.New("no CONNACK")

// readPacket reads one packet, as long as it can be a CONNACK, and returns the
// bytes that it read. No length is believed before its bytes are there.
func readPacket(r io.Reader) ([]byte, error) {
	var got bytes.Buffer
	if _, err := io.CopyN(&got, r, 1); err != nil {
		return nil, err
	}
	if got.Bytes()[0]>>4 != byte(wire.CONNACK) {
		// Some more of it tells what it is; whether it comes is no matter.
		_, _ = io.CopyN(&got, r, 15)
		return got.Bytes(), errNoPacket
	}
	size := 0
	for shift := 0; ; shift += 7 {
		if _, err := io.CopyN(&got, r, 1); err != nil {
			return got.Bytes(), err
		}
		b := got.Bytes()[got.Len()-1]
		size |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		if shift == 21 {
			return got.Bytes(), errNoPacket
		}
	}
	if size > helloLimit-5 {
		return got.Bytes(), errNoPacket
	}
	_, err := io.CopyN(&got, r, int64(size))
	return got.Bytes(), err
}

// recognize tells what the answer to a CONNECT is.
func recognize(got []byte, readErr error, sent []byte, v wire.Version) hello {
	switch {
	case len(got) == 0 && errors.Is(readErr, os.ErrDeadlineExceeded):
		return hello{shape: silent, seen: "it does not answer CONNECT"}
	case len(got) == 0:
		return hello{shape: closed, seen: "it closes the connection without an answer to CONNECT"}
	case bytes.HasPrefix(got, []byte("HTTP/")):
		return hello{shape: foreign, seen: seenHTTP}
	case bytes.HasPrefix(sent, got) && got[0]>>4 == byte(wire.CONNECT):
		return hello{shape: foreign, seen: "it sends the CONNECT back, as an echo server does"}
	case readErr != nil:
		return hello{shape: foreign, seen: fmt.Sprintf("it answers CONNECT with % x, which is no CONNACK", clipBytes(got))}
	}
	body := got[len(got)-bodySize(got):]
	if v == wire.V5 && len(body) == 2 {
		return hello{shape: unoffered, seen: fmt.Sprintf("it answers a CONNECT of 5.0 with a CONNACK of 3.1.1, return code 0x%02x", body[1])}
	}
	if v == wire.V311 && len(body) != 2 {
		if len(body) > 2 && body[1] == 0x84 {
			return hello{shape: unoffered, seen: "CONNACK with reason code 0x84"}
		}
		return hello{shape: foreign, seen: fmt.Sprintf("it answers a CONNECT of 3.1.1 with % x, which is no CONNACK of 3.1.1", clipBytes(got))}
	}
	packet, err := wire.Parse(got[0], body, v)
	ack, ok := packet.(wire.Connack)
	if err != nil || !ok {
		return hello{shape: foreign, seen: fmt.Sprintf("it answers CONNECT with % x, which is no CONNACK", clipBytes(got))}
	}
	return ofConnack(ack, v)
}

// ofConnack tells what a well-formed CONNACK says.
func ofConnack(ack wire.Connack, v wire.Version) hello {
	name := "return code"
	if v == wire.V5 {
		name = "reason code"
	}
	seen := fmt.Sprintf("CONNACK with %s 0x%02x", name, ack.Code)
	credentials := []byte{4, 5}
	if v == wire.V5 {
		credentials = []byte{0x86, 0x87, 0x8C}
	}
	switch {
	case ack.Code == 0:
		return hello{shape: accepted, seen: seen, connack: ack}
	case ack.Code == 1 || ack.Code == 0x84:
		return hello{shape: unoffered, seen: seen}
	case slices.Contains(credentials, ack.Code):
		return hello{shape: refused, seen: seen}
	case v == wire.V5 && (ack.Code == 0x9C || ack.Code == 0x9D):
		return hello{shape: unavailable, seen: seen + ": it sends its clients to another server" + named(ack)}
	default:
		return hello{shape: unavailable, seen: seen}
	}
}

// named tells which other server a CONNACK names.
func named(ack wire.Connack) string {
	if p, ok := ack.Properties.First(wire.ServerReference); ok {
		return fmt.Sprintf(", %.100q", p.Str)
	}
	return ""
}

// bodySize returns the number of bytes behind the fixed header of a whole
// packet.
func bodySize(packet []byte) int {
	for i := 1; i < len(packet); i++ {
		if packet[i] < 0x80 {
			return len(packet) - i - 1
		}
	}
	return 0
}

func clipBytes(b []byte) []byte { return b[:min(len(b), 16)] }
