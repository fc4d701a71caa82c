package target_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mqttcheck/mqttcheck/internal/target"
)

func TestLocate(t *testing.T) {
	for _, tc := range []struct {
		name  string
		urls  []string
		flags target.Flags
		env   string
		want  string // URL, user name and password; "" when nothing is named
	}{
		{"nothing", nil, target.Flags{}, "", ""},
		{"only credentials", nil, target.Flags{Username: new("ann")}, "", ""},
		{"a URL", []string{"mqtt://a:1"}, target.Flags{}, "", "mqtt://a:1  "},
		{"a URL before the environment", []string{"mqtt://a:1"}, target.Flags{}, "mqtt://b:2", "mqtt://a:1  "},
		{"the environment", nil, target.Flags{}, "mqtt://u:p@b:2", "mqtt://b:2 u p"},
		{"-h", nil, target.Flags{Host: new("b")}, "mqtt://c", "mqtt://b:1883  "},
		{"-p", nil, target.Flags{Port: new(2)}, "mqtt://c", "mqtt://localhost:2  "},
		{"-h and -p", nil, target.Flags{Host: new("b"), Port: new(2)}, "", "mqtt://b:2  "},
		{"-h with IPv6", nil, target.Flags{Host: new("::1")}, "", "mqtt://[::1]:1883  "},
		{"-h with IPv6 in brackets", nil, target.Flags{Host: new("[::1]"), Port: new(9)}, "", "mqtt://[::1]:9  "},
		{"-h with a flag of TLS", nil, target.Flags{Host: new("b"), TLS: target.TLSFlags{CAFile: "ca.pem"}}, "", "mqtts://b:8883  "},
		{"-p with a flag of TLS", nil, target.Flags{Port: new(2), TLS: target.TLSFlags{Insecure: true}}, "", "mqtts://localhost:2  "},
		{"-u and -P", nil, target.Flags{Host: new("b"), Username: new("u"), Password: new("p")}, "", "mqtt://b:1883 u p"},
		{"-u and -P before those of the URL", []string{"mqtt://a:b@c"}, target.Flags{Username: new("u"), Password: new("p")}, "", "mqtt://c:1883 u p"},
		{"-P with the user name of the URL", []string{"mqtt://a@c"}, target.Flags{Password: new("p")}, "", "mqtt://c:1883 a p"},
		{"-u and -P with the environment", nil, target.Flags{Username: new("u"), Password: new("p")}, "mqtt://c", "mqtt://c:1883 u p"},
	} {
		a, named, err := target.Locate(tc.urls, tc.flags, tc.env)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		got := ""
		if named {
			got = a.URL() + " " + a.Username + " " + a.Password
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
		if a.HasUsername != (a.Username != "") || a.HasPassword != (a.Password != "") {
			t.Errorf("%s: %+v", tc.name, a)
		}
	}
}

func TestLocateSaysWhatDoesNotGoTogether(t *testing.T) {
	for _, tc := range []struct {
		urls  []string
		flags target.Flags
		env   string
		want  string
	}{
		{[]string{"mqtt://u:secret@a", "mqtt://b"}, target.Flags{}, "", "two addresses, mqtt://***@a and mqtt://b: write only one"},
		{[]string{"mqtt://a"}, target.Flags{Host: new("b")}, "", "the address stands in mqtt://a already: leave -h and -p out"},
		{[]string{"mqtt://a"}, target.Flags{Port: new(1883)}, "", "the address stands in mqtt://a already: leave -h and -p out"},
		{nil, target.Flags{}, "localhost", `MQTTCHECK_URL is wrong: "localhost" is no address: write mqtt://localhost`},
		{nil, target.Flags{Host: new("b"), Port: new(0)}, "", "-p 0: the port is not between 1 and 65535"},
		{nil, target.Flags{Host: new("b"), Port: new(65536)}, "", "-p 65536: the port is not between 1 and 65535"},
		{nil, target.Flags{Host: new("")}, "", "-h is empty: write -h HOST"},
		{nil, target.Flags{Host: new("b:1884")}, "", "-h b:1884: the port has a flag of its own: write -h b -p 1884"},
		{nil, target.Flags{Host: new("mqtt://u:secret@b")}, "", "-h mqtt://***@b: it takes the name of a host: leave -h out before a URL"},
		{nil, target.Flags{Host: new("u@b")}, "", `-h "***@b" is no name of a host`},
		{nil, target.Flags{Host: new("b\x1b[2J")}, "", `-h "b\x1b[2J" is no name of a host`},
		{[]string{"mqtt://a"}, target.Flags{Password: new("secret")}, "", "-P without -u: a password needs a user name"},
	} {
		_, named, err := target.Locate(tc.urls, tc.flags, tc.env)
		if err == nil || named || err.Error() != tc.want {
			t.Errorf("Locate(%q, %+v, %q):\n got %v\nwant %s", tc.urls, tc.flags, tc.env, err, tc.want)
		}
	}
}

func TestSplitTellsAddressesFromSelectors(t *testing.T) {
	urls, selectors, err := target.Split([]string{
		"v5", "mqtt://localhost", "v5/3.3", "v5/MQTT-3.3.1-4", "v311/4.7.2-dollar-explicit-filter", "x://y",
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"mqtt://localhost", "x://y"}, urls); diff != "" {
		t.Errorf("addresses, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]target.Selector{
		{Text: "v5", Version: "v5"},
		{Text: "v5/3.3", Version: "v5", Rest: "3.3"},
		{Text: "v5/MQTT-3.3.1-4", Version: "v5", Rest: "MQTT-3.3.1-4"},
		{Text: "v311/4.7.2-dollar-explicit-filter", Version: "v311", Rest: "4.7.2-dollar-explicit-filter"},
	}, selectors); diff != "" {
		t.Errorf("selectors, -want +got:\n%s", diff)
	}
}

func TestAWrongSelectorSaysWhatWasMeant(t *testing.T) {
	for text, want := range map[string]string{
		"localhost:1883":            `"localhost:1883" is no address: write mqtt://localhost:1883`,
		"ann:secret@localhost:1883": `"***@localhost:1883" is no address: write mqtt://***@localhost:1883`,
		"localhost":                 `"localhost" is neither an address such as mqtt://localhost:1883 nor a selector such as v5/3.3`,
		"":                          `"" is neither an address such as mqtt://localhost:1883 nor a selector such as v5/3.3`,
		"v4/3.3":                    `"v4/3.3" is no selector: the versions are v311 and v5`,
		"v9":                        `"v9" is no selector: the versions are v311 and v5`,
		"MQTT-3.3.1-4":              `"MQTT-3.3.1-4" has no version: write v311/MQTT-3.3.1-4 or v5/MQTT-3.3.1-4`,
		"3.3":                       `"3.3" has no version: write v311/3.3 or v5/3.3`,
		"v5/":                       `"v5/" ends in a slash; write v5 for the whole version`,
		"v5/3.3/4":                  `"v5/3.3/4" is no selector: write v5/3.3 for a section, v5/MQTT-3.3.1-4 for a statement`,
		"V5/3.3":                    `"V5/3.3" is no selector: write v5/3.3`,
		"3.1.1/3.3":                 `"3.1.1/3.3" is no selector: write v311/3.3`,
		"v3.1.1/MQTT-3.3.1-4":       `"v3.1.1/MQTT-3.3.1-4" is no selector: write v311/MQTT-3.3.1-4`,
		"v5.0":                      `"v5.0" is no selector: write v5`,
		"v5:MQTT-3.3.1-4":           `"v5:MQTT-3.3.1-4" is no selector: write v5/MQTT-3.3.1-4`,
		"v5\x1b[2J":                 `"v5\x1b[2J" is neither an address such as mqtt://localhost:1883 nor a selector such as v5/3.3`,
	} {
		_, _, err := target.Split([]string{text})
		if err == nil || err.Error() != want {
			t.Errorf("Split(%q):\n got %v\nwant %s", text, err, want)
		}
	}
}
