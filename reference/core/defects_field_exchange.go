package core

import (
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// fieldExchangeDefects are faults that brokers have had in the exchanges of QoS
// 1 and 2, in what is sent again, and in the send quota.
var fieldExchangeDefects = []Defect{
	{"qos2-third-copy-closes", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10"}, "The second repetition of a publication at QoS 2 ends the connection.", Run,
		func(r *rules) {
			repeats := map[*session]map[uint16]int{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				m, ok := p.(*packet.Publish)
				if !ok || m.QoS != 2 {
					return p
				}
				if repeats[c.session] == nil {
					repeats[c.session] = map[uint16]int{}
				}
				if !c.session.pending[m.ID] {
					repeats[c.session][m.ID] = 0
					return p
				}
				if repeats[c.session][m.ID]++; repeats[c.session][m.ID] > 1 {
					s.fail(c, packet.ProtocolError, "the publication was repeated twice")
					return nil
				}
				return p
			}
		}},
	{"qos2-repeat-unanswered", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10", "v311/3.1.2.4-inbound-qos2-in-session", "v5/4.1-qos2-receiver-state"}, "A repeated publication at QoS 2 gets no PUBREC.", Run,
		publishedAtQoS2(func(_ *Server, c *conn, p *packet.Publish) packet.Packet {
			if c.session.pending[p.ID] {
				return nil
			}
			return p
		})},
	{"qos2-dup-is-repetition", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-12", "v311/MQTT-4.5.0-1", "v5/MQTT-4.5.0-1"}, "A publication at QoS 2 with DUP 1 is taken for a repetition: it is answered and not passed on.", Run,
		publishedAtQoS2(func(s *Server, c *conn, p *packet.Publish) packet.Packet {
			if !p.Dup || c.session.pending[p.ID] {
				return p
			}
			c.session.pending[p.ID], c.incoming[p.ID] = true, true
			s.send(c, &packet.Ack{Kind: packet.PUBREC, ID: p.ID})
			return nil
		})},
	{"qos2-open-lapses", []string{"v311/MQTT-4.3.3-2", "v5/MQTT-4.3.3-10"}, "A publication at QoS 2 that is open for more than a second is forgotten.", Run,
		func(r *rules) {
			began := map[*session]map[uint16]time.Time{}
			publishedAtQoS2(func(s *Server, c *conn, p *packet.Publish) packet.Packet {
				if began[c.session] == nil {
					began[c.session] = map[uint16]time.Time{}
				}
				if !c.session.pending[p.ID] {
					began[c.session][p.ID] = s.now
				} else if s.now.Sub(began[c.session][p.ID]) > s.seconds(1) {
					delete(c.session.pending, p.ID)
				}
				return p
			})(r)
		}},
	{"qos2-released-plain", []string{"v311/MQTT-3.8.4-6", "v5/MQTT-3.8.4-8", "v311/MQTT-3.3.1-5", "v5/MQTT-3.3.1-5"}, "A publication at QoS 2 that is released on a later connection is passed on at QoS 0, and not retained.", Run,
		func(r *rules) {
			publishedAtQoS2(func(s *Server, c *conn, p *packet.Publish) packet.Packet {
				if c.session.pending[p.ID] {
					return p
				}
				if !s.resolveAlias(c, p) || !s.withinAnnounced(c, p) || !s.withinReceiveMaximum(c, p) {
					return nil
				}
				c.session.pending[p.ID], c.incoming[p.ID] = true, true
				c.session.held[p.ID] = &message{
					topic: p.Topic, payload: p.Payload, qos: 2, retain: p.Retain, publisher: c.session.id,
					properties: forwarded(&p.Properties), expiry: p.Properties.MessageExpiryInterval, arrived: s.now,
				}
				s.send(c, &packet.Ack{Kind: packet.PUBREC, ID: p.ID})
				return nil
			})(r)
			r.attached = func(_ *Server, se *session, _ bool) {
				for _, m := range se.held {
					m.qos, m.retain = 0, false
				}
			}
		}},
	{"qos2-properties-lost", []string{"v5/MQTT-3.3.2-17", "v5/MQTT-3.3.2-4", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-20"}, "A message at QoS 2 has no properties of the publisher.", Run,
		func(r *rules) {
			r.accepts = func(m *message) bool {
				if m.qos == 2 {
					m.properties = packet.Properties{}
				}
				return true
			}
		}},
	{"qos0-user-properties-lost", []string{"v5/MQTT-3.3.2-17"}, "A message at QoS 0 has no User Properties of the publisher.", Run,
		func(r *rules) {
			r.accepts = func(m *message) bool {
				if m.qos == 0 {
					m.properties.UserProperties = nil
				}
				return true
			}
		}},
	{"correlation-data-cached", []string{"v5/4.10-request-response"}, "The Correlation Data of the first message of a client to a topic goes with all that follow it.", Run,
		func(r *rules) {
			first := map[string][]byte{}
			r.accepts = func(m *message) bool {
				if m.properties.CorrelationData == nil {
					return true
				}
				way := m.publisher + " " + m.topic
				if first[way] == nil {
					first[way] = m.properties.CorrelationData
				}
				m.properties.CorrelationData = first[way]
				return true
			}
		}},
	{"qos2-window-code", []string{"v5/3.4.2.1-puback-pubrec-code-00", "v5/MQTT-3.5.2-1"}, "A client may have 100 publications at QoS 2 open: the next has a PUBREC with the code for a Receive Maximum that was exceeded.", Run,
		publishedAtQoS2(func(s *Server, c *conn, p *packet.Publish) packet.Packet {
			if !c.five() || len(c.session.pending) < 100 || c.session.pending[p.ID] {
				return p
			}
			s.send(c, &packet.Ack{Kind: packet.PUBREC, ID: p.ID, Code: packet.ReceiveMaximumExceeded})
			return nil
		})},
	{"resent-once", []string{
		"v311/MQTT-4.4.0-1", "v5/MQTT-4.4.0-1", "v311/MQTT-4.3.3-1", "v5/MQTT-4.3.3-5",
		"v311/2.3.1-directions-independent", "v5/2.2.1-identifier-directions-independent", "v5/4.3-wrong-ack-type", "v311/MQTT-3.1.2-4",
	}, "What is open is sent again once, and not on the connection after that.", Run,
		func(r *rules) {
			again := map[*delivery]bool{}
			r.resends = func(_ *conn, d *delivery) bool {
				first := !again[d]
				again[d] = true
				return first
			}
		}},
	{"quota-returned-twice", []string{"v5/MQTT-3.3.4-9", "v5/MQTT-4.9.0-2", "v5/4.9-quota-not-above-initial"}, "A PUBACK gives back two of the send quota.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if a, ok := p.(*packet.Ack); ok && a.Kind == packet.PUBACK && c.session.byID[a.ID] != nil {
					c.inFlight--
				}
				return p
			}
		}},
	{"quota-lost-by-expiry", []string{"v5/4.9-quota-puback-error"}, "A delivery gives no quota back when its message has expired by then.", Run,
		func(r *rules) {
			var server *Server
			r.incoming = func(s *Server, _ *conn, p packet.Packet) packet.Packet {
				server = s
				return p
			}
			r.finishes = func(d *delivery) bool {
				if server != nil && server.expired(d.message) {
					d.on = nil
				}
				return true
			}
		}},
	{"beyond-window-lost", []string{
		"v5/4.9-quota-puback-error", "v5/4.9-quota-pubrec-error",
	}, "A message that comes while the send quota of a client is used up is not delivered to it.", Run,
		func(r *rules) {
			r.matched = func(_ *Server, _ *message, found map[*session]*match) {
				for se := range found {
					if se.conn != nil && !se.conn.windowOpen() {
						delete(found, se)
					}
				}
			}
		}},
	{"retained-beyond-window", []string{"v5/MQTT-3.3.4-9"}, "Retained messages are sent on SUBSCRIBE whatever the Receive Maximum of the client.", Run,
		func(r *rules) {
			r.honoursReceiveMaximum = func(d *delivery) bool { return !d.retain }
		}},
	{"qos0-sent-again", []string{"v311/MQTT-4.3.1-1", "v5/MQTT-4.3.1-1"}, "The last message that was delivered at QoS 0 is queued again when the client drops the connection.", Run,
		func(r *rules) {
			last := map[*session]*message{}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.QoS == 0 && m.Topic != "" && c.session != nil {
					last[c.session] = &message{topic: m.Topic, payload: m.Payload}
				}
				return []packet.Packet{p}
			}
			r.detached = func(_ *Server, se *session, why ending) {
				if m := last[se]; m != nil && why == dropped {
					se.push(&delivery{message: m})
				}
			}
		}},
	{"takeover-drops-queue", []string{"v311/MQTT-3.1.2-4", "v5/MQTT-4.4.0-1"}, "What is open or queued is thrown away when a connection is taken over.", Run,
		func(r *rules) {
			r.detached = func(_ *Server, se *session, why ending) {
				if why == takenOver {
					se.outbox = newOutbox()
				}
			}
		}},
	{"qos2-queue-refuses", []string{"v311/MQTT-3.1.2-4", "v5/MQTT-3.1.2-5"}, "A client for which messages at QoS 2 wait is refused.", Run,
		func(r *rules) {
			broken := refusal{3, packet.ServerUnavailable, "the queue cannot be read"}
			r.refuses = func(s *Server, _ *conn, p *packet.Connect) (refusal, bool) {
				se := s.sessions[p.ClientID]
				if se == nil || p.CleanStart {
					return refusal{}, false
				}
				for _, d := range se.queue {
					if d.qos == 2 {
						return broken, true
					}
				}
				return refusal{}, false
			}
		}},
}

// publishedAtQoS2 makes a defect of how a PUBLISH at QoS 2 is read; where it
// returns nil the server has done with the packet.
func publishedAtQoS2(read func(s *Server, c *conn, p *packet.Publish) packet.Packet) func(*rules) {
	return func(r *rules) {
		r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
			if m, ok := p.(*packet.Publish); ok && m.QoS == 2 && c.session != nil {
				return read(s, c, m)
			}
			return p
		}
	}
}
