//go:build e2e && linux

package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"

	"orchestrate/internal/secret/secrettest"
)

// A program prints secrets in every form that an unlucky one does; none of them
// reaches the run directory. The same search on the program's own output finds
// all of them.
func TestNoSecretReachesTheRunDirectory(t *testing.T) {
	l := newLab(t, idle, nil)
	known, quoted, shaped := "tok-"+rand.Text(), `q"uo\te-`+rand.Text(), "ghp_"+(rand.Text() + rand.Text())[:36]
	escaped, err := json.Marshal(quoted)
	ok(t, err)
	l.env = append(l.env, "SERVICE_TOKEN="+known, "OTHER_SECRET="+quoted)
	l.repository()
	l.file("emit.sh", `
printf '%s' '`+known[:9]+`'; sleep 0.2; printf '%s\n' '`+known[9:]+`'
printf '%s\n' '{"value":`+string(escaped)+`}'
printf '%s\n' '`+base64.StdEncoding.EncodeToString([]byte("user:"+known))+`'
printf 'token %s\n' '`+shaped+`'
printf 'error: the service refused %s\n' '`+known+`' >&2
exit 7
`)
	script := filepath.Join(l.base, "emit.sh")
	raw, err := exec.Command("sh", script).CombinedOutput()
	if err == nil {
		t.Fatal("the program ended well")
	}
	planted := []string{known, quoted, shaped}
	for _, value := range planted {
		if len(secrettest.InText("output", raw, []string{value})) == 0 {
			t.Errorf("the search does not find %q in\n%s", value, raw)
		}
	}
	e := l.spec(`
version: 1
arbiter: {mode: checks-only}
jobs:
  - id: emit
    runtime: exec
    effect: observe
    command: [sh, ` + script + `]
    expected_output: nothing
    timeout: 1m
`).wants(1)
	hits, err := secrettest.Find(e.run, planted)
	ok(t, err)
	for _, h := range append(hits, secrettest.InText("standard output", []byte(e.stdout), planted)...) {
		t.Errorf("%s holds %q (%s)", h.Path, h.Value, h.Via)
	}
	if s := e.status("emit"); s.ExitCode == nil || *s.ExitCode != 7 {
		t.Errorf("%+v", s)
	}
}
