package main

import (
	"context"
	"fmt"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// What a broker of MQTT 3.1.1 may lack, it does not announce: it shows in
// SUBACK, where a lower QoS may be granted and a filter refused
// [v311/MQTT-3.8.4-5] [v311/MQTT-3.8.3-2]. To retain messages is no option of
// 3.1.1 [v311/MQTT-3.3.1-5]: a broker that does not is for the checks.

// questions are the filters that the preflight asks for, each in a SUBSCRIBE of
// its own, below a topic of the run. The first one has to be granted: else the
// answers say something about the topic and not about the broker.
var questions = []wire.Subscription{
	{Filter: "", QoS: 0},
	{Filter: "", QoS: 1},
	{Filter: "", QoS: 2},
	{Filter: "/+/x", QoS: 0},
	{Filter: "/x/#", QoS: 0},
}

// inquire learns what a broker lacks in MQTT 3.1.1 by asking for it. It waits
// once for the answers, reads no more than a check does, and leaves nothing
// behind: its session is a clean one.
func (o *offer) inquire(ctx context.Context, t probe.Target) {
	wait := max(t.Timeout, probe.DefaultTimeout)
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c, err := wire.Dial(limited, wire.Address{URL: t.URL, TLS: t.TLS}, wire.Options{Name: "preflight", Version: wire.V311, MaxPacket: helloLimit})
	if err != nil {
		return // it was reachable a moment ago: the checks will tell
	}
	defer c.Close()
	// An interruption ends the wait.
	stop := context.AfterFunc(limited, func() { _ = c.Close() })
	defer stop()

	connect := wire.Connect{CleanStart: true, KeepAlive: 60, ClientID: "mc" + t.RunID + "asks"}
	if t.Username != "" {
		connect.Username = &t.Username
	}
	if t.Password != "" {
		connect.Password = []byte(t.Password)
	}
	if c.Send(connect) != nil {
		return
	}
	deadline := time.Now().Add(wait)
	of := func(kind wire.Type) func(wire.Received) bool {
		return func(r wire.Received) bool { return r.Type == kind }
	}
	ack, status := c.Take(deadline, of(wire.CONNACK))
	if p, ok := ack.Packet.(wire.Connack); status != wire.Got || !ok || p.Code != 0 {
		return
	}
	packets := make([]wire.Packet, 0, len(questions)+1)
	for i, q := range questions {
		q.Filter = "mqttcheck/" + t.RunID + "/preflight" + q.Filter
		packets = append(packets, wire.Subscribe{ID: uint16(i + 1), Subscriptions: []wire.Subscription{q}})
	}
	if c.Send(append(packets, wire.Pingreq{})...) != nil {
		return
	}
	c.Take(deadline, of(wire.PINGRESP))
	o.conclude(codesOf(c.All()))
	_ = c.Send(wire.Disconnect{})
}

// codesOf returns the SUBACK code for each question that was answered.
func codesOf(history []wire.Received) map[int]byte {
	codes := map[int]byte{}
	for _, r := range history {
		if p, ok := r.Packet.(wire.Suback); ok && len(p.Codes) == 1 && p.ID > 0 && int(p.ID) <= len(questions) {
			codes[int(p.ID)-1] = p.Codes[0]
		}
	}
	return codes
}

// conclude takes in the answers. What was not answered says nothing.
func (o *offer) conclude(codes map[int]byte) {
	if code, ok := codes[0]; !ok || code != 0 {
		return
	}
	for qos := byte(1); qos <= 2; qos++ {
		switch code, ok := codes[int(qos)]; {
		case !ok:
		case code >= 0x80:
			o.lacks[fmt.Sprintf("v311:qos%d", qos)] = fmt.Sprintf("SUBACK refuses QoS %d with 0x%02x", qos, code)
		case code < qos:
			o.lacks[fmt.Sprintf("v311:qos%d", qos)] = fmt.Sprintf("SUBACK grants QoS %d where QoS %d is asked for", code, qos)
		}
	}
	plus, ok1 := codes[3]
	hash, ok2 := codes[4]
	if ok1 && ok2 && plus >= 0x80 && hash >= 0x80 {
		o.lacks["v311:wildcard"] = fmt.Sprintf("SUBACK refuses filters with wildcards with 0x%02x", hash)
	}
}
