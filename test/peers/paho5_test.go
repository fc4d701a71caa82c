package peers

import (
	"bytes"
	"context"
	"net"
	"strings"
	"testing"

	"github.com/eclipse/paho.golang/packets"
	"github.com/eclipse/paho.golang/paho"
)

// paho5 is a client of paho.golang: MQTT 5.0.
type paho5 struct {
	t       *testing.T
	c       *paho.Client
	nc      net.Conn
	raw     chan *paho.Publish
	in      chan message
	session bool
}

func connectPaho5(t *testing.T, address string, o options) client {
	t.Helper()
	return joinPaho5(t, address, o)
}

func joinPaho5(t *testing.T, address string, o options) *paho5 {
	t.Helper()
	nc, err := net.Dial("tcp", strings.TrimPrefix(address, "mqtt://"))
	if err != nil {
		t.Fatal(err)
	}
	p := &paho5{t: t, nc: nc, raw: make(chan *paho.Publish, 1000), in: make(chan message, 1000)}
	p.c = paho.NewClient(paho.ClientConfig{
		ClientID:      o.id,
		Conn:          packets.NewThreadSafeConn(nc),
		PacketTimeout: patience,
		OnPublishReceived: []func(paho.PublishReceived) (bool, error){func(r paho.PublishReceived) (bool, error) {
			p.raw <- r.Packet
			p.in <- message{r.Packet.Topic, string(r.Packet.Payload), r.Packet.QoS, r.Packet.Retain}
			return true, nil
		}},
	})
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	connect := &paho.Connect{ClientID: o.id, CleanStart: !o.resume, KeepAlive: 600}
	if o.resume {
		hour := uint32(3600)
		connect.Properties = &paho.ConnectProperties{SessionExpiryInterval: &hour}
	}
	if o.will != nil {
		connect.WillMessage = &paho.WillMessage{Topic: o.will.topic, Payload: []byte(o.will.payload), QoS: o.will.qos, Retain: o.will.retained}
	}
	ack, err := p.c.Connect(ctx, connect)
	if err != nil {
		t.Fatal(err)
	}
	p.session = ack.SessionPresent
	t.Cleanup(func() { _ = nc.Close() })
	return p
}

func (p *paho5) subscribe(filter string, qos byte) {
	p.t.Helper()
	p.subscribeWith(&paho.Subscribe{Subscriptions: []paho.SubscribeOptions{{Topic: filter, QoS: qos}}})
}

func (p *paho5) subscribeWith(s *paho.Subscribe) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	ack, err := p.c.Subscribe(ctx, s)
	if err != nil {
		p.t.Fatal(err)
	}
	for i, o := range s.Subscriptions {
		if ack.Reasons[i] != o.QoS {
			p.t.Fatalf("granted %#x for QoS %d", ack.Reasons[i], o.QoS)
		}
	}
}

func (p *paho5) publish(m message) {
	p.t.Helper()
	p.publishWith(&paho.Publish{Topic: m.topic, Payload: []byte(m.payload), QoS: m.qos, Retain: m.retained})
}

func (p *paho5) publishWith(m *paho.Publish) *paho.PublishResponse {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := p.c.Publish(ctx, m)
	if err != nil {
		p.t.Fatal(err)
	}
	return r
}

func (p *paho5) received() <-chan message { return p.in }

func (p *paho5) present() bool { return p.session }

func (p *paho5) leave() { _ = p.c.Disconnect(&paho.Disconnect{}) }

func (p *paho5) drop() { _ = p.nc.Close() }

