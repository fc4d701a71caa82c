package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/internal/target"
	"github.com/mqttcheck/mqttcheck/reports"
	"github.com/mqttcheck/mqttcheck/specs/normative"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// listed is one statement in the output of list.
type listed struct {
	ID          string   `json:"id"`
	Section     string   `json:"section"`
	Title       string   `json:"title"`
	Level       string   `json:"level"`
	Actor       string   `json:"actor"`
	Testability string   `json:"testability"`
	Summary     string   `json:"summary"`
	State       string   `json:"state"`  // "checked", "client only", "not observable" or "untested"
	Reason      string   `json:"reason"` // why there is no check
	Checks      []string `json:"checks"` // names
}

// The states of a statement in the catalogue.
const (
	stateChecked       = "checked"
	stateClientOnly    = "client only"
	stateNotObservable = "not observable"
	stateUntested      = "untested"
)

func (a *app) listCommand() *cobra.Command {
	var versionFlag []string
	var untested bool
	var path string
	cmd := &cobra.Command{
		Use:     "list [SELECTOR...]",
		Short:   "List the statements and their checks",
		GroupID: "understand",
		Long: "Lists the statements of the specification, or those that the selectors name: v5 is a\n" +
			"version, v5/3.3 a section, v5/MQTT-3.3.1-4 a statement. A key that begins with the number\n" +
			"of a section names a requirement to which the text gives none.\n\n" +
			"The level is the word of the text: MUST, SHOULD or MAY. What has a number but none of\n" +
			"them, and what the text calls an error, counts as MUST; STATED is what else it says.",
		Example: "  mqttcheck list v5/3.3\n  mqttcheck list -V 3.1.1 --untested\n  mqttcheck list --json statements.json",
		RunE: func(cmd *cobra.Command, args []string) error {
			keys, err := parseVersions(versionFlag)
			if err != nil {
				return err
			}
			rows, err := catalogue(keys, args, untested)
			if err != nil {
				return err
			}
			return a.printList(cmd, rows, path)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVarP(&versionFlag, "protocol-version", "V", nil, "`VERSIONS` to list: 3.1.1, 5 (default: both)")
	flags.BoolVar(&untested, "untested", false, "only what could be checked and is not")
	flags.StringVar(&path, "json", "", "write the list as JSON to `FILE`, or - for stdout")
	return cmd
}

// catalogue returns the statements of versions (all, when there are none) that
// the selectors name.
func catalogue(versionKeys, args []string, untested bool) ([]listed, error) {
	var selectors []target.Selector
	for _, arg := range args {
		s, err := target.ParseSelector(arg)
		if err != nil {
			return nil, exitf(exitUsage, "%w", err)
		}
		selectors = append(selectors, s)
	}
	wanted, err := keysOf(selectors)
	if err != nil {
		return nil, exitf(exitUsage, "%w", err)
	}
	checks := allChecks()
	rows := []listed{}
	for _, st := range normative.All(versionKeys...) {
		row := listedOf(st, checks)
		if (len(selectors) == 0 || wanted[st.Key]) && (!untested || row.State == stateUntested) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// standingKeys are the statements that every packet of the broker is judged by.
var standingKeys = append(wire.StandingKeys(wire.V311), wire.StandingKeys(wire.V5)...)

// everywhere returns what is judged, or noted, of a statement in whatever spec,
// besides so many checks of its own.
func everywhere(st normative.Statement, own int) []string {
	switch {
	case slices.Contains(standingKeys, st.Key):
		return []string{reports.StandingCheck}
	case own == 0 && st.IsReasonCode():
		return []string{reports.SentCheck}
	}
	return nil
}

func listedOf(st normative.Statement, all []check) listed {
	row := listed{
		ID: st.Key, Section: st.Section, Title: st.Title, Level: st.Level(), Actor: st.Actor,
		Testability: st.Testable, Summary: st.Summary, Reason: st.Reason, Checks: names(checksOf(all, st.Key)),
	}
	row.Checks = append(row.Checks, everywhere(st, len(row.Checks))...)
	switch {
	case len(row.Checks) > 0:
		row.State = stateChecked
	case st.Testable == "client":
		row.State = stateClientOnly
	case st.Testable == "none":
		row.State = stateNotObservable
	default:
		row.State = stateUntested
	}
	return row
}

func (a *app) printList(cmd *cobra.Command, rows []listed, path string) error {
	asJSON := func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", " ")
		return enc.Encode(rows)
	}
	switch {
	case cmd.Flags().Changed("json") && path == "":
		return exitf(exitUsage, "--json needs the path of a file")
	case path == "-":
		return asJSON(a.stdout)
	case path != "":
		if err := reports.CheckOutput(path); err != nil {
			return exitf(exitUsage, "%s", oneMessage(err))
		}
		if err := reports.WriteFile(path, asJSON); err != nil {
			return exitf(exitUsage, "%s", oneMessage(err))
		}
		return nil
	}
	wide := 0
	for _, row := range rows {
		wide = max(wide, len(row.ID))
	}
	for _, row := range rows {
		state := row.State
		if n := len(row.Checks); n > 0 {
			state = fmt.Sprintf("%d checks", n)
			if n == 1 {
				state = "1 check"
			}
		}
		fmt.Fprintf(a.stdout, "%-*s  %-10s  %-14s  %s\n", wide, row.ID, row.Level, state, row.Summary)
	}
	counts := map[string]int{}
	for _, row := range rows {
		counts[row.State]++
	}
	line := fmt.Sprintf("%d statements", len(rows))
	for _, state := range []string{stateChecked, stateUntested, stateClientOnly, stateNotObservable} {
		if counts[state] > 0 {
			line += fmt.Sprintf(", %d %s", counts[state], state)
		}
	}
	fmt.Fprintln(a.stderr, line)
	return nil
}
