package core

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// Shell are decisions about network connections, which are not the core's. They
// stand here so that a Defect replaces them like all others.
type Shell struct {
	// KeepsDescriptors never gives back the descriptor of a connection that the
	// server has ended.
	KeepsDescriptors bool
	// SpinsBehindHalf leaves a writer behind that never sleeps when a client ends
	// its half of the connection.
	SpinsBehindHalf bool
}

// Shell returns the decisions about network connections.
func (s *Server) Shell() Shell { return s.rules.shell }

// fuzzDefects end the process, make it deaf, or take more and more: the suite
// cannot judge a broker that has them, and the fuzzer has to find them.
var fuzzDefects = []Defect{
	{"crash-subscribe-without-options", []string{"v5/MQTT-4.13.1-1", "v311/MQTT-4.8.0-1"},
		"The options byte behind a Topic Filter is read where the packet has ended.", Fuzz,
		func(r *rules) { r.skips = lookedAt(readsOptionsUnchecked) }},
	{"crash-property-length", []string{"v5/MQTT-4.13.1-1"},
		"A Property Length is believed that leads beyond the end of a PUBLISH.", Fuzz,
		func(r *rules) {
			r.skips = lookedAt(func(c *conn, first byte, body []byte) {
				if packet.Type(first>>4) != packet.PUBLISH || !c.five() || len(body) < 2 {
					return
				}
				at := 2 + int(binary.BigEndian.Uint16(body)) + 2*min(1, int(first&6))
				if at < len(body) && body[at] < 0x80 {
					_ = body[at+int(body[at])]
				}
			})
		}},
	{"crash-before-connect", []string{"v311/MQTT-3.1.0-1", "v5/MQTT-3.1.0-1"},
		"The handler of a packet that comes before CONNECT looks for its Session.", Fuzz,
		func(r *rules) {
			r.skips = lookedAt(func(c *conn, first byte, _ []byte) {
				if c.state == fresh && packet.Type(first>>4) != packet.CONNECT {
					_ = c.session.id
				}
			})
		}},
	{"crash-share-without-filter", []string{"v5/MQTT-4.13.1-1"},
		"A filter that begins with $share/ is taken to have three levels.", Fuzz,
		func(r *rules) {
			r.parsedShare = func(filter string) (name, inner string, shared bool, err error) {
				if strings.HasPrefix(filter, "$share/") {
					levels := strings.SplitN(filter, "/", 3)
					_ = levels[2]
				}
				return topic.ParseShared(filter)
			}
		}},
	{"crash-takeover-with-open-qos2", []string{"v311/MQTT-3.1.4-2", "v5/MQTT-3.1.4-3"},
		"A connection is taken over together with its open QoS 2 publications, which the old handler still walks.", Fuzz,
		func(r *rules) {
			r.takesOver = func(old *conn) bool {
				if len(old.session.pending) > 0 {
					old.session = nil
				}
				return old.session.conn != nil
			}
		}},
	{"crash-unknown-alias", []string{"v5/MQTT-3.3.2-9"},
		"A Topic Alias is used as an index before it is held against the maximum.", Fuzz,
		func(r *rules) {
			r.refusesAlias = func(alias uint16, maximum int) bool {
				return !append([]bool{false}, slices.Repeat([]bool{true}, maximum)...)[alias]
			}
		}},
	{"hang-deep-filter", []string{"v311/4.7.3-many-levels", "v5/4.7.3-many-levels"},
		"The levels of a filter are counted in a byte, and the search for the last of more than 255 never ends.", Fuzz,
		func(r *rules) {
			r.storedFilter = func(filter string) string {
				for n := byte(0); int(n) < strings.Count(filter, "/"); n++ {
				}
				return filter
			}
		}},
	{"hang-empty-unsubscribe-filter", []string{"v311/MQTT-4.7.3-1", "v5/MQTT-4.7.3-1"},
		"The loop over the filters of an UNSUBSCRIBE does not get on where one is empty.", Fuzz,
		func(r *rules) {
			r.skips = lookedAt(func(c *conn, first byte, body []byte) {
				if packet.Type(first>>4) != packet.UNSUBSCRIBE {
					return
				}
				at := 2
				if c.five() && len(body) > 2 {
					at += 1 + int(body[2])
				}
				for at+2 <= len(body) {
					if n := int(binary.BigEndian.Uint16(body[at:])); n > 0 {
						at += 2 + n
					}
				}
			})
		}},
	{"hang-share-without-member", []string{"v5/MQTT-4.8.2-3"},
		"The search for a member that is connected goes round for ever when none is.", Fuzz,
		func(r *rules) {
			r.sharedTakers = func(_ *Server, sh *share, _ *message, chosen []*subscription) []*subscription {
				for i := 0; len(sh.members) > 0 && sh.members[i%len(sh.members)].session.conn == nil; i++ {
				}
				return chosen
			}
		}},
	{"hang-busy-after-half-close", []string{"v311/MQTT-4.8.0-1", "v5/MQTT-4.13.1-1"},
		"A client that ends its half of the connection leaves a loop behind that never sleeps.", Fuzz,
		func(r *rules) { r.shell.SpinsBehindHalf = true }},
	{"leak-open-identifier", []string{"v311/4.3.3-onward-moment", "v5/MQTT-4.3.3-10"},
		"What is set aside for a QoS 2 publication is never given back.", Fuzz,
		func(r *rules) {
			keep := leak(64 << 10)
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				if p, ok := p.(*packet.Publish); ok && p.QoS == 2 {
					keep()
				}
				return p
			}
		}},
	{"leak-unsubscribed", []string{"v311/MQTT-3.10.4-2", "v5/MQTT-3.10.4-2"},
		"What is set aside for a subscription outlives UNSUBSCRIBE.", Fuzz,
		func(r *rules) {
			keep := leak(128 << 10)
			r.unsubscribedFrom = func(*session, *subscription) { keep() }
		}},
	{"leak-will", []string{"v311/MQTT-3.1.2-8", "v5/MQTT-3.1.2-8"},
		"A will that has been published is kept.", Fuzz,
		func(r *rules) {
			keep, standard := leak(128<<10), r.publishesWill
			r.publishesWill = func(c *conn, why ending) bool {
				keep()
				return standard(c, why)
			}
		}},
	{"leak-descriptor", []string{"v311/MQTT-4.8.0-1", "v5/MQTT-4.13.1-1"},
		"The descriptor of a connection is only given back when the client resets it.", Fuzz,
		func(r *rules) { r.shell.KeepsDescriptors = true }},
}

// lookedAt is a decoder that looks at a packet, without care, before it is taken
// apart.
func lookedAt(look func(c *conn, first byte, body []byte)) func(*Server, *conn, byte, []byte) bool {
	return func(_ *Server, c *conn, first byte, body []byte) bool {
		look(c, first, body)
		return false
	}
}

// leak returns a function that takes memory, and writes to it, for good.
func leak(size int) func() {
	var kept [][]byte
	return func() { kept = append(kept, bytes.Repeat([]byte{1}, size)) }
}

// readsOptionsUnchecked walks the filters of a SUBSCRIBE and reads the byte
// behind each.
func readsOptionsUnchecked(c *conn, first byte, body []byte) {
	if packet.Type(first>>4) != packet.SUBSCRIBE || c.state != established {
		return
	}
	at := 2
	if c.five() && len(body) > 2 {
		at += 1 + int(body[2])
	}
	for at+2 < len(body) {
		at += 2 + int(binary.BigEndian.Uint16(body[at:]))
		if at > len(body) {
			return // that much is checked
		}
		_ = body[at]
		at++
	}
}
