package oracle

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// ErrNoConnection says that the broker takes no connection.
var ErrNoConnection = errors.New("the broker takes no connection")

// Client is a client that keeps to the rules, to see whether the broker serves
// one: a fresh one each time, or a bystander that is there all along.
type Client struct {
	conn     *wire.Conn
	name     string
	qos      byte // that the broker takes
	id       uint16
	patience time.Duration
}

// Join connects a client and subscribes to the topic of its name.
func Join(ctx context.Context, address wire.Address, login *play.Login, v wire.Version, name string, patience time.Duration) (*Client, error) {
	dialing, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := wire.Dial(dialing, address, wire.Options{Name: name, Version: v})
	if err != nil {
		return nil, ErrNoConnection
	}
	c := &Client{conn: conn, name: name, qos: 2, patience: patience}
	_ = conn.Send(login.Into(wire.Connect{CleanStart: true, KeepAlive: 600, ClientID: name}))
	got, err := c.await(wire.CONNACK)
	if ack, ok := got.Packet.(wire.Connack); ok && ack.Code != 0 {
		err = fmt.Errorf("a client is refused with CONNACK 0x%02x", ack.Code)
	} else if ok {
		c.qos = byte(ack.Properties.Number(wire.MaximumQoS, 2))
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	_ = conn.Send(wire.Subscribe{ID: c.next(), Subscriptions: []wire.Subscription{{Filter: name, QoS: c.qos}}})
	if _, err := c.await(wire.SUBACK); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return c, nil
}

// RoundTrip publishes a message to the client itself, at QoS 2 where the broker
// takes that, and sees the exchange and a PINGREQ answered.
func (c *Client) RoundTrip() error {
	p := wire.Publish{Topic: c.name, QoS: c.qos, Payload: c.name}
	if c.qos > 0 {
		p.ID = c.next()
	}
	_ = c.conn.Send(p)
	switch c.qos {
	case 1:
		if _, err := c.await(wire.PUBACK); err != nil {
			return err
		}
	case 2:
		if _, err := c.await(wire.PUBREC); err != nil {
			return err
		}
		_ = c.conn.Send(wire.Ack{Type: wire.PUBREL, ID: p.ID})
		if _, err := c.await(wire.PUBCOMP); err != nil {
			return err
		}
	}
	_ = c.conn.Send(wire.Pingreq{})
	_, err := c.await(wire.PINGRESP)
	return err
}

// await waits for a packet of a kind, and acknowledges what is delivered
// meanwhile.
func (c *Client) await(kind wire.Type) (wire.Received, error) {
	deadline := time.Now().Add(c.patience)
	for {
		got, status := c.conn.Take(deadline, func(wire.Received) bool { return true })
		switch {
		case status == wire.Ended:
			return got, fmt.Errorf("the broker ends the connection of a client that waits for %s", kind)
		case status == wire.TimedOut:
			return got, fmt.Errorf("a client gets no %s within %s", kind, c.patience)
		}
		c.acknowledge(got)
		if got.Type == kind {
			return got, nil
		}
	}
}

func (c *Client) acknowledge(got wire.Received) {
	switch p := got.Packet.(type) {
	case wire.Publish:
		switch p.QoS {
		case 1:
			_ = c.conn.Send(wire.Ack{Type: wire.PUBACK, ID: p.ID})
		case 2:
			_ = c.conn.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})
		}
	case wire.Ack:
		if p.Type == wire.PUBREL {
			_ = c.conn.Send(wire.Ack{Type: wire.PUBCOMP, ID: p.ID})
		}
	}
}

func (c *Client) next() uint16 {
	if c.id++; c.id == 0 {
		c.id = 1
	}
	return c.id
}

// Leave ends the connection.
func (c *Client) Leave() {
	_ = c.conn.Send(wire.Disconnect{})
	_ = c.conn.Close()
}

// Healthy makes a round trip on a fresh connection. The error says what went
// wrong.
func Healthy(ctx context.Context, address wire.Address, login *play.Login, v wire.Version, name string, patience time.Duration) error {
	c, err := Join(ctx, address, login, v, name, patience)
	if err == nil {
		err = c.RoundTrip()
		c.Leave()
	}
	if ctx.Err() != nil {
		return nil // what was broken off proves nothing
	}
	return err
}
