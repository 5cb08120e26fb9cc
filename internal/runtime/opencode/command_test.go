package opencode_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/opencode"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	host := machine(t)
	host.Answers["models"] = probetest.Says("fake/fake-1\n{}\na/b\n{\"variants\":{\"low\":{}}}\n")
	return opencode.New().Probe(context.Background(), host)
}

// permission is the table that the command gives.
func permission(t testing.TB, cmd runtime.Command) string {
	t.Helper()
	last := cmd.Env[len(cmd.Env)-1]
	table, ok := strings.CutPrefix(last, "OPENCODE_PERMISSION=")
	if !ok || !json.Valid([]byte(table)) {
		t.Fatalf("no permission table in %q", last)
	}
	return table
}

const (
	always    = "/opt/fake/bin/opencode run --format=json --pure --dir=/w"
	refusals  = `"task":"deny","todowrite":"deny","todoread":"deny",`
	noWeb     = `"webfetch":"deny","websearch":"deny",`
	others    = `"codesearch":"deny","lsp":"deny","skill":"deny","question":"deny","doom_loop":"deny"`
	rest      = others + "}"
	edits     = others + `,"edit":{"*":"deny","w/*":"allow"}}`
	reading   = `{"*":"deny","read":{"*":"allow","*.env":"deny","*.env.*":"deny","*.env.example":"allow"},`
	searching = `"glob":"allow","grep":"allow","list":"allow",`
)

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	cases := []struct {
		name     string
		req      runtime.Request
		argv     string
		table    string
		controls []runtime.ControlName
		limits   []string
	}{
		{
			"read",
			runtime.Request{Access: runtime.AccessRead},
			"",
			reading + `"edit":"deny","bash":"deny","external_directory":"deny",` + searching + refusals + noWeb + rest,
			[]runtime.ControlName{"no-project", "read-only", "tool-limits"},
			nil,
		},
		{
			"research and a folder to read",
			runtime.Request{Access: runtime.AccessRead, Task: "research", ReadDirs: []string{"/run/a b"}},
			"",
			reading + `"edit":"deny","bash":"deny","external_directory":{"*":"deny","/run/a b/*":"allow"},` + searching + refusals +
				`"webfetch":"allow","websearch":"allow",` + rest,
			[]runtime.ControlName{"no-project", "read-only", "tool-limits"},
			nil,
		},
		{
			"edit",
			runtime.Request{Access: runtime.AccessEdit},
			"",
			reading + `"bash":"deny","external_directory":"deny",` + searching + refusals + noWeb + edits,
			[]runtime.ControlName{"no-project", "edits-only", "tool-limits"},
			nil,
		},
		{
			"shell",
			runtime.Request{Access: runtime.AccessShell},
			"",
			reading + `"bash":"allow","external_directory":"allow",` + searching + refusals + noWeb + edits,
			[]runtime.ControlName{"no-project", "tool-limits"},
			[]string{"shell not confined"},
		},
		{
			"tools by name",
			runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"bash(go test *)"}, DisallowedTools: []string{"bash(go test ./x*)"}},
			"",
			`{"*":"deny","read":"deny","edit":"deny","bash":{"*":"deny","go test *":"allow","go test ./x*":"deny"},"external_directory":"allow",` +
				`"glob":"deny","grep":"deny","list":"deny",` + refusals + noWeb + rest,
			[]runtime.ControlName{"no-project", "tool-limits"},
			[]string{"shell not confined"},
		},
		{
			"no tool at all",
			runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{}},
			"",
			`{"*":"deny","read":"deny","edit":"deny","bash":"deny","external_directory":"deny","glob":"deny","grep":"deny","list":"deny",` + refusals + noWeb + rest,
			[]runtime.ControlName{"no-project", "read-only", "tool-limits"},
			nil,
		},
		{
			"model, effort, agent, session",
			runtime.Request{Access: runtime.AccessRead, Model: "a/b", Effort: "low", Agent: "plan", Resume: "ses_1", AllowedTools: []string{}},
			" --model=a/b --variant=low --agent=plan --session=ses_1",
			`{"*":"deny","read":"deny","edit":"deny","bash":"deny","external_directory":"deny","glob":"deny","grep":"deny","list":"deny",` + refusals + noWeb + rest,
			[]runtime.ControlName{"no-project", "read-only", "tool-limits", "model", "effort", "agent"},
			nil,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt, c.req.Dir = "do it", "/w"
			cmd, err := opencode.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != always+c.argv {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.argv)
			}
			if got := permission(t, cmd); got != c.table {
				t.Errorf("table\n%s\nwant\n%s", got, c.table)
			}
			if !slices.Equal(cmd.Controls, c.controls) || !slices.Equal(cmd.Limits, c.limits) {
				t.Errorf("controls %v, limits %v", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "" || cmd.Decoder.Runtime != "opencode" {
				t.Errorf("stdin %q, polite stop %q, decoder %+v", cmd.Stdin, cmd.PoliteStop, cmd.Decoder)
			}
			if !slices.Contains(cmd.Env, "OPENCODE_DISABLE_PROJECT_CONFIG=1") {
				t.Errorf("the project's configuration is not kept out: %v", cmd.Env)
			}
		})
	}
}

