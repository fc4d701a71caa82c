package specs

import (
	"cmp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// problemInformation holds the specs of section 3.1.2.11.7, and of the Reason
// String and the User Property of the answers of a server.
func problemInformation(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("3.1.2.11.7 Request Problem Information", func() { unwantedReasons(b, v) })
	for _, a := range explained {
		Describe(a.section+" "+a.name(), func() { reasonsLeftOut(b, v, a) })
	}
	Describe("3.6.2.1 PUBREL Reason Code", func() { pubrelCode(b, v) })
}

// An explanation is an answer in which a server may say why, and how to get it.
type explanation struct {
	section      string
	kind         wire.Type
	when         string // where one kind is provoked in several ways
	reason, user string // the statements on its Reason String and User Property
	answered     string // the statement that demands the answer, if one does
	provoke      func(b *probe.Broker, room int, options ...probe.Option) *probe.Client
}

func (a explanation) name() string { return strings.TrimSpace(a.kind.String() + " " + a.when) }

// explained are the answers of a server but AUTH. Those with a list of codes
// are provoked with so many filters that they are larger than room, the size
// of CONNACK.
var explained = []explanation{
	{"3.2.2", wire.CONNACK, "", "v5/MQTT-3.2.2-19", "v5/MQTT-3.2.2-20", "",
		func(b *probe.Broker, _ int, options ...probe.Option) *probe.Client {
			method := probe.Properties(wire.Property{ID: wire.AuthenticationMethod, Str: "mqttcheck-unknown"})
			c := b.Open("client")
			c.Send(b.ConnectPacket(append(options, method)...))
			c.Answer(wire.CONNACK)
			return c
		}},
	{"3.4.2", wire.PUBACK, "", "v5/MQTT-3.4.2-2", "v5/MQTT-3.4.2-3", "v5/MQTT-3.3.4-1",
		provoking(wire.PUBACK, func(b *probe.Broker) wire.Packet { return wire.Publish{Topic: b.Topic(), QoS: 1, ID: 7} })},
	{"3.5.2", wire.PUBREC, "", "v5/MQTT-3.5.2-2", "v5/MQTT-3.5.2-3", "v5/MQTT-3.3.4-1",
		provoking(wire.PUBREC, func(b *probe.Broker) wire.Packet { return wire.Publish{Topic: b.Topic(), QoS: 2, ID: 7} })},
	{"3.6.2", wire.PUBREL, "", "v5/MQTT-3.6.2-2", "v5/MQTT-3.6.2-3", "",
		provoking(wire.PUBREL, func(*probe.Broker) wire.Packet { return wire.Ack{Type: wire.PUBREC, ID: 7} })},
	{"3.7.2", wire.PUBCOMP, "", "v5/MQTT-3.7.2-2", "v5/MQTT-3.7.2-3", "v5/MQTT-4.3.3-11",
		provoking(wire.PUBCOMP, func(*probe.Broker) wire.Packet { return wire.Ack{Type: wire.PUBREL, ID: 7} })},
	{"3.9.2", wire.SUBACK, "", "v5/MQTT-3.9.2-1", "v5/MQTT-3.9.2-2", "",
		func(b *probe.Broker, room int, options ...probe.Option) *probe.Client {
			p := wire.Subscribe{ID: 7, Subscriptions: []wire.Subscription{{Filter: b.Topic("a#")}}}
			for _, f := range filters(b.Topic(), room) {
				p.Subscriptions = append(p.Subscriptions, wire.Subscription{Filter: f})
			}
			return provoking(wire.SUBACK, func(*probe.Broker) wire.Packet { return p })(b, room, options...)
		}},
	{"3.11.2", wire.UNSUBACK, "", "v5/MQTT-3.11.2-1", "v5/MQTT-3.11.2-2", "v5/MQTT-3.10.4-4",
		func(b *probe.Broker, room int, options ...probe.Option) *probe.Client {
			return provoking(wire.UNSUBACK, func(*probe.Broker) wire.Packet {
				return wire.Unsubscribe{ID: 7, Filters: filters(b.Topic(), room)}
			})(b, room, options...)
		}},
	{"3.14.2", wire.DISCONNECT, "after a second CONNECT", "v5/MQTT-3.14.2-3", "v5/MQTT-3.14.2-4", "",
		provoking(wire.DISCONNECT, func(b *probe.Broker) wire.Packet { return b.ConnectPacket() })},
	{"3.14.2", wire.DISCONNECT, "after a malformed packet", "v5/MQTT-3.14.2-3", "v5/MQTT-3.14.2-4", "",
		provoking(wire.DISCONNECT, func(b *probe.Broker) wire.Packet {
			return wire.Raw(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic(), QoS: 3, ID: 7}))
		})},
	{"3.14.2", wire.DISCONNECT, "of a client that is taken over", "v5/MQTT-3.14.2-3", "v5/MQTT-3.14.2-4", "",
		func(b *probe.Broker, _ int, options ...probe.Option) *probe.Client {
			c := b.Connect("client", options...)
			b.Connect("other", probe.ID(c.ID()))
			c.Answer(wire.DISCONNECT)
			return c
		}},
}

