package codex_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/codex"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return codex.New().Probe(context.Background(), machine(t, sandbox{}))
}

const (
	narrowed = " -c sandbox_workspace_write.writable_roots=[] -c sandbox_workspace_write.network_access=false" +
		" -c sandbox_workspace_write.exclude_slash_tmp=true -c sandbox_workspace_write.exclude_tmpdir_env_var=true"
	isolated = " -c analytics.enabled=false --disable apps --disable hooks --disable plugins --disable remote_plugin"
	placed   = ` -c projects={"/w"={trust_level="untrusted"},"/"={trust_level="untrusted"}} -c project_doc_max_bytes=0 --skip-git-repo-check --cd /w`
	exec     = "/opt/fake/bin/codex exec --json "
	thread   = "01a228d8-0000-7000-8000-000000000001"
)

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	cases := []struct {
		name     string
		req      runtime.Request
		want     string
		controls []runtime.ControlName
	}{
		{"read", runtime.Request{Access: runtime.AccessRead}, "--sandbox=read-only" + isolated + placed + " -", []runtime.ControlName{"read-only", "no-project"}},
		{"edit", runtime.Request{Access: runtime.AccessEdit}, "--sandbox=workspace-write" + narrowed + isolated + placed + " -", []runtime.ControlName{"os-sandbox", "no-project"}},
		{"shell", runtime.Request{Access: runtime.AccessShell}, "--sandbox=workspace-write" + narrowed + isolated + placed + " -", []runtime.ControlName{"os-sandbox", "no-project"}},
		{
			"a folder for temporary files",
			runtime.Request{Access: runtime.AccessShell, Private: `/tmp/a "b`},
			"--sandbox=workspace-write" + strings.Replace(narrowed, "roots=[]", `roots=["/tmp/a \"b"]`, 1) + isolated + placed + " -",
			[]runtime.ControlName{"os-sandbox", "no-project"},
		},
		{"continued", runtime.Request{Access: runtime.AccessRead, Resume: thread}, "--sandbox=read-only" + isolated + placed + " resume " + thread + " -", []runtime.ControlName{"read-only", "no-project"}},
		{
			"a form of the answer",
			runtime.Request{Access: runtime.AccessRead, AnswerSchema: []byte(`{}`), AnswerSchemaAt: "/run/a b.json"},
			"--sandbox=read-only" + isolated + placed + " --output-schema /run/a b.json -",
			[]runtime.ControlName{"read-only", "no-project", "answer-schema"},
		},
		{
			"model and effort",
			runtime.Request{Access: runtime.AccessRead, Model: p.DefaultModel, Effort: "low"},
			"--sandbox=read-only" + isolated + placed + " --model " + p.DefaultModel + ` -c model_reasoning_effort="low" -`,
			[]runtime.ControlName{"read-only", "no-project"},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt, c.req.Dir = "do it", "/w"
			cmd, err := codex.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != exec+c.want {
				t.Errorf("argv\n%s\nwant\n%s", got, exec+c.want)
			}
			if !slices.Equal(cmd.Controls, c.controls) {
				t.Errorf("controls %v", cmd.Controls)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "TERM-GROUP" || cmd.Decoder.Runtime != "codex" {
				t.Errorf("stdin %q, polite stop %q, decoder %+v", cmd.Stdin, cmd.PoliteStop, cmd.Decoder)
			}
		})
	}
}

// Tool servers of the user's configuration would run outside the sandbox.
func TestConfiguredToolServersAreSwitchedOff(t *testing.T) {
	host := machine(t, sandbox{})
	server(host, `{"id":3,"result":{"config":{"mcp_servers":{"two":{},"one":{}}}}}`)
	p := codex.New().Probe(context.Background(), host)
	cmd, err := codex.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: "/w"}, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(cmd.Argv, " "); !strings.Contains(got, "-c mcp_servers.one.enabled=false -c mcp_servers.two.enabled=false") {
		t.Errorf("argv %s", got)
	}
}

