package specs

import (
	. "github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// redirection observes how a server sends its clients to another one. Nothing
// binds it to do so; that a reference stands with the right codes only is a
// standing check.
func redirection(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	Describe("4.11 Server redirection", func() {
		It("may turn clients away that connect", v.Observation("v5/4.11-server-reference"), func() {
			moved := b.Either("redirects")
			c := moved.Open("client")
			c.Send(moved.ConnectPacket())
			a := c.Answer(wire.CONNACK)
			ack, ok := a.Packet.(wire.Connack)
			if !ok {
				probe.Inconclusive("no CONNACK in the set-up")
			}
			probe.Observe("v5/4.11-server-reference", "a client that connects is %s", sentTo(ack.Code, ack.Properties))
		})
		It("may send clients away when the server goes down", Serial, v.Observation("v5/3.14.2.1-disconnect-code-9d"), func() {
			if b.Restart == nil {
				probe.SkipFor("needs a way to restart the broker")
			}
			c := b.Connect("client")
			if err := b.Restart(false); err != nil {
				probe.Inconclusive("the broker was not restarted: %v", err)
			}
			bye, _ := c.Answer(wire.DISCONNECT).Packet.(wire.Disconnect)
			probe.Observe("v5/3.14.2.1-disconnect-code-9d", "a client that is connected is %s", sentTo(bye.Code, bye.Properties))
		})
	})
}

// sentTo says in words where a code and its properties send a client.
func sentTo(code byte, ps wire.Properties) string {
	how := map[byte]string{0x9c: "sent to another server for now", 0x9d: "sent to another server for good"}[code]
	if how == "" {
		return "not sent to another server"
	}
	if _, named := ps.First(wire.ServerReference); named {
		return how + ", which is named"
	}
	return how + ", which is not named"
}
