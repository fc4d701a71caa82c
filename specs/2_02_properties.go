package specs

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// properties holds the specs of section 2.2.2 of MQTT 5.0: properties that do
// not belong into a packet, or that are none. Each is a table over all packets
// that a client sends.
func properties(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("2.2.2 Properties", func() {
		for _, c := range carriers {
			noticesAll(b, v, c, "one that does not belong there", c.key, misplaced(c))
			noticesAll(b, v, c, "one that is not defined", "v5/2.2.2-unknown-property", undefined)
			noticesAll(b, v, c, "a value that is cut off", "v5/2.2.2-property-value-wrong-size", cutOff(c))
			noticesAll(b, v, c, "a length beyond the packet", "v5/2.2.2-property-length-beyond-packet", beyond)
		}
		authMisplaced(b, v)
		freeOrder(b, v)
	})
}

// noticesAll asserts that the server notices each fault in the packet.
func noticesAll(b *probe.Broker, v version, c carrier, what, key string, faults []fault) {
	It("of "+c.what+" are judged: "+what, v.Statement(key), func() {
		watch := b.Bystander()
		probe.Reaction(key).Expect(c.unnoticed(b, faults)).To(BeEmpty(), "a malformed packet ends the connection; these were let pass")
		watch.Unharmed()
	})
}

// misplaced are the properties that do not belong into a packet, each with a
// value that is right.
func misplaced(c carrier) []fault {
	var faults []fault
	for _, id := range c.misplaced {
		faults = append(faults, fault{what: id.String(), properties: someProperty(id).Bytes()})
	}
	return faults
}

// someProperty is a property with a legal value.
func someProperty(id wire.PropertyID) wire.Property {
	return wire.Property{ID: id, Int: 1, Str: "mqttcheck", Bin: []byte("mqttcheck"), Pair: [2]string{"name", "value"}}
}

// undefined are Property Identifiers that Table 2-4 does not have, among them
// one of two bytes.
var undefined = []fault{
	{what: "property 0x00", properties: []byte{0x00, 0x00}},
	{what: "property 0x04", properties: []byte{0x04, 0x00}},
	{what: "property 0x7F", properties: []byte{0x7f, 0x00}},
	{what: "property 0x80 0x01", properties: []byte{0x80, 0x01, 0x00}},
}

// beyond are Property Lengths that go beyond the packet, by much and by
// little.
var beyond = []fault{
	{what: "a Property Length of 127 more", surplus: 127},
	{what: "a Property Length of 16383 more", surplus: 16383},
	{what: "a Property Length of 100 more behind a property", surplus: 100, properties: []byte{0x26, 0, 1, 'a', 0, 1, 'b'}},
}

// cutOff are values that the Property Length cuts off. The packet goes on
// behind it as it should.
func cutOff(c carrier) []fault {
	faults := []fault{
		{what: "the name of a User Property", properties: []byte{0x26, 0, 9, 'n', 'a'}},
		{what: "the length of a User Property's value", properties: []byte{0x26, 0, 1, 'n', 0}},
	}
	for _, id := range []wire.PropertyID{wire.SessionExpiryInterval, wire.ReceiveMaximum, wire.RequestProblemInformation,
		wire.MessageExpiryInterval, wire.PayloadFormatIndicator, wire.SubscriptionIdentifier, wire.WillDelayInterval, wire.ReasonString} {
		if !slices.Contains(c.misplaced, id) {
			whole := someProperty(id).Bytes()
			faults = append(faults, fault{what: "the value of " + id.String(), properties: whole[:len(whole)-1]})
		}
	}
	return faults
}

// authMisplaced is about AUTH, in the middle of an exchange.
func authMisplaced(b *probe.Broker, v version) {
	const key = "v5/2.2.2-property-not-for-auth"
	for _, id := range []wire.PropertyID{wire.PayloadFormatIndicator, wire.SessionExpiryInterval, wire.TopicAlias} {
		It("of AUTH are judged: "+id.String()+" does not belong there", v.Statement(key), func() {
			refusedAuth(b, key, "AUTH with "+id.String(), func(x *probe.Exchange) wire.Auth {
				p := x.Answer()
				p.Properties = append(p.Properties, someProperty(id))
				return p
			})
		})
	}
}

// freeOrder is about the order of properties, which has no meaning.
func freeOrder(b *probe.Broker, v version) {
	const key = "v5/2.2.2-property-order-free"
	It("of CONNECT may stand in any order", v.Statement(key), func() {
		ps := wire.Properties{someProperty(wire.SessionExpiryInterval), {ID: wire.ReceiveMaximum, Int: 10}, someProperty(wire.UserProperty), {ID: wire.MaximumPacketSize, Int: 100_000}}
		for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
			c := b.Open("client")
			c.Send(b.ConnectPacket(probe.Properties(ordered(ps, order)...)))
			Expect(granted(c.Answer(wire.CONNACK))).To(BeTrue(), "CONNECT is accepted in each order")
		}
	})

	It("of PUBLISH may stand in any order", v.Statement(key), func() {
		ps := wire.Properties{someProperty(wire.PayloadFormatIndicator), {ID: wire.MessageExpiryInterval, Int: 600}, someProperty(wire.ContentType), someProperty(wire.CorrelationData)}
		topic := b.Topic()
		sub := b.Connect("sub").Subscribe(topic, 1)
		pub := b.Connect("pub")
		for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
			pub.Send(wire.Publish{Topic: topic, QoS: 1, ID: pub.NextID(), Payload: "payload", Properties: ordered(ps, order)})
			Expect(pub.Answer(wire.PUBACK)).To(probe.BePacket(HaveField("Code", BeNumerically("<", 0x80))), "PUBLISH is accepted in each order")
			got := sub.Delivery().Properties
			for _, id := range []wire.PropertyID{wire.PayloadFormatIndicator, wire.ContentType, wire.CorrelationData} {
				want, _ := ps.First(id)
				Expect(got.Every(id)).To(HaveExactElements(HaveField("Bytes()", want.Bytes())), "%s is passed on, whatever the order", id)
			}
		}
	})
}

// ordered returns the properties in another order.
func ordered(ps wire.Properties, order []int) wire.Properties {
	var list wire.Properties
	for _, i := range order {
		list = append(list, ps[i])
	}
	return list
}
