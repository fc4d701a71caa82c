package core

import (
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// ledger notes what changes of all that outlives the process, so that Changes
// can tell. A nil one notes nothing.
type ledger struct {
	changes  []Record
	notes    []note
	noted    map[note]bool
	gone     []*session
	messages []*savedMark // whose references have changed
	retained map[string]*message
	number   uint64 // the last one given to a message or delivery
	qos0     bool   // whether QoS 0 messages are kept for clients that are away
}

// note says that a record may have changed. The Session is named because another
// of the same Client Identifier can follow it at once.
type note struct {
	key      RecordKey
	session  *session
	delivery *delivery
}

// savedMark is what is known of the record of a message or delivery. Copies of
// a message share it.
type savedMark struct {
	number  uint64
	on      bool     // there is a record
	refs    int      // records that name the message
	message *message // of a message
}

func newLedger(qos0 bool) *ledger {
	return &ledger{noted: map[note]bool{}, retained: map[string]*message{}, qos0: qos0}
}

func (l *ledger) next() uint64 {
	l.number++
	return l.number
}

func (l *ledger) note(n note) {
	if !l.noted[n] {
		l.noted[n] = true
		l.notes = append(l.notes, n)
	}
}

// Changes returns what has changed, since it was last asked, of all that is to
// outlive the process: it is to be stored before the outputs that came with it
// are carried out. It is empty unless the server is durable.
// [v311/3.1.2.4-inbound-qos2-in-session] [v5/4.1-qos2-receiver-state]
func (s *Server) Changes() []Record {
	l := s.ledger
	if l == nil {
		return nil
	}
	for _, se := range l.gone {
		l.forget(se)
	}
	for _, n := range l.notes {
		l.settle(s, n)
	}
	for _, mark := range l.messages {
		switch {
		case mark.refs > 0 && !mark.on:
			l.put(RecordKey{Kind: MessageRecord, Number: mark.number}, saveMessage(mark.message))
		case mark.refs == 0 && mark.on:
			l.remove(RecordKey{Kind: MessageRecord, Number: mark.number})
		}
		mark.on = mark.refs > 0
	}
	changes := l.changes
	l.changes, l.notes, l.gone, l.messages = nil, nil, nil, nil
	clear(l.noted)
	return changes
}

func (l *ledger) put(key RecordKey, data any) { l.changes = append(l.changes, Record{key, data}) }
func (l *ledger) remove(key RecordKey)        { l.changes = append(l.changes, Record{Key: key}) }

// forget takes all records of a Session that has ended away.
func (l *ledger) forget(se *session) {
	for _, d := range append(slices.Clone(se.open), se.queue...) {
		l.release(d)
	}
	if se.saved {
		l.remove(RecordKey{Kind: SessionRecord, Client: se.id})
	}
}

// settle turns a note into a change.
func (l *ledger) settle(s *Server, n note) {
	se := n.session
	if n.delivery != nil && (se.over || !n.delivery.alive(se)) {
		if number := n.delivery.saved.number; l.release(n.delivery) && !se.over {
			l.remove(RecordKey{Kind: DeliveryRecord, Client: se.id, Number: number})
		}
		return
	}
	if se != nil && se.over {
		return
	}
	switch n.key.Kind {
	case SessionRecord:
		if se.saved || se.expiry > 0 || se.pendingWill() != nil {
			se.saved = true
			l.put(n.key, saveSession(se))
		}
	case SubscriptionRecord:
		if sub := se.subs[n.key.Name]; sub != nil && se.expiry > 0 {
			l.put(n.key, saveSubscription(sub))
		} else if sub == nil && se.saved {
			l.remove(n.key)
		}
	case DeliveryRecord:
		l.settleDelivery(n.key, se, n.delivery)
	case IncomingRecord:
		id := uint16(n.key.Number)
		if se.pending[id] && se.expiry > 0 {
			l.put(n.key, saveIncoming(se.held[id]))
		} else if !se.pending[id] && se.saved {
			l.remove(n.key)
		}
	case RetainedRecord:
		l.settleRetained(n.key, s.retained.byTopic[n.key.Name])
	}
}

// settleDelivery stores a delivery. That of a Session which ends with its
// connection matters for the other members of a share only.
func (l *ledger) settleDelivery(key RecordKey, se *session, d *delivery) {
	if d.qos == 0 && !l.qos0 || se.expiry == 0 && d.share == nil && !d.saved.on {
		return
	}
	if !d.saved.on {
		d.saved.on = true
		l.refer(d.message, 1)
	}
	se.saved = true
	key.Number = d.saved.number
	l.put(key, saveDelivery(d))
}

func (l *ledger) settleRetained(key RecordKey, m *message) {
	old := l.retained[key.Name]
	if old == m || strings.HasPrefix(key.Name, "$SYS/") {
		return
	}
	if old != nil {
		l.refer(old, -1)
		delete(l.retained, key.Name)
	}
	if m == nil {
		l.remove(key)
		return
	}
	l.refer(m, 1)
	l.retained[key.Name] = m
	l.put(key, &SavedRetained{Message: m.saved.number})
}

// refer counts the records that name a message.
func (l *ledger) refer(m *message, n int) {
	if m.saved == nil {
		m.saved = &savedMark{number: l.next(), message: m}
	}
	m.saved.refs += n
	l.messages = append(l.messages, m.saved)
}

// release takes the record of a delivery away; it reports whether there was one.
func (l *ledger) release(d *delivery) bool {
	if d.saved == nil || !d.saved.on {
		return false
	}
	d.saved.on = false
	l.refer(d.message, -1)
	return true
}

// alive tells whether a delivery is still to be made or finished.
func (d *delivery) alive(se *session) bool {
	return d.queued || d.id != 0 && !d.finished && se.byID[d.id] == d
}

// pendingWill is the will that a Session or its connection still has, or nil.
func (se *session) pendingWill() *will {
	if se.conn != nil {
		return se.conn.will
	}
	return se.will
}

// track has a Session note its changes.
func (l *ledger) track(se *session) {
	if l == nil {
		return
	}
	se.outbox.note = func(d *delivery) {
		if d.saved == nil {
			d.saved = &savedMark{number: l.next()}
		}
		l.note(note{RecordKey{Kind: DeliveryRecord, Client: se.id, Number: d.saved.number}, se, d})
	}
	se.inbox.note = func(id uint16) {
		l.note(note{RecordKey{Kind: IncomingRecord, Client: se.id, Number: uint64(id)}, se, nil})
	}
}

func (l *ledger) session(se *session) {
	if l != nil {
		l.note(note{RecordKey{Kind: SessionRecord, Client: se.id}, se, nil})
	}
}

func (l *ledger) subscription(se *session, filter string) {
	if l != nil {
		l.note(note{RecordKey{Kind: SubscriptionRecord, Client: se.id, Name: filter}, se, nil})
	}
}

func (l *ledger) ended(se *session) {
	if l != nil {
		se.over = true
		l.gone = append(l.gone, se)
	}
}

func (l *ledger) topic(name string) {
	l.note(note{RecordKey{Kind: RetainedRecord, Name: name}, nil, nil})
}

func saveSession(se *session) *SavedSession {
	r := &SavedSession{Expiry: se.expiry}
	if se.user != nil {
		r.User = se.user.Name
	}
	if se.conn == nil {
		at := se.ended
		r.Ended = &at
	}
	if w := se.pendingWill(); w != nil {
		r.Will = &SavedWill{Message: *saveMessage(w.message), Delay: w.delay}
	}
	return r
}

func saveSubscription(sub *subscription) *SavedSubscription {
	r := &SavedSubscription{
		Match: sub.match, QoS: sub.qos, NoLocal: sub.noLocal,
		RetainAsPublished: sub.retainAsPublished, Identifier: sub.identifier,
	}
	if sub.share != nil {
		r.Share = sub.share.id
	}
	return r
}

func saveDelivery(d *delivery) *SavedDelivery {
	r := &SavedDelivery{
		Message: d.message.saved.number, QoS: d.qos, Retain: d.retain, SubIDs: d.subIDs,
		PacketID: d.id, FirstSent: d.firstSent, Released: d.released, WentOut: d.sent,
	}
	for _, sub := range d.subs {
		r.Filters = append(r.Filters, sub.filter)
	}
	if d.share != nil {
		r.Share = d.share.id
	}
	return r
}

func saveIncoming(held *message) *SavedIncoming {
	if held == nil {
		return &SavedIncoming{}
	}
	return &SavedIncoming{Held: saveMessage(held)}
}

func saveMessage(m *message) *SavedMessage {
	r := &SavedMessage{
		Topic: m.topic, Payload: m.payload, QoS: m.qos, Retain: m.retain, Dup: m.dup, Publisher: m.publisher,
		Expiry: m.expiry, Arrived: m.arrived, Serial: m.serial,
		Format: m.properties.PayloadFormatIndicator, ContentType: m.properties.ContentType,
		ResponseTopic: m.properties.ResponseTopic, UserProperties: m.properties.UserProperties,
	}
	if data := m.properties.CorrelationData; data != nil {
		r.CorrelationData = &data
	}
	return r
}

func loadMessage(r *SavedMessage) *message {
	m := &message{
		topic: r.Topic, payload: r.Payload, qos: r.QoS, retain: r.Retain, dup: r.Dup, publisher: r.Publisher,
		expiry: r.Expiry, arrived: r.Arrived, serial: r.Serial,
		properties: packet.Properties{
			PayloadFormatIndicator: r.Format, ContentType: r.ContentType,
			ResponseTopic: r.ResponseTopic, UserProperties: r.UserProperties,
		},
	}
	if r.CorrelationData != nil {
		m.properties.CorrelationData = append([]byte{}, *r.CorrelationData...)
	}
	return m
}
