package packet

import "strings"

var (
	clientIDText  = textRules{RuleClientIDUTF8, RuleClientIDSurrogate, RuleClientIDNUL}
	willTopicText = textRules{RuleWillTopicUTF8, RuleWillTopicSurrogate, RuleWillTopicNUL}
	usernameText  = textRules{RuleUsernameUTF8, RuleUsernameSurrogate, RuleUsernameNUL}
)

// The Connect Flags. [section 3.1.2.3]
const (
	flagReserved   = 0x01
	flagCleanStart = 0x02
	flagWill       = 0x04
	flagsWillQoS   = 0x18
	flagWillRetain = 0x20
	flagPassword   = 0x40
	flagUsername   = 0x80
)

// connect decodes the fields in their order. [v311/MQTT-3.1.3-1]
// [v311/MQTT-3.1.4-1] [v5/MQTT-3.1.3-1] [v5/MQTT-3.1.4-1]
func (d *decoding) connect() Packet {
	p := &Connect{ProtocolName: d.rawString(), Version: Version(d.byte())}
	if d.err == nil && p.ProtocolName != "MQTT" {
		d.breaks(RuleProtocolName, UnsupportedProtocolVersion, "the protocol name is not MQTT")
	}
	if d.err == nil && p.Version != V311 && p.Version != V5 {
		d.breaks(RuleProtocolLevel, UnsupportedProtocolVersion, "the protocol level is neither 4 nor 5")
	}
	if d.err != nil {
		return p
	}
	d.version = p.Version
	flags := d.byte()
	d.connectFlags(flags)
	p.CleanStart, p.KeepAlive = flags&flagCleanStart != 0, d.uint16()
	p.Properties = d.properties(CONNECT)
	if !d.missing(RuleNoClientID) {
		p.ClientID = d.string(clientIDText)
	}
	if flags&flagWill != 0 {
		p.Will = d.will(flags)
	}
	if flags&flagUsername != 0 && !d.missing(RuleNoUsername) {
		name := d.string(usernameText)
		p.Username = &name
	}
	if flags&flagPassword != 0 && !d.missing(RuleNoPassword) {
		p.Password = d.binary()
	}
	return p
}

// missing judges a field of which not a single byte is there; where that is
// tolerated the packet goes without the field.
func (d *decoding) missing(rule Rule) bool {
	if len(d.b) > 0 {
		return false
	}
	d.malformed(rule, "a field of the payload of CONNECT is missing")
	return true
}

// will reads the will. [section 3.1.3.2]
func (d *decoding) will(flags byte) *Will {
	w := &Will{QoS: min(flags&flagsWillQoS>>3, 2), Retain: flags&flagWillRetain != 0}
	if d.missing(RuleNoWillFields) {
		return nil
	}
	w.Properties = d.properties(willPacket)
	if d.missing(RuleNoWillFields) {
		return nil
	}
	w.Topic = d.string(willTopicText)
	if d.missing(RuleNoWillFields) {
		return nil
	}
	w.Payload = d.binary()
	if w.Topic == "" {
		d.malformed(RuleWillTopicEmpty, "the Will Topic is empty")
	}
	if strings.ContainsAny(w.Topic, "#+") {
		d.breaks(RuleWillTopicWild, TopicNameInvalid, "the Will Topic has a wildcard")
	}
	return w
}

// connectFlags judges the Connect Flags. [section 3.1.2.3]
func (d *decoding) connectFlags(flags byte) {
	if flags&flagReserved != 0 {
		d.malformed(RuleConnectReserved, "the reserved bit of the Connect Flags is set")
	}
	if flags&flagWill == 0 {
		if flags&flagsWillQoS != 0 {
			d.malformed(RuleWillQoSNoWill, "Will QoS is set without the Will Flag")
		}
		if flags&flagWillRetain != 0 {
			d.malformed(RuleWillRetainNoWill, "Will Retain is set without the Will Flag")
		}
	} else if flags&flagsWillQoS == flagsWillQoS {
		d.malformed(RuleWillQoS3, "Will QoS is 3")
	}
	if d.version != V5 && flags&(flagUsername|flagPassword) == flagPassword {
		d.malformed(RulePasswordAlone, "the Password Flag is set without the User Name Flag")
	}
}

func (d *decoding) connack() Packet {
	flags := d.byte()
	p := &Connack{SessionPresent: flags&1 == 1, Code: ReasonCode(d.byte())}
	if flags > 1 {
		d.malformed(RuleConnackFlags, "reserved bits of the Connect Acknowledge Flags are set")
	}
	d.code(CONNACK, p.Code)
	if p.SessionPresent && p.Code != 0 {
		d.protocolError(RuleConnackSessionPresent, "Session Present is set together with a code other than 0")
	}
	p.Properties = d.properties(CONNACK)
	return p
}
