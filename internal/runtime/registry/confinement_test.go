package registry

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/environ"
)

func confined(t *testing.T, name string, env map[string]string) runtime.Confinement {
	t.Helper()
	for _, a := range All("/self", nil) {
		if c, ok := a.(runtime.Confined); ok && a.Name() == name {
			return c.Confinement(func(name string) string { return env[name] })
		}
	}
	t.Fatalf("%s says nothing of its files", name)
	return runtime.Confinement{}
}

// Where each program keeps its files, by its own rules.
func TestPlacesOfThePrograms(t *testing.T) {
	home := map[string]string{"HOME": "/h"}
	for _, c := range []struct {
		name  string
		env   map[string]string
		state []string
	}{
		{"claude", home, []string{"/h/.claude", "/h/.claude.json"}},
		{"claude", map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, []string{"/c", "/c/.claude.json"}},
		{"claude", map[string]string{"HOME": "/h", "CLAUDE_CONFIG_DIR": "relative"}, []string{"/h/.claude", "/h/.claude.json"}},
		{"codex", map[string]string{"HOME": "/h", "CODEX_HOME": "/c"}, []string{"/c"}},
		{"gemini", home, []string{"/h/.gemini"}},
		{"gemini", map[string]string{"HOME": "/h", "GEMINI_CLI_HOME": "/g"}, []string{"/g/.gemini"}},
		{"opencode", home, []string{"/h/.local/share/opencode", "/h/.local/state/opencode"}},
		{"opencode", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s"}, []string{"/d/opencode", "/s/opencode"}},
		{"kilo", home, []string{"/h/.local/share/kilo", "/h/.local/state/kilo", "/h/.local/state/kilo-sandbox-policy"}},
		{"qwen", map[string]string{"HOME": "/h", "QWEN_HOME": "/q"}, []string{"/q"}},
		{"copilot", map[string]string{"HOME": "/h", "COPILOT_HOME": "/c"}, []string{"/c"}},
		{"pi", home, []string{"/h/.pi/agent", "/h/.pi/agent/sessions/orchestrate"}},
		{"command-code", home, []string{"/h/.commandcode/projects"}},
		{"cline", home, []string{"/h/.cline/data"}},
		{"crush", home, []string{"/h/.local/share/crush"}},
	} {
		if d := cmp.Diff(c.state, confined(t, c.name, c.env).State); d != "" {
			t.Errorf("%s with %v (-want +got):\n%s", c.name, c.env, d)
		}
	}
}

// Another service's sign-in is a program's own only where it is told to use that service.
func TestSignInsOfOtherServices(t *testing.T) {
	for _, c := range []struct {
		name, variable, place string
	}{
		{"claude", "CLAUDE_CODE_USE_BEDROCK", "/h/.aws"},
		{"claude", "CLAUDE_CODE_USE_VERTEX", "/h/.config/gcloud"},
		{"gemini", "GOOGLE_GENAI_USE_VERTEXAI", "/h/.config/gcloud"},
	} {
		without := confined(t, c.name, map[string]string{"HOME": "/h"}).Credentials
		with := confined(t, c.name, map[string]string{"HOME": "/h", c.variable: "1"}).Credentials
		if slices.Contains(without, c.place) || !slices.Contains(with, c.place) {
			t.Errorf("%s: %v, with %s %v", c.name, without, c.variable, with)
		}
	}
}

// What is passed for a sign-in is no variable of a session that hosts us, and nothing
// that reaches beyond files.
func TestSignInVariablesPass(t *testing.T) {
	for _, a := range All("/self", nil) {
		for _, name := range a.SignInEnv() {
			if passed, _, _ := environ.Filter([]string{name + "=x"}, a.SignInEnv(), nil); len(passed) != 1 {
				t.Errorf("%s of %s is withheld", name, a.Name())
			}
		}
	}
	if !confined(t, "codex", nil).Own {
		t.Error("codex is put into another sandbox, where its own fails in silence")
	}
}
