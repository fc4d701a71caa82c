package store

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

var moment = time.Date(2020, 1, 2, 3, 4, 5, 678, time.UTC)

func ptr[T any](v T) *T { return &v }

// everything is a record of each kind with every field filled.
var everything = []core.Record{
	{Key: core.RecordKey{Kind: core.MessageRecord, Number: 1 << 40}, Data: &core.SavedMessage{
		Topic: "t/ü", Payload: []byte{0, 0xff}, QoS: 2, Retain: true, Dup: true, Publisher: "p", Expiry: ptr(uint32(7)), Arrived: moment, Serial: 9,
		Format: ptr(byte(1)), ContentType: ptr("c"), ResponseTopic: ptr("r"), CorrelationData: &[]byte{},
		UserProperties: []packet.UserProperty{{Name: "b", Value: "2"}, {Name: "a", Value: "1"}, {Name: "b", Value: ""}},
	}},
	{Key: core.RecordKey{Kind: core.RetainedRecord, Name: "t/ü"}, Data: &core.SavedRetained{Message: 1 << 40}},
	{Key: core.RecordKey{Kind: core.SessionRecord, Client: "a"}, Data: &core.SavedSession{
		Expiry: 0xFFFFFFFF, User: "ann", Ended: ptr(moment), Will: &core.SavedWill{Message: core.SavedMessage{Topic: "w"}, Delay: 5},
	}},
	{Key: core.RecordKey{Kind: core.SubscriptionRecord, Client: "a", Name: strings.Repeat("f", 65535)}, Data: &core.SavedSubscription{
		Match: "t", QoS: 1, NoLocal: true, RetainAsPublished: true, Identifier: 268435455, Share: "g/t",
	}},
	{Key: core.RecordKey{Kind: core.IncomingRecord, Client: "a", Number: 65535}, Data: &core.SavedIncoming{Held: &core.SavedMessage{Topic: "t"}}},
	{Key: core.RecordKey{Kind: core.DeliveryRecord, Client: "a", Number: 3}, Data: &core.SavedDelivery{
		Message: 1 << 40, QoS: 2, Retain: true, Filters: []string{"#"}, SubIDs: []uint32{1, 1}, Share: "g/t", PacketID: 1, FirstSent: 2, Released: 3, WentOut: true,
	}},
}

func TestEveryFieldComesBack(t *testing.T) {
	for _, r := range everything {
		fields := reflect.ValueOf(r.Data).Elem()
		for i := range fields.NumField() {
			if fields.Field(i).IsZero() {
				t.Errorf("%T: the test leaves %s empty", r.Data, fields.Type().Field(i).Name)
			}
		}
	}
	folder := t.TempDir()
	s := open(t, folder, nil)
	if err := s.Write(moment, everything); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	open(t, folder, everything)
}

// open opens the file in a folder and compares what it holds.
func open(t *testing.T, folder string, want []core.Record) *Store {
	t.Helper()
	s, saved, err := Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if len(want) > 0 && !saved.Alive.Equal(moment) {
		t.Errorf("alive at %v, want %v", saved.Alive, moment)
	}
	if len(saved.Records) != len(want) {
		t.Fatalf("%d records, want %d", len(saved.Records), len(want))
	}
	for _, r := range want {
		i := slices.IndexFunc(saved.Records, func(x core.Record) bool { return x.Key == r.Key })
		if i < 0 || !reflect.DeepEqual(saved.Records[i].Data, r.Data) {
			t.Errorf("%.80v did not come back", r)
		}
	}
	return s
}

