package probe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// arrivals numbers the connections that ask whether the broker answers at all.
var arrivals atomic.Int64

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
	c, err := b.dial(url, "look", wire.NewTrace())
	if err != nil {
		var late interface{ Timeout() bool } // net.Error
		return !errors.Is(err, context.DeadlineExceeded) && !(errors.As(err, &late) && late.Timeout())
	}
	p := wire.Connect{CleanStart: true, KeepAlive: 600, ClientID: fmt.Sprintf("mc%sx%dl%d", b.RunID, b.Shard, arrivals.Add(1))}
	if b.Username != "" {
		p.Username = &b.Username
	}
	if b.Password != "" {
		p.Password = []byte(b.Password)
	}
	_ = c.conn.Send(p)
	_, status := c.conn.Take(time.Now().Add(b.Timeout), func(r wire.Received) bool { return r.Type == wire.CONNACK })
	if status == wire.Got {
		_ = c.conn.Send(wire.Disconnect{})
	}
	_ = c.conn.Close()
	return status != wire.TimedOut
}

// endsLate is awaitEnd's second look, when its wait has run out.
func (c *Client) endsLate() bool {
	ginkgo.GinkgoHelper()
	c.lookRound()
	return c.Gone()
}
