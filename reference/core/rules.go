package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// rules are the decisions that the server takes along the way, each with the
// answer that the specification demands. A Defect replaces one of them; no
// other code knows of defects.
type rules struct {
	packetRules
	connectRules
	sessionRules
	publishRules
	retainRules
	deliverRules
	subscribeRules
	webSocket WebSocket
	shell     Shell
}

// packetRules are about packets of any type.
type packetRules struct {
	tolerated           map[packet.Rule]bool                                      // format rules that are not enforced
	exceeds             func(size, limit int) bool                                // of a packet from a client
	skips               func(s *Server, c *conn, first byte, body []byte) bool    // packets that are not looked at
	survives            func(c *conn, code packet.ReasonCode) bool                // an error does not end the connection
	incoming            func(s *Server, c *conn, p packet.Packet) packet.Packet   // nil: the packet is ignored
	outgoing            func(s *Server, c *conn, p packet.Packet) []packet.Packet // what is sent instead
	rawOutgoing         func(c *conn, p packet.Packet, b []byte) []byte           // its bytes
	disconnectCode      func(code packet.ReasonCode) packet.ReasonCode            // of a DISCONNECT of the server
	countedSize         func(p packet.Packet, size int) int                       // of a packet for a client
	honoursPacketSize   func(p packet.Packet) bool
	honoursProblemInfo  func(kind packet.Type) bool
	trimsReason         func(kind packet.Type) bool // of an answer that would be too large
	trimsUserProperties func(kind packet.Type) bool
	wantsWholeConnect   bool // CONNECT has to come in one piece
	endsMalformed       func(broken packet.Rule) bool
	bytesKeepAlive      bool // a part of a packet restarts the Keep Alive
}

// connectRules are about CONNECT, CONNACK, AUTH and Keep Alive.
type connectRules struct {
	ignoresBeforeConnect       bool
	servesSecondConnect        bool
	connect                    func(p *packet.Connect) *packet.Connect // how CONNECT is read
	refusesEmptyID             bool                                    // with Clean Session 0
	assignedID                 func(id string) string
	assignsUnique              bool
	takesClientID              func(id string) bool
	refuses                    func(s *Server, c *conn, p *packet.Connect) (refusal, bool) // a further restriction
	presentOnRefusal           bool
	refusalCode                func(c *conn, code packet.ReasonCode) packet.ReasonCode
	answersRefusal             func(c *conn, why refusal) bool
	afterRefusal               func(s *Server, c *conn)      // instead of the close; nil for the close
	answersBrokenConnect       func(broken packet.Rule) bool // in 3.1.1
	endsBrokenConnect          func(broken packet.Rule) bool
	closesBehindBye            func(why ending) bool
	answersConnect             func(p *packet.Connect) bool
	letsEverybodyIn            bool
	sessionPresent             func(resumed, clean bool) bool
	connackLast                bool // behind what a resumed Session sends
	byeBeforeConnack           bool
	announced                  func(ps *packet.Properties)
	givesResponseInformation   func(asked bool) bool
	silence                    func(keepAlive uint16) float64 // seconds a client may be silent; 0 for ever
	restartsKeepAlive          func(p packet.Type) bool
	refusesUnknownMethod       bool
	authMethod                 func(method *string) *string // in AUTH
	connackMethod              func(method *string) *string
	challengeCode              func(c *conn) packet.ReasonCode
	continues                  func(code packet.ReasonCode) bool  // a client's AUTH carries an exchange on
	fitsMethod                 func(c *conn, p *packet.Auth) bool // AUTH names the method of the CONNECT
	believesFailure            func(c *conn) bool                 // a client that has proved nothing
	mayLeave                   bool                               // with DISCONNECT while authenticating
	endsFailedReauthentication bool
}

