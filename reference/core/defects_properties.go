package core

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// propertyDefects are the faults in the properties of a message, sections
// 1.5.7, 3.1.3.2 and 3.3.2.3 of MQTT 5.0.
var propertyDefects = slices.Concat(forwardDefects, lifetimeDefects, formatDefects)

// whole are the statements about messages with all of their properties.
var whole = []string{"v5/3.3.1.3-retained-properties-kept", "v5/3.1.3.2-will-properties-forwarded"}

// forwardDefects are about what reaches the subscribers.
var forwardDefects = []Defect{
	{"payload-format-dropped", append([]string{"v5/MQTT-3.3.2-4"}, whole...), "The Payload Format Indicator is not passed on.", Run,
		forwards(func(ps *packet.Properties) { ps.PayloadFormatIndicator = nil })},
	{"payload-format-guessed", []string{"v5/MQTT-3.3.2-4"}, "A message whose Payload Format Indicator is not 1 gets it all the same.", Run,
		forwards(func(ps *packet.Properties) { one := byte(1); ps.PayloadFormatIndicator = &one })},
	{"response-topic-cleaned", append([]string{"v5/MQTT-3.3.2-15"}, whole...), "Empty levels and blanks at the end are taken off the Response Topic.", Run,
		forwards(func(ps *packet.Properties) {
			ps.ResponseTopic = mapped(ps.ResponseTopic, func(s string) string {
				return strings.TrimRight(strings.ReplaceAll(s, "//", "/"), " /")
			})
		})},
	{"correlation-data-as-text", append([]string{"v5/MQTT-3.3.2-16"}, whole...), "Correlation Data is passed on as text.", Run,
		forwards(func(ps *packet.Properties) {
			if ps.CorrelationData != nil {
				ps.CorrelationData = bytes.ToValidUTF8(ps.CorrelationData, []byte("\ufffd"))
			}
		})},
	{"content-type-lower-case", append([]string{"v5/MQTT-3.3.2-20"}, whole...), "The Content Type is put into lower case.", Run,
		forwards(func(ps *packet.Properties) { ps.ContentType = mapped(ps.ContentType, strings.ToLower) })},
	{"empty-properties-dropped", []string{"v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-20"}, "Properties with an empty value are not passed on.", Run,
		forwards(func(ps *packet.Properties) {
			if len(ps.CorrelationData) == 0 {
				ps.CorrelationData = nil
			}
			if ps.ContentType != nil && *ps.ContentType == "" {
				ps.ContentType = nil
			}
		})},
	{"user-properties-by-name", append([]string{"v5/MQTT-3.3.2-17"}, whole...), "Of User Properties with equal names the last one is passed on.", Run,
		forwards(func(ps *packet.Properties) {
			var kept []packet.UserProperty
			for i, p := range ps.UserProperties {
				if !slices.ContainsFunc(ps.UserProperties[i+1:], func(x packet.UserProperty) bool { return x.Name == p.Name }) {
					kept = append(kept, p)
				}
			}
			ps.UserProperties = kept
		})},
	{"user-properties-sorted", []string{"v5/MQTT-3.3.2-18", "v5/MQTT-3.1.3-10"}, "User Properties are passed on sorted by name.", Run,
		forwards(func(ps *packet.Properties) {
			ps.UserProperties = slices.Clone(ps.UserProperties)
			slices.SortStableFunc(ps.UserProperties, func(a, b packet.UserProperty) int { return cmp.Compare(a.Name, b.Name) })
		})},
	{"will-user-properties-reversed", []string{"v5/MQTT-3.1.3-10"}, "The User Properties of a will are passed on in reverse order.", Run,
		func(r *rules) {
			r.storedWill = func(_ *session, w *will) *will {
				w.message.properties.UserProperties = slices.Clone(w.message.properties.UserProperties)
				slices.Reverse(w.message.properties.UserProperties)
				return w
			}
		}},
	{"will-properties-lost", []string{
		"v5/3.1.3.2-will-properties-forwarded", "v5/MQTT-3.3.2-4", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-17", "v5/MQTT-3.3.2-20",
	}, "A will is published without its properties.", Run,
		func(r *rules) {
			r.storedWill = func(_ *session, w *will) *will { w.message = w.message.bare(); return w }
		}},
	{"retained-properties-lost", []string{
		"v5/3.3.1.3-retained-properties-kept", "v5/MQTT-3.3.2-4", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-17", "v5/MQTT-3.3.2-20",
	}, "A retained message is stored without its properties.", Run,
		func(r *rules) { r.store = func(s *Server, m *message) { s.retained.set(m.bare()) } }},
	{"queued-properties-lost", []string{"v5/MQTT-3.3.2-4", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-17", "v5/MQTT-3.3.2-20"}, "A message is queued for an absent client without its properties.", Run,
		func(r *rules) {
			r.storesOffline = func(d *delivery) bool { d.message = d.message.bare(); return true }
		}},
	{"resent-properties-lost", []string{"v5/MQTT-3.3.2-4", "v5/MQTT-3.3.2-15", "v5/MQTT-3.3.2-16", "v5/MQTT-3.3.2-17", "v5/MQTT-3.3.2-20"}, "What is sent again has no properties of the publisher.", Run,
		sends(func(c *conn, p *packet.Publish) {
			if p.Dup {
				expiry, ids, alias := p.Properties.MessageExpiryInterval, p.Properties.SubscriptionIdentifiers, p.Properties.TopicAlias
				p.Properties = packet.Properties{MessageExpiryInterval: expiry, SubscriptionIdentifiers: ids, TopicAlias: alias}
			}
		})},
	{"retain-as-published-ignored", []string{"v5/MQTT-3.3.1-13"}, "RETAIN is 0 whatever Retain As Published says.", Run,
		func(r *rules) { r.honoursRetainAsPublished = false }},
	{"properties-to-old-clients", []string{"v311/7.1.1-packet-format"}, "A message with properties has them for clients of MQTT 3.1.1 as well.", Run,
		func(r *rules) {
			r.hasProperties = func(*conn) bool { return true }
			r.rawOutgoing = func(c *conn, p packet.Packet, b []byte) []byte {
				if m, ok := p.(*packet.Publish); ok && !c.five() && m.Properties.ResponseTopic != nil {
					return packet.Append(nil, packet.V5, p)
				}
				return b
			}
		}},
	{"property-length-twice", []string{"v5/7.1.1-packet-format"}, "The message of a publisher of MQTT 3.1.1 has a second Property Length for clients of MQTT 5.0.", Run,
		func(r *rules) {
			old := map[string]bool{} // topics by whether their last message is of MQTT 3.1.1
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok {
					old[m.Topic] = !c.five()
				}
				return p
			}
			r.connect = func(p *packet.Connect) *packet.Connect {
				if p.Will != nil {
					old[p.Will.Topic] = p.Version == packet.V311
				}
				return p
			}
			r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
				if m, ok := p.(*packet.Publish); ok && c.five() && len(m.Payload) > 0 && old[m.Topic] {
					m.Payload = append([]byte{0}, m.Payload...)
				}
				return []packet.Packet{p}
			}
		}},
}

