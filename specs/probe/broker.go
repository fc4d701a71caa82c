// Package probe is the scripted raw client that the specs drive a broker with.
//
// What a spec needs on the way (Connect, Subscribe, Publish, Delivery) ends it
// as inconclusive when the broker does not play along: set-up accuses nobody.
// What a spec is about it reads raw (Answer, Take, BeClosed) and judges with
// Expect.
package probe

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Broker is the broker under test, in one version of the protocol.
type Broker struct {
	Target
	Version wire.Version

	spec    *spec
	witness *witness
	count   *int     // numbers topics and Client Identifiers
	offer   []string // subprotocols of WebSocket; nil stands for mqtt
}

// New returns the broker at a target, spoken to in one version.
func New(t Target, v wire.Version) *Broker {
	return &Broker{Target: t.withDefaults(), Version: v, witness: new(witness), count: new(int)}
}

// Key returns the key of a statement in the version of the broker, for specs
// that both versions share: "MQTT-3.3.1-1" becomes "v5/MQTT-3.3.1-1".
func (b *Broker) Key(id string) string { return Prefix(b.Version) + "/" + id }

// V5 tells whether the broker is spoken to in MQTT 5.0.
func (b *Broker) V5() bool { return b.Version == wire.V5 }

// In returns the same broker spoken to in another version.
func (b *Broker) In(v wire.Version) *Broker {
	other := *b
	other.Version = v
	return &other
}

// Variant returns the broker of the same kind with another configuration. The
// spec ends as a skip where there is none.
func (b *Broker) Variant(name string) *Broker {
	url, ok := b.Variants[name]
	if !ok {
		SkipFor("needs a broker configured as %q", name)
	}
	other := *b
	other.URL = url
	other.Username, other.Password = "", ""
	other.Lacks = nil // another configuration
	return &other
}

// Either returns the variant where there is one, and otherwise the broker
// itself: for specs whose matter most brokers do not show by default.
func (b *Broker) Either(name string) *Broker {
	if _, ok := b.Variants[name]; ok {
		return b.Variant(name)
	}
	return b
}

// At returns the same broker at another of its addresses.
func (b *Broker) At(url string) *Broker {
	other := *b
	other.URL = url
	return &other
}

// Lacking ends the spec as unsupported when the broker has not the feature
// ("retain", "wildcard", "shared", "subscription-ids", "qos1", "qos2").
func (b *Broker) Lacking(features ...string) {
	for _, f := range features {
		if why, ok := b.Lacks[Prefix(b.Version)+":"+f]; ok {
			Unsupported("%s", why)
		}
	}
}

// Topic returns a Topic Name that no other spec uses. The parts are appended
// as further levels; without any it has one level of its own.
func (b *Broker) Topic(parts ...string) string {
	*b.count++
	topic := fmt.Sprintf("mqttcheck/%s/%d-%d", b.RunID, b.Shard, *b.count)
	return strings.Join(append([]string{topic}, parts...), "/")
}

// DollarTopic returns a Topic Name that starts with a $ and that no other
// spec uses.
func (b *Broker) DollarTopic(parts ...string) string { return "$" + b.Topic(parts...) }

// ClientID returns a Client Identifier that no other spec uses, of at most 23
// letters and digits, which every server has to take [v311/MQTT-3.1.3-5].
func (b *Broker) ClientID() string {
	*b.count++
	return fmt.Sprintf("mc%sx%dx%d", b.RunID, b.Shard, *b.count)
}

// Option changes the CONNECT of an ordinary client.
type Option func(b *Broker, p *wire.Connect)

// Persistent asks for a session that outlives the connection: Clean Session 0,
// in MQTT 5.0 with a Session Expiry Interval of an hour.
func Persistent(b *Broker, p *wire.Connect) {
	p.CleanStart = false
	if b.V5() {
		p.Properties = append(p.Properties, wire.Property{ID: wire.SessionExpiryInterval, Int: 3600})
	}
}

// ID sets the Client Identifier.
func ID(id string) Option { return func(_ *Broker, p *wire.Connect) { p.ClientID = id } }

// WithWill sets the will message.
func WithWill(w wire.Will) Option { return func(_ *Broker, p *wire.Connect) { p.Will = &w } }

// KeepAlive sets the Keep Alive in seconds of the protocol.
func KeepAlive(seconds uint16) Option {
	return func(_ *Broker, p *wire.Connect) { p.KeepAlive = seconds }
}

// Properties adds properties of MQTT 5.0 to the CONNECT.
func Properties(ps ...wire.Property) Option {
	return func(_ *Broker, p *wire.Connect) { p.Properties = append(p.Properties, ps...) }
}

// Credentials sets user name and password.
func Credentials(user, password string) Option {
	return func(_ *Broker, p *wire.Connect) { p.Username, p.Password = &user, []byte(password) }
}

// ConnectPacket returns the CONNECT of an ordinary client, for specs that
// send it themselves: a new clean session, a Keep Alive that no spec outlasts.
func (b *Broker) ConnectPacket(options ...Option) wire.Connect {
	p := wire.Connect{CleanStart: true, KeepAlive: 600, ClientID: b.ClientID()}
	if b.Username != "" {
		p.Username = &b.Username
	}
	if b.Password != "" {
		p.Password = []byte(b.Password)
	}
	for _, o := range options {
		o(b, &p)
	}
	return p
}

// Connect opens a connection, sends CONNECT and waits until it is accepted.
func (b *Broker) Connect(name string, options ...Option) *Client {
	ginkgo.GinkgoHelper()
	c := b.Open(name)
	c.Send(b.ConnectPacket(options...))
	ack := c.Connack()
	if ack.Code != 0 {
		Inconclusive("%s: the set-up needs an accepted CONNECT, but CONNACK has code 0x%02x", name, ack.Code)
	}
	return c
}

// Open opens a network connection and sends nothing on it.
func (b *Broker) Open(name string) *Client {
	ginkgo.GinkgoHelper()
	c, err := b.dial(b.URL, name, b.spec.trace)
	if err != nil {
		Inconclusive("the broker is gone: %v", err)
	}
	b.enlist(c)
	return c
}

// enlist takes a connection into the bookkeeping of the spec.
func (b *Broker) enlist(c *Client) {
	if !b.spec.enlist(c) {
		_ = c.conn.Close()
		rest()
	}
}

func (b *Broker) dial(url, name string, trace *wire.Trace) (*Client, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.Timeout+DefaultTimeout)
	defer cancel()
	address := wire.Address{URL: url, TLS: b.TLS, Subprotocols: b.offer}
	conn, err := wire.Dial(ctx, address, wire.Options{Name: name, Version: b.Version, Trace: trace})
	if err != nil {
		return nil, err
	}
	return &Client{b: b, name: name, url: url, conn: conn, granted: map[string]byte{}, aliases: map[uint32]string{}}, nil
}

// Seconds returns n seconds of the protocol as time.
func (b *Broker) Seconds(n float64) time.Duration { return time.Duration(n * float64(b.Second)) }

// ServerKeepAlive tells whether the CONNACK that a client got replaces the
// Keep Alive that it asked for.
func (b *Broker) ServerKeepAlive(c *Client) bool {
	seconds, given := c.Announced(wire.ServerKeepAlive)
	return given && uint16(seconds) != c.connect.KeepAlive
}
