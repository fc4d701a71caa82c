package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestZZScan(t *testing.T) {
	raw, err := os.ReadFile(os.Getenv("ZZKEYS"))
	if err != nil {
		t.Skip()
	}
	t.Setenv("MQTTCHECK_URL", "")
	keys := strings.Fields(string(raw))
	chosen := chosenDefects(t, "ZZ")
	inParallel(len(chosen), 2, func(i int) {
		d := chosen[i]
		tr := tryOnce(t, d, keys, "--timeout", "250ms", "--second", "50ms")
		if len(tr.kills) == 0 && len(tr.faults) == 0 {
			return
		}
		bad := map[string]string{}
		for _, k := range tr.kills {
			if slices.Contains(keys, k.statement) && !slices.Contains(d.Breaks, k.statement) {
				bad[k.statement] += k.verdict + ": " + k.check + "; "
			}
		}
		for k, v := range bad {
			fmt.Println("SURPLUS", d.Name, k, v)
		}
		for _, key := range d.Breaks {
			if slices.Contains(keys, key) && !tr.moves(key) {
				fmt.Println("MISSING", d.Name, key)
			}
		}
		for _, f := range tr.faults {
			fmt.Println("FAULT", d.Name, f)
		}
	})
}
