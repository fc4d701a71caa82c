package core

import (
	"github.com/mqttcheck/mqttcheck/reference/packet"
)

// webSocketDefects are of section 6.
var webSocketDefects = []Defect{
	{"ws-text-taken", []string{"v311/MQTT-6.0.0-1", "v5/MQTT-6.0.0-1"}, "A WebSocket text frame is read like a binary one.", Run,
		func(r *rules) { r.webSocket.TakesText = true }},
	{"ws-text-ignored", []string{"v311/MQTT-6.0.0-1", "v5/MQTT-6.0.0-1"}, "A WebSocket text frame is thrown away and the connection goes on.", Run,
		func(r *rules) { r.webSocket.TakesText, r.webSocket.LosesText = true, true }},
	{"ws-text-sent", []string{"v311/MQTT-6.0.0-1", "v5/MQTT-6.0.0-1"}, "All is sent in WebSocket text frames.", Run,
		func(r *rules) { r.webSocket.SendsText = true }},
	{"ws-frame-is-packet", []string{"v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2"}, "A WebSocket frame that ends within a packet ends the connection.", Run,
		func(r *rules) {
			r.webSocket.Payload = func(b []byte) ([]byte, bool) { return b, len(wholePackets(b, len(b))) == len(b) }
		}},
	{"ws-one-packet-a-frame", []string{"v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2"}, "Of several packets in one WebSocket frame the first is read.", Run,
		func(r *rules) {
			r.webSocket.Payload = func(b []byte) ([]byte, bool) {
				if first := wholePackets(b, 1); len(first) > 0 {
					return first, true
				}
				return b, true
			}
		}},
	{"ws-fragments-lost", []string{"v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2"}, "Of a fragmented WebSocket message the first frame is read.", Run,
		func(r *rules) { r.webSocket.JoinsFragments = false }},
	{"ws-ping-cuts", []string{"v311/MQTT-6.0.0-2", "v5/MQTT-6.0.0-2"}, "What follows a ping in a fragmented WebSocket message is thrown away.", Run,
		func(r *rules) { r.webSocket.KeepsOverPing = false }},
	{"ws-no-subprotocol", []string{"v311/MQTT-6.0.0-4", "v5/MQTT-6.0.0-4"}, "The handshake of a WebSocket is answered without a subprotocol.", Run,
		func(r *rules) { r.webSocket.Subprotocol = func([]string) string { return "" } }},
	{"ws-first-subprotocol", []string{"v311/MQTT-6.0.0-4", "v5/MQTT-6.0.0-4"}, "The handshake of a WebSocket returns the first subprotocol that the client offers.", Run,
		func(r *rules) {
			r.webSocket.Subprotocol = func(offered []string) string {
				if len(offered) == 0 {
					return ""
				}
				return offered[0]
			}
		}},
	{"ws-query-refused", []string{"v311/6-uri-no-impact", "v5/6-uri-no-impact"}, "A WebSocket whose URI has a query is closed after its handshake.", Warn,
		func(r *rules) { r.webSocket.TakesQuery = false }},
}

// wholePackets returns the whole packets that b begins with, at most so many.
func wholePackets(b []byte, most int) []byte {
	n := 0
	for range most {
		_, _, size, err := packet.SplitFrame(b[n:], packet.V5, func(packet.Rule) bool { return true })
		if err != nil || size == 0 {
			break
		}
		n += size
	}
	return b[:n]
}
