package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// RequireEnv is the environment variable that makes a missing program a
// failure of the test that needs it: MQTTCHECK_REQUIRE=all.
const RequireEnv = "MQTTCHECK_REQUIRE"

// packages are the Debian packages of the programs that tests use.
var packages = map[string]string{
	"mosquitto":     "mosquitto",
	"mosquitto_pub": "mosquitto-clients",
	"mosquitto_sub": "mosquitto-clients",
	"cc":            "gcc libc6-dev",
}

// Missing is the error of Find for a program that is not installed.
type Missing struct {
	Program string
	Install string // the line that installs it
}

// Error says what is missing and how to install it.
func (m *Missing) Error() string {
	return fmt.Sprintf("%s is not installed: %s", m.Program, m.Install)
}

// Find returns the path of a program, and *Missing when there is none. It also
// looks where Debian puts servers, which need not be in PATH.
func Find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil {
			return path, nil
		}
	}
	pkg, ok := packages[program]
	if !ok {
		pkg = program
	}
	return "", &Missing{Program: program, Install: "apt-get install -y --no-install-recommends " + pkg}
}

// TB is what Need uses of a testing.TB.
type TB interface {
	Helper()
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Need returns the path of a program that a test needs. Without the program
// the test is skipped with the reason, or fails under MQTTCHECK_REQUIRE=all.
func Need(t TB, program string) string {
	t.Helper()
	path, err := Find(program)
	if err != nil {
		if os.Getenv(RequireEnv) == "all" {
			t.Fatalf("%v (%s=all)", err, RequireEnv)
		}
		t.Skipf("%v", err)
	}
	return path
}
