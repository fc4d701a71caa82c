// Package store keeps what outlives the process of a broker in one file: a
// bbolt database of records, each with its own checksum.
package store

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// file is the name of the database in the folder of a broker.
const file = "broker.db"

// format is what the file says of itself. It changes whenever an older program
// would misunderstand the records.
const format = "mqttcheck broker 1"

// lockTime is how long another process may still hold the file.
const lockTime = time.Second

// The buckets, and the keys in the first of them.
var (
	about   = []byte("about")
	records = []byte("records")

	formatKey = []byte("format")
	aliveKey  = []byte("alive")
)

// Store is an open file.
type Store struct {
	db   *bbolt.DB
	path string
}

// Open opens the file in a folder and reads it; a missing file is made, a missing
// folder is not. The error is one line that names the file.
func Open(folder string) (*Store, core.Saved, error) {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, core.Saved{}, fmt.Errorf("store: there is no folder %s", folder)
	case err != nil:
		return nil, core.Saved{}, fmt.Errorf("store: %w", err)
	case !info.IsDir():
		return nil, core.Saved{}, fmt.Errorf("store: %s is no folder", folder)
	}
	s := &Store{path: filepath.Join(folder, file)}
	var saved core.Saved
	err = guarded(func() error {
		db, err := bbolt.Open(s.path, 0o600, &bbolt.Options{Timeout: lockTime})
		if err != nil {
			return err
		}
		s.db = db
		if err := s.begin(); err != nil {
			return err
		}
		saved, err = s.load()
		return err
	})
	if err != nil {
		if s.db != nil {
			_ = s.db.Close()
		}
		return nil, core.Saved{}, fmt.Errorf("store: %s: %s", s.path, plain(err))
	}
	return s, saved, nil
}

// Broken returns that the file is, for a reason that shows only when all of it
// is put together.
func (s *Store) Broken(reason error) error {
	return fmt.Errorf("store: %s is broken: %w", s.path, reason)
}

// plain says what is wrong with a file.
func plain(err error) string {
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return "it is in use by another process"
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return "it is not a file of this broker, or it is broken: " + err.Error()
	}
	return err.Error()
}

// guarded calls f and makes errors of the panics, and of the faults of memory,
// with which bbolt meets a broken file.
func guarded(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			text, _, _ := bytes.Cut(fmt.Append(nil, r), []byte("\n"))
			err = fmt.Errorf("it is broken: %s", text)
		}
	}()
	return f()
}

// begin marks a new file as ours, and refuses what others have written.
func (s *Store) begin() error {
	isNew := false
	err := s.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(about)
		if b == nil {
			if name, _ := tx.Cursor().First(); name != nil {
				return errors.New("another program has written it")
			}
			isNew = true
			return nil
		}
		if got := b.Get(formatKey); string(got) != format {
			return fmt.Errorf("its format is %.40q, and this program knows %q", got, format)
		}
		if tx.Bucket(records) == nil {
			return errors.New("it is broken: there are no records")
		}
		return nil
	})
	if !isNew || err != nil {
		return err
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket(about)
		if err != nil {
			return err
		}
		if _, err := tx.CreateBucket(records); err != nil {
			return err
		}
		return b.Put(formatKey, []byte(format))
	})
}

// load reads all records.
func (s *Store) load() (saved core.Saved, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		if text := tx.Bucket(about).Get(aliveKey); text != nil {
			if err := saved.Alive.UnmarshalText(text); err != nil {
				return err
			}
		}
		return tx.Bucket(records).ForEach(func(key, value []byte) error {
			r, err := decode(key, value)
			saved.Records = append(saved.Records, r)
			return err
		})
	})
	return saved, err
}

// Write stores changes, in their order, in one transaction, and that the broker
// is alive at a time. When it returns they are on the disk.
func (s *Store) Write(alive time.Time, changes []core.Record) error {
	err := guarded(func() error {
		return s.db.Update(func(tx *bbolt.Tx) error {
			text, err := alive.MarshalText()
			if err != nil {
				return err
			}
			if err := tx.Bucket(about).Put(aliveKey, text); err != nil {
				return err
			}
			b := tx.Bucket(records)
			for _, r := range changes {
				if err := change(b, r); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("store: %s: %s", s.path, plain(err))
	}
	return nil
}

// change carries out one change.
func change(b *bbolt.Bucket, r core.Record) error {
	key := keyOf(r.Key)
	if r.Data != nil {
		value, err := encode(key, r)
		if err != nil {
			return err
		}
		return b.Put(key, value)
	}
	if r.Key.Kind != core.SessionRecord {
		return b.Delete(key)
	}
	for kind := range blank {
		if kind == core.RetainedRecord || kind == core.MessageRecord {
			continue // they are no part of a Session
		}
		prefix := prefixOf(kind, r.Key.Client)
		c := b.Cursor()
		for k, _ := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, _ = c.Seek(prefix) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error { return s.db.Close() }
