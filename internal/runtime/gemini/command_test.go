package gemini_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/gemini"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return gemini.New().Probe(context.Background(), machine(t))
}

// Where the parts of a command line stand.
const (
	atPolicy  = 4
	atProgram = 5
	atFlags   = 6
)

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	const always = "--output-format=stream-json --skip-trust --allowed-mcp-server-names=none --extensions=none "
	read := []runtime.ControlName{"no-project", "read-only", "tool-limits"}
	edit := []runtime.ControlName{"no-project", "edits-only", "tool-limits"}
	cases := []struct {
		name     string
		req      runtime.Request
		flags    string
		tools    string
		controls []runtime.ControlName
		limits   []string
	}{
		{
			"read",
			runtime.Request{Access: runtime.AccessRead},
			"--approval-mode=default",
			`"glob", "grep_search", "list_directory", "read_file"`, read, nil,
		},
		{
			"research",
			runtime.Request{Access: runtime.AccessRead, Task: "research"},
			"--approval-mode=default",
			`"glob", "google_web_search", "grep_search", "list_directory", "read_file", "web_fetch"`, read, nil,
		},
		{
			"edit",
			runtime.Request{Access: runtime.AccessEdit},
			"--approval-mode=auto_edit",
			`"glob", "grep_search", "list_directory", "read_file", "replace", "write_file"`, edit, nil,
		},
		{
			"shell",
			runtime.Request{Access: runtime.AccessShell},
			"--approval-mode=auto_edit",
			`"glob", "grep_search", "list_directory", "read_file", "replace", "run_shell_command", "write_file"`,
			[]runtime.ControlName{"no-project", "tool-limits"},
			[]string{"shell not confined"},
		},
		{
			"tools by name",
			runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"read_file", "shell", "glob"}, DisallowedTools: []string{"glob"}},
			"--approval-mode=auto_edit", `"read_file", "run_shell_command"`,
			[]runtime.ControlName{"no-project", "tool-limits"},
			[]string{"shell not confined"},
		},
		{
			"model, session, folder",
			runtime.Request{Access: runtime.AccessRead, Model: "m", Resume: "s-1", ReadDirs: []string{"/run/a b"}},
			"--approval-mode=default --include-directories=/run/a b --model=m --resume=s-1",
			`"glob", "grep_search", "list_directory", "read_file"`,
			[]runtime.ControlName{"no-project", "read-only", "model", "tool-limits"},
			nil,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt = "do it"
			cmd, err := gemini.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv[atFlags:], " "); got != always+c.flags || cmd.Argv[atProgram] != "/opt/fake/bin/gemini" {
				t.Errorf("program %s\n%s\nwant\n%s", cmd.Argv[atProgram], got, always+c.flags)
			}
			want := "[[rule]]\ntoolName = [\"*\"]\ndecision = \"deny\"\npriority = 1\n\n" +
				"[[rule]]\ntoolName = [" + c.tools + "]\ndecision = \"allow\"\npriority = 2\n\n"
			if cmd.Argv[atPolicy] != want {
				t.Errorf("policy\n%s\nwant\n%s", cmd.Argv[atPolicy], want)
			}
			if !slices.Equal(cmd.Controls, c.controls) || !slices.Equal(cmd.Limits, append([]string{"hooks in the user's own settings of gemini run"}, c.limits...)) {
				t.Errorf("controls %v, limits %v", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "TERM-GROUP" || cmd.Decoder.Runtime != "gemini" {
				t.Errorf("stdin %q, polite stop %q, decoder %+v", cmd.Stdin, cmd.PoliteStop, cmd.Decoder)
			}
			if !slices.Contains(cmd.Env, "GEMINI_CLI_TRUST_WORKSPACE=false") || !slices.Contains(cmd.Env, "GEMINI_CLI_NO_RELAUNCH=true") {
				t.Errorf("environment %v", cmd.Env)
			}
		})
	}
}

