package core

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Policy holds the freedoms that the specifications leave to a server. The
// zero value is the default of each; set fields with SetPolicy.
type Policy struct {
	set map[string]string
	subscriptionPolicy

	Versions                string // both, 3.1.1, 5
	EmptyClientID           string // assign, refuse
	UnknownLevel            string // 1, 0x84, close
	MalformedConnect        string // connack, close
	Disconnects             string // always, never
	DeniedPublish           string // ack, close
	QoS0Offline             string // drop, keep
	QoS0WhileBlocked        string // send, hold
	QoS2Onward              string // publish, pubrel
	UnknownAcks             string // answer, close
	RetainQoS0              string // keep, drop
	Overlap                 string // once, each
	NoMatchingSubscribers   string // report, success
	PayloadFormat           string // ignored, checked
	Diagnostics             string // failures, always, none
	OutgoingAliases         string // use, never
	UnsubscribeBuffered     string // keep, drop
	Share311                string // grouped, plain, refused
	Sys                     string // some, none
	Welcome                 string // behind-suback, before-suback, later
	Acknowledges            string // last, first, early
	PacketIDs               string // rising, lowest
	Announce                string // needed, all
	Segments                string // whole, bytes
	Delay                   int    // milliseconds before each write
	Overtaking              string // never, by-topic, freely
	KeepAliveSlack          int    // seconds
	GrantedQoS5             int
	DollarTopics            string // exchanged, reserved, refused, open
	Subprotocol             string // required, optional
	ServerReference         string // none, connect, shutdown
	ResponseInformation     string
	AuthSecret              string
	Window                  int // deliveries open at a time
	GrantedQoS311           int
	MaximumQoS              int
	ReceiveMaximum          int
	TopicAliasMaximum       int
	MaximumPacketSize       int // 0: the limit of the implementation
	MaximumSessionExpiry    int // 0: none
	ServerKeepAlive         int // 0: the client's
	Retain                  bool
	Wildcards               bool
	Shared                  bool
	SubscriptionIdentifiers bool
}

// PolicyInfo describes one freedom.
type PolicyInfo struct {
	Name    string
	Values  []string // the first is the default
	Permits string   // sections that permit it, with their versions
	About   string   // one sentence
	apply   func(p *Policy, value string)
}

func choice(field func(*Policy) *string) func(*Policy, string) {
	return func(p *Policy, v string) { *field(p) = v }
}

// text is a choice whose value "none" stands for the empty text.
func text(field func(*Policy) *string) func(*Policy, string) {
	return func(p *Policy, v string) {
		if v != "none" {
			*field(p) = v
		}
	}
}

func number(field func(*Policy) *int) func(*Policy, string) {
	return func(p *Policy, v string) { *field(p), _ = strconv.Atoi(v) }
}

func yes(field func(*Policy) *bool) func(*Policy, string) {
	return func(p *Policy, v string) { *field(p) = v == "yes" }
}

var policies = slices.Concat(generalPolicies, subscriptionPolicies)

