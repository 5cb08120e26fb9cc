package docs_test

import (
	"strings"
	"testing"
)

// fixing is obliging, and does the demo's writing job as well.
var fixing = strings.Replace(obliging, "runs:", `runs:
  - match: "`+arbiterAsked+`"
    steps: [{verdict: {}}]
  - match: "Correct greet.sh"
    steps:
      - write:
          path: greet.sh
          content: |
            [ $# -gt 0 ] || set -- "whoever you are"
            for name in "$@"; do echo "Hello, $name!"; done
      - answer: corrected`, 1)

func TestDemoOnRealAgentsAsksFirst(t *testing.T) {
	if testing.Short() {
		t.Skip("builds both programs")
	}
	m := newMachine(t)
	signedIn := m.session(m.root, m.buildFake(t).as(t, []string{"claude", "codex"}, fixing)+":"+m.path)
	for _, tc := range []struct {
		name, command string
		s             session
		ok            bool
		says, not     string
	}{
		{"no agent", "REAL=1 CONFIRM=1 make demo", m.session(m.root, m.path), false, "Nothing was called", "== orchestrate run"},
		{"nobody to ask", "REAL=1 make demo </dev/null", signedIn, false, "REAL=1 CONFIRM=1 make demo", "== orchestrate run"},
		{"yes", "REAL=1 CONFIRM=1 make demo", signedIn, true, "- Arbiter: pass\n", "Nothing was called"},
		{"cleared away", "KEEP=0 make demo", m.session(m.root, m.path), true, "- Arbiter: rehearsal\n", "kept in"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			out, code := tc.s.sh(t, tc.command)
			if ok := code == 0; ok != tc.ok {
				t.Errorf("exit status %d", code)
			}
			if !strings.Contains(out, tc.says) || strings.Contains(out, tc.not) {
				t.Errorf("want %q and not %q", tc.says, tc.not)
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
