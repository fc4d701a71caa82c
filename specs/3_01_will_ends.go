package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// offence is what a client does that it may not do.
type offence struct {
	what   string
	commit func(b *probe.Broker, c *probe.Client)
}

// plainBreaches end a connection in any case: the receiver has to close it.
var plainBreaches = []offence{
	{"a second CONNECT", func(b *probe.Broker, c *probe.Client) {
		c.SendBytes(wire.Bytes(b.Version, b.ConnectPacket(probe.ID(c.ID()))))
	}},
	{"a SUBSCRIBE with wrong flag bits", func(b *probe.Broker, c *probe.Client) {
		c.SendBytes(wire.WithFlags(subscription(b, b.Topic(), 0), 0))
	}},
	{"a PUBLISH at QoS 3", func(b *probe.Broker, c *probe.Client) {
		c.SendBytes(wire.Bytes(b.Version, wire.Publish{Topic: b.Topic(), QoS: 3, ID: 1}))
	}},
}

// willCauses goes through the ends of a connection that section 3.1.2.5 lists.
func willCauses(b *probe.Broker, v version) {
	server := []string{"v311/3.1.2.5-will-on-protocol-error", "v5/3.1.2.5-will-on-server-close"}
	for _, breach := range plainBreaches {
		It("is published when the server closes because of "+breach.what, v.Statement(server...), func() {
			sub, c := testator(b, "will of the one that erred")
			breach.commit(b, c)
			published(b, v, sub, c, "will of the one that erred")
		})
	}
	if v.is5() {
		return
	}
	for _, e := range endings[:2] {
		It("of a client with a stored Session is published when "+e.what, v.Statement("v311/3.1.2.5-will-on-network-drop"), func() {
			sub, c := testator(b, "will of the stored", probe.Persistent)
			e.end(c)
			published(b, v, sub, c, "will of the stored")
		})
	}
}

// testator connects a client with a will and one that watches for it.
func testator(b *probe.Broker, will string, options ...probe.Option) (watcher, client *probe.Client) {
	GinkgoHelper()
	topic := b.Topic("will")
	watcher = b.Connect("sub").Subscribe(topic, 1)
	return watcher, b.Connect("client", append(options, probe.WithWill(wire.Will{Topic: topic, QoS: 1, Payload: []byte(will)}))...)
}

// published asserts that a will comes after the end of its connection.
func published(b *probe.Broker, v version, watcher, client *probe.Client, will string) {
	GinkgoHelper()
	if ended, _ := probe.BeClosed().Match(client); !ended {
		probe.Inconclusive("the connection has not ended")
	}
	Expect(willArrives(b, v, watcher, 0)).To(probe.BePacket(HaveField("Payload", will)), "the will is published")
}
