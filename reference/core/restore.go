package core

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// Restore returns a server in the state that an earlier one has left behind.
// Whoever was connected then is away from the moment on at which that one was
// last alive: the Session waits, or ends, and the will is published as after
// any loss of the connection.
// [v311/3.1.2.5-will-after-restart] [v5/3.1.2.5-will-after-restart]
// [v311/MQTT-3.1.2-4] [v5/MQTT-3.1.2-23] [v311/4.1-retained-until-deleted]
func Restore(cfg Config, saved Saved) (*Server, error) {
	cfg.Durable = true
	s, err := New(cfg)
	if err != nil {
		return nil, err
	}
	r := restorer{s: s, messages: map[uint64]*message{}, connected: map[string]bool{}}
	// A delivery needs its message, and whatever is in a Session needs that.
	slices.SortFunc(saved.Records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(restoreOrder(a.Key.Kind), restoreOrder(b.Key.Kind)),
			cmp.Compare(a.Key.Client, b.Key.Client), cmp.Compare(a.Key.Name, b.Key.Name), cmp.Compare(a.Key.Number, b.Key.Number))
	})
	for _, record := range saved.Records {
		if err := r.restore(record); err != nil {
			return nil, err
		}
	}
	r.finish(saved)
	return s, nil
}

// restoreOrder brings the kinds into the order in which they are restored.
func restoreOrder(k RecordKind) int {
	return slices.Index([]RecordKind{MessageRecord, RetainedRecord, SessionRecord, SubscriptionRecord, IncomingRecord, DeliveryRecord}, k)
}

// restorer is what the records have in common.
type restorer struct {
	s         *Server
	messages  map[uint64]*message
	connected map[string]bool
}

var errTooMuch = errors.New("core: there is more than a server keeps")

// restore enters one record.
func (r *restorer) restore(record Record) error {
	key := record.Key
	switch data := record.Data.(type) {
	case *SavedMessage:
		return r.message(key, data)
	case *SavedRetained:
		return r.retained(key, data)
	case *SavedSession:
		return r.session(key, data)
	case *SavedSubscription:
		return r.subscription(key, data)
	case *SavedIncoming:
		return r.incoming(key, data)
	case *SavedDelivery:
		return r.delivery(key, data)
	}
	return fmt.Errorf("core: a record has data of the type %T", record.Data)
}

func (r *restorer) message(key RecordKey, data *SavedMessage) error {
	if data.QoS > 2 {
		return fmt.Errorf("core: message %d has QoS %d", key.Number, data.QoS)
	}
	m := loadMessage(data)
	m.saved = &savedMark{number: key.Number, on: true, message: m}
	r.messages[key.Number] = m
	r.s.ledger.number = max(r.s.ledger.number, key.Number)
	r.s.serial = max(r.s.serial, m.serial)
	return nil
}

func (r *restorer) retained(key RecordKey, data *SavedRetained) error {
	m := r.messages[data.Message]
	if m == nil || m.topic != key.Name {
		return fmt.Errorf("core: the retained message of %q is missing", key.Name)
	}
	r.s.retained.set(m)
	if r.s.retained.byTopic[key.Name] != m {
		return errTooMuch
	}
	m.saved.refs++
	r.s.ledger.retained[key.Name] = m
	return nil
}

func (r *restorer) session(key RecordKey, data *SavedSession) error {
	se, err := r.of(key)
	if err != nil {
		return err
	}
	se.expiry = data.Expiry
	if data.User != "" {
		// Whoever is no user any more has at least no other's permissions.
		if se.user = r.s.userNamed(data.User); se.user == nil {
			se.user = &User{Name: data.User}
		}
	}
	if data.Will != nil {
		se.will = &will{message: loadMessage(&data.Will.Message), delay: data.Will.Delay}
	}
	if r.connected[se.id] = data.Ended == nil; data.Ended != nil {
		se.ended = *data.Ended
	}
	return nil
}

// of returns the Session that a record belongs to. One without a record of its
// own ends with its connection.
func (r *restorer) of(key RecordKey) (*session, error) {
	if se := r.s.sessions[key.Client]; se != nil {
		return se, nil
	}
	if len(r.s.sessions) >= maxSessions {
		return nil, errTooMuch
	}
	se := r.s.newSession(key.Client)
	se.saved, r.connected[se.id] = true, true
	return se, nil
}