func TestCommandRefusesWhatTheEvidenceDoesNotSupport(t *testing.T) {
	p := profile(t)
	cases := []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"allowed tools", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{}}, "allowed_tools"},
		{"disallowed tools", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"x"}}, "disallowed_tools"},
		{"agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "agent"},
		{"unlisted model", runtime.Request{Access: runtime.AccessRead, Model: "x"}, "does not list model"},
		{"unlisted effort", runtime.Request{Access: runtime.AccessRead, Effort: "x"}, "does not offer effort"},
		{"a session of another runtime", runtime.Request{Access: runtime.AccessRead, Resume: "ses_00000000ffff0000"}, "which is a UUID"},
		{"a flag as a session", runtime.Request{Access: runtime.AccessRead, Resume: "--last"}, "dash"},
		{"a form without a file", runtime.Request{Access: runtime.AccessRead, AnswerSchema: []byte(`{}`)}, "no absolute path"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := codex.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := codex.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	requests := func(p runtime.Profile) []runtime.Request {
		return []runtime.Request{
			{Access: runtime.AccessRead, Dir: "/w", Model: p.DefaultModel, Effort: "low"},
			{Access: runtime.AccessEdit, Dir: "/w"},
			{Access: runtime.AccessRead, Dir: "/w", AnswerSchema: []byte(`{}`), AnswerSchemaAt: "/run/schema.json"},
			{Access: runtime.AccessRead, Dir: "/w"},
		}
	}
	long := map[string]string{"-c": "--config"}
	for _, flag := range []string{"--json", "--sandbox", "--config", "--disable", "--skip-git-repo-check", "--cd", "--model", "--output-schema"} {
		t.Run(flag, func(t *testing.T) {
			host := machine(t, sandbox{})
			host.Answers["exec --help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/exec-help.txt"), flag))
			p := codex.New().Probe(context.Background(), host)
			for _, req := range requests(p) {
				cmd, err := codex.New().Command(req, p)
				if err != nil {
					continue // the route is blocked, which is the other right answer
				}
				for _, arg := range cmd.Argv {
					used, _, _ := strings.Cut(arg, "=")
					if used == flag || long[used] == flag {
						t.Errorf("%s is used though help does not show it: %v", flag, cmd.Argv)
					}
				}
			}
		})
	}
}

// A feature that this binary does not list is not named to it.
func TestUnlistedFeaturesAreNotNamed(t *testing.T) {
	host := machine(t, sandbox{})
	host.Answers["features list"] = probetest.Says("hooks stable true\n")
	p := codex.New().Probe(context.Background(), host)
	cmd, err := codex.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: "/w"}, p)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(cmd.Argv, " "); strings.Count(got, "--disable") != 1 || !strings.Contains(got, "--disable hooks") {
		t.Errorf("argv %s", got)
	}
}

// Whatever a spec asks for, no command switches the sandbox or the approvals off.
func TestNoCommandBypassesTheSandbox(t *testing.T) {
	p := profile(t)
	p.ModelsPartial = true
	word := rapid.SampledFrom([]string{
		"", "m", "--dangerously-bypass-approvals-and-sandbox", "danger-full-access", "low", "-s", "--sandbox=danger-full-access",
		`"x"={trust_level="trusted"}`, "/w", "--approve-for-me",
	})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Effort: word.Draw(t, "effort"),
			Resume: rapid.SampledFrom([]string{"", thread, "--last", "danger-full-access"}).Draw(t, "resume"), Dir: "/w/" + word.Draw(t, "dir"), ReadDirs: rapid.SliceOfN(word, 0, 2).Draw(t, "dirs"),
		}
		cmd, err := codex.New().Command(req, p)
		if err != nil {
			return
		}
		want := "--sandbox=workspace-write"
		if req.Access == runtime.AccessRead {
			want = "--sandbox=read-only"
		}
		for i, arg := range cmd.Argv[1:] {
			value := i > 0 && slices.Contains([]string{"--cd", "--model", "resume", "-c", "--disable"}, cmd.Argv[i])
			if value {
				continue
			}
			if strings.HasPrefix(arg, "--sandbox") && arg != want || arg == "-s" ||
				strings.Contains(arg, "danger") || strings.Contains(arg, "approve") || arg == "--add-dir" || arg == "--trust" {
				t.Fatalf("argument %q lifts a boundary: %v", arg, cmd.Argv)
			}
		}
		if !slices.Contains(cmd.Argv, want) {
			t.Fatalf("no sandbox in %v", cmd.Argv)
		}
	})
}

// A program whose help does not list the subcommand is not asked to go on with a session.
func TestWithoutResumeNoSessionIsContinued(t *testing.T) {
	p := profile(t)
	p.Flags = maps.Clone(p.Flags)
	delete(p.Flags, "resume")
	_, err := codex.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: "/w", Resume: thread}, p)
	if err == nil || !strings.Contains(err.Error(), "continued from an earlier session") {
		t.Errorf("got %v", err)
	}
}
