package shrink

import (
	"bytes"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// wellFormed tells whether bytes are one packet that is written as it would be
// from its fields.
func wellFormed(b []byte, v wire.Version) bool {
	size, ok := wire.FrameSize(b)
	if !ok || size != len(b) {
		return false
	}
	p, err := wire.Parse(b[0], wire.Body(b), v)
	return err == nil && bytes.Equal(wire.Bytes(v, p), b)
}

// simplify returns simpler forms of a packet, the simplest first.
func simplify(b []byte, v wire.Version) [][]byte {
	size, ok := wire.FrameSize(b)
	if !ok || size > len(b) {
		return nil
	}
	var list [][]byte
	if size < len(b) {
		return append(list, b[size:], b[:size]) // one of several packets
	}
	p, err := wire.Parse(b[0], wire.Body(b[:size]), v)
	if err != nil {
		return nil
	}
	add := func(p wire.Packet) {
		if c := wire.Bytes(v, p); len(c) < len(b) {
			list = append(list, c)
		}
	}
	switch p := p.(type) {
	case wire.Connect:
		connects(p, add)
	case wire.Publish:
		publishes(p, add)
	case wire.Subscribe:
		subscribes(p, add)
	case wire.Unsubscribe:
		unsubscribes(p, add)
	case wire.Ack:
		add(wire.Ack{Type: p.Type, ID: p.ID})
	case wire.Disconnect:
		add(wire.Disconnect{})
	}
	return list
}

func connects(p wire.Connect, add func(wire.Packet)) {
	bare := p
	bare.Will, bare.Properties, bare.Username, bare.Password = nil, nil, nil, nil
	add(bare)
	bare = p
	bare.Will = nil
	add(bare)
	if p.Will != nil {
		will := *p.Will
		will.Properties = nil
		bare = p
		bare.Will = &will
		add(bare)
		for _, topic := range shorter(p.Will.Topic) {
			will := *p.Will
			will.Topic = topic
			bare.Will = &will
			add(bare)
		}
		for _, payload := range shorter(string(p.Will.Payload)) {
			will := *p.Will
			will.Payload = []byte(payload)
			bare.Will = &will
			add(bare)
		}
	}
	for i := range p.Properties {
		one := p
		one.Properties = without(p.Properties, i)
		add(one)
	}
	for _, id := range shorter(p.ClientID) {
		one := p
		one.ClientID = id
		add(one)
	}
}

func publishes(p wire.Publish, add func(wire.Packet)) {
	bare := p
	bare.Properties = nil
	add(bare)
	for i := range p.Properties {
		one := p
		one.Properties = without(p.Properties, i)
		add(one)
	}
	for _, topic := range shorter(p.Topic) {
		one := p
		one.Topic = topic
		add(one)
	}
	for _, payload := range shorter(p.Payload) {
		one := p
		one.Payload = payload
		add(one)
	}
	if p.QoS > 0 {
		one := p
		one.QoS, one.ID = 0, 0
		add(one)
	}
}

func subscribes(p wire.Subscribe, add func(wire.Packet)) {
	bare := p
	bare.Properties = nil
	add(bare)
	for i := range p.Subscriptions {
		if one := p; len(p.Subscriptions) > 1 {
			one.Subscriptions = without(p.Subscriptions, i)
			add(one)
		}
		for _, filter := range shorter(p.Subscriptions[i].Filter) {
			one := p
			one.Subscriptions = slices.Clone(p.Subscriptions)
			one.Subscriptions[i].Filter = filter
			add(one)
		}
	}
}

func unsubscribes(p wire.Unsubscribe, add func(wire.Packet)) {
	bare := p
	bare.Properties = nil
	add(bare)
	for i := range p.Filters {
		if one := p; len(p.Filters) > 1 {
			one.Filters = without(p.Filters, i)
			add(one)
		}
		for _, filter := range shorter(p.Filters[i]) {
			one := p
			one.Filters = slices.Clone(p.Filters)
			one.Filters[i] = filter
			add(one)
		}
	}
}

// shorter returns shorter forms of a text: one letter, a half, all but the last
// level or letter.
func shorter(s string) []string {
	if len(s) < 2 {
		return nil
	}
	list := []string{s[:1]}
	if s[0] == '$' || s[0] == '/' {
		list[0] = "a"
	}
	if len(s) > 8 {
		list = append(list, s[:len(s)/2])
	}
	if i := strings.LastIndexByte(s, '/'); i > 0 {
		list = append(list, s[:i])
	}
	return append(list, s[:len(s)-1])
}

// without returns a list that lacks one element.
func without[T any](list []T, i int) []T { return slices.Delete(slices.Clone(list), i, i+1) }
