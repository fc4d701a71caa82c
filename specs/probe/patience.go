package probe

import (
	"context"
	"errors"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// lookRound is called when a wait has run out, before that accuses the broker:
// it makes a round trip on a new connection. A broker, or a machine between,
// that stands still for everybody for a moment has broken nothing: what came
// meanwhile counts as come, and where not even CONNACK comes the spec ends as
// inconclusive. How a broker fares that stays so is found out by the run, which
// asks for a sign of life.
func (c *Client) lookRound() {
	ginkgo.GinkgoHelper()
	if !c.b.answers(c.url) {
		Inconclusive("%s: the wait ran out, and a new client got no CONNACK within %s either: the broker answers nobody", c.name, c.b.Timeout)
	}
}

// answers tells whether the broker answers an ordinary CONNECT, in whatever way.
func (b *Broker) answers(url string) bool {
	c, err := b.greet(url, b.Version, b.ClientID())
	if err != nil {
		var late interface{ Timeout() bool } // net.Error
		return !errors.Is(err, context.DeadlineExceeded) && !(errors.As(err, &late) && late.Timeout())
	}
	_, came := c.conn.Find(func(r wire.Received) bool { return r.Type == wire.CONNACK })
	came = came || c.Gone()
	if came {
		_ = c.conn.Send(wire.Disconnect{})
	}
	_ = c.conn.Close()
	return came
}

// endsLate is awaitEnd's second look, when its wait has run out.
func (c *Client) endsLate() bool {
	ginkgo.GinkgoHelper()
	c.lookRound()
	return c.Gone()
}
