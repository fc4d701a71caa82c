package main

import (
	"os"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
	"github.com/mqttcheck/mqttcheck/reports"
)

// plainLimit is the time in which a run shows a defect of kind run, without a
// target file, on a broker of which it knows the address alone.
const plainLimit = 30 * time.Second

// TestPlainRunCatchesDefects judges `mqttcheck serve --defect NAME` by
// `mqttcheck run URL`: real seconds, the usual patience, no variants. With
// MQTTCHECK_PLAIN=all, or i/n for a share; one defect at a time, as the machine
// would be another with more. Some alone: -run '.../^(NAME|NAME)$'.
func TestPlainRunCatchesDefects(t *testing.T) {
	if os.Getenv("MQTTCHECK_PLAIN") == "" {
		t.Skip("it takes half an hour: make plain")
	}
	t.Setenv("MQTTCHECK_URL", "")
	for _, d := range chosenDefects(t, os.Getenv("MQTTCHECK_PLAIN")) {
		if d.Shows == core.Run {
			t.Run(d.Name, func(t *testing.T) { plainRun(t, d) })
		}
	}
}

func plainRun(t *testing.T, d core.Defect) {
	broker, err := reference.Start(reference.Options{Defects: []string{d.Name}})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	began := time.Now()

	code, result, talk := judge(t, broker.URL())

	took := time.Since(began)
	t.Logf("%s: exit %d in %s", d.Name, code, took.Round(100*time.Millisecond))
	if code != exitFail {
		t.Errorf("exit %d, want %d\n%s", code, exitFail, talk)
	}
	if took > plainLimit {
		t.Errorf("the run took %s", took.Round(time.Second))
	}
	for _, st := range result.Statements {
		if st.ID == d.Breaks[0] && st.Verdict != reports.Fail {
			t.Errorf("%s is %s: it shows in the variants only, if at all", st.ID, st.Verdict)
		}
	}
}
