package wire

import (
	"bytes"
	"testing"
)

func TestWithProperties(t *testing.T) {
	none := Properties{}
	some := Properties{{ID: UserProperty, Pair: [2]string{"name", "value"}}, {ID: ReasonString, Str: "why"}}
	for _, packet := range []func(ps Properties) Packet{
		func(ps Properties) Packet { return Connect{ClientID: "c", CleanStart: true, Properties: ps} },
		func(ps Properties) Packet { return Publish{Topic: "a/b", Payload: "x", Properties: ps} },
		func(ps Properties) Packet { return Publish{Topic: "a/b", QoS: 2, ID: 7, Payload: "x", Properties: ps} },
		func(ps Properties) Packet { return Ack{Type: PUBREL, ID: 7, Properties: ps} },
		func(ps Properties) Packet {
			return Subscribe{ID: 7, Subscriptions: []Subscription{{Filter: "a"}}, Properties: ps}
		},
		func(ps Properties) Packet { return Unsubscribe{ID: 7, Filters: []string{"a"}, Properties: ps} },
		func(ps Properties) Packet { return Disconnect{Properties: ps} },
		func(ps Properties) Packet { return Auth{Code: 0x18, Properties: ps} },
	} {
		want := Bytes(V5, packet(some))
		if got := WithProperties(Bytes(V5, packet(none)), append(some[0].Bytes(), some[1].Bytes()...)); !bytes.Equal(got, want) {
			t.Errorf("properties put in: % x, want % x", got, want)
		}
		if got := WithProperties(want, nil); !bytes.Equal(got, Bytes(V5, packet(none))) {
			t.Errorf("properties taken out: % x", got)
		}
	}
}

func TestMisplaced(t *testing.T) {
	for kind, want := range map[Type]int{CONNECT: 18, PUBLISH: 19, PUBACK: 25, SUBSCRIBE: 25, UNSUBSCRIBE: 26, DISCONNECT: 23, AUTH: 23, willPacket: 20} {
		if got := Misplaced(kind); len(got) != want {
			t.Errorf("%d properties may not stand in %s: %v, want %d", len(got), kind, got, want)
		}
	}
}
