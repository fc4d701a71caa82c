package core

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// disk keeps records as a store does, in its own form.
type disk map[RecordKey]string

// blank are the types of records, by kind.
var blank = map[RecordKind]func() any{
	SessionRecord:      func() any { return new(SavedSession) },
	SubscriptionRecord: func() any { return new(SavedSubscription) },
	DeliveryRecord:     func() any { return new(SavedDelivery) },
	IncomingRecord:     func() any { return new(SavedIncoming) },
	RetainedRecord:     func() any { return new(SavedRetained) },
	MessageRecord:      func() any { return new(SavedMessage) },
}

func (d disk) apply(t *testing.T, changes []Record) {
	t.Helper()
	for _, r := range changes {
		if r.Data != nil {
			text, err := json.Marshal(r.Data)
			if err != nil {
				t.Fatal(err)
			}
			d[r.Key] = string(text)
			continue
		}
		delete(d, r.Key)
		for key := range d {
			if r.Key.Kind == SessionRecord && key.Client == r.Key.Client && key.Kind != RetainedRecord && key.Kind != MessageRecord {
				delete(d, key)
			}
		}
	}
}

func (d disk) saved(t *testing.T, alive time.Time) Saved {
	t.Helper()
	saved := Saved{Alive: alive}
	for key, text := range d {
		data := blank[key.Kind]()
		if err := json.Unmarshal([]byte(text), data); err != nil {
			t.Fatal(err)
		}
		saved.Records = append(saved.Records, Record{key, data})
	}
	return saved
}

// Restoring and saving anew changes nothing.
func TestRestoreIsStable(t *testing.T) {
	files, err := scriptFiles()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if strings.Contains(text, "defect ") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.durable = true
			s.run(text)
			if s.server == nil {
				t.Skip("nothing happens")
			}
			once := disk{}
			first, err := Restore(s.cfg, s.disk.saved(t, s.now))
			if err != nil {
				t.Fatal(err)
			}
			for key, text := range s.disk {
				once[key] = text
			}
			once.apply(t, first.Changes())
			second, err := Restore(s.cfg, once.saved(t, s.now.Add(time.Hour)))
			if err != nil {
				t.Fatal(err)
			}
			if more := second.Changes(); len(more) > 0 {
				t.Errorf("restored twice, these change again: %+v", more)
			}
			if a, b := first.Holding(), second.Holding(); !reflect.DeepEqual(a, b) {
				t.Errorf("restored %+v, and then %+v", a, b)
			}
		})
	}
}

// A server whose clients have all left, with nothing to come, stores nothing.
func TestNothingIsLeftInTheRecords(t *testing.T) {
	s := newScript(t)
	s.durable = true
	s.run(`a connect v5 expiry=100 will=w:bye delay=5
b connect v5 clean
a subscribe $share/g/t 1 t 2 +/x 0
b subscribe $share/g/t 1
b publish t one q1
b publish t two q2 id=9
b publish t three q1 retain
b publish w x q2 retain
b publish t - q0 retain
b publish w - q1 retain
a drop
b publish t four q1
wait 200s
b disconnect
`)
	if len(s.disk) > 0 {
		t.Errorf("left: %v", s.disk)
	}
}

func TestRestoreRefusesWhatCannotBe(t *testing.T) {
	message := Record{RecordKey{Kind: MessageRecord, Number: 1}, &SavedMessage{Topic: "t", QoS: 1}}
	delivery := func(number uint64, d SavedDelivery) Record {
		return Record{RecordKey{Kind: DeliveryRecord, Client: "a", Number: number}, &d}
	}
	for name, records := range map[string][]Record{
		"no data":                    {{Key: RecordKey{Kind: SessionRecord, Client: "a"}}},
		"a message of QoS 3":         {{RecordKey{Kind: MessageRecord, Number: 1}, &SavedMessage{QoS: 3}}},
		"a subscription at QoS 3":    {{RecordKey{Kind: SubscriptionRecord, Client: "a", Name: "t"}, &SavedSubscription{QoS: 3}}},
		"a delivery of nothing":      {delivery(2, SavedDelivery{Message: 7})},
		"an identifier at QoS 0":     {message, delivery(2, SavedDelivery{Message: 1, PacketID: 5, FirstSent: 1})},
		"a retained message lost":    {{RecordKey{Kind: RetainedRecord, Name: "t"}, &SavedRetained{Message: 1}}},
		"another retained message":   {message, {RecordKey{Kind: RetainedRecord, Name: "u"}, &SavedRetained{Message: 1}}},
		"identifier 0 from a client": {{RecordKey{Kind: IncomingRecord, Client: "a"}, &SavedIncoming{}}},
		"identifier 65536":           {{RecordKey{Kind: IncomingRecord, Client: "a", Number: 65536}, &SavedIncoming{}}},
		"more than a queue holds": func() (list []Record) {
			list = append(list, message)
			for n := range uint64(maxQueue + 1) {
				list = append(list, delivery(2+n, SavedDelivery{Message: 1, QoS: 1}))
			}
			return list
		}(),
	} {
		if _, err := Restore(Config{}, Saved{Records: records}); err == nil || strings.Contains(fmt.Sprint(err), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
