package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// mostOpen is the largest Receive Maximum of a server that a check uses up.
const mostOpen = 100

// receiver is a server with a Receive Maximum that a client can use up.
type receiver struct {
	*probe.Broker
	most  uint16
	topic string
	sub   *probe.Client
}

// smallWindow returns the broker, or its variant where the broker announces
// more than a check can use up, with a subscriber.
func smallWindow(b *probe.Broker) receiver {
	GinkgoHelper()
	most := announcedReceiveMaximum(b)
	if most > mostOpen {
		b = b.Variant("small-window")
		most = announcedReceiveMaximum(b)
	}
	if most > mostOpen {
		probe.Unsupported("CONNACK announces a Receive Maximum of %d: more than the check uses up", most)
	}
	r := receiver{Broker: b, most: uint16(most), topic: b.Topic()}
	r.sub = b.Connect("sub").Subscribe(r.topic, 1)
	return r
}

func announcedReceiveMaximum(b *probe.Broker) uint32 {
	GinkgoHelper()
	if most, given := b.Connect("asks").Announced(wire.ReceiveMaximum); given {
		return most
	}
	return 65535
}

// use publishes as many messages at QoS 2 as the server takes at once, with
// identifiers from first on, and leaves them open.
func (r receiver) use(pub *probe.Client, first uint16) {
	GinkgoHelper()
	list := []wire.Packet{}
	for i := range r.most {
		list = append(list, wire.Publish{Topic: r.topic, QoS: 2, ID: first + i, Payload: "within"})
	}
	pub.Send(list...)
	for range list {
		if a := pub.Answer(wire.PUBREC); !a.Came {
			probe.Inconclusive("the set-up needs PUBREC for each of %d publications, but %s", r.most, a.GomegaString())
		}
	}
}

// serverReceiveMaximum is about clients that use up the server's window.
func serverReceiveMaximum(b *probe.Broker, v version) {
	exceeded, code := "v5/3.3.4-receive-maximum-exceeded", "v5/3.14.2.1-disconnect-code-93"
	for _, qos := range []byte{1, 2} {
		It("ends a connection with more publications open than the server takes, the last at QoS "+digit(qos),
			v.Statement("v5/MQTT-3.3.4-7", exceeded, code), func() {
				r, watch := smallWindow(b), b.Bystander()
				pub := r.Connect("pub")
				r.use(pub, 1)

				pub.SendBytes(wire.Bytes(b.Version, wire.Publish{Topic: r.topic, QoS: qos, ID: r.most + 1, Payload: "beyond"}))

				judge := probe.Reaction("v5/MQTT-3.3.4-7")
				judge.Expect(pub).To(probe.BeClosed(), "%d are open, and the Receive Maximum is %d", r.most+1, r.most)
				endedWith(pub, exceeded, 0x93)
				before := r.sub.DeliveredBefore(r.Connect("end").Sentinel(r.topic, qos))
				judge.Expect(before).NotTo(ContainElement(HaveField("Payload", "beyond")), "it is not passed on")
				watch.Unharmed()
			})
	}

	It("takes as many publications at a time as the server announces, time and again", v.Statement(exceeded, code), func() {
		r := smallWindow(b)
		pub := r.Connect("pub")
		pub.Publish(wire.Publish{Topic: r.topic, QoS: 2, Payload: "valid twin"})
		for round := range uint16(3) {
			for i := range r.most {
				pub.Send(wire.Publish{Topic: r.topic, QoS: 2, ID: 1 + round*r.most + i, Payload: "within"})
				Expect(pub.Answer(wire.PUBREC)).To(probe.BeA(wire.PUBREC), "%d are open, and the Receive Maximum is %d", i+1, r.most)
			}
			for i := range r.most {
				pub.Send(wire.Ack{Type: wire.PUBREL, ID: 1 + round*r.most + i})
				if !pub.Answer(wire.PUBCOMP).Came {
					probe.Inconclusive("no PUBCOMP in the set-up")
				}
			}
		}
	})

	keys := []string{"v5/4.9-quota-reset", "v5/3.1.2.11.3-receive-maximum-per-connection"}
	It("takes as many on a new connection, though others are still open in the Session", v.Statement(keys...), func() {
		r, id := smallWindow(b), b.ClientID()
		pub := r.Connect("pub", probe.ID(id), probe.Persistent)
		r.use(pub, 1)
		pub.Drop()
		again := resumed(r.Broker, "again", id)
		for i := range r.most {
			again.Send(wire.Publish{Topic: r.topic, QoS: 2, ID: 1 + r.most + i, Payload: "within"})
			probe.Warns(keys[0]).Expect(again.Answer(wire.PUBREC)).To(probe.BeA(wire.PUBREC), "%d are open on this connection, and the Receive Maximum is %d", i+1, r.most)
		}
	})
}
