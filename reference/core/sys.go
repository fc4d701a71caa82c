package core

import (
	"fmt"
)

// sysSeconds is the time between two publications of the changing $SYS topics.
const sysSeconds = 2

// startSys publishes what does not change, retained.
// [v311/4.7.2-dollar-other-use] [v5/4.7.2-dollar-other-use]
func (s *Server) startSys() {
	if s.policy.Sys == "none" {
		return
	}
	s.publishServer("$SYS/broker/version", s.cfg.Version)
	s.publishSys()
}

// publishSys publishes what changes.
func (s *Server) publishSys() {
	s.publishServer("$SYS/broker/uptime", fmt.Sprintf("%d seconds", int(s.now.Sub(s.started)/s.cfg.Second)))
	s.publishServer("$SYS/broker/messages/received", fmt.Sprint(s.received))
	s.timers.set(timerKey{kind: sysTimer}, s.now.Add(s.seconds(sysSeconds)))
}

func (s *Server) publishServer(name, value string) {
	s.route(&message{topic: name, payload: []byte(value), retain: true, qos: 1, arrived: s.now})
}
