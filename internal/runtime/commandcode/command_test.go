package commandcode_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/commandcode"
	"orchestrate/internal/runtime/probe/probetest"
)

// profile is what a probe of a working program gives.
func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return commandcode.New().Probe(context.Background(), host(t))
}

// program is the part of a command line that the program gets, behind the words that
// make the gate.
func program(t *testing.T, cmd runtime.Command) string {
	t.Helper()
	i := slices.Index(cmd.Argv, probetest.Path+"command-code")
	if i != 5 || cmd.Argv[0] != "/bin/sh" {
		t.Fatalf("argv %q", cmd.Argv)
	}
	return strings.Join(cmd.Argv[i+1:], " ")
}

const always = "--print --output-format=json --no-auto-update --skip-onboarding --no-skills"

func TestCommand(t *testing.T) {
	p := profile(t)
	dir := t.TempDir()
	cases := []struct {
		name    string
		req     runtime.Request
		want    string
		granted string
		more    []runtime.ControlName
	}{
		{"reads", runtime.Request{}, "", `["read_file","read_directory","glob","grep"]`, nil},
		{"researches", runtime.Request{Task: "research"}, "", `["read_file","read_directory","glob","grep","web_search","web_fetch"]`, nil},
		{"tools by name", runtime.Request{AllowedTools: []string{"grep", "glob"}, DisallowedTools: []string{"glob", "agent"}}, "", `["grep"]`, nil},
		{"no tools", runtime.Request{AllowedTools: []string{}}, "", `[]`, nil},
		{
			"model and session",
			runtime.Request{Model: "maker/open-1", Resume: "s-1"},
			" --model=maker/open-1 --session=s-1",
			`["read_file","read_directory","glob","grep"]`,
			[]runtime.ControlName{runtime.ControlModel},
		},
		{"folders inside its own", runtime.Request{ReadDirs: []string{filepath.Join(dir, "in")}}, "", `["read_file"`, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Access, c.req.Dir, c.req.Prompt = runtime.AccessRead, dir, "look"
			cmd, err := commandcode.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := program(t, cmd); got != always+c.want {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.want)
			}
			if gate := cmd.Argv[4]; !strings.Contains(gate, "new Set("+c.granted) || strings.Contains(gate, "process.exit") {
				t.Errorf("gate\n%s", gate)
			}
			want := slices.Concat([]runtime.ControlName{runtime.ControlReadOnly}, c.more, []runtime.ControlName{runtime.ControlToolLimits})
			if !slices.Equal(cmd.Controls, want) || len(cmd.Limits) != 1 {
				t.Errorf("controls %v, limits %q", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "look" || cmd.PoliteStop != "TERM-GROUP" || cmd.Decoder.Runtime != "command-code" {
				t.Errorf("stdin %q, polite stop %q, decoder %+v", cmd.Stdin, cmd.PoliteStop, cmd.Decoder)
			}
			if !slices.Contains(cmd.Env, "COMMANDCODE_SKIP_UPDATES=1") {
				t.Errorf("environment %q would leave a look for updates behind", cmd.Env)
			}
			if arg := runtime.Bypass(cmd.Argv); arg != "" {
				t.Errorf("%q switches checks off", arg)
			}
		})
	}
}

func TestCommandRefusesWhatTheEvidenceDoesNotSupport(t *testing.T) {
	p := profile(t)
	for _, c := range []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"edits", runtime.Request{Access: runtime.AccessEdit}, "cannot be let edit"},
		{"a shell", runtime.Request{Access: runtime.AccessShell}, "run commands"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
		{"an agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "no flag that names an agent"},
		{"an effort", runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "reasoning depths"},
		{"a tool that writes", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"write_file"}}, "write_file"},
		{"a tool that starts agents", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"agent"}}, "agent"},
		{"a folder outside", runtime.Request{Access: runtime.AccessRead, Dir: "/work", ReadDirs: []string{"/run/inputs"}}, "/run/inputs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := commandcode.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := commandcode.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// The program starts what these files name without asking anybody.
func TestFolderThatBringsPrograms(t *testing.T) {
	p := profile(t)
	for _, name := range []string{".mcp.json", ".commandcode/settings.json", ".commandcode/settings.local.json"} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := commandcode.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: dir}, p)
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	req := runtime.Request{Access: runtime.AccessRead, Model: "m", Resume: "s", Dir: t.TempDir()}
	for _, flag := range []string{
		"--print", "--output-format", "--mod", "--model", "--session", "--no-session", "--no-auto-update", "--skip-onboarding", "--no-skills", "--list-models",
	} {
		h := lacking(t, flag)
		cmd, err := commandcode.New().Command(req, commandcode.New().Probe(context.Background(), h))
		if err == nil && slices.ContainsFunc(cmd.Argv, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }) {
			t.Errorf("%s is in %q", flag, cmd.Argv)
		}
		for _, q := range h.Asked {
			if slices.ContainsFunc(q.Argv, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }) {
				t.Errorf("%s was put to the program: %q", flag, q.Argv)
			}
		}
	}
}

// lacking is a machine whose program does not show flag in its help.
func lacking(t *testing.T, flag string) *probetest.Host {
	t.Helper()
	h := host(t)
	h.Answers["--help"] = probetest.Says(probetest.Without(file(t, "testdata/probe/help.txt"), flag))
	return h
}
