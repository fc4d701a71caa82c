package core

import (
	"bytes"
	"encoding/binary"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// fieldTwiceDefects are faults in finding properties that stand twice.
var fieldTwiceDefects = []Defect{
	{"twice-found-by-value", []string{"v5/3.3.2.3.9-publish-content-type-twice", "v5/3.3.2.3.3-publish-message-expiry-interval-twice"}, "A property of PUBLISH that stands twice is found only if its first value is neither zero nor empty.", Warn,
		func(r *rules) {
			r.skips = func(s *Server, c *conn, first byte, body []byte) bool {
				at := 2 + int(binary.BigEndian.Uint16(append(bytes.Clone(body), 0, 0)))
				if first&6 != 0 {
					at += 2
				}
				if packet.Type(first>>4) != packet.PUBLISH || !c.five() || len(body) <= at || body[at] == 0 || body[at] > 127 || len(body) <= at+int(body[at]) {
					return false
				}
				kept := withoutEmptyTwins(body[at+1 : at+1+int(body[at])])
				if len(kept) == int(body[at]) {
					return false
				}
				rest := bytes.Clone(body[at+1+int(body[at]):])
				s.packet(c, first, append(append(append(bytes.Clone(body[:at]), byte(len(kept))), kept...), rest...))
				return true
			}
		}},
}

// withoutEmptyTwins leaves out of properties each that is zero or empty and
// stands again right behind.
func withoutEmptyTwins(ps []byte) []byte {
	sizes := map[byte]int{0x01: 1, 0x02: 4, 0x03: 2, 0x08: 2, 0x09: 2, 0x23: 2}
	var kept []byte
	for len(ps) > 0 {
		n, known := sizes[ps[0]]
		if !known || len(ps) < 2+n || ps[1+n] != ps[0] || bytes.Trim(ps[1:1+n], "\x00") != nil {
			return append(kept, ps...)
		}
		ps = ps[1+n:]
	}
	return kept
}
