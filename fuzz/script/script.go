// Package script holds conversations of several clients with a broker as data:
// what each client does, in order, byte for byte. A script can be played,
// printed, edited by hand and parsed again.
package script

import (
	"bytes"
	"time"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Op is what a step does.
type Op byte

// The operations.
const (
	Open   Op = iota // make a network connection; an older one of the client stays as it is
	Send             // write bytes
	Fence            // wait until the broker has dealt with what the client sent
	Finish           // end the client's half of the connection (FIN)
	Reset            // end the connection with a reset (RST)
	Hold             // acknowledge nothing from here on
	Pause            // wait
)

// MaxClients is how many clients a script may have.
const MaxClients = 8

// Step is one step of one client.
type Step struct {
	Client  int // 0 to MaxClients-1
	Op      Op
	Version wire.Version  // of Open
	Bytes   []byte        // of Send
	Split   int           // Send writes so many bytes at a time; 0 for all at once
	Pause   time.Duration // of Pause
}

// Equal tells whether two steps are the same.
func (s Step) Equal(other Step) bool {
	return s.Client == other.Client && s.Op == other.Op && s.Version == other.Version &&
		s.Split == other.Split && s.Pause == other.Pause && bytes.Equal(s.Bytes, other.Bytes)
}

// Script is a conversation.
type Script []Step

// Clients returns the clients that take part, in the order of their first
// steps.
func (s Script) Clients() []int {
	var list []int
	var seen [MaxClients]bool
	for _, st := range s {
		if st.Op != Pause && !seen[st.Client] {
			seen[st.Client] = true
			list = append(list, st.Client)
		}
	}
	return list
}

// Packets counts the Send steps.
func (s Script) Packets() int {
	n := 0
	for _, st := range s {
		if st.Op == Send {
			n++
		}
	}
	return n
}

// Size counts the bytes sent.
func (s Script) Size() int {
	n := 0
	for _, st := range s {
		n += len(st.Bytes)
	}
	return n
}
