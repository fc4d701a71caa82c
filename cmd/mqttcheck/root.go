package main

import (
	"fmt"
	"io"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// app is what every command has: the three streams of the process. Data goes
// to stdout, talk to stderr.
type app struct {
	args           []string // as typed, with the name of the program
	stdin          io.Reader
	stdout, stderr io.Writer
}

// mqttcheck is the whole program: it can run more than once in a process.
func mqttcheck(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{args: append([]string{"mqttcheck"}, args...), stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	code, message := exitCode(root.Execute())
	if message != "" {
		fmt.Fprintln(stderr, "mqttcheck:", oneLine(message))
	}
	return code
}

// root returns the root command with all others beneath it.
func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "mqttcheck",
		Short:         "Judges an MQTT broker, statement by statement",
		Long:          "mqttcheck says of every normative statement of MQTT 3.1.1 and 5.0 whether a broker\nkeeps it, with the packets that prove it.\n\n" + exitHelp,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	// -h is the host, as in mosquitto_pub: the help has no shorthand, also where
	// a command has no host.
	root.PersistentFlags().Bool("help", false, "show this help")
	root.SetVersionTemplate("mqttcheck {{.Version}}\n")
	root.Flags().Bool("version", false, "show the version")
	root.SetHelpCommand(&cobra.Command{Use: "no-help", Hidden: true})
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddGroup(
		&cobra.Group{ID: "check", Title: "Check a broker"},
		&cobra.Group{ID: "understand", Title: "Understand"},
		&cobra.Group{ID: "reports", Title: "Reports"},
		&cobra.Group{ID: "serve", Title: "Serve"},
	)
	root.AddCommand(a.commands()...)
	return root
}

// commands returns the commands in the order of the help.
func (a *app) commands() []*cobra.Command {
	return []*cobra.Command{
		a.runCommand(),
		a.fuzzCommand(),
		a.replayCommand(),
		a.listCommand(),
		a.explainCommand(),
		newReport(),
		a.serveCommand(),
		a.versionCommand(),
		a.shardCommand(),
	}
}

// noCommand refuses arguments of the root: what stands there is a command that
// does not exist.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return exitf(exitUsage, "there is no command %q; did you mean %q?", args[0], near[0])
	}
	return exitf(exitUsage, "there is no command %q; see mqttcheck --help", args[0])
}

// arguments bounds the number of arguments of a command; without any most there
// is no bound above. The message says what it takes.
func arguments(least, most int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most && (most > 0 || least == 0) {
			return exitf(exitUsage, "%s", message)
		}
		return nil
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Args:  arguments(0, 0, "version takes no arguments"),
		Run:   func(*cobra.Command, []string) { fmt.Fprintln(a.stdout, "mqttcheck", version()) },
	}
}

// version returns the version that Go stamped on the program.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
