package core

// Limits against hostile clients. What a connection or a Session may take is
// bounded before anything is kept.
const (
	maxPacketSize    = 4 << 20   // bytes of one packet once CONNECT is accepted
	maxConnectSize   = 400 << 10 // bytes of the CONNECT: five fields of 64 KiB and change
	connectSeconds   = 10        // until CONNECT has come
	maxQueue         = 20_000    // messages that wait for one Session
	maxQueueBytes    = 64 << 20  // of their payloads
	maxSubscriptions = 10_000    // of one Session
	maxRetained      = 200_000   // retained messages
	maxRetainedBytes = 512 << 20 // of their payloads
	maxSessions      = 200_000   // Sessions, connected or not
	maxLevels        = 70_000    // more than a Topic Name can have
	slowBytes        = 1 << 20   // unwritten bytes from which a client is slow
	maxPendingBytes  = 16 << 20  // unwritten bytes at which it is cut off
)

// pendingBytes takes note of how much waits to be written to a client. While
// it is much, QoS 0 messages for the client are dropped and the others wait in
// the Session.
func (s *Server) pendingBytes(c *conn, n int) {
	if n > maxPendingBytes {
		s.close(c, failed)
		return
	}
	c.slow = n > slowBytes
	if !c.slow && c.session != nil && c.session.conn == c {
		s.flush(c.session)
	}
}
