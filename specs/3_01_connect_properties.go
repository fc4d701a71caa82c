package specs

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// connectProperties holds the specs of sections 3.1.2.9 to 3.1.2.11 and 3.1.3.6
// on the Keep Alive, the password and the properties of CONNECT.
func connectProperties(b *probe.Broker, v version) {
	Describe("3.1.2.10 Keep Alive", func() {
		keepAliveOff(b, v)
		keepAliveCounts(b, v)
	})
	Describe("3.1.3.6 Password", func() { passwords(b, v) })
	if !v.is5() {
		return
	}
	Describe("3.1.2.11 CONNECT Properties", func() {
		propertiesTwice(b, v)
		propertyValues(b, v)
	})
}

func keepAliveOff(b *probe.Broker, v version) {
	off := v.key("v311/3.1.2.10-keep-alive-zero", "v5/3.1.2.10-keep-alive-zero")
	labels := v.Statement(off, "v5/MQTT-3.2.2-22")
	if !v.is5() {
		// A server may disconnect a client that it takes for inactive, whatever
		// its Keep Alive.
		labels = v.Observation(off, "v311/3.1.2.10-inactive-disconnect")
	}
	It("of 0 sets no limit to silence", Timing, labels, func() {
		c := b.Connect("client", probe.KeepAlive(0))
		if b.ServerKeepAlive(c) {
			probe.Unsupported("the server replaces the Keep Alive in CONNACK")
		}
		start := time.Now()

		a := c.Within(b.Seconds(3), wire.DISCONNECT)

		if v.is5() {
			Expect(a).NotTo(probe.BePacket(HaveField("Code", byte(0x8d))), "there is no Keep Alive that could run out")
		}
		if c.Gone() {
			probe.Observe(off, "a client with Keep Alive 0 is disconnected after %s of silence", time.Since(start).Round(time.Second/10))
		} else if !v.is5() {
			probe.Observe(off, "a client with Keep Alive 0 that is silent for three seconds stays connected")
		}
	})

	for _, seconds := range []uint16{0, 60, 65535} {
		It("of "+time.Duration(int64(seconds)*int64(time.Second)).String()+" lets the client ping at any time",
			v.Statement("v311/3.1.2.10-ping-any-time", "v5/3.1.2.10-ping-any-time"), func() {
				c := b.Connect("client", probe.KeepAlive(seconds))

				for range 2 {
					c.Send(wire.Pingreq{})
					Expect(c.Answer(wire.PINGRESP)).To(probe.BeA(wire.PINGRESP), "a PINGREQ may come at any time")
				}
			})
	}
}

func keepAliveCounts(b *probe.Broker, v version) {
	It("is prolonged by any packet of the client", Timing, v.Statement("v311/MQTT-3.1.2-24", "v5/3.1.2.10-other-packets-count"), func() {
		topic := b.Topic()
		c := b.Connect("client", probe.KeepAlive(1))
		start, last, late := time.Now(), time.Now(), false
		for time.Since(start) < b.Seconds(2.8) {
			late = late || time.Since(last) > b.Seconds(1)
			last = time.Now()
			c.Send(wire.Publish{Topic: topic, Payload: "still there"})
			c.Within(b.Seconds(0.4), wire.DISCONNECT)
		}
		late = late || time.Since(last) > b.Seconds(1)

		// The close may be on its way still: only an answer tells.
		if alive, _ := probe.BeAlive().Match(c); late && !alive {
			probe.Inconclusive("the tester was late with its PUBLISH: the machine is too busy")
		}
		judge := Default
		if !v.is5() { // there a server may end the connection of any client that it takes for inactive
			judge = probe.Warns("v311/MQTT-3.1.2-24")
		}
		judge.Expect(c).To(probe.BeAlive(), "the client has never been silent for a second")
	})

	It("is not prolonged by pieces of a packet", Timing, v.Statement("v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22"), func() {
		c := b.Connect("client", probe.KeepAlive(1))
		if b.ServerKeepAlive(c) {
			probe.Unsupported("the server replaces the Keep Alive in CONNACK")
		}
		whole := wire.Bytes(b.Version, wire.Publish{Topic: b.Topic(), Payload: longText(300)})
		start := time.Now()
		for i := 0; time.Since(start) < silence(b) && !c.Gone(); i++ {
			c.SendBytes(whole[i : i+1])
			c.Within(b.Seconds(0.25), wire.DISCONNECT)
		}

		probe.Warns(v.key("v311/MQTT-3.1.2-24", "v5/MQTT-3.1.2-22")).Expect(c).To(probe.BeEnded(0), "a packet that does not end does not count")
	})

	It("is that of the latest CONNECT", Timing, v.Statement("v311/MQTT-3.1.2-24", "v5/MQTT-3.2.2-22"), func() {
		id := b.ClientID()
		b.Connect("first", probe.ID(id), probe.Persistent, probe.KeepAlive(600)).Disconnect()
		again := b.Connect("again", probe.ID(id), probe.Persistent, probe.KeepAlive(1))
		if b.ServerKeepAlive(again) {
			probe.Unsupported("the server replaces the Keep Alive in CONNACK")
		}

		Expect(again).To(probe.BeEnded(silence(b)), "the connection ends one and a half of its Keep Alive after the last packet")
	})
}

// withPassword connects with a user name that is nobody's, and returns the
// answer.
func withPassword(b *probe.Broker, password string) probe.Answer {
	GinkgoHelper()
	c := b.Open("client")
	c.Send(b.ConnectPacket(probe.Credentials("mqttcheck", password)))
	return c.Answer(wire.CONNACK)
}

