package packet

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

// decodeAll takes exactly one packet off b.
func decodeAll(t testing.TB, d Decoder, b []byte) (Packet, error) {
	t.Helper()
	first, body, size, err := SplitFrame(b, d.Version, d.Tolerate)
	if err != nil {
		return nil, err
	}
	if size != len(b) {
		t.Errorf("% x: the packet has %d bytes of %d", b, size, len(b))
		return nil, errors.New("the vector is wrong")
	}
	return d.Decode(first, body)
}

func TestValidPackets(t *testing.T) {
	for _, c := range valid {
		b := raw(t, c.bytes)
		p, err := decodeAll(t, Decoder{Version: c.version}, b)
		if err != nil || !reflect.DeepEqual(p, c.packet) {
			t.Errorf("%d %s: % x\n got %#v, %v\nwant %#v", c.version, c.section, b, p, err, c.packet)
		}
		if got := Append([]byte{7}, c.version, c.packet); !bytes.Equal(got[1:], b) || got[0] != 7 {
			t.Errorf("%d %s: Append gives\n% x, want\n% x", c.version, c.section, got[1:], b)
		}
		if n := Size(c.version, c.packet); n != len(b) {
			t.Errorf("%d %s: Size is %d, want %d", c.version, c.section, n, len(b))
		}
		// A packet cut anywhere is not complete. [section 2.1.4 of MQTT 5.0]
		for i := range b {
			if _, _, size, err := SplitFrame(b[:i], c.version, nil); size != 0 || err != nil {
				t.Errorf("%d %s: the first %d bytes are taken for a packet of %d, %v", c.version, c.section, i, size, err)
			}
		}
		// What follows is left alone.
		if _, body, size, err := SplitFrame(append(b[:len(b):len(b)], 0xc0, 0), c.version, nil); err != nil || size != len(b) || len(body) > size-2 {
			t.Errorf("%d %s: with a PINGREQ behind it the packet has %d bytes, %v", c.version, c.section, size, err)
		}
	}
}

func TestOtherForms(t *testing.T) {
	for _, c := range otherForms {
		p, err := decodeAll(t, Decoder{Version: c.version}, raw(t, c.bytes))
		if err != nil || !reflect.DeepEqual(p, c.packet) {
			t.Errorf("%d %s: %s gives %#v, %v", c.version, c.section, c.bytes, p, err)
		}
	}
}

// TestLengths: the figures of Table 1-1 of MQTT 5.0, 2.4 of MQTT 3.1.1.
func TestLengths(t *testing.T) {
	for n, want := range map[int]string{
		0: "00", 127: "7f", 128: "8001", 16383: "ff7f", 16384: "808001", 2097151: "ffff7f", 2097152: "80808001", 268435455: "ffffff7f",
	} {
		if got := appendVarint(nil, n); !bytes.Equal(got, raw(t, want)) {
			t.Errorf("%d: % x, want %s", n, got, want)
		}
		d := &decoding{b: raw(t, want), short: RuleShort}
		if got := d.varint(); got != n || d.err != nil || len(d.b) != 0 {
			t.Errorf("%s: %d, %v", want, got, d.err)
		}
		// A length is known before its bytes are there and costs nothing.
		if n > 0 {
			if _, _, size, err := SplitFrame(append([]byte{0x30}, raw(t, want)...), V5, nil); size != 0 || err != nil {
				t.Errorf("%s: size %d, %v", want, size, err)
			}
		}
	}
}

