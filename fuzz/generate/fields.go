package generate

import "github.com/mqttcheck/mqttcheck/specs/wire"

// shape is what a field of a packet is.
type shape byte

const (
	number   shape = iota // of fixed size
	length16              // the length of the text behind it
	varint                // a Variable Byte Integer
	text                  // behind its length
	list                  // all properties
)

// field is a part of a packet.
type field struct {
	at, size int
	shape    shape
}

// fields takes a legal packet of a client apart.
func fields(b []byte, v wire.Version) []field {
	if len(b) < 2 {
		return nil
	}
	_, used, err := wire.Varint(b[1:])
	if err != nil {
		return nil
	}
	w := &walker{b: b, at: 1 + used, five: v == wire.V5}
	w.add(1, used, varint)
	flags := b[0] & 0x0f
	switch wire.Type(b[0] >> 4) {
	case wire.CONNECT:
		w.connect()
	case wire.PUBLISH:
		w.text()
		if flags&6 != 0 {
			w.number(2)
		}
		w.properties()
		w.number(len(b) - w.at)
	case wire.SUBSCRIBE:
		w.number(2)
		w.properties()
		for w.at < len(b) {
			w.text()
			w.number(1)
		}
	case wire.UNSUBSCRIBE:
		w.number(2)
		w.properties()
		for w.at < len(b) {
			w.text()
		}
	default:
		w.number(min(2, len(b)-w.at))
		w.number(min(1, len(b)-w.at))
		w.properties()
	}
	return w.list
}

// walker goes through a packet; it stops at the end of the bytes.
type walker struct {
	b    []byte
	at   int
	five bool
	list []field
}

func (w *walker) add(at, size int, s shape) {
	if size > 0 && at+size <= len(w.b) {
		w.list = append(w.list, field{at, size, s})
	}
}

func (w *walker) number(n int) {
	w.add(w.at, n, number)
	w.at = min(w.at+max(n, 0), len(w.b))
}

func (w *walker) text() {
	if w.at+2 > len(w.b) {
		w.at = len(w.b)
		return
	}
	n := int(w.b[w.at])<<8 | int(w.b[w.at+1])
	w.add(w.at, 2, length16)
	w.add(w.at+2, n, text)
	w.at = min(w.at+2+n, len(w.b))
}

func (w *walker) properties() {
	if !w.five || w.at >= len(w.b) {
		return
	}
	n, used, err := wire.Varint(w.b[w.at:])
	if err != nil {
		w.at = len(w.b)
		return
	}
	w.add(w.at, used, varint)
	w.add(w.at+used, n, list)
	w.at = min(w.at+used+n, len(w.b))
}

func (w *walker) connect() {
	w.text()
	if w.at+2 > len(w.b) {
		return
	}
	flags := w.b[w.at+1]
	w.number(1)
	w.number(1)
	w.number(2)
	w.properties()
	w.text()
	if flags&0x04 != 0 {
		w.properties()
		w.text()
		w.text()
	}
	for ; w.at < len(w.b); w.text() {
	}
}
