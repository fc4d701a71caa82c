package core

import (
	"fmt"
	"slices"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// aliased is two clients, each of which publishes with Topic Aliases of its own and
// gets everything with those of the server.
type aliased struct {
	*world
	both      map[string]*aliasing
	published int
	topics    map[string]string // of the messages, by payload
	came      map[string]int    // deliveries, by client and payload
}

// aliasing is what is known of a client's connection.
type aliasing struct {
	name  string
	most  int               // Topic Aliases that it takes
	given map[uint16]string // what those of the server mean
	set   map[int]string    // what those of the client mean
}

// announced is the Topic Alias Maximum of the server.
const announced = 10

var aliasTopics = []string{"a", "b", "a/b", "c"}

func newAliased(t *testing.T) *aliased {
	a := &aliased{world: newWorld(t), both: map[string]*aliasing{}, topics: map[string]string{}, came: map[string]int{}}
	a.heard = func(c *scripted, p packet.Packet) {
		if p, ok := p.(*packet.Publish); ok {
			a.reads(a.both[c.name], p)
			a.acknowledge(c, p)
		}
	}
	a.connect("c", 2)
	a.connect("d", 3)
	return a
}

// connect begins a connection, on which no alias means anything yet.
func (a *aliased) connect(name string, most int) {
	a.both[name] = &aliasing{name: name, most: most, given: map[uint16]string{}, set: map[int]string{}}
	a.say("%s connect v5 expiry=1000 aliases=%d", name, most)
	a.say("%s subscribe # 1", name)
}

// reads holds the topic of a delivery against that of its message.
func (a *aliased) reads(c *aliasing, p *packet.Publish) {
	name := p.Topic
	if alias := p.Properties.TopicAlias; alias != nil {
		switch {
		case *alias == 0 || int(*alias) > c.most:
			a.wrong("%s gets Topic Alias %d, and takes %d", c.name, *alias, c.most)
		case name != "":
			c.given[*alias] = name
		default:
			name = c.given[*alias]
		}
	}
	payload := string(p.Payload)
	if name == "" || name != a.topics[payload] {
		a.wrong("%s gets message %s of %q as of %q", c.name, payload, a.topics[payload], name)
	}
	a.came[c.name+payload]++
}

// publish publishes with a Topic Alias: one that is set, for its topic, or one that
// is set anew. Each message goes to both clients.
func (a *aliased) publish(n int) {
	if a.published >= 200 {
		return
	}
	c := a.both[[]string{"c", "d"}[n%2]]
	topic, alias, qos := aliasTopics[n/2%4], []int{1, 2, announced}[n/8%3], n/24%2
	sent := topic
	if known := c.set[alias]; known != "" && n/48%3 > 0 {
		topic, sent = known, "-"
	}
	c.set[alias] = topic
	a.published++
	payload := fmt.Sprint(a.published)
	a.topics[payload] = topic
	a.say("%s publish %s %s q%d alias=%d id=%d", c.name, sent, payload, qos, alias, a.published)
	for _, name := range []string{"c", "d"} {
		if a.came[name+payload] != 1 {
			a.wrong("%s gets message %s %d times", name, payload, a.came[name+payload])
		}
	}
}

// A Topic Alias means what it was set to last by the same side on the same
// connection, and no client gets one above its maximum.
func TestAliasesProperty(t *testing.T) { aliasesProperty.check(t) }

var aliasesProperty = property[*aliased]{
	runs: 200, size: 60, fresh: newAliased, world: func(a *aliased) *world { return a.world },
	steps: slices.Concat(
		times(8, numbered("publish", (*aliased).publish)),
		times(1, numbered("reconnect", func(a *aliased, n int) { a.connect([]string{"c", "d"}[n%2], n/2%4) })),
	),
}
