package generate

import (
	"bytes"
	"slices"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// misbehave is one breach of the rules by the client that may.
func (c *client) misbehave() {
	w := c.w
	if c.state == Closed {
		c.open()
	}
	switch w.pick(15, 20, 25, 20, 20) {
	case 0:
		c.malformed(w.mangleBytes(c.sample()))
	case 1:
		c.malformed(w.mangleLength(c.sample(), c.version))
	case 2:
		c.malformed(w.mangleField(c.sample(), c.version))
	case 3:
		c.misplaced()
	default:
		c.unfinished()
	}
}

func (c *client) malformed(b []byte) {
	if len(b) == 0 {
		b = []byte{0}
	}
	c.write(b, Malformed)
}

// sample is a legal packet of any type that a client sends, as raw material.
func (c *client) sample() []byte {
	w := c.w
	v := c.version
	if c.state == Fresh || w.chance(15) {
		p := wire.Connect{CleanStart: true, KeepAlive: 600, ClientID: w.c.Prefix + "-" + script.Name(c.index)}
		name := "user"
		p.Username, p.Password = &name, []byte("pass")
		p.Will = &wire.Will{Topic: w.topic(), Payload: []byte("will"), QoS: 1}
		if c.five() {
			p.Properties = c.connectProperties()
			p.Will.Properties = wire.Properties{{ID: wire.ContentType, Str: "text"}, {ID: wire.WillDelayInterval, Int: 1}}
		}
		return wire.Bytes(v, p)
	}
	var ps wire.Properties
	if c.five() {
		ps = wire.Properties{{ID: wire.UserProperty, Pair: [2]string{"key", "value"}}}
	}
	switch w.pick(5, 4, 2, 2, 1, 1) {
	case 0:
		if c.five() {
			ps = append(ps, wire.Property{ID: wire.ContentType, Str: "text"}, wire.Property{ID: wire.TopicAlias, Int: 1},
				wire.Property{ID: wire.CorrelationData, Bin: []byte{1, 2}}, wire.Property{ID: wire.MessageExpiryInterval, Int: 9})
		}
		return wire.Bytes(v, wire.Publish{Topic: w.topic(), QoS: byte(w.IntN(3)), ID: c.freshID(), Payload: w.payload(), Properties: ps})
	case 1:
		if c.five() {
			ps = append(ps, wire.Property{ID: wire.SubscriptionIdentifier, Int: 200})
		}
		return wire.Bytes(v, wire.Subscribe{ID: c.freshID(), Properties: ps, Subscriptions: []wire.Subscription{
			{Filter: w.filter(c.five()), QoS: byte(w.IntN(3))}, {Filter: w.filter(false), QoS: 1}}})
	case 2:
		return wire.Bytes(v, wire.Unsubscribe{ID: c.freshID(), Properties: ps, Filters: []string{w.filter(c.five()), w.filter(false)}})
	case 3:
		kind := []wire.Type{wire.PUBACK, wire.PUBREC, wire.PUBREL, wire.PUBCOMP}[w.IntN(4)]
		a := wire.Ack{Type: kind, ID: uint16(1 + w.IntN(8)), Properties: ps}
		if c.five() && w.chance(50) {
			a.Code = []byte{0x10, 0x80, 0x92, 0x97}[w.IntN(4)]
		}
		return wire.Bytes(v, a)
	case 4:
		return wire.Bytes(v, wire.Disconnect{Code: byte(4 * w.IntN(2)), Properties: ps})
	}
	if c.five() {
		return wire.Bytes(v, wire.Auth{Code: 0x18, Properties: wire.Properties{{ID: wire.AuthenticationMethod, Str: "x"}, {ID: wire.AuthenticationData, Bin: []byte{1}}}})
	}
	return wire.Bytes(v, wire.Pingreq{})
}

// mangleBytes changes bytes without a look at what they mean; mostly the
// Remaining Length is made to fit again.
func (w *writer) mangleBytes(b []byte) []byte {
	b = slices.Clone(b)
	at := w.IntN(len(b))
	switch w.IntN(5) {
	case 0:
		b[at] ^= 1 << w.IntN(8)
	case 1:
		b[at] = interesting[w.IntN(len(interesting))]
	case 2:
		b = slices.Insert(b, at, interesting[w.IntN(len(interesting))])
	case 3:
		b = slices.Delete(b, at, at+1)
	default:
		b = b[:at]
	}
	return w.refit(b)
}

var interesting = []byte{0, 1, 2, 3, 4, 0x0b, 0x1f, 0x23, 0x26, 0x7f, 0x80, 0x81, 0xc0, 0xc1, 0xed, 0xfe, 0xff, '#', '+', '/', '$'}

// refit makes the Remaining Length fit most of the time: only then is the rest
// of the packet looked at.
func (w *writer) refit(b []byte) []byte {
	if len(b) < 2 || !w.chance(80) {
		return b
	}
	_, used, err := wire.Varint(b[1:])
	if err != nil {
		return b
	}
	return wire.WithBody(b[:1:1], b[1+used:])
}

// mangleLength sets one of the lengths in a packet.
func (w *writer) mangleLength(b []byte, v wire.Version) []byte {
	var lengths []field
	for _, f := range fields(b, v) {
		if f.shape == length16 || f.shape == varint {
			lengths = append(lengths, f)
		}
	}
	if len(lengths) == 0 {
		return w.mangleBytes(b)
	}
	f := lengths[w.IntN(len(lengths))]
	if f.shape == length16 {
		n := int(b[f.at])<<8 | int(b[f.at+1])
		n = []int{0, 1, n - 1, n + 1, 2 * n, 0x7fff, 0xffff, 127, 128, 256}[w.IntN(10)] & 0xffff
		b = slices.Clone(b)
		b[f.at], b[f.at+1] = byte(n>>8), byte(n)
		return b
	}
	n, _, _ := wire.Varint(b[f.at:])
	var coded []byte
	switch w.IntN(8) {
	case 0:
		coded = wire.AppendVarint(nil, max(0, n-1))
	case 1:
		coded = wire.AppendVarint(nil, n+1)
	case 2:
		coded = wire.AppendVarint(nil, []int{0, 1, 127, 128, 16383, 16384, 2097151, 2097152, 268435455}[w.IntN(9)])
	case 3:
		coded = append(wire.AppendVarint(nil, n), 0) // overlong
		coded[len(coded)-2] |= 0x80
	case 4:
		coded = []byte{0xff, 0xff, 0xff, 0xff}
	case 5:
		coded = []byte{0xff, 0xff, 0xff, 0xff, 0x7f}
	case 6:
		coded = []byte{0x80, 0x80, 0x80, 0}
	default:
		coded = nil
	}
	out := slices.Concat(b[:f.at], coded, b[f.at+f.size:])
	if f.at == 1 {
		return out
	}
	return w.refit(out)
}

// mangleField drops, doubles, moves or replaces a field; the lengths that
// enclose it are made to fit.
func (w *writer) mangleField(b []byte, v wire.Version) []byte {
	all := fields(b, v)
	if len(all) < 2 {
		return wire.WithFlags(b, byte(w.IntN(16)))
	}
	f := all[1+w.IntN(len(all)-1)]
	old := b[f.at : f.at+f.size]
	var value []byte
	switch w.IntN(6) {
	case 0: // cut at the border: all that follows is missing
		return wire.WithBody(b[:1:1], wire.Body(b[:f.at]))
	case 1:
		value = nil
	case 2:
		value = bytes.Repeat(old, 2)
	case 3:
		return wire.WithFlags(b, byte(w.IntN(16)))
	default:
		value = w.instead(f.shape, old)
		if kind := wire.Type(b[0] >> 4); f.shape == text && (kind == wire.SUBSCRIBE || kind == wire.UNSUBSCRIBE) && w.chance(60) {
			value = w.noFilter()
		}
	}
	out := slices.Concat(b[:f.at], value, b[f.at+f.size:])
	change := len(value) - f.size
	if f.shape == text && f.at >= 2 {
		n := f.size + change
		out[f.at-2], out[f.at-1] = byte(n>>8), byte(n)
	}
	if f.shape == list && f.at >= 1 && f.size+change < 128 && f.size < 128 {
		out[f.at-1] = byte(f.size + change)
	}
	return wire.WithBody(out[:1:1], wire.Body(out))
}

// instead returns another value for a field.
func (w *writer) instead(s shape, old []byte) []byte {
	switch s {
	case text:
		return [][]byte{
			{}, {0}, {0xff}, {0xed, 0xa0, 0x80}, {0xef, 0xbb, 0xbf}, {0xc0, 0x80}, []byte("#"), []byte("a/#/b"), []byte("a+"), []byte("+/+"),
			[]byte("$share//a"), []byte("$share/s"), []byte("$SYS/#"), bytes.Repeat([]byte("/"), 2000), bytes.Repeat([]byte("a"), 65535),
		}[w.IntN(15)]
	case list:
		return w.properties()
	}
	value := slices.Clone(old)
	for i := range value {
		value[i] = []byte{0, 1, 0x7f, 0x80, 0xff}[w.IntN(5)]
	}
	return value
}

// noFilter returns what is no Topic Filter, or hardly one.
func (w *writer) noFilter() []byte {
	all := []string{
		"", "#/a", "a#", "a/#/b", "a+", "+a/b", "a/+b", "##", "+#",
		"$share", "$share/", "$share/s", "$share//a", "$share/s/", "$share/+/a", "$share/s#/a", "$share/s/a/#/b",
	}
	return []byte(all[w.IntN(len(all))])
}

// properties returns a list of properties that hardly belongs together.
func (w *writer) properties() []byte {
	var b []byte
	for range 1 + w.IntN(3) {
		id := byte(1 + w.IntN(0x2b))
		value := [][]byte{{0}, {1}, {2}, {0, 0}, {0, 1}, {0xff, 0xff}, {0, 0, 0, 0}, {0xff, 0xff, 0xff, 0xff}, {0, 1, 'a'}, {0, 1, 'a', 0, 1, 'b'}, {0, 5, 'a'}}[w.IntN(11)]
		one := append([]byte{id}, value...)
		b = append(b, one...)
		if w.chance(30) {
			b = append(b, one...)
		}
	}
	return b
}

// misplaced sends a packet that is well formed and has no place here.
func (c *client) misplaced() {
	w := c.w
	v := c.version
	switch w.IntN(10) {
	case 0: // a second CONNECT, or none at the beginning
		if c.state == Fresh {
			c.write(wire.Bytes(v, wire.Pingreq{}), Misplaced)
			return
		}
		c.write(wire.Bytes(v, wire.Connect{CleanStart: true, ClientID: w.c.Prefix + "-again"}), Misplaced)
	case 1: // what only servers send
		c.write(wire.Bytes(v, []wire.Packet{wire.Connack{}, wire.Suback{ID: 1, Codes: []byte{0}}, wire.Unsuback{ID: 1}, wire.Pingresp{}}[w.IntN(4)]), Misplaced)
	case 2: // what nobody asked for
		kind := []wire.Type{wire.PUBACK, wire.PUBREC, wire.PUBREL, wire.PUBCOMP}[w.IntN(4)]
		c.write(wire.Bytes(v, wire.Ack{Type: kind, ID: uint16(w.IntN(2) * (1 + w.IntN(0xffff)))}), Misplaced)
	case 3: // behind the end
		c.write(wire.Bytes(v, wire.Disconnect{}, wire.Publish{Topic: w.topic(), QoS: 1, ID: 1, Payload: w.payload()}), Misplaced)
	case 4: // an open identifier for something else
		id := c.freshID()
		c.write(wire.Bytes(v, wire.Publish{Topic: w.topic(), QoS: 2, ID: id, Payload: w.payload()},
			wire.Publish{Topic: w.topic(), QoS: 1, ID: id, Payload: w.payload()}, wire.Subscribe{ID: id, Subscriptions: []wire.Subscription{{Filter: w.filter(false)}}}), Misplaced)
	case 5: // aliases that nobody knows
		c.write(wire.Bytes(v, wire.Publish{QoS: 0, Payload: w.payload(), Properties: wire.Properties{{ID: wire.TopicAlias, Int: uint32([]int{0, 1, 9, 65535}[w.IntN(4)])}}}), Misplaced)
	case 6: // reserved types
		c.write([]byte{byte(15*w.IntN(2))<<4 | byte(w.IntN(16)), byte(w.IntN(2))}, Misplaced)
	case 7: // more open than any server takes
		var all []wire.Packet
		for range 40 {
			all = append(all, wire.Publish{Topic: w.topic(), QoS: 2, ID: c.freshID(), Payload: w.payload()})
		}
		c.write(wire.Bytes(v, all...), Misplaced)
	case 8: // what is no filter, and no topic
		bad := string(w.instead(text, nil))
		if w.chance(50) {
			bad = string(w.noFilter())
		}
		c.write(wire.Bytes(v, []wire.Packet{
			wire.Subscribe{ID: c.freshID(), Subscriptions: []wire.Subscription{{Filter: bad, QoS: byte(w.IntN(3))}}},
			wire.Unsubscribe{ID: c.freshID(), Filters: []string{bad}},
			wire.Publish{Topic: bad, QoS: 0, Payload: w.payload()},
		}[w.pick(3, 2, 1)]), Misplaced)
	default: // very deep
		deep := w.under(string(bytes.Repeat([]byte("a/"), 1+w.IntN(8000))))
		c.write(wire.Bytes(v, wire.Subscribe{ID: c.freshID(), Subscriptions: []wire.Subscription{{Filter: deep + "#"}}},
			wire.Publish{Topic: deep, Payload: w.payload()}), Misplaced)
	}
}

// unfinished sends the beginning of a packet, and sometimes the end of the
// connection behind it.
func (c *client) unfinished() {
	w := c.w
	b := c.sample()
	c.write(b[:1+w.IntN(len(b))], Malformed)
	switch w.IntN(4) {
	case 0:
		w.step(script.Step{Client: c.index, Op: script.Finish})
		c.state = Closed
	case 1:
		w.step(script.Step{Client: c.index, Op: script.Reset})
		c.state = Closed
	}
}