// TestSplitFrameErrors: what SplitFrame rejects, and what it makes of it where
// that is tolerated.
func TestSplitFrameErrors(t *testing.T) {
	five := raw(t, "30 80 80 80 80 01 c0 00")
	for i, want := range []Rule{"", "", "", "", "", RuleLengthBytes, RuleLengthBytes} {
		_, _, size, err := SplitFrame(five[:i], V311, nil)
		var broken *Error
		if errors.As(err, &broken) != (want != "") || broken != nil && broken.Rule != want || size != 0 {
			t.Errorf("% x: size %d, %v", five[:i], size, err)
		}
	}
	tolerate := func(r Rule) bool { return r == RuleLengthBytes }
	if first, body, size, err := SplitFrame(five, V311, tolerate); first != 0x30 || len(body) != 0 || size != 6 || err != nil {
		t.Errorf("tolerated: %x, % x, %d, %v", first, body, size, err)
	}
	padded := raw(t, "c0 80 00")
	if _, _, size, err := SplitFrame(padded, V311, nil); size != 3 || err != nil {
		t.Errorf("MQTT 3.1.1 has no rule against padding: %d, %v", size, err)
	}
	var broken *Error
	if _, _, _, err := SplitFrame(padded, V5, nil); !errors.As(err, &broken) || broken.Rule != RuleShortestLength || broken.Code != MalformedPacket {
		t.Errorf("padded length: %v", err)
	}
	tolerate = func(r Rule) bool { return r == RuleShortestLength }
	if first, _, size, err := SplitFrame(padded, V5, tolerate); first != 0xc0 || size != 3 || err != nil {
		t.Errorf("tolerated: %d, %v", size, err)
	}
}

// TestOrderOfProperties: it has no meaning. [v5/2.2.2-property-order-free]
func TestOrderOfProperties(t *testing.T) {
	want := &Disconnect{Properties: Properties{SessionExpiryInterval: ptr(uint32(1)), ReasonString: ptr(""), UserProperties: []UserProperty{{"a", ""}, {"b", ""}}}}
	for _, b := range []string{
		"e0 16 00 14 11 00000001 1f 0000 26 0001 'a' 0000 26 0001 'b' 0000",
		"e0 16 00 14 26 0001 'a' 0000 1f 0000 26 0001 'b' 0000 11 00000001",
	} {
		if p, err := decodeAll(t, Decoder{Version: V5}, raw(t, b)); err != nil || !reflect.DeepEqual(p, want) {
			t.Errorf("%s: %#v, %v", b, p, err)
		}
	}
}

// TestNothingOfTheBodyIsKept: the bytes may be used again.
func TestNothingOfTheBodyIsKept(t *testing.T) {
	for _, c := range valid {
		b := raw(t, c.bytes)
		p, err := decodeAll(t, Decoder{Version: c.version}, b)
		clear(b)
		if err != nil || !reflect.DeepEqual(p, c.packet) {
			t.Errorf("%s: %#v, %v", c.bytes, p, err)
		}
	}
}

// TestAppendCutsLongStrings: what does not fit its length bytes leaves the
// packet whole. [v311/MQTT-4.7.3-3] [v5/MQTT-4.7.3-3]
func TestAppendCutsLongStrings(t *testing.T) {
	reason := string(bytes.Repeat([]byte("x"), 70000))
	b := Append(nil, V5, &Disconnect{Code: UnspecifiedError, Properties: Properties{ReasonString: &reason}})
	p, err := decodeAll(t, Decoder{Version: V5}, b)
	if err != nil || *p.(*Disconnect).Properties.ReasonString != reason[:65535] {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// TestConnectIsReturnedWithItsError: it can be answered in its own version.
func TestConnectIsReturnedWithItsError(t *testing.T) {
	for b, want := range map[string]Version{
		"10 0c 0004 'MQTT' 04 03 0000 0000":            V311,
		"10 0c 0004 'MQTT' 7f 02 0000 0000":            0x7f,
		"10 0d 0004 'MQTT' 05 03 0000 00 0000":         V5,
		"10 10 0004 'MQTT' 05 02 0000 02 7f00 0001 66": V5,
	} {
		p, err := decodeAll(t, Decoder{Version: V311}, raw(t, b))
		c, ok := p.(*Connect)
		if !ok || err == nil || c.Version != want {
			t.Errorf("%s: %#v, %v", b, p, err)
		}
	}
	if p, err := decodeAll(t, Decoder{}, raw(t, "10 04 0004 'MQ'")); p != nil || err == nil {
		t.Errorf("without a level: %#v, %v", p, err)
	}
}