// sessionRules are about Sessions and wills.
type sessionRules struct {
	sessionKey          func(clientID string) string
	takesOver           func(old *conn) bool
	saysTakenOver       bool
	startsClean         func(p *packet.Connect, live bool) bool    // live: taken over
	attached            func(s *Server, se *session, resumed bool) // a connection has come
	detached            func(s *Server, se *session, why ending)
	sessionEnded        func(s *Server, se *session)
	sessionExpiry       func(c *conn, seconds uint32) uint32
	disconnectExpiry    func(old, asked uint32) uint32
	refusesRaisedExpiry bool
	closesOnDisconnect  bool
	leavesWill          func(code packet.ReasonCode) bool // DISCONNECT with the code does
	readsOn             bool                              // behind DISCONNECT
	storedWill          func(se *session, w *will) *will
	missingWill         func(se *session) *will // of a CONNECT without one
	publishesWill       func(c *conn, why ending) bool
	willDelay           func(delay, expiry uint32) uint32
	willCopies          int
	cancelsWill         bool // when the client is back in time
	endsWill            bool // the end of the Session does not wait for the delay
}

// publishRules are about publications from clients.
type publishRules struct {
	receivedTopic           func(name string) string
	forwarded               func(ps *packet.Properties) packet.Properties
	accepts                 func(m *message) bool
	passesOn                func(s *Server, m *message) bool
	refusesAlias            func(alias uint16, maximum int) bool
	notesAlias              func(c *conn, p *packet.Publish) bool
	unknownAlias            func(alias uint16) (string, bool)
	enforcesPermissions     bool
	enforcesReading         bool // of them, those to subscribe
	acknowledgesDenied      bool
	enforcesMaximumQoS      bool
	enforcesRetainAvailable bool
	answersQoS0             bool
	takesAsNew              func(c *conn, p *packet.Publish) bool // at QoS 1
	takesRepeatsAsNew       bool                                  // at QoS 2
	ackID                   func(id uint16) uint16                // of PUBACK, PUBREC and PUBREL
	releaseID               func(id uint16) uint16                // of PUBCOMP
	releasesIncoming        bool
	answersUnknownRelease   bool
	receiveMaximum          func(announced int) int // that is enforced
}

// retainRules are about retained messages.
type retainRules struct {
	store           func(s *Server, m *message)
	seesEmpty       func(s *Server, m *message) // RETAIN 1 and no payload
	seesPlain       func(s *Server, m *message) // RETAIN 0
	sendsRetained   func(handling byte, existed bool) bool
	retainedMatches func(filter, name string) bool
	retainedFor     func(found []*message) []*message
	welcomeRetain   func(sub *subscription) bool
	welcomeQoS      func(m *message, sub *subscription) byte
}

// deliverRules are about deliveries to clients.
type deliverRules struct {
	routedTopic              func(name string) string
	matched                  func(s *Server, m *message, found map[*session]*match)
	copies                   func(m *message) int
	overlapQoS               func(a, b byte) byte
	overlapCopies            func(each bool, subs []*subscription) [][]*subscription // the subscriptions of each copy
	identifiers              func(m *message, subs, all []*subscription) []uint32    // of the copy for some of all that match
	resentIdentifiers        func(se *session, d *delivery) []uint32
	deliveredQoS             func(m *message, granted byte) byte
	liveRetain               func(m *message, asPublished bool) bool
	dup                      func(d *delivery) bool
	deliveredTopic           func(name string) string
	deliveredPayload         func(b []byte) []byte
	hasProperties            func(c *conn) bool
	expiryLeft               func(interval, waited uint32) uint32
	expiresMessages          bool
	expiresBegun             bool // what was sent already expires as well
	packetID                 func(id uint16) uint16
	local                    func(sub *subscription, m *message) bool // No Local keeps the message away
	honoursRetainAsPublished bool
	honoursReceiveMaximum    func(d *delivery) bool
	sendQuota                func(c *conn, receiveMaximum int) int // the first one on a connection
	limitsResends            bool                                  // by the send quota
	returnsQuota             func(p *packet.Ack) bool              // an acknowledgement that ends an exchange
	pubrecReturnsQuota       bool
	capsQuota                bool // at its first value
	settlesByAny             bool // also by the acknowledgement of another QoS
	freeID                   func(o *outbox, id uint16) bool
	aliasesGiven             func(maximum uint16) uint16
	nextAlias                func(given int) uint16
	aliasesOnlySent          bool // none is set by a packet that is too large
	aliasGiven               func(c *conn, alias uint16, name string)
	discarded                func(s *Server, c *conn, d *delivery) // too large for the client
	storesOffline            func(d *delivery) bool
	nextInQueue              func(queue []*delivery) int
	resendOrder              func(open []*delivery) []*delivery
	resends                  func(c *conn, d *delivery) bool
	renumbers                func(o *outbox, d *delivery)
	remembersPubrec          bool
	sendsPubrel              func(c *conn) bool
	readsPubrecCode          bool
	finishes                 func(d *delivery) bool // an acknowledgement ends the exchange
	sharedTakers             func(s *Server, sh *share, m *message, chosen []*subscription) []*subscription
	sharedGrant              func(sub *subscription) byte // the QoS granted to a member
	handsOn                  func(d *delivery) bool       // to another member of the share
}

