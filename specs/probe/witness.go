package probe

import (
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A witness is a client beside all specs, subscribed to a topic that nobody
// publishes to. What reaches it shows that the broker delivers whatever the
// filter: then no delivery proves anything, and a spec that saw one must not
// pass for it.
type witness struct {
	client *Client
	topic  string
	asked  bool
	late   string // a topic that reached it when the spec was over
}

// attend makes sure that there is a connected witness, and does without where
// the broker does not play along: the specs will say why.
func (w *witness) attend(b *Broker) {
	if w.client != nil && !w.client.Gone() {
		return
	}
	w.late = w.told()
	w.client = b.quiet(b.URL, b.Version, b.ClientID())
	if w.client == nil {
		return
	}
	w.topic = b.Topic("witness")
	// One message says all: a broker that sends it those of all specs has enough to do.
	w.client.conn.EndWith(w.foreign)
	_ = w.client.conn.Send(wire.Subscribe{ID: 1, Subscriptions: []wire.Subscription{{Filter: w.topic}}})
	w.client.take(b.Timeout, wire.SUBACK)
}

// foreign tells whether a packet is a message of the suite that the witness did not
// ask for. Some servers push messages of their own accord.
func (w *witness) foreign(r wire.Received) bool {
	p, ok := r.Packet.(wire.Publish)
	return ok && p.Topic != w.topic && strings.HasPrefix(p.Topic, "mqttcheck/")
}

// ask begins a round trip, before which whatever was sent to it arrives.
func (w *witness) ask() {
	if w.asked = w.client != nil; w.asked {
		_ = w.client.conn.Send(wire.Pingreq{})
	}
}

// stray returns a topic that reached the witness and that its filter does not
// match. A witness that was told something has said all that it can: the next
// spec gets a new one.
func (w *witness) stray(deadline time.Time) (string, bool) {
	if w.asked {
		w.client.conn.Take(deadline, func(r wire.Received) bool { return r.Type == wire.PINGRESP })
	}
	topic := w.late
	if now := w.told(); now != "" {
		_ = w.client.conn.Close()
		w.client, topic = nil, now
	}
	w.late = ""
	return topic, topic != ""
}

// told returns a topic that reached the witness and was not for it, or "".
func (w *witness) told() string {
	if w.client == nil {
		return ""
	}
	for _, r := range w.client.conn.All() {
		if w.foreign(r) {
			return r.Packet.(wire.Publish).Topic
		}
	}
	return ""
}
