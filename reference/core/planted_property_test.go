package core

import (
	"strings"
	"testing"
)

// The properties are worth something: each finds these defects, and shows them
// by a short script.
func TestPropertiesFindDefects(t *testing.T) {
	for _, c := range []struct {
		search  func(*testing.T) string
		defects string
	}{
		{flowsProperty.search, "pubrec-forgotten qos2-repeated-delivered qos1-forgotten inbound-qos2-forgotten packet-id-constant qos2-forgotten"},
		{lifeProperty.search, "will-despite-return will-delay-ignored session-never-expires session-lost-on-drop"},
		{retainedProperty.search, "retain-first-kept retain-qos-lost retain-plain-stored"},
		{groupProperty.search, "share-to-all share-not-handed-on"},
		{quotaProperty.search, "receive-maximum-off-by-one quota-lost-by-failing-puback resends-unlimited"},
		{aliasesProperty.search, "alias-never-changed alias-not-set-at-qos-0 alias-forgotten-once-used last-alias-refused one-alias-too-many aliases-from-0 alias-given-twice one-alias-table server-aliases-carried-over"},
	} {
		for defect := range strings.FieldsSeq(c.defects) {
			t.Run(defect, func(t *testing.T) {
				planted = defect
				defer func() { planted = "" }()
				found := c.search(t)
				lines := 0
				for line := range strings.Lines(found) {
					if !strings.HasPrefix(line, "\t") {
						lines++
					}
				}
				if found == "" || lines > 32 {
					t.Errorf("%d lines:\n%s", lines, found)
				}
			})
		}
	}
}
