package reference

import (
	"errors"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reference/store"
)

// maxGroup bounds the events whose changes are stored together.
const maxGroup = 1000

// keeper stores what outlives the broker. A nil one stores nothing.
type keeper struct {
	store *store.Store
	every time.Duration // between two signs of life
	last  time.Time
}

// newServer returns a server, with all that the folder of its data holds where
// there is one.
func newServer(cfg core.Config, folder string) (*core.Server, *keeper, error) {
	server, err := core.New(cfg)
	if folder == "" || err != nil {
		return server, nil, err
	}
	opened, saved, err := store.Open(folder)
	if err != nil {
		return nil, nil, err
	}
	k := &keeper{store: opened, every: cfg.Second}
	if k.every == 0 {
		k.every = time.Second
	}
	// It lived until the next sign of life would have come, or now.
	if saved.Alive = saved.Alive.Add(k.every); saved.Alive.After(time.Now()) {
		saved.Alive = time.Now()
	}
	if server, err = core.Restore(cfg, saved); err != nil {
		return nil, nil, errors.Join(opened.Broken(err), k.close())
	}
	if err := k.keep(server); err != nil {
		return nil, nil, errors.Join(err, k.close())
	}
	return server, k, nil
}

// keep stores what has changed. Once in a while it says that the broker is
// alive.
func (k *keeper) keep(server *core.Server) error {
	if k == nil {
		return nil
	}
	now := time.Now()
	changes := server.Changes()
	due := now.Sub(k.last) >= k.every
	if due || len(changes) > 0 {
		k.last = now
	}
	if len(changes) > 0 || due && server.Connections() > 0 {
		return k.store.Write(now, changes)
	}
	return nil
}

// wait shortens a wait to that for the next sign of life.
func (k *keeper) wait(d time.Duration) time.Duration {
	if k == nil {
		return d
	}
	return min(d, time.Until(k.last.Add(k.every)))
}

func (k *keeper) close() error {
	if k == nil {
		return nil
	}
	return k.store.Close()
}
