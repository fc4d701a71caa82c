package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// RecordKind tells what a Record is of.
type RecordKind byte

// The kinds of records.
const (
	SessionRecord      RecordKind = iota + 1 // by Client Identifier
	SubscriptionRecord                       // by Client Identifier and Topic Filter
	DeliveryRecord                           // by Client Identifier and number
	IncomingRecord                           // by Client Identifier and Packet Identifier
	RetainedRecord                           // by Topic Name
	MessageRecord                            // by number
)

// RecordKey names a record.
type RecordKey struct {
	Kind   RecordKind
	Client string // Client Identifier
	Name   string // Topic Filter or Topic Name
	Number uint64
}

// Record is one piece of what outlives the process. In a list of changes Data
// is nil for a record that is gone; a Session that is gone takes all records of
// its Client Identifier with it.
type Record struct {
	Key  RecordKey
	Data any // a pointer to the type that belongs to the kind
}

// Saved is all that has outlived a process. Its records come in any order.
type Saved struct {
	// Alive is when that process last gave a sign of life: no connection was
	// open much longer.
	Alive   time.Time
	Records []Record
}

// SavedSession is the part of a Session of which there is one.
type SavedSession struct {
	Expiry uint32     `json:"expiry,omitempty"` // Session Expiry Interval
	User   string     `json:"user,omitempty"`
	Ended  *time.Time `json:"ended,omitempty"` // nil while the client is connected
	Will   *SavedWill `json:"will,omitempty"`
}

// SavedWill is a will that has not been published.
type SavedWill struct {
	Message SavedMessage `json:"message"`
	Delay   uint32       `json:"delay,omitempty"`
}

// SavedSubscription is one Topic Filter of a Session.
type SavedSubscription struct {
	Match             string `json:"match"`
	QoS               byte   `json:"qos,omitempty"`
	NoLocal           bool   `json:"noLocal,omitempty"`
	RetainAsPublished bool   `json:"retainAsPublished,omitempty"`
	Identifier        uint32 `json:"identifier,omitempty"`
	Share             string `json:"share,omitempty"` // ShareName/filter
}

// SavedDelivery is a message on its way to a client: queued, or begun.
type SavedDelivery struct {
	Message   uint64   `json:"message"` // number of a message
	QoS       byte     `json:"qos,omitempty"`
	Retain    bool     `json:"retain,omitempty"`
	Filters   []string `json:"filters,omitempty"` // because of which it is sent
	SubIDs    []uint32 `json:"subscriptionIdentifiers,omitempty"`
	Share     string   `json:"share,omitempty"`
	PacketID  uint16   `json:"packetIdentifier,omitempty"` // 0 while it is queued
	FirstSent uint64   `json:"firstSent,omitempty"`        // as the n-th of the Session
	Released  uint64   `json:"released,omitempty"`         // PUBREC came as the n-th
	WentOut   bool     `json:"wentOut,omitempty"`
}

// SavedIncoming is a QoS 2 message from a client that awaits PUBREL, with its
// content where that has not been passed on.
type SavedIncoming struct {
	Held *SavedMessage `json:"held,omitempty"`
}

// SavedRetained is a retained message.
type SavedRetained struct {
	Message uint64 `json:"message"` // number of a message
}

// SavedMessage is an Application Message.
type SavedMessage struct {
	Topic     string    `json:"topic"`
	Payload   []byte    `json:"payload,omitempty"`
	QoS       byte      `json:"qos,omitempty"`
	Retain    bool      `json:"retain,omitempty"`
	Dup       bool      `json:"dup,omitempty"`
	Publisher string    `json:"publisher,omitempty"`
	Expiry    *uint32   `json:"expiry,omitempty"`
	Arrived   time.Time `json:"arrived,omitzero"`
	Serial    uint64    `json:"serial,omitempty"`

	Format          *byte                 `json:"payloadFormatIndicator,omitempty"`
	ContentType     *string               `json:"contentType,omitempty"`
	ResponseTopic   *string               `json:"responseTopic,omitempty"`
	CorrelationData *[]byte               `json:"correlationData,omitempty"`
	UserProperties  []packet.UserProperty `json:"userProperties,omitempty"`
}
