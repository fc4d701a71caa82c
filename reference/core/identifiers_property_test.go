package core

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/leanovate/gopter"
	"github.com/leanovate/gopter/gen"
	"github.com/leanovate/gopter/prop"
)

// Packet Identifiers are given from 1 to 65535 and around again, never one that
// is in use, and none when all are. The outbox begins with all in use but a few.
func TestIdentifiersProperty(t *testing.T) {
	free := gen.SliceOfN(3, gen.UInt16Range(1, 65535))
	// What happens: a delivery is started, or the n-th of those that were started
	// last is finished.
	steps := gen.SliceOf(gen.IntRange(-3, 6))
	parameters := gopter.DefaultTestParametersWithSeed(1)
	parameters.MinSuccessfulTests, parameters.MaxSize = 25, 30
	properties := gopter.NewProperties(parameters)
	properties.Property("unique until all are in use", prop.ForAll(identifiers65535, free, gen.UInt16(), steps))
	properties.TestingRun(t)
}

// allInUse has a delivery under each Packet Identifier.
var allInUse = func() map[uint16]*delivery {
	all := map[uint16]*delivery{}
	for id := uint16(1); id != 0; id++ {
		all[id] = &delivery{message: &message{}, qos: 1, id: id}
	}
	return all
}()

// identifiers65535 returns what is wrong, "" for nothing.
func identifiers65535(free []uint16, next uint16, steps []int) string {
	o, c, r := newOutbox(), &conn{quota: 1 << 20}, standard()
	o.nextID = next
	isFree := map[uint16]bool{}
	for _, id := range free {
		isFree[id] = true
	}
	o.byID = maps.Clone(allInUse)
	maps.DeleteFunc(o.byID, func(id uint16, _ *delivery) bool { return isFree[id] })
	var script strings.Builder
	var started []*delivery
	for _, n := range steps {
		if n >= 0 && n < len(started) {
			d := started[len(started)-1-n]
			fmt.Fprintf(&script, "finish %d\n", d.id)
			o.finish(d)
			isFree[d.id] = true
			started = append(started[:len(started)-1-n], started[len(started)-n:]...)
			continue
		}
		d := &delivery{message: &message{}, qos: 1}
		ok := o.start(d, c, &r)
		fmt.Fprintf(&script, "start: %d %v\n", d.id, ok)
		if ok != (len(isFree) > 0) || ok && !isFree[d.id] {
			return fmt.Sprintf("of %v free ones: %d, %v\nThe script, after identifier %d:\n%s", isFree, d.id, ok, next, &script)
		}
		if ok {
			delete(isFree, d.id)
			started = append(started, d)
		}
	}
	if c.inFlight != len(started) {
		return fmt.Sprintf("%d are in flight, and %d counted\n%s", len(started), c.inFlight, &script)
	}
	return ""
}
