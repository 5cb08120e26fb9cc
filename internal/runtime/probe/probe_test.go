package probe_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe"
	"orchestrate/internal/runtime/probe/probetest"
)

const help = `Usage: tool [options]

Options:
  -c, --config <k=v>   Override a value, as in --wrapped
                       --deep works too
  -p, --print          Print and exit
      --mode <mode>
          How to work; only with --print and
          --format=stream
          [possible values: slow, fast]
  --format <f>         One of "text", "stream"

Commands:
  --not-an-option      looks like one
`

func TestFlagsFindsOnlyWhatTheOptionColumnDefines(t *testing.T) {
	got := probe.Flags(help, "--config", "-c", "--print", "--mode=fast", "--mode=quick", "--format=stream", "--wrapped", "--deep", "--missing")
	for _, want := range []string{"--config", "-c", "--print", "--mode=fast", "--format=stream"} {
		if got[want] == "" {
			t.Errorf("%s is in the help and was not found", want)
		}
	}
	for _, not := range []string{"--mode=quick", "--wrapped", "--deep", "--missing"} {
		if line, found := got[not]; found {
			t.Errorf("%s was found in %q, which does not define it", not, line)
		}
	}
	if want := `-p, --print Print and exit`; got["--print"] != want {
		t.Errorf("--print is shown by %q, want %q", got["--print"], want)
	}
}

func TestFlagsOfAHelpWithoutTheFlag(t *testing.T) {
	if got := probe.Flags(probetest.Without(help, "--mode"), "--mode=fast"); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}

func TestJSONSkipsNoticesBeforeIt(t *testing.T) {
	var v struct{ A int }
	if !probe.JSON([]byte("note {not json}\n{\"a\": 7}\n"), &v) || v.A != 7 {
		t.Errorf("got %+v", v)
	}
	if probe.JSON([]byte("nothing here"), &v) {
		t.Error("found JSON where there is none")
	}
}

func TestBoundedKeepsCharactersWhole(t *testing.T) {
	if got := probe.Bounded("äöü", 3); got != "ä…" {
		t.Errorf("got %q", got)
	}
}

func TestIdentify(t *testing.T) {
	id := probe.Identity{Name: "tool", Form: regexp.MustCompile(`^tool (\d+)$`), Install: "get tool"}
	cases := []struct {
		name    string
		host    *probetest.Host
		state   runtime.State
		reason  string
		settled bool
	}{
		{"it is the one", &probetest.Host{Answers: map[string]runtime.Answer{"--version": probetest.Says("tool 7\n")}}, runtime.StateUnverified, "", false},
		{"missing", &probetest.Host{Missing: true}, runtime.StateUnavailable, "no executable", true},
		{"a stranger", &probetest.Host{Answers: map[string]runtime.Answer{"--version": probetest.Says("other 7\n")}}, runtime.StateUnverified, "does not say that it is tool", true},
		{"fails", &probetest.Host{Answers: map[string]runtime.Answer{"--version": {ExitCode: 3, Stderr: []byte("\nno licence\n")}}}, runtime.StateUnverified, `failed with exit status 3 and said "no licence"`, true},
		{"no answer", &probetest.Host{Answers: map[string]runtime.Answer{"--version": {TimedOut: true}}}, runtime.StateUnverified, "time limit", true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p, asker := probe.Identify(context.Background(), c.host, id, nil)
			if p.State != c.state || !strings.Contains(p.Reason, c.reason) || (asker == nil) != c.settled {
				t.Errorf("state %q, reason %q, asker %v", p.State, p.Reason, asker)
			}
			if c.settled && p.NextStep == "" {
				t.Error("there is no next step")
			}
			if !c.settled && p.Version != "7" {
				t.Errorf("version %q", p.Version)
			}
		})
	}
}

// shellHost runs what it is asked, in one scratch folder.
type shellHost struct {
	probetest.Host
	dir string
}

func (h *shellHost) Run(ctx context.Context, q runtime.Question) runtime.Answer {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, q.Argv[0], q.Argv[1:]...)
	cmd.Dir, cmd.Stdin = h.dir, strings.NewReader(string(q.Stdin))
	out, err := cmd.Output()
	return runtime.Answer{Stdout: out, Err: err, TimedOut: ctx.Err() != nil}
}

// A server that leaves at the end of its input even with answers owing still
// gets to give them all.
func TestConverseKeepsTheInputOpenUntilAllIsAnswered(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Logf("no shell here: conversations are not possible on this system")
		return
	}
	dir := t.TempDir()
	server := filepath.Join(dir, "server")
	script := "#!/bin/sh\nread -r a; read -r b; read -r c\n" +
		"echo '{\"method\":\"hello\"}'; echo '{\"id\":2,\"r\":\"x\"}'; echo '{\"error\":{},\"id\":1}'; echo '{\"id\":3}'\n" +
		"if read -r more; then echo unexpected; else echo end; fi\n"
	if err := os.WriteFile(server, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, path string
		want       string
	}{
		{"answers all", server, "end"},
		{"leaves at once", "/bin/false", ""},
		{"does not exist", filepath.Join(dir, "nothing"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			asker := probe.Asker{Host: &shellHost{dir: dir}, Path: c.path}
			answer := asker.Converse(context.Background(), []byte("1\n2\n3\n"), 3)
			if answer.TimedOut {
				t.Fatal("the conversation did not end")
			}
			if !strings.HasSuffix(strings.TrimSpace(string(answer.Stdout)), c.want) {
				t.Errorf("said %q, want it to end with %q", answer.Stdout, c.want)
			}
		})
	}
}
