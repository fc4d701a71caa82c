package core

import (
	"bytes"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

var update = flag.Bool("update", false, "write what the server does into testdata")

// TestScripts runs the scripts in testdata. A line is a command, one that is
// indented is what came of it, and the rest are comments and blank lines:
//
//	policy NAME=VALUE     user NAME PASSWORD DENIED-TOPIC     defect NAME
//	CLIENT open [v5], connect ...    subscribe, publish, puback, ... ping, disconnect, drop, bytes
//	wait 1.5s     shutdown     restart     (of a server that stores, after a crash)
//
// Their words are in the packet methods below. -update writes the results anew.
func TestScripts(t *testing.T) {
	files, err := scriptFiles()
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			got := runScript(t, want)
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("%s: the server does otherwise:\n%s", file, lineDiff(want, got))
			}
		})
	}
}

// scriptFiles returns the scripts in testdata by their paths.
func scriptFiles() (map[string]string, error) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("no scripts: %w", err)
	}
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		texts[file] = string(text)
	}
	return texts, nil
}

func lineDiff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d\nwant %s\n got %s", i+1, strings.Join(w[i:min(i+6, len(w))], "\n     "), strings.Join(g[i:min(i+6, len(g))], "\n     "))
		}
	}
	return ""
}

type script struct {
	t       *testing.T
	cfg     Config
	server  *Server
	now     time.Time
	clients map[string]*scripted
	byConn  map[ConnID]*scripted
	out     strings.Builder
	durable bool // what the server stores is kept
	disk    disk
	heard   func(c *scripted, p packet.Packet) // what a client got, or nil
}

// scripted is a client of a script.
type scripted struct {
	name    string
	conn    ConnID
	version packet.Version
	in      []byte
	nextID  uint16
}

func newScript(t *testing.T) *script {
	return &script{t: t, now: start, clients: map[string]*scripted{}, byConn: map[ConnID]*scripted{}, disk: disk{}}
}

func runScript(t *testing.T, text string) string {
	s := newScript(t)
	s.durable = strings.Contains(text, "\nrestart")
	s.run(text)
	return s.out.String()
}

func (s *script) run(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "\t") {
			continue
		}
		s.out.WriteString(line + "\n")
		if words := strings.Fields(line); len(words) > 0 && !strings.HasPrefix(line, "#") {
			s.command(words)
		}
	}
}

func (s *script) command(words []string) {
	arg := func(i int) string {
		if i >= len(words) {
			s.t.Fatalf("command too short: %v", words)
		}
		return words[i]
	}
	switch words[0] {
	case "policy":
		name, value, _ := strings.Cut(arg(1), "=")
		if err := s.cfg.Policy.SetPolicy(name, value); err != nil {
			s.t.Fatal(err)
		}
	case "user":
		s.cfg.Users = append(s.cfg.Users, User{Name: arg(1), Password: arg(2), DeniedPublish: []string{arg(3)}, DeniedSubscribe: []string{arg(3)}})
	case "defect":
		s.cfg.Defects = append(s.cfg.Defects, arg(1))
	case "wait":
		d, err := time.ParseDuration(arg(1))
		if err != nil {
			s.t.Fatal(err)
		}
		s.wait(d)
	case "shutdown":
		s.handle(Shutdown{})
	case "restart":
		if s.server == nil {
			break
		}
		server, err := Restore(s.cfg, s.disk.saved(s.t, s.now))
		if err != nil {
			s.t.Fatal(err)
		}
		s.server = server
		s.disk.apply(s.t, server.Changes())
	default:
		s.client(arg(0), arg(1), words[2:])
	}
}

// wait lets time pass, with a Tick whenever one is due.
func (s *script) wait(d time.Duration) {
	end := s.now.Add(d)
	for {
		at, ok := s.server.Deadline()
		if !ok || at.After(end) {
			break
		}
		s.now = at
		s.handle(Tick{})
	}
	s.now = end
	s.handle(Tick{})
}

func (s *script) handle(ev Event) {
	if s.server == nil {
		s.cfg.Durable = s.durable
		server, err := New(s.cfg)
		if err != nil {
			s.t.Fatal(err)
		}
		s.server = server
	}
	outputs := s.server.Handle(s.now, ev)
	s.disk.apply(s.t, s.server.Changes())
	for _, out := range outputs {
		switch out := out.(type) {
		case Send:
			if c := s.byConn[out.Conn]; c != nil {
				c.in = append(c.in, out.Bytes...)
				s.show(c)
			}
		case Close:
			if c := s.byConn[out.Conn]; c != nil {
				fmt.Fprintf(&s.out, "\t%s closed\n", c.name)
			}
		}
	}
}

