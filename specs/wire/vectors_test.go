package wire

import (
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
)

// vectors are packets worked out by hand from the figures and tables of the
// specification, and not by this codec. Sections are those of the version.
var vectors = []struct {
	section string
	version Version
	hex     string
	packet  Packet
}{
	{"3.1.1 3.1, Figure 3.6", V311, "10 0D 0004 4D515454 04 02 003C 0001 66",
		Connect{ProtocolName: "MQTT", Level: 4, CleanStart: true, KeepAlive: 60, ClientID: "f"}},
	{"3.1.1 3.1.3, all fields of the payload", V311, "10 1F 0004 4D515454 04 F6 000A 0001 63 0003 772F74 0002 00FF 0001 75 0004 70617373",
		Connect{ProtocolName: "MQTT", Level: 4, CleanStart: true, KeepAlive: 10, ClientID: "c",
			Will: &Will{Topic: "w/t", Payload: []byte{0, 0xff}, QoS: 2, Retain: true}, Username: ptr("u"), Password: []byte("pass")}},
	{"5.0 3.1, Figure 3-6", V5, "10 13 0004 4D515454 05 02 000A 05 11 0000000A 0001 63",
		Connect{ProtocolName: "MQTT", Level: 5, CleanStart: true, KeepAlive: 10, ClientID: "c",
			Properties: Properties{{ID: SessionExpiryInterval, Int: 10}}}},
	{"5.0 3.1.3.2, Will Properties", V5, "10 1B 0004 4D515454 05 0C 0000 00 0001 63 05 18 00000002 0001 77 0002 6869",
		Connect{ProtocolName: "MQTT", Level: 5, ClientID: "c", Properties: Properties{},
			Will: &Will{Topic: "w", Payload: []byte("hi"), QoS: 1, Properties: Properties{{ID: WillDelayInterval, Int: 2}}}}},
	{"3.1.1 3.2, Figure 3.8", V311, "20 02 01 00", Connack{Flags: 1}},
	{"3.1.1 3.2.2.3, return code 5", V311, "20 02 00 05", Connack{Code: 5}},
	{"5.0 3.2, no properties", V5, "20 03 00 00 00", Connack{Properties: Properties{}}},
	{"5.0 3.2.2.3, properties of each kind", V5, "20 18 00 87 15 21 0014 27 00000400 24 01 12 0003 782D31 1F 0002 6E6F",
		Connack{Code: 0x87, Properties: Properties{{ID: ReceiveMaximum, Int: 20}, {ID: MaximumPacketSize, Int: 1024},
			{ID: MaximumQoS, Int: 1}, {ID: AssignedClientIdentifier, Str: "x-1"}, {ID: ReasonString, Str: "no"}}}},
	{"3.1.1 3.3.2.3, Figure 3.11", V311, "32 07 0003 612F62 000A", Publish{QoS: 1, Topic: "a/b", ID: 10}},
	{"3.1.1 3.3, QoS 0 with RETAIN", V311, "31 05 0001 61 6869", Publish{Retain: true, Topic: "a", Payload: "hi"}},
	{"3.1.1 3.3.1, DUP and QoS 2", V311, "3C 06 0001 61 FFFF 78", Publish{Dup: true, QoS: 2, Topic: "a", ID: 65535, Payload: "x"}},
	{"5.0 3.3, QoS 0 without properties", V5, "30 06 0001 61 00 6869", Publish{Topic: "a", Properties: Properties{}, Payload: "hi"}},
	{"5.0 3.3.2.3, properties of each kind", V5, "34 1D 0001 61 1234 15 01 01 0B 80 01 23 0007 09 0001 FF 26 0001 6B 0003 766174 78 79",
		Publish{QoS: 2, Topic: "a", ID: 0x1234, Payload: "xy", Properties: Properties{{ID: PayloadFormatIndicator, Int: 1},
			{ID: SubscriptionIdentifier, Int: 128}, {ID: TopicAlias, Int: 7}, {ID: CorrelationData, Bin: []byte{0xff}},
			{ID: UserProperty, Pair: [2]string{"k", "vat"}}}}},
	{"3.1.1 3.4, Figure 3.12", V311, "40 02 0007", Ack{Type: PUBACK, ID: 7}},
	{"3.1.1 3.5", V311, "50 02 0007", Ack{Type: PUBREC, ID: 7}},
	{"3.1.1 3.6.1, flags 0010", V311, "62 02 0007", Ack{Type: PUBREL, ID: 7}},
	{"3.1.1 3.7", V311, "70 02 0007", Ack{Type: PUBCOMP, ID: 7}},
	{"5.0 3.4.2.1, Remaining Length 2", V5, "40 02 0007", Ack{Type: PUBACK, ID: 7}},
	{"5.0 3.5.2.1, Remaining Length 3", V5, "50 03 0007 10", Ack{Type: PUBREC, ID: 7, Code: 0x10}},
	{"5.0 3.6.2, with properties", V5, "62 0A 0007 92 06 1F 0003 627965", Ack{Type: PUBREL, ID: 7, Code: 0x92, Properties: Properties{{ID: ReasonString, Str: "bye"}}}},
	{"5.0 3.7.2, Property Length 0", V5, "70 04 0007 00 00", Ack{Type: PUBCOMP, ID: 7, Properties: Properties{}}},
	{"3.1.1 3.8.3, Figure 3.23", V311, "82 0E 000A 0003 612F62 01 0003 632F64 02",
		Subscribe{ID: 10, Subscriptions: []Subscription{{Filter: "a/b", QoS: 1}, {Filter: "c/d", QoS: 2}}}},
	{"5.0 3.8.3.1, all options", V5, "82 09 000A 02 0B 05 0001 61 2E",
		Subscribe{ID: 10, Properties: Properties{{ID: SubscriptionIdentifier, Int: 5}},
			Subscriptions: []Subscription{{Filter: "a", QoS: 2, NoLocal: true, RetainAsPublished: true, RetainHandling: 2}}}},
	{"3.1.1 3.9.3, Figure 3.27", V311, "90 05 000A 00 02 80", Suback{ID: 10, Codes: []byte{0, 2, 0x80}}},
	{"5.0 3.9", V5, "90 05 000A 00 01 8F", Suback{ID: 10, Properties: Properties{}, Codes: []byte{1, 0x8f}}},
	{"3.1.1 3.10.3, Figure 3.30", V311, "A2 0C 000A 0003 612F62 0003 632F64", Unsubscribe{ID: 10, Filters: []string{"a/b", "c/d"}}},
	{"5.0 3.10", V5, "A2 06 000A 00 0001 61", Unsubscribe{ID: 10, Properties: Properties{}, Filters: []string{"a"}}},
	{"3.1.1 3.11", V311, "B0 02 000A", Unsuback{ID: 10}},
	{"5.0 3.11", V5, "B0 05 000A 00 00 11", Unsuback{ID: 10, Properties: Properties{}, Codes: []byte{0, 0x11}}},
	{"3.12", V311, "C0 00", Pingreq{}},
	{"3.13", V5, "D0 00", Pingresp{}},
	{"3.1.1 3.14", V311, "E0 00", Disconnect{}},
	{"5.0 3.14.2.1, Remaining Length 0", V5, "E0 00", Disconnect{}},
	{"5.0 3.14.2.1, Remaining Length 1", V5, "E0 01 8E", Disconnect{Code: 0x8e}},
	{"5.0 3.14.2.2, with properties", V5, "E0 07 00 05 11 00000000", Disconnect{Properties: Properties{{ID: SessionExpiryInterval}}}},
	{"5.0 3.15.2", V5, "F0 0A 18 08 15 0001 53 16 0001 FF",
		Auth{Code: 0x18, Properties: Properties{{ID: AuthenticationMethod, Str: "S"}, {ID: AuthenticationData, Bin: []byte{0xff}}}}},
}

