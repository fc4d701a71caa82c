package packet

import (
	"fmt"
	"slices"
	"strings"
)

// Rule names a rule of format. The rules are the constants of the files
// rules_*.go; Rules lists them.
type Rule string

// RuleInfo describes a rule.
type RuleInfo struct {
	Rule Rule
	// Group is the rule that stands for a whole family, "" for none: whoever
	// tolerates the group tolerates its members too.
	Group Rule
	// Sentence says what the rule demands: lower case, without a full stop.
	Sentence string
	// Keys are the statements that the rule serves, as "v5/MQTT-3.3.1-4".
	Keys []string
}

// Rules returns all rules, in the order of the packets that they are about.
func Rules() []RuleInfo {
	all := slices.Concat(frameRules, connectRules, packetsRules, propertiesRules, twiceRules)
	for i := range all {
		all[i].Keys = slices.Clone(all[i].Keys)
	}
	return all
}

func keys(list string) []string { return strings.Fields(list) }

// groups has the group of each rule that is in one.
var groups = func() map[Rule]Rule {
	m := map[Rule]Rule{}
	for _, r := range Rules() {
		if r.Group != "" {
			m[r.Rule] = r.Group
		}
	}
	return m
}()

// Group returns the group that the rule belongs to, "" for none.
func (r Rule) Group() Rule { return groups[r] }

// tolerates asks for the rule and then for its group.
func tolerates(tolerate func(Rule) bool, r Rule) bool {
	if tolerate == nil {
		return false
	}
	group, grouped := groups[r]
	return tolerate(r) || grouped && tolerate(group)
}

// Error tells which rule a packet breaks.
type Error struct {
	Rule Rule
	Code ReasonCode // the Reason Code of MQTT 5.0 that fits best
	Text string     // what is wrong, for a Reason String: one clause, no details of the packet
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("packet: %s", e.Text) }
