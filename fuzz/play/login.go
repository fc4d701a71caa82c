package play

import (
	"bytes"
	"slices"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Login is the user name and password that a broker asks for. They are put into
// each CONNECT when it is written, and stand in no script and no log: what is saved
// of a conversation does not tell them.
type Login struct{ Username, Password string }

// Into puts the user name and password into a CONNECT.
func (l *Login) Into(p wire.Connect) wire.Connect {
	if l == nil {
		return p
	}
	p.Username = &l.Username
	if l.Password != "" {
		p.Password = []byte(l.Password)
	}
	return p
}

// into puts them into what is about to be written, if it begins with a CONNECT that
// is whole and has none: one that breaks the format has to stay as it is.
func (l *Login) into(b []byte, v wire.Version) []byte {
	size, ok := wire.FrameSize(b)
	if l == nil || !ok || size > len(b) || wire.Type(b[0]>>4) != wire.CONNECT {
		return b
	}
	parsed, err := wire.Parse(b[0], wire.Body(b[:size]), v)
	p, connect := parsed.(wire.Connect)
	if err != nil || !connect || p.Username != nil || p.Password != nil || !bytes.Equal(wire.Bytes(v, p), b[:size]) {
		return b
	}
	return slices.Concat(wire.Bytes(v, l.Into(p)), b[size:])
}
