package reports

import (
	"strings"
	"testing"
)

const fuzzed = `{"schemaVersion":1,"broker":"mqtt://localhost","seed":7,"summary":{"conversations":120,"packets":900,"received":800,"seconds":2,
"cells":2,"next":120,"answers":{"CONNACK 00":5},"seen":{"crash-process":3},"notes":["not judged: leaks <script>"],"profile":["overlap: one"],
"coverage":[{"version":"5","state":"fresh","packet":"CONNECT","validity":"legal","times":99},{"version":"5","state":"closed","packet":"CONNECT","validity":"malformed","times":3}],
"findings":[{"oracle":"crash","key":"process","about":"exit 2: <b>panic</b>","seed":"7/3","packets":2,"bytes":40,"minimised":true,"script":"A open 5\nA > 10 00\n","file":"found/x y.mqr"}]}}`

func TestFuzzHTML(t *testing.T) {
	var b strings.Builder
	if err := FuzzHTML(&b, []byte(fuzzed)); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"1 found", "crash: process", "seen 3 times", "&lt;b&gt;panic", "not judged: leaks", "60 a second", "CONNECT malformed 5", "&#39;found/x y.mqr&#39;", "A open 5\nA &gt; 10 00", "CONNACK 00"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, no := range []string{"<script", "http://", "https://"} {
		if strings.Contains(page, no) {
			t.Errorf("the page has %q", no)
		}
	}
	if err := FuzzHTML(&b, []byte("[")); err == nil {
		t.Error("a broken summary is rendered")
	}
}
