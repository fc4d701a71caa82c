package specs

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A carrier is a packet of a client that may have properties, and how it shows
// that the server has noticed what is wrong with them.
type carrier struct {
	what      string
	misplaced []wire.PropertyID // that may not stand in it
	key       string            // of the statement that says so
	// unnoticed sends the packet with each of the faults, on a connection of its
	// own, and returns the faults that the server let pass.
	unnoticed func(b *probe.Broker, faults []fault) []string
}

// fault is what stands in the place of a packet's properties. Its zero value
// is a packet without any.
type fault struct {
	what       string
	properties []byte
	surplus    int  // of the Property Length
	code       byte // the Reason Code, where the packet has one
}

// in puts the fault into a packet that has no properties.
func (f fault) in(packet []byte) []byte {
	changed := wire.WithPropertyLength(packet, len(f.properties)+f.surplus, f.properties)
	if at, ok := codeAt[wire.Type(packet[0]>>4)]; ok {
		body := wire.Body(changed)
		body[at] = f.code
		changed = wire.WithBody(changed, body)
	}
	return changed
}

// codeAt is where the Reason Code of a packet stands in its body.
var codeAt = map[wire.Type]int{wire.PUBACK: 2, wire.PUBREC: 2, wire.PUBREL: 2, wire.PUBCOMP: 2, wire.DISCONNECT: 0}

// carriers are the packets that a client sends, but AUTH, which takes a server
// with an Authentication Method.
var carriers = []carrier{
	{"CONNECT", wire.Misplaced(wire.CONNECT), "v5/2.2.2-property-not-for-connect", byConnack(connecting)},
	{"the Will Properties", wire.MisplacedInWill(), "v5/2.2.2-property-not-for-will", byConnack(connectingWithWill)},
	{"PUBLISH", wire.Misplaced(wire.PUBLISH), "v5/2.2.2-property-not-for-publish", byClose(sending(func(b *probe.Broker) wire.Packet {
		return wire.Publish{Topic: b.Topic(), Payload: "payload"}
	}))},
	{"PUBACK", wire.Misplaced(wire.PUBACK), "v5/2.2.2-property-not-for-acks", byClose(acknowledging(wire.PUBACK))},
	{"PUBREC", wire.Misplaced(wire.PUBREC), "v5/2.2.2-property-not-for-acks", byClose(acknowledging(wire.PUBREC))},
	{"PUBREL", wire.Misplaced(wire.PUBREL), "v5/2.2.2-property-not-for-acks", byClose(releasing)},
	{"PUBCOMP", wire.Misplaced(wire.PUBCOMP), "v5/2.2.2-property-not-for-acks", byClose(acknowledging(wire.PUBCOMP))},
	{"SUBSCRIBE", wire.Misplaced(wire.SUBSCRIBE), "v5/2.2.2-property-not-for-subscribe", byClose(sending(func(b *probe.Broker) wire.Packet {
		return wire.Subscribe{ID: 9, Subscriptions: []wire.Subscription{{Filter: b.Topic()}}}
	}))},
	{"UNSUBSCRIBE", wire.Misplaced(wire.UNSUBSCRIBE), "v5/2.2.2-property-not-for-unsubscribe", byClose(sending(func(b *probe.Broker) wire.Packet {
		return wire.Unsubscribe{ID: 9, Filters: []string{b.Topic()}}
	}))},
	// Server Reference is left alone: the table of properties has it for
	// DISCONNECT, of whichever side.
	{"DISCONNECT", wire.Misplaced(wire.DISCONNECT), "v5/2.2.2-property-not-for-disconnect", byWill},
}

// ready returns a client that may send the packet now, and the packet, without
// properties, as bytes.
type ready func(b *probe.Broker) (c *probe.Client, packet []byte)

// byClose judges by the end of the connection.
func byClose(to ready) func(*probe.Broker, []fault) []string {
	return func(b *probe.Broker, faults []fault) []string {
		GinkgoHelper()
		twin, packet := to(b)
		twin.SendBytes(fault{}.in(packet))
		twin.Ping()
		clients := make([]*probe.Client, len(faults))
		what := map[*probe.Client]string{}
		for i, f := range faults {
			clients[i], packet = to(b)
			what[clients[i]] = f.what
			clients[i].SendBytes(f.in(packet))
		}
		passed := []string{}
		for _, c := range probe.StillOpen(clients...) {
			passed = append(passed, what[c])
		}
		return passed
	}
}

// sending is about packets that can be sent at any time.
func sending(packet func(b *probe.Broker) wire.Packet) ready {
	return func(b *probe.Broker) (*probe.Client, []byte) {
		GinkgoHelper()
		return b.Connect("client"), wire.Bytes(b.Version, packet(b))
	}
}

