package play

import (
	"bytes"
	"testing"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

func TestALoginIsPutIntoWholeConnectsOnly(t *testing.T) {
	l := &Login{Username: "u", Password: "p"}
	name := "other"
	plain := wire.Connect{CleanStart: true, ClientID: "c"}
	with := plain
	with.Username, with.Password = &l.Username, []byte("p")
	owned := plain
	owned.Username = &name
	ping := wire.Bytes(wire.V5, wire.Pingreq{})
	for _, k := range []struct {
		what       string
		sent, want []byte
	}{
		{"a CONNECT", wire.Bytes(wire.V5, plain), wire.Bytes(wire.V5, with)},
		{"a CONNECT with more behind it", append(wire.Bytes(wire.V5, plain), ping...), append(wire.Bytes(wire.V5, with), ping...)},
		{"a CONNECT with a name of its own", wire.Bytes(wire.V5, owned), wire.Bytes(wire.V5, owned)},
		{"half a CONNECT", wire.Bytes(wire.V5, plain)[:9], wire.Bytes(wire.V5, plain)[:9]},
		{"another packet", ping, ping},
	} {
		if got := l.into(k.sent, wire.V5); !bytes.Equal(got, k.want) {
			t.Errorf("%s becomes % x, want % x", k.what, got, k.want)
		}
	}
	if got := (*Login)(nil).into(ping, wire.V5); !bytes.Equal(got, ping) {
		t.Error("no login changes a packet")
	}
}