// show prints what a client got.
func (s *script) show(c *scripted) {
	for {
		first, body, size, err := packet.SplitFrame(c.in, c.version, nil)
		if err != nil {
			fmt.Fprintf(&s.out, "\t%s < %x: %v\n", c.name, c.in, err)
			c.in = nil
			return
		}
		if size == 0 {
			return
		}
		raw := c.in[:size]
		c.in = c.in[size:]
		d := packet.Decoder{Version: c.version, From: packet.FromServer}
		p, err := d.Decode(first, body)
		if err != nil {
			fmt.Fprintf(&s.out, "\t%s < %x: %v\n", c.name, raw, err)
			continue
		}
		fmt.Fprintf(&s.out, "\t%s < %s\n", c.name, describe(p))
		if s.heard != nil {
			s.heard(c, p)
		}
	}
}

func (s *script) client(name, verb string, words []string) {
	c := s.clients[name]
	if verb == "connect" || verb == "open" {
		c = &scripted{name: name, conn: ConnID(len(s.byConn) + 1), version: packet.V311}
		s.clients[name], s.byConn[c.conn] = c, c
		ev := Opened{Conn: c.conn}
		ev.Entropy[0] = byte(c.conn)
		s.handle(ev)
		if len(words) > 0 && words[0] == "v5" {
			c.version = packet.V5
		}
	}
	if c == nil {
		s.t.Fatalf("there is no client %s", name)
	}
	switch verb {
	case "open":
	case "drop":
		s.handle(Closed{Conn: c.conn})
	case "pending":
		n, _ := strconv.Atoi(words[0])
		s.handle(Pending{Conn: c.conn, Bytes: n})
	case "bytes":
		raw, err := hex.DecodeString(strings.Join(words, ""))
		if err != nil {
			s.t.Fatal(err)
		}
		s.handle(Received{Conn: c.conn, Bytes: raw})
	default:
		p := c.packet(s.t, verb, parseWords(words))
		s.handle(Received{Conn: c.conn, Bytes: packet.Append(nil, c.version, p)})
	}
}

// wordlist is the words behind a verb: plain ones in order, and key=value.
type wordlist struct {
	plain  []string
	values map[string]string
}

func parseWords(words []string) wordlist {
	w := wordlist{values: map[string]string{}}
	for _, word := range words {
		if key, value, ok := strings.Cut(word, "="); ok {
			w.values[key] = value
		} else {
			w.plain = append(w.plain, word)
		}
	}
	return w
}

func (w wordlist) has(word string) bool {
	for _, p := range w.plain {
		if p == word {
			return true
		}
	}
	return false
}

func number32(w wordlist, key string) *uint32 {
	if v, ok := w.values[key]; ok {
		n, _ := strconv.ParseUint(v, 0, 32)
		x := uint32(n)
		return &x
	}
	return nil
}

func number16(w wordlist, key string) *uint16 {
	if n := number32(w, key); n != nil {
		x := uint16(*n)
		return &x
	}
	return nil
}

func (c *scripted) packet(t *testing.T, verb string, w wordlist) packet.Packet {
	id := func() uint16 {
		if n := number16(w, "id"); n != nil {
			return *n
		}
		c.nextID++
		return c.nextID
	}
	switch verb {
	case "connect":
		return c.connect(w)
	case "publish":
		p := &packet.Publish{Topic: strings.TrimPrefix(w.plain[0], "-"), Payload: []byte(strings.TrimPrefix(w.plain[1], "-")), Retain: w.has("retain"), Dup: w.has("dup")}
		switch {
		case w.has("q1"):
			p.QoS = 1
		case w.has("q2"):
			p.QoS = 2
		}
		if p.QoS > 0 {
			p.ID = id()
		}
		p.Properties.MessageExpiryInterval = number32(w, "expiry")
		p.Properties.TopicAlias = number16(w, "alias")
		if v, ok := w.values["user"]; ok {
			p.Properties.UserProperties = []packet.UserProperty{{Name: "user", Value: v}}
		}
		return p
	case "subscribe":
		p := &packet.Subscribe{ID: id()}
		if n := number32(w, "subid"); n != nil {
			p.Properties.SubscriptionIdentifiers = []uint32{*n}
		}
		for i := 0; i+1 < len(w.plain); i += 2 {
			qos, err := strconv.Atoi(w.plain[i+1])
			if err != nil {
				break
			}
			sub := packet.Subscription{Filter: w.plain[i], QoS: byte(qos), NoLocal: w.has("nolocal"), RetainAsPublished: w.has("rap")}
			if n := number16(w, "rh"); n != nil {
				sub.RetainHandling = byte(*n)
			}
			p.Subscriptions = append(p.Subscriptions, sub)
		}
		return p
	case "unsubscribe":
		return &packet.Unsubscribe{ID: id(), Filters: w.plain}
	case "ping":
		return &packet.Pingreq{}
	case "puback", "pubrec", "pubrel", "pubcomp":
		n, _ := strconv.Atoi(w.plain[0])
		p := &packet.Ack{Kind: map[string]packet.Type{"puback": packet.PUBACK, "pubrec": packet.PUBREC, "pubrel": packet.PUBREL, "pubcomp": packet.PUBCOMP}[verb], ID: uint16(n)}
		if code := number16(w, "code"); code != nil {
			p.Code = packet.ReasonCode(*code)
		}
		return p
	case "disconnect":
		p := &packet.Disconnect{}
		if code := number16(w, "code"); code != nil {
			p.Code = packet.ReasonCode(*code)
		}
		p.Properties.SessionExpiryInterval = number32(w, "expiry")
		return p
	case "auth":
		p := &packet.Auth{Code: packet.ReasonCode(*number16(w, "code"))}
		method := w.values["method"]
		p.Properties.AuthenticationMethod = &method
		if v, ok := w.values["data"]; ok {
			p.Properties.AuthenticationData, _ = hex.DecodeString(v)
		}
		return p
	}
	t.Fatalf("%s is no verb", verb)
	return nil
}

