package reference

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/mqttcheck/mqttcheck/reference/core"
)

// Fleet is a broker together with brokers of the same kind in other
// configurations, the variants.
type Fleet struct {
	main     *Broker
	variants map[string]*Broker
}

// variantPolicies are the configurations of the variants, by name.
var variantPolicies = map[string]map[string]string{
	"max-qos-0":           {"maximum-qos": "0", "granted-qos-311": "0"},
	"max-qos-1":           {"maximum-qos": "1", "granted-qos-311": "1"},
	"no-retain":           {"retain": "no"},
	"no-wildcards":        {"wildcards": "no"},
	"no-shared":           {"shared": "no", "share-311": "refused"},
	"no-topic-aliases":    {"topic-alias-maximum": "0"},
	"no-subscription-ids": {"subscription-identifiers": "no"},
	"small-packets":       {"maximum-packet-size": "512"},
	"small-window":        {"receive-maximum": "2", "window": "2"},
	"no-assigned-ids":     {"empty-client-id": "refuse"},
	"overlap-each":        {"overlap": "each"},
	"redirects":           {"server-reference": "connect"},
	"users":               {},
	"auth":                {"auth-secret": AuthSecret},
	"ws":                  {},
	"tls":                 {},
}

// variantListeners are the addresses of the variants that are another
// transport.
var variantListeners = map[string]string{"ws": "ws://127.0.0.1:0", "tls": "mqtts://127.0.0.1:0"}

// What the variants "users" and "auth" are set up with.
const (
	Username       = "mqttcheck"
	Password       = "open sesame"
	DeniedTopic    = "mqttcheck-denied/publish"   // may not be published to
	DeniedFilter   = "mqttcheck-denied/subscribe" // may not be subscribed to
	AuthMethod     = "mqttcheck-hmac"
	AuthSecret     = "sesame"
	ScramMethod    = "SCRAM-SHA-256" // with Username and Password
	variantUsers   = "users"
	variantAuth    = "auth"
	defaultAddress = "mqtt://127.0.0.1:0"
)

// StartVariants starts a broker and all its variants. They share defects,
// policies and the length of a second; the variants listen on free ports.
func StartVariants(o Options) (*Fleet, error) {
	main, err := Start(o)
	if err != nil {
		return nil, err
	}
	f := &Fleet{main: main, variants: map[string]*Broker{}}
	for name, policies := range variantPolicies {
		v := o
		v.Data = "" // a file has one owner
		v.Listen = []string{cmp.Or(variantListeners[name], defaultAddress)}
		v.Policies = maps.Clone(o.Policies)
		if v.Policies == nil {
			v.Policies = map[string]string{}
		}
		maps.Copy(v.Policies, policies)
		if name == variantUsers || name == variantAuth {
			v.Users = []core.User{{
				Name: Username, Password: Password,
				DeniedPublish: []string{DeniedTopic}, DeniedSubscribe: []string{DeniedFilter},
			}}
		}
		b, err := Start(v)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("variant %s: %w", name, err), f.Close())
		}
		f.variants[name] = b
	}
	return f, nil
}

// URL returns the address of the broker itself.
func (f *Fleet) URL() string { return f.main.URL() }

// Variants returns the addresses of the variants by name.
func (f *Fleet) Variants() map[string]string {
	urls := map[string]string{}
	for name, b := range f.variants {
		urls[name] = b.URL()
	}
	return urls
}

// Holding returns what each of them keeps for its clients, by the name of the
// variant; the broker itself has none.
func (f *Fleet) Holding() map[string]core.Holding {
	all := map[string]core.Holding{"": f.main.Holding()}
	for name, b := range f.variants {
		all[name] = b.Holding()
	}
	return all
}

// CA returns the certificate, as PEM, that a client of the variant "tls" has to
// trust.
func (f *Fleet) CA() []byte { return f.variants["tls"].CA() }

// Close stops all of them.
func (f *Fleet) Close() error {
	err := f.main.Close()
	for _, b := range f.variants {
		err = errors.Join(err, b.Close())
	}
	return err
}
