package specs

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// smallLimit is a Maximum Packet Size that leaves room for CONNACK and for the
// topics of the suite, and whose packets have a Remaining Length of one byte.
const smallLimit = 120

// packetLimit announces a Maximum Packet Size in CONNECT.
func packetLimit(n int) probe.Option {
	return probe.Properties(wire.Property{ID: wire.MaximumPacketSize, Int: uint32(n)})
}

// filler is a payload of n bytes.
func filler(n int) string { return strings.Repeat("x", n) }
