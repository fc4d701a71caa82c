package specs

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A path is a way in which a message comes to a subscriber. What the text says
// of deliveries holds along all of them: the spec of such a rule is written
// once and run along each path to which it applies.
type path struct {
	name  string // ends the name of a spec
	only5 bool   // subscribers of MQTT 3.1.1 have no such path
	bring func(j journey) *probe.Client
}

// A journey is a message and the two sides between which it goes.
type journey struct {
	from, to     *probe.Broker     // the broker in the version of each side
	message      wire.Publish      // with a Topic Name of its own, at QoS 1 or 2
	subscription wire.Subscription // its options; the path has the filter
	asked        *byte             // the QoS of the subscription; nil for that of the message
	meanwhile    func()            // runs while the message lies in the server, on the paths where it does
}

// The paths by name, for rules that hold along some of them only.
var (
	pathLive     = path{name: "that is delivered at once", bring: bringLive}
	pathRetained = path{name: "that was retained", bring: bringRetained}
	pathQueued   = path{name: "that waited for an absent client", bring: bringQueued}
	pathRepeated = path{name: "that is sent again", bring: bringRepeated}
	pathWill     = path{name: "that is a will", bring: bringWill}
	pathShared   = path{name: "for a shared subscription", bring: bringShared, only5: true}
)

// paths are all of them.
var paths = []path{pathLive, pathRetained, pathQueued, pathRepeated, pathWill, pathShared}

// pathsTo returns the paths to a subscriber of a version, but for some.
func pathsTo(v version, but ...path) []path {
	var list []path
	for _, p := range paths {
		left := p.only5 && !v.is5() || slices.ContainsFunc(but, func(x path) bool { return x.name == p.name })
		if !left {
			list = append(list, p)
		}
	}
	return list
}

// carry brings a message on its way and returns the subscriber: the next
// PUBLISH that it gets is the delivery.
func (p path) carry(j journey) *probe.Client {
	GinkgoHelper()
	if j.message.QoS > 0 {
		j.from.Lacking("qos" + digit(j.message.QoS))
	}
	return p.bring(j)
}

// along is carry for a publisher and a subscriber of one version, and returns
// the delivery: it is known by its topic, which no other message has.
func (p path) along(b *probe.Broker, message wire.Publish) wire.Publish {
	GinkgoHelper()
	sub := p.carry(journey{from: b, to: b, message: message})
	got := needed(sub.AnswerWhere(onTopic(message.Topic), wire.PUBLISH), message.Topic)
	sub.Acknowledge(got)
	return got
}

// needed is the message of an answer without which there is nothing to judge.
func needed(a probe.Answer, topic string) wire.Publish {
	GinkgoHelper()
	if !a.Came {
		probe.Inconclusive("the set-up needs the message on %q, but %s", topic, a.GomegaString())
	}
	return a.Packet.(wire.Publish)
}

// subscribed connects the subscriber and subscribes.
func (j journey) subscribed(filter string, options ...probe.Option) *probe.Client {
	GinkgoHelper()
	s := j.subscription
	s.Filter, s.QoS = filter, j.message.QoS
	if j.asked != nil {
		s.QoS = *j.asked
	}
	c := j.to.Connect("sub", options...)
	c.SubscribeWith(wire.Subscribe{Subscriptions: []wire.Subscription{s}})
	return c
}

// published connects the publisher and publishes the message.
func (j journey) published() {
	GinkgoHelper()
	j.from.Connect("pub").Publish(j.message)
}

func (j journey) lies() {
	if j.meanwhile != nil {
		j.meanwhile()
	}
}

func bringLive(j journey) *probe.Client {
	GinkgoHelper()
	sub := j.subscribed(j.message.Topic)
	j.published()
	return sub
}

func bringRetained(j journey) *probe.Client {
	GinkgoHelper()
	j.from.Lacking("retain")
	j.to.Lacking("retain")
	j.message.Retain = true
	settled(j.from, j.from.Connect("pub"), j.message)
	j.lies()
	return j.subscribed(j.message.Topic)
}

func bringQueued(j journey) *probe.Client {
	GinkgoHelper()
	id := j.to.ClientID()
	j.subscribed(j.message.Topic, probe.ID(id), probe.Persistent).Disconnect()
	j.published()
	j.lies()
	return resumed(j.to, "again", id)
}

func bringRepeated(j journey) *probe.Client {
	GinkgoHelper()
	id := j.to.ClientID()
	sub := j.subscribed(j.message.Topic, probe.ID(id), probe.Persistent)
	j.published()
	sub.Unacknowledged()
	sub.Drop()
	j.lies()
	return resumed(j.to, "again", id)
}

func bringWill(j journey) *probe.Client {
	GinkgoHelper()
	sub := j.subscribed(j.message.Topic)
	m := j.message
	j.from.Connect("client", probe.WithWill(wire.Will{
		Topic: m.Topic, Payload: []byte(m.Payload), QoS: m.QoS, Retain: m.Retain, Properties: m.Properties,
	})).Drop()
	return sub
}

func bringShared(j journey) *probe.Client {
	GinkgoHelper()
	j.to.Lacking("shared")
	sub := j.subscribed("$share/group/" + j.message.Topic)
	j.published()
	return sub
}

// inOther returns the broker spoken to in the other version; the spec is
// unsupported where the broker does not offer that.
func inOther(b *probe.Broker) *probe.Broker {
	GinkgoHelper()
	other := b.In(wire.V5)
	if b.V5() {
		other = b.In(wire.V311)
	}
	if b.Offered != nil && !b.Offered[probe.Prefix(other.Version)] {
		probe.Unsupported("the broker does not offer the other version of MQTT")
	}
	return other
}