// Properties that a server must pass on unaltered come out as they went in.
func TestPropertiesRoundTrip(t *testing.T) {
	address := startReference(t)
	sub := joinPaho5(t, address, options{id: "sub"})
	identifier := 268435455
	sub.subscribeWith(&paho.Subscribe{
		Properties:    &paho.SubscribeProperties{SubscriptionIdentifier: &identifier},
		Subscriptions: []paho.SubscribeOptions{{Topic: "properties/#", QoS: 2}},
	})
	pub := joinPaho5(t, address, options{id: "pub"})
	format, expiry := byte(1), uint32(600)
	sent := &paho.PublishProperties{
		PayloadFormat: &format, MessageExpiry: &expiry, ContentType: "text/plain; charset=utf-8",
		ResponseTopic: "answers/to/überall", CorrelationData: []byte{0, 1, 0xFF},
		User: paho.UserProperties{{Key: "b", Value: "2"}, {Key: "a", Value: "1"}, {Key: "b", Value: "1"}, {Key: "", Value: ""}},
	}
	for qos := range byte(3) {
		pub.publishWith(&paho.Publish{Topic: "properties/x", QoS: qos, Payload: []byte("grüß"), Properties: sent})
		next(t, sub)
		got := (<-sub.raw).Properties
		switch {
		case got.PayloadFormat == nil || *got.PayloadFormat != 1:
			t.Errorf("QoS %d: Payload Format Indicator %v", qos, got.PayloadFormat)
		case got.MessageExpiry == nil || *got.MessageExpiry > expiry || *got.MessageExpiry < expiry-120:
			t.Errorf("QoS %d: Message Expiry Interval %v", qos, got.MessageExpiry)
		case got.ContentType != sent.ContentType || got.ResponseTopic != sent.ResponseTopic:
			t.Errorf("QoS %d: Content Type %q, Response Topic %q", qos, got.ContentType, got.ResponseTopic)
		case !bytes.Equal(got.CorrelationData, sent.CorrelationData):
			t.Errorf("QoS %d: Correlation Data % x", qos, got.CorrelationData)
		case got.SubscriptionIdentifier == nil || *got.SubscriptionIdentifier != identifier:
			t.Errorf("QoS %d: Subscription Identifier %v", qos, got.SubscriptionIdentifier)
		}
		if len(got.User) != len(sent.User) {
			t.Fatalf("QoS %d: User Properties %v", qos, got.User)
		}
		for i, u := range sent.User {
			if got.User[i] != u {
				t.Errorf("QoS %d: User Property %d is %v, want %v", qos, i, got.User[i], u)
			}
		}
	}
}

// What only MQTT 5.0 has: No Local, Retain As Published, Retain Handling.
func TestSubscriptionOptions(t *testing.T) {
	address := startReference(t)
	c := joinPaho5(t, address, options{id: "both"})
	other := joinPaho5(t, address, options{id: "other"})
	other.publish(message{"options", "kept", 1, true})
	c.subscribeWith(&paho.Subscribe{Subscriptions: []paho.SubscribeOptions{
		{Topic: "options", QoS: 1, NoLocal: true, RetainAsPublished: true, RetainHandling: 2},
	}})
	c.publish(message{"options", "own", 1, false})
	other.publish(message{"options", "other's", 1, true})
	other.publish(message{"options", "last", 1, false})
	expect(t, c, message{"options", "other's", 1, true}, message{"options", "last", 1, false})
}

// A publisher is told that nobody subscribed, and a subscriber in a group of
// its own gets the message.
func TestReasonCodes(t *testing.T) {
	address := startReference(t)
	c := joinPaho5(t, address, options{id: "c"})
	if r := c.publishWith(&paho.Publish{Topic: "nobody", QoS: 1}); r.ReasonCode != 0x10 {
		t.Errorf("PUBACK %#x, want No matching subscribers", r.ReasonCode)
	}
	c.subscribe("$share/group/nobody", 1)
	if r := c.publishWith(&paho.Publish{Topic: "nobody", QoS: 1, Payload: []byte("x")}); r.ReasonCode != 0 {
		t.Errorf("PUBACK %#x, want Success", r.ReasonCode)
	}
	expect(t, c, message{"nobody", "x", 1, false})
}