// The program counts all of a git checkout as inside; a job's folder may be less.
func TestEditsStayInTheJobsFolder(t *testing.T) {
	p := profile(t)
	repo := t.TempDir()
	sub := filepath.Join(repo, "a", "b")
	for _, dir := range []string{sub, filepath.Join(repo, ".git")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{
		repo: `"edit":{"*":"allow","../*":"deny"}`,
		sub:  `"edit":{"*":"deny","a/b/*":"allow"}`,
	} {
		cmd, err := opencode.New().Command(runtime.Request{Access: runtime.AccessEdit, Dir: dir}, p)
		if err != nil {
			t.Fatal(err)
		}
		if got := permission(t, cmd); !strings.Contains(got, want) {
			t.Errorf("%s: table %s, want %s in it", dir, got, want)
		}
	}
}

// An edit through a link would land where the link leads.
func TestNoEditsWhereALinkLeadsOut(t *testing.T) {
	p := profile(t)
	elsewhere := t.TempDir()
	for name, c := range map[string]struct {
		target string
		closed bool
	}{
		"out":                   {elsewhere, false},
		"out by a dangling one": {"../../new", false},
		"inside":                {"sub", true},
		"inside, dangling":      {"sub/new", true},
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(c.target, filepath.Join(dir, "link")); err != nil {
			t.Logf("no links on this system: %v", err)
			return
		}
		_, err := opencode.New().Command(runtime.Request{Access: runtime.AccessEdit, Dir: dir}, p)
		if (err == nil) != c.closed {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := opencode.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: dir}, p); err != nil {
			t.Errorf("%s: a reader: %v", name, err)
		}
	}
}