func (r *restorer) subscription(key RecordKey, data *SavedSubscription) error {
	se, err := r.of(key)
	if err != nil {
		return err
	}
	if data.QoS > 2 {
		return fmt.Errorf("core: the subscription of %q to %q has QoS %d", key.Client, key.Name, data.QoS)
	}
	if len(se.subs) >= maxSubscriptions {
		return errTooMuch
	}
	r.s.addSubscription(se, &subscription{
		session: se, filter: key.Name, match: data.Match, qos: data.QoS, noLocal: data.NoLocal,
		retainAsPublished: data.RetainAsPublished, identifier: data.Identifier,
	}, data.Share)
	return nil
}

func (r *restorer) incoming(key RecordKey, data *SavedIncoming) error {
	se, err := r.of(key)
	if err != nil {
		return err
	}
	if key.Number == 0 || key.Number > 65535 {
		return fmt.Errorf("core: a Packet Identifier of %q is %d", key.Client, key.Number)
	}
	var held *message
	if data.Held != nil {
		held = loadMessage(data.Held)
	}
	se.await(uint16(key.Number), held)
	return nil
}

func (r *restorer) delivery(key RecordKey, data *SavedDelivery) error {
	se, err := r.of(key)
	if err != nil {
		return err
	}
	m := r.messages[data.Message]
	if m == nil || data.QoS > 2 || data.QoS == 0 && data.PacketID != 0 {
		return fmt.Errorf("core: the message of delivery %d of %q is missing, or not what can be sent", key.Number, key.Client)
	}
	d := &delivery{
		message: m, qos: data.QoS, retain: data.Retain, subIDs: data.SubIDs, id: data.PacketID,
		sent: data.WentOut, released: data.Released, firstSent: data.FirstSent,
		saved: &savedMark{number: key.Number, on: true},
	}
	m.saved.refs++
	r.s.ledger.number = max(r.s.ledger.number, key.Number)
	for _, filter := range data.Filters {
		sub := se.subs[filter]
		if sub == nil {
			sub = &subscription{session: se, filter: filter}
		}
		d.subs = append(d.subs, sub)
	}
	if data.Share != "" {
		if d.share = r.s.shares[data.Share]; d.share == nil {
			d.share = &share{id: data.Share}
		}
	}
	return r.enter(se, d)
}

// enter puts a delivery where it was: into the queue, or among those that have
// begun.
func (r *restorer) enter(se *session, d *delivery) error {
	if d.id == 0 {
		if !se.push(d) {
			return errTooMuch
		}
		return nil
	}
	if len(se.open) > 65535 {
		return errTooMuch
	}
	se.byID[d.id] = d
	se.open = append(se.open, d)
	return nil
}

// finish ends the connections that there were, and starts the timers.
func (r *restorer) finish(saved Saved) {
	s := r.s
	s.now = saved.Alive
	clear(s.ledger.noted)
	s.ledger.notes = nil // what has been read is what is stored
	for _, m := range r.messages {
		s.ledger.messages = append(s.ledger.messages, m.saved) // those that nobody names go
	}
	for _, id := range slices.Sorted(maps.Keys(s.sessions)) {
		se := s.sessions[id]
		slices.SortFunc(se.open, func(a, b *delivery) int { return cmp.Compare(a.firstSent, b.firstSent) })
		for _, d := range se.open {
			se.starts, se.nextID, se.releases = d.firstSent, d.id, max(se.releases, d.released)
		}
		if !r.connected[id] {
			s.startWaiting(se)
		}
	}
	for _, id := range slices.Sorted(maps.Keys(r.connected)) {
		if se := s.sessions[id]; se != nil && r.connected[id] {
			se.conn = &conn{session: se, version: packet.V5, will: se.will, expiry: se.expiry}
			se.will = nil
			s.end(se.conn, dropped)
		}
	}
	s.out = nil
}

// startWaiting sets the timers of a Session whose client was away already.
func (s *Server) startWaiting(se *session) {
	if se.will != nil {
		delay := s.rules.willDelay(se.will.delay, se.expiry)
		s.timers.set(timerKey{kind: willTimer, id: se.id}, se.ended.Add(s.seconds(float64(delay))))
	}
	if se.expiry != neverExpires {
		s.timers.set(timerKey{kind: expiryTimer, id: se.id}, se.ended.Add(s.seconds(float64(se.expiry))))
	}
}