// subscribeRules are about SUBSCRIBE and UNSUBSCRIBE.
type subscribeRules struct {
	answersSubscribe          func(p *packet.Subscribe) bool
	subscribed                func(asked []packet.Subscription) []packet.Subscription
	keptIdentifier            func(se *session, i int, filter string, identifier uint32) uint32 // for the i-th filter
	subackID                  func(id uint16) uint16
	subackCodes               func(codes []packet.ReasonCode) []packet.ReasonCode
	grantedQoS                func(asked, granted byte) byte
	takesBadFilter            func(filter string, err error) bool
	enforcesWildcards         bool
	enforcesShared            bool
	enforcesIdentifiers       bool
	refusesSharedNoLocal      bool
	failure                   packet.ReasonCode // SUBACK code of MQTT 3.1.1 for a refused filter
	replaces                  func(s *Server, old, sub *subscription) bool
	sharedGetsNoRetained      bool
	parsedShare               func(filter string) (name, inner string, shared bool, err error)
	shareID                   func(name, inner string) string // which filters are one share
	sharedJoined              func(s *Server, sub *subscription)
	sharedLeft                func(s *Server, sh *share, sub *subscription)
	storedFilter              func(filter string) string
	unsubscribed              func(filters []string) []string
	findSubscriptions         func(se *session, filter string) []*subscription
	unsubscribedFrom          func(se *session, sub *subscription)
	answersUselessUnsubscribe bool
	unsubackID                func(id uint16) uint16
	unsubackCodes             func(codes []packet.ReasonCode) []packet.ReasonCode
}

func same[T any](v T) T { return v }

// standard returns the rules as the specifications have them.
func standard() rules {
	return rules{
		packetRules:    standardPacket(),
		connectRules:   standardConnect(),
		sessionRules:   standardSession(),
		publishRules:   standardPublish(),
		retainRules:    standardRetain(),
		deliverRules:   standardDeliver(),
		subscribeRules: standardSubscribe(),
		webSocket:      standardWebSocket(),
	}
}

func standardPacket() packetRules {
	return packetRules{
		tolerated:           map[packet.Rule]bool{},
		exceeds:             func(size, limit int) bool { return size > limit },
		endsMalformed:       func(packet.Rule) bool { return true },
		skips:               func(*Server, *conn, byte, []byte) bool { return false },
		survives:            func(*conn, packet.ReasonCode) bool { return false },
		incoming:            func(_ *Server, _ *conn, p packet.Packet) packet.Packet { return p },
		outgoing:            func(_ *Server, _ *conn, p packet.Packet) []packet.Packet { return []packet.Packet{p} },
		rawOutgoing:         func(_ *conn, _ packet.Packet, b []byte) []byte { return b },
		disconnectCode:      same[packet.ReasonCode],
		countedSize:         func(_ packet.Packet, size int) int { return size },
		honoursPacketSize:   func(packet.Packet) bool { return true },
		honoursProblemInfo:  func(packet.Type) bool { return true },
		trimsReason:         func(packet.Type) bool { return true },
		trimsUserProperties: func(packet.Type) bool { return true },
	}
}

