package copilot_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/copilot"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return copilot.New().Probe(context.Background(), machine(t))
}

const project = "settings of the project are not shown to be kept out"

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	const (
		always = "/opt/fake/bin/copilot --output-format=json --disallow-temp-dir --disable-builtin-mcps --no-custom-instructions --no-ask-user --no-auto-update --disable-client-telemetry "
		hidden = "--secret-env-vars=COPILOT_GITHUB_TOKEN,GH_TOKEN,GITHUB_TOKEN,COPILOT_PROVIDER_API_KEY,COPILOT_PROVIDER_API_KEY_COMMAND,COPILOT_PROVIDER_BEARER_TOKEN,COPILOT_PROVIDER_HEADERS "
		read   = "--available-tools=glob --available-tools=grep --available-tools=view"
		shell  = "--available-tools=bash --available-tools=list_bash --available-tools=read_bash --available-tools=stop_bash"
	)
	reads := []runtime.ControlName{"read-only", "tool-limits"}
	shells := []string{project, "shell not confined"}
	cases := []struct {
		name     string
		req      runtime.Request
		want     string
		controls []runtime.ControlName
		limits   []string
	}{
		{"read", runtime.Request{Access: runtime.AccessRead}, read, reads, []string{project}},
		{
			"edit",
			runtime.Request{Access: runtime.AccessEdit},
			"--available-tools=apply_patch --available-tools=create --available-tools=edit " + read + " --allow-tool=write",
			[]runtime.ControlName{"edits-only", "tool-limits"},
			[]string{project},
		},
		{
			"shell",
			runtime.Request{Access: runtime.AccessShell},
			hidden + "--available-tools=apply_patch --available-tools=bash --available-tools=create --available-tools=edit --available-tools=glob " +
				"--available-tools=grep --available-tools=list_bash --available-tools=read_bash --available-tools=stop_bash --available-tools=view " +
				"--allow-tool=write --allow-tool=shell",
			[]runtime.ControlName{"tool-limits"},
			shells,
		},
		{
			"a narrowed shell",
			runtime.Request{
				Access: runtime.AccessShell, AllowedTools: []string{"view", "shell(go test:*)"}, DisallowedTools: []string{"shell(git push)"},
			},
			hidden + shell + " --available-tools=view --allow-tool=shell(go test:*) --deny-tool=shell(git push)",
			[]runtime.ControlName{"tool-limits"},
			shells,
		},
		{
			"a tool taken away",
			runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"grep"}},
			"--available-tools=glob --available-tools=view", reads,
			[]string{project},
		},
		{
			"a folder to read",
			runtime.Request{Access: runtime.AccessRead, ReadDirs: []string{"/run/a b"}},
			read + " --add-dir=/run/a b", reads,
			[]string{project, "skills and agents of the folders given to read are loaded as trusted"},
		},
		{
			"model and session",
			runtime.Request{Access: runtime.AccessRead, Model: "m-1", Resume: "s-1"},
			read + " --model=m-1 --resume=s-1", append(slices.Clone(reads), "model"),
			[]string{project},
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt, c.req.Dir = "do it", "/work"
			cmd, err := copilot.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != always+c.want {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.want)
			}
			if !slices.Equal(cmd.Controls, c.controls) || !slices.Equal(cmd.Limits, c.limits) {
				t.Errorf("controls %v, limits %q", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "TERM-GROUP" || cmd.Decoder.Runtime != "copilot" {
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
		{"a shell for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"bash"}}, "bash"},
		{"a shell rule for an editor", runtime.Request{Access: runtime.AccessEdit, AllowedTools: []string{"shell(ls)"}}, "shell(ls)"},
		{"an edit for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"edit"}}, "edit"},
		{"a misspelt tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"veiw"}}, "veiw"},
		{"two rules in one", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"shell(a),write(b)"}}, "is not a tool"},
		{"a flag as a rule", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"--x"}}, "neither the name"},
		{"no tool at all", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{}}, "without any tool"},
		{"a folder to read for an editor", runtime.Request{Access: runtime.AccessEdit, ReadDirs: []string{"/in"}}, "opens a folder for both"},
		{"an effort", runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "cannot be checked"},
		{"an agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "cannot be checked"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := copilot.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := copilot.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	requests := []runtime.Request{
		{Access: runtime.AccessRead, Model: "m", Resume: "s", ReadDirs: []string{"/in"}},
		{Access: runtime.AccessEdit, DisallowedTools: []string{"write(x)"}},
		{Access: runtime.AccessShell},
		{Access: runtime.AccessRead},
	}
	flags := []string{
		"--output-format", "--available-tools", "--allow-tool", "--deny-tool", "--disallow-temp-dir", "--disable-builtin-mcps",
		"--no-custom-instructions", "--no-ask-user", "--no-auto-update", "--disable-client-telemetry", "--secret-env-vars",
		"--add-dir", "--model", "--resume",
	}
	for flag := range usedFlags(profile(t), requests) {
		if !slices.Contains(flags, flag) {
			t.Errorf("%s is used and not tried here", flag)
		}
	}
	for _, flag := range append(flags, "--acp") {
		t.Run(flag, func(t *testing.T) {
			host := lacking(t, flag)
			p := copilot.New().Probe(context.Background(), host)
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

// Without what keeps its edits in the folder, an editor is blocked, not trusted.
func TestNoEditorWithoutItsBoundary(t *testing.T) {
	for _, flag := range []string{"--available-tools", "--allow-tool", "--disallow-temp-dir"} {
		p := copilot.New().Probe(context.Background(), lacking(t, flag))
		if _, err := copilot.New().Command(runtime.Request{Access: runtime.AccessEdit}, p); err == nil {
			t.Errorf("an editor runs without %s", flag)
		}
		if p.Routable() && len(p.Limits) < 2 {
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
		req.Dir = "/work"
		cmd, err := copilot.New().Command(req, p)
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
		"", "--yolo", "--allow-all", "--allow-all-tools", "x --y", "/tmp/a", "-p", "edit", "view", "bash", "shell", "shell(x)", "write", "write(/)",
	})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Resume: word.Draw(t, "resume"), Dir: "/work",
			ReadDirs:        rapid.SliceOfN(word, 0, 2).Draw(t, "dirs"),
			AllowedTools:    rapid.SliceOfN(word, 0, 3).Draw(t, "allowed"),
			DisallowedTools: rapid.SliceOfN(word, 0, 2).Draw(t, "disallowed"),
		}
		cmd, err := copilot.New().Command(req, p)
		if err != nil {
			return
		}
		for _, arg := range cmd.Argv[1:] {
			if !p.Shows(name(arg)) && !p.Shows(arg) {
				t.Fatalf("argument %q is not a flag that help shows", arg)
			}
			if strings.HasPrefix(name(arg), "--allow-all") || name(arg) == "--yolo" || name(arg) == "--trust-folder" {
				t.Fatalf("argument %q lifts a boundary", arg)
			}
			if req.Access == runtime.AccessRead && name(arg) == "--allow-tool" {
				t.Fatalf("a reader got %q", arg)
			}
			if req.Access == runtime.AccessEdit && strings.HasPrefix(arg, "--allow-tool=shell") {
				t.Fatalf("an editor got %q", arg)
			}
		}
	})
}
