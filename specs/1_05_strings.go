package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// unusualStrings judges strings that are legal and rarely seen.
func unusualStrings(b *probe.Broker, v version) {
	length := []string{"v311/1.5.3-string-length", "v5/1.5.4-string-length-range"}
	It("may be empty: an empty User Name makes no broken CONNECT", v.Statement(length...), func() {
		if !granted(introduced(b, "mqttcheck", "mqttcheck")) {
			probe.Unsupported("the broker lets only users in that it knows")
		}

		a := introduced(b, "", "mqttcheck")

		Expect(a).To(probe.BeA(wire.CONNACK), "the CONNECT is well-formed, so it is accepted or refused with a code")
		Expect(a).To(probe.BePacket(HaveField("Code", Not(BeElementOf(byte(0x81), byte(0x82))))), "it is not called malformed")
	})

	It("tell whether a User Name and a password of 65535 bytes are taken", v.Observation(length...), func() {
		how := "are not answered"
		switch a := introduced(b, longText(65535), longText(65535)); {
		case granted(a):
			how = "are taken"
		case a.Came:
			how = "are refused with a CONNACK"
		case a.Closed:
			how = "close the connection"
		}
		probe.Observe(v.key(length...), "a User Name and a password of 65535 bytes %s", how)
	})

	control := []string{"v311/1.5.3-control-characters-receiver", "v5/1.5.4-disallowed-code-points-receiver"}
	It("tell what becomes of a control character in a Topic Name", v.Observation(control...), func() {
		topic := b.Topic()
		sub, pub := b.Connect("sub").Subscribe(topic+"/#", 1), b.Connect("pub")
		pub.Send(wire.Publish{Topic: topic + "/a\x01b", QoS: 1, ID: 1, Payload: "control"})
		a := pub.Answer(wire.PUBACK)
		what := "is taken, and not passed on"
		switch passed := sub.DeliveredBefore(b.Connect("end").Sentinel(topic+"/end", 1)); {
		case len(passed) > 0 && passed[0].Topic == topic+"/a\x01b":
			what = "is passed on as it is"
		case len(passed) > 0:
			what = "is passed on as something else"
		case !a.Came:
			what = "closes the connection"
		}
		probe.Observe(v.key(control...), "a Topic Name with U+0001 %s", what)
	})
}

// introduced connects with a user name and a password and returns the answer.
func introduced(b *probe.Broker, name, password string) probe.Answer {
	GinkgoHelper()
	c := b.Open("client")
	c.Send(b.ConnectPacket(probe.Credentials(name, password)))
	return c.Answer(wire.CONNACK)
}
