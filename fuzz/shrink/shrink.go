// Package shrink makes a script that shows something as small as it can: fewer
// clients, fewer steps, fewer bytes, no pauses. Each step is confirmed by
// playing what is left.
package shrink

import (
	"context"
	"slices"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// Limits of one shrinking.
type Limits struct {
	Plays int           // at most so many (default 300)
	Time  time.Duration // at most so long (default 60 s)
	// Fits tells which candidates may be played at all; nil lets each.
	Fits func(script.Script) bool
}

// Result is what is left, and what it took.
type Result struct {
	Script script.Script
	Plays  int
	Whole  bool // nothing more can be taken away; false when a limit was reached
}

// Script returns the smallest script found for which shows still is true. It
// is true of s itself.
func Script(ctx context.Context, s script.Script, l Limits, shows func(script.Script) bool) Result {
	if l.Plays == 0 {
		l.Plays = 300
	}
	if l.Time == 0 {
		l.Time = time.Minute
	}
	k := &shrinker{best: s, shows: shows, fits: l.Fits, left: l.Plays, tried: map[string]bool{}}
	ctx, cancel := context.WithTimeout(ctx, l.Time)
	defer cancel()
	k.over = func() bool { return k.left <= 0 || ctx.Err() != nil }
	for changed := true; changed && !k.over(); {
		changed = k.clients()
		changed = k.steps() || changed
		changed = k.plain() || changed
		changed = k.packets() || changed
		changed = k.bytes() || changed
	}
	return Result{Script: k.best, Plays: l.Plays - k.left, Whole: !k.over()}
}

type shrinker struct {
	best  script.Script
	shows func(script.Script) bool
	fits  func(script.Script) bool
	left  int
	tried map[string]bool // candidates, in their text form
	over  func() bool
}

// try keeps a candidate that still shows it.
func (k *shrinker) try(s script.Script) bool {
	text := s.String()
	if k.over() || k.tried[text] {
		return false
	}
	k.tried[text] = true
	if k.fits != nil && !k.fits(s) {
		return false
	}
	k.left--
	if !k.shows(s) {
		return false
	}
	k.best = s
	return true
}

// clients takes away whole clients.
func (k *shrinker) clients() (changed bool) {
	for _, c := range k.best.Clients() {
		less := slices.DeleteFunc(slices.Clone(k.best), func(st script.Step) bool { return st.Op != script.Pause && st.Client == c })
		if len(less) > 0 && k.try(less) {
			changed = true
		}
	}
	return changed
}

// steps takes away runs of steps: halves, quarters, and single ones at last.
func (k *shrinker) steps() (changed bool) {
	for n := max(1, len(k.best)/2); n >= 1; n /= 2 {
		for at := len(k.best) - n; at >= 0; at -= n {
			if at+n > len(k.best) {
				continue
			}
			if k.try(slices.Delete(slices.Clone(k.best), at, at+n)) {
				changed = true
			}
		}
	}
	return changed
}

// plain takes away pauses and the splitting of writes.
func (k *shrinker) plain() (changed bool) {
	for i := range k.best {
		if k.best[i].Split > 0 {
			changed = k.with(i, func(st *script.Step) { st.Split = 0 }) || changed
		}
		if k.best[i].Pause > time.Millisecond {
			changed = k.with(i, func(st *script.Step) { st.Pause /= 4 }) || changed
		}
	}
	return changed
}

// with tries a change of one step.
func (k *shrinker) with(i int, change func(*script.Step)) bool {
	s := slices.Clone(k.best)
	change(&s[i])
	return k.try(s)
}

// packets replaces well-formed packets by simpler ones.
func (k *shrinker) packets() (changed bool) {
	versions := map[int]wire.Version{}
	for i := 0; i < len(k.best); i++ {
		st := k.best[i]
		if st.Op == script.Open {
			versions[st.Client] = st.Version
		}
		if st.Op != script.Send {
			continue
		}
		for _, simpler := range simplify(st.Bytes, versions[st.Client]) {
			if len(simpler) < len(k.best[i].Bytes) && k.with(i, func(st *script.Step) { st.Bytes = simpler }) {
				changed = true
			}
		}
	}
	return changed
}

// bytes cuts what is sent: from the end, and out of the middle with the
// Remaining Length made to fit.
func (k *shrinker) bytes() (changed bool) {
	versions := map[int]wire.Version{}
	for i := 0; i < len(k.best); i++ {
		if k.best[i].Op == script.Open {
			versions[k.best[i].Client] = k.best[i].Version
		}
		if k.best[i].Op != script.Send || wellFormed(k.best[i].Bytes, versions[k.best[i].Client]) {
			continue // of a whole packet its fields are made small
		}
		for k.piece(i, versions[k.best[i].Client]) {
			changed = true
		}
		for n := len(k.best[i].Bytes) / 2; n >= 1; n /= 2 {
			for at := len(k.best[i].Bytes) - n; at >= 0; at -= n {
				if k.best[i].Op != script.Send || at+n > len(k.best[i].Bytes) {
					continue
				}
				changed = k.cut(i, at, n) || changed
			}
		}
	}
	return changed
}

// piece leaves out a piece of a packet that does not parse.
func (k *shrinker) piece(i int, v wire.Version) bool {
	for _, less := range pieces(k.best[i].Bytes, v) {
		if k.with(i, func(st *script.Step) { st.Bytes = less }) {
			return true
		}
	}
	return false
}

// cut takes n bytes out of a step, first with the lengths that enclose them
// made to fit, then without.
func (k *shrinker) cut(i, at, n int) bool {
	b := k.best[i].Bytes
	less := slices.Concat(b[:at], b[at+n:])
	for _, fitted := range fit(b, less, at, n) {
		if k.with(i, func(st *script.Step) { st.Bytes = fitted }) {
			return true
		}
	}
	return false
}

// fit returns what is left after n bytes were taken out at a place, with the
// Remaining Length, and with a 16-bit length before the place, made to fit.
func fit(b, less []byte, at, n int) [][]byte {
	var list [][]byte
	size, ok := wire.FrameSize(b)
	if !ok || size != len(b) || at < 2 || len(less) < 2 {
		if len(less) == 0 {
			return nil
		}
		return [][]byte{less}
	}
	_, used, err := wire.Varint(b[1:])
	if err != nil || at < 1+used {
		return [][]byte{less}
	}
	body := less[1+used:]
	from := at - 1 - used
	for back := 2; back <= from && back < 70; back++ {
		length := int(body[from-back])<<8 | int(body[from-back+1])
		if length >= n+back-2 && length <= n+len(body) && length-n >= back-2 {
			whole := slices.Clone(body)
			whole[from-back], whole[from-back+1] = byte((length-n)>>8), byte(length-n)
			list = append(list, wire.WithBody(b[:1:1], whole))
		}
	}
	return append(list, wire.WithBody(b[:1:1], body))
}
