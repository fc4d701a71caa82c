package shrink

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// pieces returns forms of a packet that does not parse with one whole piece left out:
// the properties, or an entry of SUBSCRIBE or UNSUBSCRIBE. Cutting bytes hardly comes
// to them, since two lengths have to be made to fit at once.
func pieces(b []byte, v wire.Version) [][]byte {
	size, ok := wire.FrameSize(b)
	if !ok || size != len(b) {
		return nil
	}
	kind, body := wire.Type(b[0]>>4), wire.Body(b)
	at := wire.PropertiesAt(b)
	if at < 0 || at >= len(body) {
		return nil
	}
	var list [][]byte
	if v == wire.V5 {
		n, used, err := wire.Varint(body[at:])
		if err != nil || at+used+n > len(body) {
			return nil
		}
		if n > 0 {
			list = append(list, wire.WithBody(b[:1:1], slices.Concat(body[:at], []byte{0}, body[at+used+n:])))
		}
		at += used + n
	}
	options := 0
	switch kind {
	case wire.SUBSCRIBE:
		options = 1
	case wire.UNSUBSCRIBE:
	default:
		return list
	}
	for at+2 <= len(body) {
		end := at + 2 + int(body[at])<<8 + int(body[at+1]) + options
		if end > len(body) {
			break // this one is not whole
		}
		list = append(list, wire.WithBody(b[:1:1], slices.Concat(body[:at], body[end:])))
		at = end
	}
	return list
}
