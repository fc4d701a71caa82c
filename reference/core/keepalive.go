package core

import "github.com/mqttcheck/mqttcheck/reference/packet"

// startKeepAlive sets the time after which a silent client is cut off: one and
// a half Keep Alive, the client's or the server's. Keep Alive 0 turns it off.
// [v311/MQTT-3.1.2-24] [v311/3.1.2.10-keep-alive-zero] [v5/MQTT-3.1.2-22]
// [v5/MQTT-3.2.2-21] [v5/MQTT-3.2.2-22] [v5/3.1.2.10-keep-alive-zero]
func (s *Server) startKeepAlive(c *conn, seconds uint16) {
	if s.policy.ServerKeepAlive > 0 && c.five() {
		seconds = uint16(s.policy.ServerKeepAlive)
	}
	silence := s.rules.silence(seconds)
	if silence > 0 {
		silence += float64(s.policy.KeepAliveSlack)
	}
	c.keepAlive = s.seconds(silence)
	s.touch(c)
}

// touch restarts the time, at any packet of the client.
// [v5/3.1.2.10-other-packets-count] [v5/3.1.2.10-ping-any-time] [v311/3.1.2.10-ping-any-time]
func (s *Server) touch(c *conn) {
	if c.keepAlive > 0 && !c.ended {
		s.timers.set(timerKey{kind: keepAliveTimer, conn: c.id}, s.now.Add(c.keepAlive))
	}
}

// keepAliveExpired ends the connection as if the network had failed: the will
// is published. [v311/3.1.2.5-will-on-keep-alive] [v5/3.1.2.5-will-on-keep-alive-timeout]
func (s *Server) keepAliveExpired(c *conn) {
	if c.ended {
		return
	}
	s.bye(c, packet.KeepAliveTimeout, "nothing came for one and a half Keep Alive")
	s.close(c, silent)
}
