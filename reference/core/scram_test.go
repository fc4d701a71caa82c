package core

import (
	"testing"

	"github.com/xdg-go/scram"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// scramPeer is a client that authenticates as a user.
type scramPeer struct {
	*peer
	conversation *scram.ClientConversation
}

func newScramPeer(t *testing.T, s *Server, id ConnID) *scramPeer {
	p := &scramPeer{peer: &peer{t: t, s: s, id: id, version: packet.V5}}
	p.handle(Opened{Conn: id})
	return p
}

// as begins a conversation and returns the first properties.
func (p *scramPeer) as(user, password string) packet.Properties {
	client, err := scram.SHA256.NewClient(user, password, "")
	if err != nil {
		p.t.Fatal(err)
	}
	p.conversation = client.NewConversation()
	return p.step("")
}

// step returns the client's next properties.
func (p *scramPeer) step(data string) packet.Properties {
	p.t.Helper()
	method := scramMethod
	answer, err := p.conversation.Step(data)
	if err != nil {
		p.t.Fatal(err)
	}
	return packet.Properties{AuthenticationMethod: &method, AuthenticationData: []byte(answer)}
}

// answer answers the server's challenge.
func (p *scramPeer) answer() {
	p.t.Helper()
	asked, ok := p.last().(*packet.Auth)
	if !ok || asked.Code != packet.ContinueAuthentication {
		p.t.Fatalf("the server does not ask for more: %+v", p.last())
	}
	p.send(&packet.Auth{Code: packet.ContinueAuthentication, Properties: p.step(string(asked.Properties.AuthenticationData))})
}

func (p *scramPeer) connect(ps packet.Properties) {
	p.send(&packet.Connect{ProtocolName: "MQTT", Version: packet.V5, CleanStart: true, ClientID: "scram", Properties: ps})
}

func scramServer(t *testing.T) *Server {
	s, err := New(Config{Users: []User{{Name: "ann", Password: "open"}, {Name: "bob", Password: "shut"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestScram(t *testing.T) {
	p := newScramPeer(t, scramServer(t), 1)
	p.connect(p.as("ann", "open"))
	p.answer()
	ack, ok := p.last().(*packet.Connack)
	if !ok || ack.Code != packet.Success {
		t.Fatalf("CONNACK is %+v", p.last())
	}
	p.step(string(ack.Properties.AuthenticationData)) // the server proves who it is
	if !p.conversation.Valid() {
		t.Error("the server has not proved who it is")
	}

	p.send(&packet.Auth{Code: packet.ReAuthenticate, Properties: p.as("ann", "open")})
	p.answer()
	if done, ok := p.last().(*packet.Auth); !ok || done.Code != packet.Success {
		t.Fatalf("the re-authentication ends with %+v", p.last())
	}
	p.send(&packet.Auth{Code: packet.ReAuthenticate, Properties: p.as("bob", "shut")})
	p.answer()
	if !p.closed {
		t.Error("a re-authentication may change the user")
	}
}

func TestScramRejects(t *testing.T) {
	s := scramServer(t)
	for i, c := range []struct{ name, user, password string }{{"a wrong password", "ann", "wrong"}, {"nobody", "cid", "open"}} {
		t.Run(c.name, func(t *testing.T) {
			p := newScramPeer(t, s, ConnID(i))
			p.connect(p.as(c.user, c.password))
			if !p.closed {
				p.answer()
			}
			if ack, ok := p.last().(*packet.Connack); !ok || ack.Code != packet.NotAuthorized || !p.closed {
				t.Errorf("the exchange ends with %+v, closed %t", p.last(), p.closed)
			}
		})
	}
}

// TestScramAsks holds that a client which sent no data is asked for them.
func TestScramAsks(t *testing.T) {
	p := newScramPeer(t, scramServer(t), 1)
	first := p.as("ann", "open")
	p.connect(packet.Properties{AuthenticationMethod: first.AuthenticationMethod})
	p.send(&packet.Auth{Code: packet.ContinueAuthentication, Properties: first})
	p.answer()
	if ack, ok := p.last().(*packet.Connack); !ok || ack.Code != packet.Success {
		t.Errorf("the exchange ends with %+v", p.last())
	}
}
