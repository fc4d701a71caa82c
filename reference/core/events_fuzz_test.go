package core

import (
	"testing"
)

// FuzzEvents has several clients of both versions do whatever the input says,
// with virtual time and crashes of the server. What must be true at any time is
// checked after each event; at the end every message of QoS 1 and 2 that was
// taken over has been delivered.
func FuzzEvents(f *testing.F) {
	f.Add([]byte("\x00\x01\x04\x00\x09\x00\x0d\x02"))
	f.Add([]byte("\x00\x00\x00\x01\x04\x00\x0e\x00\x04\x00\x11\x00\x0d\x00"))
	f.Add([]byte("\x40\x05\x41\x06\x42\x07\x43\x08\x44\x09\x45\x0a\x46\x0b\x47\x0c\x48\x0d\x49\x0e"))
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newFlows(t)
		for i := 0; i+1 < min(len(data), 200) && w.fault == ""; i += 2 {
			op, n := int(data[i]), int(data[i+1])
			if op < 0x40 {
				flowSteps[op%len(flowSteps)](n).do(w)
				continue
			}
			w.others(op, n)
		}
		w.settle()
		if w.fault != "" {
			t.Fatalf("%s\nThe script:\n%s", w.fault, &w.out)
		}
	})
}

// others does something with clients beside the publisher and the subscriber.
func (f *flows) others(op, n int) {
	name := string(rune('a' + n%3))
	version := []string{"", "v5"}[n/3%2]
	connected := f.clients[name] != nil
	if !connected {
		op = 0
	}
	topics := []string{"x", "x/y", "z"}
	filters := []string{"#", "x/#", "+", "$share/g/x", "$share/g/#", "z"}
	switch op % 12 {
	case 0:
		f.say("%s connect %s %s expiry=%d receive=%d aliases=%d will=z:gone delay=%d", name, version, []string{"", "clean"}[n/6%2], n%5*2, 1+n%3, n%4, n%3)
	case 1, 2:
		f.say("%s subscribe %s %d subid=%d", name, filters[n%6], n/6%3, 1+n%2)
	case 3:
		f.say("%s unsubscribe %s", name, filters[n%6])
	case 4, 5, 6:
		f.say("%s publish %s %d q%d id=%d %s expiry=%d", name, topics[n%3], n, n/3%3, 1+n%7, []string{"", "retain", "dup"}[n/9%3], n%4)
	case 7:
		f.say("%s %s %d", name, []string{"puback", "pubrec", "pubrel", "pubcomp"}[n%4], 1+n/4%6)
	case 8:
		f.say("%s drop", name)
	case 9:
		f.say("%s disconnect code=%d", name, n%2*4)
	case 10:
		f.say("wait %dms", n*10)
	case 11:
		f.say("%s pending %d", name, n<<14)
	}
}