// A Session takes its records with it, and leaves those of others, messages and
// what follows in the same transaction.
func TestSessionTakesItsRecordsWithIt(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, nil)
	session := func(id string) core.Record {
		return core.Record{Key: core.RecordKey{Kind: core.SessionRecord, Client: id}, Data: &core.SavedSession{Expiry: 1}}
	}
	incoming := func(id string, n uint64) core.Record {
		return core.Record{Key: core.RecordKey{Kind: core.IncomingRecord, Client: id, Number: n}, Data: &core.SavedIncoming{}}
	}
	gone := core.Record{Key: core.RecordKey{Kind: core.SessionRecord, Client: "a"}}
	if err := s.Write(moment, slices.Concat(everything, []core.Record{session("b"), incoming("b", 1)})); err != nil {
		t.Fatal(err)
	}
	if err := s.Write(moment, []core.Record{incoming("a", 4), gone, session("a"), incoming("a", 5)}); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	open(t, folder, slices.Concat(everything[:2], []core.Record{session("a"), incoming("a", 5), session("b"), incoming("b", 1)}))
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, path string)
		want string
	}{
		"text":        {func(t *testing.T, path string) { write(t, path, []byte(strings.Repeat("not a database\n", 1000))) }, "not a file of this broker"},
		"a few bytes": {func(t *testing.T, path string) { write(t, path, []byte("x")) }, ""},
		"a database of another program": {func(t *testing.T, path string) {
			with(t, path, func(tx *bbolt.Tx) error { _, err := tx.CreateBucket([]byte("other")); return err })
		}, "another program has written it"},
		"a later format": {func(t *testing.T, path string) {
			with(t, path, func(tx *bbolt.Tx) error {
				b, err := tx.CreateBucket(about)
				return errors.Join(err, b.Put(formatKey, []byte("mqttcheck broker 2")))
			})
		}, `its format is "mqttcheck broker 2"`},
		"a record with a wrong checksum": {func(t *testing.T, path string) {
			ours(t, path)
			with(t, path, func(tx *bbolt.Tx) error {
				key, value := tx.Bucket(records).Cursor().First()
				value = slices.Clone(value)
				value[10] ^= 1
				return tx.Bucket(records).Put(key, value)
			})
		}, "does not have its checksum"},
		"a folder": {func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is a directory"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			c.make(t, filepath.Join(folder, file))
			refused(t, folder, c.want)
		})
	}
	t.Run("a file in use", func(t *testing.T) {
		folder := t.TempDir()
		open(t, folder, nil)
		refused(t, folder, "in use by another process")
	})
	t.Run("no folder", func(t *testing.T) { refused(t, filepath.Join(t.TempDir(), "none"), "there is no folder") })
}

// A file that was cut or has other bytes somewhere is refused or means the same:
// nothing panics.
func TestBrokenFilesDoNotPanic(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, file)
	ours(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	refusals := 0
	for range 300 {
		broken := slices.Clone(whole)
		if r.IntN(4) == 0 {
			broken = broken[:r.IntN(len(broken))]
		} else {
			for range 1 + r.IntN(8) {
				// Most of the file is free space: the beginning of a page is not.
				broken[r.IntN(len(broken)/4096)*4096+r.IntN(200)] = byte(r.Uint32())
			}
		}
		folder := t.TempDir()
		write(t, filepath.Join(folder, file), broken)
		s, saved, err := Open(folder)
		if err != nil {
			refusals++
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), folder) {
				t.Errorf("not one line that names the file: %v", err)
			}
			continue
		}
		if n := len(saved.Records); n != len(everything) && n != 0 {
			t.Errorf("%d records of %d", n, len(everything))
		}
		_ = s.Close()
	}
	if refusals < 100 {
		t.Errorf("only %d files are refused", refusals)
	}
}

func refused(t *testing.T, folder, want string) {
	t.Helper()
	s, _, err := Open(folder)
	if err == nil {
		_ = s.Close()
		t.Fatal("it is taken")
	}
	if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want one line with %q", err, want)
	}
}

func ours(t *testing.T, path string) {
	t.Helper()
	s := open(t, filepath.Dir(path), nil)
	if err := s.Write(moment, everything); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func with(t *testing.T, path string, change func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err == nil {
		err = errors.Join(db.Update(change), db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkWrite is one transaction with the changes of one message.
func BenchmarkWrite(b *testing.B) {
	s, _, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for b.Loop() {
		if err := s.Write(moment, everything); err != nil {
			b.Fatal(err)
		}
	}
}
