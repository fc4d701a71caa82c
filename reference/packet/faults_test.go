package packet

import (
	"fmt"
	"testing"
)

// stringFaults puts strings of each forbidden kind into each kind of field.
// [section 1.5.4 of MQTT 5.0]
func stringFaults() []fault {
	var list []fault
	// %s is the string with its length.
	for _, field := range []struct {
		rules   textRules
		version Version
		first   byte
		before  string
		after   string
	}{
		{clientIDText, V311, 0x10, c4 + "02 0000", ""},
		{clientIDText, V5, 0x10, c5 + "02 0000 00", ""},
		{willTopicText, V311, 0x10, c4 + "06 0000 0000", "0000"},
		{willTopicText, V5, 0x10, c5 + "06 0000 00 0000 00", "0000"},
		{usernameText, V311, 0x10, c4 + "82 0000 0000", ""},
		{usernameText, V5, 0x10, c5 + "82 0000 00 0000", ""},
		{topicText, V311, 0x30, "", ""},
		{topicText, V5, 0x30, "", "00"},
		{subscribeText, V311, 0x82, "0001", "00"},
		{subscribeText, V5, 0x82, "0001 00 0001 'a' 00", "00"},
		{unsubscribeText, V311, 0xa2, "0001", ""},
		{unsubscribeText, V5, 0xa2, "0001 00 0001 'a'", ""},
		{userNameText, V5, 0xe0, "00 0a 26", "0001 'v'"},
		{userValueText, V5, 0xe0, "00 0a 26 0001 'v'", ""},
		{responseTopicText, V5, 0x30, "0001 'a' 07 08", ""},
		{contentTypeText, V5, 0x30, "0001 'a' 07 03", ""},
		{authMethodText, V5, 0xf0, "18 07 15", ""},
		{reasonStringText, V5, 0x40, "0001 00 07 1f", ""},
		{serverPropertyText, V5, 0x20, "00 00 07 12", ""},
		{serverPropertyText, V5, 0x20, "00 00 07 1a", ""},
		{serverPropertyText, V5, 0xe0, "00 07 1c", ""},
	} {
		for _, kind := range []struct {
			rule   Rule
			string string // four bytes
		}{
			{field.rules.form, "ff 'abc'"},        // never in UTF-8
			{field.rules.form, "c080 'ab'"},       // overlong U+0000
			{field.rules.form, "f4908080"},        // U+110000
			{field.rules.form, "'abc' c3"},        // cut short
			{field.rules.form, "'abc' 80"},        // continuation alone
			{field.rules.form, "e08080 'a'"},      // overlong
			{field.rules.form, "'ab' eda0"},       // a surrogate cut short
			{field.rules.surrogate, "eda080 'a'"}, // U+D800
			{field.rules.surrogate, "'a' edbfbf"}, // U+DFFF
			{field.rules.nul, "'a' 00 'bc'"},
			{field.rules.nul, "00 'abc'"},
		} {
			list = append(list, fault{kind.rule, MalformedPacket, field.version, AnySide, field.first, field.before + " 0004 " + kind.string + " " + field.after, ""})
		}
	}
	return list
}

// values are properties with a legal value, by identifier.
var values = map[int]string{
	0x01: "01 00", 0x02: "02 00000001", 0x03: "03 0001 't'", 0x08: "08 0001 'r'", 0x09: "09 0001 ff", 0x0b: "0b 01",
	0x11: "11 00000001", 0x12: "12 0001 'i'", 0x13: "13 0001", 0x15: "15 0001 'm'", 0x16: "16 0001 ff", 0x17: "17 01",
	0x18: "18 00000001", 0x19: "19 01", 0x1a: "1a 0001 'r'", 0x1c: "1c 0001 's'", 0x1f: "1f 0001 'x'", 0x21: "21 0001",
	0x22: "22 0001", 0x23: "23 0001", 0x24: "24 01", 0x25: "25 01", 0x26: "26 0001 'k' 0001 'v'", 0x27: "27 00000001",
	0x28: "28 01", 0x29: "29 01", 0x2a: "2a 01",
}

