package core

import "github.com/mqttcheck/mqttcheck/reference/packet"

// disconnectDefects are the faults in sections 3.14.2.1 and 3.14.4: what the
// code of a DISCONNECT means.
var disconnectDefects = []Defect{
	{"disconnect-with-will-ignored", []string{"v5/3.14.2.1-disconnect-with-will", "v5/3.14-will-unless-normal"}, "Any DISCONNECT of the client throws the will away.", Run,
		func(r *rules) {
			r.publishesWill = func(_ *conn, why ending) bool { return why != disconnected && why != willAsked && why != stopping }
		}},
	{"error-disconnect-is-normal", []string{"v5/3.14-will-unless-normal"}, "A DISCONNECT of the client with an error code is taken as a normal one.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				if bye, ok := p.(*packet.Disconnect); ok && bye.Code >= 0x80 {
					bye.Code = packet.NormalDisconnection
				}
				return p
			}
		}},
	{"short-disconnect-ignored", []string{"v5/3.14.2.1-short-form"}, "A DISCONNECT of one byte, the code, is not read.", Run,
		func(r *rules) {
			r.skips = func(_ *Server, _ *conn, first byte, body []byte) bool {
				return packet.Type(first>>4) == packet.DISCONNECT && len(body) == 1
			}
		}},
	{"takeover-misnamed", []string{"v5/3.14.2.1-disconnect-code-8e"}, "A connection that is taken over is told of an administrative action.", Warn,
		renamed(packet.SessionTakenOver, packet.AdministrativeAction)},
	{"malformed-misnamed", []string{"v5/3.14.2.1-disconnect-code-81"}, "A malformed packet is called a Protocol Error.", Warn,
		renamed(packet.MalformedPacket, packet.ProtocolError)},
	{"protocol-error-misnamed", []string{"v5/3.14.2.1-disconnect-code-82", "v5/3.3.2.3.4-publish-topic-alias-twice", "v5/3.3.2.3.4-alias-unknown"}, "A Protocol Error is called an implementation specific one.", Warn,
		renamed(packet.ProtocolError, packet.ImplementationSpecificError)},
	{"takeover-says-disconnect-with-will", []string{"v5/3.14.2.1-client-codes-from-server", "v5/3.14.2.1-disconnect-code-8e"}, "A connection that is taken over is told 0x04.", Run,
		renamed(packet.SessionTakenOver, packet.DisconnectWithWill)},
	{"taken-over-left-open", []string{"v5/MQTT-3.14.4-2", "v5/MQTT-3.1.4-3", "v5/MQTT-3.1.3-7", "v311/MQTT-3.1.4-2"}, "The connection that is taken over is served no longer, and is not closed.", Run,
		func(r *rules) { r.closesBehindBye = func(why ending) bool { return why != takenOver } }},
	{"qos-3-left-open", []string{"v5/MQTT-3.14.4-2", "v311/MQTT-3.3.1-4"}, "A PUBLISH with both QoS bits set ends the service, and not the connection.", Run,
		func(r *rules) {
			r.endsMalformed = func(broken packet.Rule) bool { return broken != packet.RuleQoS3 }
		}},
}

// renamed makes a defect of another code in the server's DISCONNECT.
func renamed(right, wrong packet.ReasonCode) func(*rules) {
	return func(r *rules) {
		r.disconnectCode = func(code packet.ReasonCode) packet.ReasonCode {
			if code == right {
				return wrong
			}
			return code
		}
	}
}
