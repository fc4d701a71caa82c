package fuzz_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mutantsEnv is the environment variable under which the mutants are built and run.
const mutantsEnv = "MQTTCHECK_MUTANTS"

// mutants are faults made by hand in the code that a property guards: one place of a
// file is written otherwise, and the test has to fail and say so. The properties of the
// server as a whole find defects of the reference broker instead, in every run of the
// tests: TestPropertiesFindDefects of reference/core.
var mutants = []struct {
	name         string
	pkg, test    string
	file         string // of the fault, from the root
	old, instead string
	says         string // stands in the output
}{
	{"identifier-in-use", "./reference/core", "TestIdentifiersProperty", "reference/core/inflight.go",
		"for d.id == 0 || !r.freeID(o, d.id) {", "for d.id == 0 {", "! unique until all are in use: Falsified"},
	{"identifier-not-freed", "./reference/core", "TestIdentifiersProperty", "reference/core/inflight.go",
		"\t\tdelete(o.byID, d.id)\n\t}\n\tfor len(o.open)", "\t\tdelete(o.byID, 0)\n\t}\n\tfor len(o.open)", "! unique until all are in use: Falsified"},
	{"trie-dollar", "./reference/topic", "TestTrieProperty", "reference/topic/trie.go",
		`wildcards := !strings.HasPrefix(name, "$")`, `wildcards := true`, "FAILED after"},
	{"trie-join", "./reference/topic", "TestTrieProperty", "reference/topic/trie.go",
		`only.edge = child.edge + "/" + only.edge`, `only.edge = child.edge + only.edge`, "FAILED after"},
	{"dup-not-written", "./reference/packet", "TestRoundTrip", "reference/packet/encode.go",
		"flags = bit(p.Dup, 3) | p.QoS<<1", "flags = p.QoS<<1", "! packets of level 4: Falsified"},
	{"no-local-elsewhere", "./reference/packet", "TestRoundTrip", "reference/packet/encode.go",
		"s.QoS|bit(s.NoLocal, 2)", "s.QoS|bit(s.NoLocal, 3)", "! packets of level 5: Falsified"},
	{"tester-without-dup", "./fuzz", "TestCodecsAgree", "specs/wire/append.go",
		"bit(p.Dup, 3)|p.QoS<<1&0x06", "p.QoS<<1&0x06", "! packets of level 4: Falsified"},
	{"tester-without-properties", "./fuzz", "TestCodecsAgree", "specs/wire/append.go",
		"if v == V5 && (p.Code != 0 || p.Properties != nil) {", "if v == V5 && p.Code != 0 {", "! packets of level 5: Falsified"},
	{"properties-in-order-only", "./fuzz", "TestOrderOfProperties", "reference/packet/decode_properties.go",
		"seen |= 1 << id", "seen |= 2<<id - 1", "! any order is the same packet: Falsified"},
}

// TestMutantsAreKilled builds each mutant, with the file replaced by an overlay of the
// go command, and runs the test that guards it.
func TestMutantsAreKilled(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			path := filepath.Join(root, filepath.FromSlash(m.file))
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), m.old); n != 1 {
				t.Fatalf("%q stands %d times in %s: the mutant has to follow the code", m.old, n, m.file)
			}
			if os.Getenv(mutantsEnv) == "" {
				return // it takes seconds to build one
			}
			dir := t.TempDir()
			mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
			replaced, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutant}})
			if err != nil {
				t.Fatal(err)
			}
			for file, b := range map[string][]byte{mutant: []byte(strings.Replace(string(text), m.old, m.instead, 1)), overlay: replaced} {
				if err := os.WriteFile(file, b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "go", "test", "-overlay", overlay, "-count=1", "-run", "^"+m.test+"$", m.pkg)
			cmd.Dir = root
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL: "+m.test) || !strings.Contains(string(out), m.says) {
				t.Errorf("%s does not kill it: %v\n%.4000s", m.test, err, out)
			}
		})
	}
}

// TestEachPropertyHasAMutant: each property kills a mutant or finds a defect that was
// planted.
func TestEachPropertyHasAMutant(t *testing.T) {
	planted, err := os.ReadFile(filepath.Join("..", "reference", "core", "planted_property_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	killing := map[string]bool{}
	for _, m := range mutants {
		killing[m.test] = true
	}
	stateful := regexp.MustCompile(`\{ (\w+)\.check\(t\) \}`)
	found := 0
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") || d.Name() == "mutants_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, body := range strings.Split(string(text), "\nfunc ") {
			name, _, _ := strings.Cut(body, "(")
			model := stateful.FindStringSubmatch(body)
			if !strings.HasPrefix(name, "Test") || model == nil && !strings.Contains(body, "gopter.DefaultTestParameters") {
				continue
			}
			found++
			if !killing[name] && (model == nil || !strings.Contains(string(planted), "{"+model[1]+".search, ")) {
				t.Errorf("%s: nothing shows that %s finds a fault", path, name)
			}
		}
		return err
	})
	if err != nil || found < 11 {
		t.Errorf("%d properties are found, %v", found, err)
	}
}
