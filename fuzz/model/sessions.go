package model

import (
	"fmt"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// chain links the connections of each client to those whose Sessions they may
// resume.
func (h *history) chain() {
	last := map[string]*conn{}
	for _, c := range h.byConnect() {
		if c.id == "" {
			c.id = fmt.Sprintf("\x00%d", c.index) // nobody else has it
		}
		if old := last[c.id]; old != nil {
			if old.accepted > c.asked && !old.refused || old.muddled {
				// A CONNECT that got no answer may be dealt with at any time.
				old.muddled, c.muddled = true, true
			}
			c.before = old
		}
		last[c.id] = c
	}
}

// byConnect returns the connections with a CONNECT in the order of it.
func (h *history) byConnect() []*conn {
	var list []*conn
	for _, c := range h.conns {
		if c.connect == nil {
			continue
		}
		i := len(list)
		for i > 0 && list[i-1].asked > c.asked {
			i--
		}
		list = append(list[:i], append([]*conn{c}, list[i:]...)...)
	}
	return list
}

// over is the place at which the connection had surely ended.
func (c *conn) over() int { return min(c.cut, c.ended) }

// clean tells whether the CONNECT begins a new Session.
func (c *conn) clean() bool { return c.connect.CleanStart }

// lifetime returns the seconds that the Session outlives its connection, as
// far as the client has asked for them.
func (c *conn) lifetime() uint32 {
	if c.version != wire.V5 {
		if c.clean() {
			return 0
		}
		return 0xffffffff
	}
	if own, given := c.connack.Properties.First(wire.SessionExpiryInterval); given {
		return own.Int
	}
	return c.connect.Properties.Number(wire.SessionExpiryInterval, 0)
}

// mayResume tells whether c may go on with the Session of the connection
// before it. A CONNECT that got no answer may never have been seen.
func (c *conn) mayResume() bool {
	return c.before != nil && (!c.clean() || c.muddled || c.accepted == never) &&
		(c.before.lifetime() > 0 || c.muddled || c.before.taint < never || c.before.accepted == never)
}

// reuses tells whether the Session that c uses may have been made by d, or by a
// connection before it.
func (c *conn) reuses(d *conn) bool {
	for x := c; x != nil; x = x.before {
		if x == d {
			return true
		}
		if !x.mayResume() {
			break
		}
	}
	return c.muddled && c.id == d.id
}

// alone tells whether no other connection of the conversation has the Client
// Identifier.
func (h *history) alone(c *conn) bool {
	for _, d := range h.conns {
		if d != c && d.connect != nil && d.id == c.id {
			return false
		}
	}
	return true
}

// sessions judges Session Present [sections 3.1.2.4 and 3.2.2].
func (h *history) sessions(j *judgement) {
	for _, c := range h.conns {
		if c.connect == nil || c.accepted == never || c.taint < c.accepted || c.muddled {
			continue
		}
		present := c.connack.SessionPresent()
		switch {
		case present && c.clean():
			j.find(c, c.accepted, "session-present-clean", "CONNACK says Session Present, and the client asked for a new Session")
		case present && c.before == nil && c.id[0] != 0:
			j.find(c, c.accepted, "session-present-unknown", "CONNACK says Session Present, and no client had this Client Identifier before")
		case !present && !c.clean() && h.surelyStored(c):
			j.find(c, c.accepted, "session-lost", "CONNACK says no Session is present, and the client has one")
		}
	}
}

// surelyStored tells whether the Session of the connection before c is there
// for certain.
func (h *history) surelyStored(c *conn) bool {
	old := c.before
	if old == nil || old.muddled || old.accepted >= c.asked || old.taint < never || old.lifetime() < 60 {
		return false
	}
	for _, d := range h.conns {
		if d.id == c.id && d.taint < never {
			return false
		}
	}
	return true
}