func standardConnect() connectRules {
	return connectRules{
		connect:                    same[*packet.Connect],
		refusesEmptyID:             true,
		assignedID:                 same[string],
		assignsUnique:              true,
		takesClientID:              func(string) bool { return true },
		refuses:                    func(*Server, *conn, *packet.Connect) (refusal, bool) { return refusal{}, false },
		refusalCode:                func(_ *conn, code packet.ReasonCode) packet.ReasonCode { return code },
		answersRefusal:             func(*conn, refusal) bool { return true },
		answersBrokenConnect:       func(packet.Rule) bool { return false },
		endsBrokenConnect:          func(packet.Rule) bool { return true },
		closesBehindBye:            func(ending) bool { return true },
		answersConnect:             func(*packet.Connect) bool { return true },
		sessionPresent:             func(resumed, _ bool) bool { return resumed },
		announced:                  func(*packet.Properties) {},
		givesResponseInformation:   same[bool],
		silence:                    func(keepAlive uint16) float64 { return 1.5 * float64(keepAlive) },
		refusesUnknownMethod:       true,
		restartsKeepAlive:          func(packet.Type) bool { return true },
		authMethod:                 same[*string],
		connackMethod:              same[*string],
		challengeCode:              func(*conn) packet.ReasonCode { return packet.ContinueAuthentication },
		continues:                  func(code packet.ReasonCode) bool { return code == packet.ContinueAuthentication },
		fitsMethod:                 sameMethod,
		believesFailure:            func(*conn) bool { return false },
		mayLeave:                   true,
		endsFailedReauthentication: true,
	}
}

func standardSession() sessionRules {
	return sessionRules{
		sessionKey:          same[string],
		takesOver:           func(*conn) bool { return true },
		saysTakenOver:       true,
		startsClean:         func(p *packet.Connect, _ bool) bool { return p.CleanStart },
		attached:            func(*Server, *session, bool) {},
		detached:            func(*Server, *session, ending) {},
		sessionEnded:        func(*Server, *session) {},
		sessionExpiry:       func(_ *conn, seconds uint32) uint32 { return seconds },
		disconnectExpiry:    func(_, asked uint32) uint32 { return asked },
		refusesRaisedExpiry: true,
		closesOnDisconnect:  true,
		leavesWill:          func(code packet.ReasonCode) bool { return code != packet.NormalDisconnection },
		storedWill:          func(_ *session, w *will) *will { return w },
		missingWill:         func(*session) *will { return nil },
		publishesWill:       func(_ *conn, why ending) bool { return why != disconnected && why != stopping },
		willDelay:           func(delay, expiry uint32) uint32 { return min(delay, expiry) },
		willCopies:          1,
		cancelsWill:         true,
		endsWill:            true,
	}
}

func standardPublish() publishRules {
	return publishRules{
		receivedTopic:           same[string],
		forwarded:               forwarded,
		accepts:                 func(*message) bool { return true },
		passesOn:                func(*Server, *message) bool { return true },
		refusesAlias:            func(alias uint16, maximum int) bool { return alias == 0 || int(alias) > maximum },
		notesAlias:              func(*conn, *packet.Publish) bool { return true },
		unknownAlias:            func(uint16) (string, bool) { return "", false },
		enforcesPermissions:     true,
		enforcesReading:         true,
		acknowledgesDenied:      true,
		enforcesMaximumQoS:      true,
		enforcesRetainAvailable: true,
		takesAsNew:              func(*conn, *packet.Publish) bool { return true },
		ackID:                   same[uint16],
		releaseID:               same[uint16],
		releasesIncoming:        true,
		answersUnknownRelease:   true,
		receiveMaximum:          same[int],
	}
}

func standardRetain() retainRules {
	return retainRules{
		store:           func(s *Server, m *message) { s.retained.set(m) },
		seesEmpty:       func(s *Server, m *message) { s.retained.delete(m.topic) },
		seesPlain:       func(*Server, *message) {},
		sendsRetained:   func(handling byte, existed bool) bool { return handling == 0 || handling == 1 && !existed },
		retainedMatches: retainedMatch,
		retainedFor:     same[[]*message],
		welcomeRetain:   func(*subscription) bool { return true },
		welcomeQoS:      func(m *message, sub *subscription) byte { return min(m.qos, sub.qos) }, // [v311/MQTT-3.8.4-6] [v5/MQTT-3.8.4-8]
	}
}

