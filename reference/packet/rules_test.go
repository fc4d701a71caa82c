package packet_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mqttcheck/mqttcheck/reference/packet"
	"github.com/mqttcheck/mqttcheck/specs/normative"
)

var (
	citation = regexp.MustCompile(`\[(v(?:311|5)/[^\]]+)\]`)
	name     = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
)

// TestRulesAreTheConstants: Rules says what the constants and their comments
// say.
func TestRulesAreTheConstants(t *testing.T) {
	comments := map[string]string{} // by the value of the constant
	files, err := filepath.Glob("rules_*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
				if lit, ok := v.Values[0].(*ast.BasicLit); ok {
					value, _ := strconv.Unquote(lit.Value)
					comments[value] = v.Names[0].Name + "\n" + v.Doc.Text()
				}
			}
			return true
		})
	}
	for _, r := range packet.Rules() {
		comment, ok := comments[string(r.Rule)]
		if !ok {
			t.Errorf("%s is no constant", r.Rule)
			continue
		}
		delete(comments, string(r.Rule))
		constant, doc, _ := strings.Cut(comment, "\n")
		if !strings.HasPrefix(doc, constant+": "+r.Sentence+".") {
			t.Errorf("%s: the comment is %q", r.Rule, doc)
		}
		var cited []string
		for _, m := range citation.FindAllStringSubmatch(doc, -1) {
			cited = append(cited, m[1])
		}
		if !slices.Equal(cited, r.Keys) {
			t.Errorf("%s: the comment cites %q, Rules says %q", r.Rule, cited, r.Keys)
		}
	}
	for value := range comments {
		t.Errorf("%s is missing in Rules", value)
	}
}

// TestRulesServeStatements: every rule has a sound name, a sentence, and keys
// of the catalogue, and groups are rules themselves.
func TestRulesServeStatements(t *testing.T) {
	seen := map[packet.Rule]bool{}
	groups := map[packet.Rule]bool{}
	for _, r := range packet.Rules() {
		if seen[r.Rule] {
			t.Errorf("%s stands twice", r.Rule)
		}
		seen[r.Rule] = true
		if r.Group != "" {
			groups[r.Group] = true
		}
		if r.Rule.Group() != r.Group {
			t.Errorf("%s: Group gives %q, Rules %q", r.Rule, r.Rule.Group(), r.Group)
		}
		if !name.MatchString(string(r.Rule)) || r.Sentence == "" || strings.HasSuffix(r.Sentence, ".") {
			t.Errorf("%s: %q", r.Rule, r.Sentence)
		}
		for _, key := range r.Keys {
			if _, ok := normative.Lookup(key); !ok {
				t.Errorf("%s: no statement %s; near are %v", r.Rule, key, normative.Nearest(key, 2))
			}
		}
	}
	for _, r := range packet.Rules() {
		if groups[r.Rule] && r.Group != "" {
			t.Errorf("the group %s is in a group", r.Rule)
		}
		if len(r.Keys) == 0 && !groups[r.Rule] {
			t.Errorf("%s serves no statement", r.Rule)
		}
	}
	for g := range groups {
		if !seen[g] {
			t.Errorf("the group %s is no rule", g)
		}
	}
}

// TestStatementsOfFormatHaveARule: every statement against properties that
// stand twice, against values and places of properties, has a rule.
func TestStatementsOfFormatHaveARule(t *testing.T) {
	served := map[string]bool{}
	for _, r := range packet.Rules() {
		for _, key := range r.Keys {
			served[key] = true
		}
	}
	form := regexp.MustCompile(`-twice$|-not-for-(?:connect|will|publish|acks|subscribe|unsubscribe|disconnect|auth)$|-maximum-zero$|-size-zero$|-id-zero$|^v5/.*-(?:information|format|available|qos)-value$`)
	found := map[string]bool{}
	for _, st := range normative.All("v311", "v5") {
		if form.MatchString(st.Key) {
			found[st.Key] = true
			if !served[st.Key] {
				t.Errorf("no rule serves %s: %s", st.Key, st.Summary)
			}
		}
	}
	if len(found) < 49+8+15 {
		t.Errorf("only %d statements found: %v", len(found), slices.Sorted(maps.Keys(found)))
	}
}
