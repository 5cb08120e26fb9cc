package cli_test

import (
	"strings"
	"testing"

	"orchestrate/internal/cli"
)

// What is mistyped is a usage error that says what to type instead.
func TestMistypedWords(t *testing.T) {
	for _, tc := range []struct {
		args string
		code int
		says string
	}{
		{"help", 0, ""},
		{"help plan", 0, ""},
		{"help pln", 2, "did you mean plan or run?"},
		{"help bogus", 2, "orchestrate --help lists the commands"},
		{"--bogus", 2, "`orchestrate --help` lists the flags"},
		{"plan --bogus x.yaml", 2, "`orchestrate plan --help` lists the flags"},
		{"run nothing.yaml", 2, "`orchestrate init`"},
		{"status", 2, "needs RUN"},
	} {
		var out, complaint strings.Builder
		code := cli.Main(t.Context(), strings.Fields(tc.args), cli.System{Out: &out, Err: &complaint, Cwd: t.TempDir()})
		if code != tc.code || !strings.Contains(complaint.String(), tc.says) {
			t.Errorf("orchestrate %s: exit status %d, %q; want %d, %q", tc.args, code, complaint.String(), tc.code, tc.says)
		}
		if (out.Len() > 0) != (code == 0) {
			t.Errorf("orchestrate %s: printed %q", tc.args, out.String())
		}
	}
}

// Without a PATH nothing can be found, which is said before it shows.
func TestWithoutPATH(t *testing.T) {
	for _, env := range [][]string{nil, {"PATH="}} {
		var out, complaint strings.Builder
		cli.Main(t.Context(), []string{"run", "nothing.yaml"}, cli.System{Out: &out, Err: &complaint, Env: env, Cwd: t.TempDir()})
		if !strings.HasPrefix(complaint.String(), "warning: PATH is empty or not set") {
			t.Errorf("with %q: %q", env, complaint.String())
		}
	}
}
