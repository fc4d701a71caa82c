package model

import (
	"strings"

	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// odd tells whether a packet has characters that a server may refuse: control
// characters, and what is no character of Unicode [section 1.5.4, in MQTT 3.1.1
// 1.5.3].
func odd(p wire.Packet) bool {
	switch p := p.(type) {
	case wire.Connect:
		if p.Will != nil && (unusual(p.Will.Topic) || oddProperties(p.Will.Properties)) {
			return true
		}
		return unusual(p.ClientID) || oddProperties(p.Properties)
	case wire.Publish:
		return unusual(p.Topic) || oddProperties(p.Properties)
	case wire.Subscribe:
		for _, s := range p.Subscriptions {
			if unusual(s.Filter) {
				return true
			}
		}
		return oddProperties(p.Properties)
	case wire.Unsubscribe:
		for _, f := range p.Filters {
			if unusual(f) {
				return true
			}
		}
		return oddProperties(p.Properties)
	case wire.Ack:
		return oddProperties(p.Properties)
	case wire.Disconnect:
		return oddProperties(p.Properties)
	}
	return false
}

func oddProperties(ps wire.Properties) bool {
	for _, p := range ps {
		if unusual(p.Str) || unusual(p.Pair[0]) || unusual(p.Pair[1]) {
			return true
		}
	}
	return false
}

func unusual(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0xfdd0 && r <= 0xfdef || r&0xfffe == 0xfffe
	})
}
