package packet

import "strings"

var (
	topicText       = textRules{RuleTopicUTF8, RuleTopicSurrogate, RuleTopicNUL}
	subscribeText   = textRules{RuleSubscribeUTF8, RuleSubscribeSurrogate, RuleSubscribeNUL}
	unsubscribeText = textRules{RuleUnsubscribeUTF8, RuleUnsubscribeSurrogate, RuleUnsubscribeNUL}
)

func (d *decoding) publish(flags byte) Packet {
	p := &Publish{Dup: flags&8 != 0, QoS: flags >> 1 & 3, Retain: flags&1 != 0}
	if p.QoS == 3 {
		d.malformed(RuleQoS3, "both QoS bits are set")
		p.QoS = 2
	}
	if p.QoS == 0 && p.Dup {
		d.malformed(RuleDupQoS0, "DUP is set at QoS 0")
	}
	p.Topic = d.string(topicText)
	if strings.ContainsAny(p.Topic, "#+") {
		d.breaks(RuleTopicWild, TopicNameInvalid, "the Topic Name has a wildcard")
	}
	if p.QoS > 0 { // [v311/MQTT-2.3.1-5] [v5/MQTT-2.2.1-2]
		p.ID = d.identifier(RulePublishID)
	}
	p.Properties = d.properties(PUBLISH)
	if p.Topic == "" && p.Properties.TopicAlias == nil {
		d.protocolError(RuleTopicEmpty, "the Topic Name is empty and there is no Topic Alias")
	}
	if d.from == FromClient && p.Properties.SubscriptionIdentifiers != nil {
		d.protocolError(RulePublishSubscriptionID, "a client sends a PUBLISH with a Subscription Identifier")
	}
	p.Payload = append([]byte{}, d.rest()...)
	return p
}

func (d *decoding) identifier(rule Rule) uint16 {
	id := d.uint16()
	if id == 0 {
		d.protocolError(rule, "the Packet Identifier is 0")
	}
	return id
}

func (d *decoding) subscribe() Packet {
	p := &Subscribe{ID: d.identifier(RuleSubscribeID), Properties: d.properties(SUBSCRIBE)}
	if len(d.b) == 0 {
		d.protocolError(RuleSubscribeEmpty, "SUBSCRIBE has no Topic Filter")
	}
	for len(d.b) > 0 && d.err == nil {
		p.Subscriptions = append(p.Subscriptions, d.subscription())
	}
	return p
}

func (d *decoding) subscription() Subscription {
	sub := Subscription{Filter: d.string(subscribeText)}
	if sub.Filter == "" {
		d.malformed(RuleSubscribeFilterEmpty, "a Topic Filter is empty")
	}
	options := d.byte()
	if options&3 == 3 {
		d.protocolError(RuleSubscribeQoS3, "the QoS of a Topic Filter is 3")
	}
	sub.QoS = min(options&3, 2)
	reserved := byte(0xfc)
	if d.version == V5 {
		reserved = 0xc0
		sub.NoLocal, sub.RetainAsPublished, sub.RetainHandling = options&4 != 0, options&8 != 0, options>>4&3
		if sub.RetainHandling == 3 {
			d.protocolError(RuleRetainHandling3, "Retain Handling is 3")
		}
	}
	if options&reserved != 0 {
		d.malformed(RuleSubscribeBits, "reserved bits of the options are set")
	}
	return sub
}

func (d *decoding) unsubscribe() Packet {
	p := &Unsubscribe{ID: d.identifier(RuleUnsubscribeID), Properties: d.properties(UNSUBSCRIBE)}
	if len(d.b) == 0 {
		d.protocolError(RuleUnsubscribeEmpty, "UNSUBSCRIBE has no Topic Filter")
	}
	for len(d.b) > 0 && d.err == nil {
		f := d.string(unsubscribeText)
		if f == "" {
			d.malformed(RuleUnsubscribeFilterEmpty, "a Topic Filter is empty")
		}
		p.Filters = append(p.Filters, f)
	}
	return p
}

// codes reads the codes of SUBACK and UNSUBACK.
func (d *decoding) codes(kind Type) []ReasonCode {
	b := d.rest()
	list := make([]ReasonCode, len(b))
	for i, c := range b {
		list[i] = ReasonCode(c)
		d.code(kind, list[i])
	}
	return list
}

// optional reads a Reason Code and properties, which may be left out.
// [sections 3.4.2.1 and 3.14.2.1 of MQTT 5.0]
func (d *decoding) optional(kind Type) (ReasonCode, Properties) {
	if d.version != V5 || len(d.b) == 0 {
		return 0, Properties{}
	}
	code := ReasonCode(d.byte())
	d.code(kind, code)
	if len(d.b) == 0 {
		return code, Properties{}
	}
	return code, d.properties(kind)
}

func (d *decoding) disconnect() Packet {
	p := &Disconnect{}
	p.Code, p.Properties = d.optional(DISCONNECT)
	switch {
	case d.version != V5:
	case d.from == FromServer && p.Code == DisconnectWithWill:
		d.protocolError(RuleDisconnectCodeFromServer, "a server sends DISCONNECT 0x04")
	case d.from == FromClient && serverDisconnect(p.Code):
		d.protocolError(RuleDisconnectCodeFromClient, "a client sends DISCONNECT with a code of servers")
	}
	return p
}

func (d *decoding) auth() Packet {
	p := &Auth{}
	p.Code, p.Properties = d.optional(AUTH)
	switch {
	case d.from == FromServer && p.Code == ReAuthenticate:
		d.protocolError(RuleAuthCodeFromServer, "a server sends AUTH 0x19")
	case d.from == FromClient && p.Code == Success:
		d.protocolError(RuleAuthCodeFromClient, "a client sends AUTH 0x00")
	}
	if p.Properties.AuthenticationMethod == nil {
		d.protocolError(RuleAuthMethod, "AUTH has no Authentication Method")
	}
	return p
}

// code judges a Reason Code, or a Return Code of MQTT 3.1.1.
func (d *decoding) code(kind Type, code ReasonCode) {
	legal := legalCodes[kind]
	if d.version != V5 {
		legal = returnCodes[kind]
	}
	if strings.IndexByte(legal, byte(code)) < 0 {
		d.protocolError(codeRules[kind], "the Reason Code is not defined for this packet")
	}
}
