// Package specs holds the conformance specs: one file for each section of the
// specification, one It for each thing that a broker can get wrong.
//
// Importing it registers nothing: call Register once before RunSpecs.
package specs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/specs/normative"
	"github.com/mqttcheck/mqttcheck/specs/probe"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Suite is the description to pass to RunSpecs.
const Suite = "mqttcheck"

// Timing labels a spec that has to wait; such specs are dealt first.
var Timing = Label("timing")

// Patient labels specs that wait for several times the timeout where what has to
// come does not: they are dealt with those that always wait, ahead of them.
var Patient = Label("patient")

// Slow labels a spec that waits longer than three seconds of the protocol. It
// runs on demand only.
var Slow = Label("slow")

// cleaning is how long an interrupted spec may take to clean up: the parent of
// the process waits little longer.
const cleaning = 8 * time.Second

// A version is the version of the protocol that a root container is about.
type version struct {
	wire.Version
	prefix, name string
}

var (
	v311 = version{wire.V311, "v311", "MQTT 3.1.1"}
	v5   = version{wire.V5, "v5", "MQTT 5.0"}
)

// sections lists the section functions in the order of MQTT 5.0.
var sections = []func(b *probe.Broker, v version){
	data,
	fixedHeader,
	properties,
	doubledProperties,
	surplusBytes,
	reasonCodes,
	identifiers,
	connect,
	connectProperties,
	will,
	willDelay,
	sessions,
	sessionExpiry,
	connectAnswers,
	announcedLimits,
	connectFreedoms,
	announcedFreedoms,
	publishFlags,
	retain,
	retainedLookup,
	publishing,
	publishFreedoms,
	packetSize,
	serverLimit,
	problemInformation,
	reasonsTwice,
	formsOfAcks,
	responseInformation,
	topicAliases,
	messageProperties,
	requestResponse,
	messageExpiry,
	brokenProperties,
	atEachQoS,
	subscribe,
	qosAlongPaths,
	outcome,
	options,
	subscriptionIDs,
	subscriptionValues,
	unsubscribe,
	removal,
	ping,
	disconnect,
	disconnectCodes,
	disconnectExpiry,
	sessionState,
	returning,
	qosFlows,
	qosExchanges,
	repeatedPublications,
	comesAgain,
	unasked,
	expiryBegun,
	redelivery,
	reconnecting,
	acknowledgements,
	topics,
	topicFreedoms,
	literalTopics,
	shareForms,
	shared,
	membersBack,
	flowControl,
	quotaLeftover,
	redirection,
	authentication,
	handlingErrors,
	serverDisconnect,
	unharmed,
	seeds,
	webSocket,
	frameSizes,
}

// Register adds every spec, aimed at the target, to the current Ginkgo suite:
// one root container for each version, all set-up inside it (PreviewSpecs
// loses what stands outside).
func Register(target probe.Target, versions ...wire.Version) {
	RegisterSections(target, nil, versions...)
}

// RegisterSections is Register for the specs of some section functions, by the
// numbers that SectionOf reads off their labels: a tree costs by its size. Nil
// stands for all.
func RegisterSections(target probe.Target, only []int, versions ...wire.Version) {
	gomega.RegisterFailHandler(probe.Fail)
	if len(versions) == 0 {
		versions = []wire.Version{wire.V311, wire.V5}
	}
	for _, v := range []version{v311, v5} {
		for _, wanted := range versions {
			if v.Version == wanted {
				register(target, v, only)
			}
		}
	}
}

func register(target probe.Target, v version, only []int) {
	b := probe.New(target, v.Version)
	Describe(v.name, func() {
		BeforeEach(func() {
			b.Begin()
			if offered, known := b.Offered[v.prefix]; known && !offered {
				probe.Unsupported("the broker does not offer %s", v.name)
			}
		})
		// With a context an interruption lets it go on: what the spec made is
		// taken away from the broker.
		AfterEach(func(SpecContext) { b.End() }, GracePeriod(cleaning))
		for i, section := range sections {
			if only == nil || slices.Contains(only, i) {
				building = i
				section(b, v)
			}
		}
	})
}

// Statement ties a spec to the statements it checks: of the keys given, those
// of the container's version. The first is the one that a failure belongs to
// where the assertion names no other. No key of the version, or an unknown
// one, stops the construction of the tree.
func (v version) Statement(keys ...string) Labels {
	labels := Labels{}
	for _, key := range keys {
		st, ok := normative.Lookup(key)
		if !ok {
			panic(fmt.Sprintf("no such statement: %q", key))
		}
		if strings.HasPrefix(key, v.prefix+"/") {
			labels = append(labels, normative.Label(st.Key))
		}
	}
	if len(labels) == 0 {
		panic(fmt.Sprintf("none of %q is a statement of %s", keys, v.name))
	}
	return append(labels, sectionLabel+strconv.Itoa(building))
}

// building is the number of the section function that runs: Ginkgo builds one
// tree at a time.
var building int

// sectionLabel begins the label that tells which section function registered a
// spec.
const sectionLabel = "section:"

// SectionOf returns the number of the section function in the labels of a
// spec; false where there is none.
func SectionOf(labels []string) (int, bool) {
	for _, l := range labels {
		if n, ok := strings.CutPrefix(l, sectionLabel); ok {
			i, err := strconv.Atoi(n)
			return i, err == nil
		}
	}
	return 0, false
}

// Observation is Statement for a spec that reports which freedom the broker
// uses and fails nobody.
func (v version) Observation(keys ...string) Labels {
	return append(v.Statement(keys...), "kind:observation")
}

// key returns the first of the keys that belongs to the version.
func (v version) key(keys ...string) string {
	for _, key := range keys {
		if strings.HasPrefix(key, v.prefix+"/") {
			return key
		}
	}
	panic(fmt.Sprintf("none of %q is a statement of %s", keys, v.name))
}

// is5 tells whether the container is about MQTT 5.0.
func (v version) is5() bool { return v.Version == wire.V5 }

// has tells whether one of the keys belongs to the version.
func (v version) has(keys ...string) bool {
	for _, key := range keys {
		if strings.HasPrefix(key, v.prefix+"/") {
			return true
		}
	}
	return false
}
