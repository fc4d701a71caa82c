package core

import (
	"slices"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// flowDefects are the faults in section 4.9, the Receive Maximum, and what
// acknowledgements do.
var flowDefects = slices.Concat(quotaDefects, acknowledgementDefects)

var quotaDefects = []Defect{
	{"receive-maximum-ignored", []string{"v5/MQTT-3.3.4-9", "v5/MQTT-4.9.0-1", "v5/MQTT-4.9.0-2", "v5/4.9-quota-not-above-initial"},
		"The Receive Maximum of a client is not looked at.", Run,
		func(r *rules) { r.honoursReceiveMaximum = func(*delivery) bool { return false } }},
	{"receive-maximum-off-by-one", []string{"v5/MQTT-4.9.0-1", "v5/MQTT-3.3.4-9", "v5/MQTT-4.9.0-2", "v5/4.9-quota-not-above-initial"},
		"One delivery more is open than the Receive Maximum of the client.", Run,
		func(r *rules) { r.sendQuota = func(_ *conn, most int) int { return most + 1 } }},
	{"receive-maximum-halved-to-0", []string{"v5/MQTT-4.9.0-1", "v5/MQTT-3.1.2-25"}, "The send quota is half the Receive Maximum, rounded down.", Run,
		func(r *rules) { r.sendQuota = func(_ *conn, most int) int { return most / 2 } }},
	{"quota-by-pubrec", []string{"v5/MQTT-3.3.4-9"}, "PUBREC gives quota back.", Run,
		func(r *rules) { r.pubrecReturnsQuota = true }},
	{"quota-lost-by-failing-puback", []string{"v5/4.9-quota-puback-error"}, "A PUBACK or PUBCOMP with an error code gives no quota back.", Run,
		func(r *rules) {
			r.returnsQuota = func(p *packet.Ack) bool { return p.Code < 0x80 || p.Kind == packet.PUBREC }
		}},
	{"quota-lost-by-failing-pubrec", []string{"v5/4.9-quota-pubrec-error"}, "A PUBREC with an error code gives no quota back.", Run,
		func(r *rules) {
			r.returnsQuota = func(p *packet.Ack) bool { return p.Code < 0x80 || p.Kind != packet.PUBREC }
		}},
	{"quota-grows", []string{"v5/4.9-quota-not-above-initial", "v5/MQTT-3.3.4-9"}, "Every PUBACK and PUBCOMP gives quota back, also where none is missing.", Run,
		func(r *rules) { r.capsQuota = false }},
	{"quota-carried-over", []string{"v5/4.9-quota-reset"}, "What is open in a Session takes from the quota of its next connection before it is sent again.", Run,
		func(r *rules) {
			r.attached = func(_ *Server, se *session, _ bool) { se.conn.inFlight = len(se.byID) }
		}},
	{"receive-maximum-carried-over", []string{"v5/MQTT-3.3.4-9"}, "The first Receive Maximum of a client holds for its later connections.", Run,
		func(r *rules) {
			first := map[*session]int{}
			r.attached = func(_ *Server, se *session, _ bool) {
				if _, ok := first[se]; !ok {
					first[se] = se.conn.quota
				}
				se.conn.quota = first[se]
			}
		}},
	{"resends-unlimited", []string{"v5/MQTT-3.3.4-9"}, "What is open is sent again all at once, whatever the Receive Maximum.", Run,
		func(r *rules) { r.limitsResends = false }},
	{"blocked-client-unanswered", []string{"v5/MQTT-3.3.4-10"}, "While the send quota is used up, SUBACK and what answers a PUBLISH wait for it.", Run,
		func(r *rules) {
			held := map[*conn][]packet.Packet{}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				switch p.(type) {
				case *packet.Suback, *packet.Unsuback, *packet.Ack:
					if c.five() && !c.windowOpen() {
						held[c] = append(held[c], p)
						return nil
					}
				}
				all := append(held[c], p)
				delete(held, c)
				return all
			}
		}},
	{"blocked-client-unheard", []string{"v5/MQTT-4.9.0-3"}, "While the send quota is used up, what the client publishes is acknowledged and thrown away.", Run,
		func(r *rules) {
			r.passesOn = func(s *Server, m *message) bool {
				se := s.sessions[m.publisher]
				return se == nil || se.conn == nil || !se.conn.five() || se.conn.windowOpen()
			}
		}},
	{"incoming-unlimited", []string{"v5/MQTT-3.3.4-7"}, "More publications may be open than the Receive Maximum of the server.", Hook,
		func(r *rules) { r.receiveMaximum = func(int) int { return 1 << 16 } }},
	{"incoming-limit-too-low", []string{"v5/3.3.4-receive-maximum-exceeded"}, "A client is disconnected for one publication less than the server announces to take.", Hook,
		func(r *rules) { r.receiveMaximum = func(announced int) int { return announced - 1 } }},
	{"incoming-limit-carried-over", []string{"v5/4.9-quota-reset"}, "Publications that are open in a Session count against the Receive Maximum of each of its connections.", Hook,
		func(r *rules) {
			r.attached = func(_ *Server, se *session, _ bool) {
				for id := range se.pending {
					se.conn.incoming[id] = true
				}
			}
		}},
	{"receive-maximum-code", []string{"v5/3.3.4-receive-maximum-exceeded"}, "A client that exceeds the Receive Maximum is told of a Protocol Error.", Hook,
		insteadOf(packet.ReceiveMaximumExceeded, packet.ProtocolError)},
}

// insteadOf makes a defect of a DISCONNECT with another code than is due.
func insteadOf(due, sent packet.ReasonCode) func(*rules) {
	return func(r *rules) {
		r.disconnectCode = func(code packet.ReasonCode) packet.ReasonCode {
			if code == due {
				return sent
			}
			return code
		}
	}
}
