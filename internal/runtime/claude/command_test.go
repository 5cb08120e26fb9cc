package claude_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/claude"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return claude.New().Probe(context.Background(), machine(t))
}

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	const always = "/opt/fake/bin/claude --print --output-format=stream-json --verbose --setting-sources= --strict-mcp-config --disable-slash-commands "
	cases := []struct {
		name     string
		req      runtime.Request
		want     string
		controls []runtime.ControlName
		limits   []string
	}{
		{
			"read",
			runtime.Request{Access: runtime.AccessRead},
			"--tools=Glob,Grep,Read",
			[]runtime.ControlName{"no-project", "read-only", "tool-limits"},
			nil,
		},
		{
			"a reader that may leave files",
			runtime.Request{Access: runtime.AccessRead, Out: "/run/j/artifacts", Leaves: true, ReadDirs: []string{"/in"}},
			"--append-system-prompt=You may leave files in the folder /run/j/artifacts and nowhere else. --tools=Edit,Glob,Grep,Read,Write --allowedTools=Edit(//run/j/artifacts/**) --allowedTools=Read(//in/**)",
			[]runtime.ControlName{"no-project", "artifacts-only", "tool-limits"},
			nil,
		},
		{
			"research",
			runtime.Request{Access: runtime.AccessRead, Task: "research"},
			"--tools=Glob,Grep,Read,WebFetch,WebSearch --allowedTools=WebSearch --allowedTools=WebFetch",
			[]runtime.ControlName{"no-project", "read-only", "tool-limits"},
			nil,
		},
		{
			"edit",
			runtime.Request{Access: runtime.AccessEdit},
			"--permission-mode=acceptEdits --tools=Edit,Glob,Grep,Read,Write",
			[]runtime.ControlName{"no-project", "edits-only", "tool-limits"},
			nil,
		},
		{
			"shell",
			runtime.Request{Access: runtime.AccessShell},
			"--permission-mode=acceptEdits --tools=Bash,Edit,Glob,Grep,Read,Write --allowedTools=Bash",
			[]runtime.ControlName{"no-project", "tool-limits"},
			[]string{"shell not confined"},
		},
		{
			"a folder to read",
			runtime.Request{Access: runtime.AccessEdit, ReadDirs: []string{"/run/a b"}},
			"--permission-mode=acceptEdits --tools=Edit,Glob,Grep,Read,Write --allowedTools=Read(//run/a b/**)",
			[]runtime.ControlName{"no-project", "edits-only", "tool-limits"},
			nil,
		},
		{
			"tools by name",
			runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"Read", "Bash(go test *)"}, DisallowedTools: []string{"Bash(rm *)"}},
			"--permission-mode=acceptEdits --tools=Bash,Read --allowedTools=Bash(go test *) --disallowedTools=Bash(rm *)",
			[]runtime.ControlName{"no-project", "tool-limits"},
			[]string{"shell not confined"},
		},
		{
			"a tool taken away",
			runtime.Request{Access: runtime.AccessEdit, DisallowedTools: []string{"Write"}},
			"--permission-mode=acceptEdits --tools=Edit,Glob,Grep,Read --disallowedTools=Write",
			[]runtime.ControlName{"no-project", "edits-only", "tool-limits"},
			nil,
		},
		{
			"no tool at all",
			runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{}},
			"--tools=",
			[]runtime.ControlName{"no-project", "read-only", "tool-limits"},
			nil,
		},
		{
			"a form of the answer, without the name of its dialect",
			runtime.Request{Access: runtime.AccessRead, AnswerSchema: []byte(`{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}`)},
			`--tools=Glob,Grep,Read --json-schema={"type":"object"}`,
			[]runtime.ControlName{"no-project", "read-only", "tool-limits", "answer-schema"},
			nil,
		},
		{
			"model, effort, agent, session",
			runtime.Request{Access: runtime.AccessRead, Model: "sonnet", Effort: "low", Agent: "Explore", Resume: "s-1"},
			"--tools=Glob,Grep,Read --model=sonnet --effort=low --agent=Explore --resume=s-1",
			[]runtime.ControlName{"no-project", "read-only", "tool-limits", "model", "effort", "agent"},
			nil,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt = "do it"
			cmd, err := claude.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != always+c.want {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.want)
			}
			if !slices.Equal(cmd.Controls, c.controls) || !slices.Equal(cmd.Limits, c.limits) {
				t.Errorf("controls %v, limits %v", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "INT" || cmd.Decoder.Runtime != "claude" {
				t.Errorf("stdin %q, polite stop %q, decoder %+v", cmd.Stdin, cmd.PoliteStop, cmd.Decoder)
			}
		})
	}
}

