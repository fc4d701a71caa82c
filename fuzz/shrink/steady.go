package shrink

import (
	"context"
	"slices"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
)

// Surely is how often in a row a script shows something that is said to show it
// each time.
const Surely = 8

// Steady makes a small script show what it shows each time: where it depends on
// which of two clients the broker serves first, fences tell it, and ends of
// connections that are waited for. Fences that are not needed are left out. Each time
// is l.Plays times in a row. A script that stays unsteady is returned as it is.
func Steady(ctx context.Context, s script.Script, l Limits, shows func(script.Script) bool) script.Script {
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	always := func(s script.Script) bool {
		for range l.Plays {
			if ctx.Err() != nil || !shows(s) {
				return false
			}
		}
		return true
	}
	if always(s) {
		return s
	}
	firm := fenced(s)
	if !always(firm) {
		if firm = ended(firm); !always(firm) {
			return s
		}
	}
	for at := len(firm) - 1; at >= 0; at-- {
		if less := slices.Delete(slices.Clone(firm), at, at+1); firm[at].Op == script.Fence && always(less) {
			firm = less
		}
	}
	return firm
}

// ended ends the connections one by one: what is left open at the end of a script is
// dropped all at once.
func ended(s script.Script) script.Script {
	s = slices.Clone(s)
	for _, client := range s.Clients() {
		s = append(s, script.Step{Client: client, Op: script.Finish})
	}
	return s
}

// fenced puts a fence behind everything that is sent.
func fenced(s script.Script) script.Script {
	var firm script.Script
	for i, st := range s {
		firm = append(firm, st)
		if st.Op == script.Send && (i+1 == len(s) || s[i+1].Op != script.Fence || s[i+1].Client != st.Client) {
			firm = append(firm, script.Step{Client: st.Client, Op: script.Fence})
		}
	}
	return firm
}
