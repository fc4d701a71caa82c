package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// rules are the decisions that the server takes along the way, each with the
// answer that the specification demands. A Defect replaces one of them; no
// other code knows of defects.
type rules struct {
	// Of packets.
	tolerated        map[packet.Rule]bool // format rules that are not enforced
	limitsPacketSize bool
	survives         func(c *conn, code packet.ReasonCode) bool // an error does not end the connection
	incoming         func(s *Server, c *conn, p packet.Packet) packet.Packet
	outgoing         func(s *Server, c *conn, p packet.Packet) []packet.Packet
	rawOutgoing      func(p packet.Packet, b []byte) []byte

	// Of connecting.
	servesBeforeConnect  bool
	servesSecondConnect  bool
	refusesEmptyID       bool
	assignedID           func(id string) string
	takesClientID        func(id string) bool
	presentOnRefusal     bool
	refusalCode          func(c *conn, code packet.ReasonCode) packet.ReasonCode
	answersRefusal       bool
	closesAfterRefusal   bool
	answersBrokenConnect packet.ReasonCode // 3.1.1; 0 for no answer
	letsEverybodyIn      bool
	sessionPresent       func(resumed, clean bool) bool
	connackLast          bool
	byeBeforeConnack     bool
	announced            func(ps *packet.Properties)
	keepAliveFactor      float64
	authMethod           func(method *string) *string

	// Of Sessions and wills.
	takesOver           func(old *conn) bool
	startsClean         func(clean, hasWill bool) bool
	sessionExpiry       func(c *conn, seconds uint32) uint32
	disconnectExpiry    func(old, asked uint32) uint32
	refusesRaisedExpiry bool
	closesOnDisconnect  bool
	publishesWill       func(c *conn, why ending) bool
	delaysWill          bool
	keepsWill           bool
	storedWill          func(w *will) *will

	// Of publications from clients.
	receivedTopic           func(name string) string
	enforcesPermissions     bool
	acknowledgesDenied      bool
	enforcesMaximumQoS      bool
	enforcesRetainAvailable bool
	answersQoS0             bool
	takesDuplicates         bool // a QoS 1 PUBLISH with DUP 1 is a message like any other
	ackID                   func(id uint16) uint16
	forgetsIncoming         bool // QoS 2 repetitions are taken as new
	releasesIncoming        bool
	releaseID               func(id uint16) uint16
	limitsIncoming          bool
	accepts                 func(m *message) bool

	// Of retained messages.
	emptyDeletes  bool
	store         func(s *Server, m *message)
	retainsPlain  func(s *Server, m *message) // what a message with RETAIN 0 does to the store; nil for nothing
	sendsRetained func(handling byte, existed bool) bool
	retainedFor   func(found []*message) []*message
	welcomeRetain bool

	// Of deliveries.
	routedTopic              func(name string) string
	matched                  func(s *Server, m *message, found map[*session]*match)
	copies                   func(m *message) int
	overlapQoS               func(a, b byte) byte
	deliveredQoS             func(published, granted byte) byte
	liveRetain               func(m *message, asPublished bool) bool
	dup                      func(d *delivery) bool
	deliveredTopic           func(name string) string
	deliveredPayload         func(b []byte) []byte
	deliveredProperties      func(ps packet.Properties) packet.Properties
	expiryLeft               func(interval, waited uint32) uint32
	expiresMessages          bool
	packetID                 func(id uint16) uint16
	honoursNoLocal           bool
	honoursRetainAsPublished bool
	sendsSubscriptionIDs     bool
	honoursReceiveMaximum    bool
	honoursPacketSize        bool
	honoursProblemInfo       bool
	aliasMaximum             func(clients uint16) uint16
	storesOffline            func(d *delivery) bool
	sendOrder                func(queue []*delivery) []*delivery
	resendOrder              func(open []*delivery) []*delivery
	resends                  func(d *delivery) bool
	resentID                 func(id uint16) uint16
	remembersPubrec          bool
	sendsPubrel              bool
	finishes                 bool // an acknowledgement ends the exchange
	sharesWithAll            bool

	// Of subscribing.
	subackID                  func(id uint16) uint16
	subackCodes               func(codes []packet.ReasonCode) []packet.ReasonCode
	grantedQoS                func(asked byte) byte
	takesBadFilter            func(filter string) bool
	enforcesWildcards         bool
	refusesSharedNoLocal      bool
	failure                   packet.ReasonCode // SUBACK code of MQTT 3.1.1 for a refused filter
	replaces                  bool
	sharedGetsNoRetained      bool
	storedFilter              func(filter string) string
	unsubscribed              func(filters []string) []string
	findSubscription          func(se *session, filter string) *subscription
	unsubscribeDropsOpen      bool
	answersUselessUnsubscribe bool
	unsubackID                func(id uint16) uint16
}