// generalPolicies are the freedoms that are not about subscriptions in particular.
var generalPolicies = []PolicyInfo{
	{"versions", []string{"both", "3.1.1", "5"}, "3.1.1:3.1.2.2,5.0:3.1.2.2", "Which versions of MQTT are offered.",
		choice(func(p *Policy) *string { return &p.Versions })},
	{"empty-client-id", []string{"assign", "refuse"}, "3.1.1:3.1.3.1,5.0:3.1.3.1", "Whether a client with an empty Client Identifier is given one or refused.",
		choice(func(p *Policy) *string { return &p.EmptyClientID })},
	{"unknown-level", []string{"1", "0x84", "close"}, "3.1.1:3.1.2.2,5.0:3.1.2.2", "How a CONNECT above level 5 is answered.",
		choice(func(p *Policy) *string { return &p.UnknownLevel })},
	{"malformed-connect", []string{"connack", "close"}, "5.0:3.1.4", "Whether a malformed CONNECT gets a CONNACK before the close.",
		choice(func(p *Policy) *string { return &p.MalformedConnect })},
	{"disconnects", []string{"always", "never"}, "5.0:4.13.1", "Whether the server says why before it closes.",
		choice(func(p *Policy) *string { return &p.Disconnects })},
	{"denied-publish", []string{"ack", "close"}, "3.1.1:3.3.5", "What a PUBLISH that is not authorized brings.",
		choice(func(p *Policy) *string { return &p.DeniedPublish })},
	{"qos0-offline", []string{"drop", "keep"}, "3.1.1:3.1.2.4,5.0:4.1", "Whether QoS 0 messages are kept for clients that are away.",
		choice(func(p *Policy) *string { return &p.QoS0Offline })},
	{"qos0-while-blocked", []string{"send", "hold"}, "5.0:4.9", "Whether QoS 0 messages are sent while the send quota is used up.",
		choice(func(p *Policy) *string { return &p.QoS0WhileBlocked })},
	{"qos2-onward", []string{"publish", "pubrel"}, "3.1.1:4.3.3,5.0:4.3.3", "When a QoS 2 message is passed on.",
		choice(func(p *Policy) *string { return &p.QoS2Onward })},
	{"unknown-acks", []string{"answer", "close"}, "5.0:3.6.2.1,5.0:4.13.1", "What a PUBACK, PUBREC or PUBCOMP for an unknown Packet Identifier brings.",
		choice(func(p *Policy) *string { return &p.UnknownAcks })},
	{"retain-qos0", []string{"keep", "drop"}, "3.1.1:3.3.1.3,5.0:3.3.1.3", "Whether retained messages at QoS 0 are kept.",
		choice(func(p *Policy) *string { return &p.RetainQoS0 })},
	{"overlap", []string{"once", "each"}, "3.1.1:3.3.5,5.0:3.3.4", "How many copies overlapping subscriptions of one Session bring.",
		choice(func(p *Policy) *string { return &p.Overlap })},
	{"no-matching-subscribers", []string{"report", "success"}, "5.0:3.4.2.1", "Whether a publisher is told that nobody got the message.",
		choice(func(p *Policy) *string { return &p.NoMatchingSubscribers })},
	{"payload-format", []string{"ignored", "checked"}, "5.0:3.1.3.2.3,5.0:3.3.2.3.2", "Whether a payload that is said to be UTF-8 and is not is refused.",
		choice(func(p *Policy) *string { return &p.PayloadFormat })},
	{"diagnostics", []string{"failures", "always", "none"}, "5.0:3.1.2.11.7", "Which answers have a Reason String and a User Property.",
		choice(func(p *Policy) *string { return &p.Diagnostics })},
	{"outgoing-aliases", []string{"use", "never"}, "5.0:3.3.2.3.4", "Whether the server uses Topic Aliases.",
		choice(func(p *Policy) *string { return &p.OutgoingAliases })},
	{"unsubscribe-buffered", []string{"keep", "drop"}, "3.1.1:3.10.4,5.0:3.10.4", "Whether queued messages are still delivered after UNSUBSCRIBE.",
		choice(func(p *Policy) *string { return &p.UnsubscribeBuffered })},
	{"share-311", []string{"grouped", "plain", "refused"}, "3.1.1:4.7", "What $share means to clients of MQTT 3.1.1.",
		choice(func(p *Policy) *string { return &p.Share311 })},
	{"sys", []string{"some", "none"}, "3.1.1:4.7.2,5.0:4.7.2", "Whether the server publishes $SYS topics.",
		choice(func(p *Policy) *string { return &p.Sys })},
	{"dollar-topics", []string{"exchanged", "reserved", "refused", "open"}, "3.1.1:4.7.2,5.0:4.7.2,5.0:3.4.2.1", "Whether clients may exchange messages on topics that begin with $: but on those of the server, on none, on none and MQTT 5.0 says so, or on all.",
		choice(func(p *Policy) *string { return &p.DollarTopics })},
	{"subprotocol", []string{"required", "optional"}, "3.1.1:6,5.0:6", "Whether a WebSocket that does not offer the subprotocol mqtt is refused.",
		choice(func(p *Policy) *string { return &p.Subprotocol })},
	{"server-reference", []string{"none", "connect", "shutdown"}, "5.0:3.2.2.3.16,5.0:3.14.2.2.5,5.0:4.11", "Whether clients are sent to another server: when they connect, for now, or when this one shuts down, for good.",
		choice(func(p *Policy) *string { return &p.ServerReference })},
	{"response-information", []string{"none", "answers"}, "5.0:3.2.2.3.15", "The Response Information that a client gets on request.",
		text(func(p *Policy) *string { return &p.ResponseInformation })},
	{"auth-secret", []string{"none", "sesame"}, "5.0:4.12", "The secret of the challenge-response method mqttcheck-hmac; without one there is no enhanced authentication.",
		text(func(p *Policy) *string { return &p.AuthSecret })},
	{"window", []string{"65535", "1", "20"}, "3.1.1:4.3,5.0:4.9", "How many QoS 1 and 2 deliveries are open to a client, in MQTT 5.0 within its Receive Maximum.",
		number(func(p *Policy) *int { return &p.Window })},
	{"granted-qos-311", []string{"2", "1", "0"}, "3.1.1:3.8.4", "The highest QoS that a subscription is granted in MQTT 3.1.1.",
		number(func(p *Policy) *int { return &p.GrantedQoS311 })},
	{"granted-qos-5", []string{"2", "1", "0"}, "5.0:3.8.4", "The highest QoS that a subscription is granted in MQTT 5.0.",
		number(func(p *Policy) *int { return &p.GrantedQoS5 })},
	{"welcome", []string{"behind-suback", "before-suback", "later"}, "3.1.1:3.8.4,5.0:3.8.4", "Whether retained messages come behind SUBACK, before it, or are looked up later, with what has been retained since, and overtake what is held.",
		choice(func(p *Policy) *string { return &p.Welcome })},
	{"acknowledges", []string{"last", "first", "early"}, "3.1.1:4.3.2,5.0:4.3.2", "Whether PUBACK and PUBREC are sent after the message is passed on, before, or some milliseconds before, in which subscriptions come and go, and retained behind that (not on a durable server).",
		choice(func(p *Policy) *string { return &p.Acknowledges })},
	{"packet-ids", []string{"rising", "lowest"}, "3.1.1:2.3.1,5.0:2.2.1", "Which unused Packet Identifier a delivery gets.",
		choice(func(p *Policy) *string { return &p.PacketIDs })},
	{"announce", []string{"needed", "all"}, "5.0:3.2.2.3", "Whether CONNACK also announces what is the default.",
		choice(func(p *Policy) *string { return &p.Announce })},
	{"keep-alive-slack", []string{"0", "2"}, "3.1.1:3.1.2.10,5.0:3.1.2.10", "Seconds that a silent client is given beyond one and a half Keep Alive.",
		number(func(p *Policy) *int { return &p.KeepAliveSlack })},
	{"delay", []string{"0", "20"}, "3.1.1:4.2,5.0:4.2", "Milliseconds that the server waits before each write.",
		number(func(p *Policy) *int { return &p.Delay })},
	{"overtaking", []string{"never", "by-topic", "freely"}, "3.1.1:4.6,5.0:4.6", "Whether messages are sent behind later ones, of other topics or also of other publishers and at other QoS, and behind answers; there are no Topic Aliases then.",
		choice(func(p *Policy) *string { return &p.Overtaking })},
	{"segments", []string{"whole", "bytes"}, "3.1.1:4.2,5.0:4.2", "Whether the beginning of what is sent comes byte by byte.",
		choice(func(p *Policy) *string { return &p.Segments })},
	{"maximum-qos", []string{"2", "1", "0"}, "5.0:3.2.2.3.4", "The Maximum QoS.",
		number(func(p *Policy) *int { return &p.MaximumQoS })},
	{"receive-maximum", []string{"65535", "2", "20"}, "5.0:3.2.2.3.3", "The Receive Maximum.",
		number(func(p *Policy) *int { return &p.ReceiveMaximum })},
	{"topic-alias-maximum", []string{"10", "0", "1"}, "5.0:3.2.2.3.8", "The Topic Alias Maximum.",
		number(func(p *Policy) *int { return &p.TopicAliasMaximum })},
	{"maximum-packet-size", []string{"0", "512"}, "5.0:3.2.2.3.6", "The Maximum Packet Size; 0 is the limit of the implementation.",
		number(func(p *Policy) *int { return &p.MaximumPacketSize })},
	{"maximum-session-expiry", []string{"0", "60"}, "5.0:3.2.2.3.2", "The longest Session Expiry Interval; 0 sets no limit.",
		number(func(p *Policy) *int { return &p.MaximumSessionExpiry })},
	{"server-keep-alive", []string{"0", "60"}, "5.0:3.2.2.3.14", "The Server Keep Alive; 0 leaves it to the client.",
		number(func(p *Policy) *int { return &p.ServerKeepAlive })},
	{"retain", []string{"yes", "no"}, "5.0:3.2.2.3.5", "Whether retained messages are available.",
		yes(func(p *Policy) *bool { return &p.Retain })},
	{"wildcards", []string{"yes", "no"}, "3.1.1:3.8.3,5.0:3.2.2.3.11", "Whether wildcard subscriptions are available.",
		yes(func(p *Policy) *bool { return &p.Wildcards })},
	{"shared", []string{"yes", "no"}, "5.0:3.2.2.3.13", "Whether shared subscriptions are available.",
		yes(func(p *Policy) *bool { return &p.Shared })},
	{"subscription-identifiers", []string{"yes", "no"}, "5.0:3.2.2.3.12", "Whether Subscription Identifiers are available.",
		yes(func(p *Policy) *bool { return &p.SubscriptionIdentifiers })},
}

// Policies lists the freedoms.
func Policies() []PolicyInfo { return slices.Clone(policies) }

// SetPolicy sets one freedom; the error says what may be set. Numbers may have
// any value that fits, not only those listed.
func (p *Policy) SetPolicy(name, value string) error {
	i := slices.IndexFunc(policies, func(x PolicyInfo) bool { return x.Name == name })
	if i < 0 {
		return fmt.Errorf("core: there is no policy %q; see --list-policies", name)
	}
	info := policies[i]
	if !slices.Contains(info.Values, value) {
		_, err := strconv.Atoi(info.Values[0])
		if n, wrong := strconv.Atoi(value); err != nil || wrong != nil || n < 0 {
			return fmt.Errorf("core: policy %s is one of %s, not %q", name, strings.Join(info.Values, ", "), value)
		}
	}
	if p.set == nil {
		p.set = map[string]string{}
	}
	p.set[name] = value
	return nil
}

// withDefaults returns the policy with every field filled.
func (p Policy) withDefaults() Policy {
	full := Policy{}
	for _, info := range policies {
		value, ok := p.set[info.Name]
		if !ok {
			value = info.Values[0]
		}
		info.apply(&full, value)
	}
	return full
}
