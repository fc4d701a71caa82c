package probe

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// stored is a session, or a will, that the broker may keep when its connection
// has ended.
type stored struct {
	url, id string
	version wire.Version
}

// place is a Topic Name at one of the brokers.
type place struct {
	url, topic string
	version    wire.Version
}

// note remembers what has to be taken away from the broker afterwards.
func (c *Client) note(p wire.Packet) {
	c.b.spec.enter()
	defer c.b.spec.mu.Unlock()
	switch p := p.(type) {
	case wire.Connect:
		c.connect = p
		retains := p.Will != nil && p.Will.Retain && p.Will.Topic != ""
		// A will that is retained is published at the latest when the cleaner
		// takes the session over, and not after its topic was cleared.
		if keepsSession(c.b.Version, p) || retains {
			c.noteSession(p.ClientID)
		}
		if retains {
			c.noteRetained(p.Will.Topic)
		}
	case wire.Publish:
		c.noteRetain(p)
	case wire.Disconnect:
		if e, ok := p.Properties.First(wire.SessionExpiryInterval); ok && e.Int > 0 {
			c.noteSession(c.connect.ClientID)
		}
	}
}

func (c *Client) noteSession(id string) {
	if id != "" {
		c.b.spec.sessions[stored{url: c.url, id: id, version: c.b.Version}] = true
	}
}

// noteRetained notes a message to be cleared. What stands on a $SYS topic may be
// the server's own: a spec that writes there puts it back itself.
func (c *Client) noteRetained(topic string) {
	if strings.HasPrefix(topic, "$SYS/") {
		return
	}
	c.b.spec.retained[place{url: c.url, topic: topic, version: c.b.Version}] = true
}

// noteRetain follows the Topic Aliases, under which a message may be retained.
func (c *Client) noteRetain(p wire.Publish) {
	topic := p.Topic
	if alias, ok := p.Properties.First(wire.TopicAlias); ok {
		if topic == "" {
			topic = c.aliases[alias.Int]
		} else {
			c.aliases[alias.Int] = topic
		}
	}
	if p.Retain && topic != "" {
		c.noteRetained(topic)
	}
}

// noteBytes is note for what is sent as bytes: a broker may take what the
// tester meant to be broken.
func (c *Client) noteBytes(frames [][]byte) {
	for _, f := range frames {
		// Surplus bytes behind its fields are no reason to overlook a packet.
		if p, _ := wire.Parse(f[0], wire.Body(f), c.b.Version); p != nil {
			c.note(p)
		}
	}
}

func keepsSession(v wire.Version, p wire.Connect) bool {
	if v != wire.V5 {
		return !p.CleanStart
	}
	e, ok := p.Properties.First(wire.SessionExpiryInterval)
	return ok && e.Int > 0
}

// noteAssigned notes the Session of a client whose Client Identifier the server
// has made.
func (c *Client) noteAssigned() {
	if c.connect.ClientID != "" || !keepsSession(c.b.Version, c.connect) {
		return
	}
	c.b.spec.mu.Lock()
	defer c.b.spec.mu.Unlock()
	// A server may have sent more than one.
	for _, r := range c.conn.All() {
		if ack, ok := r.Packet.(wire.Connack); ok {
			if id, given := ack.Properties.First(wire.AssignedClientIdentifier); given {
				c.noteSession(id.Str)
			}
		}
	}
}

// clean ends the sessions and clears the retained messages that the spec made.
// The body has come to rest: nobody else touches what it noted.
func (s *spec) clean(b *Broker) {
	for _, at := range slices.SortedFunc(maps.Keys(s.sessions), func(x, y stored) int { return strings.Compare(x.id, y.id) }) {
		if c := b.quiet(at.url, at.version, at.id); c != nil {
			c.leave()
		}
	}
	byBroker := map[place][]string{}
	for at := range s.retained {
		key := place{url: at.url, version: at.version}
		byBroker[key] = append(byBroker[key], at.topic)
	}
	for key, topics := range byBroker {
		var c *Client
		for _, topic := range topics {
			// A topic that no client may publish to ends the connection.
			if c == nil || c.Gone() {
				if c = b.quiet(key.url, key.version, b.ClientID()); c == nil {
					break
				}
			}
			c.clearRetained(topic)
		}
		if c != nil {
			c.leave()
		}
	}
}

// quiet connects for cleaning up: with a clean session, in no spec's trace,
// and nil where it does not succeed.
func (b *Broker) quiet(url string, v wire.Version, id string) *Client {
	c, err := b.greet(url, v, id)
	if err != nil {
		return nil
	}
	return c
}

// greet connects with a clean session, in no spec's trace, and waits for CONNACK
// or the end. The error says that there is no connection to speak on.
func (b *Broker) greet(url string, v wire.Version, id string) (*Client, error) {
	view := b.In(v)
	c, err := view.dial(url, "aside", wire.NewTrace())
	if err != nil {
		return nil, err
	}
	p := view.ConnectPacket(ID(id))
	if b.Users != nil && url == b.Variants["users"] {
		Credentials(b.Users.Username, b.Users.Password)(view, &p)
	}
	if err := c.conn.Send(p); err != nil {
		_ = c.conn.Close()
		return nil, err
	}
	c.take(b.Timeout, wire.CONNACK)
	return c, nil
}

// clearRetained publishes an empty retained message, at QoS 1 where the server
// takes that: it may drop what comes at QoS 0.
func (c *Client) clearRetained(topic string) {
	p := wire.Publish{Topic: topic, Retain: true}
	if c.MaximumQoS() > 0 {
		p.QoS, p.ID = 1, c.NextID()
	}
	_ = c.conn.Send(p, wire.Pingreq{})
	c.take(250*time.Millisecond, wire.PINGRESP)
}

func (c *Client) leave() {
	_ = c.conn.Send(wire.Disconnect{})
	c.awaitEnd(50 * time.Millisecond)
	_ = c.conn.Close()
}
