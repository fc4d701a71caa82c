package topic_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// naive is matching written down as the specification tells it, level by
// level. [section 4.7]
func naive(filter, name []string, first bool) bool {
	if len(filter) == 0 {
		return len(name) == 0
	}
	dollar := first && strings.HasPrefix(name[0], "$")
	switch {
	case filter[0] == "#":
		return !dollar
	case len(name) == 0:
		return false
	case filter[0] == "+":
		return !dollar && naive(filter[1:], name[1:], false)
	}
	return filter[0] == name[0] && naive(filter[1:], name[1:], false)
}

func levels(s string) []string { return strings.Split(s, "/") }

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		section, filter, name string
		want                  bool
	}{
		{"4.7.1.2", "sport/tennis/player1/#", "sport/tennis/player1", true},
		{"4.7.1.2", "sport/tennis/player1/#", "sport/tennis/player1/score/wimbledon", true},
		{"4.7.1.2", "sport/#", "sport", true},
		{"4.7.1.2", "#", "a/b", true},
		{"4.7.1.3", "sport/tennis/+", "sport/tennis/player1", true},
		{"4.7.1.3", "sport/tennis/+", "sport/tennis/player1/ranking", false},
		{"4.7.1.3", "sport/+", "sport", false},
		{"4.7.1.3", "sport/+", "sport/", true},
		{"4.7.1.3", "+/+", "/finance", true},
		{"4.7.1.3", "/+", "/finance", true},
		{"4.7.1.3", "+", "/finance", false},
		{"4.7.2", "#", "$SYS/a", false},
		{"4.7.2", "+/monitor/Clients", "$SYS/monitor/Clients", false},
		{"4.7.2", "$SYS/#", "$SYS/a", true},
		{"4.7.2", "$SYS/monitor/+", "$SYS/monitor/Clients", true},
		{"4.7.2", "a/+", "a/$b", true},
		{"4.7.3", "ACCOUNTS", "Accounts", false},
		{"4.7.3", "a//b", "a/b", false},
		{"4.7.3", "a/", "a", false},
		{"4.7.3", "\u00e9", "e\u0301", false},
	} {
		if got := topic.Match(c.filter, c.name); got != c.want {
			t.Errorf("%s: %q matches %q: %v", c.section, c.filter, c.name, got)
		}
		if naive(levels(c.filter), levels(c.name), true) != c.want {
			t.Errorf("%s: the naive matcher is wrong about %q and %q", c.section, c.filter, c.name)
		}
	}
}

func TestValidity(t *testing.T) {
	for s, want := range map[string]error{
		"a": nil, "/": nil, "a/ b/\ufeff": nil, "$SYS/x": nil,
		"": topic.ErrEmpty, "a\x00": topic.ErrUTF8, "\xed\xa0\x80": topic.ErrUTF8, "a/#": topic.ErrWildcard, "a+": topic.ErrWildcard,
	} {
		if err := topic.ValidName(s); !errors.Is(err, want) {
			t.Errorf("name %q: %v", s, err)
		}
	}
	for s, want := range map[string]error{
		"#": nil, "a/#": nil, "/#": nil, "+": nil, "+/a/+": nil, "+/+/#": nil, "//": nil,
		"": topic.ErrEmpty, "a\x00": topic.ErrUTF8, "a#": topic.ErrHash, "#/": topic.ErrHash, "a/#/b": topic.ErrHash, "##": topic.ErrHash,
		"a+": topic.ErrPlus, "+a": topic.ErrPlus, "a/b+/c": topic.ErrPlus, "++": topic.ErrPlus,
	} {
		if err := topic.ValidFilter(s); !errors.Is(err, want) {
			t.Errorf("filter %q: %v", s, err)
		}
	}
}

