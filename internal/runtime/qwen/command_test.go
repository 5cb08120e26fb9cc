package qwen_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/probe/probetest"
	"orchestrate/internal/runtime/qwen"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return qwen.New().Probe(context.Background(), machine(t))
}

// values are what a command gives to one flag.
func values(cmd runtime.Command, flag string) string {
	var got []string
	for _, arg := range cmd.Argv {
		if v, ok := strings.CutPrefix(arg, flag+"="); ok {
			got = append(got, v)
		}
	}
	return strings.Join(got, " ")
}

// without is a command's words but for the tools that it takes away.
func without(cmd runtime.Command, flag string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(cmd.Argv), func(arg string) bool { return name(arg) == flag }), " ")
}

const project = "settings of the project are not shown to be kept out"

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	const always = "/opt/fake/bin/qwen --output-format=stream-json --safe-mode "
	reads := []runtime.ControlName{"read-only", "tool-limits"}
	edits := []string{project, "edits are not shown to stay in their folder"}
	cases := []struct {
		name     string
		req      runtime.Request
		want     string
		excluded []string // these among others
		offered  []string // none of these
		controls []runtime.ControlName
		limits   []string
	}{
		{
			"read",
			runtime.Request{Access: runtime.AccessRead},
			"--approval-mode=default",
			[]string{"edit", "write_file", "run_shell_command", "monitor", "agent", "web_fetch"},
			[]string{"read_file", "glob", "grep_search"},
			reads,
			[]string{project},
		},
		{
			"research",
			runtime.Request{Access: runtime.AccessRead, Task: "research"},
			"--approval-mode=default --allowed-tools=web_fetch",
			[]string{"edit"},
			[]string{"web_fetch"},
			reads,
			[]string{project},
		},
		{
			"edit",
			runtime.Request{Access: runtime.AccessEdit},
			"--approval-mode=auto-edit",
			[]string{"run_shell_command", "monitor", "notebook_edit"},
			[]string{"edit", "write_file"},
			[]runtime.ControlName{"tool-limits"},
			edits,
		},
		{
			"shell",
			runtime.Request{Access: runtime.AccessShell},
			"--approval-mode=auto-edit --allowed-tools=run_shell_command",
			[]string{"monitor", "agent"},
			[]string{"run_shell_command", "edit"},
			[]runtime.ControlName{"tool-limits"},
			append(slices.Clone(edits), "shell not confined"),
		},
		{
			"folders to read",
			runtime.Request{Access: runtime.AccessRead, ReadDirs: []string{"/run/a b", "/c"}},
			"--approval-mode=default --add-dir=/run/a b --add-dir=/c", nil, nil, reads,
			[]string{project},
		},
		{
			"folders to read for a writer",
			runtime.Request{Access: runtime.AccessEdit, ReadDirs: []string{"/c"}},
			"--approval-mode=auto-edit --add-dir=/c", nil, nil,
			[]runtime.ControlName{"tool-limits"},
			append(slices.Clone(edits), "folders given to read can be edited too"),
		},
		{
			"tools by name",
			runtime.Request{
				Access: runtime.AccessShell, AllowedTools: []string{"read_file", "run_shell_command"}, DisallowedTools: []string{"other_tool"},
			},
			"--approval-mode=auto-edit --allowed-tools=run_shell_command",
			[]string{"edit", "write_file", "other_tool", "glob"},
			[]string{"read_file"},
			[]runtime.ControlName{"tool-limits"},
			append(slices.Clone(edits), "shell not confined"),
		},
		{
			"a tool taken away",
			runtime.Request{Access: runtime.AccessShell, DisallowedTools: []string{"run_shell_command"}},
			"--approval-mode=auto-edit",
			[]string{"run_shell_command"},
			nil,
			[]runtime.ControlName{"tool-limits"},
			append(slices.Clone(edits), "shell not confined"),
		},
		{
			"a form of the answer",
			runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"read_file"}, AnswerSchema: []byte(`{"type": "object"}`)},
			`--approval-mode=default --json-schema={"type":"object"}`,
			[]string{"web_fetch", "run_shell_command", "write_file"},
			nil, append(slices.Clone(reads), "answer-schema"),
			[]string{project},
		},
		{
			"model and session",
			runtime.Request{Access: runtime.AccessRead, Model: "m-1", Resume: "s-1"},
			"--approval-mode=default --model=m-1 --resume=s-1", nil, nil, append(slices.Clone(reads), "model"),
			[]string{project},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt = "do it"
			cmd, err := qwen.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := without(cmd, "--exclude-tools"); got != always+c.want {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.want)
			}
			excluded := strings.Fields(values(cmd, "--exclude-tools"))
			for _, tool := range c.excluded {
				if !slices.Contains(excluded, tool) {
					t.Errorf("%s is not taken away", tool)
				}
			}
			for _, tool := range c.offered {
				if slices.Contains(excluded, tool) {
					t.Errorf("%s is taken away", tool)
				}
			}
			if !slices.Equal(cmd.Controls, c.controls) || !slices.Equal(cmd.Limits, c.limits) {
				t.Errorf("controls %v, limits %q", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "TERM-GROUP" || cmd.Decoder.Runtime != "qwen" {
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
		{"a shell for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"run_shell_command"}}, "run_shell_command"},
		{"an edit for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"edit"}}, "edit"},
		{"a misspelt tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"raed_file"}}, "raed_file"},
		{"a narrowed tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"run_shell_command(ls)"}}, "is not a tool"},
		{"a flag as a name", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"--x"}}, "not the plain name"},
		{"a folder that would be two", runtime.Request{Access: runtime.AccessRead, ReadDirs: []string{"/a,/b"}}, "comma"},
		{"an effort", runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "no flag for a reasoning depth"},
		{"an agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "no flag that names an agent"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := qwen.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := qwen.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	requests := []runtime.Request{
		{Access: runtime.AccessRead, Model: "m", Resume: "s", ReadDirs: []string{"/in"}},
		{Access: runtime.AccessEdit, DisallowedTools: []string{"write_file"}},
		{Access: runtime.AccessShell},
		{Access: runtime.AccessRead, AnswerSchema: []byte(`{}`)},
		{Access: runtime.AccessRead},
	}
	flags := []string{
		"--output-format", "--safe-mode", "--approval-mode", "--exclude-tools", "--allowed-tools", "--add-dir", "--model", "--resume", "--json-schema",
	}
	for flag := range usedFlags(profile(t), requests) {
		if !slices.Contains(flags, flag) {
			t.Errorf("%s is used and not tried here", flag)
		}
	}
	for _, flag := range append(flags, "--acp") {
		t.Run(flag, func(t *testing.T) {
			host := lacking(t, flag)
			p := qwen.New().Probe(context.Background(), host)
			if usedFlags(p, requests)[flag] {
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

// Without what keeps it from writing, a reader is blocked, not trusted.
func TestNoReaderWithoutItsBoundary(t *testing.T) {
	for _, flag := range []string{"--approval-mode", "--exclude-tools", "--safe-mode"} {
		p := qwen.New().Probe(context.Background(), lacking(t, flag))
		if _, err := qwen.New().Command(runtime.Request{Access: runtime.AccessRead}, p); err == nil {
			t.Errorf("a reader runs without %s", flag)
		}
		if p.State == runtime.StateAvailable || (p.Routable() && len(p.Limits) < 3) {
			t.Errorf("without %s: state %q, limits %v", flag, p.State, p.Limits)
		}
	}
}

// lacking is a machine on which the help does not show flag.
func lacking(t *testing.T, flag string) *probetest.Host {
	t.Helper()
	host := machine(t)
	host.Answers["--help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/help.txt"), flag))
	return host
}

func usedFlags(p runtime.Profile, requests []runtime.Request) map[string]bool {
	used := map[string]bool{}
	for _, req := range requests {
		cmd, err := qwen.New().Command(req, p)
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
		"", "--yolo", "-y", "yolo", "--approval-mode=yolo", "x --y", "/tmp/a", "-p", "edit", "read_file", "run_shell_command", "web_fetch",
	})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Resume: word.Draw(t, "resume"), Task: "research",
			ReadDirs:        rapid.SliceOfN(word, 0, 2).Draw(t, "dirs"),
			AllowedTools:    rapid.SliceOfN(word, 0, 3).Draw(t, "allowed"),
			DisallowedTools: rapid.SliceOfN(word, 0, 2).Draw(t, "disallowed"),
		}
		cmd, err := qwen.New().Command(req, p)
		if err != nil {
			return
		}
		for _, arg := range cmd.Argv[1:] {
			if !p.Shows(name(arg)) && !p.Shows(arg) {
				t.Fatalf("argument %q is not a flag that help shows", arg)
			}
			if name(arg) == "--approval-mode" && arg != "--approval-mode=default" && arg != "--approval-mode=auto-edit" {
				t.Fatalf("argument %q lifts a boundary", arg)
			}
			if req.Access == runtime.AccessRead && (arg == "--approval-mode=auto-edit" || arg == "--allowed-tools=run_shell_command") {
				t.Fatalf("a reader got %q", arg)
			}
		}
	})
}
