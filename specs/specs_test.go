package specs_test

import (
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/specs"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// TestBroker runs the suite on the reference broker, or on the broker whose
// address is in MQTTCHECK_URL.
func TestBroker(t *testing.T) {
	target := probe.Target{URL: os.Getenv("MQTTCHECK_URL"), RunID: "gotest"}
	if target.URL == "" {
		fleet, err := reference.StartVariants(reference.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer fleet.Close()
		defer leavesNothing(t, fleet)
		target.URL, target.Variants, target.TLS.CA = fleet.URL(), fleet.Variants(), fleet.CA()
		target.Users = &probe.Users{
			Username: reference.Username, Password: reference.Password,
			DeniedPublish: []string{reference.DeniedTopic}, DeniedSubscribe: []string{reference.DeniedFilter},
		}
	}
	specs.Register(target)
	ginkgo.RunSpecs(t, specs.Suite)
}

// leavesNothing holds that the suite has taken away what it made. A connection
// that has just ended may not have been noticed yet.
func leavesNothing(t *testing.T, fleet *reference.Fleet) {
	left := func() map[string]core.Holding {
		held := fleet.Holding()
		maps.DeleteFunc(held, func(_ string, h core.Holding) bool { return empty(h) })
		return held
	}
	gomega.NewWithT(t).Eventually(left).WithTimeout(5*time.Second).Should(gomega.BeEmpty(), "left on the brokers")
}

// empty tells whether nothing is left but witnesses, which stay as long as the
// process.
func empty(held core.Holding) bool {
	witnesses := 0
	for _, s := range held.Subscriptions {
		if strings.HasSuffix(s, "/witness") {
			witnesses++
		}
	}
	return held.Connections <= witnesses && len(held.Sessions) <= witnesses && len(held.Subscriptions) == witnesses && len(held.Retained) == 0
}
