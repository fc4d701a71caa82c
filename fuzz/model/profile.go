package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Profile counts which freedoms the broker was seen to use. It is safe for
// concurrent use.
type Profile struct {
	mu   sync.Mutex
	seen map[string]map[string]int
}

// saw notes a value of a freedom. On nil it does nothing.
func (p *Profile) saw(freedom, value string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[string]map[string]int{}
	}
	if p.seen[freedom] == nil {
		p.seen[freedom] = map[string]int{}
	}
	p.seen[freedom][value]++
}

// Lines describes what the broker was seen to do, a line for each freedom.
func (p *Profile) Lines() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []string
	for _, freedom := range slices.Sorted(maps.Keys(p.seen)) {
		var values []string
		for _, v := range slices.Sorted(maps.Keys(p.seen[freedom])) {
			values = append(values, fmt.Sprintf("%s (%d)", v, p.seen[freedom][v]))
		}
		list = append(list, freedom+": "+strings.Join(values, ", "))
	}
	return list
}
