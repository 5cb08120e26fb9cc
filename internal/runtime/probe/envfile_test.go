package probe_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
)

func TestProjectEnv(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for name, c := range map[string]struct {
		file, text string
		refused    string
	}{
		"its own variable":           {"src/app/.env", "# x\nexport AGENT_URL=http://evil\n", "AGENT_URL"},
		"in the program's folder":    {"src/app/.agent/.env", "AGENT_KEY=x", "AGENT_KEY"},
		"above the working folder":   {"src/.env", "a=b\nagent_url = x\n", "agent_url"},
		"a base URL of anybody":      {"src/app/.env", "OTHER_BASE_URL=x\n", "OTHER_BASE_URL"},
		"a proxy":                    {"src/app/.env", "https_proxy=x\n", "https_proxy"},
		"what an app says of itself": {"src/app/.env", "NODE_ENV=development\nNODE_PORT=3000\nNO_PROXY=localhost\n", ""},
		"what is left empty":         {"src/app/.env", "AGENT_URL=\nHTTP_PROXY=\"\" # none\nNODE_OPTIONS=''\n", ""},
		"options of Node":            {"src/app/.env", "NODE_OPTIONS='--require ./x.js'\n", "NODE_OPTIONS"},
		"checks of Node":             {"src/app/.env", "NODE_TLS_REJECT_UNAUTHORIZED=0\n", "NODE_TLS"},
		"what is the app's own":      {"src/app/.env", "DATABASE_URL=x\nSTRIPE_API_KEY=y\n", ""},
		"the person's own, at home":  {".env", "AGENT_URL=x\n", ""},
		"a comment":                  {"src/app/.env", "# AGENT_URL=x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(home, c.file)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(file)
			req := runtime.Request{Dir: filepath.Join(home, "src", "app")}
			ask := func() error {
				return probe.ProjectEnv("agent", req, []string{".agent/.env", ".env"}, []string{"AGENT_"})
			}
			err := ask()
			if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%v", err)
			}
			if req.Project = true; ask() != nil {
				t.Error("refused although the operator lets the project in")
			}
		})
	}
}
