package core

import (
	"maps"
	"slices"
	"strings"
)

// Holding is what a server keeps on behalf of its clients, by name and in
// order.
type Holding struct {
	Connections   int
	Sessions      []string // Client Identifiers, of those who are connected too
	Subscriptions []string // Client Identifier, a space and the Topic Filter
	Retained      []string // Topic Names, but those of $SYS
}

// Empty tells whether the server keeps nothing for anybody.
func (h Holding) Empty() bool {
	return h.Connections == 0 && len(h.Sessions)+len(h.Subscriptions)+len(h.Retained) == 0
}

// Connections returns how many connections there are.
func (s *Server) Connections() int { return len(s.conns) }

// Holding returns what the server keeps at the moment.
func (s *Server) Holding() Holding {
	h := Holding{Connections: len(s.conns), Sessions: slices.Sorted(maps.Keys(s.sessions))}
	for _, id := range h.Sessions {
		for _, filter := range slices.Sorted(maps.Keys(s.sessions[id].subs)) {
			h.Subscriptions = append(h.Subscriptions, id+" "+filter)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.retained.byTopic)) {
		if !strings.HasPrefix(name, "$SYS/") {
			h.Retained = append(h.Retained, name)
		}
	}
	return h
}
