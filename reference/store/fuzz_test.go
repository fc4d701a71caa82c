package store

import (
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// FuzzDecode gives records of any content, with a right checksum, to a server:
// none panics, and what is decoded is encoded so that it means the same.
func FuzzDecode(f *testing.F) {
	for _, r := range everything {
		key := keyOf(r.Key)
		value, err := encode(key, r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(key, value[4:])
	}
	f.Fuzz(func(t *testing.T, key, text []byte) {
		value := append(binary.BigEndian.AppendUint32(nil, checksum(key, text)), text...)
		r, err := decode(key, value)
		if err != nil {
			return
		}
		again, err := encode(key, r)
		if err != nil {
			t.Fatal(err)
		}
		if same, err := decode(key, again); err != nil || !reflect.DeepEqual(r, same) {
			t.Fatalf("%+v is read back as %+v, %v", r, same, err)
		}
		if s, err := core.Restore(core.Config{}, core.Saved{Alive: moment, Records: []core.Record{r}}); err == nil {
			s.Changes()
			s.Handle(moment, core.Tick{})
		}
	})
}
