package topic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/commands"
	"github.com/leanovate/gopter/gen"

	"github.com/mqttcheck/mqttcheck/reference/topic"
)

// both is a trie and a list of what should be in it, and the script of what was
// done, in the form of FuzzTrie.
type both struct {
	trie   topic.Trie[int]
	list   map[[2]string]int // filter and key
	script strings.Builder
	fault  string
}

func (b *both) do(op string, key string, value int) {
	rest := op[1:]
	at := [2]string{rest, key}
	switch op[0] {
	case '+':
		fmt.Fprintln(&b.script, op)
		b.trie.Add(rest, key, value)
		b.list[at] = value
	case '-':
		fmt.Fprintln(&b.script, op)
		_, want := b.list[at]
		delete(b.list, at)
		if b.trie.Remove(rest, key) != want {
			b.fault = fmt.Sprintf("Remove(%q, %q) is not %v", rest, key, want)
		}
	default:
		fmt.Fprintln(&b.script, rest)
		b.match(rest)
	}
	if b.trie.Len() != len(b.list) {
		b.fault = fmt.Sprintf("%d values, want %d", b.trie.Len(), len(b.list))
	}
}

func (b *both) match(name string) {
	var got, want []string
	b.trie.Match(name, func(filter, key string, v int) { got = append(got, fmt.Sprint(filter, " ", key, " ", v)) })
	for at, v := range b.list {
		if naive(levels(at[0]), levels(name), true) {
			want = append(want, fmt.Sprint(at[0], " ", at[1], " ", v))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		b.fault = fmt.Sprintf("%q matches %q, want %q", name, got, want)
	}
}

// someText makes a name or filter of few levels, so that they meet.
func someText(n int, wildcards bool) string {
	parts := []string{"a", "b", "", "aa", "+", "+"}
	if !wildcards {
		parts = []string{"a", "b", "", "aa", "$x", "ab"}
	}
	var list []string
	for ; len(list) == 0 || n > 0; n /= 6 {
		list = append(list, parts[n%6])
	}
	text := strings.Join(list, "/")
	if wildcards && n%2 == 0 && len(list) > 1 && list[0] == "b" {
		text += "/#"
	}
	switch {
	case text == "" && wildcards:
		return "#"
	case text == "":
		return "/"
	}
	return text
}

// A trie holds and finds what a list holds and finds.
func TestTrieProperty(t *testing.T) {
	counterexample := ""
	command := func(op string) func(int) commands.Command {
		return func(n int) commands.Command {
			text := op + someText(n/3, op != "?")
			return &commands.ProtoCommand{
				Name: text,
				RunFunc: func(sut commands.SystemUnderTest) commands.Result {
					b := sut.(*both)
					if b.fault == "" {
						b.do(text, fmt.Sprint("k", n%3), n)
					}
					return b
				},
				PostConditionFunc: func(_ commands.State, result commands.Result) *gopter.PropResult {
					b := result.(*both)
					if b.fault == "" {
						return &gopter.PropResult{Status: gopter.PropTrue}
					}
					counterexample = b.fault + "\nThe script:\n" + b.script.String()
					return &gopter.PropResult{Status: gopter.PropFalse}
				},
			}
		}
	}
	numbers := gen.IntRange(0, 4000)
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests, parameters.MaxSize = 500, 80
	result := commands.Prop(&commands.ProtoCommands{
		NewSystemUnderTestFunc: func(commands.State) commands.SystemUnderTest { return &both{list: map[[2]string]int{}} },
		InitialStateGen:        gen.Const(commands.State(0)),
		GenCommandFunc: func(commands.State) gopter.Gen {
			return gen.OneGenOf(numbers.Map(command("+")), numbers.Map(command("-")), numbers.Map(command("?")))
		},
	}).Check(parameters)
	if !result.Passed() {
		t.Errorf("%s after %d sequences: %s", result.Status, result.Succeeded, counterexample)
	}
}
