package specs_test

import (
	"os"
	"testing"

	"github.com/onsi/ginkgo/v2"

	"github.com/mqttcheck/mqttcheck/reference"
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
		target.URL, target.Variants = fleet.URL(), fleet.Variants()
		target.Users = &probe.Users{
			Username: reference.Username, Password: reference.Password,
			DeniedPublish: []string{reference.DeniedTopic}, DeniedSubscribe: []string{reference.DeniedFilter},
		}
	}
	specs.Register(target)
	ginkgo.RunSpecs(t, specs.Suite)
}
