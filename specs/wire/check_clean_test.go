package wire

import (
	"slices"
	"strings"
	"testing"
)

// TestFreedoms plays what a broker may do, and what the rules leave open: no
// statement is accused.
func TestFreedoms(t *testing.T) {
	for _, tt := range []struct {
		name    string
		version Version
		steps   string
	}{
		{"a repeat with DUP 1 on a live connection is tolerated in 3.1.1", V311,
			open311 + "< 32 05 0001 61 0001 < 3A 05 0001 61 0001"},
		{"an identifier is free after PUBACK", V311, open311 + "< 32 05 0001 61 0001 > 40020001 < 32 05 0001 62 0001"},
		{"an identifier is free after PUBCOMP", V5,
			open5 + "< 34 06 0001 61 0001 00 > 50020001 < 62020001 > 70020001 < 34 06 0001 62 0001 00"},
		{"an identifier is free after PUBREC with an error", V5, open5 + "< 34 06 0001 61 0001 00 > 5003000180 < 32 06 0001 62 0001 00"},
		{"the quota is free after PUBREC with an error", V5, window5 + "< 34 06 0001 61 0001 00 > 5003000180 < 32 06 0001 62 0002 00"},
		{"QoS 0 does not count for Receive Maximum", V5, window5 + "< 32 06 0001 61 0001 00 < 30 04 0001 61 00"},
		{"both sides number their packets independently", V5,
			open5 + "> 32 06 0001 61 0001 00 < 32 06 0001 61 0001 00 < 40020001"},
		{"a level of another version may be answered in its layout", V311,
			"> 10 0D 0004 4D515454 7F 02 003C 0001 66 < 2003008400"},
		{"an unknown protocol name likewise", V5, "> 10 0E 0004 4D515458 05 02 003C 00 0001 66 < 20020001"},
		{"a CONNECT cut before its level likewise", V311, "> 10 04 0004 4D51 < 2003008100"},
		{"a malformed CONNECT is refused", V5, "> 10 08 0004 4D515454 05 C6 < 2003008100"},
		{"CONNACK before CONNECT has no version to be judged by", V5, "< 20020005"},
		{"a refusal ends a 5.0 connection", V5, asked5 + "< 2003008700"},
		{"a refusal ends a 3.1.1 connection", V311, asked311 + "< 20020005"},
		{"PUBLISH before SUBACK", V5, open5 + "> 82 07 000A 00 0001 61 00 < 30 04 0001 61 00 < 90 04 000A 00 00"},
		{"several requests with one identifier, one after the other", V5,
			open5 + "> 82 07 0001 00 0001 61 00 < 9004000100 00 > A2 06 0001 00 0001 61 < B004000100 00"},
		{"pipelined requests", V311, open311 + "> 82 06 000A 0001 61 00 > A2 05 000B 0001 61 < 90 03 000A 00 < B0 02 000B"},
		{"a resumed session brings PUBREL and repeats along", V311,
			"> 10 0D 0004 4D515454 04 00 003C 0001 66 < 20020100 < 62020005 < 3A 05 0001 61 0006 > 70020005"},
		{"0x8C in DISCONNECT", V5, open5 + "< E0018C"},
		{"Reason String on DISCONNECT for a client that wants none", V5, quiet5 + "< E0 06 81 04 1F 0001 61"},
		{"User Property on PUBLISH for a client that wants none", V5, quiet5 + "< 30 0B 0001 61 07 26 0001 61 0001 62"},
		{"User Properties of one name", V5, open5 + "< 30 12 0001 61 0E 26 0001 61 0001 62 26 0001 61 0001 62"},
		{"several Subscription Identifiers", V5, open5 + "< 30 08 0001 61 04 0B 01 0B 01"},
		{"a Response Topic with a wildcard is passed on as it came", V5, open5 + "< 30 0A 0001 61 06 08 0003 612F23"},
		{"a Payload Format Indicator is passed on as it came", V5, open5 + "< 30 06 0001 61 02 01 02"},
		{"a Topic Alias is set and used", V5, alias5 + "< 30 07 0001 61 03 23 0002 < 30 06 0000 03 23 0002"},
		{"a topic that starts with U+FEFF", V311, open311 + "< 30 06 0004 EFBBBF61"},
		{"the longest packet that fits", V5, small5 + "< 30 0E 0001 61 00 61616161616161616161"},
		{"AUTH before CONNACK", V5, method5 + "< F0 06 18 04 15 0001 53 > F0 06 18 04 15 0001 53 < 20 07 0000 04 15 0001 53"},
		{"a refusal need not name the method", V5, method5 + "< 2003008C00"},

		// Once the tester has broken a rule its packets may have odd answers.
		{"an acknowledgement of an unknown identifier", V5, window5 + "< 32 06 0001 61 0001 00 > 40020009 < 32 06 0001 61 0002 00"},
		{"PUBACK for a delivery at QoS 2", V311, open311 + "< 34 05 0001 61 0001 > 40020001 < 32 05 0001 62 0001"},
		{"a malformed PUBACK taken for a good one", V311, open311 + "< 32 05 0001 61 0001 > 400100 > 4F02 0001 < 32 05 0001 62 0001"},
		{"SUBSCRIBE without filter", V311, open311 + "> 82 02 0001 < 90 03 0001 80"},
		{"UNSUBSCRIBE with identifier 0", V5, open5 + "> A2 06 0000 00 0001 61 < B0 04 0001 00 00"},
		{"bytes without packet borders", V311, open311 + "> 30 FFFFFFFF01 0001 < 40 02 0001"},
		{"a second CONNECT with other limits", V5,
			small5 + "> 10 0E 0004 4D515454 05 02 003C 00 0001 66 < 30 0F 0001 61 00 6161616161616161616161"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if c := play(t, tt.version, tt.steps); len(c.violations) > 0 {
				t.Errorf("%+v", c.violations)
			}
		})
	}
}

