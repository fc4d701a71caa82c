package reports

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2/types"
)

// hostile is what a broker may put where a reader will see it: colour and
// title sequences of a terminal in both ranges, text that runs backwards, a
// script, an end of CDATA, Markdown, a workflow command, bytes that are no
// UTF-8, NUL.
const hostile = "\x1b[31mred\x1b]0;title\x07 \u009b2J \u202egnp.exe\u2066 <script>alert(1)</script> ]]> " +
	"| `code` **bold** [x](http://evil.test) @everyone\r\n::error::boom\x00\xff</details>\u2028end"

type entry struct {
	name  string
	value any
}

// spec is one report as Ginkgo hands it over in the process that ran it.
func spec(t testing.TB, name, line string, state types.SpecState, labels []string, entries ...entry) types.SpecReport {
	t.Helper()
	r := types.SpecReport{
		ContainerHierarchyTexts: []string{"MQTT 5.0", "3.3 PUBLISH"}, LeafNodeText: name, State: state,
		LeafNodeLocation: types.CodeLocation{FileName: "/home/somebody/src/mqttcheck/specs/3_03_publish.go", LineNumber: len(line)},
		LeafNodeLabels:   labels, RunTime: 12345 * time.Microsecond,
	}
	for _, e := range entries {
		r.ReportEntries = append(r.ReportEntries, types.ReportEntry{Name: e.name, Value: types.WrapEntryValue(e.value)})
	}
	return r
}

func verdict(f finding) entry { return entry{"verdict", f} }

func trace(events ...Event) entry { return entry{"trace", events} }

type violation = struct {
	Key  string `json:"key"`
	Text string `json:"text"`
}

func ev(ms float64, client, dir, kind, text, hex string) Event {
	return Event{Ms: ms, Client: client, Dir: dir, Type: kind, Text: text, Hex: hex}
}

// qos3 is the trace of a broker that takes QoS 3 for 2 and answers with a
// hostile Reason String.
func qos3() entry {
	return trace(
		ev(0, "pub", "send", "CONNECT", "CONNECT v5 clean \"pub\" user=***", "1013 0004 4d515454 05 c2 003c 00 0003 707562 ********"),
		ev(0.8, "pub", "recv", "CONNACK", "CONNACK 0x00 "+hostile, "2003000000"),
		ev(1.4, "sub", "send", "SUBSCRIBE", "SUBSCRIBE id=1 t/1 q2", "8209000100000374 2f3102"),
		ev(2.1, "sub", "recv", "SUBACK", "SUBACK id=1 0x02", "900400010002"),
		ev(4.2, "pub", "send", "PUBLISH", "PUBLISH q3 d0 r0 id=1 t=t/1 2 bytes \"hi\"", "360a0003742f310001006869"),
		ev(5.1, "pub", "recv", "PUBREC", "PUBREC id=1", "50020001"),
		Event{5.4, "sub", "recv", "PUBLISH", "PUBLISH q2 " + hostile, "34c71f0003742f3100010068690123456789abcdef0123456789abcdef", 4042},
		ev(1005, "pub", "note", "", "still open after 1000 ms", ""),
	)
}

