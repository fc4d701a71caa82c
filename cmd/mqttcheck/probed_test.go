package main

import (
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/specs/probe"
)

// TestPreflightProbes311 has brokers of MQTT 3.1.1 show what they lack.
func TestPreflightProbes311(t *testing.T) {
	for _, tc := range []struct {
		policies map[string]string
		lacks    []string
	}{
		{nil, nil},
		{map[string]string{"granted-qos-311": "1"}, []string{"v311:qos2"}},
		{map[string]string{"granted-qos-311": "0"}, []string{"v311:qos1", "v311:qos2"}},
		{map[string]string{"wildcards": "no"}, []string{"v311:wildcard"}},
		{map[string]string{"retain": "no"}, nil}, // 3.1.1 knows no server without
		{map[string]string{"maximum-qos": "0"}, nil},
		{map[string]string{"share-311": "refused"}, nil},
	} {
		broker, err := reference.Start(reference.Options{Policies: tc.policies})
		if err != nil {
			t.Fatal(err)
		}
		defer broker.Close()
		o, err := preflight(context.Background(), probe.Target{URL: broker.URL(), RunID: "probe", Timeout: time.Second}, []string{"v311"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for key, why := range o.lacks {
			if why == "" {
				t.Errorf("%v: %s without what was seen", tc.policies, key)
			}
			if key[:4] == "v311" {
				got = append(got, key)
			}
		}
		if slices.Sort(got); !slices.Equal(got, tc.lacks) {
			t.Errorf("%v: it lacks %q, want %q", tc.policies, got, tc.lacks)
		}
		holdsNothing(t, broker)
	}
}

// TestProbesConclude holds what may be concluded from answers: nothing where
// the broker refuses the topic itself, or does not answer.
func TestProbesConclude(t *testing.T) {
	for _, tc := range []struct {
		codes map[int]byte
		lacks int
	}{
		{map[int]byte{}, 0},
		{map[int]byte{0: 0x80, 1: 0x80, 2: 0x80, 3: 0x80, 4: 0x80}, 0},
		{map[int]byte{0: 0}, 0},
		{map[int]byte{0: 0, 1: 1, 2: 2, 3: 0, 4: 0x80}, 0}, // one wildcard is granted
		{map[int]byte{0: 0, 1: 1, 2: 1, 3: 0x80, 4: 0x80}, 2},
		{map[int]byte{0: 0, 1: 0x80, 2: 0x80}, 2},
	} {
		o := offer{lacks: map[string]string{}}
		if o.conclude(tc.codes); len(o.lacks) != tc.lacks {
			t.Errorf("%v: it lacks %v, want %d", tc.codes, o.lacks, tc.lacks)
		}
	}
}

// TestProbingIsBounded meets a broker that says no more than CONNACK.
func TestProbingIsBounded(t *testing.T) {
	url := listen(t, func(c net.Conn) {
		_, _ = io.WriteString(c, "\x20\x02\x00\x00")
		_, _ = io.Copy(io.Discard, c)
	})
	o := offer{lacks: map[string]string{}}
	began := time.Now()
	o.inquire(context.Background(), probe.Target{URL: url, RunID: "probe"})
	if took := time.Since(began); took > 2*probe.DefaultTimeout || len(o.lacks) > 0 {
		t.Errorf("it took %s and lacks %v", took, o.lacks)
	}
}
