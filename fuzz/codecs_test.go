// Package fuzz_test holds the two codecs, which were written apart, against
// each other.
package fuzz_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// maker makes valid packets of clients and of servers.
type maker struct {
	*rand.Rand
	v packet.Version
}

func (m maker) text() string {
	return []string{"a", "a/b", "é", "\ufeffx", "𝄞/", "$SYS/x", "long/" + string(bytes.Repeat([]byte("z"), m.IntN(300)))}[m.IntN(7)]
}

func (m maker) id() uint16 { return uint16(1 + m.IntN(65535)) }

func (m maker) coin() bool { return m.IntN(2) == 0 }

// some returns a pointer to a value half of the time.
func some[T any](m maker, v T) *T {
	if m.coin() {
		return &v
	}
	return nil
}

// diagnostics are the properties of nearly all packets.
func (m maker) diagnostics(reason bool) (ps packet.Properties) {
	if m.v != packet.V5 || m.coin() {
		return ps
	}
	for range m.IntN(3) {
		ps.UserProperties = append(ps.UserProperties, packet.UserProperty{Name: m.text(), Value: m.text()})
	}
	if reason {
		ps.ReasonString = some(m, m.text())
	}
	return ps
}

// message adds the properties of PUBLISH and wills.
func (m maker) message(ps packet.Properties) packet.Properties {
	if m.v == packet.V5 {
		ps.PayloadFormatIndicator = some(m, byte(m.IntN(2)))
		ps.MessageExpiryInterval = some(m, m.Uint32())
		ps.ContentType, ps.ResponseTopic = some(m, m.text()), some(m, m.text())
		if m.coin() {
			ps.CorrelationData = []byte{0, 0xff, byte(m.IntN(256))}
		}
	}
	return ps
}

func (m maker) connect() *packet.Connect {
	p := &packet.Connect{ProtocolName: "MQTT", Version: m.v, CleanStart: m.coin(), KeepAlive: uint16(m.Uint32()), ClientID: m.text(), Username: some(m, m.text())}
	p.Properties = m.diagnostics(false)
	if m.v == packet.V5 {
		p.Properties.SessionExpiryInterval, p.Properties.MaximumPacketSize = some(m, m.Uint32()), some(m, m.Uint32()|1)
		p.Properties.ReceiveMaximum, p.Properties.TopicAliasMaximum = some(m, m.id()), some(m, uint16(m.Uint32()))
		p.Properties.RequestProblemInformation = some(m, byte(m.IntN(2)))
		p.Properties.RequestResponseInformation = some(m, byte(m.IntN(2)))
		p.Properties.AuthenticationMethod = some(m, m.text())
	}
	if m.coin() && (m.v == packet.V5 || p.Username != nil) {
		p.Password = []byte{0, 1, 2}
	}
	if m.coin() {
		p.Will = &packet.Will{Topic: m.text(), Payload: []byte{9}, QoS: byte(m.IntN(3)), Retain: m.coin(), Properties: m.message(m.diagnostics(false))}
		if m.v == packet.V5 {
			p.Will.Properties.WillDelayInterval = some(m, m.Uint32())
		}
	}
	return p
}

func (m maker) packet() packet.Packet {
	five := m.v == packet.V5
	switch m.IntN(14) {
	case 0:
		return m.connect()
	case 1, 2:
		p := &packet.Publish{QoS: byte(m.IntN(3)), Retain: m.coin(), Topic: m.text(), Properties: m.message(m.diagnostics(false)), Payload: bytes.Repeat([]byte{7}, m.IntN(20000))}
		if p.QoS > 0 {
			p.ID, p.Dup = m.id(), m.coin()
		}
		if five {
			p.Properties.TopicAlias = some(m, m.id())
		}
		return p
	case 3:
		kind := packet.PUBACK + packet.Type(m.IntN(4))
		p := &packet.Ack{Kind: kind, ID: m.id(), Properties: m.diagnostics(true)}
		if five && m.coin() {
			p.Code = map[packet.Type]packet.ReasonCode{packet.PUBACK: 0x10, packet.PUBREC: 0x97, packet.PUBREL: 0x92, packet.PUBCOMP: 0x92}[kind]
		}
		return p
	case 4:
		p := &packet.Subscribe{ID: m.id(), Properties: m.diagnostics(false)}
		if five && m.coin() {
			p.Properties.SubscriptionIdentifiers = []uint32{1 + m.Uint32N(268435455)}
		}
		for range 1 + m.IntN(4) {
			s := packet.Subscription{Filter: m.text() + "/#", QoS: byte(m.IntN(3))}
			if five {
				s.NoLocal, s.RetainAsPublished, s.RetainHandling = m.coin(), m.coin(), byte(m.IntN(3))
			}
			p.Subscriptions = append(p.Subscriptions, s)
		}
		return p
	case 5:
		p := &packet.Unsubscribe{ID: m.id(), Properties: m.diagnostics(false)}
		for range 1 + m.IntN(4) {
			p.Filters = append(p.Filters, m.text())
		}
		return p
	case 6:
		p := &packet.Disconnect{Properties: m.diagnostics(true)}
		if five && m.coin() {
			p.Code = 0x04
		}
		return p
	case 7:
		if five {
			method := m.text()
			p := &packet.Auth{Code: 0x18, Properties: m.diagnostics(true)}
			p.Properties.AuthenticationMethod = &method
			return p
		}
	case 8:
		return &packet.Pingreq{}
	}
	return m.serverPacket()
}

