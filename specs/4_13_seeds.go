package specs

import (
	"encoding/hex"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// seeds holds specs of sections 2.1.4 and 4.13 that send every part of every
// packet, and bytes that have crashed brokers. What each connection comes to
// is judged only where the text says so; that nobody else is harmed always.
func seeds(b *probe.Broker, v version) {
	Describe("4.13 Broken packets", func() {
		fitted(b, v)
		unfinished(b, v)
		strangeBeginnings(b, v)
	})
}

// samples are packets of a client with all fields that they may have. None of
// them has a payload or a last field that may as well be shorter.
func samples(b *probe.Broker) []wire.Packet {
	topic, pair := b.Topic("sample"), wire.Property{ID: wire.UserProperty, Pair: [2]string{"n", "v"}}
	props := func(ps ...wire.Property) wire.Properties {
		if !b.V5() {
			return nil
		}
		return append(ps, pair)
	}
	text := wire.Property{ID: wire.ReasonString, Str: "reason"}
	return []wire.Packet{
		wire.Publish{Topic: topic, QoS: 1, ID: 9, Properties: props(wire.Property{ID: wire.MessageExpiryInterval, Int: 60}, wire.Property{ID: wire.ContentType, Str: "t"})},
		wire.Subscribe{ID: 9, Properties: props(), Subscriptions: []wire.Subscription{{Filter: topic, QoS: 1}}},
		wire.Unsubscribe{ID: 9, Properties: props(), Filters: []string{topic}},
		wire.Ack{Type: wire.PUBACK, ID: 9, Properties: props(text)},
		wire.Ack{Type: wire.PUBREC, ID: 9, Properties: props(text)},
		wire.Ack{Type: wire.PUBREL, ID: 9, Properties: props(text)},
		wire.Ack{Type: wire.PUBCOMP, ID: 9, Properties: props(text)},
	}
}

// bearable are the samples that the server bears when they are whole: of the
// others it says nothing when it refuses them broken.
func bearable(b *probe.Broker, list []wire.Packet) []wire.Packet {
	GinkgoHelper()
	var borne []wire.Packet
	for _, p := range list {
		c := b.Connect("whole")
		c.SendBytes(wire.Bytes(b.Version, p))
		c.SendBytes(wire.Bytes(b.Version, wire.Pingreq{}))
		if c.Answer(wire.PINGRESP).Came {
			borne = append(borne, p)
		}
	}
	if len(borne) == 0 {
		probe.Inconclusive("none of the packets is taken when it is whole")
	}
	return borne
}

// wholeConnect is a CONNECT with all fields.
func wholeConnect(b *probe.Broker) []byte {
	p := b.ConnectPacket(gone(b.Topic("will")))
	if p.Username == nil {
		user := "user"
		p.Username, p.Password = &user, []byte("password")
	}
	if b.V5() {
		p.Properties = wire.Properties{{ID: wire.SessionExpiryInterval, Int: 5}, {ID: wire.UserProperty, Pair: [2]string{"n", "v"}}}
		p.Will.Properties = wire.Properties{delay(0), {ID: wire.ContentType, Str: "t"}}
	}
	return wire.Bytes(b.Version, p)
}

// fitted sends each packet cut at each byte, with the Remaining Length that
// fits what is left of it.
func fitted(b *probe.Broker, v version) {
	short := []string{"v311/2.2.3-short-packet", "v5/2.1.4-packet-shorter-than-fields"}
	It("close the connection wherever a packet is cut, with the length that fits", v.Statement(short...), func() {
		watch := b.Bystander()
		var clients []*probe.Client
		for _, p := range bearable(b, samples(b)) {
			whole := wire.Bytes(b.Version, p)
			for n := range len(wire.Body(whole)) {
				cut := wire.Shorten(whole, n)
				if _, err := wire.Parse(cut[0], wire.Body(cut), b.Version); err == nil {
					continue // it is a packet all the same
				}
				c := b.Connect(fmt.Sprintf("%s cut to % x", wire.Type(cut[0]>>4), cut))
				c.SendBytes(cut)
				clients = append(clients, c)
			}
		}
		probe.Reaction(v.key(short...)).Expect(names(probe.StillOpen(clients...))).To(BeEmpty(), "a packet that ends before its fields do closes the connection; these were let pass")
		watch.Unharmed()
	})

	connect := []string{"v311/MQTT-3.1.4-1", "v5/MQTT-3.1.4-1"}
	It("are refused wherever CONNECT is cut, with the length that fits", v.Statement(connect...), func() {
		watch := b.Bystander()
		whole := wholeConnect(b)
		twin := b.Open("whole")
		twin.SendBytes(whole)
		if a := twin.Answer(wire.CONNACK); !granted(a) {
			probe.Inconclusive("the whole CONNECT is not accepted either: %s", a.GomegaString())
		}
		accepted := []string{}
		for n := range len(wire.Body(whole)) {
			cut := wire.Shorten(whole, n)
			if _, err := wire.Parse(cut[0], wire.Body(cut), b.Version); err == nil {
				continue
			}
			c := b.Open("client")
			c.SendBytes(cut)
			if a := c.Answer(wire.CONNACK); granted(a) || !a.Came && !a.Closed {
				accepted = append(accepted, hex.EncodeToString(cut))
				break
			}
		}
		probe.Reaction(v.key(connect...)).Expect(accepted).To(BeEmpty(), "a CONNECT that is not whole is not accepted")
		watch.Unharmed()
	})
}

// unfinished sends each packet up to each byte and ends the connection: with a
// reset, which may overtake what was sent, and in order.
func unfinished(b *probe.Broker, v version) {
	It("that do not end are nothing to other clients, wherever the connection breaks", v.Statement(othersUnharmed...), func() {
		watch := b.Bystander()
		for _, p := range samples(b) {
			whole := wire.Bytes(b.Version, p)
			for n := 1; n < len(whole); n++ {
				c := unjudged(b)
				c.SendBytes(whole[:n])
				if n%2 == 0 {
					c.CloseWrite()
				} else {
					c.Reset()
				}
			}
			watch.Unharmed()
		}
		whole := wholeConnect(b)
		for n := 1; n < len(whole); n++ {
			c := b.Open("client")
			c.SendBytes(whole[:n])
			c.CloseWrite()
		}
		watch.Unharmed()
	})
}

// strangeBeginnings sends what has crashed brokers: as the first bytes on a
// connection, and behind CONNECT.
func strangeBeginnings(b *probe.Broker, v version) {
	It("ahead of CONNECT are nothing to other clients", v.Statement(othersUnharmed...), func() {
		watch := b.Bystander()
		for _, raw := range []string{
			"40020007", "50020007", "62020007", "70020007", "32060001610001 78", "3406000161000178", "c000", "e000", "f0021800",
			"16030100", "0000", "20020000", "3000", "1000", "100100", "10020004", "100400044d51", "100700044d51545405",
			"100d ffff 4d515454 04 02 003c 0001 66", "100f00044d515454050200 3c00 0040 6667", "10120004 4d515454 05 02 003c ffffffff7f 0001 66",
			"100e00044d515454050200 3c7f000166", "10ffffffffff7f", "d000", "9003000100", "b003000100", "82020001", "a2020001",
		} {
			c := b.Open("client")
			c.SendBytes(seed(raw))
			c.CloseWrite()
		}
		c := b.Open("client")
		c.SendBytes([]byte("GET / HTTP/1.1\r\nHost: broker\r\nUser-Agent: mqttcheck\r\nAccept: text/html,application/json;q=0.9\r\nConnection: close\r\n\r\n"))
		c.CloseWrite()
		watch.Unharmed()
	})

	It("behind CONNECT are nothing to other clients", v.Statement(othersUnharmed...), func() {
		watch := b.Bystander()
		for _, raw := range behindConnect(b) {
			c := unjudged(b)
			c.SendBytes(raw)
			c.CloseWrite()
		}
		watch.Unharmed()
	})
}

// behindConnect are strange bytes for a client that is connected. In MQTT 3.1.1
// the broken properties of a PUBLISH are a payload like any other.
func behindConnect(b *probe.Broker) [][]byte {
	var list [][]byte
	for _, p := range []struct {
		flags byte
		tail  string // behind the Topic Name
	}{{0, "01 26"}, {0, "02 7f00 78"}, {0, "02 0000 78"}, {0, "01 23"}, {2, "0009 07 03000003000178"}} {
		list = append(list, wire.Bytes(b.Version, wire.Frame{Type: wire.PUBLISH, Flags: p.flags, Body: join(str(b.Topic()), seed(p.tail))}))
	}
	for _, text := range []string{
		"30020000", "3003000000", "3203000161", "330500016100", "30 05 ffff 616263", "300100", "3203 0001 61", "30ffffffffff01", "308080808001",
		"82020001", "82 05 0001 0001 61", "820100", "8203 0001 7f", "8206 0001 0040 61 00", "a2020001", "a203000100", "20030000 00", "2000", "2002",
		"2f020000c000", "b003000100", "d000", "6200", "620100", "4000", "5000", "7000", "400100", "c00100", "e001", "e001ff", "f0021800",
		"82 0c 0001 00 0006 247368617265 00", "82 0f 0001 00 0009 2473686172652f7a7a 00", "30 04 0002 2478", "30 07 0005 2453595324",
	} {
		list = append(list, seed(text))
	}
	return list
}

// unjudged is a client that may not even be served: a server that fails takes
// it along with the others, and it is those that tell.
func unjudged(b *probe.Broker) *probe.Client {
	GinkgoHelper()
	c := b.Open("client")
	c.Send(b.ConnectPacket())
	c.Answer(wire.CONNACK)
	return c
}

// seed reads bytes that are written in hexadecimal, with spaces.
func seed(text string) []byte {
	raw, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		panic(err)
	}
	return raw
}

