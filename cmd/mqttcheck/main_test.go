package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// shardActs is the environment variable that makes a child of a test an actor
// with a part to play, in place of one that runs specs.
const shardActs = "MQTTCHECK_TEST_ACT"

// TestMain makes the test binary the program itself where it is started as a
// child of run, or as the command mqttcheck of a script.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == shardName {
		if os.Getenv(shardActs) != "" {
			act(os.Stdin, os.Stdout)
			os.Exit(0)
		}
		main()
	}
	testscript.Main(m, map[string]func(){"mqttcheck": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("MQTTCHECK_URL", "")
			for _, variables := range []map[string]string{strangers(t), transports(t)} {
				for name, value := range variables {
					env.Setenv(name, value)
				}
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "oneline": oneLineOnly},
	})
}
