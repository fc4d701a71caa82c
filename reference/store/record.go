package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// blank makes the data that belongs to a kind of record.
var blank = map[core.RecordKind]func() any{
	core.SessionRecord:      func() any { return new(core.SavedSession) },
	core.SubscriptionRecord: func() any { return new(core.SavedSubscription) },
	core.DeliveryRecord:     func() any { return new(core.SavedDelivery) },
	core.IncomingRecord:     func() any { return new(core.SavedIncoming) },
	core.RetainedRecord:     func() any { return new(core.SavedRetained) },
	core.MessageRecord:      func() any { return new(core.SavedMessage) },
}

// row is a record as it is written: names of 64 KiB are too long for a key.
type row struct {
	Client string          `json:"client,omitempty"`
	Name   string          `json:"name,omitempty"`
	Number uint64          `json:"number,omitempty"`
	Data   json.RawMessage `json:"data"`
}

// prefixOf begins the keys of one kind of records of a Client Identifier.
func prefixOf(kind core.RecordKind, client string) []byte {
	sum := sha256.Sum256([]byte(client))
	return append([]byte{byte(kind)}, sum[:]...)
}

// keyOf returns the key of a record: the kind, and the hashes or the number of
// what names it.
func keyOf(k core.RecordKey) []byte {
	sum := sha256.Sum256([]byte(k.Name))
	key := append(prefixOf(k.Kind, k.Client), sum[:]...)
	return binary.BigEndian.AppendUint64(key, k.Number)
}

// encode returns the value under a key: a checksum of both, and the row.
func encode(key []byte, r core.Record) ([]byte, error) {
	data, err := json.Marshal(r.Data)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(row{r.Key.Client, r.Key.Name, r.Key.Number, data})
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint32(nil, checksum(key, text)), text...), nil
}

func checksum(key, text []byte) uint32 {
	return crc32.Update(crc32.ChecksumIEEE(key), crc32.IEEETable, text)
}

var errDamaged = errors.New("it is broken: a record does not have its checksum")

// decode reads what encode has written.
func decode(key, value []byte) (core.Record, error) {
	if len(key) == 0 || len(value) < 4 || binary.BigEndian.Uint32(value) != checksum(key, value[4:]) {
		return core.Record{}, errDamaged
	}
	var r row
	if err := strictly(value[4:], &r); err != nil {
		return core.Record{}, err
	}
	record := core.Record{Key: core.RecordKey{Kind: core.RecordKind(key[0]), Client: r.Client, Name: r.Name, Number: r.Number}}
	data := blank[record.Key.Kind]
	if data == nil || !bytes.Equal(keyOf(record.Key), key) {
		return core.Record{}, fmt.Errorf("it is broken: no record has the key %.4x", key)
	}
	record.Data = data()
	return record, strictly(r.Data, record.Data)
}

// strictly reads JSON that has no other fields.
func strictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}
