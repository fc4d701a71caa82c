package campaign

import (
	"testing"

	"github.com/mqttcheck/mqttcheck/internal/proc"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// TestASecondCampaignMeetsNothingOfTheFirst has the same campaign twice on one
// broker: Sessions and retained messages that the first had left would be met by the
// second, and judged.
func TestASecondCampaignMeetsNothingOfTheFirst(t *testing.T) {
	for name, address := range map[string]func(t *testing.T) wire.Address{
		"reference": func(t *testing.T) wire.Address { return start(t, reference.Options{}) },
		"mosquitto": func(t *testing.T) wire.Address {
			proc.Need(t, "mosquitto")
			p, url, err := proc.StartMosquitto(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = p.Stop() })
			return wire.Address{URL: url}
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Address: address(t), Seed: 21, Most: 300}
			if testing.Short() {
				o.Most = 100
			}
			var first map[string]int
			for n := range 2 {
				s, err := Run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				if n == 0 {
					first = s.Seen
				}
				for _, f := range s.Findings {
					if name := f.Oracle + "-" + f.Key; n == 1 && first[name] == 0 {
						t.Errorf("the second campaign finds %s (%s): %s\n%s", name, f.Seed, f.About, f.Script)
					}
				}
			}
			t.Logf("the first finds %v", first)
		})
	}
}
