package packet

import (
	"bytes"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostile are byte streams of the kinds that brokers have stumbled over: cut
// at each field, with lengths that lie, with properties in the wrong place,
// with packets that only the other side sends.
var hostile = []string{
	// first packets that are no CONNECT
	"40020007", "50020007", "62020007", "32060001610001 78", "3406000161000178", "c000", "e000", "f0021800", "30ffffff7f",
	"16 0301002d010000290303", "'GET' 20 '/' 20 'HTTP/1.1' 0d0a", "0000",
	// CONNECT cut at a field
	"100100", "10020004", "100400044d51", "100700044d51545405", "100800044d51545405c6", "100900044d51545405c600", "100b00044d51545405c6003c05",
	"100c00044d51545405c6003c0511", "101000044d51545405c6003c051100000005", "101300044d51545405c6003c051100000005000166",
	"101400044d51545405c6003c05110000000500016600", "101700044d51545405c6003c0511000000050001660000 0177",
	"100f00044d5154540502003c0000406667", "100dffff4d5154540402003c000166", "101100044d51545404c2003c00016600000000",
	"100d00044d5154540403003c000166", "101500044d515454051e003c00000166000001770001 78", "101400044d5154540506003c0000016600 00000178",
	"101800044d5154540506003c000001660322000500017700 0178", "101200044d5154540502003c0416000100000166", "100f00044d5154540402003c0001665a5a",
	// lengths
	"30ffffffff01", "308080808001320d000873 6d7567676c6564000178", "30ffffffffffffffffff7f", "300600016180 0078",
	"101200044d5154540502003cffffffff7f000166", "100e00044d5154540502003c7f000166", "c000300500016178 79", "3080808001 000161",
	// PUBLISH
	"30020000", "3006000003230005", "300700016103230000", "3203000161", "3005ffff616263", "300100", "380400016178", "3206000161000078",
	"32050001610001", "300b000161060800 03612f2378", "320d0001620009070300000300 0178", "30050001610126", "300700016102 7f0078",
	"30070003eda0800078", "3207000224780001 78",
	// SUBSCRIBE and UNSUBSCRIBE
	"82020001", "8205000100 0161", "820300017f", "8206000100406100", "8206000000016100", "8206000100016103", "82070001000001 61c0",
	"82090001020b0000016100", "820f0001000009247368617265 2f7a7a00300600027a7a0078", "820c0001000006247368617265 00",
	"821000010000 0a2473686172652f672f7404", "820c00010002 6f6b000002612300", "a2020001",
	// acknowledgements and packets of servers
	"2003000000", "2f020000c000", "2000", "b003000100", "d000", "62006201 00", "60020001", "c100", "c00100", "e001", "e001ff",
	"500200055002000570020005 40020005",
	// legal, though odd
	"e0020000", "40020001", "3c06000161000178",
}

// tolerant takes everything.
func tolerant(Rule) bool { return true }

// FuzzDecode takes streams of packets apart: nothing panics, whatever is
// tolerated; the memory of a packet is bounded by its bytes; and what the strict
// decoder accepts is encoded and decoded again as the same packet.
func FuzzDecode(f *testing.F) {
	for _, s := range hostile {
		for _, v := range []byte{4, 5} {
			f.Add(raw(f, s), v, byte(0))
			f.Add(raw(f, s), v, byte(FromClient))
		}
	}
	for _, c := range valid {
		f.Add(raw(f, c.bytes), byte(c.version), byte(FromServer))
	}
	f.Fuzz(func(t *testing.T, stream []byte, version, from byte) {
		v := V311
		if version&1 == 1 {
			v = V5
		}
		side := Side(from % 3)
		for buf := stream; ; {
			first, body, size, err := SplitFrame(buf, v, tolerant)
			if err != nil || size < 0 || size > len(buf) || len(body) > size {
				t.Fatalf("% x: %d bytes of %d, %v", buf, size, len(buf), err)
			}
			if size == 0 {
				break
			}
			check(t, Decoder{Version: v, From: side}, first, body)
			buf = buf[size:]
		}
	})
}

// check decodes one packet in both ways.
func check(t *testing.T, d Decoder, first byte, body []byte) {
	t.Helper()
	lenient := Decoder{Version: d.Version, From: d.From, Tolerate: tolerant}
	loose, err := lenient.Decode(first, body)
	if err != nil {
		t.Fatalf("%02x % x: %v, though everything is tolerated", first, body, err)
	}
	if loose != nil {
		Append(nil, d.Version, loose)
	}
	if n := footprint(reflect.ValueOf(loose)); n > 64*len(body)+1024 {
		t.Fatalf("%02x: %d bytes become %d", first, len(body), n)
	}
	p, err := d.Decode(first, body)
	if err != nil {
		return
	}
	if !reflect.DeepEqual(p, loose) {
		t.Fatalf("%02x % x: %#v where nothing is tolerated, %#v where everything is", first, body, p, loose)
	}
	again := Append(nil, d.Version, p)
	first, second, size, err := SplitFrame(again, d.Version, nil)
	if err != nil || size != len(again) || len(second) > len(body) {
		t.Fatalf("% x is encoded as % x: %v", body, again, err)
	}
	q, err := d.Decode(first, second)
	if err != nil || !reflect.DeepEqual(p, q) {
		t.Fatalf("% x gives %#v, its encoding % x %#v, %v", body, p, again, q, err)
	}
	if third := Append(nil, d.Version, q); !bytes.Equal(third, again) {
		t.Fatalf("% x is encoded as % x and then as % x", body, again, third)
	}
}

// footprint is the memory that hangs on v.
func footprint(v reflect.Value) int {
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			return 0
		}
		return int(v.Elem().Type().Size()) + footprint(v.Elem())
	case reflect.String:
		return v.Len()
	case reflect.Slice:
		n := v.Cap() * int(v.Type().Elem().Size())
		if k := v.Type().Elem().Kind(); k == reflect.Struct || k == reflect.String {
			for i := range v.Len() {
				n += footprint(v.Index(i))
			}
		}
		return n
	case reflect.Struct:
		n := 0
		for i := range v.NumField() {
			n += footprint(v.Field(i))
		}
		return n
	}
	return 0
}

