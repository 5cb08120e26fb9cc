package fakecli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// said is one call's result.
type said struct {
	code           int
	stdout, stderr string
}

// as calls the fake under a name, with a scenario beside it, in a folder of its own.
func as(t *testing.T, name, scenario, stdin string, args ...string) said {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("FAKECLI_SCENARIO", "")
	t.Setenv("HOME", dir)
	if err := os.WriteFile(filepath.Join(dir, "fakecli.yaml"), []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, err bytes.Buffer
	code := Main(filepath.Join(dir, name), args, strings.NewReader(stdin), &out, &err)
	return said{code, out.String(), err.String()}
}

func TestQuestions(t *testing.T) {
	const initialize = `{"type":"control_request","request_id":"r","request":{"subtype":"initialize"}}` + "\n"
	for name, c := range map[string]struct {
		cli, scenario, stdin string
		args                 []string
		code                 int
		want                 string
	}{
		"claude version":    {"claude", "", "", []string{"--version"}, 0, "(Claude Code)"},
		"claude help":       {"claude", "", "", []string{"--help"}, 0, "--permission-mode <mode>"},
		"claude signed in":  {"claude", "", "", []string{"auth", "status"}, 0, `"loggedIn":true`},
		"claude signed out": {"claude", "signed_out: true", "", []string{"auth", "status"}, 1, `"loggedIn":false`},
		"claude odd answer": {"claude", `answers: {auth: "?!"}`, "", []string{"auth", "status"}, 0, "?!"},
		"claude lists": {
			"claude", "agents: [reviewer]\nmodels: [{id: big, resolved: big-1, efforts: [low]}]", initialize,
			[]string{"-p", "--input-format=stream-json", "--output-format=stream-json", "--verbose"},
			0, `"supportedEffortLevels":["low"]`,
		},
		"claude unknown flag": {"claude", "", "hi", []string{"-p", "--no-such"}, 1, "unknown option '--no-such'"},
		"claude hidden flag":  {"claude", "hide_flags: [--effort]", "hi", []string{"-p", "--effort=low"}, 1, "unknown option '--effort'"},
		"claude no prompt":    {"claude", "", "", []string{"-p"}, 1, "Input must be provided"},
		"codex version":       {"codex", "", "", []string{"--version"}, 0, "codex-cli "},
		"codex exec help":     {"codex", "", "", []string{"exec", "--help"}, 0, "--skip-git-repo-check"},
		"codex signed out":    {"codex", "signed_out: true", "", []string{"login", "status"}, 1, "Not logged in"},
		"codex models":        {"codex", "", "", []string{"debug", "models"}, 0, `"slug":"fake"`},
		"codex app-server": {
			"codex", "", `{"id":1,"method":"model/list"}` + "\n", []string{"-c", "analytics.enabled=false", "app-server"}, 0, `"isDefault":true`,
		},
		"codex unknown flag": {"codex", "", "hi", []string{"exec", "--no-such", "-"}, 2, "unexpected argument '--no-such'"},
		"a stranger":         {"grep", "", "", nil, 70, "call it claude or codex"},
		"a bad scenario":     {"claude", "shout: 1", "", []string{"--version"}, 70, "shout"},
		"a bad step":         {"claude", "runs: [{steps: [{exit: 999}]}]", "", []string{"--version"}, 70, "runs[0].steps[0]: exit is 999"},
	} {
		t.Run(name, func(t *testing.T) {
			got := as(t, c.cli, c.scenario, c.stdin, c.args...)
			if got.code != c.code || !strings.Contains(got.stdout+got.stderr, c.want) {
				t.Errorf("exit %d, stdout %s, stderr %s; want exit %d and %q", got.code, got.stdout, got.stderr, c.code, c.want)
			}
		})
	}
}

func TestAHiddenFlagLeavesHelpWithItsDescription(t *testing.T) {
	help := as(t, "claude", "hide_flags: [--effort, --verbose]", "", "--help").stdout
	for _, gone := range []string{"--effort", "Effort level", "--verbose", "Override verbose"} {
		if strings.Contains(help, gone) {
			t.Errorf("help still has %q", gone)
		}
	}
	if !strings.Contains(help, "--model <model>") || !strings.Contains(help, "Commands:") {
		t.Errorf("help lost more than that:\n%s", help)
	}
}

func TestTheFirstRunThatMatchesPlays(t *testing.T) {
	const scenario = `
runs:
  - match: fix it
    unless_exists: seen
    steps: [{write: {path: seen, content: x}}, {error: {reason: rate_limit, text: slow down}}, {exit: 1}]
  - match: fix it
    steps: [{answer: fixed}]
  - steps: [{answer: anything else}]
`
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("FAKECLI_SCENARIO", filepath.Join(dir, "s.yaml"))
	if err := os.WriteFile("s.yaml", []byte(scenario), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		prompt, text string
		code         int
	}{
		{"please fix it", "slow down", 1},
		{"please fix it", "fixed", 0},
		{"hello", "anything else", 0},
	} {
		var out, stderr bytes.Buffer
		code := Main("/bin/claude", []string{"-p"}, strings.NewReader(want.prompt), &out, &stderr)
		if code != want.code || !strings.Contains(out.String(), want.text) {
			t.Errorf("call %d: exit %d, %s%s", i, code, out.String(), stderr.String())
		}
	}
}

// A run that is meant once is whoever's comes first, and one that is broken does not
// even begin.
func TestARunThatIsMeantOnce(t *testing.T) {
	for cli, args := range map[string][]string{"claude": {"-p"}, "codex": {"exec", "-"}} {
		scenario := "runs: [{once: " + filepath.Join(t.TempDir(), "first") + ", broken: bad config}, {steps: [{answer: fine}]}]"
		if got := as(t, cli, scenario, "hi", args...); got.code != 1 || got.stderr != "bad config\n" || got.stdout != "" {
			t.Errorf("%s, first: %+v", cli, got)
		}
		if got := as(t, cli, scenario, "hi", args...); got.code != 0 || !strings.Contains(got.stdout, "fine") {
			t.Errorf("%s, second: %+v", cli, got)
		}
	}
}
