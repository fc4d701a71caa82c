package wire

import "bytes"

// masked returns the bytes of a packet with user name, password and
// authentication data overwritten by asterisks. Of a CONNECT that announces
// such fields and ends within them, all of the rest is overwritten.
func masked(raw []byte, v Version) []byte {
	if len(raw) < 2 {
		return raw
	}
	_, used, err := Varint(raw[1:])
	if err != nil {
		return raw
	}
	start := 1 + used
	m := &masker{reader: reader{b: raw[start:]}, end: len(raw)}
	switch Type(raw[0] >> 4) {
	case CONNECT:
		m.connect()
	case CONNACK:
		m.take(2)
		m.propertiesIf(v == V5)
	case AUTH:
		m.take(1)
		m.propertiesIf(v == V5)
	}
	if len(m.secrets) == 0 {
		return raw
	}
	shown := bytes.Clone(raw)
	for _, s := range m.secrets {
		copy(shown[s[0]:s[1]], bytes.Repeat([]byte{'*'}, s[1]-s[0]))
	}
	return shown
}

// masker walks through a packet and notes where its secrets stand.
type masker struct {
	reader
	end     int // index behind the last byte of the packet
	secrets [][2]int
}

func (m *masker) at() int { return m.end - len(m.b) }

func (m *masker) hide(from, to int) { m.secrets = append(m.secrets, [2]int{from, to}) }

// field skips, and hides, a field with a two-byte length.
func (m *masker) field() {
	n := int(m.uint16())
	from := m.at()
	if m.take(n); m.err == nil {
		m.hide(from, m.at())
	}
}

func (m *masker) connect() {
	_, level := m.string(), m.byte()
	flags := m.byte()
	m.take(2)
	five := Version(level) == V5
	m.propertiesIf(five)
	m.string()
	if flags&4 != 0 {
		m.propertiesIf(five)
		m.string()
		m.string()
	}
	secrets := flags & 0xc0
	from := m.at()
	for _, flag := range []byte{0x80, 0x40} {
		if flags&flag != 0 {
			m.field()
		}
	}
	if secrets != 0 && m.err != nil {
		m.hide(from, m.end)
	}
}

// propertiesIf skips properties and hides Authentication Data among them.
func (m *masker) propertiesIf(present bool) {
	if !present || m.err != nil {
		return
	}
	if len(m.b) == 0 {
		return
	}
	n := m.varint()
	if m.err != nil || n > len(m.b) {
		m.err = ErrShort
		return
	}
	behind := m.b[n:]
	end := m.end - len(behind)
	inner := &masker{reader: reader{b: m.b[:n:n]}, end: end}
	for len(inner.b) > 0 && inner.err == nil {
		from := inner.at()
		p := inner.property()
		switch {
		case p.ID == AuthenticationData && inner.err != nil:
			m.hide(from+1, end)
		case p.ID == AuthenticationData:
			m.hide(from+3, inner.at())
		}
	}
	m.b = behind
}
