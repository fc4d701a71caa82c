package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// delivery is a message on its way to one client.
type delivery struct {
	message   *message
	qos       byte
	retain    bool
	welcome   bool            // because a subscription is new
	subs      []*subscription // because of which it is sent
	subIDs    []uint32        // their identifiers
	share     *share          // the shared subscription it came by, or nil
	id        uint16          // Packet Identifier once it is sent at QoS 1 or 2
	sent      bool
	released  uint64 // at QoS 2: PUBREC came, as the n-th; PUBREL is what is sent again
	finished  bool
	queued    bool
	firstSent uint64     // as the n-th of its Session
	saved     *savedMark // nil unless the server is durable
	on        *conn      // the connection whose send quota it takes from, or nil
}

// inbox is the receiving half of a Session: the Packet Identifiers of QoS 2
// messages that await PUBREL.
// [v311/3.1.2.4-inbound-qos2-in-session] [v5/4.1-qos2-receiver-state]
type inbox struct {
	pending map[uint16]bool
	held    map[uint16]*message // not passed on yet
	note    func(id uint16)     // of what has changed, or nil
}

// await enters a Packet Identifier, with the message if that is held.
func (in *inbox) await(id uint16, held *message) {
	in.pending[id] = true
	if held != nil {
		in.held[id] = held
	}
	if in.note != nil {
		in.note(id)
	}
}

// settle takes a Packet Identifier out.
func (in *inbox) settle(id uint16) {
	delete(in.pending, id)
	if in.note != nil {
		in.note(id)
	}
}

func newInbox() inbox { return inbox{pending: map[uint16]bool{}, held: map[uint16]*message{}} }

// outbox is the sending half of a Session. Its Packet Identifiers have nothing
// to do with the client's.
// [v311/2.3.1-directions-independent] [v5/2.2.1-identifier-directions-independent]
type outbox struct {
	queue      []*delivery // not sent yet
	queueBytes int
	queued0    int                  // those at QoS 0 among them
	open       []*delivery          // sent and not finished, in the order of their first sending
	byID       map[uint16]*delivery // the same
	resend     []*delivery          // those of open that are to be sent again
	nextID     uint16
	releases   uint64
	starts     uint64
	note       func(*delivery) // of what has changed, or nil
}

// changed takes note of a change of a delivery.
func (o *outbox) changed(d *delivery) {
	if o.note != nil {
		o.note(d)
	}
}

func newOutbox() outbox { return outbox{byID: map[uint16]*delivery{}} }

// push queues a delivery, within the bounds; it reports whether there was room.
func (o *outbox) push(d *delivery) bool {
	n := len(d.message.payload)
	if len(o.queue)+len(o.byID) >= maxQueue || o.queueBytes+n > maxQueueBytes {
		return false
	}
	o.queue = append(o.queue, d)
	o.queueBytes += n
	if d.qos == 0 {
		o.queued0++
	}
	d.queued = true
	o.changed(d)
	return true
}

// remove takes the i-th delivery out of the queue.
func (o *outbox) remove(i int) *delivery {
	d := o.queue[i]
	if i == 0 {
		o.queue[0] = nil
		o.queue = o.queue[1:]
	} else {
		o.queue = slices.Delete(o.queue, i, i+1)
	}
	o.queueBytes -= len(d.message.payload)
	if d.qos == 0 {
		o.queued0--
	}
	d.queued = false
	o.changed(d)
	return d
}

// start gives a delivery a Packet Identifier that no open one uses; it
// reports whether there was one.
// [v311/MQTT-2.3.1-1] [v311/MQTT-2.3.1-4] [v5/MQTT-2.2.1-4] [v5/MQTT-4.3.2-1] [v5/MQTT-4.3.3-1]
func (o *outbox) start(d *delivery, c *conn, r *rules) bool {
	if len(o.byID) >= 65535 {
		return false
	}
	for d.id == 0 || !r.freeID(o, d.id) {
		o.nextID++
		d.id = o.nextID
	}
	d.id = r.packetID(d.id)
	d.takeQuota(c)
	o.byID[d.id] = d
	o.open = append(o.open, d)
	o.starts++
	d.firstSent = o.starts
	o.changed(d)
	return true
}

// finish ends an exchange: the Packet Identifier is free again.
// [v311/4.3.2-identifier-reuse] [v5/2.2.1-identifier-reuse]
func (o *outbox) finish(d *delivery) {
	d.finished = true
	d.returnQuota()
	o.changed(d)
	if o.byID[d.id] == d {
		delete(o.byID, d.id)
	}
	for len(o.open) > 0 && o.open[0].finished {
		o.open[0] = nil
		o.open = o.open[1:]
	}
	if len(o.open) > 2*len(o.byID)+16 {
		o.open = slices.DeleteFunc(o.open, func(d *delivery) bool { return d.finished })
	}
}

