package topic

import "strings"

// Trie holds values under Topic Filters, each filter with several keys. The
// zero value is empty and ready. It is not safe for concurrent use.
type Trie[V any] struct {
	root node[V]
	n    int
}

type node[V any] struct {
	children map[string]*node[V]
	filter   string // of entries
	entries  map[string]V
}

// Len returns how many values there are.
func (t *Trie[V]) Len() int { return t.n }

// Add puts v under the filter and key, in place of what was there.
func (t *Trie[V]) Add(filter, key string, v V) {
	at := &t.root
	for level := range strings.SplitSeq(filter, "/") {
		next := at.children[level]
		if next == nil {
			if at.children == nil {
				at.children = map[string]*node[V]{}
			}
			next = &node[V]{}
			at.children[level] = next
		}
		at = next
	}
	if at.entries == nil {
		at.entries, at.filter = map[string]V{}, filter
	}
	if _, there := at.entries[key]; !there {
		t.n++
	}
	at.entries[key] = v
}

// Remove takes away what is under the filter and key, and reports whether
// there was anything.
func (t *Trie[V]) Remove(filter, key string) bool {
	levels := strings.Split(filter, "/")
	path := make([]*node[V], 0, len(levels)+1)
	at := &t.root
	path = append(path, at)
	for _, level := range levels {
		if at = at.children[level]; at == nil {
			return false
		}
		path = append(path, at)
	}
	if _, there := at.entries[key]; !there {
		return false
	}
	delete(at.entries, key)
	t.n--
	for i := len(levels); i > 0 && len(path[i].entries) == 0 && len(path[i].children) == 0; i-- {
		delete(path[i-1].children, levels[i-1])
	}
	return true
}

// Match calls found for every value whose filter matches the Topic Name. The
// nodes at one depth are looked at together, so the time is bounded by the
// filters that exist, however the levels are nested.
func (t *Trie[V]) Match(name string, found func(filter, key string, v V)) {
	report := func(n *node[V]) {
		if n != nil {
			for key, v := range n.entries {
				found(n.filter, key, v)
			}
		}
	}
	at := []*node[V]{&t.root}
	first := true
	for level := range strings.SplitSeq(name, "/") {
		dollar := first && strings.HasPrefix(level, "$") // [v311/MQTT-4.7.2-1] [v5/MQTT-4.7.2-1]
		first = false
		var next []*node[V]
		for _, n := range at {
			if !dollar {
				report(n.children["#"])
				if plus := n.children["+"]; plus != nil {
					next = append(next, plus)
				}
			}
			if exact := n.children[level]; exact != nil && level != "#" && level != "+" {
				next = append(next, exact)
			}
		}
		if at = next; len(at) == 0 {
			return
		}
	}
	for _, n := range at {
		report(n)
		report(n.children["#"]) // '#' includes the parent level
	}
}
