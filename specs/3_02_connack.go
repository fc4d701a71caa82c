package specs

import (
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// connectAnswers holds the specs of sections 3.1.3.1, 3.1.4, 3.2.2.2 and
// 3.2.2.3.7: what the server makes of a well-formed CONNECT.
func connectAnswers(b *probe.Broker, v version) {
	Describe("3.1.3.1 Client Identifier", func() {
		if v.is5() {
			assignedIDs(b, v)
			refusedIDs(b, v)
		}
		unusualIDs(b, v)
	})
	Describe("3.1.4 CONNECT actions", func() {
		credentials(b, v)
		otherVersions(b, v)
	})
	if v.is5() {
		Describe("3.2.2.2 Connect Reason Code", func() {
			refusalsClose(b, v)
			observedCodes(b, v)
		})
	}
}

// assigned connects a client with an empty Client Identifier, and returns the
// one that CONNACK has for it.
func assigned(b *probe.Broker, name string, options ...probe.Option) (*probe.Client, string) {
	GinkgoHelper()
	c := b.Open(name)
	c.Send(b.ConnectPacket(append(options, probe.ID(""))...))
	a := c.Answer(wire.CONNACK)
	if !granted(a) {
		probe.Unsupported("the broker takes no empty Client Identifier: %s", a.GomegaString())
	}
	id, _ := a.Packet.(wire.Connack).Properties.First(wire.AssignedClientIdentifier)
	return c, id.Str
}

// aMinute is the Session Expiry Interval of Sessions whose Client Identifier
// the server chooses: they are left to end by themselves.
const aMinute = 60

func assignedIDs(b *probe.Broker, v version) {
	unique := "v5/MQTT-3.2.2-16"
	It("that is empty brings one in CONNACK that no other Session has", v.Statement(unique), func() {
		c, first := assigned(b, "stored", expiry(aMinute))
		c.Drop()
		seen := []string{first}
		for range 3 {
			_, id := assigned(b, "client", expiry(aMinute))
			Expect(id).NotTo(BeEmpty(), "CONNACK tells the Client Identifier")
			Expect(seen).NotTo(ContainElement(id), "no Session has the same")
			seen = append(seen, id)
		}
	})

	used := "v5/MQTT-3.1.3-7"
	It("that the server assigned is that of the Session", v.Statement(used), func() {
		topic := b.Topic()
		c, id := assigned(b, "first", expiry(aMinute))
		Expect(id).NotTo(BeEmpty(), "CONNACK tells the Client Identifier")

		keepsOthers := lastingTwin(b)
		c.Subscribe(topic, 1).Drop()

		keepsOthers()
		kept(b, probe.For(used), id, topic, "who comes with the Client Identifier assigned resumes the Session")
	})

	It("that the server assigned is that of the connection", v.Statement(used, "v5/MQTT-3.1.4-3"), func() {
		older, id := assigned(b, "older")
		Expect(id).NotTo(BeEmpty(), "CONNACK tells the Client Identifier")

		b.Connect("newer", probe.ID(id))

		Expect(older).To(probe.BeEnded(b.Timeout), "who comes with the Client Identifier assigned takes the connection over")
	})

	only := "v5/3.2.2.3.7-assigned-id-only-for-empty"
	It("of the client is not assigned another time", v.Statement(only), func() {
		_, ack := present(b, "client", probe.ID(b.ClientID()))
		_, given := ack.Properties.First(wire.AssignedClientIdentifier)
		probe.Warns(only).Expect(given).To(BeFalse(), "a client that has a Client Identifier is assigned none")
	})
}

// oddIDs are Client Identifiers that a server need not take.
func oddIDs(b *probe.Broker) []string {
	id := b.ClientID()
	return []string{id + " with spaces", id + "/slash", id + "-é", id + "\x01", id + longText(300), id + longText(65000)}
}

func refusedIDs(b *probe.Broker, v version) {
	It("that is refused ends the connection", v.Statement("v5/MQTT-3.1.3-8"), func() {
		choosy := b.Either("no-assigned-ids")
		refused := 0
		for _, id := range append(oddIDs(b), "") {
			c := choosy.Open("client")
			c.Send(b.ConnectPacket(probe.ID(id)))
			if granted(c.Answer(wire.CONNACK)) {
				c.Disconnect()
				continue
			}
			refused++
			Expect(c).To(probe.BeClosed(), "the server closes behind the refusal")
		}
		if refused == 0 {
			probe.Unsupported("the broker takes every Client Identifier")
		}
	})
}

func unusualIDs(b *probe.Broker, v version) {
	longer := v.key("v311/3.1.3.1-longer-client-id", "v5/3.1.3.1-longer-client-id")
	It("may be longer, and have other characters", v.Observation(longer), func() {
		ids := oddIDs(b)
		for i, what := range []string{"spaces", "a slash", "an é", "a control character", "over 300 bytes", "over 65000 bytes"} {
			p := b.ConnectPacket(probe.ID(ids[i]))
			probe.Observe(longer, "a Client Identifier with %s: %s", what, answerTo(b, wire.Bytes(b.Version, p)))
		}
	})

	if v.is5() {
		empty := "v5/3.1.3.1-empty-client-id"
		It("may be empty", v.Observation(empty), func() {
			for _, clean := range []int{1, 0} {
				p := b.ConnectPacket(probe.ID(""))
				p.CleanStart = clean == 1
				probe.Observe(empty, "an empty Client Identifier with Clean Start %d: %s", clean, answerTo(b, wire.Bytes(b.Version, p)))
			}
		})
	}
}

// answerTo sends a CONNECT on a new connection and says in words what came of
// it.
func answerTo(b *probe.Broker, raw []byte) string {
	GinkgoHelper()
	c := b.Open("client")
	c.SendBytes(raw)
	a := c.Answer(wire.CONNACK)
	switch {
	case granted(a):
		c.Disconnect()
		return "accepted"
	case a.Came && len(a.Raw) > 3:
		return fmt.Sprintf("CONNACK 0x%02X", a.Raw[3])
	case a.Closed:
		return "closed without CONNACK"
	}
	return "no answer"
}

func credentials(b *probe.Broker, v version) {
	keys := []string{"v311/3.1.4-checks-fail-close", "v5/MQTT-3.1.4-2", "v5/3.1.4-authenticate", "v5/4.12-basic-authentication"}
	It("whose password is wrong is not let in", v.Statement(keys...), func() {
		c := wrongPassword.refused(b)
		Expect(granted(c.Answer(wire.CONNACK))).To(BeFalse(), "no success CONNACK for a wrong password")
		Expect(c).To(probe.BeClosed(), "the server closes the connection")
	})

	It("that has no User Name is not let in where only users are", v.Statement(keys...), func() {
		guarded := b.Variant("users")
		c := guarded.Open("client")
		c.Send(guarded.ConnectPacket())
		if granted(c.Answer(wire.CONNACK)) {
			probe.Unsupported("the broker with users lets others in as well")
		}
		Expect(c).To(probe.BeClosed(), "the server closes the connection")
	})

	if !v.is5() {
		should := "v311/3.1.4-checks-fail-connack"
		It("whose password is wrong should be told so", v.Statement(should, "v311/3.2.2.3-send-connack"), func() {
			a := wrongPassword.refused(b).Answer(wire.CONNACK)
			probe.Warns(should).Expect(a).To(probe.BeA(wire.CONNACK), "CONNACK comes before the close")
		})
	}

	code := v.key("v311/3.2.2.3-code-4", "v5/3.2.2.2-connack-code-86")
	It("whose password is wrong is refused by a code that says so", v.Statement(code, "v311/3.2.2.3-code-5", "v5/3.2.2.2-connack-code-87"), func() {
		a := wrongPassword.refused(b).Answer(wire.CONNACK)
		switch {
		case granted(a):
			probe.Inconclusive("the broker takes a wrong password")
		case !a.Came:
			probe.Unsupported("the broker refuses without a CONNACK")
		}
		fitting := BeElementOf(byte(4), byte(5))
		if v.is5() {
			fitting = BeElementOf(byte(0x86), byte(0x87), byte(0x80))
		}
		probe.Warns(code).Expect(a).To(probe.BePacket(HaveField("Code", fitting)), "the code is that of wrong credentials")
	})
}

func otherVersions(b *probe.Broker, v version) {
	other := v.key("v311/3.1.4-other-versions", "v5/3.1.4-other-versions")
	It("may be of another version", v.Observation(other), func() {
		in311, in5 := b.In(wire.V311), b.In(wire.V5)
		old := in311.ConnectPacket()
		old.ProtocolName, old.Level = "MQIsdp", 3
		probe.Observe(other, "CONNECT with the protocol MQIsdp of level 3: %s", answerTo(in311, wire.Bytes(wire.V311, old)))
		probe.Observe(other, "CONNECT with the protocol MQTT of level 4: %s", answerTo(in311, wire.Bytes(wire.V311, in311.ConnectPacket())))
		probe.Observe(other, "CONNECT with the protocol MQTT of level 5: %s", answerTo(in5, wire.Bytes(wire.V5, in5.ConnectPacket())))
	})

	silent := v.key("v311/3.1.4-no-connect-timeout", "v5/3.1.4-no-connect-timeout")
	It("has to come in reasonable time", Timing, Slow, v.Observation(silent), func() {
		c := b.Open("silent")
		start := time.Now()
		c.Within(b.Seconds(40), wire.CONNACK)
		if c.Gone() {
			probe.Observe(silent, "a connection without CONNECT is closed after %s", time.Since(start).Round(time.Second))
		} else {
			probe.Observe(silent, "a connection without CONNECT is open after 40 seconds")
		}
	})
}

// refusals5 are CONNECTs that a server of MQTT 5.0 has to refuse.
var refusals5 = []refusal{
	{"Will QoS 3", refusing(func(p *wire.Connect) { p.Will = &wire.Will{Topic: "will", QoS: 3} })},
	{"an unknown Authentication Method", refusing(func(p *wire.Connect) {
		p.Properties = append(p.Properties, wire.Property{ID: wire.AuthenticationMethod, Str: "no such method"})
	})},
	wrongPassword,
}

// refusing sends the CONNECT of an ordinary client with something changed.
func refusing(change func(*wire.Connect)) func(*probe.Broker) *probe.Client {
	return func(b *probe.Broker) *probe.Client {
		GinkgoHelper()
		p := b.ConnectPacket()
		change(&p)
		c := b.Open("client")
		c.SendBytes(wire.Bytes(b.Version, p))
		return c
	}
}

func refusalsClose(b *probe.Broker, v version) {
	for _, r := range refusals5 {
		It("that refuses, for "+r.what+", is followed by the close", v.Statement("v5/MQTT-3.2.2-7"), func() {
			c := r.refused(b)
			a := c.Answer(wire.CONNACK)
			switch {
			case granted(a):
				probe.Unsupported("the broker takes a CONNECT with %s", r.what)
			case !a.Came:
				probe.Unsupported("the broker refuses without a CONNACK")
			}
			Expect(c).To(probe.BeClosed(), "the server closes behind a refusal")
		})
	}
}

// observedCodes are about the codes by which a server may refuse a CONNECT.
func observedCodes(b *probe.Broker, v version) {
	for _, o := range []struct {
		keys, what string
		change     func(p *wire.Connect)
	}{
		{"v5/3.2.2.2-connack-code-81 v5/3.1.4-connack-for-malformed", "Will QoS 3", func(p *wire.Connect) {
			p.Will = &wire.Will{Topic: "will", QoS: 3}
		}},
		{"v5/3.2.2.2-connack-code-82", "the Receive Maximum 0", func(p *wire.Connect) {
			p.Properties = append(p.Properties, wire.Property{ID: wire.ReceiveMaximum})
		}},
		{"v5/3.2.2.2-connack-code-84", "the protocol level 127", func(p *wire.Connect) { p.Level = 127 }},
		{"v5/3.2.2.2-connack-code-85", "a Client Identifier of 65000 bytes", func(p *wire.Connect) { p.ClientID += longText(65000) }},
		{"v5/3.2.2.2-connack-code-8c", "an unknown Authentication Method", func(p *wire.Connect) {
			p.Properties = append(p.Properties, wire.Property{ID: wire.AuthenticationMethod, Str: "no such method"})
		}},
		{"v5/3.2.2.2-connack-code-90", "a Will Topic below $SYS", func(p *wire.Connect) { p.Will = &wire.Will{Topic: "$SYS/" + p.ClientID} }},
		{"v5/3.2.2.2-connack-code-95", "User Properties of 60000 bytes", func(p *wire.Connect) {
			p.Properties = append(p.Properties, wire.Property{ID: wire.UserProperty, Pair: [2]string{"long", longText(60000)}})
		}},
		{"v5/3.2.2.2-connack-code-99 v5/3.1.3.2.3-will-payload-format-check", "a will that is called UTF-8 and is not", func(p *wire.Connect) {
			p.Will = &wire.Will{Topic: p.ClientID, Payload: []byte{0xff}, Properties: wire.Properties{{ID: wire.PayloadFormatIndicator, Int: 1}}}
		}},
	} {
		keys := strings.Fields(o.keys)
		It("answers "+o.what, v.Observation(keys...), func() {
			p := b.ConnectPacket()
			o.change(&p)
			probe.Observe(keys[0], "CONNECT with %s: %s", o.what, answerTo(b, wire.Bytes(b.Version, p)))
		})
	}
}