// anyUser ends the spec where not everybody is let in.
func anyUser(b *probe.Broker) {
	GinkgoHelper()
	if !granted(withPassword(b, "ordinary")) {
		probe.Unsupported("the broker refuses a user name that it does not know")
	}
}

func passwords(b *probe.Broker, v version) {
	binary := v.key("v311/3.1.3.5-password-binary", "v5/3.1.3.6-password-binary")
	It("may hold any bytes", v.Statement(binary), func() {
		anyUser(b)

		notMalformed(v, withPassword(b, "\xff\x00 binary"), "bytes that are no text are as good as others")
		notMalformed(v, withPassword(b, ""), "a password may have no bytes at all")
	})

	if v.is5() {
		It("may come without a User Name", v.Statement("v5/3.1.2.9-password-without-user-name"), func() {
			b.Connect("twin").Disconnect()
			p := b.ConnectPacket()
			p.Username, p.Password = nil, []byte("a token")
			c := b.Open("client")
			c.Send(p)

			notMalformed(v, c.Answer(wire.CONNACK), "a password needs no User Name")
		})
	}
}

// notMalformed asserts that a CONNECT is not refused for its form. That it is
// refused by another code, as by a plain close in MQTT 5.0, may come of any
// further check of the server. In MQTT 3.1.1 no code speaks of the form: a close
// without CONNACK is the answer to a broken CONNECT, and after any other check
// CONNACK should say why.
func notMalformed(v version, a probe.Answer, why string) {
	GinkgoHelper()
	ack, _ := a.Packet.(wire.Connack)
	if granted(a) {
		return
	}
	if v.is5() {
		Expect(ack.Code).NotTo(BeElementOf(byte(0x81), byte(0x82)), why)
	} else {
		probe.Warns("v311/3.1.3.5-password-binary").Expect(a).To(probe.BeA(wire.CONNACK), why)
	}
	probe.Inconclusive("the broker refuses the CONNECT, and does not call it malformed: %s", a.GomegaString())
}

// connectOnce are the properties that a CONNECT may have once, each with a
// legal value.
var connectOnce = []struct {
	key      string
	property wire.Property
}{
	{"v5/3.1.2.11.2-connect-session-expiry-interval-twice", wire.Property{ID: wire.SessionExpiryInterval, Int: 60}},
	{"v5/3.1.2.11.3-connect-receive-maximum-twice", wire.Property{ID: wire.ReceiveMaximum, Int: 100}},
	{"v5/3.1.2.11.4-connect-maximum-packet-size-twice", wire.Property{ID: wire.MaximumPacketSize, Int: 100_000}},
	{"v5/3.1.2.11.5-connect-topic-alias-maximum-twice", wire.Property{ID: wire.TopicAliasMaximum, Int: 5}},
	{"v5/3.1.2.11.6-connect-request-response-information-twice", wire.Property{ID: wire.RequestResponseInformation}},
	{"v5/3.1.2.11.7-connect-request-problem-information-twice", wire.Property{ID: wire.RequestProblemInformation, Int: 1}},
}

func propertiesTwice(b *probe.Broker, v version) {
	for _, once := range connectOnce {
		what := once.property.ID.String() + " twice"
		It("with "+what+" are refused", v.Statement(once.key), func() {
			b.Connect("twin", probe.Properties(once.property)).Disconnect()
			twice := b.ConnectPacket(probe.Properties(once.property, once.property))
			refusedConnect(b, once.key, "CONNECT with "+what, wire.Bytes(b.Version, twice))
		})
	}

	It("may have a User Property several times", v.Statement("v5/3.1.2.11.8-user-property-repeats"), func() {
		same := wire.Property{ID: wire.UserProperty, Pair: [2]string{"name", "value"}}
		other := wire.Property{ID: wire.UserProperty, Pair: [2]string{"name", "another value"}}
		b.Connect("twin", probe.Properties(same)).Disconnect()
		c := b.Open("client")

		c.Send(b.ConnectPacket(probe.Properties(same, other, same)))

		Expect(c.Answer(wire.CONNACK)).To(probe.BePacket(HaveField("Code", byte(0))), "User Properties may repeat a name")
		c.Disconnect()
	})
}

func propertyValues(b *probe.Broker, v version) {
	for _, bad := range []struct {
		key       string
		property  wire.PropertyID
		good, bad uint32
	}{
		{"v5/3.1.2.11.3-receive-maximum-zero", wire.ReceiveMaximum, 1, 0},
		{"v5/3.1.2.11.4-maximum-packet-size-zero", wire.MaximumPacketSize, 1000, 0},
		{"v5/3.1.2.11.6-request-response-information-value", wire.RequestResponseInformation, 1, 2},
		{"v5/3.1.2.11.7-request-problem-information-value", wire.RequestProblemInformation, 0, 2},
	} {
		what := bad.property.String() + " " + digit(byte(bad.bad))
		with := func(n uint32) probe.Option { return probe.Properties(wire.Property{ID: bad.property, Int: n}) }
		It("with "+what+" are refused", v.Statement(bad.key), func() {
			b.Connect("twin", with(bad.good)).Disconnect()
			refusedConnect(b, bad.key, "CONNECT with "+what, wire.Bytes(b.Version, b.ConnectPacket(with(bad.bad))))
		})
	}
}
