package probe

import (
	"crypto/hmac"
	"crypto/sha256"
	"regexp"

	"github.com/onsi/ginkgo/v2"
	"github.com/xdg-go/scram"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// AuthMethod is an enhanced authentication of MQTT 5.0 that the variant "auth"
// was set up with, and what a client needs for it.
//
// Of the methods SCRAM-SHA-1, SCRAM-SHA-256 and SCRAM-SHA-512, which take user
// name and password, and mqttcheck-hmac (the client answers the server's random
// bytes with their HMAC-SHA-256 under the password) the tester works out its
// data. Of any other method Steps are sent as they are.
type AuthMethod struct {
	Name     string `json:"name"`
	Username string `json:"username,omitempty"`
	Password string `json:"password,omitempty"`
	// Steps are the Authentication Data of the client, in their order; the
	// first goes into CONNECT, where a null stands for none.
	Steps [][]byte `json:"steps,omitempty"`
	// WrongSteps are data that the server has to reject.
	WrongSteps [][]byte `json:"wrongSteps,omitempty"`
}

// Impostor returns the method as a client without the right secret has it.
func (m AuthMethod) Impostor() AuthMethod {
	if m.Steps == nil {
		m.Password += "-not"
		return m
	}
	if m.WrongSteps == nil {
		SkipFor("needs data that the broker rejects under the method %q", m.Name)
	}
	m.Steps = m.WrongSteps
	return m
}

// Exchange is the client's part of an enhanced authentication.
type Exchange struct {
	Method AuthMethod
	// Last is the server's last AUTH.
	Last wire.Auth

	next func(data []byte) []byte // from the server's data to the client's
}

// EachMethod calls do with the broker that offers enhanced authentication and
// each method that it was set up with. Without any the spec ends as a skip.
func (b *Broker) EachMethod(do func(b *Broker, m AuthMethod)) {
	ginkgo.GinkgoHelper()
	variant := b.Variant("auth")
	if len(b.AuthMethods) == 0 {
		SkipFor("needs to know an Authentication Method of the broker configured as %q", "auth")
	}
	for _, m := range b.AuthMethods {
		do(variant, m)
	}
}

// A broker must not keep the tester busy for long.
var (
	iterations = regexp.MustCompile(`,i=0*([0-9]+)`)
	maxDigits  = len("999999")
)

var scrams = map[string]scram.HashGeneratorFcn{"SCRAM-SHA-1": scram.SHA1, "SCRAM-SHA-256": scram.SHA256, "SCRAM-SHA-512": scram.SHA512}

// Exchange returns a new exchange under the method.
func (m AuthMethod) Exchange() *Exchange {
	ginkgo.GinkgoHelper()
	x := &Exchange{Method: m}
	hash, isScram := scrams[m.Name]
	switch {
	case m.Steps != nil:
		x.next = steps(m.Steps)
	case isScram:
		client, err := hash.NewClient(m.Username, m.Password, "")
		if err != nil {
			SkipFor("user name and password do for %s: %v", m.Name, err)
		}
		conversation := client.NewConversation()
		x.next = func(data []byte) []byte {
			if n := iterations.FindSubmatch(data); n != nil && len(n[1]) > maxDigits {
				Inconclusive("the broker asks for %s rounds of %s", n[1], m.Name)
			}
			answer, err := conversation.Step(string(data))
			if err != nil {
				Inconclusive("the broker's data make no sense under %s: %v", m.Name, err)
			}
			return []byte(answer)
		}
	case m.Name == "mqttcheck-hmac":
		x.next = m.hmac
	default:
		SkipFor("the method %q needs its steps in the target", m.Name)
	}
	return x
}

func steps(list [][]byte) func([]byte) []byte {
	return func([]byte) []byte {
		if len(list) == 0 {
			return nil
		}
		first := list[0]
		list = list[1:]
		return first
	}
}

// hmac is the client of mqttcheck-hmac: the server begins.
func (m AuthMethod) hmac(challenge []byte) []byte {
	if challenge == nil {
		return nil
	}
	mac := hmac.New(sha256.New, []byte(m.Password))
	mac.Write(challenge)
	return mac.Sum(nil)
}

// Begin returns the properties that begin the exchange, in CONNECT or in AUTH
// 0x19.
func (x *Exchange) Begin() wire.Properties { return x.Properties(x.next(nil)) }

// Properties returns the method and data as properties.
func (x *Exchange) Properties(data []byte) wire.Properties {
	ps := wire.Properties{{ID: wire.AuthenticationMethod, Str: x.Method.Name}}
	if data != nil {
		ps = append(ps, wire.Property{ID: wire.AuthenticationData, Bin: data})
	}
	return ps
}

// Answer returns the AUTH that answers the server's last.
func (x *Exchange) Answer() wire.Auth {
	ginkgo.GinkgoHelper()
	data, _ := x.Last.Properties.First(wire.AuthenticationData)
	return wire.Auth{Code: 0x18, Properties: x.Properties(x.next(data.Bin))}
}

// Authenticating opens a connection, begins an enhanced authentication and
// waits until the broker asks for more. A method that asks for nothing makes
// the spec unsupported.
func (b *Broker) Authenticating(name string, m AuthMethod, options ...Option) (*Client, *Exchange) {
	ginkgo.GinkgoHelper()
	c, x := b.Begun(name, m, options...)
	a := c.Answer(wire.AUTH, wire.CONNACK)
	switch p := a.Packet.(type) {
	case wire.Auth:
		x.Last = p
	case wire.Connack:
		if p.Code == 0 {
			Unsupported("%s needs no AUTH packets", m.Name)
		}
		Inconclusive("%s: %s ends at once with CONNACK code 0x%02x", name, m.Name, p.Code)
	default:
		Inconclusive("%s: the set-up needs AUTH, but %s", name, a.GomegaString())
	}
	return c, x
}

// Begun opens a connection and sends the CONNECT that begins an enhanced
// authentication.
func (b *Broker) Begun(name string, m AuthMethod, options ...Option) (*Client, *Exchange) {
	ginkgo.GinkgoHelper()
	x := m.Exchange()
	c := b.Open(name)
	c.Send(b.ConnectPacket(append(options, Properties(x.Begin()...))...))
	return c, x
}

// Concluded answers what the broker asks for until it says how the exchange
// ends: with CONNACK, with AUTH 0x00, with DISCONNECT, or the connection ends.
func (c *Client) Concluded(x *Exchange) Answer {
	ginkgo.GinkgoHelper()
	for range 20 {
		a := c.Answer(wire.AUTH, wire.CONNACK, wire.DISCONNECT)
		switch p := a.Packet.(type) {
		case wire.Connack:
			c.accepted = c.accepted || p.Code == 0
			return a
		case wire.Auth:
			if p.Code == 0 && c.accepted {
				return a
			}
			x.Last = p
			c.Send(x.Answer())
		default:
			return a
		}
	}
	Inconclusive("%s: %s asks for more and more", c.name, x.Method.Name)
	panic("unreachable")
}

// Authenticate opens a connection and makes an enhanced authentication that
// the set-up needs.
func (b *Broker) Authenticate(name string, m AuthMethod, options ...Option) *Client {
	ginkgo.GinkgoHelper()
	c, x := b.Begun(name, m, options...)
	a := c.Concluded(x)
	if ack, ok := a.Packet.(wire.Connack); !ok || ack.Code != 0 {
		Inconclusive("%s: the set-up needs %s to succeed, but %s", name, m.Name, a.GomegaString())
	}
	return c
}

// Reauthenticating begins a re-authentication and waits until the broker asks
// for more. A broker may turn it down: then the spec is unsupported.
func (c *Client) Reauthenticating(m AuthMethod) *Exchange {
	ginkgo.GinkgoHelper()
	x := m.Exchange()
	c.Send(wire.Auth{Code: 0x19, Properties: x.Begin()})
	a := c.Answer(wire.AUTH, wire.DISCONNECT)
	p, ok := a.Packet.(wire.Auth)
	switch {
	case ok && p.Code == 0:
		Unsupported("%s needs no further AUTH packets", m.Name)
	case ok:
		x.Last = p
	case a.Closed, a.Came:
		Unsupported("the broker turns a re-authentication under %s down: %s", m.Name, a.GomegaString())
	default:
		Inconclusive("%s: the set-up needs AUTH, but %s", c.name, a.GomegaString())
	}
	return x
}