// A job without any tool is one under a policy that only refuses.
func TestNoToolAtAll(t *testing.T) {
	cmd, err := gemini.New().Command(runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{}}, profile(t))
	if err != nil || strings.Contains(cmd.Argv[atPolicy], "allow") {
		t.Errorf("policy %v, error %v", cmd.Argv, err)
	}
}

// A folder that a writer may read is shut for its edits, and so is every path
// that could lead there.
func TestAWriterDoesNotEditWhatItMayOnlyRead(t *testing.T) {
	p := profile(t)
	cmd, err := gemini.New().Command(runtime.Request{Access: runtime.AccessEdit, Dir: "/w/a.b", ReadDirs: []string{"/in"}}, p)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`argsPattern = "\"file_path\":\"(?!/w/a\\.b/)(?:/|~|[A-Za-z]:)"`,
		`argsPattern = "\"file_path\":\"[^\"]*\\.\\."`,
		`denyMessage = "This job may edit only inside /w/a.b, by a path without \"..\"."`,
	} {
		if !strings.Contains(cmd.Argv[atPolicy], want) {
			t.Errorf("policy\n%s\nlacks %s", cmd.Argv[atPolicy], want)
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
		{"a shell for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"shell"}}, "shell"},
		{"an edit for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"replace"}}, "replace"},
		{"a misspelt tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"raed_file"}}, "raed_file"},
		{"a misspelt refusal", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"wirte_file"}}, "wirte_file"},
		{"a rule in parentheses", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"shell(go test)"}}, "without a rule"},
		{"the tool that lifts the mode", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"exit_plan_mode"}}, "exit_plan_mode"},
		{"a folder whose name would be two", runtime.Request{Access: runtime.AccessRead, ReadDirs: []string{"/a,/b"}}, "comma"},
		{"an effort", runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "no flag for a reasoning depth"},
		{"an agent", runtime.Request{Access: runtime.AccessRead, Agent: "nobody"}, "no flag that names an agent"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := gemini.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := gemini.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	requests := []runtime.Request{
		{Access: runtime.AccessRead, Model: "m", Resume: "s", ReadDirs: []string{"/in"}},
		{Access: runtime.AccessEdit},
		{Access: runtime.AccessShell},
	}
	flags := []string{
		"--output-format", "--skip-trust", "--approval-mode", "--admin-policy", "--allowed-mcp-server-names",
		"--extensions", "--include-directories", "--model", "--resume", "--list-sessions", "--acp",
	}
	for _, flag := range flags {
		t.Run(flag, func(t *testing.T) {
			host := machine(t)
			host.Answers["--help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/help.txt"), flag))
			p := gemini.New().Probe(context.Background(), host)
			for _, req := range requests {
				cmd, err := gemini.New().Command(req, p)
				if err != nil {
					continue // the route is blocked, which is the other right answer
				}
				if flag == "--admin-policy" || slices.ContainsFunc(cmd.Argv[atFlags:], func(arg string) bool { return name(arg) == flag }) {
					t.Errorf("%s is used though help does not show it", flag)
				}
			}
			for _, q := range host.Asked {
				if slices.ContainsFunc(q.Argv, func(arg string) bool { return name(arg) == flag }) {
					t.Errorf("probe asked %v", q.Argv)
				}
			}
		})
	}
}

func name(arg string) string {
	flag, _, _ := strings.Cut(arg, "=")
	return flag
}