// provoking gets an answer by one packet.
func provoking(kind wire.Type, packet func(b *probe.Broker) wire.Packet) func(*probe.Broker, int, ...probe.Option) *probe.Client {
	return func(b *probe.Broker, _ int, options ...probe.Option) *probe.Client {
		c := b.Connect("client", options...)
		c.Send(packet(b))
		c.Answer(kind)
		return c
	}
}

// answers returns the packets of the kind that the client got.
func (a explanation) answers(c *probe.Client) []wire.Received {
	var list []wire.Received
	for _, r := range c.History() {
		if r.Type == a.kind {
			list = append(list, r)
		}
	}
	return list
}

// room returns the size of the CONNACK of an ordinary client.
func room(b *probe.Broker) int { return sizeOf(b.Connect("asking"), wire.CONNACK) }

// explains returns an answer that has the property, or else one that says that
// something failed and does not say why: a broker is free to send neither. The
// spec ends as unsupported where there is no such answer.
func (a explanation) explains(b *probe.Broker, room int, id wire.PropertyID) wire.Received {
	GinkgoHelper()
	answers := a.answers(a.provoke(b, room))
	for _, good := range []func(wire.Received) bool{
		func(r wire.Received) bool { return has(r, id) },
		func(r wire.Received) bool { return wire.Failure(r.Packet) },
	} {
		if i := slices.IndexFunc(answers, good); i >= 0 {
			return answers[i]
		}
	}
	probe.Unsupported("the broker sends no %s in %s, and none with the code of a failure either", id, a.kind)
	return wire.Received{}
}

// has tells whether a packet has a property.
func has(r wire.Received, id wire.PropertyID) bool {
	_, given := wire.PropertiesOf(r.Packet).First(id)
	return given
}

func reasonsLeftOut(b *probe.Broker, v version, a explanation) {
	for _, id := range []wire.PropertyID{wire.ReasonString, wire.UserProperty} {
		cited := []string{map[wire.PropertyID]string{wire.ReasonString: a.reason, wire.UserProperty: a.user}[id]}
		if a.answered != "" {
			cited = append(cited, a.answered)
		}
		It("leaves "+id.String()+" out where it is too large for the client", v.Statement(cited...), func() {
			connack := room(b)
			full := a.explains(b, connack, id)
			for _, limit := range limitsBelow(full, id, connack, a.kind) {
				c := a.provoke(b, connack, packetLimit(limit))
				came := a.answers(c)
				for _, r := range came {
					if has(r, id) {
						Expect(len(r.Raw)).To(BeNumerically("<=", limit), "%s has no %s where that makes it larger than %d bytes", a.kind, id, limit)
					}
				}
				if a.answered != "" {
					probe.For(a.answered).Expect(came).NotTo(BeEmpty(), "%s comes without it", a.kind)
				}
			}
		})
	}
}

// usualReason is the size in bytes of a Reason String as brokers send it.
const usualReason = 32

