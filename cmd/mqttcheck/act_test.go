package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/onsi/ginkgo/v2/types"

	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// act plays a child of run: what each check does is in its name.
//
//	passes, fails    the verdict
//	dies             ends the process with a word on stderr
//	dies-once FILE   ends the process unless FILE exists, which it makes
//	dawdles          takes half a second
//	hangs            goes on until it is interrupted
//	deaf             goes on and hears no interrupt
//	garbles          prints what is no line of the protocol
//	misses KIND      waited in vain for a kind of packet, briefly where told to
//	sees KIND        got one
func act(stdin io.Reader, stdout io.Writer) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	out := json.NewEncoder(stdout)
	orders := make(chan order)
	var enough atomic.Bool
	go func() {
		defer close(orders)
		for in := json.NewDecoder(stdin); ; {
			var o order
			if in.Decode(&o) != nil {
				return
			}
			enough.Store(o.GiveBack)
			if o.Batch != nil {
				orders <- o
			}
		}
	}()
	for o := range orders {
		for _, name := range o.Batch.Names {
			if enough.Load() {
				break
			}
			_ = out.Encode(line{Start: name})
			what, argument, _ := strings.Cut(strings.Fields(name)[3], ":")
			r := types.SpecReport{
				ContainerHierarchyTexts: []string{"MQTT 3.1.1", "acts"},
				LeafNodeType:            types.NodeTypeIt,
				LeafNodeText:            strings.TrimPrefix(name, "MQTT 3.1.1 acts "),
				State:                   types.SpecStatePassed,
			}
			switch what {
			case "fails":
				r = entered(r, "verdict", probe.Outcome{Verdict: "fail", Reason: "it fails"})
			case "dies":
				fmt.Fprintln(os.Stderr, "panic: last words")
				os.Exit(7)
			case "dies-once":
				if _, err := os.Stat(argument); err != nil {
					_ = os.WriteFile(argument, nil, 0o600)
					os.Exit(7)
				}
			case "garbles":
				fmt.Fprintln(os.Stdout, "no JSON at all")
			case "hangs":
				<-signals
				r.State = types.SpecStateInterrupted
			case "dawdles":
				time.Sleep(500 * time.Millisecond)
			case "deaf":
				signal.Ignore(os.Interrupt, syscall.SIGTERM)
				time.Sleep(time.Minute)
			case "misses":
				r = entered(r, "waits", probe.Waits{Expired: map[string]int{argument: 1}})
				verdict := "fail"
				if o.Batch.Target.Unseen[argument] {
					verdict = "inconclusive"
				}
				r = entered(r, "verdict", probe.Outcome{Verdict: verdict, Reason: verdict})
			case "sees":
				r = entered(r, "waits", probe.Waits{Seen: map[string]bool{argument: true}})
			}
			raw, err := json.Marshal(r)
			if err != nil {
				panic(err)
			}
			_ = out.Encode(line{Spec: (*json.RawMessage)(&raw)})
			if r.State == types.SpecStateInterrupted {
				return
			}
		}
		_ = out.Encode(line{Done: true})
	}
}

// entered returns the report with one more entry.
func entered(r types.SpecReport, name string, v any) types.SpecReport {
	r.ReportEntries = append(r.ReportEntries, types.ReportEntry{Name: name, Value: types.WrapEntryValue(v)})
	return r
}

// actors returns checks that a child plays, by what they do.
func actors(parts ...string) []check {
	out := make([]check, len(parts))
	for i, part := range parts {
		text := fmt.Sprintf("%s #%d", part, i)
		out[i] = check{
			Name: "MQTT 3.1.1 acts " + text, Versions: []string{"v311"},
			preview: types.SpecReport{
				ContainerHierarchyTexts: []string{"MQTT 3.1.1", "acts"}, LeafNodeText: text, LeafNodeType: types.NodeTypeIt,
			},
		}
	}
	return out
}
