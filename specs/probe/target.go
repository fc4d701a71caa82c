package probe

import (
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Target is all that a spec knows of the world outside: where the broker
// listens, what it was set up with, and the two hooks that act on it. It is
// plain data but for the hooks, so that it can be handed to a child process.
type Target struct {
	// URL is the address of the broker, such as mqtt://localhost:1883. The scheme
	// mqtts is TLS, ws and wss are WebSocket.
	URL string `json:"url"`
	// Also holds further listeners of the same broker.
	Also []string `json:"also,omitempty"`
	// TLS is for all listeners over TLS.
	TLS wire.TLS `json:"tls,omitzero"`
	// Username and Password are sent in every ordinary CONNECT when not empty.
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// Timeout bounds the wait for one packet that must come (default 2 s).
	Timeout time.Duration `json:"timeout,omitempty"`
	// Second is the length of a second of the protocol: a real one, but on a
	// reference broker whose clock runs faster.
	Second time.Duration `json:"second,omitempty"`
	// Settle is waited before an absence is read, for brokers of several nodes.
	Settle time.Duration `json:"settle,omitempty"`
	// RunID and Shard make topics and Client Identifiers of a run its own.
	RunID string `json:"runID,omitempty"`
	Shard int    `json:"shard,omitempty"`
	// Variants are brokers of the same kind with another configuration, by name.
	Variants map[string]string `json:"variants,omitempty"`
	// Users tells what the variant "users" was set up with.
	Users *Users `json:"users,omitempty"`
	// AuthMethods are the Authentication Methods of the variant "auth".
	AuthMethods []AuthMethod `json:"authMethods,omitempty"`
	// Offered tells which versions the broker offers, by "v311" and "v5". All are
	// tried: one that is missing was not accepted, and was not asked for either.
	// Nil where none was tried: then each counts as offered.
	Offered map[string]bool `json:"offered,omitempty"`
	// Lacks names features that the broker evidently has not, with what was
	// seen: by "v311:retain", "v5:shared" and the like.
	Lacks map[string]string `json:"lacks,omitempty"`
	// Unseen names the kinds of packet that a run has waited for in vain and
	// never seen: the wait for them is short, and what then expires is
	// inconclusive.
	Unseen map[string]bool `json:"unseen,omitempty"`

	// Restart stops the broker, by signal or by kill, and starts it again.
	Restart func(kill bool) error `json:"-"`
	// Alive returns an error when the broker process is no longer there.
	Alive func() error `json:"-"`
}

// Users is what a broker with users was set up with.
type Users struct {
	Username        string   `json:"username"`
	Password        string   `json:"password"`
	DeniedPublish   []string `json:"deniedPublish,omitempty"`   // Topic Names
	DeniedSubscribe []string `json:"deniedSubscribe,omitempty"` // Topic Filters
}

// DefaultTimeout is the wait for a packet that must come.
const DefaultTimeout = 2 * time.Second

// unseenTimeout replaces the timeout for packets that the run has never seen.
const unseenTimeout = 200 * time.Millisecond

// withDefaults fills what was left out.
func (t Target) withDefaults() Target {
	if t.Timeout == 0 {
		t.Timeout = DefaultTimeout
	}
	if t.Second == 0 {
		t.Second = time.Second
	}
	if t.RunID == "" {
		t.RunID = "run"
	}
	return t
}

// Prefix returns the prefix of the keys of a version: "v311" or "v5".
func Prefix(v wire.Version) string {
	if v == wire.V5 {
		return "v5"
	}
	return "v311"
}
