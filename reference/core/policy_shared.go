package core

// subscriptionPolicy holds the freedoms that are about subscriptions.
type subscriptionPolicy struct {
	ResentIdentifiers    string // first, current
	DowngradedDuplicates string // no, yes
	NoLocalRetained      string // withheld, sent
	NoLocalOverlap       string // own, any
	SubackRefusal        string // exact, 0x80, 0x83
	UnsubscribeInvalid   string // absent, refused
	DeniedSubscribe      string // refused, granted
	IdentifierInUse      string // accepted, refused
	ShareDispatch        string // turns, random, sticky, publisher
	ShareAway            string // last, counted
	ShareBusy            string // waits, others
	ShareRedelivery      string // session-end, at-once, never
	ShareOrder           string // published, latest-first
	ShareJoining         string // later, waiting
	ShareQoS0Sent        string // done, repeated
	ShareTooLarge        string // others, nobody
	Share311Retained     string // none, creator, each
	ShareForms           string // plain, refused, grouped
}

// subscriptionPolicies are the freedoms that are about subscriptions.
var subscriptionPolicies = []PolicyInfo{
	{"resent-identifiers", []string{"first", "current"}, "5.0:3.8.4", "Which Subscription Identifiers a message has that is sent again after its subscription got another.",
		choice(func(p *Policy) *string { return &p.ResentIdentifiers })},
	{"downgraded-duplicates", []string{"no", "yes"}, "3.1.1:3.8.4,5.0:3.8.4", "Whether a message published at QoS 1 is sent twice to a subscription at QoS 0.",
		choice(func(p *Policy) *string { return &p.DowngradedDuplicates })},
	{"no-local-retained", []string{"withheld", "sent"}, "5.0:3.8.3.1", "Whether No Local keeps the client's own retained messages from it when it subscribes.",
		choice(func(p *Policy) *string { return &p.NoLocalRetained })},
	{"no-local-overlap", []string{"own", "any"}, "5.0:3.8.3.1", "Whether No Local holds for its own subscription only, or for all of the client that match.",
		choice(func(p *Policy) *string { return &p.NoLocalOverlap })},
	{"identifier-in-use", []string{"accepted", "refused"}, "5.0:3.9.3,5.0:3.11.3", "How a SUBSCRIBE or UNSUBSCRIBE is answered whose Packet Identifier an open publication of the client has.",
		choice(func(p *Policy) *string { return &p.IdentifierInUse })},
	{"suback-refusal", []string{"exact", "0x80", "0x83"}, "5.0:3.9.3", "Whether SUBACK tells why a filter is refused.",
		choice(func(p *Policy) *string { return &p.SubackRefusal })},
	{"unsubscribe-invalid", []string{"absent", "refused"}, "5.0:3.11.3", "Whether UNSUBSCRIBE for what can be no filter finds no subscription or is refused.",
		choice(func(p *Policy) *string { return &p.UnsubscribeInvalid })},
	{"denied-subscribe", []string{"refused", "granted"}, "3.1.1:4.7.3,5.0:4.7.3", "Whether a filter that a user may not subscribe to is refused, or granted and brings nothing.",
		choice(func(p *Policy) *string { return &p.DeniedSubscribe })},
	{"share-dispatch", []string{"turns", "random", "sticky", "publisher"}, "5.0:4.8.2", "How the member is chosen that gets a message of a Shared Subscription.",
		choice(func(p *Policy) *string { return &p.ShareDispatch })},
	{"share-away", []string{"last", "counted"}, "5.0:4.8.2", "Whether members that are away get messages only when none is connected, or as all others.",
		choice(func(p *Policy) *string { return &p.ShareAway })},
	{"share-busy", []string{"waits", "others"}, "5.0:4.8.2", "Whether a message waits for a member that takes no more at the moment, or goes to another.",
		choice(func(p *Policy) *string { return &p.ShareBusy })},
	{"share-redelivery", []string{"session-end", "at-once", "never"}, "5.0:4.8.2", "When another member gets what one that is gone has not acknowledged at QoS 1.",
		choice(func(p *Policy) *string { return &p.ShareRedelivery })},
	{"share-order", []string{"published", "latest-first"}, "5.0:4.6", "In which order a member gets what has waited for it.",
		choice(func(p *Policy) *string { return &p.ShareOrder })},
	{"share-joining", []string{"later", "waiting"}, "5.0:4.8.2", "Whether a member that joins gets what waits for members that are away, or only what is published later.",
		choice(func(p *Policy) *string { return &p.ShareJoining })},
	{"share-qos0-sent", []string{"done", "repeated"}, "5.0:4.8.2", "Whether a message at QoS 0 that was last sent to a member whose connection breaks goes to another as well.",
		choice(func(p *Policy) *string { return &p.ShareQoS0Sent })},
	{"share-too-large", []string{"others", "nobody"}, "5.0:3.1.2.11.4", "Who gets a message that is too large for the member whose turn it is.",
		choice(func(p *Policy) *string { return &p.ShareTooLarge })},
	{"share-311-retained", []string{"none", "creator", "each"}, "3.1.1:4.7", "Which members that join in MQTT 3.1.1 get the retained messages.",
		choice(func(p *Policy) *string { return &p.Share311Retained })},
	{"share-forms", []string{"plain", "refused", "grouped"}, "3.1.1:4.7.2,5.0:4.7.2", "What the forms mean that were once proposed for shared subscriptions, such as $queue/ and $share:name:.",
		choice(func(p *Policy) *string { return &p.ShareForms })},
}
