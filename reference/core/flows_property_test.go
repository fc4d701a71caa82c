package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// flows is a publisher and a subscriber that keep to the protocol, on a network
// that loses whatever is on its way when a connection breaks.
type flows struct {
	*world
	published int
	// The publisher: what is not settled, by Packet Identifier, in order.
	open  []*outgoing
	ids   int
	toPub []packet.Packet // on their way
	// The subscriber: identifiers of QoS 2 that await PUBREL, acknowledgements
	// that are not sent yet, and how often each message came.
	pending map[uint16]bool
	acks    []string
	toSub   []packet.Packet
	came    map[string]int
}

// outgoing is a publication that is not settled.
type outgoing struct {
	id, number, qos int
	received        bool // PUBREC came
}

func newFlows(t *testing.T) *flows {
	f := &flows{world: newWorld(t), pending: map[uint16]bool{}, came: map[string]int{}}
	f.heard = func(c *scripted, p packet.Packet) {
		switch c.name {
		case "p":
			f.toPub = append(f.toPub, p)
		case "s":
			f.toSub = append(f.toSub, p)
		}
	}
	f.connectPub()
	f.connectSub(20)
	f.say("s subscribe t 2")
	f.toSub = nil
	return f
}

// connectPub connects the publisher, which sends again what is open.
func (f *flows) connectPub() {
	f.toPub = nil
	f.say("p connect v5 expiry=1000")
	f.toPub = nil
	for _, o := range f.open {
		if o.received {
			f.say("p pubrel %d", o.id)
		} else {
			f.say("p publish t %d q%d id=%d dup", o.number, o.qos, o.id)
		}
	}
}

func (f *flows) connectSub(receive int) {
	f.toSub, f.acks = nil, nil
	f.say("s connect v5 expiry=1000 receive=%d", receive)
	f.toSub = slices.DeleteFunc(f.toSub, func(p packet.Packet) bool { return p.Type() == packet.CONNACK })
}

func (f *flows) publish(qos int) {
	if len(f.open) >= 8 || f.published >= 200 {
		return
	}
	f.ids++
	o := &outgoing{id: f.ids, number: f.published, qos: qos}
	f.published++
	f.open = append(f.open, o)
	f.say("p publish t %d q%d id=%d", o.number, qos, o.id)
}

// pubReads has the publisher read its next packet.
func (f *flows) pubReads() {
	if len(f.toPub) == 0 {
		return
	}
	p := f.toPub[0]
	f.toPub = f.toPub[1:]
	ack, ok := p.(*packet.Ack)
	if !ok {
		return
	}
	i := slices.IndexFunc(f.open, func(o *outgoing) bool { return o.id == int(ack.ID) })
	switch {
	case i < 0:
		f.wrong("%s for an identifier that is not open", describe(p))
	case ack.Kind == packet.PUBREC:
		f.open[i].received = true
		f.say("p pubrel %d", ack.ID)
	case ack.Kind == packet.PUBACK && f.open[i].qos == 1, ack.Kind == packet.PUBCOMP && f.open[i].received:
		f.open = slices.Delete(f.open, i, i+1)
	default:
		f.wrong("%s for a message at QoS %d", describe(p), f.open[i].qos)
	}
}

// subReads has the subscriber read its next packet; it acknowledges later.
func (f *flows) subReads() {
	if len(f.toSub) == 0 {
		return
	}
	p := f.toSub[0]
	f.toSub = f.toSub[1:]
	switch p := p.(type) {
	case *packet.Publish:
		name := string(p.Payload)
		if p.QoS < 2 || !f.pending[p.ID] {
			f.came[name]++
		}
		if p.QoS == 2 && f.came[name] > 1 {
			f.wrong("message %s came %d times at QoS 2", name, f.came[name])
		}
		if p.QoS == 2 {
			f.pending[p.ID] = true
		}
		f.acks = append(f.acks, fmt.Sprintf("%s %d", map[byte]string{1: "puback", 2: "pubrec"}[p.QoS], p.ID))
	case *packet.Ack:
		delete(f.pending, p.ID)
		f.acks = append(f.acks, fmt.Sprintf("pubcomp %d", p.ID))
	}
}

// subAcks sends one of the acknowledgements, not always the first.
func (f *flows) subAcks(n int) {
	if len(f.acks) > 0 {
		i := n % len(f.acks)
		ack := f.acks[i]
		f.acks = slices.Delete(f.acks, i, i+1)
		f.say("s %s", ack)
	}
}

// settle lets everybody finish: then each message has come, at QoS 2 once.
func (f *flows) settle() {
	f.connectPub()
	f.connectSub(20)
	for range 5000 {
		if len(f.toPub)+len(f.toSub)+len(f.acks) == 0 {
			break
		}
		f.pubReads()
		f.subReads()
		f.subAcks(0)
	}
	for i := range f.published {
		if f.came[fmt.Sprint(i)] == 0 {
			f.wrong("message %d has not come", i)
		}
	}
	if len(f.open) > 0 || len(f.server.sessions["s"].byID) > 0 || len(f.server.sessions["s"].queue) > 0 || len(f.server.sessions["p"].pending) > 0 {
		f.wrong("something is still open")
	}
}

func plain[W any](name string, do func(W)) func(int) step[W] {
	return func(int) step[W] { return step[W]{name, do} }
}

func numbered[W any](name string, do func(W, int)) func(int) step[W] {
	return func(n int) step[W] { return step[W]{name, func(w W) { do(w, n) }} }
}

// flowSteps are what can happen to them.
var flowSteps = slices.Concat(
	times(4, numbered("publish", func(f *flows, n int) { f.publish(1 + n%2) })),
	times(4, plain("publisher reads", (*flows).pubReads)),
	times(6, plain("subscriber reads", (*flows).subReads)),
	times(4, numbered("subscriber acknowledges", (*flows).subAcks)),
	times(1, plain("publisher reconnects", (*flows).connectPub)),
	times(1, numbered("subscriber reconnects", func(f *flows, n int) { f.connectSub(1 + n%5) })),
	times(1, plain("subscriber drops", func(f *flows) { f.say("s drop"); f.toSub, f.acks = nil, nil })),
	times(1, plain("crash", func(f *flows) { f.say("restart"); f.connectPub(); f.connectSub(3) })),
	times(1, plain("settle", (*flows).settle)),
)

// QoS 1 is at least once and QoS 2 exactly once, under loss, reconnects,
// reordered acknowledgements and crashes of the server.
func TestFlowsProperty(t *testing.T) { flowsProperty.check(t) }

var flowsProperty = property[*flows]{
	runs: 200, size: 60, fresh: newFlows, steps: flowSteps,
	world: func(f *flows) *world { return f.world },
}
