package packet

import (
	"encoding/binary"
	"unicode/utf8"
)

// textRules are the three rules about the characters of one field.
type textRules struct{ form, surrogate, nul Rule }

// take returns the next n bytes, fewer where the packet ends.
func (d *decoding) take(n int) []byte {
	if n > len(d.b) {
		d.malformed(d.short, "the packet ends before its fields do")
		n = len(d.b)
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoding) byte() byte {
	if b := d.take(1); len(b) == 1 {
		return b[0]
	}
	return 0
}

func (d *decoding) uint16() uint16 {
	if b := d.take(2); len(b) == 2 {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (d *decoding) uint32() uint32 {
	if b := d.take(4); len(b) == 4 {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (d *decoding) rest() []byte { return d.take(len(d.b)) }

// binary reads Binary Data. [section 1.5.6 of MQTT 5.0]
func (d *decoding) binary() []byte { return append([]byte{}, d.take(int(d.uint16()))...) }

// rawString reads a string without judging it.
func (d *decoding) rawString() string { return string(d.take(int(d.uint16()))) }

// string reads a UTF-8 Encoded String. [section 1.5.4 of MQTT 5.0]
func (d *decoding) string(rules textRules) string {
	s := d.rawString()
	d.judge(s, rules)
	return s
}

// varint reads a Variable Byte Integer. [v5/MQTT-1.5.5-1]
func (d *decoding) varint() int {
	n := 0
	for i := range maxLengthBytes {
		b := d.byte()
		n |= int(b&0x7f) << (7 * i)
		if b&0x80 == 0 {
			if i > 0 && b == 0 {
				d.malformed(RuleShortestVarint, "a Variable Byte Integer is not written in its shortest form")
			}
			return n
		}
	}
	d.malformed(RuleVarintBytes, "a Variable Byte Integer has more than four bytes")
	return n
}

// encoding tells what is wrong with s as UTF-8: that it is ill formed in
// general, or that it is so because it encodes surrogates only.
func encoding(s string) (ill, surrogate bool) {
	if utf8.ValidString(s) {
		return false, false
	}
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			// U+D800 to U+DFFF would be ED A0 80 to ED BF BF.
			if s[i] != 0xED || len(s)-i < 3 || s[i+1] < 0xA0 || s[i+1] > 0xBF || s[i+2] < 0x80 || s[i+2] > 0xBF {
				return true, false
			}
			surrogate, n = true, 3
		}
		i += n
	}
	return false, surrogate
}
