package packet

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

// maker makes valid packets of both sides.
type maker struct {
	*rand.Rand
	v Version
}

func (m maker) coin() bool { return m.IntN(2) == 0 }

func (m maker) id() uint16 { return uint16(1 + m.IntN(65535)) }

// text is a string that may be empty and mixes widths of code points.
func (m maker) text() string {
	var b strings.Builder
	for range m.IntN(4) {
		b.WriteString([]string{"a", "b/", "é", "\ufeff", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\U00010000", "\U0010ffff", "$", " ", "\x01", strings.Repeat("z", m.IntN(300))}[m.IntN(14)])
	}
	return b.String()
}

func (m maker) topic() string { return m.text() + "t" }

func (m maker) data() []byte {
	b := make([]byte, m.IntN(5))
	for i := range b {
		b[i] = byte(m.IntN(256))
	}
	return b
}

// fill gives each property that the packet may have a value half of the time.
// It goes by the fields of Properties, so that none is forgotten.
func (m maker) fill(kind Type) Properties {
	var ps Properties
	if m.v != V5 {
		return ps
	}
	ids := map[string]byte{
		"PayloadFormatIndicator": 0x01, "MessageExpiryInterval": 0x02, "ContentType": 0x03, "ResponseTopic": 0x08, "CorrelationData": 0x09,
		"SubscriptionIdentifiers": 0x0b, "SessionExpiryInterval": 0x11, "AssignedClientIdentifier": 0x12, "ServerKeepAlive": 0x13,
		"AuthenticationMethod": 0x15, "AuthenticationData": 0x16, "RequestProblemInformation": 0x17, "WillDelayInterval": 0x18,
		"RequestResponseInformation": 0x19, "ResponseInformation": 0x1a, "ServerReference": 0x1c, "ReasonString": 0x1f,
		"ReceiveMaximum": 0x21, "TopicAliasMaximum": 0x22, "TopicAlias": 0x23, "MaximumQoS": 0x24, "RetainAvailable": 0x25,
		"UserProperties": 0x26, "MaximumPacketSize": 0x27, "WildcardSubscriptionAvailable": 0x28,
		"SubscriptionIdentifierAvailable": 0x29, "SharedSubscriptionAvailable": 0x2a,
	}
	v := reflect.ValueOf(&ps).Elem()
	for i := range v.NumField() {
		id, ok := ids[v.Type().Field(i).Name]
		if !ok {
			panic("no identifier for " + v.Type().Field(i).Name)
		}
		if strings.IndexByte(allowed[kind], id) < 0 || m.coin() {
			continue
		}
		switch f := v.Field(i).Addr().Interface().(type) {
		case **byte:
			*f = ptr(byte(m.IntN(2)))
		case **uint16:
			*f = ptr(m.id())
		case **uint32:
			*f = ptr(m.Uint32() | 1)
		case **string:
			*f = ptr(m.topic())
		case *[]byte:
			*f = m.data()
		case *[]uint32:
			*f = []uint32{1 + m.Uint32N(268435455)}
		case *[]UserProperty:
			*f = []UserProperty{{m.text(), m.text()}, {m.text(), m.text()}}[:1+m.IntN(2)]
		}
	}
	return ps
}

func (m maker) code(kind Type) ReasonCode {
	legal := legalCodes[kind]
	if m.v != V5 {
		if legal = returnCodes[kind]; legal == "" {
			return 0
		}
	}
	return ReasonCode(legal[m.IntN(len(legal))])
}

func (m maker) connect() *Connect {
	p := &Connect{ProtocolName: "MQTT", Version: m.v, CleanStart: m.coin(), KeepAlive: uint16(m.Uint32()), ClientID: m.text(), Properties: m.fill(CONNECT)}
	if p.Properties.AuthenticationMethod == nil {
		p.Properties.AuthenticationData = nil
	}
	if m.coin() {
		p.Username = ptr(m.text())
	}
	if m.coin() && (m.v == V5 || p.Username != nil) {
		p.Password = m.data()
	}
	if m.coin() {
		p.Will = &Will{Topic: m.topic(), Payload: m.data(), QoS: byte(m.IntN(3)), Retain: m.coin(), Properties: m.fill(willPacket)}
	}
	return p
}

func (m maker) publish() *Publish {
	p := &Publish{QoS: byte(m.IntN(3)), Retain: m.coin(), Topic: m.topic(), Properties: m.fill(PUBLISH), Payload: make([]byte, m.IntN(40000))}
	if p.QoS > 0 {
		p.ID, p.Dup = m.id(), m.coin()
	}
	if p.Properties.TopicAlias != nil && m.coin() {
		p.Topic = ""
	}
	return p
}

func (m maker) subscribe() *Subscribe {
	p := &Subscribe{ID: m.id(), Properties: m.fill(SUBSCRIBE)}
	for range 1 + m.IntN(4) {
		s := Subscription{Filter: m.topic() + "/#", QoS: byte(m.IntN(3))}
		if m.v == V5 {
			s.NoLocal, s.RetainAsPublished, s.RetainHandling = m.coin(), m.coin(), byte(m.IntN(3))
		}
		p.Subscriptions = append(p.Subscriptions, s)
	}
	return p
}

func (m maker) codes(kind Type) []ReasonCode {
	list := make([]ReasonCode, 1+m.IntN(4))
	for i := range list {
		list[i] = m.code(kind)
	}
	return list
}

func (m maker) packet() Packet {
	kind := Type(1 + m.IntN(14))
	switch kind {
	case CONNECT:
		return m.connect()
	case CONNACK:
		p := &Connack{Code: m.code(CONNACK), Properties: m.fill(CONNACK)}
		p.SessionPresent = p.Code == 0 && m.coin()
		return p
	case PUBLISH:
		return m.publish()
	case PUBACK, PUBREC, PUBREL, PUBCOMP:
		return &Ack{Kind: kind, ID: m.id(), Code: m.code(kind), Properties: m.fill(kind)}
	case SUBSCRIBE:
		return m.subscribe()
	case SUBACK:
		return &Suback{ID: m.id(), Properties: m.fill(SUBACK), Codes: m.codes(SUBACK)}
	case UNSUBSCRIBE:
		return &Unsubscribe{ID: m.id(), Properties: m.fill(UNSUBSCRIBE), Filters: []string{m.topic(), m.topic()}[:1+m.IntN(2)]}
	case UNSUBACK:
		p := &Unsuback{ID: m.id(), Properties: m.fill(UNSUBACK)}
		if m.v == V5 {
			p.Codes = m.codes(UNSUBACK)
		}
		return p
	case PINGREQ:
		return &Pingreq{}
	case PINGRESP:
		return &Pingresp{}
	}
	if m.v == V5 && m.coin() {
		p := &Auth{Code: m.code(AUTH), Properties: m.fill(AUTH)}
		p.Properties.AuthenticationMethod = ptr(m.text())
		return p
	}
	return &Disconnect{Code: m.code(DISCONNECT), Properties: m.fill(DISCONNECT)}
}

// TestRoundTrip: what is encoded is decoded as the same packet, strictly, and
// so it is in the middle of a stream that comes in pieces.
func TestRoundTrip(t *testing.T) {
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests = 3000
	properties := gopter.NewProperties(parameters)
	for _, v := range []Version{V311, V5} {
		properties.Property(fmt.Sprintf("packets of level %d", v), prop.ForAll(
			func(seed uint64) string { return roundTrip(maker{rand.New(rand.NewPCG(seed, uint64(v))), v}) },
			gen.UInt64(),
		))
	}
	properties.TestingRun(t)
}

// roundTrip writes some packets into one stream and reads them back; it returns
// what is wrong, "" for nothing.
func roundTrip(m maker) string {
	var sent []Packet
	var stream []byte
	for range 1 + m.IntN(3) {
		p := m.packet()
		sent = append(sent, p)
		stream = Append(stream, m.v, p)
	}
	d := Decoder{Version: m.v}
	var buf []byte
	for len(stream) > 0 {
		n := min(1+m.IntN(1+m.IntN(5000)), len(stream))
		buf, stream = append(buf, stream[:n]...), stream[n:]
		for {
			first, body, size, err := SplitFrame(buf, m.v, nil)
			if err != nil {
				return err.Error()
			}
			if size == 0 {
				break
			}
			p, err := d.Decode(first, body)
			if err != nil || len(sent) == 0 || !reflect.DeepEqual(p, sent[0]) {
				return fmt.Sprintf("% x is read as %#v, %v", buf[:min(size, 200)], p, err)
			}
			buf, sent = buf[size:], sent[1:]
		}
	}
	if len(sent) > 0 || len(buf) > 0 {
		return fmt.Sprintf("%d packets and %d bytes are left", len(sent), len(buf))
	}
	return ""
}