func ptr[T any](v T) *T { return &v }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	return b
}

func TestVectors(t *testing.T) {
	for _, v := range vectors {
		t.Run(v.section, func(t *testing.T) {
			want := unhex(t, v.hex)

			if got := v.packet.Append(nil, v.version); !reflect.DeepEqual(got, want) {
				t.Errorf("Append: %x, want %x", got, want)
			}
			r := receive(want, v.version)
			if r.Err != nil || r.padded || !reflect.DeepEqual(r.Packet, v.packet) {
				t.Errorf("Parse: %#v, %v, want %#v", r.Packet, r.Err, v.packet)
			}
			if size, ok := FrameSize(append(want, 0xff)); !ok || size != len(want) {
				t.Errorf("FrameSize: %d, %t", size, ok)
			}
		})
	}
}

// TestCutVectors cuts each body at each byte: what is parsed of it never is
// more than what stands there, and no cut is worse than an error.
func TestCutVectors(t *testing.T) {
	for _, v := range vectors {
		whole := unhex(t, v.hex)
		for n := range Body(whole) {
			cut := Shorten(whole, n)
			r := receive(cut, v.version)
			if r.Err == nil {
				if again := WithFlags(Bytes(v.version, r.Packet), cut[0]); !reflect.DeepEqual(again, cut) && !spelledOut(r) {
					t.Errorf("%s cut to %d bytes: %x is parsed as %v and encoded as %x", v.section, n, cut, r.Packet, again)
				}
			}
		}
	}
}

