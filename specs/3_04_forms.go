package specs

import (
	"bytes"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// ackForms are what may stand behind the Packet Identifier of an
// acknowledgement of success: nothing, the code alone, no properties, and
// properties, User Properties of one name among them.
var ackForms = []struct {
	what string
	tail []byte
}{
	{"without a code", nil},
	{"with a code and no Property Length", []byte{0x00}},
	{"with a Property Length of 0", []byte{0x00, 0}},
	{"with a Reason String", []byte{0x00, 5, 0x1f, 0, 2, 'o', 'k'}},
	{"with two equal User Properties", []byte{0x00, 14, 0x26, 0, 1, 'a', 0, 1, 'b', 0x26, 0, 1, 'a', 0, 1, 'b'}},
}

// formsOfAcks holds the specs of sections 3.4 to 3.7 of MQTT 5.0 on the forms
// in which a client may send an acknowledgement.
func formsOfAcks(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	repeats := "v5/3.4-ack-user-property-repeats"
	Describe("3.4 PUBACK", func() {
		const short = "v5/3.4.2.1-puback-short-form"
		It("may come in each of its forms", v.Statement(short, repeats), func() {
			settlesInEachForm(b, short, 1, wire.PUBACK)
		})
	})

	Describe("3.5 PUBREC", func() {
		It("may come in each of its forms", v.Statement("v5/3.5.2.1-pubrec-short-form", repeats), func() {
			topic := b.Topic()
			sub, pub := b.Connect("sub").Subscribe(topic, 2), b.Connect("pub")
			for _, form := range ackForms {
				pub.Publish(wire.Publish{Topic: topic, QoS: 2, Payload: "open"})
				id := sub.Unacknowledged().ID
				sub.Send(ackOf(wire.PUBREC, id, form.tail))
				Expect(sub.Answer(wire.PUBREL)).To(probe.BePacket(HaveField("ID", id)), "PUBREC %s is followed by PUBREL", form.what)
				sub.Send(wire.Ack{Type: wire.PUBCOMP, ID: id})
				sub.Ping()
			}
		})
	})

	Describe("3.6 PUBREL", func() {
		It("may come in each of its forms", v.Statement("v5/3.6.2.1-pubrel-short-form", repeats), func() {
			topic := b.Topic()
			sub, pub := b.Connect("sub").Subscribe(topic, 1), b.Connect("pub")
			for _, form := range ackForms {
				pub.Send(wire.Publish{Topic: topic, QoS: 2, ID: 7, Payload: form.what})
				pub.Awaits(wire.PUBREC)
				pub.Send(ackOf(wire.PUBREL, 7, form.tail))
				Expect(pub.Answer(wire.PUBCOMP)).To(probe.BePacket(And(HaveField("ID", uint16(7)), HaveField("Code", byte(0)))), "PUBREL %s is answered with PUBCOMP", form.what)
				takes(sub, form.what)
			}
		})
	})

	Describe("3.7 PUBCOMP", func() {
		const short = "v5/3.7.2.1-pubcomp-short-form"
		It("may come in each of its forms", v.Statement(short, repeats), func() {
			settlesInEachForm(b, short, 2, wire.PUBCOMP)
		})
	})
}

// settlesInEachForm asserts that a client that takes one delivery at a time gets
// the next, whatever the form of the acknowledgement that settles it. The usual
// form goes ahead, as often as there are others: a broker that loses count of its
// deliveries by itself is no case of forms.
func settlesInEachForm(b *probe.Broker, key string, qos byte, kind wire.Type) {
	GinkgoHelper()
	sub := takesAtOnce(b, 1)
	sub.publish(bytes.Repeat([]byte{qos}, 1+2*len(ackForms))...)
	for range ackForms {
		sub.Acknowledge(sub.Unacknowledged())
	}
	open := sub.Unacknowledged()
	for _, form := range ackForms {
		if kind == wire.PUBCOMP {
			sub.Send(wire.Ack{Type: wire.PUBREC, ID: open.ID})
			sub.Awaits(wire.PUBREL)
		}
		sub.Send(ackOf(kind, open.ID, form.tail))
		open = sub.follows(key, kind.String()+" "+form.what+" lets the next one come")
	}
}

// ackOf is an acknowledgement with these bytes behind its Packet Identifier.
func ackOf(kind wire.Type, id uint16, tail []byte) wire.Frame {
	p := wire.Frame{Type: kind, Body: append([]byte{byte(id >> 8), byte(id)}, tail...)}
	if kind == wire.PUBREL {
		p.Flags = 2
	}
	return p
}

// requestResponse holds the spec of section 4.10: a request and its answer.
func requestResponse(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	It("4.10 brings a request to who answers, and the answer back", v.Statement("v5/4.10-request-response"), func() {
		request, answers := b.Topic("request"), b.Topic("answers")
		asks := b.Connect("asks").Subscribe(answers, 1)
		replies := b.Connect("replies").Subscribe(request, 1)
		for _, data := range []string{"first", "second"} {
			asks.Publish(wire.Publish{Topic: request, QoS: 1, Payload: "what?", Properties: wire.Properties{
				{ID: wire.ResponseTopic, Str: answers}, {ID: wire.CorrelationData, Bin: []byte(data)}}})
			got := replies.Delivery().Properties
			to, _ := got.First(wire.ResponseTopic)
			about, _ := got.First(wire.CorrelationData)
			Expect(to.Str).To(Equal(answers), "the request says where the answer goes")
			replies.Publish(wire.Publish{Topic: to.Str, QoS: 1, Payload: "that", Properties: wire.Properties{about}})

			Expect(values(asks.Delivery().Properties, wire.CorrelationData)).To(Equal(values(wire.Properties{{ID: wire.CorrelationData, Bin: []byte(data)}}, wire.CorrelationData)), "the answer says to what it belongs")
		}
	})
}

// surplusBytes holds specs of sections 1.5.5 and 2.1.4 of MQTT 5.0: what stands
// behind the last field, and lengths that are longer than they need be.
func surplusBytes(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	surplus, padded := "v5/2.1.4-surplus-bytes", "v5/1.5.5-vbi-not-minimal"
	Describe("2.1.4 Remaining Length", func() {
		It("goes to the last field and no further", v.Statement(surplus), func() {
			watch := b.Bystander()
			var clients []*probe.Client
			for _, p := range bearable(b, samples(b)[1:]) {
				raw := wire.Bytes(b.Version, p)
				c := b.Connect(wire.Type(raw[0] >> 4).String())
				c.SendBytes(wire.Extend(raw, 0x00))
				clients = append(clients, c)
			}
			probe.Reaction(surplus).Expect(names(probe.StillOpen(clients...))).To(BeEmpty(), "a byte behind the last field is none of the packet; these were let pass")
			watch.Unharmed()
		})

		It("is written in as few bytes as will do", v.Statement(padded), func() {
			watch, topic := b.Bystander(), b.Topic()
			var clients []*probe.Client
			for _, c := range []struct {
				what string
				raw  []byte
			}{
				{"PINGREQ", []byte{0xc0, 0x80, 0x00}},
				{"PUBLISH", wire.Overlong(wire.Bytes(b.Version, wire.Publish{Topic: topic}))},
				{"a Property Length of PUBLISH", wire.Bytes(b.Version, wire.Frame{Type: wire.PUBLISH, Body: join(str(topic), []byte{0x80, 0x00})})},
				{"a Subscription Identifier", wire.Bytes(b.Version, wire.Frame{Type: wire.SUBSCRIBE, Flags: 2, Body: join([]byte{0, 1, 3, 0x0b, 0x85, 0x00}, str(topic), []byte{0})})},
				{"the Property Length of PUBREL", []byte{0x62, 5, 0, 9, 0, 0x80, 0x00}},
				{"the Property Length of SUBSCRIBE", wire.Bytes(b.Version, wire.Frame{Type: wire.SUBSCRIBE, Flags: 2, Body: join([]byte{0, 1, 0x80, 0x00}, str(topic), []byte{0})})},
			} {
				client := b.Connect(c.what)
				client.SendBytes(c.raw)
				clients = append(clients, client)
			}
			probe.Reaction(padded).Expect(names(probe.StillOpen(clients...))).To(BeEmpty(), "a length with a byte more than it needs is none; these were let pass")
			watch.Unharmed()
		})
	})
}
