package oracle

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Tidy clears away what a conversation has left in the broker: Sessions that
// outlive their connections, and retained messages under the prefix. A campaign
// leaves a shared broker as it was, and what the broker keeps in spite of that is
// a leak.
func Tidy(ctx context.Context, log *play.Log, prefix string, o Options) {
	if s := TidyScript(log, prefix); len(s) > 0 {
		play.Play(ctx, s, play.Options{Address: o.Address, Login: o.Login, Patience: o.Patience})
	}
}

// TidyScript is what Tidy does.
func TidyScript(log *play.Log, prefix string) script.Script {
	ids, topics, v := leavings(log, prefix)
	if len(ids) == 0 && len(topics) == 0 {
		return nil
	}
	var s script.Script
	for some := range slices.Chunk(ids, script.MaxClients) {
		for i, id := range some { // all at once: each is a wait for the broker
			s = append(s, farewell(i, v, id)...)
		}
		for i := range some {
			s = append(s, script.Step{Client: i, Op: script.Finish})
		}
	}
	if len(topics) > 0 { // wills are out by now
		s = append(s, farewell(0, v, prefix+"-tidy", topics...)...)
		s = append(s, script.Step{Op: script.Finish})
	}
	return s
}

// farewell has a client begin a new Session, delete retained messages, and leave.
func farewell(client int, v wire.Version, id string, topics ...string) script.Script {
	packets := []wire.Packet{wire.Connect{CleanStart: true, KeepAlive: 60, ClientID: id}}
	for _, topic := range topics {
		packets = append(packets, wire.Publish{Topic: topic, Retain: true})
	}
	packets = append(packets, wire.Pingreq{}, wire.Disconnect{})
	return script.Script{{Client: client, Op: script.Open, Version: v}, {Client: client, Op: script.Send, Bytes: wire.Bytes(v, packets...)}}
}

// leavings lists the Client Identifiers whose Sessions may still be there, also
// those that ought not to be, and the topics that may have a retained message,
// with the version to ask in.
func leavings(log *play.Log, prefix string) (ids, topics []string, v wire.Version) {
	v = wire.V311
	add := func(list *[]string, s string) {
		if utf8.ValidString(s) && !strings.ContainsRune(s, 0) && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	retained := func(topic string) {
		if strings.HasPrefix(topic, prefix+"/") && !strings.ContainsAny(topic, "#+") {
			add(&topics, topic)
		}
	}
	for _, e := range log.Events {
		version := log.Conns[e.Conn].Version
		if e.Kind == play.Received {
			if ack, ok := e.Packet.Packet.(wire.Connack); ok {
				if version == wire.V5 {
					v = wire.V5
				}
				if id, given := ack.Properties.First(wire.AssignedClientIdentifier); given {
					add(&ids, id.Str)
				}
			}
		}
		if e.Kind != play.Sent {
			continue
		}
		for rest := e.Bytes; len(rest) > 0; {
			size, ok := wire.FrameSize(rest)
			if !ok || size > len(rest) || size == 0 {
				break
			}
			p, _ := wire.Parse(rest[0], wire.Body(rest[:size]), version)
			switch p := p.(type) {
			case wire.Connect:
				if strings.HasPrefix(p.ClientID, prefix) && p.ClientID != "" {
					add(&ids, p.ClientID)
				}
				if p.Will != nil && p.Will.Retain {
					retained(p.Will.Topic)
				}
			case wire.Publish:
				if p.Retain && p.Payload != "" {
					retained(p.Topic)
				}
			}
			rest = rest[size:]
		}
	}
	return ids, topics, v
}