// carrier wraps properties into a packet that may carry them.
func carrier(t *testing.T, kind Type, properties string) (first byte, body string) {
	n := fmt.Sprintf(" %02x ", len(raw(t, properties)))
	switch kind {
	case CONNECT:
		return 0x10, c5 + "02 0000" + n + properties + " 0000"
	case willPacket:
		return 0x10, c5 + "06 0000 00 0000" + n + properties + " 0001 'w' 0000"
	case CONNACK:
		return 0x20, "00 00" + n + properties
	case PUBLISH:
		return 0x30, "0001 'a'" + n + properties
	case PUBACK, PUBREC, PUBCOMP:
		return byte(kind) << 4, "0001 00" + n + properties
	case PUBREL:
		return 0x62, "0001 00" + n + properties
	case SUBSCRIBE:
		return 0x82, "0001" + n + properties + " 0001 'a' 00"
	case SUBACK:
		return 0x90, "0001" + n + properties + " 00"
	case UNSUBSCRIBE:
		return 0xa2, "0001" + n + properties + " 0001 'a'"
	case UNSUBACK:
		return 0xb0, "0001" + n + properties + " 00"
	case DISCONNECT:
		return 0xe0, "00" + n + properties
	}
	return 0xf0, "18" + n + properties
}

// allowed is Table 2-4 of MQTT 5.0 from the side of the packets.
var allowed = map[Type]string{
	CONNECT: "\x11\x15\x16\x17\x19\x21\x22\x26\x27", willPacket: "\x01\x02\x03\x08\x09\x18\x26",
	CONNACK: "\x11\x12\x13\x15\x16\x1a\x1c\x1f\x21\x22\x24\x25\x26\x27\x28\x29\x2a",
	PUBLISH: "\x01\x02\x03\x08\x09\x0b\x23\x26", PUBACK: "\x1f\x26", PUBREC: "\x1f\x26", PUBREL: "\x1f\x26", PUBCOMP: "\x1f\x26",
	SUBSCRIBE: "\x0b\x26", SUBACK: "\x1f\x26", UNSUBSCRIBE: "\x26", UNSUBACK: "\x1f\x26",
	DISCONNECT: "\x11\x1c\x1f\x26", AUTH: "\x15\x16\x1f\x26",
}

// needed are the properties without which others may not stand.
func needed(kind Type, id int) string {
	if kind == AUTH && id != 0x15 || kind == CONNECT && id == 0x16 {
		return values[0x15] + " "
	}
	return ""
}

// twiceFaults has each property twice in each packet where it may stand once.
func twiceFaults(t *testing.T) []fault {
	var list []fault
	for kind, ids := range allowed {
		for _, id := range []byte(ids) {
			if id == 0x26 || id == 0x0b && kind == PUBLISH {
				continue
			}
			first, body := carrier(t, kind, needed(kind, int(id))+values[int(id)]+" "+values[int(id)])
			list = append(list, fault{places[id][kind], ProtocolError, V5, AnySide, first, body, ""})
		}
	}
	return list
}

// TestPropertiesStandWhereTheTableHasThem: Table 2-4 of MQTT 5.0, both ways.
func TestPropertiesStandWhereTheTableHasThem(t *testing.T) {
	for kind, ids := range allowed {
		for id, value := range values {
			legal := false
			for _, x := range []byte(ids) {
				legal = legal || int(x) == id
			}
			first, body := carrier(t, kind, needed(kind, id)+value)
			d := Decoder{Version: V5}
			_, err := d.Decode(first, raw(t, body))
			if broken, ok := err.(*Error); legal && err != nil || !legal && (!ok || broken.Rule != placeRules[kind]) {
				t.Errorf("property %02x in packet type %d (0: will): %v", id, kind, err)
			}
		}
	}
}

// TestRepeatableProperties: User Property anywhere, and Subscription
// Identifier in PUBLISH.
func TestRepeatableProperties(t *testing.T) {
	for kind := range allowed {
		first, body := carrier(t, kind, needed(kind, 0x26)+values[0x26]+" "+values[0x26])
		d := Decoder{Version: V5}
		if _, err := d.Decode(first, raw(t, body)); err != nil {
			t.Errorf("packet type %d (0: will): %v", kind, err)
		}
	}
	first, body := carrier(t, PUBLISH, "0b 05 0b 05")
	d := Decoder{Version: V5}
	p, err := d.Decode(first, raw(t, body))
	if err != nil || len(p.(*Publish).Properties.SubscriptionIdentifiers) != 2 {
		t.Errorf("%#v, %v", p, err)
	}
}