// lifetimeDefects are about the Message Expiry Interval.
var lifetimeDefects = []Defect{
	{"expiry-ignored", []string{"v5/MQTT-3.3.2-5", "v5/3.3.1.3-retained-message-expiry", "v5/3.3.2.3.3-expiry-zero"}, "Messages do not expire.", Run,
		func(r *rules) { r.expiresMessages = false }},
	{"expiry-overtaken", []string{"v5/MQTT-4.6.0-5"}, "Messages that do not expire overtake those that do in the queue.", Run,
		func(r *rules) {
			r.nextInQueue = func(queue []*delivery) int {
				return max(0, slices.IndexFunc(queue, func(d *delivery) bool { return d.message.expiry == nil }))
			}
		}},
	{"expiry-not-reduced", []string{"v5/MQTT-3.3.2-6"}, "The Message Expiry Interval is passed on as it was received.", Run,
		func(r *rules) { r.expiryLeft = func(interval, _ uint32) uint32 { return interval } }},
	{"expiry-removed", append([]string{"v5/MQTT-3.3.2-6", "v5/3.1.3.2.4-will-expiry-sent"}, whole...), "The Message Expiry Interval is not passed on.", Run,
		sends(func(_ *conn, p *packet.Publish) { p.Properties.MessageExpiryInterval = nil })},
	{"expiry-invented", []string{"v5/3.3.2.3.3-no-expiry", "v5/3.1.3.2.4-will-expiry-absent"}, "A message without a Message Expiry Interval gets one of a day.", Run,
		sends(func(_ *conn, p *packet.Publish) {
			if day := uint32(86400); p.Properties.MessageExpiryInterval == nil {
				p.Properties.MessageExpiryInterval = &day
			}
		})},
	{"expiry-0-is-none", []string{"v5/3.3.2.3.3-expiry-zero"}, "A Message Expiry Interval of 0 is taken for none.", Warn,
		func(r *rules) {
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.Properties.MessageExpiryInterval != nil && *m.Properties.MessageExpiryInterval == 0 {
					m.Properties.MessageExpiryInterval = nil
				}
				return p
			}
		}},
	{"expiry-0-refused", []string{"v5/3.3.2.3.3-expiry-zero"}, "A Message Expiry Interval of 0 ends the connection.", Warn,
		func(r *rules) {
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.Properties.MessageExpiryInterval != nil && *m.Properties.MessageExpiryInterval == 0 {
					s.fail(c, packet.ProtocolError, "the Message Expiry Interval is 0")
					return nil
				}
				return p
			}
		}},
	{"expiry-ends-begun", []string{"v5/MQTT-4.3.3-7"}, "A delivery that has begun ends when its message expires.", Run,
		func(r *rules) { r.expiresBegun = true }},
	{"expiry-forgets-publication", []string{"v5/MQTT-4.3.3-13"}, "A PUBREL for a publication that has expired gets no PUBCOMP.", Run,
		func(r *rules) {
			type publication struct {
				client string
				id     uint16
			}
			ends := map[publication]time.Time{}
			r.incoming = func(s *Server, c *conn, p packet.Packet) packet.Packet {
				switch p := p.(type) {
				case *packet.Publish:
					if e := p.Properties.MessageExpiryInterval; e != nil && p.QoS == 2 {
						ends[publication{c.session.id, p.ID}] = s.now.Add(s.seconds(float64(*e)))
					}
				case *packet.Ack:
					end, brief := ends[publication{c.session.id, p.ID}]
					if p.Kind == packet.PUBREL && brief && s.now.After(end) {
						return nil
					}
				}
				return p
			}
		}},
	{"will-expiry-from-drop", []string{"v5/3.1.3.2.4-will-expiry-sent"}, "The time of a will is counted from the end of the connection.", Run,
		func(r *rules) {
			ended := map[string]time.Time{}
			r.attached = func(_ *Server, se *session, _ bool) { delete(ended, se.id) }
			r.detached = func(s *Server, se *session, _ ending) { ended[se.id] = s.now }
			r.accepts = func(m *message) bool {
				if at, gone := ended[m.publisher]; gone {
					m.arrived = at
				}
				return true
			}
		}},
}

