package target_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/mqttcheck/mqttcheck/internal/target"
)

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text string
		want target.Address
		url  string
	}{
		{"mqtt://localhost", target.Address{Scheme: "mqtt", Host: "localhost", Port: 1883}, "mqtt://localhost:1883"},
		{"mqtt://localhost/", target.Address{Scheme: "mqtt", Host: "localhost", Port: 1883}, "mqtt://localhost:1883"},
		{"MQTT://localhost:1", target.Address{Scheme: "mqtt", Host: "localhost", Port: 1}, "mqtt://localhost:1"},
		{"tcp://10.0.0.1:65535", target.Address{Scheme: "mqtt", Host: "10.0.0.1", Port: 65535}, "mqtt://10.0.0.1:65535"},
		{"mqtt://localhost:01883", target.Address{Scheme: "mqtt", Host: "localhost", Port: 1883}, "mqtt://localhost:1883"},
		{"mqtts://b.example", target.Address{Scheme: "mqtts", Host: "b.example", Port: 8883}, "mqtts://b.example:8883"},
		{"ssl://b.example", target.Address{Scheme: "mqtts", Host: "b.example", Port: 8883}, "mqtts://b.example:8883"},
		{"tls://b.example:1884", target.Address{Scheme: "mqtts", Host: "b.example", Port: 1884}, "mqtts://b.example:1884"},
		{"ws://b.example", target.Address{Scheme: "ws", Host: "b.example", Port: 80, Path: "/mqtt"}, "ws://b.example:80/mqtt"},
		{"ws://b.example/", target.Address{Scheme: "ws", Host: "b.example", Port: 80, Path: "/"}, "ws://b.example:80/"},
		{"ws://b.example:8080/a%2Fb/c", target.Address{Scheme: "ws", Host: "b.example", Port: 8080, Path: "/a%2Fb/c"}, "ws://b.example:8080/a%2Fb/c"},
		{"wss://b.example/x?token=1", target.Address{Scheme: "wss", Host: "b.example", Port: 443, Path: "/x?token=1"}, "wss://b.example:443/x?token=1"},
		{"wss://b.example?token=1", target.Address{Scheme: "wss", Host: "b.example", Port: 443, Path: "/mqtt?token=1"}, "wss://b.example:443/mqtt?token=1"},
		{"mqtt://[::1]", target.Address{Scheme: "mqtt", Host: "::1", Port: 1883}, "mqtt://[::1]:1883"},
		{"mqtt://[2001:db8::5]:1884", target.Address{Scheme: "mqtt", Host: "2001:db8::5", Port: 1884}, "mqtt://[2001:db8::5]:1884"},
		{"mqtt://[fe80::1%25eth0]:1884", target.Address{Scheme: "mqtt", Host: "fe80::1%eth0", Port: 1884}, "mqtt://[fe80::1%25eth0]:1884"},
		{"mqtt://ann@localhost", target.Address{Scheme: "mqtt", Host: "localhost", Port: 1883, Username: "ann", HasUsername: true}, "mqtt://localhost:1883"},
		{"mqtt://ann:@localhost", target.Address{Scheme: "mqtt", Host: "localhost", Port: 1883, Username: "ann", HasUsername: true, HasPassword: true}, "mqtt://localhost:1883"},
		{
			"mqtt://a%40b:p%2Fw%3A@[::1]:9",
			target.Address{Scheme: "mqtt", Host: "::1", Port: 9, Username: "a@b", Password: "p/w:", HasUsername: true, HasPassword: true},
			"mqtt://[::1]:9",
		},
		{"ws://u:p@h/x", target.Address{Scheme: "ws", Host: "h", Port: 80, Path: "/x", Username: "u", Password: "p", HasUsername: true, HasPassword: true}, "ws://h:80/x"},
	} {
		got, err := target.Parse(tc.text)
		if err != nil {
			t.Errorf("Parse(%q): %v", tc.text, err)
			continue
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("Parse(%q), -want +got:\n%s", tc.text, diff)
		}
		if got.URL() != tc.url {
			t.Errorf("Parse(%q).URL() = %q, want %q", tc.text, got.URL(), tc.url)
		}
		again, err := target.Parse(got.URL())
		again.Username, again.Password, again.HasUsername, again.HasPassword = got.Username, got.Password, got.HasUsername, got.HasPassword
		if err != nil || again != got {
			t.Errorf("Parse(%q) is %+v (%v), and of the text it came from %+v", got.URL(), again, err, got)
		}
	}
}

