package specs

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// A brief Session is one with an interval of a second.
type brief struct{ id, topic string }

// expiring stores a brief Session whose client has gone.
func expiring(b *probe.Broker) brief {
	GinkgoHelper()
	s := brief{b.ClientID(), b.Topic()}
	noticed(b, stored(b, 1, s.id, s.topic, resume))
	b.Connect("pub").Publish(wire.Publish{Topic: s.topic, QoS: 1, Payload: "meanwhile"})
	return s
}

// runsOut asserts that brief Sessions are gone. A server may look only now and
// then for what has expired: one that still has the first Session is given more
// time for the second, and a warning.
func runsOut(b *probe.Broker, key string, one, two brief) {
	GinkgoHelper()
	again, ack := present(b, "again", probe.ID(one.id), resume)
	if ack.SessionPresent() {
		pass(b, late)
		ended(b, probe.For(key), two.id, two.topic, "nothing is left many seconds after the interval of one second")
	}
	probe.Warns(key).Expect(ack.SessionPresent()).To(BeFalse(), "the Session is gone two seconds after the interval of one second")
	nothingLeft(b, probe.For(key), again, one.topic, "nothing is left of a Session that has ended")
}

func expiryRunsOut(b *probe.Broker, v version) {
	It("runs out: the Session ends, with all it holds", Timing, v.Statement("v5/MQTT-4.1.0-2"), func() {
		one, two := expiring(b), expiring(b)
		keepsOthers := lastingTwin(b)
		pass(b, 3)

		keepsOthers()
		runsOut(b, "v5/MQTT-4.1.0-2", one, two)
	})

	It("begins with the end of the connection", Timing, v.Statement("v5/4.1-session-lifetime", "v5/MQTT-4.1.0-1"), func() {
		id, topic := b.ClientID(), b.Topic()
		c := stored(b, 2, id, topic, resume)
		pass(b, 2.5)
		gone := time.Now()
		c.Drop()

		again, ack := present(b, "again", probe.ID(id), resume)

		if !ack.SessionPresent() && time.Since(gone) > b.Seconds(1) {
			probe.Inconclusive("the tester was late: the machine is too busy")
		}
		b.Connect("later").Publish(wire.Publish{Topic: topic, QoS: 1, Payload: "later"})
		Expect(again.Answer(wire.PUBLISH)).To(probe.BeA(wire.PUBLISH), "no time counts while the client is connected")
	})

	for _, asked := range []uint32{1, 65537} {
		It(fmt.Sprintf("is as CONNACK has it, else as the client asked: %d s", asked), Timing, v.Statement("v5/3.2.2.3.2-session-expiry-override"), func() {
			const key = "v5/3.2.2.3.2-session-expiry-override"
			one, two, granted := brief{b.ClientID(), b.Topic()}, brief{b.ClientID(), b.Topic()}, uint32(0)
			for _, s := range []brief{one, two} {
				c, ack := present(b, "first", probe.ID(s.id), resume, expiry(asked))
				granted = inForce(ack, asked)
				noticed(b, c.Subscribe(s.topic, 1))
			}
			pass(b, 3)

			switch {
			case granted <= 1:
				runsOut(b, key, one, two)
			case granted >= longLeast:
				kept(b, probe.For(key), one.id, one.topic, "the Session lasts as long as the interval in force")
			default:
				probe.Unsupported("the server makes the Session Expiry Interval %d", granted)
			}
		})
	}
}
