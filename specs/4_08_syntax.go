package specs

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// shareSyntax judges filters that begin with $share/ and are none: they bind
// the client, and a server that grants one is lenient.
func shareSyntax(b *probe.Broker, v version) {
	for _, c := range []struct{ key, filter, why string }{
		{"v5/MQTT-4.8.2-1", "$share//T", "a ShareName has at least one character"},
		{"v5/MQTT-4.8.2-1", "$share//", "a ShareName has at least one character"},
		{"v5/MQTT-4.8.2-2", "$share/+/T", "a ShareName has no +"},
		{"v5/MQTT-4.8.2-2", "$share/#/T", "a ShareName has no #"},
		{"v5/MQTT-4.8.2-2", "$share/g+/T", "a ShareName has no +"},
		{"v5/MQTT-4.8.2-2", "$share/g#/T", "a ShareName has no #"},
		{"v5/MQTT-4.8.2-2", "$share/g", "a Topic Filter follows the ShareName"},
		{"v5/MQTT-4.8.2-2", "$share/g/", "a Topic Filter follows the ShareName"},
		{"v5/MQTT-4.8.2-2", "$share/g/T/a#", "a legal Topic Filter follows the ShareName"},
		{"v5/MQTT-4.8.2-2", "$share/g/T/+a", "a legal Topic Filter follows the ShareName"},
	} {
		It("are not granted for "+filterFor(c.filter, "topic"), v.Statement(c.key, "v5/4.8.2-bad-share-filter"), func() {
			topic := b.Topic()
			notGranted(b, c.key, filterFor(c.filter, topic), c.why, group("g", topic))
		})
	}
}

// filterFor puts a topic into a filter in which T stands for it.
func filterFor(filter, topic string) string { return strings.ReplaceAll(filter, "T", topic) }

// notGranted asserts that a filter is refused in SUBACK or ends the
// connection, where its legal twin is granted, and that others are unharmed.
func notGranted(b *probe.Broker, key, filter, why, twin string) {
	GinkgoHelper()
	c, watch := b.Connect("client").Subscribe(twin, 1), b.Bystander()
	c.Send(wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: filter, QoS: 1}}})
	a := c.Answer(wire.SUBACK)
	watch.Unharmed()
	if a.Came {
		probe.Reaction(key).Expect(a).To(probe.BePacket(HaveField("Codes", HaveEach(BeNumerically(">=", 0x80)))), "%s: %q is not granted", why, filter)
		return
	}
	probe.Reaction(key).Expect(c).To(probe.BeClosed(), "%s: a failure in SUBACK, or the close", why)
}

// shareForms looks at the forms of filters that were proposed for sharing
// before $share was settled on: those that break the rules for wildcards stay
// illegal, the others mean nothing, and servers make of them what they like.
func shareForms(b *probe.Broker, v version) {
	Describe("4.7.2 Proposed forms of sharing", func() {
		for _, c := range []struct {
			filter string
			keys   []string
		}{
			{"++Foo:/Bar", []string{"v311/MQTT-4.7.1-3", "v5/MQTT-4.7.1-2"}},
			{"##Foo:/Bar", []string{"v311/MQTT-4.7.1-2", "v5/MQTT-4.7.1-1"}},
		} {
			It("are not granted where wildcards are out of place: "+c.filter, v.Statement(c.keys...), func() {
				notGranted(b, v.key(c.keys...), c.filter, "a wildcard takes up a whole level", b.Topic()+"/+/Foo:/Bar/#")
			})
		}

		keys := []string{"v311/4.7.2-dollar-other-use", "v5/4.7.2-dollar-other-use"}
		for _, form := range []struct{ name, prefix string }{
			{"share-colon", "$share:g:"}, {"dollar-dollar-share", "$$share/g/"}, {"dollar-dollar-colon", "$$:g:"},
			{"dollar-dollar-name", "$$g:/"}, {"queue", "$queue/"}, {"shared", "$shared/"},
		} {
			It("may mean anything: "+form.prefix, v.Observation(keys...), func() {
				topic := b.Topic()
				inner := topic
				if strings.HasSuffix(form.prefix, ":/") {
					inner = "/" + topic
				}
				probe.Observe(v.prefix+"/4.7.2-form-"+form.name, "a filter %s...: %s", form.prefix, meaning(b, form.prefix+topic, inner))
			})
		}
	})
}

// meansShared is what meaning says of a shared subscription.
const meansShared = "a shared subscription to what stands behind"

// meaning subscribes two clients to a filter with $, publishes to the filter
// that is meant by it, if anything is, and to its own text, and tells in words
// what it means to the broker.
func meaning(b *probe.Broker, filter, inner string) string {
	GinkgoHelper()
	pair := []*probe.Client{b.Connect("one"), b.Connect("two")}
	for _, c := range pair {
		said, granted := answered(c, wire.Subscribe{ID: c.NextID(), Subscriptions: []wire.Subscription{{Filter: filter, QoS: 1}}})
		if !granted {
			return "refused (" + said + ")"
		}
	}
	pub := b.Connect("pub")
	for range 4 {
		publishAnywhere(b, pub, inner)
		publishAnywhere(b, pub, filter)
	}
	copies := map[string]int{}
	for _, name := range gather(b, pub, 0, pair...).all() {
		copies[name]++
	}
	switch {
	case copies[inner] == 4:
		return meansShared
	case copies[inner] == 8:
		return "a plain subscription to what stands behind"
	case copies[filter] == 8:
		return "a plain filter for the topic of that name"
	case copies[filter] == 4:
		return "a shared subscription to the topic of that name"
	case len(copies) == 0:
		return "granted, and no message comes"
	}
	return "granted, and some messages come"
}
