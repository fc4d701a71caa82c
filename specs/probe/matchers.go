package probe

import (
	"fmt"
	"sync"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"github.com/onsi/gomega/gcustom"
	"github.com/onsi/gomega/types"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// closeStep is how long a broker may take to close before a PINGREQ asks it
// whether it means to, and again after its answer.
const closeStep = 150 * time.Millisecond

// BeClosed succeeds for a Client whose network connection the broker ends; a
// reset counts. A broker that still answers a PINGREQ has not closed.
func BeClosed() types.GomegaMatcher {
	return gcustom.MakeMatcher(func(c *Client) (bool, error) { return c.closes() || c.endsLate(), nil }).
		WithTemplate("Expected\n    the connection {{.Actual.Name}} {{if .Failure}}{{.Actual.State}}{{end}}\n{{.To}} be closed by the broker")
}

// State tells in words whether the connection is open.
func (c *Client) State() string {
	if ended, why, _ := c.conn.Ended(); ended {
		return fmt.Sprintf("was ended (%v)", why)
	}
	return "stayed open"
}

// GomegaString is how a Client is shown in a failure. Gomega would else walk
// through all its fields, while the reader of its connection still fills them.
func (c *Client) GomegaString() string { return c.name + " " + c.State() }

// closes waits until the broker has ended the connection or shown that it
// will not.
func (c *Client) closes() bool {
	full := time.Now().Add(c.b.Timeout)
	if !c.accepted || len(c.tail) > 0 {
		return c.awaitEnd(c.b.Timeout)
	}
	if c.awaitEnd(min(closeStep, c.b.Timeout)) {
		return true
	}
	_ = c.conn.Send(wire.Pingreq{})
	_, status := c.conn.Take(full, func(r wire.Received) bool { return r.Type == wire.PINGRESP })
	if status == wire.Ended {
		return true
	}
	return c.awaitEnd(min(closeStep, c.b.Timeout))
}

// StillOpen returns the clients whose network connection the broker does not
// end: each is judged as BeClosed does, all at the same time.
func StillOpen(clients ...*Client) []*Client {
	ends := make([]bool, len(clients))
	var wg sync.WaitGroup
	for i, c := range clients {
		wg.Go(func() { ends[i] = c.closes() })
	}
	wg.Wait()
	var open []*Client
	for i, c := range clients {
		if !ends[i] && !c.endsLate() {
			open = append(open, c)
		}
	}
	return open
}

// BeAlive succeeds for a Client that the broker still answers.
func BeAlive() types.GomegaMatcher {
	return gcustom.MakeMatcher(func(c *Client) (bool, error) {
		c.Send(wire.Pingreq{})
		return c.Answer(wire.PINGRESP).Came, nil
	}).WithTemplate("Expected\n    the connection {{.Actual.Name}} {{if .Failure}}{{.Actual.State}}{{end}}\n{{.To}} answer a PINGREQ")
}

// BeA succeeds for an Answer that is a packet of the type.
func BeA(kind wire.Type) types.GomegaMatcher {
	return gcustom.MakeMatcher(func(a Answer) (bool, error) { return a.Came && a.Type == kind, nil }).
		WithTemplate("Expected\n    {{.Actual.GomegaString}}\n{{.To}} be a {{.Data}}", kind)
}

// BePacket succeeds for an Answer whose packet satisfies the matcher.
func BePacket(m types.GomegaMatcher) types.GomegaMatcher {
	return gomega.And(
		gcustom.MakeMatcher(func(a Answer) (bool, error) { return a.Came, nil }).
			WithTemplate("Expected\n    {{.Actual.GomegaString}}\n{{.To}} be a packet"),
		gomega.WithTransform(func(a Answer) wire.Packet { return a.Packet }, m))
}

// A Bystander is a client that has nothing to do with what a spec breaks.
type Bystander struct {
	client *Client
	topic  string
	qos    byte
}

// Bystander connects a client that is to notice nothing.
func (b *Broker) Bystander() *Bystander {
	ginkgo.GinkgoHelper()
	topic := b.Topic("bystander")
	client := b.Connect("bystander")
	// At QoS 0 a broker under load may shed what it likes.
	qos := min(1, client.MaximumQoS())
	client.subscribe(wire.Subscribe{Subscriptions: []wire.Subscription{{Filter: topic, QoS: qos}}}, true)
	return &Bystander{client: client, topic: topic, qos: qos}
}

// OthersUnharmed returns assertions on what the error of one client is to others:
// MQTT 3.1.1 advises that it be nothing to them, and MQTT 5.0 states it.
func (b *Broker) OthersUnharmed() gomega.Gomega {
	if b.V5() {
		return For("v5/4.13.1-other-sessions-unharmed")
	}
	return Warns("v311/4.8-transient-error-others")
}

// Unharmed asserts that the bystander is still connected and still gets its
// messages.
func (y *Bystander) Unharmed() {
	ginkgo.GinkgoHelper()
	judge := y.client.b.OthersUnharmed()
	judge.Expect(y.client).To(BeAlive(), "a client that did nothing wrong is served as before")
	still := wire.Publish{Topic: y.topic, QoS: y.qos, Payload: "still here"}
	if y.qos > 0 {
		still.ID = y.client.NextID()
	}
	y.client.Send(still)
	judge.Expect(y.client.Arrival()).To(BeA(wire.PUBLISH), "a client that did nothing wrong still gets its messages")
}

// BeEnded succeeds for a Client whose connection has ended, or ends within the
// wait, without asking the broker by a PINGREQ.
func BeEnded(wait time.Duration) types.GomegaMatcher {
	return gcustom.MakeMatcher(func(c *Client) (bool, error) { return c.awaitEnd(wait) || c.endsLate(), nil }).
		WithTemplate("Expected\n    the connection {{.Actual.Name}} {{if .Failure}}{{.Actual.State}}{{end}}\n{{.To}} have ended")
}