func TestParseShared(t *testing.T) {
	for s, want := range map[string]string{
		"$share/g/a": "g a true", "$share/g//a": "g /a true", "$share/g/#": "g # true", "$shared/g/a": " $shared/g/a false", "a": " a false",
	} {
		group, inner, shared, err := topic.ParseShared(s)
		if got := fmt.Sprint(group, " ", inner, " ", shared); err != nil || got != want {
			t.Errorf("%q: %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"$share", "$share/", "$share//a", "$share/g", "$share/g/", "$share/+/a", "$share/g#/a"} {
		if _, _, _, err := topic.ParseShared(s); !errors.Is(err, topic.ErrShare) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

// TestTrie holds a trie against a list of filters through random changes.
func TestTrie(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(words ...string) string {
		parts := make([]string, 1+r.IntN(4))
		for i := range parts {
			parts[i] = words[r.IntN(len(words))]
		}
		return strings.Join(parts, "/")
	}
	var trie topic.Trie[int]
	list := map[string]int{}
	for step := range 5000 {
		filter, key := random("a", "b", "", "$s", "+", "+", "#"), string(rune('k'+r.IntN(3)))
		if topic.ValidFilter(filter) != nil {
			continue
		}
		_, there := list[filter+" "+key]
		if r.IntN(2) == 0 {
			trie.Add(filter, key, step)
			list[filter+" "+key] = step
		} else if trie.Remove(filter, key) != there {
			t.Fatalf("step %d: Remove(%q, %q) is not %v", step, filter, key, there)
		} else {
			delete(list, filter+" "+key)
		}
		name := random("a", "b", "", "$s")
		if topic.ValidName(name) != nil {
			continue
		}
		var got, want []string
		trie.Match(name, func(f, k string, v int) { got = append(got, fmt.Sprint(f, " ", k, v)) })
		for fk, v := range list {
			if f, _, _ := strings.Cut(fk, " "); naive(levels(f), levels(name), true) {
				want = append(want, fmt.Sprint(fk, v))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) || trie.Len() != len(list) {
			t.Fatalf("step %d: %q: %v, want %v", step, name, got, want)
		}
	}
}

// TestDeepLevels: 32767 levels of '+' and a name that branches at each of them
// are matched in time that grows with the number of filters only.
func TestDeepLevels(t *testing.T) {
	var trie topic.Trie[int]
	deep := strings.Repeat("+/", 32767) + "+"
	trie.Add(deep, "k", 1)
	for n := range 18 {
		for mask := range 4 {
			trie.Add(strings.Repeat([]string{"a/", "+/", "a/+/", "+/a/"}[mask], n)+"#", fmt.Sprint(n), n)
		}
	}
	began, hits := time.Now(), 0
	trie.Match(strings.Repeat("a/", 32767)+"a", func(string, string, int) { hits++ })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if hits != 70 { // one of '+' levels; 4 x 18 of '#', where the four of n = 0 are one
		t.Errorf("%d hits", hits)
	}
	if !topic.Match(deep, strings.Repeat("a/", 32767)+"a") || !trie.Remove(deep, "k") {
		t.Error("the deep filter is not found")
	}
}

// FuzzMatch holds Match and the trie against the naive matcher.
func FuzzMatch(f *testing.F) {
	for _, s := range [][2]string{{"a/#", "a"}, {"+/+", "/a"}, {"#", "$SYS"}, {"+/a", "$x/a"}, {"a//+", "a//"}, {"/#", "/"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, filter, name string) {
		if topic.ValidFilter(filter) != nil || topic.ValidName(name) != nil {
			return
		}
		want := naive(levels(filter), levels(name), true)
		if topic.Match(filter, name) != want {
			t.Fatalf("Match(%q, %q) is not %v", filter, name, want)
		}
		var trie topic.Trie[int]
		trie.Add(filter, "k", 1)
		hits := 0
		trie.Match(name, func(string, string, int) { hits++ })
		if hits > 1 || hits == 1 != want {
			t.Fatalf("the trie has %d hits for %q and %q", hits, filter, name)
		}
		if !trie.Remove(filter, "k") || trie.Len() != 0 {
			t.Fatal("the filter cannot be removed")
		}
	})
}

// FuzzValid holds the judgement of names and filters against one that goes by
// characters and levels.
func FuzzValid(f *testing.F) {
	for _, s := range []string{"a/b", "#", "a/#", "a#", "a/#/b", "+", "a+", "/+/", "\x00", "\xff", "\ufeff", "\ud7ff", "\uffff", "$share/g/t", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := s != "" && len(s) <= 65535
		for _, r := range s {
			text = text && r != 0
		}
		text = text && strings.ToValidUTF8(s, "") == s
		filter := text
		for i, level := range levels(s) {
			filter = filter && (level == "+" || !strings.Contains(level, "+"))
			filter = filter && (level == "#" && i == len(levels(s))-1 || !strings.Contains(level, "#"))
		}
		if topic.ValidName(s) == nil != (text && !strings.Contains(s, "+") && !strings.Contains(s, "#")) {
			t.Errorf("the name %q: %v", s, topic.ValidName(s))
		}
		if topic.ValidFilter(s) == nil != filter {
			t.Errorf("the filter %q: %v", s, topic.ValidFilter(s))
		}
		if group, inner, shared, err := topic.ParseShared(s); shared && (err != nil || "$share/"+group+"/"+inner != s || group == "" || inner == "") {
			t.Errorf("%q is the share %q of %q, %v", s, group, inner, err)
		}
	})
}

// TestDeepMemory: filters of many levels take memory in proportion to their
// text, and give it back.
func TestDeepMemory(t *testing.T) {
	var trie topic.Trie[int]
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	filter := func(i int) string {
		return strings.Repeat("+/", 100*i) + strings.Repeat("a/", 32000-100*i) + fmt.Sprint(i)
	}
	for i := range 100 {
		trie.Add(filter(i), "k", i)
	}
	if grown := int64(heap()) - int64(before); grown > 100*4*65536 {
		t.Errorf("100 filters of 64 KiB take %d bytes", grown)
	}
	for i := range 100 {
		if !trie.Remove(filter(i), "k") {
			t.Fatalf("filter %d is not there", i)
		}
	}
	if grown := int64(heap()) - int64(before); grown > 1<<20 {
		t.Errorf("%d bytes are kept for nothing", grown)
	}
	runtime.KeepAlive(&trie)
}

// TestTooLong: 65535 bytes are the limit of a string. [section 4.7.3]
func TestTooLong(t *testing.T) {
	s := strings.Repeat("é", 32767) + "a"
	if topic.ValidName(s) != nil || topic.ValidFilter(s) != nil {
		t.Error("65535 bytes are refused")
	}
	if !errors.Is(topic.ValidName(s+"a"), topic.ErrLong) || !errors.Is(topic.ValidFilter(s+"a"), topic.ErrLong) {
		t.Error("65536 bytes are accepted")
	}
}

// FuzzTrie carries out adds, removals and matches on a trie and on a list:
// one operation a line, "+filter", "-filter" or a name to match.
func FuzzTrie(f *testing.F) {
	f.Add("+a/b/c\n+a/b\na/b\na/b/c\n-a/b\na/b/c\n+a/#\na\n-a/b/c\na/b/c")
	f.Add("+//\n+/+/\n+/\n/\n//\n-//\n//\n+#\n+a/b#/c\n$a/b")
	f.Fuzz(func(t *testing.T, script string) {
		var trie topic.Trie[int]
		list := map[string]bool{}
		for line := range strings.SplitSeq(script, "\n") {
			if filter, ok := strings.CutPrefix(line, "+"); ok {
				trie.Add(filter, "k", 1)
				list[filter] = true
			} else if filter, ok := strings.CutPrefix(line, "-"); ok {
				if trie.Remove(filter, "k") != list[filter] {
					t.Fatalf("Remove(%q) is not %v", filter, list[filter])
				}
				delete(list, filter)
			} else if topic.ValidName(line) == nil {
				var got, want []string
				trie.Match(line, func(f, _ string, _ int) {
					if topic.ValidFilter(f) == nil {
						got = append(got, f)
					}
				})
				for f := range list {
					if topic.ValidFilter(f) == nil && topic.Match(f, line) {
						want = append(want, f)
					}
				}
				slices.Sort(got)
				slices.Sort(want)
				if !slices.Equal(got, want) {
					t.Fatalf("%q matches %q, want %q", line, got, want)
				}
			}
			if trie.Len() != len(list) {
				t.Fatalf("%d values, want %d", trie.Len(), len(list))
			}
		}
	})
}
