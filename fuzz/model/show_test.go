package model

import (
	"fmt"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
)

var kinds = map[play.Kind]string{
	play.Opened: "opened", play.Refused: "refused", play.Sent: "sent", play.Received: "received",
	play.Fenced: "fenced", play.Stuck: "stuck", play.Cut: "cut", play.Ended: "ended",
}

// show lists the events of a log.
func show(log *play.Log) string {
	var b strings.Builder
	for i, e := range log.Events {
		fmt.Fprintf(&b, "%3d step %d conn %d (%s) %s", i, e.Step, e.Conn, script.Name(log.Conns[e.Conn].Client), kinds[e.Kind])
		if e.Kind == play.Received {
			fmt.Fprintf(&b, " %v", e.Packet.Packet)
		}
		if e.Kind == play.Sent {
			fmt.Fprintf(&b, " % x", e.Bytes[:min(40, len(e.Bytes))])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