// done takes a delivery as sent, although nothing was: one at QoS 1 or 2 is
// finished. [v5/MQTT-3.1.2-25]
func (o *outbox) done(d *delivery) {
	if d.qos > 0 {
		o.finish(d)
	}
}

// takeQuota takes one from the send quota of the connection that a PUBLISH is
// sent on; returnQuota gives it back, once.
func (d *delivery) takeQuota(c *conn) {
	d.on = c
	c.inFlight++
}

func (d *delivery) returnQuota() {
	if d.on != nil {
		d.on.inFlight--
		d.on = nil
	}
}

// detach forgets what need not outlive the connection: QoS 0 messages.
// [v311/3.1.2.4-qos0-offline] [v5/4.1-qos0-offline-optional]
func (o *outbox) detach(keepQoS0 bool) {
	o.resend = nil
	for i := 0; !keepQoS0 && i < len(o.queue); {
		if o.queue[i].qos == 0 {
			o.remove(i)
		} else {
			i++
		}
	}
}

// publishAtLeastOnce is the receiving half of the QoS 1 exchange.
// [v311/MQTT-4.3.2-2] [v5/MQTT-4.3.2-4] [v5/MQTT-4.3.2-5] [v5/4.3.2-ownership]
// [v311/MQTT-2.3.1-6] [v5/MQTT-2.2.1-5]
func (s *Server) publishAtLeastOnce(c *conn, p *packet.Publish, m *message) {
	if !s.withinReceiveMaximum(c, p) {
		return
	}
	ack := &packet.Ack{Kind: packet.PUBACK, ID: s.rules.ackID(p.ID)}
	s.acknowledging(c, ack, func() {
		if s.rules.takesAsNew(c, p) {
			ack.Code = s.resultCode(c, s.route(m))
		}
	})
}

// acknowledging passes a message on and acknowledges it, by policy in the other
// order.
func (s *Server) acknowledging(c *conn, ack *packet.Ack, passOn func()) {
	if s.policy.Acknowledges == "first" {
		s.send(c, ack)
		passOn()
		return
	}
	passOn()
	s.send(c, ack)
}

// publishOnce is the receiving half of the QoS 2 exchange. A Packet Identifier
// that awaits PUBREL marks a repetition, which is answered and not passed on.
// [v311/MQTT-4.3.3-2] [v5/MQTT-4.3.3-8] [v5/MQTT-4.3.3-10]
func (s *Server) publishOnce(c *conn, p *packet.Publish, m *message) {
	se := c.session
	if !s.withinReceiveMaximum(c, p) {
		return
	}
	c.incoming[p.ID] = true
	ack := &packet.Ack{Kind: packet.PUBREC, ID: s.rules.ackID(p.ID)}
	s.acknowledging(c, ack, func() {
		if se.pending[p.ID] && !s.rules.takesRepeatsAsNew {
			return
		}
		// [v311/4.3.3-onward-moment]: at PUBLISH or at PUBREL
		if s.policy.QoS2Onward == "pubrel" {
			se.await(p.ID, m)
			return
		}
		se.await(p.ID, nil)
		ack.Code = s.resultCode(c, s.route(m))
	})
}

// withinReceiveMaximum holds a client to the Receive Maximum of the server. The
// client's quota counts on each connection afresh.
// [v5/3.3.4-receive-maximum-exceeded] [v5/MQTT-3.3.4-7] [v5/MQTT-3.3.4-8]
func (s *Server) withinReceiveMaximum(c *conn, p *packet.Publish) bool {
	if !c.five() || c.incoming[p.ID] || len(c.incoming) < s.rules.receiveMaximum(s.policy.ReceiveMaximum) {
		return true
	}
	s.fail(c, packet.ReceiveMaximumExceeded, "more publications are open than this server allows")
	return false
}

// release answers PUBREL, also when the message has expired. From then on the
// Packet Identifier is new. [v5/MQTT-4.3.3-13]
// [v311/MQTT-4.3.3-2] [v5/MQTT-4.3.3-11] [v5/MQTT-4.3.3-12]
func (s *Server) release(c *conn, id uint16) {
	se := c.session
	known := se.pending[id]
	if m := se.held[id]; m != nil {
		delete(se.held, id)
		s.route(m)
	}
	delete(c.incoming, id)
	if s.rules.releasesIncoming {
		se.settle(id)
	}
	if !known && !s.rules.answersUnknownRelease {
		return
	}
	ack := &packet.Ack{Kind: packet.PUBCOMP, ID: s.rules.releaseID(id)}
	if c.five() && !known {
		ack.Code = packet.PacketIdentifierNotFound // [v5/4.4-pubrel-for-unknown] [v5/MQTT-3.7.2-1]
	}
	s.send(c, ack)
}