// TestHostilePackets: packets made of very many small parts take time and
// memory in proportion to their bytes, also while they are decoded.
func TestHostilePackets(t *testing.T) {
	for _, c := range []struct {
		what         string
		first        byte
		before, part string // part is repeated
		properties   bool   // part is a property
	}{
		{"User Properties", 0x30, "0001 'a'", "26 0000 0000", true},
		{"Subscription Identifiers", 0x30, "0001 'a'", "0b 01", true},
		{"Topic Filters of SUBSCRIBE", 0x82, "0001 00", "0001 'a' 00", false},
		{"Topic Filters of UNSUBSCRIBE", 0xa2, "0001 00", "0001 'a'", false},
		{"codes", 0x90, "0001 00", "00", false},
		{"payload", 0x30, "0001 'a' 00", "ff", false},
	} {
		body := func(n int) []byte {
			parts := bytes.Repeat(raw(t, c.part), n)
			b := raw(t, c.before)
			if c.properties {
				b = appendVarint(b, len(parts))
			}
			return append(b, parts...)
		}
		d := Decoder{Version: V5}
		took := func(b []byte) (time.Duration, uint64) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			began := time.Now()
			if _, err := d.Decode(c.first, b); err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			elapsed := time.Since(began)
			runtime.ReadMemStats(&after)
			return elapsed, after.TotalAlloc - before.TotalAlloc
		}
		b := body(200000)
		elapsed, allocated := took(b)
		if allocated > uint64(64*len(b)) {
			t.Errorf("%s: %d bytes allocate %d", c.what, len(b), allocated)
		}
		if elapsed > 5*time.Second {
			t.Errorf("%s: %v", c.what, elapsed)
		}
	}
}

// TestLyingLengths: a length is not believed before its bytes are there.
func TestLyingLengths(t *testing.T) {
	for _, c := range []struct {
		first byte
		body  string
	}{
		{0x10, "ffff 'MQTT'"}, {0x10, c5 + "02 0000 ffffff7f"}, {0x30, "ffff 'a'"}, {0x30, "0001 'a' ffffff7f 26"},
		{0x30, "0001 'a' 05 09 ffff 0000"}, {0x82, "0001 00 ffff 'a'"},
	} {
		b := raw(t, c.body)
		for _, tolerate := range []func(Rule) bool{nil, tolerant} {
			d := Decoder{Version: V5, Tolerate: tolerate}
			if got := testing.AllocsPerRun(1, func() { d.Decode(c.first, b) }); got > 40 {
				t.Errorf("%02x %s: %v allocations", c.first, c.body, got)
			}
			p, _ := d.Decode(c.first, b)
			if n := footprint(reflect.ValueOf(p)); n > 2048 {
				t.Errorf("%02x %s: %d bytes", c.first, c.body, n)
			}
		}
	}
	// The same for a stream: the frame is not there, and nothing is kept.
	if _, body, size, err := SplitFrame(raw(t, "30 ffffff7f"+strings.Repeat(" 00", 50)), V5, nil); size != 0 || body != nil || err != nil {
		t.Errorf("%d, %v", size, err)
	}
}
