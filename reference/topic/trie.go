package topic

import "strings"

// Trie holds values under Topic Filters, each filter with several keys (the
// subscribers). The zero value is empty and ready. It is not safe for
// concurrent use.
//
// Levels that belong to one filter only share a node, so that a filter of
// 32768 levels takes little more memory than its text, and nothing recurses
// over levels.
type Trie[V any] struct {
	root node[V]
	n    int
}

type node[V any] struct {
	edge     string              // the levels between the parent and this node, at least one, joined by '/'
	children map[string]*node[V] // by the first level of their edge
	filter   string              // that of entries
	entries  map[string]V        // by key
}

// Len returns how many values there are.
func (t *Trie[V]) Len() int { return t.n }

// Add puts v under the filter and key, in place of what was there.
func (t *Trie[V]) Add(filter, key string, v V) {
	at := t.root.reach(filter)
	if at.entries == nil {
		at.entries, at.filter = map[string]V{}, filter
	}
	if _, there := at.entries[key]; !there {
		t.n++
	}
	at.entries[key] = v
}

// reach returns the node of a filter beneath n, which it makes where there is
// none.
func (n *node[V]) reach(filter string) *node[V] {
	for {
		child := n.children[firstLevel(filter)]
		if child == nil {
			// A copy, so that the tree keeps no more of a filter than it needs.
			child = &node[V]{edge: strings.Clone(filter)}
			n.adopt(child)
			return child
		}
		shared := commonLevels(child.edge, filter)
		if shared < len(child.edge) {
			child = n.split(child, shared)
		}
		if shared == len(filter) {
			return child
		}
		n, filter = child, filter[shared+1:]
	}
}

func (n *node[V]) adopt(child *node[V]) {
	if n.children == nil {
		n.children = map[string]*node[V]{}
	}
	n.children[firstLevel(child.edge)] = child
}

// split puts a new node between n and its child, at bytes down the edge.
func (n *node[V]) split(child *node[V], at int) *node[V] {
	delete(n.children, firstLevel(child.edge))
	middle := &node[V]{edge: strings.Clone(child.edge[:at])}
	child.edge = strings.Clone(child.edge[at+1:])
	middle.adopt(child)
	n.adopt(middle)
	return middle
}

// firstLevel returns what stands before the first '/'.
func firstLevel(s string) string {
	level, _, _ := strings.Cut(s, "/")
	return level
}

// commonLevels returns how many bytes the levels take that a and b, which have
// their first level in common, both begin with.
func commonLevels(a, b string) int {
	i, whole := 0, 0
	for ; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			whole = i
		}
	}
	if (i == len(a) || a[i] == '/') && (i == len(b) || b[i] == '/') {
		return i
	}
	return whole
}

// Remove takes away what is under the filter and key, and reports whether
// there was anything.
func (t *Trie[V]) Remove(filter, key string) bool {
	path := []*node[V]{&t.root}
	for rest, more := filter, true; more; {
		child := path[len(path)-1].children[firstLevel(rest)]
		if child == nil || commonLevels(child.edge, rest) != len(child.edge) {
			return false
		}
		if more = len(rest) > len(child.edge); more {
			rest = rest[len(child.edge)+1:]
		}
		path = append(path, child)
	}
	at := path[len(path)-1]
	if _, there := at.entries[key]; !there {
		return false
	}
	delete(at.entries, key)
	t.n--
	if len(at.entries) > 0 {
		return true
	}
	at.entries, at.filter = nil, ""
	parent := path[len(path)-2]
	parent.tidy(at)
	if len(path) > 2 {
		path[len(path)-3].tidy(parent)
	}
	return true
}

// tidy takes out a child of n that holds nothing, or joins it with the only
// child that it has.
func (n *node[V]) tidy(child *node[V]) {
	if len(child.entries) > 0 || len(child.children) > 1 {
		return
	}
	delete(n.children, firstLevel(child.edge))
	for _, only := range child.children {
		only.edge = child.edge + "/" + only.edge
		n.adopt(only)
	}
}

// place is a place in the tree as deep as the levels that were looked at: in
// the middle of the edge to n, or at n itself.
type place[V any] struct {
	n    *node[V]
	rest string // the levels of the edge that are left
	more bool   // whether there are any; an empty rest may be one empty level
}

// Match calls found for every value whose filter matches the Topic Name: the
// filters in an order that depends on the tree only, the keys of a filter in
// any order. All places at one depth are looked at together, and there are no
// more of them than filters: the time is at most the levels of the name times
// the number of filters, however these nest their wildcards.
func (t *Trie[V]) Match(name string, found func(filter, key string, v V)) {
	at, next := []place[V]{{n: &t.root}}, []place[V](nil)
	wildcards := !strings.HasPrefix(name, "$") // [v311/MQTT-4.7.2-1] [v5/MQTT-4.7.2-1]
	for level := range strings.SplitSeq(name, "/") {
		next = next[:0]
		for _, p := range at {
			if wildcards {
				p.reportHash(found)
				next = p.step("+", next)
			}
			if level != "+" && level != "#" {
				next = p.step(level, next)
			}
		}
		at, next = next, at
		wildcards = true
		if len(at) == 0 {
			return
		}
	}
	for _, p := range at {
		if !p.more {
			p.n.report(found)
		}
		p.reportHash(found) // [v311/4.7.1.2-hash-includes-parent] [v5/4.7.1.2-hash-includes-parent]
	}
}

// step appends the place one level further, if the tree goes on with it.
func (p place[V]) step(level string, to []place[V]) []place[V] {
	n, rest := p.n, p.rest
	if !p.more {
		if n = n.children[level]; n == nil {
			return to
		}
		rest = n.edge
	}
	first, rest, more := strings.Cut(rest, "/")
	if first != level {
		return to
	}
	return append(to, place[V]{n, rest, more})
}

// reportHash reports the filter that goes on with '#' and ends there.
func (p place[V]) reportHash(found func(filter, key string, v V)) {
	if p.more {
		if p.rest == "#" {
			p.n.report(found)
		}
	} else if hash := p.n.children["#"]; hash != nil && hash.edge == "#" {
		hash.report(found)
	}
}

func (n *node[V]) report(found func(filter, key string, v V)) {
	for key, v := range n.entries {
		found(n.filter, key, v)
	}
}
