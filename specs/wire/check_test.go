package wire

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/specs/normative"
)

// A conversation is written as steps: "> 10..." is sent by the tester, "< 20..."
// comes from the broker. The two openings stand at the front of most.
const (
	open311 = "> 10 0D 0004 4D515454 04 02 003C 0001 66 < 20020000"
	open5   = "> 10 0E 0004 4D515454 05 02 003C 00 0001 66 < 2003000000"
	// refused5 lacks the success.
	asked311 = "> 10 0D 0004 4D515454 04 02 003C 0001 66"
	asked5   = "> 10 0E 0004 4D515454 05 02 003C 00 0001 66"
	// small5 has a Maximum Packet Size of 16 bytes.
	small5 = "> 10 13 0004 4D515454 05 02 003C 05 27 00000010 0001 66 < 2003000000"
	// quiet5 has Request Problem Information 0.
	quiet5 = "> 10 10 0004 4D515454 05 02 003C 02 17 00 0001 66 < 2003000000"
	// alias5 has Topic Alias Maximum 2, window5 Receive Maximum 1.
	alias5  = "> 10 11 0004 4D515454 05 02 003C 03 22 0002 0001 66 < 2003000000"
	window5 = "> 10 11 0004 4D515454 05 02 003C 03 21 0001 0001 66 < 2003000000"
	// method5 names the Authentication Method "S".
	method5 = "> 10 12 0004 4D515454 05 02 003C 04 15 0001 53 0001 66"
)

// play gives the steps to a checker.
func play(t *testing.T, v Version, steps string) *checker {
	t.Helper()
	c := newChecker(v)
	seq := 0
	for i, step := range strings.FieldsFunc(steps, func(r rune) bool { return r == '<' || r == '>' }) {
		raw := unhex(t, step)
		if !strings.Contains(steps[:indexOf(steps, i)+1], "<") || steps[indexOf(steps, i)] == '>' {
			c.sent(raw)
			continue
		}
		if size, ok := FrameSize(raw); !ok || size != len(raw) {
			t.Fatalf("step %d: %x is not one packet", i+1, raw)
		}
		r := receive(raw, v)
		seq++
		r.Seq = seq
		c.received(r)
	}
	return c
}

