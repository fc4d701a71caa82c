package packet

import (
	"encoding/hex"
	"strings"
	"testing"
)

// raw reads a byte vector: hexadecimal digits and 'text', with spaces between.
func raw(t testing.TB, vector string) []byte {
	t.Helper()
	var b []byte
	for _, part := range strings.Fields(vector) {
		if text, ok := strings.CutPrefix(part, "'"); ok {
			b = append(b, strings.TrimSuffix(text, "'")...)
			continue
		}
		digits, err := hex.DecodeString(part)
		if err != nil {
			t.Fatalf("vector %q: %v", vector, err)
		}
		b = append(b, digits...)
	}
	return b
}

// vector is a packet worked out by hand and what it says.
type vector struct {
	section string // of the version's specification
	version Version
	bytes   string
	packet  Packet
}

func ptr[T any](v T) *T { return &v }

// valid are packets in their canonical form: decoded they are packet, and that
// encoded are they again.
var valid = []vector{
	// MQTT 3.1.1. The CONNECT is that of figures 3.2 to 3.6 with a payload.
	{"3.1", V311, "10 1f 0004 'MQTT' 04 ce 000a 0001 'c' 0003 'w/t' 0002 00ff 0002 'me' 0003 'pwd'", &Connect{
		ProtocolName: "MQTT", Version: V311, CleanStart: true, KeepAlive: 10, ClientID: "c",
		Will: &Will{Topic: "w/t", Payload: []byte{0, 0xff}, QoS: 1}, Username: ptr("me"), Password: []byte("pwd"),
	}},
	{"3.1", V311, "10 0c 0004 'MQTT' 04 02 0000 0000", &Connect{ProtocolName: "MQTT", Version: V311, CleanStart: true}},
	{"3.1.2.6", V311, "10 11 0004 'MQTT' 04 34 ffff 0000 0001 'w' 0000", &Connect{
		ProtocolName: "MQTT", Version: V311, KeepAlive: 65535, Will: &Will{Topic: "w", Payload: []byte{}, QoS: 2, Retain: true},
	}},
	{"3.1.3.4", V311, "10 10 0004 'MQTT' 04 c2 0000 0000 0000 0000", &Connect{
		ProtocolName: "MQTT", Version: V311, CleanStart: true, Username: ptr(""), Password: []byte{},
	}},
	{"3.2", V311, "20 02 0100", &Connack{SessionPresent: true}},
	{"3.2.2.3", V311, "20 02 0005", &Connack{Code: 5}},
	{"3.3.2.3", V311, "32 07 0003 'a/b' 000a", &Publish{QoS: 1, Topic: "a/b", ID: 10, Payload: []byte{}}},
	{"3.3.1", V311, "3d 08 0001 'a' ffff 00ff01", &Publish{Dup: true, QoS: 2, Retain: true, Topic: "a", ID: 65535, Payload: []byte{0, 0xff, 1}}},
	{"3.3.3", V311, "30 04 0002 'a/'", &Publish{Topic: "a/", Payload: []byte{}}},
	{"1.5.3.1", V311, "30 07 0005 'A' f0aa9b94", &Publish{Topic: "A\U0002A6D4", Payload: []byte{}}},
	{"1.5.3", V311, "30 06 0004 efbbbf 'a'", &Publish{Topic: "\ufeffa", Payload: []byte{}}},
	{"3.4", V311, "40 02 1234", &Ack{Kind: PUBACK, ID: 0x1234}},
	{"3.5", V311, "50 02 0001", &Ack{Kind: PUBREC, ID: 1}},
	{"3.6", V311, "62 02 0001", &Ack{Kind: PUBREL, ID: 1}},
	{"3.7", V311, "70 02 0001", &Ack{Kind: PUBCOMP, ID: 1}},
	{"3.8.3.1", V311, "82 0e 000a 0003 'a/b' 01 0003 'c/d' 02", &Subscribe{ID: 10, Subscriptions: []Subscription{{Filter: "a/b", QoS: 1}, {Filter: "c/d", QoS: 2}}}},
	{"3.9.3", V311, "90 05 000a 000280", &Suback{ID: 10, Codes: []ReasonCode{0, 2, 0x80}}},
	{"3.10.3", V311, "a2 0c 000a 0003 'a/b' 0003 'c/d'", &Unsubscribe{ID: 10, Filters: []string{"a/b", "c/d"}}},
	{"3.11", V311, "b0 02 000a", &Unsuback{ID: 10}},
	{"3.12", V311, "c0 00", &Pingreq{}},
	{"3.13", V311, "d0 00", &Pingresp{}},
	{"3.14", V311, "e0 00", &Disconnect{}},

	// MQTT 5.0. The variable header is that of figure 3-6.
	{"3.1.2.12", V5, "10 2a 0004 'MQTT' 05 ce 000a 05 11 0000000a 0001 'c' 05 18 00000005 0003 'w/t' 0001 'x' 0002 'me' 0003 'pwd'", &Connect{
		ProtocolName: "MQTT", Version: V5, CleanStart: true, KeepAlive: 10, ClientID: "c",
		Properties: Properties{SessionExpiryInterval: ptr(uint32(10))},
		Will:       &Will{Topic: "w/t", Payload: []byte("x"), QoS: 1, Properties: Properties{WillDelayInterval: ptr(uint32(5))}},
		Username:   ptr("me"), Password: []byte("pwd"),
	}},
	{"3.1.2.11", V5, "10 38 0004 'MQTT' 05 00 003c 2b 11 ffffffff 15 0002 'am' 16 0002 00ff 17 00 19 01 21 0014 22 000a 26 0001 'k' 0001 'v' 26 0001 'k' 0000 27 00010000 0000", &Connect{
		ProtocolName: "MQTT", Version: V5, KeepAlive: 60, Properties: Properties{
			SessionExpiryInterval: ptr(uint32(0xffffffff)), AuthenticationMethod: ptr("am"), AuthenticationData: []byte{0, 0xff},
			RequestProblemInformation: ptr(byte(0)), RequestResponseInformation: ptr(byte(1)), ReceiveMaximum: ptr(uint16(20)),
			TopicAliasMaximum: ptr(uint16(10)), UserProperties: []UserProperty{{"k", "v"}, {"k", ""}}, MaximumPacketSize: ptr(uint32(65536)),
		},
	}},
	{"3.1.2.9", V5, "10 0f 0004 'MQTT' 05 40 0000 00 0000 0000", &Connect{ProtocolName: "MQTT", Version: V5, Password: []byte{}}},
	{"3.1.3.2", V5, "10 30 0004 'MQTT' 05 04 0000 00 0000 1d 01 01 02 00000001 03 0001 't' 08 0001 'r' 09 0001 ff 18 00000000 26 0000 0000 0001 'w' 0000", &Connect{
		ProtocolName: "MQTT", Version: V5, Will: &Will{Topic: "w", Payload: []byte{}, Properties: Properties{
			PayloadFormatIndicator: ptr(byte(1)), MessageExpiryInterval: ptr(uint32(1)), ContentType: ptr("t"), ResponseTopic: ptr("r"),
			CorrelationData: []byte{0xff}, WillDelayInterval: ptr(uint32(0)), UserProperties: []UserProperty{{}},
		}},
	}},
	{"3.2.2", V5, "20 03 00 00 00", &Connack{}},
	{"3.2.2", V5, "20 03 00 87 00", &Connack{Code: NotAuthorized}},
	{"3.2.2.3", V5, "20 3d 01 00 3a 11 00000001 12 0001 'i' 13 0005 15 0001 'm' 16 0000 1a 0001 'r' 1c 0001 's' 1f 0001 'x' 21 0001 22 0000 24 01 25 00 26 0001 'n' 0000 27 00000100 28 01 29 00 2a 01", &Connack{
		SessionPresent: true, Properties: Properties{
			SessionExpiryInterval: ptr(uint32(1)), AssignedClientIdentifier: ptr("i"), ServerKeepAlive: ptr(uint16(5)),
			AuthenticationMethod: ptr("m"), AuthenticationData: []byte{}, ResponseInformation: ptr("r"), ServerReference: ptr("s"),
			ReasonString: ptr("x"), ReceiveMaximum: ptr(uint16(1)), TopicAliasMaximum: ptr(uint16(0)), MaximumQoS: ptr(byte(1)),
			RetainAvailable: ptr(byte(0)), UserProperties: []UserProperty{{"n", ""}}, MaximumPacketSize: ptr(uint32(256)),
			WildcardSubscriptionAvailable: ptr(byte(1)), SubscriptionIdentifierAvailable: ptr(byte(0)), SharedSubscriptionAvailable: ptr(byte(1)),
		},
	}},
	{"3.3.2.4", V5, "32 08 0003 'a/b' 000a 00", &Publish{QoS: 1, Topic: "a/b", ID: 10, Payload: []byte{}}},
	{"3.3.2.3.4", V5, "30 07 0000 03 23 0001 'x'", &Publish{Properties: Properties{TopicAlias: ptr(uint16(1))}, Payload: []byte("x")}},
	{"3.3.2.3", V5, "31 2c 0001 'a' 27 01 00 02 0000003c 03 0001 't' 08 0003 'r/t' 09 0002 00ff 0b 01 0b ffffff7f 23 ffff 26 0001 'n' 0001 'v' 'p'", &Publish{
		Retain: true, Topic: "a", Payload: []byte("p"), Properties: Properties{
			PayloadFormatIndicator: ptr(byte(0)), MessageExpiryInterval: ptr(uint32(60)), ContentType: ptr("t"), ResponseTopic: ptr("r/t"),
			CorrelationData: []byte{0, 0xff}, SubscriptionIdentifiers: []uint32{1, 268435455}, TopicAlias: ptr(uint16(65535)),
			UserProperties: []UserProperty{{"n", "v"}},
		},
	}},
	{"3.4.2.1", V5, "40 02 0001", &Ack{Kind: PUBACK, ID: 1}},
	{"3.4.2.1", V5, "40 03 0001 10", &Ack{Kind: PUBACK, ID: 1, Code: NoMatchingSubscribers}},
	{"3.4.2.2", V5, "40 08 0001 00 04 1f 0001 'r'", &Ack{Kind: PUBACK, ID: 1, Properties: Properties{ReasonString: ptr("r")}}},
	{"3.5.2.1", V5, "50 03 0001 97", &Ack{Kind: PUBREC, ID: 1, Code: QuotaExceeded}},
	{"3.6.2.1", V5, "62 03 ffff 92", &Ack{Kind: PUBREL, ID: 65535, Code: PacketIdentifierNotFound}},
	{"3.7.2.2", V5, "70 0b 0001 92 07 26 0001 'n' 0001 'v'", &Ack{Kind: PUBCOMP, ID: 1, Code: PacketIdentifierNotFound, Properties: Properties{UserProperties: []UserProperty{{"n", "v"}}}}},
	{"3.8.4", V5, "82 0f 000a 00 0003 'a/b' 01 0003 'c/d' 02", &Subscribe{ID: 10, Subscriptions: []Subscription{{Filter: "a/b", QoS: 1}, {Filter: "c/d", QoS: 2}}}},
	{"3.8.3.1", V5, "82 0a 0001 03 0b 8001 0001 'a' 2c", &Subscribe{
		ID: 1, Properties: Properties{SubscriptionIdentifiers: []uint32{128}},
		Subscriptions: []Subscription{{Filter: "a", NoLocal: true, RetainAsPublished: true, RetainHandling: 2}},
	}},
	{"3.9.3", V5, "90 06 0001 00 00 02 a2", &Suback{ID: 1, Codes: []ReasonCode{0, 2, 0xa2}}},
	{"3.10.3", V5, "a2 0d 000a 00 0003 'a/b' 0003 'c/d'", &Unsubscribe{ID: 10, Filters: []string{"a/b", "c/d"}}},
	{"3.11.3", V5, "b0 05 0001 00 00 11", &Unsuback{ID: 1, Codes: []ReasonCode{0, 0x11}}},
	{"3.12", V5, "c0 00", &Pingreq{}},
	{"3.13", V5, "d0 00", &Pingresp{}},
	{"3.14.2.1", V5, "e0 00", &Disconnect{}},
	{"3.14.2.1", V5, "e0 01 04", &Disconnect{Code: DisconnectWithWill}},
	{"3.14.2.2", V5, "e0 0b 9d 09 11 00000000 1c 0001 's'", &Disconnect{Code: ServerMoved, Properties: Properties{SessionExpiryInterval: ptr(uint32(0)), ServerReference: ptr("s")}}},
	{"3.15.2", V5, "f0 0a 18 08 15 0001 'm' 16 0001 00", &Auth{Code: ContinueAuthentication, Properties: Properties{AuthenticationMethod: ptr("m"), AuthenticationData: []byte{0}}}},
}

// otherForms are legal packets that Append writes in a shorter form.
var otherForms = []vector{
	{"2.2.3", V311, "c0 80 00", &Pingreq{}},
	{"3.4.2.1", V5, "40 03 0001 00", &Ack{Kind: PUBACK, ID: 1}},
	{"3.4.2.2.1", V5, "40 04 0001 00 00", &Ack{Kind: PUBACK, ID: 1}},
	{"3.14.2.1", V5, "e0 01 00", &Disconnect{}},
	{"3.14.2.2.1", V5, "e0 02 00 00", &Disconnect{}},
}
