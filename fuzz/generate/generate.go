// Package generate makes conversations for the fuzzer: legal ones from a
// grammar of packets and a model of what each client has open, and ones in
// which exactly one client breaks the rules.
package generate

import (
	"fmt"
	"math/rand/v2"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Options of a Generator.
type Options struct {
	// Seed of the campaign: the same seed gives the same conversations.
	Seed uint64
	// Versions that the broker offers; none means both.
	Versions []wire.Version
	// Legal makes no conversation in which a client breaks the rules.
	Legal bool
}

// Generator makes the conversations of a campaign, each from its number alone.
// It is safe for concurrent use.
type Generator struct {
	o Options
}

// New returns a generator.
func New(o Options) *Generator {
	if len(o.Versions) == 0 {
		o.Versions = []wire.Version{wire.V311, wire.V5}
	}
	return &Generator{o: o}
}

// legalShare is the share of conversations in which nobody breaks the rules:
// only those get deep.
const legalShare = 0.6

// Case is one conversation.
type Case struct {
	Script script.Script
	Number uint64
	// Prefix begins every Topic Name and Client Identifier: no two cases of a
	// campaign meet.
	Prefix string
	// Broken is the client that breaks the rules, or -1.
	Broken int
	// Cells are the states in which the packets were sent.
	Cells []Cell
	// Origin says where a conversation comes from that was not made here.
	Origin string
}

// Name says where a conversation comes from: the seed of its campaign and its
// number.
func (c Case) Name(seed uint64) string {
	if c.Origin != "" {
		return c.Origin
	}
	return fmt.Sprintf("%d/%d", seed, c.Number)
}

// Case makes the conversation with a number.
func (g *Generator) Case(number uint64) Case {
	seed := splitMix(g.o.Seed ^ splitMix(number))
	w := &writer{
		Rand:     rand.New(rand.NewPCG(seed, splitMix(seed))),
		versions: g.o.Versions,
		c:        Case{Number: number, Broken: -1, Prefix: fmt.Sprintf("mqttcheck-fuzz/%x-%x", g.o.Seed&0xffffff, number)},
	}
	clients := 1 + w.pick(2, 5, 3, 1)
	if !g.o.Legal && w.Float64() > legalShare {
		w.c.Broken = w.IntN(clients)
	}
	for i := range clients {
		w.clients = append(w.clients, &client{index: i, w: w})
	}
	w.converse()
	return w.c
}

// splitMix is the step of SplitMix64: neighbouring numbers give seeds that have
// nothing in common.
func splitMix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// writer writes one conversation.
type writer struct {
	*rand.Rand
	versions []wire.Version
	clients  []*client
	messages int
	c        Case
}

// pick draws an index by weights.
func (w *writer) pick(weights ...int) int {
	sum := 0
	for _, n := range weights {
		sum += n
	}
	n := w.IntN(sum)
	for i, weight := range weights {
		if n < weight {
			return i
		}
		n -= weight
	}
	return 0
}

// chance is true with a probability in percent.
func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

// converse lets the clients take turns. Mostly a turn ends with a fence, so
// that what follows is known to come later.
func (w *writer) converse() {
	turns := 4 + w.IntN(10)
	if len(w.clients) > 1 && w.chance(scenes) {
		w.scene()
		turns = 1 + w.IntN(4)
	} else {
		for _, c := range w.clients {
			if c.index == 0 || w.chance(70) {
				c.open()
				w.rest(c)
			}
		}
	}
	broken := w.IntN(turns) // the turn in which the rules are broken
	for turn := range turns {
		c := w.clients[w.IntN(len(w.clients))]
		if turn == broken && w.c.Broken >= 0 {
			c = w.clients[w.c.Broken]
			c.misbehave()
			w.rest(c)
			continue
		}
		c.turn()
		w.rest(c)
	}
}

func (w *writer) rest(c *client) {
	if w.chance(60) {
		w.fence(c)
	}
}

// fence lets the client wait until all that it has sent is answered.
func (w *writer) fence(c *client) {
	w.step(script.Step{Client: c.index, Op: script.Fence})
	c.unacked = nil
}

func (w *writer) step(s script.Step) { w.c.Script = append(w.c.Script, s) }

// The pools are small: only what meets again finds faults.
var (
	topics  = []string{"a", "b", "a/b", "a/b/c", "", "$x/a"}
	filters = []string{"a", "b", "a/b", "#", "+", "a/#", "+/b", "a/+/c", "+/+", "$x/#", ""}
	shares  = []string{"s", "t"}
)

// topic returns a Topic Name of the case.
func (w *writer) topic() string { return w.under(topics[w.pick(8, 4, 6, 3, 1, 1)]) }

// under puts a level behind the prefix of the case.
func (w *writer) under(s string) string { return w.c.Prefix + "/" + s }

// filter returns a Topic Filter that no other case matches, sometimes a shared
// one.
func (w *writer) filter(five bool) string {
	f := w.under(filters[w.pick(8, 4, 6, 6, 3, 4, 3, 2, 2, 1, 1)])
	if five && w.chance(20) {
		return "$share/" + shares[w.IntN(len(shares))] + "/" + f
	}
	return f
}

// payload returns one that no other message of the case has, so that its
// deliveries are known.
func (w *writer) payload() string {
	w.messages++
	text := fmt.Sprintf("%s:%d", w.c.Prefix, w.messages)
	if w.chance(5) {
		text += string(make([]byte, 1+w.IntN(3000)))
	}
	return text
}