// acknowledging is about the packets of a client that gets a message.
func acknowledging(kind wire.Type) ready {
	return func(b *probe.Broker) (*probe.Client, []byte) {
		GinkgoHelper()
		qos, topic := byte(2), b.Topic()
		if kind == wire.PUBACK {
			qos = 1
		}
		b.Lacking("qos" + digit(qos))
		c := b.Connect("client").Subscribe(topic, qos)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: qos, Payload: "open"})
		id := c.Unacknowledged().ID
		if kind == wire.PUBCOMP {
			c.Send(wire.Ack{Type: wire.PUBREC, ID: id})
			c.Awaits(wire.PUBREL)
		}
		return c, wire.Bytes(b.Version, wire.Ack{Type: kind, ID: id, Properties: wire.Properties{}})
	}
}

// releasing is about PUBREL.
func releasing(b *probe.Broker) (*probe.Client, []byte) {
	GinkgoHelper()
	b.Lacking("qos2")
	c := b.Connect("client")
	c.Send(wire.Publish{Topic: b.Topic(), QoS: 2, ID: 9, Payload: "open"})
	c.Awaits(wire.PUBREC)
	return c, wire.Bytes(b.Version, wire.Ack{Type: wire.PUBREL, ID: 9, Properties: wire.Properties{}})
}

// byConnack judges by a success CONNACK, of packets that make puts a fault in.
func byConnack(make func(b *probe.Broker, f fault) []byte) func(*probe.Broker, []fault) []string {
	return func(b *probe.Broker, faults []fault) []string {
		GinkgoHelper()
		twin := b.Open("twin")
		twin.SendBytes(make(b, fault{}))
		if !granted(twin.Answer(wire.CONNACK)) {
			probe.Inconclusive("the valid twin is not accepted")
		}
		passed := []string{}
		for _, f := range faults {
			c := b.Open("client")
			c.SendBytes(make(b, f))
			a := c.Answer(wire.CONNACK)
			if granted(a) {
				passed = append(passed, f.what)
			} else if !a.Came && !a.Closed {
				return append(passed, f.what+" (neither answered nor closed)")
			}
		}
		return passed
	}
}

func connecting(b *probe.Broker, f fault) []byte {
	return f.in(wire.Bytes(b.Version, b.ConnectPacket()))
}

func connectingWithWill(b *probe.Broker, f fault) []byte {
	p := b.ConnectPacket(probe.WithWill(wire.Will{Topic: b.Topic("will"), Payload: []byte("gone")}))
	packet := wire.Bytes(b.Version, p)
	body := wire.Body(packet)
	at := 13 + len(p.ClientID) // behind the header, no properties and the Client Identifier
	changed := append(wire.AppendVarint(body[:at:at], len(f.properties)+f.surplus), f.properties...)
	return wire.WithBody(packet, append(changed, body[at+1:]...))
}

// byWill judges a DISCONNECT: that it was found wrong is shown by a DISCONNECT
// of the server, or by the will.
func byWill(b *probe.Broker, faults []fault) []string {
	GinkgoHelper()
	twin, sub, topic := watched(b)
	twin.SendBytes(fault{}.in(wire.Bytes(b.Version, wire.Disconnect{Properties: wire.Properties{}})))
	probe.StillOpen(twin)
	if len(sub.DeliveredBefore(b.Connect("pub").Sentinel(topic, 1))) > 0 {
		probe.Inconclusive("the will of the valid twin is published")
	}
	passed := []string{}
	clients, wills := partings(b, faults)
	for i, f := range faults {
		if !wills[f.what] && !clients[i].Within(0, wire.DISCONNECT).Came {
			passed = append(passed, f.what)
		}
	}
	return passed
}

// partings lets clients with a will leave by DISCONNECT, each with one of the
// faults, and returns them, and by what was wrong whose will was published.
func partings(b *probe.Broker, faults []fault) (clients []*probe.Client, wills map[string]bool) {
	GinkgoHelper()
	topic := b.Topic("will")
	sub := b.Connect("sub").Subscribe(topic, 1)
	for _, f := range faults {
		c := b.Connect(f.what, probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte(f.what)}))
		c.SendBytes(f.in(wire.Bytes(b.Version, wire.Disconnect{Properties: wire.Properties{}})))
		clients = append(clients, c)
	}
	probe.StillOpen(clients...)
	wills = map[string]bool{}
	for len(wills) < len(faults) {
		will, ok := sub.Within(b.Timeout, wire.PUBLISH).Packet.(wire.Publish)
		if !ok {
			break
		}
		sub.Acknowledge(will)
		wills[will.Payload] = true
	}
	return clients, wills
}
