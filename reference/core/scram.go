package core

import (
	"encoding/base64"
	"errors"

	"github.com/xdg-go/scram"
)

// scramIterations is the least that RFC 7677 allows.
const scramIterations = 4096

// scramExchange is an exchange under scramMethod. The client sends data first:
// one that did not is asked for it by a challenge without data.
type scramExchange struct {
	server       *Server
	conversation *scram.ServerConversation
	begun        bool
}

func (s *Server) newScram(c *conn) *scramExchange {
	lookup := func(name string) (scram.StoredCredentials, error) { return s.stored(c, name) }
	server, err := scram.SHA256.NewServer(lookup)
	if err != nil {
		panic("core: " + err.Error()) // it returns no error
	}
	nonce := func() string { return base64.StdEncoding.EncodeToString(c.random()) }
	return &scramExchange{server: s, conversation: server.WithNonceGenerator(nonce).NewConversation()}
}

// stored returns what a server keeps of a user's password, made with a salt of
// its own when it is needed first.
func (s *Server) stored(c *conn, name string) (scram.StoredCredentials, error) {
	if kept, ok := s.scramKeys[name]; ok {
		return kept, nil
	}
	u := s.userNamed(name)
	if u == nil {
		return scram.StoredCredentials{}, errors.New("core: no such user")
	}
	client, err := scram.SHA256.NewClient(u.Name, u.Password, "")
	if err != nil {
		return scram.StoredCredentials{}, err
	}
	kept, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: string(c.random()), Iters: scramIterations})
	if err == nil {
		s.scramKeys[name] = kept
	}
	return kept, err
}

func (s *Server) userNamed(name string) *User {
	for i := range s.cfg.Users {
		if s.cfg.Users[i].Name == name {
			return &s.cfg.Users[i]
		}
	}
	return nil
}

func (x *scramExchange) step(data []byte) (reply []byte, done, ok bool) {
	if data == nil && !x.begun {
		x.begun = true
		return nil, false, true
	}
	x.begun = true
	answer, err := x.conversation.Step(string(data))
	if err != nil {
		return nil, false, false
	}
	return []byte(answer), x.conversation.Done(), true
}

func (x *scramExchange) user() *User { return x.server.userNamed(x.conversation.Username()) }