func standardDeliver() deliverRules {
	return deliverRules{
		routedTopic:              same[string],
		matched:                  func(*Server, *message, map[*session]*match) {},
		copies:                   func(*message) int { return 1 },
		overlapQoS:               func(a, b byte) byte { return max(a, b) },
		overlapCopies:            overlapCopies,
		identifiers:              func(_ *message, subs, _ []*subscription) []uint32 { return identifiers(subs) },
		resentIdentifiers:        func(_ *session, d *delivery) []uint32 { return d.subIDs },
		deliveredQoS:             func(m *message, granted byte) byte { return min(m.qos, granted) }, // [v311/MQTT-3.8.4-6] [v5/MQTT-3.8.4-8]
		liveRetain:               func(_ *message, asPublished bool) bool { return asPublished },
		dup:                      func(d *delivery) bool { return d.sent && d.qos > 0 },
		deliveredTopic:           same[string],
		deliveredPayload:         same[[]byte],
		hasProperties:            (*conn).five,
		expiryLeft:               func(interval, waited uint32) uint32 { return interval - min(waited, interval) },
		expiresMessages:          true,
		packetID:                 same[uint16],
		local:                    local,
		honoursRetainAsPublished: true,
		honoursReceiveMaximum:    func(*delivery) bool { return true },
		sendQuota:                func(_ *conn, receiveMaximum int) int { return receiveMaximum },
		limitsResends:            true,
		returnsQuota:             func(*packet.Ack) bool { return true },
		capsQuota:                true,
		freeID:                   func(o *outbox, id uint16) bool { return id != 0 && o.byID[id] == nil },
		aliasesGiven:             same[uint16],
		nextAlias:                func(given int) uint16 { return uint16(given + 1) },
		aliasesOnlySent:          true,
		aliasGiven:               func(*conn, uint16, string) {},
		discarded:                func(_ *Server, c *conn, d *delivery) { c.session.done(d) },
		storesOffline:            func(*delivery) bool { return true },
		nextInQueue:              func([]*delivery) int { return 0 },
		resendOrder:              slices.Clone[[]*delivery],
		resends:                  func(*conn, *delivery) bool { return true },
		renumbers:                func(*outbox, *delivery) {},
		remembersPubrec:          true,
		sendsPubrel:              func(*conn) bool { return true },
		readsPubrecCode:          true,
		finishes:                 func(*delivery) bool { return true },
		sharedTakers:             func(_ *Server, _ *share, _ *message, chosen []*subscription) []*subscription { return chosen },
		sharedGrant:              func(sub *subscription) byte { return sub.qos },
		handsOn:                  func(d *delivery) bool { return d.qos != 2 || !d.sent },
	}
}

func standardSubscribe() subscribeRules {
	return subscribeRules{
		answersSubscribe:     func(*packet.Subscribe) bool { return true },
		subscribed:           same[[]packet.Subscription],
		keptIdentifier:       func(_ *session, _ int, _ string, identifier uint32) uint32 { return identifier },
		subackID:             same[uint16],
		subackCodes:          same[[]packet.ReasonCode],
		grantedQoS:           func(_, granted byte) byte { return granted },
		takesBadFilter:       func(string, error) bool { return false },
		enforcesWildcards:    true,
		enforcesShared:       true,
		enforcesIdentifiers:  true,
		refusesSharedNoLocal: true,
		failure:              0x80,
		replaces:             func(*Server, *subscription, *subscription) bool { return true },
		sharedGetsNoRetained: true,
		parsedShare:          topic.ParseShared,
		shareID:              func(name, inner string) string { return name + "/" + inner },
		sharedJoined:         func(*Server, *subscription) {},
		sharedLeft:           func(*Server, *share, *subscription) {},
		storedFilter:         same[string],
		unsubscribed:         same[[]string],
		findSubscriptions: func(se *session, filter string) []*subscription {
			if sub := se.subs[filter]; sub != nil {
				return []*subscription{sub}
			}
			return nil
		},
		unsubscribedFrom:          func(*session, *subscription) {},
		answersUselessUnsubscribe: true,
		unsubackID:                same[uint16],
		unsubackCodes:             same[[]packet.ReasonCode],
	}
}
