package probe

import (
	"errors"
	"strings"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// OverWebSocket returns the broker at a WebSocket listener. The spec ends as a
// skip where none is known.
func (b *Broker) OverWebSocket() *Broker {
	ginkgo.GinkgoHelper()
	return b.over("a WebSocket listener: add --also ws://HOST:PORT/mqtt", "ws", "ws", "wss")
}

// OverTLS returns the broker at a TLS listener. The spec ends as a skip where
// none is known.
func (b *Broker) OverTLS() *Broker {
	ginkgo.GinkgoHelper()
	return b.over("a TLS listener: add --also mqtts://HOST:PORT", "tls", "mqtts")
}

// over returns the broker at the first of its listeners with one of the
// schemes, or a variant.
func (b *Broker) over(need, variant string, schemes ...string) *Broker {
	ginkgo.GinkgoHelper()
	for _, scheme := range schemes {
		for _, url := range append([]string{b.URL}, b.Also...) {
			if strings.HasPrefix(url, scheme+"://") {
				other := *b
				other.URL = url
				return &other
			}
		}
	}
	if _, ok := b.Variants[variant]; !ok {
		SkipFor("needs %s", need)
	}
	return b.Variant(variant)
}

// Offering returns the broker at a WebSocket listener where clients offer these
// subprotocols instead of mqtt.
func (b *Broker) Offering(subprotocols ...string) *Broker {
	other := *b
	other.offer = append([]string{}, subprotocols...)
	return &other
}

// WithQuery returns the broker at a WebSocket listener with a query in its URI.
func (b *Broker) WithQuery(query string) *Broker {
	other := *b
	mark := "?"
	if strings.Contains(b.URL, mark) {
		mark = "&"
	}
	other.URL += mark + query
	return &other
}

// OpenOrRefused is Open for a handshake of WebSocket that the broker may refuse:
// the client is nil then, and the text says how.
func (b *Broker) OpenOrRefused(name string) (c *Client, how string) {
	ginkgo.GinkgoHelper()
	c, err := b.dial(b.URL, name, b.spec.trace)
	if refused := (*wire.HandshakeError)(nil); errors.As(err, &refused) {
		return nil, refused.Text
	}
	if err != nil {
		Inconclusive("the WebSocket does not open: %v", err)
	}
	b.enlist(c)
	return c, ""
}

// Subprotocol returns what the broker picked in the handshake of a WebSocket,
// "" where it picked none.
func (c *Client) Subprotocol() string { return c.conn.Subprotocol() }

// SendFrames writes WebSocket frames as they are, all in one write.
func (c *Client) SendFrames(frames ...wire.WSFrame) {
	var data []byte
	for _, f := range frames {
		if f.Op < wire.OpClose {
			data = append(data, f.Payload...)
		}
	}
	c.frame(data)
	_ = c.conn.SendFrames(frames...)
}
