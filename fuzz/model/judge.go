package model

import (
	"fmt"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Finding is something that the broker did and was not allowed to do, or did
// not do and had to.
type Finding struct {
	// Key names the rule, in lower case with hyphens.
	Key string
	// Text says what was seen.
	Text string
	// Step is the step of the script that was carried out when it was seen.
	Step int
	// Absence tells that something did not come: a second playing with more
	// patience has to confirm it.
	Absence bool
}

// judgement collects findings.
type judgement struct {
	h        *history
	profile  *Profile
	findings []Finding
	seen     map[string]bool
}

// find notes a finding, the first of each key.
func (j *judgement) find(c *conn, at int, key, format string, args ...any) {
	if j.seen[key] {
		return
	}
	j.seen[key] = true
	step := len(j.h.log.Script)
	if at < len(j.h.log.Events) {
		step = j.h.log.Events[at].Step
	}
	text := fmt.Sprintf("client %s: ", script.Name(j.h.log.Conns[c.index].Client)) + fmt.Sprintf(format, args...)
	j.findings = append(j.findings, Finding{Key: key, Text: text, Step: step})
}

// missing is find for what did not come.
func (j *judgement) missing(c *conn, at int, key, format string, args ...any) {
	n := len(j.findings)
	j.find(c, at, key, format, args...)
	if len(j.findings) > n {
		j.findings[n].Absence = true
	}
}

// Judge returns what was wrong in a conversation whose topics begin with the
// prefix. The profile may be nil.
func Judge(log *play.Log, prefix string, p *Profile) []Finding {
	h := read(log)
	j := &judgement{h: h, profile: p, seen: map[string]bool{}}
	h.sessions(j)
	h.requests(j)
	h.endings(j)
	h.deliveries(j, prefix)
	h.losses(j)
	h.takeovers(j)
	h.resumed(j)
	return j.findings
}

// requests judges that what a client asks for is answered [sections 3.1.4,
// 3.8.4, 3.10.4, 3.12.4 and 4.3].
func (h *history) requests(j *judgement) {
	for _, c := range h.conns {
		if len(c.fences) == 0 || c.refused {
			continue
		}
		fenced := c.fences[len(c.fences)-1]
		for _, r := range c.requests {
			switch {
			case r.at >= c.taint:
			case r.answered == never && r.at < fenced:
				j.missing(c, fenced, "unanswered-"+strings.ToLower(r.kind.String()), "no %s with Packet Identifier %d has come", r.kind, r.id)
			case r.answered < never && !enough(r, c.version):
				j.find(c, r.answered, "codes-"+strings.ToLower(r.kind.String()), "%s has not one code for each of %d filters", r.kind, r.codes)
			}
		}
	}
}

func enough(r *request, v wire.Version) bool {
	switch p := r.answer.(type) {
	case wire.Suback:
		return len(p.Codes) == r.codes
	case wire.Unsuback:
		return v != wire.V5 || len(p.Codes) == r.codes
	}
	return true
}

// endings judges that no connection is ended on a client that keeps to the
// rules.
func (h *history) endings(j *judgement) {
	for _, c := range h.conns {
		if c.ended == never || c.cut < c.ended || c.taint < never || c.bye < never || c.refused || c.connect == nil || c.over() != c.ended {
			continue
		}
		if c.accepted == never && c.connect.ClientID == "" {
			continue // refusing it is a freedom
		}
		if !h.alone(c) {
			continue // another connection may have taken over
		}
		j.find(c, c.ended, "closed-for-nothing", "the broker ended the connection, and the client had kept to the rules")
	}
}

// BrokenConnect tells whether the CONNECT of a connection breaks the rules: what it
// says of the client's limits binds nobody.
func BrokenConnect(log *play.Log, conn int) bool {
	c := read(log).conns[conn]
	return c.connect == nil || c.taint <= c.asked
}

// Tainted tells whether the client of a connection has broken the rules.
func Tainted(log *play.Log, conn int) bool { return read(log).conns[conn].taint < never }
