package probe

import (
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// said returns what an assertion that fails leaves in the report.
func said(assert func(g gomega.Gomega)) Outcome {
	var o Outcome
	assert(gomega.NewGomega(func(message string, _ ...int) { o = outcome("fail", "", message) }))
	return o
}

func TestAnOutcomeSaysWhatWasExpectedAndSeen(t *testing.T) {
	got := wire.Publish{Topic: "t", QoS: 1, ID: 7, Dup: true, Payload: "hi"}
	for _, tc := range []struct {
		name               string
		assert             func(g gomega.Gomega)
		expected, observed string
	}{
		{"a field with a note", func(g gomega.Gomega) { g.Expect(got).To(gomega.HaveField("Dup", false), "DUP is 0") },
			"DUP is 0 (Dup equal false)", "Dup true"},
		{"a field without a note", func(g gomega.Gomega) { g.Expect(got).To(gomega.HaveField("ID", uint16(9))) },
			"ID equal 9", "ID 7"},
		{"a truth with a note", func(g gomega.Gomega) { g.Expect(got.QoS == 2).To(gomega.BeTrue(), "the QoS is 2") }, "the QoS is 2", "false"},
		{"an element", func(g gomega.Gomega) {
			g.Expect([]wire.Publish{got}).To(gomega.ContainElement(gomega.HaveField("QoS", byte(2))), "a copy at QoS 2")
		}, "a copy at QoS 2", "PUBLISH q1 d1"},
	} {
		o := said(tc.assert)
		if o.Expected != tc.expected || !strings.Contains(o.Observed, tc.observed) {
			t.Errorf("%s: expected %q, observed %q", tc.name, o.Expected, o.Observed)
		}
		if strings.Contains(o.Expected+o.Observed+o.Reason, "0x1") || strings.Contains(o.Expected, "Matcher") {
			t.Errorf("%s: it speaks of Gomega's insides: %+v", tc.name, o)
		}
	}
}

func TestAReactionIsGradedByWhatBindsTheServer(t *testing.T) {
	for key, want := range map[string]string{
		"v311/MQTT-2.2.2-2":            "fail", // explicit
		"v5/MQTT-3.8.1-1":              "fail",
		"v311/MQTT-3.8.3-3":            "fail", // stated: 3.1.1 closes whatever the error
		"v5/MQTT-3.8.3-2":              "warn", // 5.0 leaves the depth of checking free
		"v311/MQTT-4.7.1-1":            "warn", // derived
		"v311/2.2.1-server-only-types": "fail", // no number: as stated
		"v5/3.3.2.3.4-alias-zero":      "warn",
		"v5/2.1.2-packet-type-0":       "warn", // implied
	} {
		if got := reaction(known(key)); got != want {
			t.Errorf("a breach of %s that is not detected is graded %q, want %q", key, got, want)
		}
	}
}
