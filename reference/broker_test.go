package reference

import (
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestCloseLeavesNothingBehind(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	b, err := Start(Options{Listen: everyTransport})
	if err != nil {
		t.Fatal(err)
	}
	if urls := b.URLs(); len(urls) != 4 || urls[0] != b.URL() || urls[0] == urls[1] {
		t.Fatalf("URLs %q, URL %q", urls, b.URL())
	}
	for _, url := range b.URLs() {
		dial(t, url)
		dial(t, url).send([]byte{0x10})
		p := join(t, url, 4, url)
		p.send(subscribe(4, "flood", 0))
		p.expect(0x90)
		for range 200 {
			p.send(publish0("flood", make([]byte, 32<<10)))
		}
	}
	began := time.Now()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("Close took %v", took)
	}
	if err := b.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

func TestCloseSaysGoodbye(t *testing.T) {
	b := begin(t, Options{})
	v5, v311 := join(t, b.URL(), 5, "five"), join(t, b.URL(), 4, "four")
	go b.Close()
	if body := v5.expect(0xE0); body[0] != 0x8B {
		t.Errorf("DISCONNECT %#x, want Server shutting down", body[0])
	}
	v5.ends()
	v311.ends()
}

// Closing a socket with unread bytes is a reset, which can take away what was
// sent before: the last packet must arrive all the same.
func TestLastPacketIsReadNotReset(t *testing.T) {
	b := begin(t, Options{})
	for range 50 {
		p := dial(t, b.URL())
		// PUBLISH with QoS 3, and much more behind it.
		p.send(append(append(connect(5, "breaker"), 0x36, 0), make([]byte, 60<<10)...))
		p.expect(0x20)
		p.expect(0xE0)
		p.ends()
	}
	for range 50 {
		p := dial(t, b.URL())
		p.send(append(connect(9, "from the future"), make([]byte, 60<<10)...))
		p.expect(0x20)
		p.ends()
	}
}

// A client that ends its half of the connection can still read the answers to
// what it sent before.
func TestHalfClosedClientGetsItsAnswers(t *testing.T) {
	b := begin(t, Options{})
	for range 50 {
		p := dial(t, b.URL())
		p.send(slices.Concat(connect(4, "leaver"), subscribe(4, "a", 0), publish0("a", make([]byte, 100<<10)), []byte{0xC0, 0}))
		if err := p.nc.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		p.expect(0x20)
		p.expect(0x90)
		p.expect(0x30)
		p.expect(0xD0)
		p.ends()
	}
}

func TestSecondsOfTheProtocolCanBeShort(t *testing.T) {
	b := begin(t, Options{Second: 20 * time.Millisecond})
	p := dial(t, b.URL())
	p.send(frame(0x10, text("MQTT"), []byte{4, 2, 0, 10}, text("silent"))) // Keep Alive 10
	p.expect(0x20)
	began := time.Now()
	p.ends()
	if took := time.Since(began); took < 10*20*time.Millisecond || took > 5*time.Second {
		t.Errorf("cut after %v, want about 300 ms", took)
	}
}

func TestStartRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, c := range []struct {
		name, want string
		options    Options
	}{
		{"a port in use", "address already in use", Options{Listen: []string{"mqtt://127.0.0.1:0", "mqtt://" + taken.Addr().String()}}},
		{"another scheme", "write mqtt://HOST:PORT", Options{Listen: []string{"http://127.0.0.1:0"}}},
		{"no scheme", "write mqtt://HOST:PORT", Options{Listen: []string{"127.0.0.1:0"}}},
		{"no port", "the port is a number", Options{Listen: []string{"mqtt://127.0.0.1"}}},
		{"a port out of range", "the port is a number", Options{Listen: []string{"mqtt://127.0.0.1:65536"}}},
		{"a query", "write mqtt://HOST:PORT", Options{Listen: []string{"ws://127.0.0.1:0/mqtt?x"}}},
		{"a path", "write mqtt://HOST:PORT", Options{Listen: []string{"mqtt://127.0.0.1:0/mqtt"}}},
		{"an unknown defect", `no defect "brwken"`, Options{Defects: []string{"brwken"}}},
		{"an unknown policy", `no policy "colour"`, Options{Policies: map[string]string{"colour": "red"}}},
		{"an unknown value", "overlap is one of", Options{Policies: map[string]string{"overlap": "twice"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b, err := Start(c.options)
			if err == nil {
				_ = b.Close()
				t.Fatal("it started")
			}
			if text := err.Error(); !strings.Contains(text, c.want) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line with %q", text, c.want)
			}
		})
	}
}

func TestVariants(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	f, err := StartVariants(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := []string{"auth", "max-qos-0", "max-qos-1", "no-assigned-ids", "no-retain", "no-shared", "no-subscription-ids", "no-topic-aliases", "no-wildcards", "overlap-each", "redirects", "small-packets", "small-window", "tls", "users", "ws"}
	got := slices.Sorted(maps.Keys(f.Variants()))
	if !slices.Equal(got, want) {
		t.Fatalf("variants %q, want %q", got, want)
	}
	seen := map[string]bool{f.URL(): true}
	for name, url := range f.Variants() {
		if seen[url] {
			t.Errorf("%s shares its address %s", name, url)
		}
		seen[url] = true
		if name != "users" && name != "auth" && name != "redirects" {
			join(t, url, 5, "visitor").pings()
		}
	}
}

func TestUsersOfTheVariant(t *testing.T) {
	f, err := StartVariants(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	url := f.Variants()["users"]
	stranger := dial(t, url)
	stranger.send(connectAs(4, "stranger", Username, "wrong"))
	if body := stranger.expect(0x20); body[1] != 4 {
		t.Errorf("a wrong password gets %d, want 4", body[1])
	}
	stranger.ends()

	user := dial(t, url)
	user.send(connectAs(4, "user", Username, Password))
	if body := user.expect(0x20); body[1] != 0 {
		t.Fatalf("the user gets %d", body[1])
	}
	user.send(subscribe(4, DeniedFilter, 0))
	if body := user.expect(0x90); body[2] != 0x80 {
		t.Errorf("the denied filter gets %#x", body[2])
	}
	user.send(subscribe(4, "#", 0))
	user.expect(0x90)
	user.send(slices.Concat(publish0(DeniedTopic, []byte("denied")), publish0("allowed", []byte("allowed"))))
	if body := user.expect(0x30); !strings.HasSuffix(string(body), "allowed") {
		t.Errorf("received %q", body)
	}
}
