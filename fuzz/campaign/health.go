package campaign

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/oracle"
)

// healthName names a client that nobody else is: one that took another over would
// be a conversation of its own.
func (c *campaign) healthName(what string) string {
	return fmt.Sprintf("mqttcheck-fuzz-health-%s-%s-%d", c.run, what, c.greeted.Add(1))
}

// health makes a round trip on a fresh connection.
func (c *campaign) health(ctx context.Context, name string, patience time.Duration) error {
	return oracle.Healthy(ctx, c.o.Address, c.o.Login, c.o.Versions[0], c.healthName(name), patience)
}

// watch looks after the broker's health until the campaign is over: a bystander
// that is there all along and a fresh client each have their round trips.
func (c *campaign) watch(ctx context.Context) {
	tick := time.NewTicker(healthEvery)
	defer tick.Stop()
	var died <-chan struct{}
	var by bystander
	defer by.leave()
	for n := 0; ; n++ {
		if c.process != nil {
			died = c.process.Done()
		}
		select {
		case <-ctx.Done():
			return
		case <-died:
			c.examineBroker(ctx)
		case <-tick.C:
			err := by.check(ctx, c, n)
			if (err != nil || c.health(ctx, fmt.Sprint(n), c.o.Patience) != nil) && ctx.Err() == nil &&
				!c.examineBroker(ctx) && err != nil && by.restarts == c.restarts() {
				// A broker that stood still for everybody harms nobody in particular.
				if err = by.client.RoundTrip(); err != nil {
					by.leave()
					c.blameBystander(ctx, err)
				}
			}
		}
	}
}

func (c *campaign) restarts() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.summary.Restarts
}

// bystander is a client that has no part in the conversations.
type bystander struct {
	client   *oracle.Client
	trips    int
	restarts int // of the broker, when it connected: what comes after one is another broker
}

// mostTrips of one connection: its packets are kept in memory.
const mostTrips = 400

// check has a round trip. A connection that could not be made is the business of
// the fresh client.
func (b *bystander) check(ctx context.Context, c *campaign, n int) error {
	restarts := c.restarts()
	if b.trips >= mostTrips || b.restarts != restarts {
		b.leave()
	}
	if b.client == nil {
		b.restarts = restarts
		b.client, _ = oracle.Join(ctx, c.o.Address, c.o.Login, c.o.Versions[0], c.healthName(fmt.Sprintf("bystander-%d", n)), c.o.Patience)
		b.trips = 0
		return nil
	}
	b.trips++
	return b.client.RoundTrip()
}

func (b *bystander) leave() {
	if b.client != nil {
		b.client.Leave()
	}
	b.client = nil
}

// blameBystander reports that a bystander was harmed by the conversations of
// others, with all that was sent.
func (c *campaign) blameBystander(ctx context.Context, err error) {
	f := oracle.Finding{Oracle: oracle.Hang, Key: "bystander", Text: "a bystander that keeps to the rules is harmed, and a fresh client is not: " + err.Error()}
	if strings.Contains(err.Error(), "ends the connection") {
		f.Oracle = oracle.Crash
	}
	c.talking.Lock()
	defer c.talking.Unlock()
	if ctx.Err() == nil && c.isNew(f.Name()) {
		c.blameAll(f, c.suspects())
	}
}

// unwell tells whether the broker gives a first sign of not being well.
func (c *campaign) unwell(ctx context.Context) bool {
	return c.died() || c.health(ctx, "doubt", c.o.Patience) != nil
}

// died tells whether the broker is a process of ours that has ended.
func (c *campaign) died() bool { return c.process != nil && c.process.Alive() != nil }

// awaitEnd gives a process of ours that takes no connection the time to end: its
// sockets are closed a little before.
func (c *campaign) awaitEnd() {
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	select {
	case <-c.process.Done():
	case <-timer.C:
	}
}

const endTime = time.Second

