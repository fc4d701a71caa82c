package peers

import (
	"net"
	"net/url"
	"strings"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// paho311 is a client of paho.mqtt.golang: MQTT 3.1.1.
type paho311 struct {
	t       *testing.T
	c       mqtt.Client
	nc      net.Conn
	in      chan message
	session bool
}

func connectPaho311(t *testing.T, address string, o options) client {
	t.Helper()
	p := &paho311{t: t, in: make(chan message, 1000)}
	co := mqtt.NewClientOptions().
		AddBroker(strings.Replace(address, "mqtt://", "tcp://", 1)).
		SetClientID(o.id).SetProtocolVersion(4).SetCleanSession(!o.resume).
		SetAutoReconnect(false).SetConnectRetry(false).SetKeepAlive(0).SetConnectTimeout(patience)
	co.SetDefaultPublishHandler(func(_ mqtt.Client, m mqtt.Message) {
		p.in <- message{m.Topic(), string(m.Payload()), m.Qos(), m.Retained()}
	})
	co.SetCustomOpenConnectionFn(func(u *url.URL, _ mqtt.ClientOptions) (net.Conn, error) {
		nc, err := net.Dial("tcp", u.Host)
		p.nc = nc
		return nc, err
	})
	if o.will != nil {
		co.SetWill(o.will.topic, o.will.payload, o.will.qos, o.will.retained)
	}
	p.c = mqtt.NewClient(co)
	token := p.c.Connect()
	p.done("CONNACK", token)
	p.session = token.(*mqtt.ConnectToken).SessionPresent()
	t.Cleanup(func() { p.c.Disconnect(0) })
	return p
}

func (p *paho311) done(what string, token mqtt.Token) {
	p.t.Helper()
	awaited(p.t, what, token.Done())
	if err := token.Error(); err != nil {
		p.t.Fatalf("%s: %v", what, err)
	}
}

func (p *paho311) subscribe(filter string, qos byte) {
	p.t.Helper()
	token := p.c.Subscribe(filter, qos, nil)
	p.done("SUBACK", token)
	// The library keeps the result of a shared subscription without $share.
	results := token.(*mqtt.SubscribeToken).Result()
	for _, got := range results {
		if got != qos || len(results) != 1 {
			p.t.Fatalf("granted %v for QoS %d", results, qos)
		}
	}
}

func (p *paho311) publish(m message) {
	p.t.Helper()
	p.done("PUBLISH", p.c.Publish(m.topic, m.qos, m.retained, m.payload))
}

func (p *paho311) received() <-chan message { return p.in }

func (p *paho311) present() bool { return p.session }

func (p *paho311) leave() { p.c.Disconnect(250) }

func (p *paho311) drop() { _ = p.nc.Close() }
