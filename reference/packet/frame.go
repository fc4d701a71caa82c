package packet

// maxLengthBytes is how many bytes a Variable Byte Integer has at most.
// [section 1.5.5 of MQTT 5.0, 2.2.3 of MQTT 3.1.1]
const maxLengthBytes = 4

// SplitFrame takes the first packet off a stream: its first byte and what
// stands behind the Remaining Length, which is a part of buf. size counts the
// bytes of the whole packet and is 0 while more are needed. A packet is ended
// by its length alone, wherever the stream was cut
// [v5/2.1.4-split-and-joined-packets]. The error is an *Error; tolerate is as
// in Decoder.
func SplitFrame(buf []byte, v Version, tolerate func(Rule) bool) (first byte, body []byte, size int, err error) {
	n := 0
	for i := 1; i < len(buf); i++ {
		b := buf[i]
		if i > maxLengthBytes { // tolerated: the fifth byte ends the packet
			return buf[0], nil, i + 1, nil
		}
		n |= int(b&0x7f) << (7 * (i - 1))
		if b&0x80 != 0 {
			if i == maxLengthBytes && !tolerates(tolerate, RuleLengthBytes) {
				return 0, nil, 0, &Error{RuleLengthBytes, MalformedPacket, "the Remaining Length has more than four bytes"}
			}
			continue
		}
		if v == V5 && i > 1 && b == 0 && !tolerates(tolerate, RuleShortestLength) {
			return 0, nil, 0, &Error{RuleShortestLength, MalformedPacket, "the Remaining Length is not written in its shortest form"}
		}
		if len(buf)-1-i < n {
			return 0, nil, 0, nil
		}
		return buf[0], buf[1+i : 1+i+n], 1 + i + n, nil
	}
	return 0, nil, 0, nil
}
