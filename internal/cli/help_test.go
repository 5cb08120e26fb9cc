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
		{"help pln", 2, "did you mean run or plan?"},
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
