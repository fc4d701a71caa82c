//go:build unix

package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// actor is the environment variable that makes the test binary a program for
// the tests to start.
const actor = "MQTTCHECK_PROC_TEST"

func TestMain(m *testing.M) {
	switch part, address, _ := strings.Cut(os.Getenv(actor), " "); part {
	case "listen", "child", "stubborn":
		listen(part, address)
	case "fail":
		fmt.Fprintln(os.Stderr, "cannot bind: the moon is in the way")
		os.Exit(7)
	case "silent":
		select {}
	case "noisy":
		line := strings.Repeat("x", 99)
		for range 5000 {
			fmt.Fprintln(os.Stderr, line)
		}
		fmt.Fprintln(os.Stderr, "last words")
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// listen accepts connections until it is killed. A "child" has a child of its
// own and prints its id; a "stubborn" one ignores SIGTERM.
func listen(part, address string) {
	if part == "child" {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), actor+"=silent")
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Start(); err != nil {
			panic(err)
		}
		fmt.Printf("child=%d\n", c.Process.Pid)
	}
	if part == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		panic(err)
	}
	for {
		nc, err := l.Accept()
		if err != nil {
			panic(err)
		}
		_ = nc.Close()
	}
}

// play returns the command of an actor and the address it was given.
func play(t *testing.T, part string) Command {
	t.Helper()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return Command{Args: []string{os.Args[0]}, Env: []string{actor + "=" + part + " " + address}, Address: address, Ready: 20 * time.Second}
}