// ill tells what is wrong with the broker: dead, or without an answer twice in
// a row.
func (c *campaign) ill(ctx context.Context) (oracle.Finding, bool) {
	if c.died() {
		return c.crash(), true
	}
	var err error
	for n := range 2 {
		if err = c.health(ctx, fmt.Sprintf("again-%d", n), c.o.Patience); err == nil || ctx.Err() != nil {
			return oracle.Finding{}, false
		}
		if errors.Is(err, oracle.ErrNoConnection) && c.process != nil {
			c.awaitEnd()
			break
		}
	}
	if c.died() {
		return c.crash(), true
	}
	if errors.Is(err, oracle.ErrNoConnection) {
		return oracle.Finding{Oracle: oracle.Crash, Key: "no-connection", Text: err.Error()}, true
	}
	return oracle.Finding{Oracle: oracle.Hang, Key: "broker", Text: err.Error()}, true
}

// crash is the finding of a process that has ended: told apart from others by
// what it said at its end, and by the place in its code where it names one.
func (c *campaign) crash() oracle.Finding {
	end := c.hide(strings.TrimPrefix(c.process.Alive().Error(), "proc: "))
	f := oracle.Finding{Oracle: oracle.Crash, Key: "process", Text: end}
	said, place := lastWords(c.hide(c.process.LastOutput()))
	switch {
	case place != "":
		f.Key, f.Text = "process-"+place, end+": "+said+", in "+place
	case said != "":
		f.Key, f.Text = "process-"+digits.ReplaceAllString(said, "n"), end+": "+said
	case strings.Contains(end, "signal: "):
		_, signal, _ := strings.Cut(end, "signal: ")
		f.Key = "process-" + signal
	}
	return f
}

var (
	digits = regexp.MustCompile(`0x[0-9a-f]+|[0-9]+`)
	// signs begin the line in which a program says why it ends.
	signs = []string{"panic:", "fatal error:", "Assertion", "ERROR: AddressSanitizer", "runtime error:", "Segmentation fault", "Error: "}
	// goFrame and cFrame are lines of a stack that name a function.
	goFrame = regexp.MustCompile(`^([\w./*()-]+[.)][\w.*()\[\]]+)\(`)
	closure = regexp.MustCompile(`(\.func\d+)(\.\d+)*$`)
	cFrame  = regexp.MustCompile(`^\s*#\d+ 0x[0-9a-f]+ in (\S+)`)
)

// lastWords returns why a program ended, as it said itself, and the function in
// which it did.
func lastWords(output string) (said, place string) {
	lines := strings.Split(output, "\n")
	for i, line := range lines {
		if slices.ContainsFunc(signs, func(sign string) bool { return strings.Contains(line, sign) }) {
			return strings.TrimSpace(line), function(lines[i+1:])
		}
	}
	return "", ""
}

// function is the first function in a stack that is of the program itself.
func function(stack []string) string {
	for _, line := range stack {
		m := goFrame.FindStringSubmatch(line)
		if m == nil {
			m = cFrame.FindStringSubmatch(line)
		}
		if m != nil && !strings.HasPrefix(m[1], "runtime") && m[1] != "panic" {
			return closure.ReplaceAllString(m[1][strings.LastIndexByte(m[1], '/')+1:], "")
		}
	}
	return ""
}

// examineBroker finds out whether the broker is ill. Then it looks for the
// conversation that is to blame, if it can start the broker again, and ends the
// campaign if it cannot.
func (c *campaign) examineBroker(ctx context.Context) (ill bool) {
	c.talking.Lock()
	defer c.talking.Unlock()
	if ctx.Err() != nil {
		return false
	}
	f, ill := c.ill(ctx)
	if !ill {
		return false
	}
	suspects := c.suspects()
	fresh := c.isNew(f.Name())
	if c.process == nil {
		c.blameAll(f, suspects)
		c.gone = errors.New(f.Text)
		c.stop()
		return true
	}
	if err := c.restart(ctx); err != nil {
		c.blameAll(f, suspects)
		c.gone = err
		c.stop()
		return true
	}
	if fresh {
		c.blame(c.shrinks, f, suspects)
	}
	c.mu.Lock()
	c.summary.Restarts++
	clear(c.recent)
	c.mu.Unlock()
	c.usage.forget()
	return true
}

func (c *campaign) restart(ctx context.Context) error {
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), restartTime)
	defer cancel()
	return c.process.Restart(limit, true)
}

// restartTime bounds the start of the broker within a campaign.
const restartTime = 10 * time.Second
