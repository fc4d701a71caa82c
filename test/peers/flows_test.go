package peers

import (
	"fmt"
	"testing"
	"time"
)

func TestEveryQoS(t *testing.T) {
	eachLibrary(t, func(t *testing.T, join func(options) client) {
		sub, pub := join(options{id: "sub"}), join(options{id: "pub"})
		for granted := range byte(3) {
			sub.subscribe(fmt.Sprintf("qos/%d", granted), granted)
		}
		for granted := range byte(3) {
			topic := fmt.Sprintf("qos/%d", granted)
			for qos := range byte(3) {
				for i := range 5 {
					payload := fmt.Sprint(qos, i)
					pub.publish(message{topic, payload, qos, false})
					expect(t, sub, message{topic, payload, min(qos, granted), false})
				}
			}
		}
	})
}

func TestOrderOfMany(t *testing.T) {
	eachLibrary(t, func(t *testing.T, join func(options) client) {
		sub, pub := join(options{id: "sub"}), join(options{id: "pub"})
		sub.subscribe("many/#", 2)
		const n = 100
		for i := range n {
			pub.publish(message{"many/of/them", fmt.Sprint(i), byte(2 - i%2), false})
		}
		for i := range n {
			expect(t, sub, message{"many/of/them", fmt.Sprint(i), byte(2 - i%2), false})
		}
	})
}

func TestRetained(t *testing.T) {
	eachLibrary(t, func(t *testing.T, join func(options) client) {
		pub := join(options{id: "pub"})
		pub.publish(message{"kept/a", "first", 1, true})
		pub.publish(message{"kept/a", "second", 2, true})
		pub.publish(message{"kept/b", "gone", 1, true})
		pub.publish(message{"kept/b", "", 1, true})
		sub := join(options{id: "sub"})
		sub.subscribe("kept/+", 2)
		pub.publish(message{"kept/a", "third", 1, true})
		expect(t, sub, message{"kept/a", "second", 2, true}, message{"kept/a", "third", 1, false})
	})
}

func TestWill(t *testing.T) {
	eachLibrary(t, func(t *testing.T, join func(options) client) {
		watcher := join(options{id: "watcher"})
		watcher.subscribe("wills/#", 1)
		polite := join(options{id: "polite", will: &message{"wills/polite", "never", 1, false}})
		polite.leave()
		dropped := join(options{id: "dropped", will: &message{"wills/dropped", "alas", 1, true}})
		dropped.drop()
		expect(t, watcher, message{"wills/dropped", "alas", 1, false})
		late := join(options{id: "late"})
		late.subscribe("wills/#", 1)
		expect(t, late, message{"wills/dropped", "alas", 1, true})
	})
}

func TestSessionResumes(t *testing.T) {
	eachLibrary(t, func(t *testing.T, join func(options) client) {
		pub := join(options{id: "pub"})
		sub := join(options{id: "sub", resume: true})
		if sub.present() {
			t.Error("a new client has a Session")
		}
		sub.subscribe("queue/#", 2)
		sub.leave()
		for i := range 10 {
			pub.publish(message{"queue/x", fmt.Sprint(i), byte(1 + i%2), false})
		}
		sub = join(options{id: "sub", resume: true})
		if !sub.present() {
			t.Error("the Session is gone")
		}
		for i := range 10 {
			expect(t, sub, message{"queue/x", fmt.Sprint(i), byte(1 + i%2), false})
		}
		sub.leave()
		if join(options{id: "sub"}).present() {
			t.Error("a clean start finds a Session")
		}
	})
}

// Of a shared subscription each message goes to one member, and all of them
// come, also in MQTT 3.1.1: it does not define $share, and the broker under test
// is the reference, which groups it there unless a policy says otherwise.
func TestSharedSubscription(t *testing.T) {
	eachLibrary(t, func(t *testing.T, join func(options) client) {
		one, two, plain := join(options{id: "one"}), join(options{id: "two"}), join(options{id: "plain"})
		one.subscribe("$share/group/work/#", 1)
		two.subscribe("$share/group/work/#", 1)
		plain.subscribe("work/#", 1)
		pub := join(options{id: "pub"})
		const n = 40
		for i := range n {
			pub.publish(message{"work/x", fmt.Sprint(i), 1, false})
		}
		seen := map[string]int{}
		timer := time.NewTimer(patience)
		defer timer.Stop()
		for range n {
			var m message
			select {
			case m = <-one.received():
			case m = <-two.received():
			case <-timer.C:
				t.Fatalf("only %d of %d messages came to the group", len(seen), n)
			}
			seen[m.payload]++
		}
		for i := range n {
			expect(t, plain, message{"work/x", fmt.Sprint(i), 1, false})
			if seen[fmt.Sprint(i)] != 1 {
				t.Errorf("message %d came %d times to the group", i, seen[fmt.Sprint(i)])
			}
		}
	})
}

// Clients of both versions meet on one broker.
func TestVersionsMeet(t *testing.T) {
	address := startReference(t)
	old, young := connectPaho311(t, address, options{id: "old"}), connectPaho5(t, address, options{id: "young"})
	old.subscribe("meet", 2)
	young.subscribe("meet", 2)
	old.publish(message{"meet", "from 3.1.1", 2, false})
	for _, c := range []client{old, young} {
		expect(t, c, message{"meet", "from 3.1.1", 2, false})
	}
	young.publish(message{"meet", "from 5.0", 1, false})
	for _, c := range []client{old, young} {
		expect(t, c, message{"meet", "from 5.0", 1, false})
	}
}

func TestMochiStarts(t *testing.T) {
	address, stop, err := StartMochi()
	if err != nil {
		t.Fatal(err)
	}
	for _, lib := range libraries {
		c := lib.connect(t, address, options{id: lib.name})
		c.subscribe("hello", 1)
		c.publish(message{"hello", lib.name, 1, false})
		expect(t, c, message{"hello", lib.name, 1, false})
		c.leave()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
}