func start(t *testing.T, c Command) *Process {
	t.Helper()
	p, err := Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

func TestStartWaitsForThePort(t *testing.T) {
	c := play(t, "listen")
	p := start(t, c)
	if !answers(context.Background(), c.Address) {
		t.Fatal("started, but the port is closed")
	}
	if err := p.Alive(); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := p.Alive(); err == nil || !strings.Contains(err.Error(), "signal: terminated") {
		t.Fatalf("after Stop Alive says %v", err)
	}
	if answers(context.Background(), c.Address) {
		t.Fatal("stopped, but the port is open")
	}
}

func TestDeathIsNoticedWithItsStatus(t *testing.T) {
	p := start(t, play(t, "listen"))
	if err := syscall.Kill(p.PID(), syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	case <-time.After(20 * time.Second):
		t.Fatal("the death was not noticed")
	}
	if err := p.Alive(); err == nil {
		t.Fatal("alive after its death")
	}
	if err := p.Kill(); err != nil {
		t.Fatalf("killing a dead process: %v", err)
	}
}

func TestRestartMakesANewProcess(t *testing.T) {
	for _, kill := range []bool{false, true} {
		p := start(t, play(t, "listen"))
		before := p.PID()
		if err := p.Restart(context.Background(), kill); err != nil {
			t.Fatalf("kill=%v: %v", kill, err)
		}
		if p.PID() == before {
			t.Fatalf("kill=%v: the same process", kill)
		}
		if err := p.Alive(); err != nil {
			t.Fatalf("kill=%v: %v", kill, err)
		}
	}
}

func TestUsageCountsWhatTheProcessTakes(t *testing.T) {
	p := start(t, play(t, "child"))
	u, err := p.Usage()
	if err != nil {
		t.Skip(err)
	}
	if u.Memory < 1<<20 || u.Descriptors < 6 || u.Threads < 4 {
		t.Errorf("two processes take %+v", u)
	}
	if !strings.Contains(p.LastOutput(), "child=") {
		t.Errorf("output of this life: %q", p.LastOutput())
	}
	if err := p.Restart(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	if strings.Count(p.LastOutput(), "child=") > 1 || strings.Count(p.Output(), "child=") < 1 {
		t.Errorf("of this life %q, of all %q", p.LastOutput(), p.Output())
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if u, err := p.Usage(); err == nil {
		t.Errorf("a dead process takes %+v", u)
	}
}

func TestStopKillsWhoIgnoresIt(t *testing.T) {
	c := play(t, "stubborn")
	c.Grace = 100 * time.Millisecond
	p := start(t, c)
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := p.Alive(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Fatalf("after Stop Alive says %v", err)
	}
}

func TestKillTakesTheChildrenAlong(t *testing.T) {
	p := start(t, play(t, "child"))
	_, rest, ok := strings.Cut(p.Output(), "child=")
	if !ok {
		t.Fatalf("no child in %q", p.Output())
	}
	pid, err := strconv.Atoi(strings.TrimSpace(rest))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	// Killed and not yet reaped is dead too.
	deadline := time.Now().Add(20 * time.Second)
	for running(pid) {
		if time.Now().After(deadline) {
			t.Fatalf("the child %d lives on", pid)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// running tells whether a process is there and no zombie.
func running(pid int) bool {
	status, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return syscall.Kill(pid, 0) == nil && !errors.Is(err, os.ErrNotExist)
	}
	_, after, _ := strings.Cut(string(status), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestStartFailsWithTheReason(t *testing.T) {
	c := play(t, "fail")
	_, err := Start(context.Background(), c)
	if err == nil || !strings.Contains(err.Error(), "exit 7") || !strings.Contains(err.Error(), "the moon is in the way") {
		t.Fatalf("got %v", err)
	}
	c = play(t, "silent")
	c.Ready = 100 * time.Millisecond
	if _, err := Start(context.Background(), c); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("one that never listens: %v", err)
	}
	if _, err := Start(context.Background(), Command{Args: []string{"/nonexistent/broker"}, Address: "127.0.0.1:1"}); err == nil {
		t.Fatal("a program that does not exist was started")
	}
}

func TestStartRefusesAnAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c := play(t, "listen")
	c.Address = l.Addr().String()
	if _, err := Start(context.Background(), c); !errors.Is(err, ErrInUse) {
		t.Fatalf("got %v", err)
	}
}

func TestOutputIsBounded(t *testing.T) {
	_, err := Start(context.Background(), play(t, "noisy"))
	if err == nil || !strings.Contains(err.Error(), "last words") {
		t.Fatalf("got %v", err)
	}
	var out tail
	for range 5000 {
		fmt.Fprintln(&out, strings.Repeat("x", 99))
	}
	fmt.Fprint(&out, "last words")
	text := out.String()
	if len(text) > maxHead+maxTail+100 || !strings.HasSuffix(text, "last words") || !strings.Contains(text, "bytes left out") {
		t.Fatalf("%d bytes, ends %q", len(text), text[len(text)-40:])
	}
}

func TestShellRunsALine(t *testing.T) {
	c := play(t, "listen")
	c.Args = Shell("exec " + os.Args[0] + " # and a comment")
	start(t, c)
}

func TestMosquitto(t *testing.T) {
	Need(t, "mosquitto")
	p, url, err := StartMosquitto(context.Background(), t.TempDir(), "max_keepalive 600")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if !strings.HasPrefix(url, "mqtt://127.0.0.1:") {
		t.Fatalf("URL %q", url)
	}
	if err := p.Restart(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}

// recorder is a TB that notes how a test would have ended.
type recorder struct{ skipped, failed string }

func (*recorder) Helper()                        {}
func (r *recorder) Skipf(f string, args ...any)  { r.skipped = fmt.Sprintf(f, args...) }
func (r *recorder) Fatalf(f string, args ...any) { r.failed = fmt.Sprintf(f, args...) }

func TestNeedSkipsOrFails(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(RequireEnv, "")
	var r recorder
	Need(&r, "no-such-broker")
	if want := "no-such-broker is not installed: apt-get install -y --no-install-recommends no-such-broker"; r.skipped != want || r.failed != "" {
		t.Fatalf("skipped %q, failed %q", r.skipped, r.failed)
	}
	t.Setenv(RequireEnv, "all")
	r = recorder{}
	Need(&r, "no-such-broker")
	if r.skipped == "" && r.failed == "" || !strings.Contains(r.failed, "MQTTCHECK_REQUIRE=all") {
		t.Fatalf("skipped %q, failed %q", r.skipped, r.failed)
	}
}
