//go:build linux

package cli_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/secret/secrettest"
	"orchestrate/internal/supervise"
	"orchestrate/internal/version"
)

// TestTheSearcherFindsWhatRedactionHides plants a secret in every way a program can
// say it. With the redactor on, the searcher of the scripts finds none of them; with
// it off, each: so that it finds nothing means something.
func TestTheSearcherFindsWhatRedactionHides(t *testing.T) {
	ways := []string{"plain", "split", "json", "base64", "error"}
	env := filepath.Join(t.TempDir(), ".env")
	script, values := "", []string(nil)
	lines := ""
	for _, way := range ways {
		value := fmt.Sprintf("Xq7-2bVt9L%sRwKd8H", way)
		values = append(values, value)
		lines += fmt.Sprintf("TOKEN_%s=%s\n", way, value)
		script += fmt.Sprintf("say %s %s TOKEN_%s; ", way, env, way)
	}
	if err := os.WriteFile(env, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		unredacted bool
		want       []string
	}{{false, nil}, {true, values}} {
		dir := t.TempDir()
		supervised(t, supervise.Invocation{
			Job: "j", Attempt: 1, Dir: dir, Argv: []string{"sh", "-c", script}, Env: os.Environ(), Cwd: dir,
			Decoder: runtime.DecoderSpec{Runtime: "exec"}, Timeout: time.Minute, Grace: time.Second, MaxBytes: 1 << 20,
			Secrets: values, Unredacted: c.unredacted,
		})
		hits, err := secrettest.Find(dir, values)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			found := slices.ContainsFunc(hits, func(h secrettest.Hit) bool { return h.Value == v })
			if found != slices.Contains(c.want, v) {
				t.Errorf("unredacted %v: %s found: %v; %+v", c.unredacted, v, found, hits)
			}
		}
	}
}

// supervised runs one invocation under the lean supervisor that the scripts use.
func supervised(t *testing.T, inv supervise.Invocation) {
	t.Helper()
	program, err := exec.LookPath("orchestrate-supervise")
	if err != nil {
		t.Fatal(err)
	}
	slot, err := supervise.Start(context.Background(), []string{program}, version.Version)
	if err != nil {
		t.Fatal(err)
	}
	_, err = slot.Run(t.Context(), inv, nil, func(supervise.Process) {})
	if e := slot.Close(); e != nil || err != nil {
		t.Fatal(err, e)
	}
}