// indexOf returns where the mark of step n stands.
func indexOf(steps string, n int) int {
	for i, r := range steps {
		if r == '<' || r == '>' {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return -1
}

// breaches are conversations in which the broker breaks one rule: exactly the
// statement of that rule is accused.
var breaches = []struct{ key, steps string }{
	{"v311/MQTT-1.5.3-1", open311 + "< 30 05 0003 EDA080"},
	{"v311/MQTT-1.5.3-1", open311 + "< 30 04 0002 C080"},
	{"v311/MQTT-1.5.3-2", open311 + "< 30 05 0003 610062"},
	{"v311/2.2.1-client-only-types", open311 + "< C000"},
	{"v311/2.2.1-client-only-types", open311 + "< E000"},
	{"v311/2.2.1-reserved-types", open311 + "< 0000"},
	{"v311/2.2.1-reserved-types", open311 + "< F000"},
	{"v311/MQTT-2.2.2-1", open311 + "> C000 < D100"},
	{"v311/MQTT-2.3.1-1", open311 + "< 32 05 0001 61 0000"},
	{"v311/MQTT-2.3.1-4", open311 + "< 32 05 0001 61 0001 < 32 05 0001 62 0001"},
	{"v311/MQTT-2.3.1-4", open311 + "< 34 05 0001 61 0001 > 50020001 < 62020001 < 32 05 0001 62 0001"},
	{"v311/MQTT-3.3.1-1", open311 + "< 32 05 0001 61 0001 < 32 05 0001 61 0001"},
	{"v311/MQTT-2.3.1-6", open311 + "> 32 05 0001 61 0007 < 40020008"},
	{"v311/MQTT-2.3.1-6", open311 + "> 34 05 0001 61 0007 < 50020008"},
	{"v311/MQTT-2.3.1-6", open311 + "< 34 05 0001 61 0001 > 50020001 < 62020002"},
	{"v311/MQTT-2.3.1-7", open311 + "> 82 06 000A 0001 61 00 < 90 03 000B 00"},
	{"v311/MQTT-2.3.1-7", open311 + "> A2 05 000A 0001 61 < B0 02 000B"},
	{"v311/MQTT-3.2.0-1", asked311 + "> C000 < D000"},
	{"v311/MQTT-3.2.0-1", "> C000 < D000"},
	{"v311/3.2.1-connack-length", asked311 + "< 2003000000"},
	{"v311/3.2.2.1-reserved-bits", asked311 + "< 20020200"},
	{"v311/MQTT-3.2.2-1", asked311 + "< 20020100"},
	{"v311/MQTT-3.2.2-4", asked311 + "< 20020105"},
	{"v311/MQTT-3.2.2-6", asked311 + "< 20020006"},
	{"v311/MQTT-3.3.1-2", open311 + "< 38 03 0001 61"},
	{"v311/MQTT-3.3.1-4", open311 + "< 36 05 0001 61 0001"},
	{"v311/MQTT-3.3.2-2", open311 + "< 30 05 0003 612F23"},
	{"v311/3.4-fixed-lengths", open311 + "> 32 05 0001 61 0007 < 4003000700"},
	{"v311/MQTT-3.8.4-5", open311 + "> 82 06 000A 0001 61 00 < 90 04 000A 0000"},
	{"v311/MQTT-3.9.3-2", open311 + "> 82 06 000A 0001 61 00 < 90 03 000A 03"},
	{"v311/3.13-pingresp-format", open311 + "> C000 < D00100"},
	{"v311/MQTT-4.7.3-1", open311 + "< 30 03 0000 78"},
	{"v311/7.1.1-packet-format", open311 + "< 30 03 0005 61"},

	{"v5/MQTT-1.5.4-1", open5 + "< 30 06 0003 EDA080 00"},
	{"v5/MQTT-1.5.4-1", open5 + "< 30 08 0001 61 04 08 0001 FF"},
	{"v5/MQTT-1.5.4-2", open5 + "< 30 06 0003 610062 00"},
	{"v5/1.5.4-disallowed-code-points-sender", open5 + "< E0 06 81 04 1F 0001 07"},
	{"v5/MQTT-1.5.5-1", open5 + "> C000 < D08000"},
	{"v5/MQTT-1.5.5-1", open5 + "< 30 05 0001 61 8000"},
	{"v5/MQTT-1.5.5-1", open5 + "< 30 07 0001 61 03 0B 8100"},
	{"v5/MQTT-1.5.7-1", open5 + "< 30 0B 0001 61 07 26 0001 FF 0001 62"},
	{"v5/MQTT-1.5.7-1", open5 + "< 30 0B 0001 61 07 26 0001 62 0001 00"},
	{"v5/2.1.2-client-only-types-from-server", open5 + "< C000"},
	{"v5/2.1.2-packet-type-0", open5 + "< 0000"},
	{"v5/MQTT-2.1.3-1", open5 + "> C000 < D200"},
	{"v5/MQTT-3.3.1-1", open5 + "< 34 06 0001 61 0001 00 < 34 06 0001 61 0001 00"},
	{"v5/MQTT-2.2.1-4", open5 + "< 32 06 0001 61 0000 00"},
	{"v5/MQTT-2.2.1-4", open5 + "< 32 06 0001 61 0001 00 < 34 06 0001 62 0001 00"},
	{"v5/MQTT-2.2.1-5", open5 + "> 32 06 0001 61 0007 00 < 40020008"},
	{"v5/MQTT-2.2.1-5", open5 + "> 34 06 0001 61 0007 00 < 50020007 > 62020007 < 70020008"},
	{"v5/MQTT-2.2.1-6", open5 + "> 82 07 000A 00 0001 61 00 < 90 04 000B 00 00"},
	{"v5/MQTT-2.2.1-6", open5 + "> 82 07 000A 00 0001 61 00 < B0 04 000A 00 00"},
	{"v5/MQTT-2.2.2-1", asked5 + "< 20020000"},
	{"v5/MQTT-2.2.2-1", open5 + "< 30 03 0001 61"},
	{"v5/2.2.2-server-packets-properties", asked5 + "< 20 05 0000 02 01 01"},
	{"v5/2.2.2-server-packets-properties", asked5 + "< 20 05 0000 02 7F 01"},
	{"v5/2.2.2-server-packets-properties", asked5 + "< 20 06 0000 03 FF01 01"},
	{"v5/MQTT-3.1.2-24", small5 + "< 30 0F 0001 61 00 6161616161616161616161"},
	{"v5/MQTT-3.1.2-26", alias5 + "< 30 07 0001 61 03 23 0003"},
	{"v5/MQTT-3.1.2-27", open5 + "< 30 07 0001 61 03 23 0001"},
	{"v5/MQTT-3.1.2-28", asked5 + "< 20 07 0000 04 1A 0001 61"},
	{"v5/MQTT-3.1.2-29", quiet5 + "> 32 06 0001 61 0007 00 < 40 08 0007 00 04 1F 0001 61"},
	{"v5/MQTT-3.2.0-1", asked5 + "> C000 < D000"},
	{"v5/MQTT-3.2.0-1", asked5 + "> C000 < 2003008700 < D000"},
	{"v5/MQTT-3.2.0-2", open5 + "< 2003000000"},
	{"v5/MQTT-3.2.2-1", asked5 + "< 2003020000"},
	{"v5/MQTT-3.2.2-2", asked5 + "< 2003010000"},
	{"v5/MQTT-3.2.2-6", asked5 + "< 2003018700"},
	{"v5/MQTT-3.2.2-8", asked5 + "< 2003008E00"},
	{"v5/3.2.2.3.16-server-reference-with-code", asked5 + "< 20 07 0087 04 1C 0001 61"},
	{"v5/MQTT-3.3.1-2", open5 + "< 38 04 0001 61 00"},
	{"v5/MQTT-3.3.1-4", open5 + "< 36 06 0001 61 0001 00"},
	{"v5/MQTT-3.3.2-2", open5 + "< 30 06 0003 2B2F62 00"},
	{"v5/MQTT-3.3.2-8", alias5 + "< 30 07 0001 61 03 23 0000"},
	{"v5/3.3.2.3.4-alias-unknown", alias5 + "< 30 07 0001 61 03 23 0001 < 30 06 0000 03 23 0002"},
	{"v5/3.3.2.3.8-subscription-id-zero", open5 + "< 30 06 0001 61 02 0B 00"},
	{"v5/MQTT-3.3.4-9", window5 + "< 32 06 0001 61 0001 00 < 34 06 0001 61 0002 00"},
	{"v5/MQTT-3.3.4-9", window5 + "< 34 06 0001 61 0001 00 > 50020001 < 62020001 < 32 06 0001 61 0002 00"},
	{"v5/MQTT-3.4.2-1", open5 + "> 32 06 0001 61 0007 00 < 4003000792"},
	{"v5/MQTT-3.5.2-1", open5 + "> 34 06 0001 61 0007 00 < 5003000701"},
	{"v5/MQTT-3.6.2-1", open5 + "< 34 06 0001 61 0001 00 > 50020001 < 6203000180"},
	{"v5/MQTT-3.7.2-1", open5 + "> 34 06 0001 61 0007 00 < 50020007 > 62020007 < 7003000780"},
	{"v5/MQTT-3.8.4-6", open5 + "> 82 07 000A 00 0001 61 00 < 90 05 000A 00 0000"},
	{"v5/MQTT-3.9.3-2", open5 + "> 82 07 000A 00 0001 61 00 < 90 04 000A 00 03"},
	{"v5/MQTT-3.11.3-2", open5 + "> A2 06 000A 00 0001 61 < B0 04 000A 00 01"},
	{"v5/MQTT-3.11.3-2", open5 + "> A2 06 000A 00 0001 61 < B0 03 000A 00"},
	{"v5/3.13.1-pingresp-format", open5 + "> C000 < D00100"},
	{"v5/MQTT-3.14.0-1", asked5 + "< E00181"},
	{"v5/MQTT-3.14.0-1", "> C000 < E00182"},
	{"v5/MQTT-3.14.2-1", open5 + "< E00101"},
	{"v5/3.14.2.1-client-codes-from-server", open5 + "< E00104"},
	{"v5/MQTT-3.14.2-2", open5 + "< E0 07 81 05 11 00000000"},
	{"v5/MQTT-3.14.4-1", open5 + "> C000 < E00181 < D000"},
	{"v5/MQTT-3.15.2-1", method5 + "< F0 06 19 04 15 0001 53"},
	{"v5/MQTT-4.12.0-2", method5 + "< F0 06 00 04 15 0001 53"},
	{"v5/MQTT-4.12.0-5", method5 + "< F0 06 18 04 15 0001 54"},
	{"v5/MQTT-4.12.0-5", method5 + "< 2003000000"},
	{"v5/MQTT-4.12.0-6", asked5 + "< F0 06 18 04 15 0001 53"},
	{"v5/MQTT-4.12.0-6", asked5 + "< 20 07 0000 04 15 0001 53"},
	{"v5/MQTT-4.4.0-1", open5 + "< 32 06 0001 61 0001 00 < 3A 06 0001 61 0001 00"},
	{"v5/MQTT-4.7.3-1", open5 + "< 30 03 0000 00"},
	{"v5/7.1.1-packet-format", open5 + "< 30 05 0001 61 05 01"},
	{"v5/7.1.1-packet-format", open5 + "< 40 05 0001 00 00 00"},
}

// generated adds the breaches of the rules that come in tables.
func generated() []struct{ key, steps string } {
	list := slices.Clone(breaches)
	add := func(r rule, opening string, p Packet) {
		list = append(list, struct{ key, steps string }{r.key(V5), fmt.Sprintf("%s < %x", opening, p.Append(nil, V5))})
	}
	for at, r := range ruleTwice {
		p := Property{ID: at.id, Int: 1, Str: "S", Bin: []byte("x")}
		opening := opening(at.packet)
		if at.id == TopicAlias {
			opening = alias5
		}
		if at.id == ResponseInformation {
			opening = "> 10 10 0004 4D515454 05 02 003C 02 19 01 0001 66"
		}
		if at.packet == CONNACK && (at.id == AuthenticationMethod || at.id == AuthenticationData) {
			opening = method5
		}
		add(r, opening, carrying(at.packet, method(at, p, p)...))
	}
	for at, r := range ruleValue {
		bad := uint32(2)
		if inRange(Property{ID: at.id, Int: bad}) {
			bad = 0
		}
		add(r, opening(at.packet), carrying(at.packet, Property{ID: at.id, Int: bad}))
	}
	for at, r := range ruleLeftOut {
		p := Property{ID: at.id, Str: "0123456789abc", Pair: [2]string{"name", "value"}}
		opening := small5
		switch at.packet {
		case CONNACK:
			opening, _, _ = strings.Cut(small5, " < ")
		case PUBREL:
			opening += "< 34 06 0001 61 0001 00 > 50020001"
		case AUTH:
			opening = "> 10 17 0004 4D515454 05 02 003C 09 27 00000010 15 0001 53 0001 66"
		default:
			opening += requests
		}
		add(r, opening, carrying(at.packet, method(at, p)...))
	}
	return list
}

// requests is what PUBACK, PUBREC, PUBCOMP, SUBACK and UNSUBACK with the
// identifier 1 answer.
const requests = "> 34 06 0001 61 0001 00 > 62 02 0001 > 82 07 0001 00 0001 61 00 > A2 06 0001 00 0001 61"

func opening(t Type) string {
	switch t {
	case CONNACK:
		return asked5
	case PUBREL:
		return open5 + "< 34 06 0001 61 0001 00 > 50020001"
	case AUTH:
		return method5
	case PUBLISH, DISCONNECT:
		return open5
	}
	return open5 + requests
}

// method adds the Authentication Method that AUTH has to have.
func method(at placed, ps ...Property) Properties {
	if at.packet == AUTH && at.id != AuthenticationMethod || at.packet == CONNACK && at.id == AuthenticationData {
		return append(Properties{{ID: AuthenticationMethod, Str: "S"}}, ps...)
	}
	return ps
}

// carrying returns a packet of the type with the properties.
func carrying(t Type, ps ...Property) Packet {
	code := byte(0)
	if slices.ContainsFunc(ps, func(p Property) bool { return p.ID == ServerReference }) {
		code = 0x9c
	}
	switch t {
	case CONNACK:
		return Connack{Code: code, Properties: ps}
	case PUBLISH:
		return Publish{Topic: "a", Properties: ps}
	case SUBACK:
		return Suback{ID: 1, Codes: []byte{0}, Properties: ps}
	case UNSUBACK:
		return Unsuback{ID: 1, Codes: []byte{0}, Properties: ps}
	case DISCONNECT:
		return Disconnect{Code: code, Properties: ps}
	case AUTH:
		return Auth{Code: 0x18, Properties: ps}
	}
	return Ack{Type: t, ID: 1, Properties: ps}
}

func versionOf(key string) Version {
	if strings.HasPrefix(key, "v5/") {
		return V5
	}
	return V311
}

func TestBreaches(t *testing.T) {
	caught := map[string]bool{}
	for _, b := range generated() {
		c := play(t, versionOf(b.key), b.steps)

		var keys []string
		for _, v := range c.violations {
			keys = append(keys, v.Key)
			if v.Text == "" || v.Seq == 0 {
				t.Errorf("%s: a violation without text or number: %+v", b.key, v)
			}
		}
		if !reflect.DeepEqual(keys, []string{b.key}) {
			t.Errorf("%s: accused of %+v by %s", b.key, c.violations, b.steps)
		}
		if !slices.Contains(c.evidence(), b.key) {
			t.Errorf("%s: not among the evidence", b.key)
		}
		caught[b.key] = true
	}
	for _, key := range append(StandingKeys(V311), StandingKeys(V5)...) {
		// What is about frames is tried in websocket_test.go.
		if !caught[key] && !strings.HasSuffix(key, "/MQTT-6.0.0-1") {
			t.Errorf("%s: no conversation breaks it", key)
		}
		if _, ok := normative.Lookup(key); !ok {
			t.Errorf("%s is not in the catalogue", key)
		}
	}
}
