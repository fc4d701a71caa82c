package peers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/internal/proc"
)

// readyTopic holds a retained message. It is the last subscription of every
// mosquitto_sub, which by this message says that it has subscribed: what else
// it says stays in its buffer.
const readyTopic = "ready"

// tools are Debian's command line clients, as one version of MQTT.
type tools struct {
	t        *testing.T
	url      string
	version  string // as -V takes it
	pub, sub string // paths of the programs
}

// eachVersion runs a test with the tools in both versions, each on a broker of
// its own.
func eachVersion(t *testing.T, run func(t *testing.T, m tools)) {
	pub, sub := proc.Need(t, "mosquitto_pub"), proc.Need(t, "mosquitto_sub")
	for _, version := range []string{"mqttv311", "mqttv5"} {
		t.Run(version, func(t *testing.T) {
			m := tools{t, startReference(t), version, pub, sub}
			m.publish(readyTopic, "subscribed", "-r")
			run(t, m)
		})
	}
}

// args are the arguments that address the broker, and more.
func (m tools) args(more ...string) []string {
	host, port, _ := strings.Cut(strings.TrimPrefix(m.url, "mqtt://"), ":")
	return append([]string{"-h", host, "-p", port, "-V", m.version}, more...)
}

// run runs a program to its end and returns what it printed.
func (m tools) run(program string, args ...string) string {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, m.args(args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
	return string(out)
}

func (m tools) publish(topic, payload string, args ...string) {
	m.t.Helper()
	m.run(m.pub, append([]string{"-t", topic, "-m", payload}, args...)...)
}

// subscriber is a running mosquitto_sub.
type subscriber struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // closed at the end of its output
}

// subscribe starts mosquitto_sub and waits until it has subscribed. It prints a line
// "topic payload qos retained" for each message.
func (m tools) subscribe(args ...string) *subscriber {
	m.t.Helper()
	args = append(args, "-t", readyTopic, "-F", "%t %p %q %r")
	s := &subscriber{t: m.t, cmd: exec.Command(m.sub, m.args(args...)...), lines: make(chan string, 1000)}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		m.t.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	if err := s.cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	ready := make(chan struct{})
	go s.listen(out, ready)
	m.t.Cleanup(s.kill)
	awaited(m.t, "the subscription of mosquitto_sub", ready)
	return s
}

func (s *subscriber) listen(out io.Reader, ready chan<- struct{}) {
	defer close(s.lines)
	for scanner := bufio.NewScanner(out); scanner.Scan(); {
		if line := scanner.Text(); strings.HasPrefix(line, readyTopic+" ") {
			close(ready)
		} else {
			s.lines <- line
		}
	}
}

// expect demands that these lines come, in this order.
func (s *subscriber) expect(want ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, w := range want {
		select {
		case got := <-s.lines:
			if got != w {
				s.t.Fatalf("mosquitto_sub printed %q, want %q", got, w)
			}
		case <-ctx.Done():
			s.t.Fatalf("mosquitto_sub did not print %q", w)
		}
	}
}

// kill ends it without a DISCONNECT.
func (s *subscriber) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

func TestMosquittoEveryQoS(t *testing.T) {
	eachVersion(t, func(t *testing.T, m tools) {
		s := m.subscribe("-q", "2", "-t", "tools/#")
		for qos := range 3 {
			m.publish("tools/x", fmt.Sprint("message", qos), "-q", fmt.Sprint(qos))
			s.expect(fmt.Sprintf("tools/x message%d %d 0", qos, qos))
		}
	})
}

func TestMosquittoRetained(t *testing.T) {
	eachVersion(t, func(t *testing.T, m tools) {
		m.publish("kept", "first", "-r", "-q", "1")
		m.publish("kept", "second", "-r", "-q", "1")
		s := m.subscribe("-q", "1", "-t", "kept")
		s.expect("kept second 1 1")
		m.publish("kept", "third", "-r", "-q", "1")
		s.expect("kept third 1 0")
		m.run(m.pub, "-t", "kept", "-r", "-n")
		m.publish("other", "there", "-r")
		m.subscribe("-t", "kept", "-t", "other").expect("other there 0 1")
	})
}

func TestMosquittoWill(t *testing.T) {
	eachVersion(t, func(t *testing.T, m tools) {
		s := m.subscribe("-q", "1", "-t", "wills/#")
		dying := m.subscribe("-t", "x", "--will-topic", "wills/dying", "--will-payload", "alas", "--will-qos", "1")
		dying.kill()
		s.expect("wills/dying alas 1 0")
	})
}

func TestMosquittoSessionResumes(t *testing.T) {
	eachVersion(t, func(t *testing.T, m tools) {
		// One QoS at a time: mosquitto_sub shows a message of QoS 2 at its
		// PUBREL, after later ones of QoS 1.
		for _, qos := range []string{"1", "2"} {
			keeper := []string{"-i", "keeper" + qos, "-c", "-q", qos, "-t", "queue" + qos}
			m.run(m.sub, append(keeper, "-E")...)
			for i := range 3 {
				m.publish("queue"+qos, fmt.Sprint("message", i), "-q", qos)
			}
			out := m.run(m.sub, append(keeper, "-C", "3", "-F", "%p %q")...)
			if want := fmt.Sprintf("message0 %[1]s\nmessage1 %[1]s\nmessage2 %[1]s\n", qos); out != want {
				t.Errorf("printed %q, want %q", out, want)
			}
		}
	})
}

func TestMosquittoSharedSubscription(t *testing.T) {
	eachVersion(t, func(t *testing.T, m tools) {
		one := m.subscribe("-q", "1", "-t", "$share/group/work")
		two := m.subscribe("-q", "1", "-t", "$share/group/work")
		const n = 6
		seen := map[string]int{}
		for i := range n {
			m.publish("work", fmt.Sprint(i), "-q", "1")
			select {
			case line := <-one.lines:
				seen[line]++
			case line := <-two.lines:
				seen[line]++
			case <-time.After(patience):
				t.Fatalf("message %d did not come", i)
			}
		}
		for i := range n {
			if line := fmt.Sprintf("work %d 1 0", i); seen[line] != 1 {
				t.Errorf("%q came %d times", line, seen[line])
			}
		}
	})
}

func TestMosquittoProperties(t *testing.T) {
	eachVersion(t, func(t *testing.T, m tools) {
		if m.version != "mqttv5" {
			t.Skip("MQTT 3.1.1 has no properties")
		}
		m.run(m.sub, "-i", "keeper", "-c", "-q", "1", "-t", "properties", "-E")
		m.publish("properties", "x", "-q", "1",
			"-D", "publish", "content-type", "text/plain", "-D", "publish", "response-topic", "answers",
			"-D", "publish", "correlation-data", "data", "-D", "publish", "payload-format-indicator", "1",
			"-D", "publish", "user-property", "name", "value", "-D", "publish", "message-expiry-interval", "600")
		out := m.run(m.sub, "-i", "keeper", "-c", "-q", "1", "-t", "properties", "-C", "1", "-F", "%C %R %D %F %P")
		if want := "text/plain answers data 1 name:value\n"; out != want {
			t.Errorf("printed %q, want %q", out, want)
		}
	})
}