// sampleSpecs has every verdict, every rule of grading once, and hostile text
// wherever a broker's text can stand.
func sampleSpecs(t testing.TB) []types.SpecReport {
	pass, fail, skipped := types.SpecStatePassed, types.SpecStateFailed, types.SpecStateSkipped
	cite := func(keys ...string) []string { return keys }
	panicked := spec(t, "panics", "123456", types.SpecStatePanicked, cite("v5:MQTT-3.3.1-5"))
	panicked.Failure = types.Failure{
		Message: "Test Panicked", ForwardedPanic: strings.ToValidUTF8("index out of range "+hostile, "?"),
		Location: types.CodeLocation{FileName: "/x/specs/probe/client.go", LineNumber: 42},
	}
	return []types.SpecReport{
		spec(t, "is 0 on the first delivery, whatever the publisher sent", "1", pass, cite("v5:MQTT-3.3.1-3", "v5:MQTT-3.3.1-1"),
			entry{"standing", standing{Evidence: []string{"v5/MQTT-2.1.3-1", "v5/MQTT-1.5.4-1"}}}),
		spec(t, "of 3 closes the connection and is not forwarded", "12", fail, cite("v5:MQTT-3.3.1-4", "v5:MQTT-4.13.1-1"),
			verdict(finding{Fail, "", "", "connection pub closed within 1000 ms\n(a DISCONNECT may come first); sub gets nothing", "pub still open after 1000 ms;\nsub got PUBLISH " + hostile}),
			qos3(),
			entry{"standing", standing{Evidence: []string{"v5/MQTT-1.5.4-1"}, Violations: []violation{{"v5/MQTT-1.5.4-1", "sub: Topic Name is ill-formed: " + hostile}}}}),
		spec(t, "answers with 0x90", "123", pass, cite("v5:MQTT-3.3.1-8", "v5:MQTT-3.3.1-9"),
			verdict(finding{Warn, "v5/MQTT-3.3.1-9", "the recommended code is 0x90", "0x90", "0x80 " + hostile}), qos3()),
		spec(t, "is lost", "1234", fail, cite("v5:MQTT-3.3.2-1"),
			verdict(finding{Inconclusive, "", "CONNECT of sub got no CONNACK: " + hostile, "", ""}), qos3()),
		panicked,
		spec(t, "uses shared subscriptions", "1234567", skipped, cite("v5:MQTT-4.8.2-1"),
			verdict(finding{Unsupported, "", "CONNACK says: Shared Subscription Available 0", "", ""})),
		spec(t, "comes in a binary frame", "12345678", skipped, cite("v5:MQTT-6.0.0-1", "v5:MQTT-6.0.0-2"),
			verdict(finding{Skip, "", "needs a WebSocket listener", "", ""})),
		spec(t, "delivers overlapping subscriptions", "123456789", pass, cite("v5:MQTT-3.3.4-2"),
			verdict(finding{Info, "", "", "", ""}), entry{"observation", Observation{Key: "v5/3.3.4-extra-copies", Value: "one copy each " + hostile, Section: "3.3.4"}}),
		spec(t, "is not selected", "1234567890", skipped, cite("v5:MQTT-3.8.3-1")),
	}
}

func sampleInfo() RunInfo {
	return RunInfo{
		ID: "b1946ac9", Tool: "0.1.0", Seed: 1790000000,
		Command: []string{"mqttcheck", "run", "mqtt://joe:secret@localhost:1883", "-P", "secret", "-V", "5", "--html", "out.html"},
		Started: time.Date(2026, 11, 30, 2, 40, 0, 0, time.UTC), Duration: 41700 * time.Millisecond,
		Versions: []string{"v5"},
		Target:   Target{URL: "mqtt://joe:secret@localhost:1883", TimeoutMs: 2000},
		Broker: Broker{
			Name: "acme", Version: "2.4.1 " + hostile, Offered: map[string]bool{"v5": true},
			Announced: map[string]string{"Maximum QoS": "2", "Retain Available": "1", "Reason String": hostile},
		},
	}
}

// sample is the result that the goldens show: the statements with a check and
// one for each reason to have none, so that a change of the catalogue leaves
// them alone.
func sample(t testing.TB) Result {
	r := Build(sampleInfo(), sampleSpecs(t))
	kept := []string{"v5/MQTT-3.1.0-1", "v5/MQTT-3.3.4-7", "v5/MQTT-1.5.4-2"}
	for _, key := range kept {
		statement(t, r, key)
	}
	r.Statements = slices.DeleteFunc(r.Statements, func(s Statement) bool {
		return len(s.Checks) == 0 && !slices.Contains(kept, s.ID)
	})
	r.Summary = summarize(r, r.Summary.Checks)
	return r
}

// statement returns one statement of a result.
func statement(t testing.TB, r Result, key string) Statement {
	t.Helper()
	for _, s := range r.Statements {
		if s.ID == key {
			return s
		}
	}
	t.Fatalf("the result has no statement %s", key)
	return Statement{}
}