func same[T any](v T) T { return v }

// standard returns the rules as the specifications have them.
func standard() rules {
	return rules{
		tolerated:        map[packet.Rule]bool{},
		limitsPacketSize: true,
		survives:         func(*conn, packet.ReasonCode) bool { return false },
		incoming:         func(_ *Server, _ *conn, p packet.Packet) packet.Packet { return p },
		outgoing:         func(_ *Server, _ *conn, p packet.Packet) []packet.Packet { return []packet.Packet{p} },
		rawOutgoing:      func(_ packet.Packet, b []byte) []byte { return b },

		refusesEmptyID:     true,
		assignedID:         same[string],
		takesClientID:      func(string) bool { return true },
		refusalCode:        func(_ *conn, code packet.ReasonCode) packet.ReasonCode { return code },
		answersRefusal:     true,
		closesAfterRefusal: true,
		sessionPresent:     func(resumed, _ bool) bool { return resumed },
		announced:          func(*packet.Properties) {},
		keepAliveFactor:    1.5,
		authMethod:         same[*string],

		takesOver:           func(*conn) bool { return true },
		startsClean:         func(clean, _ bool) bool { return clean },
		sessionExpiry:       func(_ *conn, seconds uint32) uint32 { return seconds },
		disconnectExpiry:    func(_, asked uint32) uint32 { return asked },
		refusesRaisedExpiry: true,
		closesOnDisconnect:  true,
		publishesWill:       func(_ *conn, why ending) bool { return why != disconnected },
		delaysWill:          true,
		storedWill:          same[*will],

		receivedTopic:           same[string],
		enforcesPermissions:     true,
		acknowledgesDenied:      true,
		enforcesMaximumQoS:      true,
		enforcesRetainAvailable: true,
		takesDuplicates:         true,
		ackID:                   same[uint16],
		releasesIncoming:        true,
		releaseID:               same[uint16],
		limitsIncoming:          true,
		accepts:                 func(*message) bool { return true },

		emptyDeletes:  true,
		store:         func(s *Server, m *message) { s.retained[m.topic] = m },
		sendsRetained: func(handling byte, existed bool) bool { return handling == 0 || handling == 1 && !existed },
		retainedFor:   same[[]*message],
		welcomeRetain: true,

		routedTopic:              same[string],
		matched:                  func(*Server, *message, map[*session]*match) {},
		copies:                   func(*message) int { return 1 },
		overlapQoS:               func(a, b byte) byte { return max(a, b) },
		deliveredQoS:             func(published, granted byte) byte { return min(published, granted) }, // [v311/MQTT-3.8.4-6] [v5/MQTT-3.8.4-8]
		liveRetain:               func(_ *message, asPublished bool) bool { return asPublished },
		dup:                      func(d *delivery) bool { return d.sent && d.qos > 0 },
		deliveredTopic:           same[string],
		deliveredPayload:         same[[]byte],
		deliveredProperties:      same[packet.Properties],
		expiryLeft:               func(interval, waited uint32) uint32 { return interval - min(waited, interval) },
		expiresMessages:          true,
		packetID:                 same[uint16],
		honoursNoLocal:           true,
		honoursRetainAsPublished: true,
		sendsSubscriptionIDs:     true,
		honoursReceiveMaximum:    true,
		honoursPacketSize:        true,
		honoursProblemInfo:       true,
		aliasMaximum:             same[uint16],
		storesOffline:            func(*delivery) bool { return true },
		sendOrder:                same[[]*delivery],
		resendOrder:              same[[]*delivery],
		resends:                  func(*delivery) bool { return true },
		resentID:                 same[uint16],
		remembersPubrec:          true,
		sendsPubrel:              true,
		finishes:                 true,

		subackID:                  same[uint16],
		subackCodes:               same[[]packet.ReasonCode],
		grantedQoS:                same[byte],
		takesBadFilter:            func(string) bool { return false },
		enforcesWildcards:         true,
		refusesSharedNoLocal:      true,
		failure:                   0x80,
		replaces:                  true,
		sharedGetsNoRetained:      true,
		storedFilter:              same[string],
		unsubscribed:              same[[]string],
		findSubscription:          func(se *session, filter string) *subscription { return se.subs[filter] },
		answersUselessUnsubscribe: true,
		unsubackID:                same[uint16],
	}
}