// TestFormatAfterABreach holds that the broker's packets are judged on their
// format, and by the limits announced, whatever the tester did before.
func TestFormatAfterABreach(t *testing.T) {
	const odd = "> 82 02 0001"
	for key, steps := range map[string]string{
		"v311/MQTT-2.2.2-1": open311 + odd + "< D100",
		"v311/MQTT-3.3.1-2": open311 + odd + "< 38 03 0001 61",
		"v5/MQTT-3.1.2-24":  small5 + odd + "< 30 0F 0001 61 00 6161616161616161616161",
		"v5/MQTT-3.2.0-2":   open5 + "> 10 0E 0004 4D515454 05 02 003C 00 0001 66 < 2003000000",
		"v5/MQTT-3.14.4-1":  open5 + odd + "> C000 < E00181 < D000",
		"v5/MQTT-3.14.2-3":  small5 + odd + "< E0 12 81 10 1F 000D 30313233343536373839616263",
	} {
		c := play(t, versionOf(key), steps)
		if len(c.violations) != 1 || c.violations[0].Key != key {
			t.Errorf("%s: accused of %+v", key, c.violations)
		}
	}
}

// TestEvidence holds that a statement is listed only when a packet came that
// could have broken it.
func TestEvidence(t *testing.T) {
	for _, tt := range []struct {
		version Version
		steps   string
		want    []string
		not     []string
	}{
		{V311, asked311, nil, StandingKeys(V311)},
		{V311, open311, []string{"v311/MQTT-3.2.0-1", "v311/MQTT-2.2.2-1", "v311/MQTT-3.2.2-1", "v311/MQTT-3.2.2-6", "v311/3.2.2.1-reserved-bits"},
			[]string{"v311/MQTT-3.2.2-4", "v311/MQTT-3.3.1-2", "v311/MQTT-1.5.3-1", "v311/3.13-pingresp-format"}},
		{V311, asked311 + "< 20020005", []string{"v311/MQTT-3.2.2-4"}, []string{"v311/MQTT-3.2.2-1"}},
		{V311, open311 + "< 30 03 0001 61", []string{"v311/MQTT-3.3.1-2", "v311/MQTT-1.5.3-1"}, []string{"v311/MQTT-2.3.1-1", "v311/MQTT-2.3.1-4"}},
		{V311, open311 + "< 3A 05 0001 61 0001", []string{"v311/MQTT-2.3.1-1"}, []string{"v311/MQTT-3.3.1-2", "v311/MQTT-2.3.1-4"}},
		{V5, open5 + "< 30 04 0001 61 00", []string{"v5/MQTT-3.1.2-27", "v5/MQTT-2.2.2-1"},
			[]string{"v5/MQTT-3.1.2-24", "v5/MQTT-3.1.2-26", "v5/MQTT-3.3.2-8", "v5/MQTT-3.3.4-9", "v5/MQTT-1.5.7-1"}},
		{V5, alias5 + "< 30 07 0001 61 03 23 0002", []string{"v5/MQTT-3.3.2-8"}, []string{"v5/MQTT-3.1.2-26"}},
		{V5, alias5 + "> 82 07 0001 00 0001 61 00 < 30 07 0001 61 03 23 0002", []string{"v5/MQTT-3.1.2-26"}, nil},
		{V5, small5 + "> 32 06 0001 61 0001 00 < 40020001", []string{"v5/MQTT-3.1.2-24"}, []string{"v5/MQTT-3.4.2-2", "v5/MQTT-3.4.2-3", "v5/MQTT-3.1.2-29"}},
		{V5, small5 + "> 32 06 0001 61 0001 00 < 40 08 0001 10 04 1F 0001 61", []string{"v5/MQTT-3.4.2-2", "v5/MQTT-3.4.2-3"}, []string{"v5/MQTT-3.5.2-2"}},
		{V5, small5 + "> 32 06 0001 61 0001 00 < 40 0B 0001 10 07 26 0001 61 0001 62", []string{"v5/MQTT-3.4.2-3", "v5/MQTT-3.4.2-2"}, nil},
		{V5, quiet5 + "> 32 06 0001 61 0001 00 < 40020001", nil, []string{"v5/MQTT-3.1.2-29", "v5/MQTT-3.4.2-2", "v5/MQTT-3.4.2-1"}},
		{V5, open5 + "> 32 06 0001 61 0001 00 < 4003000110", []string{"v5/MQTT-3.4.2-1"}, nil},
		{V5, quiet5 + "> 32 06 0001 61 0001 00 < 4004 0001 00 00", nil, []string{"v5/MQTT-3.1.2-29"}},
		{V5, quiet5 + "> 32 06 0001 61 0001 00 < 4004 0001 10 00", []string{"v5/MQTT-3.1.2-29"}, nil},
		{V5, quiet5 + "> 32 06 0001 61 0001 00 < 4003 0001 10", []string{"v5/MQTT-3.1.2-29"}, nil},
		{V5, small5 + "> 32 06 0001 61 0001 00 < 4003 0001 10", []string{"v5/MQTT-3.4.2-2", "v5/MQTT-3.4.2-3"}, []string{"v5/MQTT-3.5.2-2"}},
	} {
		got := play(t, tt.version, tt.steps).evidence()
		for _, key := range tt.want {
			if !slices.Contains(got, key) {
				t.Errorf("%s: %s is not among the evidence", tt.steps, key)
			}
		}
		for _, key := range tt.not {
			if slices.Contains(got, key) {
				t.Errorf("%s: %s is among the evidence", tt.steps, key)
			}
		}
	}
}

// TestManyBreaches holds that a hostile broker does not fill the memory.
func TestManyBreaches(t *testing.T) {
	c := play(t, V311, open311+strings.Repeat("< D100", 1000))
	if len(c.violations) != maxViolations || c.count["v311/MQTT-2.2.2-1"] != 1000 {
		t.Errorf("%d violations kept of %d", len(c.violations), c.count["v311/MQTT-2.2.2-1"])
	}
}

// TestSentInPieces holds that what the tester sends is understood however it
// is cut.
func TestSentInPieces(t *testing.T) {
	all := unhex(t, "10 13 0004 4D515454 05 02 003C 05 27 00000010 0001 66 82 07 000A 00 0001 61 00 C000")
	for n := 1; n <= len(all); n++ {
		c := newChecker(V5)
		for part := range slices.Chunk(all, n) {
			c.sent(part)
		}
		if limit, ok := c.announced(MaximumPacketSize); !ok || limit != 16 || len(c.requests[10]) != 1 || c.broke || len(c.rest) > 0 {
			t.Errorf("in pieces of %d: limit %d, requests %v, broke %t, rest %x", n, limit, c.requests, c.broke, c.rest)
		}
	}
}
