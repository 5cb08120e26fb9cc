package pi_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/pi"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return pi.New().Probe(context.Background(), machine(t))
}

func TestCommandByAccess(t *testing.T) {
	p := profile(t)
	const always = "/opt/fake/bin/pi --mode json --no-approve --no-extensions --no-mcp --no-skills --no-prompt-templates --no-context-files " +
		"--session-dir ~/.pi/agent/sessions/orchestrate "
	reads := []runtime.ControlName{"read-only", "tool-limits", "no-project"}
	limited := []runtime.ControlName{"tool-limits", "no-project"}
	edits := []string{"edits are not confined to their folder"}
	cases := []struct {
		name     string
		req      runtime.Request
		want     string
		controls []runtime.ControlName
		limits   []string
	}{
		{"read", runtime.Request{Access: runtime.AccessRead}, "--tools read,grep,find,ls", reads, nil},
		{"edit", runtime.Request{Access: runtime.AccessEdit}, "--tools read,grep,find,ls,edit,write", limited, edits},
		{"shell", runtime.Request{Access: runtime.AccessShell}, "--tools read,grep,find,ls,edit,write,bash", limited, append(slices.Clone(edits), "shell not confined")},
		{"tools by name", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"read", "bash"}}, "--tools read,bash", limited, append(slices.Clone(edits), "shell not confined")},
		{"a tool taken away", runtime.Request{Access: runtime.AccessEdit, DisallowedTools: []string{"write", "other_tool"}}, "--tools read,grep,find,ls,edit", limited, edits},
		{"no tool at all", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{}}, "--no-tools", reads, nil},
		{
			"model, effort and session",
			runtime.Request{Access: runtime.AccessRead, Model: "fake/fake-2", Effort: "high", Resume: "01a2-b"},
			"--tools read,grep,find,ls --model fake/fake-2 --thinking high --session 01a2-b", append(slices.Clone(reads), "model", "effort"), nil,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.req.Prompt = "do it"
			cmd, err := pi.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != always+c.want {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.want)
			}
			if !slices.Equal(cmd.Controls, c.controls) || !slices.Equal(cmd.Limits, c.limits) {
				t.Errorf("controls %v, limits %v", cmd.Controls, cmd.Limits)
			}
			if string(cmd.Stdin) != "do it" || cmd.PoliteStop != "TERM" || cmd.Answer != runtime.AnswerFromStream || cmd.Decoder.Runtime != "pi" {
				t.Errorf("command %+v", cmd)
			}
		})
	}
}

func TestCommandRefusesWhatItCannotVerify(t *testing.T) {
	p := profile(t)
	cases := []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"a shell for a reader", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"bash"}}, `"bash"`},
		{"a tool that runs others", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"codemode"}}, `"codemode"`},
		{"a misspelt tool", runtime.Request{Access: runtime.AccessShell, AllowedTools: []string{"raed"}}, `"raed"`},
		{"a pattern", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"*"}}, "not the plain name"},
		{"a model that is not listed", runtime.Request{Access: runtime.AccessRead, Model: "fake/fake-9"}, "not one that pi lists"},
		{"a model without its provider", runtime.Request{Access: runtime.AccessRead, Model: "fake-1"}, `such as "fake/fake-1"`},
		{"an effort that the model does not take", runtime.Request{Access: runtime.AccessRead, Model: "fake/fake-2", Effort: "minimal"}, "does not offer"},
		{"an effort of a model that has none", runtime.Request{Access: runtime.AccessRead, Effort: "high"}, "does not offer"},
		{"an agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "no agents"},
		{"a file as a session", runtime.Request{Access: runtime.AccessRead, Resume: "/tmp/x.jsonl"}, "not the id of a session"},
		{"a flag as a session", runtime.Request{Access: runtime.AccessRead, Resume: "--approve"}, "not the id of a session"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := pi.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
}

// A reader is blocked, not trusted, where the program does not say itself that its
// list of tools keeps it from writing.
func TestNoReaderWithoutTheProgramsOwnWord(t *testing.T) {
	host := machine(t)
	host.Answers["--help"] = probetest.Says(strings.Replace(file(t, "testdata/probe/help.txt"), "--tools read,grep,find,ls", "--tools read,edit", 1))
	p := pi.New().Probe(context.Background(), host)
	if _, err := pi.New().Command(runtime.Request{Access: runtime.AccessRead}, p); err == nil {
		t.Error("a reader runs")
	}
	if _, err := pi.New().Command(runtime.Request{Access: runtime.AccessEdit}, p); err != nil {
		t.Errorf("a writer, whose tools are limited all the same: %v", err)
	}
}

// The program renames a folder of the project at its start, whatever it is told. A
// job is not given to it where it would.
func TestNoJobWhereItsStartChangesTheProject(t *testing.T) {
	p, dir := profile(t), t.TempDir()
	req := runtime.Request{Access: runtime.AccessRead, Dir: dir}
	for _, step := range []struct {
		folder  string
		refused bool
	}{{".pi", false}, {".pi/commands", true}, {".pi/prompts", false}} {
		if err := os.Mkdir(filepath.Join(dir, step.folder), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := pi.New().Command(req, p)
		if (err != nil) != step.refused || (err != nil && !strings.Contains(err.Error(), "would rename")) {
			t.Errorf("with %s: %v", step.folder, err)
		}
	}
}

// Whatever a spec asks for, no text of it becomes an argument of its own that the
// program would act on, and a reader gets no tool that writes.
func TestNoCommandReachesBeyondItsGrant(t *testing.T) {
	p := profile(t)
	word := rapid.SampledFrom([]string{"", "--approve", "-a", "-e", "@/etc/passwd", "x --y", "/tmp/a", "read", "bash", "write", "+bash", "*", "fake/fake-1"})
	rapid.Check(t, func(t *rapid.T) {
		req := runtime.Request{
			Access: rapid.SampledFrom([]runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell}).Draw(t, "access"),
			Prompt: word.Draw(t, "prompt"), Model: word.Draw(t, "model"), Resume: word.Draw(t, "resume"), Effort: word.Draw(t, "effort"),
			AllowedTools:    rapid.SliceOfN(word, 0, 3).Draw(t, "allowed"),
			DisallowedTools: rapid.SliceOfN(word, 0, 2).Draw(t, "disallowed"),
		}
		cmd, err := pi.New().Command(req, p)
		if err != nil {
			return
		}
		for i, arg := range cmd.Argv[1:] {
			if strings.HasPrefix(arg, "-") && !p.Shows(arg) && arg != "--mode" && arg != "--tools" {
				t.Fatalf("argument %q is not a flag that help shows", arg)
			}
			if arg == "-a" || arg == "--approve" || strings.HasPrefix(arg, "@") {
				t.Fatalf("argument %q", arg)
			}
			if cmd.Argv[i] == "--tools" && req.Access == runtime.AccessRead && strings.ContainsAny(arg, "b+*w") {
				t.Fatalf("a reader got %q", arg)
			}
		}
	})
}