// serverPacket makes packets that only servers send.
func (m maker) serverPacket() packet.Packet {
	five := m.v == packet.V5
	switch m.IntN(6) {
	case 0:
		return m.connack()
	case 1:
		p := &packet.Suback{ID: m.id(), Properties: m.diagnostics(true)}
		for range 1 + m.IntN(4) {
			p.Codes = append(p.Codes, []packet.ReasonCode{0, 1, 2, 0x80}[m.IntN(4)])
		}
		return p
	case 2:
		p := &packet.Unsuback{ID: m.id(), Properties: m.diagnostics(true)}
		if five {
			p.Codes = []packet.ReasonCode{0, 0x11, 0x8f}[:1+m.IntN(3)]
		}
		return p
	case 3:
		if five {
			p := &packet.Disconnect{Code: packet.ServerMoved, Properties: m.diagnostics(true)}
			p.Properties.ServerReference = some(m, m.text())
			return p
		}
	case 4:
		if five {
			p := &packet.Publish{Topic: m.text(), Properties: m.message(m.diagnostics(false)), Payload: []byte("p")}
			p.Properties.SubscriptionIdentifiers = []uint32{1 + m.Uint32N(268435455), 1, 127, 128}[:1+m.IntN(4)]
			return p
		}
	}
	return &packet.Pingresp{}
}

func (m maker) connack() *packet.Connack {
	p := &packet.Connack{SessionPresent: m.coin(), Properties: m.diagnostics(true)}
	if m.v != packet.V5 || m.coin() {
		return p
	}
	ps := &p.Properties
	ps.SessionExpiryInterval, ps.MaximumPacketSize = some(m, m.Uint32()), some(m, m.Uint32()|1)
	ps.ReceiveMaximum, ps.TopicAliasMaximum, ps.ServerKeepAlive = some(m, m.id()), some(m, m.id()), some(m, m.id())
	ps.AssignedClientIdentifier, ps.ResponseInformation = some(m, m.text()), some(m, m.text())
	ps.ServerReference, ps.AuthenticationMethod = some(m, m.text()), some(m, m.text())
	for _, flag := range []**byte{
		&ps.MaximumQoS, &ps.RetainAvailable, &ps.WildcardSubscriptionAvailable, &ps.SubscriptionIdentifierAvailable, &ps.SharedSubscriptionAvailable,
	} {
		*flag = some(m, byte(m.IntN(2)))
	}
	return p
}

// agree tells where the codecs differ over a packet, "" for nowhere.
func agree(v packet.Version, p packet.Packet) string {
	b := packet.Append(nil, v, p)
	if len(b) != packet.Size(v, p) {
		return "Size is wrong"
	}
	first, body, size, err := packet.SplitFrame(b, v, nil)
	if n, ok := wire.FrameSize(b); err != nil || !ok || n != size {
		return fmt.Sprintf("the frame has %d bytes or %d, %v", size, n, err)
	}
	d := packet.Decoder{Version: v}
	if again, err := d.Decode(first, body); err != nil || !reflect.DeepEqual(again, p) {
		return fmt.Sprintf("the reference reads it as %#v, %v", again, err)
	}
	q, err := wire.Parse(first, body, wire.Version(v))
	if err != nil {
		return "wire: " + err.Error()
	}
	if c := q.Append(nil, wire.Version(v)); !bytes.Equal(b, c) {
		return fmt.Sprintf("wire reads %s and writes % x for % x", q, c, b)
	}
	if x, ok := p.(*packet.Publish); ok {
		y := q.(wire.Publish)
		if x.Topic != y.Topic || x.ID != y.ID || x.QoS != y.QoS || x.Dup != y.Dup || x.Retain != y.Retain || string(x.Payload) != y.Payload {
			return fmt.Sprintf("wire reads the PUBLISH as %s", y)
		}
	}
	return ""
}

// TestCodecsAgree: what one codec writes, the other reads and writes again
// with the same bytes.
func TestCodecsAgree(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = 3000
	properties := gopter.NewProperties(parameters)
	for _, v := range []packet.Version{packet.V311, packet.V5} {
		properties.Property(fmt.Sprintf("packets of level %d", v), prop.ForAll(
			func(seed uint64) string { return agree(v, maker{rand.New(rand.NewPCG(seed, uint64(v))), v}.packet()) },
			gen.UInt64(),
		))
	}
	properties.TestingRun(t)
}
