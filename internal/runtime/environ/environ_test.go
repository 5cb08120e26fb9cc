package environ

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilter(t *testing.T) {
	env := []string{
		"PATH=/bin", "HOME=/h", "LC_ALL=C", "XDG_CACHE_HOME=/c", "HTTPS_PROXY=http://u:p@proxy:1",
		"SSL_CERT_DIR=/certs", "GOFLAGS=-mod=mod", "GOPROXY=https://user:word@proxy.example",
		"OTHER_API_KEY=k", "MY_KEY=mine", "OWN_API_KEY=own", "SSH_AUTH_SOCK=/s", "DOCKER_HOST=d",
		"CLAUDECODE=1", "CODEX_SANDBOX_NETWORK_DISABLED=1", "GEMINI_CLI=1", "=odd", "TEAM_A=1", "TEAM_B=2",
	}
	passed, names, withheld := Filter(env, []string{"OWN_API_KEY"}, []string{"MY_KEY", "TEAM_*"})
	wantNames := []string{
		"GOFLAGS", "HOME", "HTTPS_PROXY", "LC_ALL", "MY_KEY", "OWN_API_KEY", "PATH", "SSL_CERT_DIR",
		"TEAM_A", "TEAM_B", "XDG_CACHE_HOME",
	}
	if d := cmp.Diff(wantNames, names); d != "" {
		t.Errorf("passed names (-want +got):\n%s", d)
	}
	wantWithheld := []string{
		"CLAUDECODE", "CODEX_SANDBOX_NETWORK_DISABLED", "DOCKER_HOST", "GEMINI_CLI", "GOPROXY", "OTHER_API_KEY", "SSH_AUTH_SOCK",
	}
	if d := cmp.Diff(wantWithheld, withheld); d != "" {
		t.Errorf("withheld names (-want +got):\n%s", d)
	}
	if len(passed) != len(names) {
		t.Errorf("passed %d entries under %d names: %q", len(passed), len(names), passed)
	}
}

func TestTheHostingSessionStaysOutEvenWhenAllowed(t *testing.T) {
	passed, _, withheld := Filter([]string{"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli"}, nil, []string{"CLAUDECODE", "CLAUDE_CODE_*"})
	if len(passed) != 0 || len(withheld) != 2 {
		t.Errorf("passed %q, withheld %q", passed, withheld)
	}
}

func TestTheLastOfTwoEntriesCounts(t *testing.T) {
	passed, names, _ := Filter([]string{"PATH=/old", "PATH=/new"}, nil, nil)
	if strings.Join(passed, " ") != "PATH=/new" || len(names) != 1 {
		t.Errorf("passed %q under %q", passed, names)
	}
}

func TestWithoutKeys(t *testing.T) {
	got := WithoutKeys([]string{"HOME=/h", "OPENAI_API_KEY=k", "CODEX_HOME=/c", "GITHUB_TOKEN=t", "OPENAI_BASE_URL=u"})
	if want := []string{"HOME=/h", "CODEX_HOME=/c", "OPENAI_BASE_URL=u"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What each program was seen to give to its tools, and what hosts of sessions set: a
// child that finds one of them refuses to run, or takes its parent's session for its own.
func TestNoNameOfASessionPasses(t *testing.T) {
	for _, name := range []string{
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_CHILD_SESSION",
		"CLAUDE_CODE_EXECPATH", "CLAUDE_EFFORT", "AI_AGENT", "CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
		"CODEX_CI", "CODEX_THREAD_ID", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
		"GEMINI_CLI", "GEMINI_CLI_IDE_SERVER_PORT", "GEMINI_CLI_IDE_AUTH_TOKEN", "SANDBOX", "QWEN_CODE", "QWEN_CODE_SESSION_ID",
		"QWEN_CODE_IDE_SERVER_PORT", "OPENCODE", "OPENCODE_PID", "OPENCODE_SERVER_PASSWORD", "OPENCODE_TERMINAL", "AGENT",
		"KILO", "KILO_PID", "KILO_SERVER_PASSWORD", "KILO_BACKGROUND_PROCESS_TOKEN", "COPILOT_CLI", "COPILOT_CLI_BINARY_VERSION",
		"COPILOT_AGENT_SESSION_ID", "CURSOR_AGENT", "CURSOR_TRACE_ID", "PI_CODING_AGENT", "PI_SESSION_ID", "PI_SESSION_FILE",
		"CLINE_ACTIVE", "CLINE_RUN_AS_HUB_DAEMON", "CLINE_HUB_PORT", "AMP_CURRENT_THREAD_ID", "CRUSH", "AUGMENT_AGENT",
	} {
		if passed, _, withheld := Filter([]string{name + "=1"}, []string{name}, []string{name}); len(passed) > 0 || len(withheld) != 1 {
			t.Errorf("%s passes", name)
		}
	}
}

func TestWhatNoSandboxHoldsIsSensitive(t *testing.T) {
	for _, name := range []string{"SSH_AUTH_SOCK", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "GPG_AGENT_INFO", "KUBECONFIG", "GITHUB_TOKEN"} {
		if Sensitive(name, "1") == "" {
			t.Errorf("%s is taken for harmless", name)
		}
		if passed, _, _ := Filter([]string{name + "=1"}, nil, nil); len(passed) > 0 {
			t.Errorf("%s passes unasked", name)
		}
	}
	for _, name := range []string{"PATH", "GOFLAGS", "MY_VAR"} {
		if Sensitive(name, "1") != "" {
			t.Errorf("%s is taken for sensitive", name)
		}
	}
}

// TestAValueIsSensitiveToo: a variable may hold a key and not be called one.
func TestAValueIsSensitiveToo(t *testing.T) {
	for entry, want := range map[string]string{
		"DATABASE_URL=postgres://u:Hx72kdPq91zz@h/db": "holds what looks like a secret",
		"DATABASE_URL=postgres://u@localhost/db":      "",
		"DOCKER_HOST=tcp://127.0.0.1:2375":            "reaches what no sandbox holds",
		"API_KEY=x":                                   "looks like a secret",
	} {
		name, value, _ := strings.Cut(entry, "=")
		if got := Sensitive(name, value); got != want {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
	if passed, _, withheld := Filter([]string{"MAVEN_OPTS=-Dpassword=Kd82jsPq01x", "CFLAGS=-O2"}, nil, nil); len(passed) != 1 || !slices.Equal(withheld, []string{"MAVEN_OPTS"}) {
		t.Errorf("passed %q, withheld %q", passed, withheld)
	}
}
