package generate

import (
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A scene is the beginning of a conversation that turns by chance hardly come to:
// a client whose Session lasts goes away while something is under way, and comes
// back.

// scenes is the share of conversations, in percent, that begin with one.
const scenes = 12

// scene plays one, with two clients.
func (w *writer) scene() {
	first := w.IntN(len(w.clients))
	a, b := w.clients[first], w.clients[(first+1)%len(w.clients)]
	if w.chance(60) {
		w.absence(a, b)
	} else {
		w.repetition(a, b)
	}
}

// absence lets a subscriber go away that has not acknowledged what it got, or for
// which more comes meanwhile.
func (w *writer) absence(subscriber, publisher *client) {
	subscriber.version = w.versions[w.IntN(len(w.versions))]
	subscriber.lasting()
	w.rest(subscriber)
	topic := w.meet(subscriber)
	publisher.open()
	w.fence(publisher)
	if w.chance(60) && publisher.state == Connected {
		subscriber.hold = true
		w.step(script.Step{Client: subscriber.index, Op: script.Hold})
		w.publishTo(publisher, topic)
		w.fence(subscriber)
	}
	subscriber.vanish()
	if w.chance(60) && publisher.state == Connected {
		w.publishTo(publisher, topic)
	}
	subscriber.lasting()
	w.fence(subscriber)
}

// repetition lets a publisher go away that does not know whether its message has
// arrived, and send it again.
func (w *writer) repetition(publisher, subscriber *client) {
	subscriber.open()
	if subscriber.state != Connected {
		return
	}
	topic := w.meet(subscriber)
	publisher.version = w.versions[w.IntN(len(w.versions))]
	publisher.lasting()
	w.fence(publisher)
	for range 1 + w.IntN(2) {
		publisher.publishAt(topic, byte(1+w.IntN(2)))
	}
	publisher.vanish()
	publisher.lasting()
	w.rest(publisher)
	if w.chance(50) {
		publisher.release()
	}
}

// meet subscribes the client to something at QoS 1 or 2, and returns a topic that
// the filter matches.
func (w *writer) meet(c *client) (topic string) {
	topic = w.under([]string{"a", "a/b"}[w.IntN(2)])
	filter := topic
	if w.chance(30) {
		filter = w.under("#")
	}
	c.filters = append(c.filters, filter)
	c.send(wire.Subscribe{ID: c.freshID(), Subscriptions: []wire.Subscription{{Filter: filter, QoS: byte(1 + w.IntN(2))}}})
	w.fence(c)
	return topic
}

// publishTo publishes a few messages that arrive.
func (w *writer) publishTo(c *client, topic string) {
	for range 1 + w.IntN(3) {
		c.publishAt(topic, byte(1+w.IntN(2)))
	}
	w.fence(c)
}

func (c *client) publishAt(topic string, qos byte) {
	if c.quota++; c.quota > 8 {
		return
	}
	p := wire.Publish{Topic: topic, QoS: qos, ID: c.freshID(), Payload: c.w.payload()}
	if qos == 2 {
		c.open2 = append(c.open2, p.ID)
	}
	c.unacked = append(c.unacked, p)
	c.send(p)
}

// lasting connects the client, in the version that it has, to a Session that
// outlives the connection, or goes on with it.
func (c *client) lasting() {
	c.reset()
	c.state = Fresh
	c.w.step(script.Step{Client: c.index, Op: script.Open, Version: c.version})
	p := wire.Connect{KeepAlive: 600, ClientID: c.w.c.Prefix + "-" + script.Name(c.index)}
	if c.five() {
		p.Properties = wire.Properties{{ID: wire.SessionExpiryInterval, Int: []uint32{60, 0xffffffff}[c.w.IntN(2)]}}
	}
	if c.id != p.ClientID {
		c.filters, c.unacked = nil, nil
	}
	c.id = p.ClientID
	c.send(p)
	c.state = Connected
	c.resend()
}

// vanish ends the connection without a word, or leaves it to be taken over.
func (c *client) vanish() {
	switch c.w.IntN(3) {
	case 0:
		c.w.step(script.Step{Client: c.index, Op: script.Finish})
		c.state = Closed
	case 1:
		c.w.step(script.Step{Client: c.index, Op: script.Reset})
		c.state = Closed
	}
}
