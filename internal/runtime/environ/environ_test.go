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
