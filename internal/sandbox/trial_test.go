package sandbox

import (
	"os"
	"strings"
	"testing"
)

const (
	heldWell = `{"name":"get out","wanted":false,"refused":true,"error":"permission denied"},{"name":"work","wanted":true}`
	file     = "outside/file"
)

// The judge believes the place more than the child.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		said   string
		damage func(*Trial) error
		want   string // in the error; "" = none
	}{
		"held":           {"[" + heldWell + "]", nil, ""},
		"got out":        {`[{"name":"get out"},` + heldWell + "]", nil, "it could get out"},
		"not known":      {`[{"name":"get out","error":"no such file"},` + heldWell + "]", nil, "not known"},
		"cannot work":    {`[{"name":"work","wanted":true,"error":"permission denied"},` + heldWell + "]", nil, "could not work"},
		"many":           {"[" + strings.Repeat(`{"name":"get out"},`, 10) + heldWell + "]", nil, "and 7 more"},
		"nothing":        {"[]", nil, "tried nothing"},
		"no report":      {"killed", nil, "did not report"},
		"file changed":   {"[" + heldWell + "]", func(t *Trial) error { return os.WriteFile(t.in(file), []byte("x"), 0o600) }, "outside/file holds"},
		"file made":      {"[" + heldWell + "]", func(t *Trial) error { return os.WriteFile(t.in(file+"2"), nil, 0o600) }, "outside its boundary"},
		"file taken":     {"[" + heldWell + "]", func(t *Trial) error { return os.Remove(t.in(file)) }, "outside its boundary"},
		"folder taken":   {"[" + heldWell + "]", func(t *Trial) error { return os.RemoveAll(t.in(hidden)) }, "no such file"},
		"no work inside": {"[" + heldWell + "]", func(t *Trial) error { return os.RemoveAll(t.in(inside)) }, "work"},
	} {
		trial, err := NewTrial(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(trial.in(inside+"/work"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(trial.in(inside+"/work/moved"), []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if tc.damage != nil {
			if err := tc.damage(trial); err != nil {
				t.Fatal(err)
			}
		}
		_, _, err = trial.Judge([]byte(tc.said))
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
		if err := trial.Remove(); err != nil {
			t.Error(err)
		}
	}
}