func TestCommandRefusesWhatTheEvidenceDoesNotSupport(t *testing.T) {
	p := profile(t)
	cases := []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"a shell for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"bash"}}, "bash"},
		{"an edit for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"edit"}}, "edit"},
		{"another program's tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"Bash"}}, "not a tool rule"},
		{"a misspelt tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"raed"}}, "raed"},
		{"a tool that is no permission", runtime.Request{Access: runtime.AccessEdit, DisallowedTools: []string{"write"}}, "no permission"},
		{"an open rule", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"bash(x"}}, "not a tool rule"},
		{"an empty rule", runtime.Request{Access: runtime.AccessShell, DisallowedTools: []string{"bash()"}}, "not a tool rule"},
		{"edits by pattern", runtime.Request{Access: runtime.AccessEdit, AllowedTools: []string{"edit(x/*)"}}, "not by a pattern"},
		{"no edits by pattern", runtime.Request{Access: runtime.AccessEdit, DisallowedTools: []string{"edit(x/*)"}}, "not by a pattern"},
		{"a folder with a pattern in its name", runtime.Request{Access: runtime.AccessRead, ReadDirs: []string{"/a*"}}, "/a*"},
		{"a cwd with a pattern in its name", runtime.Request{Access: runtime.AccessEdit, Dir: "/nowhere?"}, "nowhere?"},
		{"an unlisted model", runtime.Request{Access: runtime.AccessRead, Model: "x"}, "does not list model"},
		{"an effort of another model", runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "does not offer effort"},
		{"an unlisted agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "lists no agent"},
		{"a subagent", runtime.Request{Access: runtime.AccessRead, Agent: "explore"}, "lists no agent"},
		{"a flag as a session", runtime.Request{Access: runtime.AccessRead, Resume: "--continue"}, "begins with"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := opencode.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := opencode.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// Patterns of the user's own would be merged with those of a job.
func TestNoPatternsBesideTheUsersOwn(t *testing.T) {
	host := machine(t)
	host.Answers["debug config"] = probetest.Says(`{"permission":{"bash":{"rm *":"allow"}}}`)
	p := opencode.New().Probe(context.Background(), host)
	req := runtime.Request{Access: runtime.AccessShell, Dir: "/w", DisallowedTools: []string{"bash(rm *)"}}
	if _, err := opencode.New().Command(req, p); err == nil || !strings.Contains(err.Error(), "merged") {
		t.Errorf("error %v", err)
	}
	req.DisallowedTools = []string{"bash"}
	if _, err := opencode.New().Command(req, p); err != nil {
		t.Errorf("whole tools: %v", err)
	}
}

// An agent with permissions of its own is not asked for.
func TestAnAgentMustKeepToTheTable(t *testing.T) {
	host := machine(t)
	agents(host, "plan (primary)", "plan (primary)\n  [{\"permission\":\"*\",\"pattern\":\"*\",\"action\":\"allow\"}]\nother (primary)")
	p := opencode.New().Probe(context.Background(), host)
	for _, access := range []runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell} {
		_, err := opencode.New().Command(runtime.Request{Access: access, Dir: "/w", Agent: "plan"}, p)
		if err == nil || !strings.Contains(err.Error(), "permissions of its own") {
			t.Errorf("%s access: %v", access, err)
		}
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestNoFlagWithoutItsHelpLine(t *testing.T) {
	requests := []runtime.Request{
		{Access: runtime.AccessRead, Dir: "/w", Model: "fake/fake-1", Agent: "plan", Resume: "ses_1"},
		{Access: runtime.AccessEdit, Dir: "/w"},
		{Access: runtime.AccessShell, Dir: "/w", Model: "a/b", Effort: "low"},
	}
	flags := []string{"--format", "--pure", "--dir", "--model", "--variant", "--agent", "--session"}
	for flag := range used(profile(t), requests) {
		if !slices.Contains(flags, flag) {
			t.Errorf("%s is used and not tried here", flag)
		}
	}
	for _, flag := range flags {
		t.Run(flag, func(t *testing.T) {
			host := machine(t)
			host.Answers["run --help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/run-help.txt"), flag))
			p := opencode.New().Probe(context.Background(), host)
			if used(p, requests)[flag] {
				t.Errorf("%s is used though help does not show it", flag)
			}
			for _, q := range host.Asked {
				if slices.Contains(q.Argv, flag) {
					t.Errorf("probe asked %v", q.Argv)
				}
			}
		})
	}
}

func used(p runtime.Profile, requests []runtime.Request) map[string]bool {
	flags := map[string]bool{}
	for _, req := range requests {
		cmd, err := opencode.New().Command(req, p)
		if err != nil {
			continue // the route is blocked, which is the other right answer
		}
		for _, arg := range cmd.Argv[2:] {
			flags[name(arg)] = true
		}
	}
	return flags
}

func name(arg string) string {
	flag, _, _ := strings.Cut(arg, "=")
	return flag
}

// Whatever a spec asks for, no command approves by itself, no text of a request
// becomes an argument of its own, and a reader's table allows reading only.
func TestNoCommandBypassesPermissions(t *testing.T) {
	p := profile(t)
	word := rapid.SampledFrom([]string{
		"", "fake/fake-1", "--auto", "low", "plan", "read", "bash", "bash(x)", `bash(")`, "edit", "*", "*(*)", "external_directory",
		"ses_1", "x --y", "/tmp/a", "-p",
	})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Dir:    "/nowhere", Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Effort: word.Draw(t, "effort"),
			Agent: word.Draw(t, "agent"), Resume: word.Draw(t, "resume"), Task: "research",
			ReadDirs:        rapid.SliceOfN(word, 0, 2).Draw(t, "dirs"),
			AllowedTools:    rapid.SliceOfN(word, 0, 3).Draw(t, "allowed"),
			DisallowedTools: rapid.SliceOfN(word, 0, 2).Draw(t, "disallowed"),
		}
		cmd, err := opencode.New().Command(req, p)
		if err != nil {
			return
		}
		for _, arg := range cmd.Argv[2:] {
			if _, shown := p.Flags[name(arg)]; !shown && p.Flags[arg] == "" || arg == "--auto" {
				t.Fatalf("argument %q is not a flag that help shows, or lifts a boundary", arg)
			}
		}
		var table map[string]any
		last := cmd.Env[len(cmd.Env)-1]
		if err := json.Unmarshal([]byte(strings.TrimPrefix(last, "OPENCODE_PERMISSION=")), &table); err != nil {
			t.Fatalf("%s: %v", last, err)
		}
		if table["*"] != "deny" || table["task"] != "deny" {
			t.Fatalf("table %s", last)
		}
		if req.Access == runtime.AccessRead && (table["edit"] != "deny" || table["bash"] != "deny") {
			t.Fatalf("a reader got %s", last)
		}
	})
}
