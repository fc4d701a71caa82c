package generate

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mqttcheck/mqttcheck/fuzz/script"
)

// scriptsEnv is the environment variable that says of how many conversations the
// text is read back.
const scriptsEnv = "MQTTCHECK_SCRIPTS"

// TestConversationsAreReadBack: the text of each conversation is read as the same
// steps. FuzzParse of fuzz/script holds it of what people may write.
func TestConversationsAreReadBack(t *testing.T) {
	most := uint64(3000)
	if text := os.Getenv(scriptsEnv); text != "" {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			t.Fatalf("%s: %v", scriptsEnv, err)
		}
		most = n
	}
	g := New(Options{Seed: 11})
	var next, steps, size atomic.Uint64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for n := next.Add(1) - 1; n < most && !t.Failed(); n = next.Add(1) - 1 {
				s := g.Case(n).Script
				steps.Add(uint64(len(s)))
				text := s.Append(nil)
				size.Add(uint64(len(text)))
				again, err := script.Parse(bytes.NewReader(text))
				if err != nil {
					t.Errorf("conversation %d: %v\n%s", n, err, text)
				} else if at := differs(s, again); at >= 0 {
					t.Errorf("conversation %d: step %d of %d is read as another\n%s", n, at+1, len(s), text)
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d conversations, %d steps, %d bytes of text", most, steps.Load(), size.Load())
}

// differs returns the first step in which two scripts differ, -1 for none.
func differs(one, other script.Script) int {
	for i := range max(len(one), len(other)) {
		if i >= len(one) || i >= len(other) || !one[i].Equal(other[i]) {
			return i
		}
	}
	return -1
}
