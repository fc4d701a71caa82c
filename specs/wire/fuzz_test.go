package wire

import (
	"bytes"
	"testing"
)

// seeds are malformed packets of the kinds that have broken brokers; a
// broker's answers can be as bad.
var seeds = []string{
	"10 0D 0004 4D515454 04 02 003C 0001 66",
	"10 0E 0004 4D515454 05 02 003C 00 0001 66",
	"10 04 0004 4D51",
	"10 0B 0004 4D515454 05 C6 003C 05",
	"10 0F 0004 4D515454 05 02 003C 00 0040 66 67",
	"10 0D FFFF 4D515454 04 02 003C 0001 66",
	"10 15 0004 4D515454 05 1E 003C 00 0001 66 00 0001 77 0001 78",
	"10 18 0004 4D515454 05 06 003C 00 0001 66 03 22 0005 0001 77 0001 78",
	"10 12 0004 4D515454 05 02 003C FFFFFFFF7F 0001 66",
	"10 0F 0004 4D515454 04 02 003C 0001 66 5A5A",
	"30 FFFFFF7F", "30 FFFFFFFF01", "30 06 0001 61 8000 78", "30 02 0000", "30 06 0000 03 23 0005",
	"32 03 0001 61", "30 05 FFFF 616263", "30 01 00", "38 04 0001 61 78", "32 06 0001 61 0000 78",
	"30 0B 0001 61 06 08 0003 612F23 78", "32 0D 0001 62 0009 07 03 0000 03 0001 78 00",
	"30 05 0001 61 01 26", "30 07 0001 61 02 7F00 78", "30 08 0001 61 03 FF0100 78", "30 06 0003 EDA080 78",
	"82 02 0001", "82 05 0001 0001 61", "82 03 0001 7F", "82 06 0001 0040 61 00", "A2 02 0001",
	"20 03 00 00 00", "20 00", "B0 03 0001 00", "62 00", "62 01 00", "E0 01 FF", "F0 02 18 00", "00 00",
	"474554 20 2F 20", "16 03 01002D",
}

// FuzzParse holds three things of any bytes: Parse does not panic, it takes no
// more memory than a multiple of them, and what it reads without an error is
// what Append writes.
func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(unhex(f, s), true)
		f.Add(unhex(f, s), false)
	}
	for _, v := range vectors {
		f.Add(unhex(f, v.hex), v.version == V5)
	}
	f.Fuzz(func(t *testing.T, raw []byte, five bool) {
		version := V311
		if five {
			version = V5
		}
		size, ok := FrameSize(raw)
		if !ok || size > len(raw) || len(raw) == 0 {
			return
		}
		raw = raw[:size]
		r := receive(raw, version)
		if n := len(PropertiesOf(r.Packet)); n > maxProperties || n > len(raw) {
			t.Fatalf("%d properties of %d bytes", n, len(raw))
		}
		if text := brief(r.Packet); len(text) > maxEventText+3 {
			t.Fatalf("%d bytes of text", len(text))
		}
		if shown := masked(raw, version); len(shown) != len(raw) {
			t.Fatalf("masking changed the length from %d to %d", len(raw), len(shown))
		}
		agreed := newChecker(version)
		agreed.sent(Connect{}.Append(nil, version))
		r.Seq = 1
		agreed.received(r)
		agreed.sent(raw)
		if len(agreed.violations) > 0 || r.Err != nil || r.padded {
			return
		}
		if _, connect := r.Packet.(Connect); connect {
			// The flags of a will that is not there, and the format of another
			// level, are not kept.
			return
		}
		again := WithFlags(Bytes(version, r.Packet), raw[0])
		if !bytes.Equal(again, raw) && !spelledOut(r) {
			t.Fatalf("%x is parsed as %v and encoded as %x", raw, r.Packet, again)
		}
	})
}