func names(clients []*probe.Client) []string {
	list := []string{}
	for _, c := range clients {
		list = append(list, c.Name())
	}
	return list
}

// churn lets clients come and go, in every way, while messages are on their way
// to them. What becomes of those is not judged.
func churn(b *probe.Broker, v version) {
	It("4.13 leaves other clients alone when clients come and go under traffic", v.Statement(othersUnharmed...), func() {
		watch := b.Bystander()
		topic, id := b.Topic(), b.ClientID()
		pub := b.Connect("pub")
		half := min(20, int(pub.Limit(wire.ReceiveMaximum, 65535))/2)
		burst := func(first int) {
			packets := []wire.Packet{}
			for i := range half {
				packets = append(packets, wire.Publish{Topic: topic + "/" + digit(byte(i%3)), Payload: longText(200)},
					wire.Publish{Topic: topic + "/1", QoS: 1, ID: uint16(first + i), Payload: "flood"})
			}
			pub.Send(packets...)
		}
		for round := range 5 {
			stays := b.Connect("stays", probe.ID(id), probe.Persistent).Subscribe(topic+"/#", 1)
			resets, leaves, ends := b.Connect("resets").Subscribe(topic+"/+", 1), b.Connect("leaves").Subscribe(topic+"/1", 1), b.Connect("ends").Subscribe(topic+"/#", 0)
			burst(1)
			if round == 0 {
				resets.Unacknowledged()
				resets.Ping() // so many are open for certain, once
			}
			resets.Reset()
			leaves.Send(wire.Unsubscribe{ID: 99, Filters: []string{topic + "/1"}})
			burst(1 + half)
			ends.CloseWrite()
			leaves.SendBytes(wire.Bytes(b.Version, wire.Disconnect{}))
			b.Connect("over", probe.ID(id), probe.Persistent).Reset()
			stays.Reset()
			for range 2 * half {
				if !pub.Answer(wire.PUBACK).Came {
					break
				}
			}
			watch.Unharmed()
		}
	})
}