// formatDefects are about properties that break the rules.
var formatDefects = []Defect{
	{"user-property-name-utf8-unchecked", []string{"v5/MQTT-1.5.7-1"}, "An ill-formed name of a User Property is taken.", Run,
		tolerate(packet.RuleUserPropertyNameUTF8)},
	{"user-property-name-surrogate-accepted", []string{"v5/MQTT-1.5.7-1"}, "A surrogate in the name of a User Property is taken.", Run,
		tolerate(packet.RuleUserPropertyNameSurrogate)},
	{"user-property-name-nul-accepted", []string{"v5/MQTT-1.5.7-1"}, "U+0000 in the name of a User Property is taken.", Run,
		tolerate(packet.RuleUserPropertyNameNUL)},
	{"user-property-value-utf8-unchecked", []string{"v5/MQTT-1.5.7-1"}, "An ill-formed value of a User Property is taken.", Run,
		tolerate(packet.RuleUserPropertyValueUTF8)},
	{"user-property-value-surrogate-accepted", []string{"v5/MQTT-1.5.7-1"}, "A surrogate in the value of a User Property is taken.", Run,
		tolerate(packet.RuleUserPropertyValueSurrogate)},
	{"user-property-value-nul-accepted", []string{"v5/MQTT-1.5.7-1"}, "U+0000 in the value of a User Property is taken.", Run,
		tolerate(packet.RuleUserPropertyValueNUL)},
	{"response-topic-utf8-unchecked", []string{"v5/MQTT-1.5.4-1", "v5/MQTT-3.3.2-13"}, "An ill-formed Response Topic is taken.", Run,
		tolerate(packet.RuleResponseTopicUTF8)},
	{"response-topic-surrogate-accepted", []string{"v5/MQTT-1.5.4-1", "v5/MQTT-3.3.2-13"}, "A surrogate in a Response Topic is taken.", Run,
		tolerate(packet.RuleResponseTopicSurrogate)},
	{"response-topic-nul-accepted", []string{"v5/MQTT-1.5.4-2", "v5/MQTT-3.3.2-13"}, "U+0000 in a Response Topic is taken.", Run,
		tolerate(packet.RuleResponseTopicNUL)},
	{"response-topic-wildcard-accepted", []string{"v5/MQTT-3.3.2-14"}, "A Response Topic with a wildcard is taken.", Warn,
		tolerate(packet.RuleResponseTopic)},
	{"content-type-utf8-unchecked", []string{"v5/MQTT-1.5.4-1", "v5/MQTT-3.3.2-19"}, "An ill-formed Content Type is taken.", Run,
		tolerate(packet.RuleContentTypeUTF8)},
	{"content-type-surrogate-accepted", []string{"v5/MQTT-1.5.4-1", "v5/MQTT-3.3.2-19"}, "A surrogate in a Content Type is taken.", Run,
		tolerate(packet.RuleContentTypeSurrogate)},
	{"content-type-nul-accepted", []string{"v5/MQTT-1.5.4-2", "v5/MQTT-3.3.2-19"}, "U+0000 in a Content Type is taken.", Run,
		tolerate(packet.RuleContentTypeNUL)},
	{"payload-format-twice-accepted", []string{"v5/3.3.2.3.2-publish-payload-format-indicator-twice"}, "A PUBLISH with two Payload Format Indicators is taken.", Warn,
		tolerate(packet.RulePublishPayloadFormatIndicatorTwice)},
	{"expiry-twice-accepted", []string{"v5/3.3.2.3.3-publish-message-expiry-interval-twice"}, "A PUBLISH with two Message Expiry Intervals is taken.", Warn,
		tolerate(packet.RulePublishMessageExpiryIntervalTwice)},
	{"response-topic-twice-accepted", []string{"v5/3.3.2.3.5-publish-response-topic-twice"}, "A PUBLISH with two Response Topics is taken.", Warn,
		tolerate(packet.RulePublishResponseTopicTwice)},
	{"correlation-data-twice-accepted", []string{"v5/3.3.2.3.6-publish-correlation-data-twice"}, "A PUBLISH with Correlation Data twice is taken.", Warn,
		tolerate(packet.RulePublishCorrelationDataTwice)},
	{"content-type-twice-accepted", []string{"v5/3.3.2.3.9-publish-content-type-twice"}, "A PUBLISH with two Content Types is taken.", Warn,
		tolerate(packet.RulePublishContentTypeTwice)},
	{"payload-format-value-unchecked", []string{"v5/3.3.2.3.2-payload-format-value"}, "Any Payload Format Indicator of a PUBLISH is taken.", Warn,
		tolerate(packet.RulePublishPayloadFormatValue)},
	{"will-properties-twice-accepted", []string{
		"v5/3.1.3.2.2-will-will-delay-interval-twice", "v5/3.1.3.2.3-will-payload-format-indicator-twice", "v5/3.1.3.2.4-will-message-expiry-interval-twice",
		"v5/3.1.3.2.5-will-content-type-twice", "v5/3.1.3.2.6-will-response-topic-twice", "v5/3.1.3.2.7-will-correlation-data-twice",
	}, "Will Properties that stand twice are taken.", Warn,
		tolerate(packet.RuleWillWillDelayIntervalTwice, packet.RuleWillPayloadFormatIndicatorTwice, packet.RuleWillMessageExpiryIntervalTwice,
			packet.RuleWillContentTypeTwice, packet.RuleWillResponseTopicTwice, packet.RuleWillCorrelationDataTwice)},
	{"will-payload-format-value-unchecked", []string{"v5/3.1.3.2.3-will-payload-format-value"}, "Any Payload Format Indicator of a will is taken.", Warn,
		tolerate(packet.RuleWillPayloadFormatValue)},
}

// forwards makes a defect of changing what travels with a message.
func forwards(change func(ps *packet.Properties)) func(*rules) {
	return func(r *rules) {
		r.forwarded = func(ps *packet.Properties) packet.Properties {
			sent := forwarded(ps)
			change(&sent)
			return sent
		}
	}
}

// sends makes a defect of changing each delivery to a client of MQTT 5.0.
func sends(change func(c *conn, p *packet.Publish)) func(*rules) {
	return func(r *rules) {
		r.outgoing = func(_ *Server, c *conn, p packet.Packet) []packet.Packet {
			if m, ok := p.(*packet.Publish); ok && c.five() {
				change(c, m)
			}
			return []packet.Packet{p}
		}
	}
}

// mapped changes a text where there is one.
func mapped(s *string, change func(string) string) *string {
	if s == nil {
		return nil
	}
	changed := change(*s)
	return &changed
}

// bare returns the message without what travels with it.
func (m *message) bare() *message {
	copied := *m
	copied.properties = packet.Properties{}
	return &copied
}
