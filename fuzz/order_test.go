package fuzz_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// reordered returns a packet with its properties in another order: swaps says
// which neighbours change places. Those that are of one kind stay in order, as
// the order of User Properties has a meaning. [section 2.2.2.2 of MQTT 5.0]
func reordered(p wire.Packet, swaps []int) wire.Packet {
	copied := reflect.New(reflect.TypeOf(p)).Elem()
	copied.Set(reflect.ValueOf(p))
	field := copied.FieldByName("Properties")
	if !field.IsValid() {
		return p
	}
	list := append(wire.Properties{}, field.Interface().(wire.Properties)...)
	for _, n := range swaps {
		if i := n + 1; i < len(list) && list[n].ID != list[i].ID {
			list[n], list[i] = list[i], list[n]
		}
	}
	field.Set(reflect.ValueOf(list))
	return copied.Interface().(wire.Packet)
}

// anyOrder tells what is wrong when the properties of a packet come in another
// order, "" for nothing: it is read as the same packet.
func anyOrder(p packet.Packet, swaps []int) string {
	b := packet.Append(nil, packet.V5, p)
	first, body, _, err := packet.SplitFrame(b, packet.V5, nil)
	if err != nil {
		return err.Error()
	}
	q, err := wire.Parse(first, body, wire.V5)
	if err != nil {
		return err.Error()
	}
	mixed := reordered(q, swaps).Append(nil, wire.V5)
	if first, body, _, err = packet.SplitFrame(mixed, packet.V5, nil); err != nil {
		return err.Error()
	}
	d := packet.Decoder{Version: packet.V5}
	if again, err := d.Decode(first, body); err != nil || !reflect.DeepEqual(again, p) {
		return fmt.Sprintf("% x is read as %#v, %v\nand % x as %#v", mixed, again, err, b, p)
	}
	return ""
}

// TestOrderOfProperties: properties may come in any order, and User Properties
// keep theirs.
func TestOrderOfProperties(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = 2000
	properties := gopter.NewProperties(parameters)
	properties.Property("any order is the same packet", prop.ForAll(
		func(seed uint64, swaps []int) string {
			return anyOrder(maker{rand.New(rand.NewPCG(seed, 5)), packet.V5}.packet(), swaps)
		},
		gen.UInt64(), gen.SliceOf(gen.IntRange(0, 12)),
	))
	properties.TestingRun(t)
}

// FuzzCodecs holds the codecs against each other over any bytes: what the
// reference takes, strictly, wire reads too, and writes so that it is the same
// packet. Wire reads more than the reference takes: it is to read whatever a
// broker sends, and judges afterwards.
func FuzzCodecs(f *testing.F) {
	for seed := range uint64(40) {
		for _, v := range []packet.Version{packet.V311, packet.V5} {
			f.Add(packet.Append(nil, v, maker{rand.New(rand.NewPCG(seed, uint64(v))), v}.packet()), v == packet.V5)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, five bool) {
		v := packet.V311
		if five {
			v = packet.V5
		}
		first, body, size, err := packet.SplitFrame(b, v, nil)
		if err != nil || size == 0 {
			return
		}
		if n, ok := wire.FrameSize(b[:size]); !ok || n != size {
			t.Fatalf("the frame has %d bytes or %d", size, n)
		}
		d := packet.Decoder{Version: v}
		p, err := d.Decode(first, body)
		if err != nil {
			return
		}
		if c, ok := p.(*packet.Connect); ok && c.Version != v {
			return // it is of the version that it names
		}
		q, err := wire.Parse(first, body, wire.Version(v))
		if err != nil {
			t.Fatalf("% x: the reference takes it, and wire does not: %v", b[:size], err)
		}
		again := q.Append(nil, wire.Version(v))
		first, body, _, err = packet.SplitFrame(again, v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := d.Decode(first, body); err != nil || !reflect.DeepEqual(p, r) {
			t.Fatalf("% x is %#v, and as wire writes it %#v, %v", b[:size], p, r, err)
		}
	})
}
