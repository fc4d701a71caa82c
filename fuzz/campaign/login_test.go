package campaign

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/mqttcheck/mqttcheck/fuzz/finding"
	"github.com/mqttcheck/mqttcheck/fuzz/play"
	"github.com/mqttcheck/mqttcheck/reference"
	"github.com/mqttcheck/mqttcheck/reference/core"
)

// TestCredentialsAreUsedAndNotTold fuzzes a broker that lets one user in.
func TestCredentialsAreUsedAndNotTold(t *testing.T) {
	login := &play.Login{Username: "gerda-the-fuzzer", Password: "not-to-be-told"}
	address := start(t, reference.Options{
		Users: []core.User{{Name: login.Username, Password: login.Password}}, Defects: []string{"qos1-unacknowledged"},
	})
	dir := t.TempDir()
	if err := os.Mkdir(FindingsDir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	o := Options{Address: address, Seed: 1, Most: 60, Dir: dir, Corpus: filepath.Join(dir, "corpus"), Shrink: 2 * time.Second}
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("it begins without credentials")
	}
	o.Login = login
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if s.Answers["CONNACK 00"] == 0 || s.Answers["CONNACK 05"]+s.Answers["CONNACK 86"] > s.Answers["CONNACK 00"]/10 {
		t.Errorf("the clients are not let in: %v", s.Answers)
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		for _, secret := range []string{login.Username, login.Password} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("%s tells %s", path, secret)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	f, err := finding.Load(filepath.Join(FindingsDir(dir), "model-unanswered-puback.mqr"))
	if err != nil {
		t.Fatal(err)
	}
	r := ReplayOptions{Address: address, Login: login, Patience: time.Second, Times: 1}
	if again, err := Replay(t.Context(), f, r); err != nil || !again.Happened {
		t.Errorf("with the credentials it does not happen: %v", err)
	}
	r.Login = nil
	if _, err := Replay(t.Context(), f, r); err == nil {
		t.Error("it is played without credentials")
	}
}