func TestCommandRefusesWhatTheEvidenceDoesNotSupport(t *testing.T) {
	p := profile(t)
	cases := []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"a shell for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"Bash"}}, "Bash"},
		{"an edit for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"Edit"}}, "Edit"},
		{"a misspelt tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"Raed"}}, "Raed"},
		{"two rules in one", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"Bash(a),Write(b"}}, "not a tool rule"},
		{"a flag as a rule", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"--x"}}, "not a tool rule"},
		{"a folder with a pattern in its name", runtime.Request{Access: runtime.AccessRead, ReadDirs: []string{"/a*"}}, "/a*"},
		{"an effort of another model", runtime.Request{Access: runtime.AccessRead, Model: "haiku", Effort: "low"}, "does not offer effort"},
		{"an effort of an unlisted model", runtime.Request{Access: runtime.AccessRead, Model: "x", Effort: "low"}, "cannot be checked"},
		{"an unknown agent", runtime.Request{Access: runtime.AccessRead, Agent: "nobody"}, "no agent"},
		{"a form that is none", runtime.Request{Access: runtime.AccessRead, AnswerSchema: []byte("{")}, "no JSON object"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := claude.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := claude.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	requests := []runtime.Request{
		{Access: runtime.AccessRead, Model: "sonnet", Effort: "low", Agent: "Explore", Resume: "s", ReadDirs: []string{"/in"}},
		{Access: runtime.AccessEdit, DisallowedTools: []string{"Write"}},
		{Access: runtime.AccessShell},
		{Access: runtime.AccessRead},
	}
	flags := []string{
		"--print", "--output-format", "--input-format", "--verbose", "--tools", "--allowedTools", "--disallowedTools", "--setting-sources",
		"--strict-mcp-config", "--disable-slash-commands", "--permission-mode", "--model", "--effort", "--agent", "--resume",
	}
	used := usedFlags(t, profile(t), requests)
	for flag := range used {
		if !slices.Contains(flags, flag) {
			t.Errorf("%s is used and not tried here", flag)
		}
	}
	for _, flag := range flags {
		t.Run(flag, func(t *testing.T) {
			host := machine(t)
			host.Answers["--help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/help.txt"), flag))
			p := claude.New().Probe(context.Background(), host)
			if usedFlags(t, p, requests)[flag] {
				t.Errorf("%s is used though help does not show it", flag)
			}
			for _, q := range host.Asked {
				if slices.ContainsFunc(q.Argv, func(arg string) bool { return name(arg) == flag }) {
					t.Errorf("probe asked %v", q.Argv)
				}
			}
		})
	}
}

// Without the flags that keep other code out, a reader is blocked, not trusted.
func TestNoReaderWithoutItsBoundary(t *testing.T) {
	for _, flag := range []string{"--tools", "--setting-sources", "--strict-mcp-config"} {
		host := machine(t)
		host.Answers["--help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/help.txt"), flag))
		p := claude.New().Probe(context.Background(), host)
		if _, err := claude.New().Command(runtime.Request{Access: runtime.AccessRead}, p); err == nil {
			t.Errorf("a reader runs without %s", flag)
		}
		if p.State != runtime.StateConstrained || len(p.Limits) == 0 {
			t.Errorf("without %s: state %q, limits %v", flag, p.State, p.Limits)
		}
	}
}

func usedFlags(t *testing.T, p runtime.Profile, requests []runtime.Request) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, req := range requests {
		cmd, err := claude.New().Command(req, p)
		if err != nil {
			continue // the route is blocked, which is the other right answer
		}
		for _, arg := range cmd.Argv[1:] {
			used[name(arg)] = true
		}
	}
	return used
}

func name(arg string) string {
	flag, _, _ := strings.Cut(arg, "=")
	return flag
}

// Whatever a spec asks for, no command switches the program's permissions off,
// and no text of a request becomes an argument of its own.
func TestNoCommandBypassesPermissions(t *testing.T) {
	p := profile(t)
	word := rapid.SampledFrom([]string{
		"", "sonnet", "--dangerously-skip-permissions", "bypassPermissions", "low", "Explore", "Read", "Bash", "Bash(x)",
		"Write", "--permission-mode=bypassPermissions", "x --y", "/tmp/a", "-p",
	})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Effort: word.Draw(t, "effort"),
			Agent: word.Draw(t, "agent"), Resume: word.Draw(t, "resume"), Task: "research",
			ReadDirs:        rapid.SliceOfN(word, 0, 2).Draw(t, "dirs"),
			AllowedTools:    rapid.SliceOfN(word, 0, 3).Draw(t, "allowed"),
			DisallowedTools: rapid.SliceOfN(word, 0, 2).Draw(t, "disallowed"),
		}
		cmd, err := claude.New().Command(req, p)
		if err != nil {
			return
		}
		for _, arg := range cmd.Argv[1:] {
			if _, shown := p.Flags[name(arg)]; !shown && p.Flags[arg] == "" {
				t.Fatalf("argument %q is not a flag that help shows", arg)
			}
			if strings.Contains(name(arg), "dangerously") || (name(arg) == "--permission-mode" && arg != "--permission-mode=acceptEdits") {
				t.Fatalf("argument %q lifts a boundary", arg)
			}
			// A folder to read may have any name.
			reads := strings.HasPrefix(arg, "--allowedTools=Read(//")
			if req.Access == runtime.AccessRead && !reads && name(arg) != "--disallowedTools" && name(arg) != "--model" && name(arg) != "--resume" &&
				(strings.Contains(arg, "Bash") || strings.Contains(arg, "Write") || name(arg) == "--permission-mode") {
				t.Fatalf("a reader got %q", arg)
			}
		}
	})
}

// What a project brings applies only where the operator lets it, and then no control says
// that it is kept out.
func TestAProjectThatIsLetIn(t *testing.T) {
	cmd, err := claude.New().Command(runtime.Request{Access: runtime.AccessRead, Prompt: "x", Project: true}, profile(t))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(cmd.Argv, "--setting-sources=project") || !slices.Contains(cmd.Argv, "--strict-mcp-config") {
		t.Errorf("argv %q", cmd.Argv)
	}
	if slices.Contains(cmd.Controls, runtime.ControlNoProject) || !strings.Contains(strings.Join(cmd.Limits, "; "), "as the operator allows") {
		t.Errorf("controls %v, limits %q", cmd.Controls, cmd.Limits)
	}
}