// limitsBelow returns Maximum Packet Sizes for an answer: one that it fits in,
// one that it just exceeds, and one that has room for nothing but the rest of
// it, or for CONNACK, which has to come first. For an answer without the
// property there is the last one only: it comes, without the property, where
// there is no room for that.
func limitsBelow(full wire.Received, id wire.PropertyID, connack int, kind wire.Type) []int {
	GinkgoHelper()
	size, bare := len(full.Raw), len(full.Raw)
	for _, p := range wire.PropertiesOf(full.Packet) {
		if p.ID == wire.ReasonString || p.ID == wire.UserProperty {
			bare -= p.Size()
		}
	}
	if kind == wire.CONNACK {
		connack = 0
	}
	tight := max(bare, connack)
	switch says := has(full, id); {
	case says && size <= tight, !says && tight-size >= usualReason:
		probe.Unsupported("%s is small beside CONNACK: a Maximum Packet Size that lets CONNACK through has room for it", kind)
	case !says:
		return []int{tight}
	}
	return []int{size, size - 1, tight}
}

func unwantedReasons(b *probe.Broker, v version) {
	const key = "v5/MQTT-3.1.2-29"
	unwanted := probe.Properties(wire.Property{ID: wire.RequestProblemInformation, Int: 0})
	for _, a := range explained {
		if a.kind == wire.CONNACK || a.kind == wire.DISCONNECT {
			continue // they may say why in any case
		}
		It("0 keeps Reason String and User Property out of "+a.kind.String(), v.Statement(key), func() {
			connack := room(b)
			usual := a.answers(a.provoke(b, connack))
			if !slices.ContainsFunc(usual, func(r wire.Received) bool { return len(why(r.Packet)) > 0 || wire.Failure(r.Packet) }) {
				probe.Unsupported("the broker sends no Reason String or User Property in %s, and none with the code of a failure either", a.kind)
			}

			for _, r := range a.answers(a.provoke(b, connack, unwanted)) {
				Expect(why(r.Packet)).To(BeEmpty(), "%s has neither Reason String nor User Property", a.kind)
			}
		})
	}

	It("0 keeps User Properties not out of messages", v.Statement("v5/MQTT-3.3.2-17"), func() {
		topic := b.Topic()
		sub := b.Connect("sub", unwanted).Subscribe(topic, 1)

		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "message", Properties: wire.Properties{pair("name", "value")}})

		Expect(sub.Arrival()).To(probe.BePacket(HaveField("Properties", ContainElement(pair("name", "value")))))
	})

	one := "v5/3.1.2.11.7-request-problem-information-one"
	It("1 lets the server say why", v.Observation(one), func() {
		connack := room(b)
		found := map[wire.PropertyID][]string{}
		for _, a := range explained {
			for _, r := range a.answers(a.provoke(b, connack)) {
				for _, p := range why(r.Packet) {
					found[p.ID] = append(found[p.ID], a.name())
				}
			}
		}
		where := func(id wire.PropertyID) string {
			return id.String() + " in " + cmp.Or(strings.Join(found[id], ", "), "no answer")
		}
		probe.Observe(one, "on request there is a %s; a %s", where(wire.ReasonString), where(wire.UserProperty))
	})
}

// why returns the Reason Strings and User Properties of an answer.
func why(p wire.Packet) wire.Properties {
	ps := wire.PropertiesOf(p)
	return append(ps.Every(wire.ReasonString), ps.Every(wire.UserProperty)...)
}

func pubrelCode(b *probe.Broker, v version) {
	const key = "v5/MQTT-3.6.2-1"
	legal := probe.BePacket(HaveField("Code", BeElementOf(byte(0), byte(0x92))))
	It("is 0x00 or 0x92 for a message that was delivered", v.Statement(key), func() {
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 2)
		b.Connect("pub").Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "message"})
		p := sub.Unacknowledged()

		sub.Send(wire.Ack{Type: wire.PUBREC, ID: p.ID})

		rel := sub.Answer(wire.PUBREL)
		if !rel.Came {
			probe.Inconclusive("no PUBREL: %s", rel.GomegaString())
		}
		Expect(rel).To(legal)
		sub.Send(wire.Ack{Type: wire.PUBCOMP, ID: p.ID})
	})

	It("is 0x00 or 0x92 for an identifier that is not known", v.Statement(key), func() {
		c := b.Connect("client")

		c.Send(wire.Ack{Type: wire.PUBREC, ID: 7})

		rel := c.Answer(wire.PUBREL)
		if !rel.Came {
			probe.Unsupported("the broker sends no PUBREL for an identifier that is not known: %s", rel.GomegaString())
		}
		Expect(rel).To(legal)
	})
}