// acknowledge carries out PUBACK, PUBREC, PUBREL and PUBCOMP.
func (s *Server) acknowledge(c *conn, p *packet.Ack) {
	if p.Kind == packet.PUBREL {
		s.release(c, p.ID)
		return
	}
	se := c.session
	d := se.byID[p.ID]
	switch {
	case d == nil:
		switch {
		case c.five() && s.policy.UnknownAcks == "close":
			s.fail(c, packet.ProtocolError, "nothing is open under this Packet Identifier")
		case p.Kind == packet.PUBREC:
			s.unknownPubrec(c, p)
		case !s.rules.capsQuota:
			c.inFlight--
		} // else nothing [v5/3.4-ack-unknown-identifier]
	case p.Kind == packet.PUBACK && d.qos == 1, p.Kind == packet.PUBCOMP && d.released > 0:
		// A code of 0x80 or above settles the message as well, and it is offered
		// to nobody else. [v311/MQTT-4.3.2-1] [v311/MQTT-4.3.3-1] [v5/MQTT-4.3.2-3]
		// [v5/MQTT-4.3.3-5] [v5/MQTT-4.4.0-2] [v5/MQTT-4.8.2-6] [v5/4.9-quota-puback-error]
		s.finish(se, d, p)
	case p.Kind == packet.PUBREC && d.qos == 2 && p.Code >= 0x80 && s.rules.readsPubrecCode:
		s.finish(se, d, p) // [v5/MQTT-4.3.3-3] [v5/MQTT-4.4.0-2] [v5/MQTT-4.8.2-6] [v5/4.9-quota-pubrec-error]
	case p.Kind == packet.PUBREC && d.qos == 2:
		s.pubrec(c, d)
	case s.rules.settlesByAny:
		s.finish(se, d, p)
	default:
		// [v5/4.3-wrong-ack-type]
		s.fail(c, packet.ProtocolError, "this is not the acknowledgement that the exchange asks for")
	}
}

// pubrec answers PUBREC with PUBREL, in the order of their coming.
// [v311/MQTT-4.3.3-1] [v311/MQTT-4.6.0-4] [v311/MQTT-4.6.0-6] [v5/MQTT-4.3.3-4] [v5/MQTT-4.6.0-4]
func (s *Server) pubrec(c *conn, d *delivery) {
	if s.rules.remembersPubrec && d.released == 0 {
		c.session.releases++
		d.released = c.session.releases // [v5/MQTT-4.3.3-6]
		c.session.changed(d)
	}
	if s.rules.pubrecReturnsQuota {
		d.returnQuota()
		defer s.flush(c.session)
	}
	if s.rules.sendsPubrel(c) {
		s.send(c, &packet.Ack{Kind: packet.PUBREL, ID: s.rules.ackID(d.id)})
	}
}

// unknownPubrec answers a PUBREC whose delivery is not known.
// [v5/4.4-pubrec-for-unknown] [v5/MQTT-3.6.2-1]
func (s *Server) unknownPubrec(c *conn, p *packet.Ack) {
	if p.Code >= 0x80 {
		return
	}
	rel := &packet.Ack{Kind: packet.PUBREL, ID: p.ID}
	if c.five() {
		rel.Code = packet.PacketIdentifierNotFound
	}
	s.send(c, rel)
}

// finish ends an exchange and gives its place to what waits. The send quota
// rises with any code, and never above its first value: a PUBCOMP for a PUBREL
// of an earlier connection gives back nothing.
// [v5/4.9-quota-not-above-initial] [v5/4.9-quota-puback-error]
func (s *Server) finish(se *session, d *delivery, p *packet.Ack) {
	if !s.rules.finishes(d) {
		return
	}
	switch {
	case !s.rules.returnsQuota(p):
		d.on = nil
	case d.on == nil && !s.rules.capsQuota:
		se.conn.inFlight--
	}
	se.finish(d)
	s.flush(se)
}

// resume sends again what is open, each part in its first order: PUBRELs,
// then PUBLISH packets as far as the window of the new connection allows, and
// then what is queued. Without a stored Session there is nothing. What has
// begun does not expire any more. [v5/MQTT-4.3.3-7]
// [v311/MQTT-4.4.0-1] [v311/MQTT-4.6.0-1] [v311/MQTT-4.6.0-4] [v311/MQTT-4.6.0-6]
// [v5/MQTT-4.4.0-1] [v5/MQTT-4.6.0-1] [v5/4.4-no-session-no-resend] [v5/4.6-server-resend-order]
func (s *Server) resume(se *session) {
	c := se.conn
	var released []*delivery
	for _, d := range s.rules.resendOrder(se.open) {
		switch {
		case d.finished || !s.rules.resends(c, d):
		case s.rules.expiresBegun && s.expired(d.message):
			se.finish(d)
		case d.released > 0:
			released = append(released, d)
		default:
			se.resend = append(se.resend, d)
		}
	}
	slices.SortStableFunc(released, func(a, b *delivery) int { return int(a.released) - int(b.released) })
	for _, d := range released {
		d.on = nil // only a PUBLISH takes from the quota
		s.rules.renumbers(&se.outbox, d)
		s.send(c, &packet.Ack{Kind: packet.PUBREL, ID: d.id})
	}
	s.flush(se)
}
