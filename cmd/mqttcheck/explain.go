package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

func (a *app) explainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "explain STATEMENT",
		Short:   "Show a statement, its checks and its defects",
		GroupID: "understand",
		Example: "  mqttcheck explain v5/MQTT-3.3.1-3",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exitf(exitUsage, "explain takes one statement, such as v5/MQTT-3.3.1-3, not %d", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			st, ok := normative.Lookup(args[0])
			if !ok {
				if s, err := target.ParseSelector(args[0]); err == nil {
					if _, err := keysOf([]target.Selector{s}); err == nil {
						return exitf(exitUsage, "%s is more than one statement: mqttcheck list %s shows them", s.Text, s.Text)
					}
				}
				return exitf(exitUsage, "%s", unknownStatement(args[0]))
			}
			explain(a.stdout, st, checksOf(allChecks(), st.Key), defectsOf(st.Key))
			return nil
		},
	}
}

// defect is a defect of the reference broker as explain shows it.
type defect struct{ name, sentence string }

// explain writes all that the catalogue knows of a statement.
func explain(w io.Writer, st normative.Statement, checks []check, defects []defect) {
	fmt.Fprintf(w, "%s  %s · section %s %s of MQTT %s\n\n", st.Key, st.Level(), st.Section, st.Title, numberOf(st.Version))
	for _, line := range wrapText(st.Summary, 96) {
		fmt.Fprintf(w, "  %s\n", line)
	}
	fmt.Fprintln(w)
	field := func(name, text string) {
		for i, line := range wrapText(text, 80) {
			if i > 0 {
				name = ""
			}
			fmt.Fprintf(w, "  %-14s%s\n", name, line)
		}
	}
	field("Binds", st.Actor)
	field("Observable", observable(st))
	if st.Basis != "" {
		field("Basis", st.Basis+": what binds the server when a client breaks it")
	}
	if len(st.Counterparts) > 0 {
		field("Counterparts", strings.Join(st.Counterparts, ", "))
	}
	if len(st.DuplicateOf) > 0 {
		field("Same as", strings.Join(st.DuplicateOf, ", "))
	}
	name := "Checks"
	for _, c := range checks {
		field(name, c.Name+" ("+c.Source+")"+marks(c))
		name = ""
	}
	for _, check := range everywhere(st, len(checks)) {
		field(name, check)
		name = ""
	}
	if name != "" {
		field(name, "none")
	}
	name = "Defects"
	for _, d := range defects {
		field(name, d.name+": "+d.sentence)
		name = ""
	}
	if len(defects) == 0 {
		field(name, "none")
	}
}

// observable says whether a client can see at a broker if the statement is
// kept, and what that takes.
func observable(st normative.Statement) string {
	switch st.Testable {
	case "broker":
		return "yes"
	case "timing":
		return "yes, by waiting"
	case "config":
		return "with a broker that is configured for it"
	case "restart":
		return "with a broker that can be restarted"
	case "client":
		return strings.TrimSuffix("no, it binds clients only: "+st.Reason, ": ")
	default:
		return strings.TrimSuffix("no: "+st.Reason, ": ")
	}
}

// marks says what is special about when a check runs.
func marks(c check) string {
	var out []string
	if c.Timing {
		out = append(out, "waits")
	}
	if c.Slow {
		out = append(out, "with --slow only")
	}
	if c.Serial {
		out = append(out, "alone")
	}
	if len(out) == 0 {
		return ""
	}
	return " [" + strings.Join(out, ", ") + "]"
}

// wrapText breaks a text into lines of at most width bytes, at spaces.
func wrapText(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
