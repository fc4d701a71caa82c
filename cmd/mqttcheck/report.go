package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mqttcheck/mqttcheck/reports"
)

// newReport returns the command that renders a result.json again.
func newReport() *cobra.Command {
	var html, junit, markdown string
	var text bool
	cmd := &cobra.Command{
		Use:   "report RESULT.json",
		Short: "Render a result.json as HTML, JUnit, Markdown or text",
		Long: "Renders the result of an earlier run again, as run --json has written it. RESULT.json may\n" +
			"be - for standard input, FILE may be - for standard output. Without a flag it prints the\n" +
			"text report.",
		Example: "  mqttcheck report --html report.html result.json\n  mqttcheck report --markdown - result.json >> \"$GITHUB_STEP_SUMMARY\"",
		GroupID: "reports",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exitf(exitUsage, "report takes one result.json, not %d; write it with mqttcheck run --json result.json", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			outputs := []output{{html, reports.HTML}, {junit, reports.JUnit}, {markdown, reports.Markdown}}
			if html == "" && junit == "" && markdown == "" {
				text = true
			}
			if err := checkOutputs(cmd, outputs); err != nil {
				return err
			}
			result, err := readResult(cmd.InOrStdin(), args[0])
			if err != nil {
				return err
			}
			return render(cmd, result, outputs, text)
		},
	}
	cmd.Flags().StringVar(&html, "html", "", "write the HTML report to `FILE`")
	cmd.Flags().StringVar(&junit, "junit", "", "write the JUnit report to `FILE`")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write the Markdown report to `FILE`")
	cmd.Flags().BoolVar(&text, "text", false, "print the text report")
	return cmd
}

// output is one report to write and how.
type output struct {
	path   string // "" for none, "-" for standard output
	render func(io.Writer, reports.Result) error
}

// checkOutputs finds a path that cannot be written, or an empty one, before
// anything is done.
func checkOutputs(cmd *cobra.Command, outputs []output) error {
	for _, name := range []string{"html", "junit", "markdown"} {
		if f := cmd.Flags().Lookup(name); f.Changed && f.Value.String() == "" {
			return exitf(exitUsage, "--%s needs the path of a file", name)
		}
	}
	for _, o := range outputs {
		if o.path == "" || o.path == "-" {
			continue
		}
		if err := reports.CheckOutput(o.path); err != nil {
			return exitf(exitUsage, "%s", oneMessage(err))
		}
	}
	return nil
}

// readResult reads a result.json, or standard input.
func readResult(stdin io.Reader, path string) (reports.Result, error) {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			var fault *fs.PathError
			if errors.As(err, &fault) {
				err = fault.Err
			}
			return reports.Result{}, exitf(exitUsage, "%s: %w", path, err)
		}
		defer f.Close()
		in = f
	}
	result, err := reports.Read(in)
	if err != nil {
		return result, exitf(exitUsage, "%s: %s", path, oneMessage(err))
	}
	return result, nil
}

// render writes the outputs, and the text where that is asked for. One that
// cannot be written keeps none of the others back: what was measured is not
// lost to a full disk.
func render(cmd *cobra.Command, result reports.Result, outputs []output, text bool) error {
	stdout := cmd.OutOrStdout()
	var failed []string
	for _, o := range outputs {
		var err error
		switch o.path {
		case "":
		case "-":
			err = o.render(stdout, result)
		default:
			err = reports.WriteFile(o.path, func(w io.Writer) error { return o.render(w, result) })
		}
		if err != nil {
			failed = append(failed, oneMessage(err))
		}
	}
	if text {
		f, isFile := stdout.(*os.File)
		if err := reports.Text(stdout, result, reports.TextOptions{Color: isFile && reports.ColorWanted(f)}); err != nil {
			failed = append(failed, oneMessage(err))
		}
	}
	if len(failed) > 0 {
		return exitf(exitUsage, "%s", strings.Join(failed, "; "))
	}
	return nil
}

// oneMessage returns the text of an error without the name of the package,
// which says nothing to a user.
func oneMessage(err error) string { return strings.TrimPrefix(err.Error(), "reports: ") }
