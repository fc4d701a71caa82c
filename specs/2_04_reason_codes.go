package specs

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// reasonCodes holds the specs of section 2.4 of MQTT 5.0 on codes that a
// client may not send in a packet. Those of AUTH stand in section 3.15.
func reasonCodes(b *probe.Broker, v version) {
	if !v.is5() {
		return
	}
	const undefined = "v5/3.4-ack-undefined-code"
	Describe("2.4 Reason Codes", func() {
		for _, c := range carriers {
			switch c.what {
			case "PUBACK", "PUBREC":
				illegalCodes(b, v, c, undefined, 0x01, 0x11, 0x85, 0x92, 0xff)
			case "PUBREL", "PUBCOMP":
				illegalCodes(b, v, c, undefined, 0x01, 0x10, 0x80, 0x91, 0xff)
			case "DISCONNECT":
				illegalCodes(b, v, c, "v5/MQTT-3.14.2-1", 0x01, 0x05, 0x18, 0x7f, 0x84, 0x91, 0xff)
				illegalCodes(b, v, c, "v5/3.14.2.1-server-codes-from-client",
					0x87, 0x89, 0x8b, 0x8d, 0x8e, 0x8f, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2)
			}
		}
	})
}

// illegalCodes asserts that the server notices codes that are not for a client
// to send. With such a code DISCONNECT is no normal one: the will shows it too.
func illegalCodes(b *probe.Broker, v version, c carrier, key string, codes ...byte) {
	var faults []fault
	for _, code := range codes {
		faults = append(faults, fault{what: hex8(code), code: code})
	}
	name := "of " + c.what + " are judged"
	if key == "v5/3.14.2.1-server-codes-from-client" {
		name += ": those of servers"
	}
	It(name, v.Statement(key), func() {
		watch := b.Bystander()
		probe.Reaction(key).Expect(c.unnoticed(b, faults)).To(BeEmpty(), "a code that is none ends the connection; these were let pass")
		watch.Unharmed()
	})
}