// spelledOut tells whether the packet has a code of 0, and no Property Length,
// where both may be left out as Append does.
func spelledOut(r Received) bool {
	body := Body(r.Raw)
	switch r.Type {
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		return len(body) == 3 && body[2] == 0
	case DISCONNECT, AUTH:
		return len(body) == 1 && body[0] == 0
	}
	return false
}

func TestVarint(t *testing.T) {
	// The borders of Table 1-1 of MQTT 5.0, Table 2.4 of 3.1.1.
	for _, tt := range []struct {
		n   int
		hex string
	}{
		{0, "00"}, {127, "7F"}, {128, "8001"}, {16383, "FF7F"}, {16384, "808001"}, {2097151, "FFFF7F"},
		{2097152, "80808001"}, {268435455, "FFFFFF7F"},
	} {
		want := unhex(t, tt.hex)
		if got := AppendVarint(nil, tt.n); !reflect.DeepEqual(got, want) {
			t.Errorf("AppendVarint(%d) = %x, want %s", tt.n, got, tt.hex)
		}
		if n, used, err := Varint(want); n != tt.n || used != len(want) || err != nil || varintSize(n) != used {
			t.Errorf("Varint(%s) = %d, %d, %v", tt.hex, n, used, err)
		}
	}
	for _, bad := range []string{"", "80", "FFFFFFFF7F", "8080808000"} {
		if n, _, err := Varint(unhex(t, bad)); err == nil {
			t.Errorf("Varint(%s) = %d, want an error", bad, n)
		}
	}
}

func TestMutations(t *testing.T) {
	publish := unhex(t, "32 07 0003 612F62 000A")
	for name, tt := range map[string]struct {
		got  []byte
		want string
	}{
		"flags":         {WithFlags(publish, 0xf), "3F 07 0003 612F62 000A"},
		"length":        {WithRemainingLength(publish, 300), "32 AC02 0003 612F62 000A"},
		"overlong":      {Overlong(publish), "32 8700 0003 612F62 000A"},
		"overlong long": {Overlong(WithRemainingLength(publish, 300)), "32 AC8200 0003 612F62 000A"},
		"shorten":       {Shorten(publish, 5), "32 05 0003 612F62"},
		"extend":        {Extend(publish, 1, 2), "32 09 0003 612F62 000A 0102"},
		"body":          {WithBody(publish, []byte{9}), "32 01 09"},
		"join":          {Bytes(V311, Pingreq{}, Raw{1}, Frame{Type: 15, Flags: 3, Body: []byte{7}}), "C000 01 F301 07"},
	} {
		if want := unhex(t, tt.want); !reflect.DeepEqual(tt.got, want) {
			t.Errorf("%s: %x, want %x", name, tt.got, want)
		}
	}
	if !reflect.DeepEqual(publish, unhex(t, "32 07 0003 612F62 000A")) {
		t.Errorf("a mutation changed its argument: %x", publish)
	}
}
