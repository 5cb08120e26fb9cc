package worker

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAWorkerRunIsFoundByPathAndID(t *testing.T) {
	r := newRun(t)
	again, err := New(r.Root, day)
	must(t, err)
	if r.ID != "20260704-141530" || again.ID != "20260704-141530-2" {
		t.Errorf("two in one second are %s and %s", r.ID, again.ID)
	}
	inside := filepath.Join(r.Root, ".orchestrate", "runs")
	for _, c := range [][2]string{
		{r.Root, r.Dir}, {r.Root, r.Dir + "/"}, {r.Root, ".orchestrate/runs/" + r.ID + "/"}, {inside, r.ID}, {t.TempDir(), r.ID}, {inside, "./" + r.ID}, {r.Dir, "."},
	} {
		if got, err := Open(r.Root, c[0], c[1]); err != nil || got != r {
			t.Errorf("%s from %s: %+v, %v", c[1], c[0], got, err)
		}
	}
	if info, err := os.Stat(r.Dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("others may look into it: %v, %v", info.Mode(), err)
	}
	if text, err := os.ReadFile(filepath.Join(r.Root, ".orchestrate", ".gitignore")); err != nil || string(text) != "*\n" {
		t.Errorf("git is told %q, %v", text, err)
	}
}

func TestWhatIsNoWorkerRunIsSaidWithThoseThatAre(t *testing.T) {
	r := newRun(t)
	for _, arg := range []string{"", "20260101-000000", r.Root, "..", "a/b"} {
		_, err := Open(r.Root, r.Root, arg)
		var none *NoRunError
		if !errors.As(err, &none) || !strings.Contains(err.Error(), r.ID) {
			t.Errorf("%q: %v", arg, err)
		}
	}
	_, err := Open(t.TempDir(), r.Root, "x")
	if err == nil || !strings.Contains(err.Error(), "there is none yet: orchestrate new-run makes one") {
		t.Errorf("of a workspace without one: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(r.Dir, "run.json"), []byte("{"), 0o600))
	var none *NoRunError
	if _, err := Open(r.Root, r.Root, r.ID); err == nil || errors.As(err, &none) {
		t.Errorf("of one that is damaged: %v", err)
	}
}