// Whatever a spec asks for, no command approves everything, and no text of a
// request becomes an argument of its own or a rule of the policy.
func TestNoCommandBypassesPermissions(t *testing.T) {
	p := profile(t)
	word := rapid.SampledFrom([]string{
		"", "m", "--yolo", "-y", "--approval-mode=yolo", "read_file", "shell", "write_file", "\"]\ndecision = \"allow\"", "x --y", "/tmp/a",
	})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Resume: word.Draw(t, "resume"), Dir: word.Draw(t, "dir"),
			ReadDirs:        rapid.SliceOfN(word, 0, 2).Draw(t, "dirs"),
			AllowedTools:    rapid.SliceOfN(word, 0, 3).Draw(t, "allowed"),
			DisallowedTools: rapid.SliceOfN(word, 0, 2).Draw(t, "disallowed"),
		}
		cmd, err := gemini.New().Command(req, p)
		if err != nil {
			return
		}
		for _, arg := range cmd.Argv[atFlags:] {
			if _, shown := p.Flags[name(arg)]; !shown && p.Flags[arg] == "" {
				t.Fatalf("argument %q is not a flag that help shows", arg)
			}
			if name(arg) == "--approval-mode" && arg != "--approval-mode=default" && arg != "--approval-mode=auto_edit" {
				t.Fatalf("argument %q lifts a boundary", arg)
			}
		}
		policy := cmd.Argv[atPolicy]
		if !strings.HasPrefix(policy, "[[rule]]\ntoolName = [\"*\"]\ndecision = \"deny\"\n") || strings.Count(policy, "\ndecision = \"allow\"") > 1 {
			t.Fatalf("policy\n%s", policy)
		}
		if req.Access == runtime.AccessRead && strings.Contains(policy, "write_file") {
			t.Fatalf("a reader got\n%s", policy)
		}
	})
}

// The command as it is run: the program gets its prompt, its flags and a policy
// file, which is gone afterwards, and its exit status comes through.
func TestTheProgramRunsUnderItsPolicy(t *testing.T) {
	dir, tmp := t.TempDir(), t.TempDir()
	program := filepath.Join(dir, "gemini")
	script := "#!/bin/sh\ncat\nfor a; do case $a in --admin-policy=*) cat \"${a#*=}\" ;; esac; done\necho \"$2\"\nls \"$TMPDIR\"\n: >made\nexit 41\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	p := profile(t)
	p.Executable.Path = program
	cmd, err := gemini.New().Command(runtime.Request{Access: runtime.AccessRead, Prompt: "the prompt\n"}, p)
	if err != nil {
		t.Fatal(err)
	}
	out, code := run(t, cmd, dir, tmp)
	if code != 41 || out != "the prompt\n"+cmd.Argv[atPolicy]+"--output-format=stream-json\njob.toml\n" {
		t.Errorf("exit status %d, output\n%s", code, out)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temp folder: %v, %v", left, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "made")); err != nil || !sameMode(t, info, dir) {
		t.Errorf("a file that the program made: %v, %v", info, err)
	}
	// Without its limits the program is not started at all.
	for _, bad := range []string{filepath.Join(tmp, "gone"), filepath.Join(tmp, "a,b")} {
		if strings.Contains(bad, ",") {
			if err := os.Mkdir(bad, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if out, code := run(t, cmd, dir, bad); code != 1 || out != "" {
			t.Errorf("temp folder %s: exit status %d, output %q", bad, code, out)
		}
	}
}

// sameMode reports whether a file has the permissions that files made here get.
func sameMode(t *testing.T, info os.FileInfo, dir string) bool {
	t.Helper()
	own := filepath.Join(dir, "own")
	f, err := os.OpenFile(own, os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	want, err := os.Stat(own)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode() == want.Mode()
}

func run(t *testing.T, cmd runtime.Command, dir, tmp string) (out string, code int) {
	t.Helper()
	c := exec.Command(cmd.Argv[0], cmd.Argv[1:]...)
	c.Dir = dir
	c.Env = append(slices.Clone(cmd.Env), "PATH="+os.Getenv("PATH"), "TMPDIR="+tmp)
	c.Stdin = bytes.NewReader(cmd.Stdin)
	data, err := c.Output()
	if c.ProcessState == nil {
		t.Fatal(err)
	}
	return string(data), c.ProcessState.ExitCode()
}