func TestParseSaysHowToMendAnAddress(t *testing.T) {
	for text, want := range map[string]string{
		"localhost:1883":               `"localhost:1883" is no address: write mqtt://localhost:1883`,
		"http://localhost:1883":        `http://localhost:1883: the scheme is mqtt, mqtts, ws or wss, not "http": write mqtt://localhost:1883`,
		"://localhost":                 `://localhost: the scheme is mqtt, mqtts, ws or wss, not "": write mqtt://localhost`,
		"mqtt://":                      `mqtt:// has no host: write mqtt://HOST:PORT`,
		"mqtts://:8883":                `mqtts://:8883 has no host: write mqtts://HOST:PORT`,
		"mqtt://localhost:0":           `mqtt://localhost:0: the port 0 is not between 1 and 65535`,
		"mqtt://localhost:65536":       `mqtt://localhost:65536: the port 65536 is not between 1 and 65535`,
		"mqtt://h:99999999999999999":   `mqtt://h:99999999999999999: the port 99999999999999999 is not between 1 and 65535`,
		"mqtt://localhost:http":        `mqtt://localhost:http is no valid address: write mqtt://HOST:PORT`,
		"mqtt://localhost:-1":          `mqtt://localhost:-1 is no valid address: write mqtt://HOST:PORT`,
		"mqtt://local host":            `mqtt://local host is no valid address: write mqtt://HOST:PORT`,
		"mqtt://localhost/topic":       `mqtt://localhost/topic: an mqtt address ends after the port`,
		"tcp://localhost/topic":        `tcp://localhost/topic: an mqtt address ends after the port`,
		"mqtt://localhost?x=1":         `mqtt://localhost?***: an mqtt address ends after the port`,
		"ws://localhost/mqtt#x":        `ws://localhost/mqtt#x: an address has no part behind #`,
		"mqtt://::1":                   `mqtt://::1: an IPv6 address stands in brackets: write [::1]`,
		"mqtt://fe80::1:2:3:4:5:1883x": `mqtt://fe80::1:2:3:4:5:1883x: an IPv6 address stands in brackets: write [ADDRESS]`,
		"mqtt://[::1":                  `mqtt://[::1 is no valid address: write mqtt://HOST:PORT`,
		"mqtt://:secret@localhost":     `mqtt://***@localhost has a password and no user name: write mqtt://USER:PASSWORD@localhost`,
		"mqtt://ann:se/cret@localhost": `mqtt://***@localhost: in a password write / as %2F, ? as %3F and # as %23, or use -u and -P`,
		"mqtt://ann:se@cret@localhost": `mqtt://***@localhost: in a user name or password write @ as %40, or use -u and -P`,
		"mqtt://ann:secret%@localhost": `mqtt://***@localhost is no valid address: write mqtt://HOST:PORT`,
		"mqtt://a\x1b[2Jb:99999":       `"mqtt://a\x1b[2Jb:99999" is no valid address: write mqtt://HOST:PORT`,
		"ann:secret@localhost:1883":    `"***@localhost:1883" is no address: write mqtt://***@localhost:1883`,
	} {
		_, err := target.Parse(text)
		if err == nil {
			t.Errorf("Parse(%q) gives no error, want %q", text, want)
			continue
		}
		if err.Error() != want {
			t.Errorf("Parse(%q):\n got %s\nwant %s", text, err, want)
		}
		if strings.Contains(err.Error(), "cret") || strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("Parse(%q) gives away a secret or a control character: %q", text, err)
		}
	}
}

func TestOneAddressInAnotherScheme(t *testing.T) {
	for _, tc := range []struct{ text, scheme, want string }{
		{"mqtt://h", "mqtts", "mqtts://h:1883"},
		{"mqtt://[::1]:9", "ws", "ws://[::1]:9/mqtt"},
		{"wss://h/x?y", "ws", "ws://h:443/x?y"},
		{"ws://h/x", "mqtt", "mqtt://h:80"},
	} {
		a, err := target.Parse(tc.text)
		if got := a.In(tc.scheme); err != nil || got.URL() != tc.want || got.Secure() != (tc.scheme == "mqtts") {
			t.Errorf("%s in %s: %s, %v, want %s", tc.text, tc.scheme, got.URL(), err, tc.want)
		}
	}
}

func TestCredentialsAreMasked(t *testing.T) {
	for text, want := range map[string]string{
		"mqtt://localhost":           "mqtt://localhost",
		"mqtt://ann:secret@h:1":      "mqtt://***@h:1",
		"mqtt://ann@h":               "mqtt://***@h",
		"mqtt://ann:sec/ret@h":       "mqtt://***@h",
		"mqtt://ann:sec@ret@h":       "mqtt://***@h",
		"wss://h/mqtt?token=secret":  "wss://h/mqtt?***",
		"wss://a:b@h/mqtt?t=secret":  "wss://***@h/mqtt?***",
		"no address, ann:secret@h:1": "***@h:1",
	} {
		if got := target.Mask(text); got != want {
			t.Errorf("Mask(%q) = %q, want %q", text, got, want)
		}
	}
	a, err := target.Parse("mqtt://ann:secret@h")
	if err != nil || a.String() != "mqtt://***@h:1883" {
		t.Errorf("String() = %q, %v", a, err)
	}
}

// FuzzParse: no text makes Parse panic or give away a password, and what it
// takes it takes again in the form that it gives it.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"mqtt://u:p@h:1", "ws://[::1%25a]:9/x?y", "localhost", "mqtt://::1", "wss://h?t", "mqtt://%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := target.Parse(text)
		if err != nil {
			if i := strings.IndexFunc(err.Error(), func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Errorf("Parse(%q): an error that does not print: %q", text, err)
			}
			return
		}
		again, err := target.Parse(a.URL())
		if err != nil || again.URL() != a.URL() {
			t.Errorf("Parse(%q).URL() = %q, and that parsed gives %q, %v", text, a.URL(), again.URL(), err)
		}
	})
}
