package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/generate"
	"github.com/mqttcheck/mqttcheck/fuzz/script"
	"github.com/mqttcheck/mqttcheck/specs/wire"
)

// corpus is a folder that outlives a campaign:
//
//	conversations/*.mqr   the first conversation for each situation and each kind of answer
//	FuzzDecode/*          what its clients sent, for the native fuzz target of that name
//	next-SEED             the number of the conversation that the seed goes on with
type corpus struct {
	dir  string
	keys map[string]bool // of what is kept
	old  []generate.Case // of former campaigns: they are had again first
}

// kept is the oracle of a conversation that is no finding.
const kept = "corpus"

const mostKept = 2000

// openCorpus reads the folder, and goes on where the last campaign of the seed
// has ended.
func (c *campaign) openCorpus() error {
	if c.o.Corpus == "" {
		return nil
	}
	k := &corpus{dir: c.o.Corpus, keys: map[string]bool{}}
	for _, dir := range []string{k.conversations(), k.native()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("the corpus: %w", err)
		}
	}
	files, err := filepath.Glob(filepath.Join(k.conversations(), "*"+finding.Extension))
	if err != nil {
		return fmt.Errorf("the corpus: %w", err)
	}
	for _, path := range files {
		f, err := finding.Load(path)
		if err != nil {
			c.note("the corpus: %s is left out: %v", filepath.Base(path), err)
			continue
		}
		k.keys[f.Key] = true
		if speaks(f.Script, c.o.Versions) {
			k.old = append(k.old, generate.Case{Script: f.Script, Prefix: f.Prefix, Broken: -1, Origin: "corpus " + filepath.Base(path)})
		}
	}
	if text, err := os.ReadFile(k.next(c.o.Seed)); err == nil && c.o.First == 0 {
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil {
			c.o.First = n
			c.next.Store(n)
		}
	}
	c.corpus = k
	return nil
}

func (k *corpus) conversations() string { return filepath.Join(k.dir, "conversations") }
func (k *corpus) native() string        { return filepath.Join(k.dir, "FuzzDecode") }
func (k *corpus) next(seed uint64) string {
	return filepath.Join(k.dir, fmt.Sprintf("next-%d", seed))
}

// speaks tells whether a script uses these versions only.
func speaks(s script.Script, versions []wire.Version) bool {
	for _, st := range s {
		ok := st.Op != script.Open
		for _, v := range versions {
			ok = ok || st.Version == v
		}
		if !ok {
			return false
		}
	}
	return true
}

// share is the part of what was kept that a worker has again.
func (k *corpus) share(worker, workers int) []generate.Case {
	if k == nil {
		return nil
	}
	var list []generate.Case
	for i := worker; i < len(k.old); i += workers {
		list = append(list, k.old[i])
	}
	return list
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9.]+`)

// keep keeps a conversation that has brought something new. The lock of the
// campaign is held.
func (k *corpus) keep(c generate.Case, seed uint64, keys []string) error {
	if k == nil || len(k.keys) >= mostKept {
		return nil
	}
	var failed error
	for _, key := range keys {
		if k.keys[key] {
			continue
		}
		k.keys[key] = true
		f := finding.File{Oracle: kept, Key: key, Prefix: c.Prefix, Seed: c.Name(seed), Script: c.Script}
		_, err := f.Save(k.conversations())
		failed = errors.Join(failed, err, k.export(key, c.Script))
	}
	return failed
}

// export writes what each client sends as inputs of the native target
// FuzzDecode: the bytes, the version, and that they come from a client.
func (k *corpus) export(key string, s script.Script) error {
	var failed error
	for _, client := range s.Clients() {
		var stream []byte
		version := wire.V311
		for _, st := range s {
			switch {
			case st.Client != client:
			case st.Op == script.Open:
				version = st.Version
			case st.Op == script.Send:
				stream = append(stream, st.Bytes...)
			}
		}
		if len(stream) == 0 || len(stream) > 4096 {
			continue
		}
		text := fmt.Sprintf("go test fuzz v1\n[]byte(%q)\nbyte('\\x%02x')\nbyte('\\x01')\n", stream, byte(version))
		name := strings.Trim(unfit.ReplaceAllString(key, "-"), "-") + "-" + script.Name(client)
		failed = errors.Join(failed, os.WriteFile(filepath.Join(k.native(), name), []byte(text), 0o644))
	}
	return failed
}

// close notes where the next campaign goes on.
func (k *corpus) close(seed, next uint64) error {
	if k == nil {
		return nil
	}
	return os.WriteFile(k.next(seed), fmt.Appendf(nil, "%d\n", next), 0o644)
}
