package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// reasons are the Reason Strings of the codes that an answer may have.
var reasons = map[packet.ReasonCode]string{
	packet.Success:                     "done",
	packet.GrantedQoS1:                 "granted",
	packet.GrantedQoS2:                 "granted",
	packet.NoMatchingSubscribers:       "nobody has a matching subscription",
	packet.NoSubscriptionExisted:       "there was no such subscription",
	packet.ContinueAuthentication:      "the challenge is to be answered",
	packet.ImplementationSpecificError: "this server does not offer it",
	packet.NotAuthorized:               "it is not allowed",
	packet.TopicFilterInvalid:          "the Topic Filter is not valid",
	packet.PacketIdentifierNotFound:    "the Packet Identifier is not known",
	packet.QuotaExceeded:               "a limit of this server is reached",
}

// explain says in an answer why: with a Reason String, and with the name of
// the server as a User Property. Without a policy to the contrary only what
// refuses, fails or asks for more is explained.
// [v5/3.1.2.11.7-request-problem-information-one]
func (s *Server) explain(c *conn, p packet.Packet) {
	ps, codes := diagnostics(p)
	if ps == nil || !c.five() {
		return
	}
	why := slices.IndexFunc(codes, func(code packet.ReasonCode) bool { return code > packet.GrantedQoS2 })
	switch {
	case s.policy.Diagnostics == "none":
		ps.ReasonString = nil
		return
	case why < 0 && s.policy.Diagnostics != "always" || len(codes) == 0:
		return
	}
	if text := reasons[codes[max(why, 0)]]; ps.ReasonString == nil && text != "" {
		ps.ReasonString = &text
	}
	ps.UserProperties = []packet.UserProperty{{Name: "server", Value: s.cfg.Version}}
}

// trim takes away from an answer what the client does not want, or what would
// make the answer too large for it.
func (s *Server) trim(c *conn, p packet.Packet) {
	ps, _ := diagnostics(p)
	if ps == nil {
		return
	}
	// CONNACK and DISCONNECT may say why in any case. [v5/MQTT-3.1.2-29]
	kind := p.Type()
	if !c.problemInfo && s.rules.honoursProblemInfo(kind) && kind != packet.CONNACK && kind != packet.DISCONNECT {
		ps.ReasonString, ps.UserProperties = nil, nil
	}
	// [v5/MQTT-3.2.2-20] [v5/MQTT-3.4.2-3] [v5/MQTT-3.5.2-3] [v5/MQTT-3.6.2-3] [v5/MQTT-3.7.2-3]
	// [v5/MQTT-3.9.2-2] [v5/MQTT-3.11.2-2] [v5/MQTT-3.14.2-4] [v5/MQTT-3.15.2-3]
	if s.tooLarge(c, p) && s.rules.trimsUserProperties(kind) {
		ps.UserProperties = nil
	}
	// [v5/MQTT-3.2.2-19] [v5/MQTT-3.4.2-2] [v5/MQTT-3.5.2-2] [v5/MQTT-3.6.2-2] [v5/MQTT-3.7.2-2]
	// [v5/MQTT-3.9.2-1] [v5/MQTT-3.11.2-1] [v5/MQTT-3.14.2-3] [v5/MQTT-3.15.2-2]
	if s.tooLarge(c, p) && s.rules.trimsReason(kind) {
		ps.ReasonString = nil
	}
}

// tooLarge tells whether a packet is larger than the client takes.
func (s *Server) tooLarge(c *conn, p packet.Packet) bool {
	return c.maxPacket > 0 && s.rules.countedSize(p, packet.Size(c.wireVersion(), p)) > int(c.maxPacket)
}

// diagnostics returns the properties of an answer, which may hold a Reason
// String, and its codes; nil for a packet that has none.
func diagnostics(p packet.Packet) (*packet.Properties, []packet.ReasonCode) {
	switch p := p.(type) {
	case *packet.Connack:
		return &p.Properties, []packet.ReasonCode{p.Code}
	case *packet.Ack:
		return &p.Properties, []packet.ReasonCode{p.Code}
	case *packet.Suback:
		return &p.Properties, p.Codes
	case *packet.Unsuback:
		return &p.Properties, p.Codes
	case *packet.Disconnect:
		return &p.Properties, []packet.ReasonCode{p.Code}
	case *packet.Auth:
		return &p.Properties, []packet.ReasonCode{p.Code}
	}
	return nil, nil
}
