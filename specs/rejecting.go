package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// refusedWithoutConnack asserts that a broken CONNECT, sent as raw bytes on a
// new connection, ends it: in MQTT 3.1.1 with no CONNACK at all
// [v311/MQTT-3.1.4-1], in MQTT 5.0 after one that refuses or none.
func refusedWithoutConnack(b *probe.Broker, key, why string, raw []byte) {
	GinkgoHelper()
	c := b.Open("client")
	c.SendBytes(raw)
	ack := c.Answer(wire.CONNACK)
	probe.Reaction(key).Expect(granted(ack)).To(BeFalse(), why+": no success CONNACK")
	probe.Reaction(key).Expect(c).To(probe.BeClosed(), why+": the server closes")
	if !b.V5() {
		probe.Reaction("v311/MQTT-3.1.4-1").Expect(ack).NotTo(probe.BeA(wire.CONNACK), why+": the connection ends without a CONNACK")
	}
}

// refusedConnect asserts that a CONNECT is not accepted, in whatever form, and
// returns the answer.
func refusedConnect(b *probe.Broker, key, why string, raw []byte) probe.Answer {
	GinkgoHelper()
	c := b.Open("client")
	c.SendBytes(raw)
	ack := c.Answer(wire.CONNACK)
	probe.Reaction(key).Expect(granted(ack)).To(BeFalse(), why+": no success CONNACK")
	probe.Reaction(key).Expect(c).To(probe.BeClosed(), why+": the server closes")
	return ack
}

// granted tells whether an answer is a CONNACK of success.
func granted(a probe.Answer) bool {
	ack, ok := a.Packet.(wire.Connack)
	return a.Came && ok && ack.Code == 0
}

// refusedPublish publishes a valid message and then the bytes of a broken one
// to a topic, and asserts that the broken one ends the connection and reaches
// nobody.
func refusedPublish(b *probe.Broker, key, why string, broken func(topic string) []byte) {
	GinkgoHelper()
	topic := b.Topic()
	sub := b.Connect("sub").Subscribe(topic+"/#", 1)
	pub, watch := b.Connect("pub"), b.Bystander()
	pub.Publish(wire.Publish{Topic: topic + "/valid", QoS: 1, Payload: "valid twin"})
	takes(sub, "valid twin")

	pub.SendBytes(broken(topic))

	probe.Reaction(key).Expect(pub).To(probe.BeClosed(), why)
	probe.Reaction(key).Expect(sub.DeliveredBefore(b.Connect("later").Sentinel(topic+"/valid", 1))).To(BeEmpty(), "nothing of it is delivered")
	watch.Unharmed()
}

// refusedSubscribe asserts that the bytes of a broken SUBSCRIBE end the
// connection and that nothing is granted; a SUBACK of nothing but failures
// ahead of the close is let pass.
func refusedSubscribe(b *probe.Broker, key, why string, broken []byte) {
	GinkgoHelper()
	watch := b.Bystander()
	c := b.Connect("client").Subscribe(b.Topic("valid"), 1)

	c.SendBytes(broken)

	probe.Reaction(key).Expect(c).To(probe.BeClosed(), why)
	twin := true
	for _, r := range c.History() {
		if ack, ok := r.Packet.(wire.Suback); ok && twin {
			twin = false // its SUBACK comes first
		} else if ok {
			probe.Reaction(key).Expect(ack.Codes).To(HaveEach(BeNumerically(">=", 0x80)), "nothing is granted")
		}
	}
	watch.Unharmed()
}

// refusedPacket asserts that broken bytes end the connection of an ordinary
// client, on which a PINGREQ was answered before, and leave a bystander
// unharmed; what binds the server grades it.
func refusedPacket(b *probe.Broker, key, why string, broken []byte) {
	GinkgoHelper()
	watch := b.Bystander()
	c := b.Connect("client")
	c.Ping()

	c.SendBytes(broken)

	probe.Reaction(key).Expect(c).To(probe.BeClosed(), why)
	watch.Unharmed()
}

// str returns the encoded form of a string: its length and its bytes.
func str(s string) []byte { return wire.AppendString(nil, s) }

// join puts byte slices together.
func join(parts ...[]byte) []byte {
	var all []byte
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

// endedWith advises how a connection of MQTT 5.0 that the broker ended over a
// breach should have ended: with a DISCONNECT, and with the code that the
// statement with this key names.
func endedWith(c *probe.Client, key string, code byte) {
	GinkgoHelper()
	for _, r := range c.History() {
		if bye, ok := r.Packet.(wire.Disconnect); ok {
			probe.Advice(key).Expect(bye.Code).To(BeElementOf(code, byte(0x80)), "DISCONNECT has the code 0x%02x, or 0x80", code)
			return
		}
	}
	probe.Advice("v5/4.13.1-disconnect-with-code").Expect(howEnded(c)).To(
		HavePrefix("DISCONNECT"), "DISCONNECT with the code 0x%02x comes before the close", code)
}
