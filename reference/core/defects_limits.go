package core

import (
	"maps"

	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// limitDefects are the faults in what both sides announce: Topic Aliases,
// Maximum Packet Size, Request Problem Information.
var limitDefects = []Defect{
	{"alias-0-accepted", []string{"v5/MQTT-3.3.2-8", "v5/3.3.2.3.4-alias-zero"}, "Topic Alias 0 is taken as any other.", Warn,
		func(r *rules) {
			r.refusesAlias = func(alias uint16, maximum int) bool { return int(alias) > maximum }
		}},
	{"alias-maximum-ignored", []string{"v5/MQTT-3.2.2-17", "v5/MQTT-3.2.2-18", "v5/MQTT-3.3.2-9", "v5/3.3.2.3.4-alias-above-maximum", "v5/3.1.2.11.5-topic-alias-maximum-default"}, "A Topic Alias above the announced maximum is taken.", Warn,
		func(r *rules) { r.refusesAlias = func(alias uint16, _ int) bool { return alias == 0 } }},
	{"alias-error-code", []string{"v5/3.3.2.3.4-alias-zero", "v5/3.3.2.3.4-alias-above-maximum", "v5/MQTT-3.2.2-18", "v5/3.1.2.11.5-topic-alias-maximum-default"}, "A Topic Alias that is not valid is called a Protocol Error.", Warn,
		disconnectsWith(packet.TopicAliasInvalid, packet.ProtocolError)},
	{"last-alias-refused", []string{"v5/MQTT-3.3.2-12"}, "The Topic Alias that equals the announced maximum is refused.", Run,
		func(r *rules) {
			r.refusesAlias = func(alias uint16, maximum int) bool { return alias == 0 || int(alias) >= maximum }
		}},
	{"unknown-alias-ignored", []string{"v5/3.3.2.3.4-alias-unknown"}, "A PUBLISH with a Topic Alias that is not set is acknowledged and dropped.", Warn,
		func(r *rules) { r.unknownAlias = func(uint16) (string, bool) { return "", true } }},
	{"alias-twice-accepted", []string{"v5/3.3.2.3.4-publish-topic-alias-twice"}, "A PUBLISH with two Topic Aliases is taken.", Warn,
		tolerate(packet.RulePublishTopicAliasTwice)},
	{"alias-never-changed", []string{"v5/3.3.2.3.4-alias-change"}, "A Topic Alias keeps the first Topic Name that it was sent with.", Run,
		func(r *rules) {
			r.notesAlias = func(c *conn, p *packet.Publish) bool { return c.aliasesIn[*p.Properties.TopicAlias] == "" }
		}},
	{"alias-not-set-at-qos-0", []string{"v5/3.3.2.3.4-alias-set-and-use"}, "A PUBLISH at QoS 0 sets no Topic Alias.", Run,
		func(r *rules) { r.notesAlias = func(_ *conn, p *packet.Publish) bool { return p.QoS > 0 } }},
	{"alias-forgotten-once-used", []string{"v5/3.3.2.3.4-alias-set-and-use", "v5/3.3.2.3.4-alias-change", "v5/3.3.2.3.4-alias-directions-independent"}, "A Topic Alias can be used once.", Run,
		func(r *rules) {
			used := map[*conn]map[uint16]bool{}
			r.incoming = func(_ *Server, c *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.Topic == "" && m.Properties.TopicAlias != nil {
					if alias := *m.Properties.TopicAlias; used[c][alias] {
						delete(c.aliasesIn, alias)
					} else {
						used[c] = map[uint16]bool{alias: true}
					}
				}
				return p
			}
		}},
	{"alias-without-retain", []string{"v5/3.3.2.3.4-alias-set-and-use"}, "RETAIN is lost where a Topic Alias stands alone.", Run,
		func(r *rules) {
			r.incoming = func(_ *Server, _ *conn, p packet.Packet) packet.Packet {
				if m, ok := p.(*packet.Publish); ok && m.Topic == "" {
					m.Retain = false
				}
				return p
			}
		}},
	{"aliases-carried-over", []string{"v5/MQTT-3.3.2-7"}, "Topic Aliases belong to the Session, and not to the connection.", Run,
		func(r *rules) {
			kept := map[string]map[uint16]string{}
			r.attached = func(_ *Server, se *session, _ bool) {
				if kept[se.id] == nil {
					kept[se.id] = map[uint16]string{}
				}
				se.conn.aliasesIn = kept[se.id]
			}
		}},
	{"aliases-of-everybody", []string{"v5/MQTT-3.3.2-7"}, "A Topic Alias that a client has not set is taken as another client has set it.", Run,
		func(r *rules) {
			all := map[uint16]string{}
			r.notesAlias = func(_ *conn, p *packet.Publish) bool {
				all[*p.Properties.TopicAlias] = p.Topic
				return true
			}
			r.unknownAlias = func(alias uint16) (string, bool) {
				name, ok := all[alias]
				return name, ok
			}
		}},
	{"alias-passed-on", []string{"v5/MQTT-3.1.2-27"}, "The Topic Alias of the publisher is passed on to subscribers.", Run,
		func(r *rules) {
			r.forwarded = func(ps *packet.Properties) packet.Properties {
				all := forwarded(ps)
				all.TopicAlias = ps.TopicAlias
				return all
			}
		}},
	{"aliases-unasked", []string{"v5/MQTT-3.1.2-27", "v5/3.1.2.11.5-topic-alias-maximum-default", "v5/MQTT-6.0.0-2"}, "A client that takes no Topic Alias gets one.", Run,
		func(r *rules) { r.aliasesGiven = func(maximum uint16) uint16 { return max(1, maximum) } }},
	{"one-alias-too-many", []string{"v5/MQTT-3.1.2-26", "v5/MQTT-3.3.2-11"}, "A client gets a Topic Alias more than it takes.", Run,
		func(r *rules) {
			r.aliasesGiven = func(maximum uint16) uint16 { return maximum + min(maximum, 1) }
		}},
	{"aliases-from-0", []string{"v5/MQTT-3.3.2-8"}, "The Topic Aliases of the server begin with 0.", Run,
		func(r *rules) { r.nextAlias = func(given int) uint16 { return uint16(given) } }},
	{"alias-given-twice", []string{"v5/3.3.2.3.4-alias-set-and-use"}, "The server gives all topics the same Topic Alias.", Run,
		func(r *rules) { r.nextAlias = func(int) uint16 { return 1 } }},
	{"server-aliases-carried-over", []string{"v5/3.3.2.3.4-alias-unknown"}, "The server uses the Topic Aliases that it has set on an earlier connection of the Session.", Run,
		func(r *rules) {
			kept := map[string]map[string]uint16{}
			r.attached = func(_ *Server, se *session, _ bool) { maps.Copy(se.conn.aliasesOut, kept[se.id]) }
			r.aliasGiven = func(c *conn, _ uint16, _ string) { kept[c.session.id] = c.aliasesOut }
		}},
	{"alias-set-unsent", []string{"v5/3.3.2.3.4-alias-unknown"}, "A message that is too large for the client sets a Topic Alias.", Run,
		func(r *rules) { r.aliasesOnlySent = false }},
	{"one-alias-table", []string{"v5/3.3.2.3.4-alias-directions-independent"}, "A Topic Alias of the server changes what the client's alias of that number means.", Run,
		func(r *rules) {
			r.aliasGiven = func(c *conn, alias uint16, name string) { c.aliasesIn[alias] = name }
		}},
}

// disconnectsWith makes a defect of giving another code in DISCONNECT.
func disconnectsWith(right, wrong packet.ReasonCode) func(*rules) {
	return func(r *rules) {
		r.disconnectCode = func(code packet.ReasonCode) packet.ReasonCode {
			if code == right {
				return wrong
			}
			return code
		}
	}
}