func (c *scripted) connect(w wordlist) *packet.Connect {
	p := &packet.Connect{ProtocolName: "MQTT", Version: packet.V311, ClientID: c.name, CleanStart: w.has("clean")}
	if w.has("v5") {
		p.Version = packet.V5
	}
	c.version = p.Version
	if v, ok := w.values["id"]; ok {
		p.ClientID = v
	}
	if n := number16(w, "keep"); n != nil {
		p.KeepAlive = *n
	}
	if v, ok := w.values["user"]; ok {
		p.Username, p.Password = &v, []byte(w.values["password"])
	}
	ps := &p.Properties
	ps.SessionExpiryInterval, ps.ReceiveMaximum, ps.MaximumPacketSize = number32(w, "expiry"), number16(w, "receive"), number32(w, "max")
	ps.TopicAliasMaximum = number16(w, "aliases")
	if v, ok := w.values["method"]; ok {
		ps.AuthenticationMethod = &v
	}
	if w.has("noproblems") {
		ps.RequestProblemInformation = new(byte)
	}
	if v, ok := w.values["will"]; ok {
		name, payload, _ := strings.Cut(v, ":")
		p.Will = &packet.Will{Topic: name, Payload: []byte(payload), QoS: 1, Retain: w.has("willretain")}
		p.Will.Properties.WillDelayInterval = number32(w, "delay")
	}
	return p
}

// describe writes a packet of the server in one line.
func describe(p packet.Packet) string {
	var b bytes.Buffer
	word := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	switch p := p.(type) {
	case *packet.Connack:
		word("CONNACK %#02x present=%t", byte(p.Code), p.SessionPresent)
		describeProperties(&b, &p.Properties)
	case *packet.Publish:
		word("PUBLISH %s %q q%d", p.Topic, p.Payload, p.QoS)
		if p.QoS > 0 {
			word(" id=%d", p.ID)
		}
		if p.Retain {
			word(" retain")
		}
		if p.Dup {
			word(" dup")
		}
		describeProperties(&b, &p.Properties)
	case *packet.Ack:
		word("%s %d", map[packet.Type]string{packet.PUBACK: "PUBACK", packet.PUBREC: "PUBREC", packet.PUBREL: "PUBREL", packet.PUBCOMP: "PUBCOMP"}[p.Kind], p.ID)
		if p.Code != 0 {
			word(" %#02x", byte(p.Code))
		}
		describeProperties(&b, &p.Properties)
	case *packet.Suback:
		word("SUBACK %d %#02x", p.ID, p.Codes)
	case *packet.Unsuback:
		word("UNSUBACK %d", p.ID)
		if len(p.Codes) > 0 {
			word(" %#02x", p.Codes)
		}
	case *packet.Pingresp:
		word("PINGRESP")
	case *packet.Disconnect:
		word("DISCONNECT %#02x", byte(p.Code))
		if ref := p.Properties.ServerReference; ref != nil {
			word(" elsewhere=%q", *ref)
		}
	case *packet.Auth:
		word("AUTH %#02x %d bytes", byte(p.Code), len(p.Properties.AuthenticationData))
	}
	return b.String()
}

func describeProperties(b *bytes.Buffer, ps *packet.Properties) {
	text := func(name string, v *string) {
		if v != nil {
			fmt.Fprintf(b, " %s=%q", name, *v)
		}
	}
	number := func(name string, v *uint32) {
		if v != nil {
			fmt.Fprintf(b, " %s=%d", name, *v)
		}
	}
	small := func(name string, v *uint16) {
		if v != nil {
			fmt.Fprintf(b, " %s=%d", name, *v)
		}
	}
	text("assigned", ps.AssignedClientIdentifier)
	number("session-expiry", ps.SessionExpiryInterval)
	number("expiry", ps.MessageExpiryInterval)
	small("keep", ps.ServerKeepAlive)
	small("receive", ps.ReceiveMaximum)
	small("alias", ps.TopicAlias)
	text("method", ps.AuthenticationMethod)
	text("reason", ps.ReasonString)
	text("elsewhere", ps.ServerReference)
	for _, id := range ps.SubscriptionIdentifiers {
		fmt.Fprintf(b, " subid=%d", id)
	}
	for _, u := range ps.UserProperties {
		fmt.Fprintf(b, " %s=%q", u.Name, u.Value)
	}
}
