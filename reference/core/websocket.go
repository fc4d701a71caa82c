package core

import (
	"slices"
)

// Subprotocol is the name of MQTT among the subprotocols of WebSocket.
const Subprotocol = "mqtt"

// WebSocket are the decisions of a connection over WebSocket. The shell takes
// them; they stand here so that a Policy sets and a Defect replaces them like
// all others.
type WebSocket struct {
	// Subprotocol picks one of those that a client offers, "" for none.
	Subprotocol func(offered []string) string
	// RequiresSubprotocol refuses a handshake that leads to none.
	RequiresSubprotocol bool
	// TakesText reads text messages too; LosesText reads them and throws them
	// away. SendsText sends all in text messages.
	TakesText, LosesText, SendsText bool
	// Payload is what is taken of bytes that came together in one frame; where
	// it returns false the connection ends.
	Payload func(b []byte) ([]byte, bool)
	// JoinsFragments reads more than the first frame of a message.
	JoinsFragments bool
	// KeepsOverPing keeps what follows a ping in a message.
	KeepsOverPing bool
	// TakesQuery serves clients whose URI has a query.
	TakesQuery bool
}

func standardWebSocket() WebSocket {
	return WebSocket{
		Subprotocol:    pickSubprotocol,
		Payload:        func(b []byte) ([]byte, bool) { return b, true },
		JoinsFragments: true,
		KeepsOverPing:  true,
		TakesQuery:     true,
	}
}

// pickSubprotocol picks mqtt, wherever it stands. [v311/MQTT-6.0.0-4] [v5/MQTT-6.0.0-4]
func pickSubprotocol(offered []string) string {
	if slices.Contains(offered, Subprotocol) {
		return Subprotocol
	}
	return ""
}

// WebSocket returns what the shell has to decide by.
func (s *Server) WebSocket() WebSocket {
	w := s.rules.webSocket
	w.RequiresSubprotocol = s.policy.Subprotocol == "required"
	return w
}
