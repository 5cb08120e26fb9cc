package cursor_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/cursor"
	"orchestrate/internal/runtime/probe/probetest"
)

func profile(t *testing.T) runtime.Profile {
	t.Helper()
	return cursor.New().Probe(context.Background(), host(t))
}

// checkout is a folder that is a project of its own.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

const always = probetest.Path + "cursor-agent --print --output-format=stream-json --trust --mode=ask"

func TestCommand(t *testing.T) {
	p := profile(t)
	for _, c := range []struct {
		name     string
		req      runtime.Request
		want     string
		controls []runtime.ControlName
	}{
		{"reads", runtime.Request{}, "", []runtime.ControlName{runtime.ControlReadOnly}},
		{
			"model, session and folders",
			runtime.Request{Model: "maker-2-high", Resume: "s-1", ReadDirs: []string{"/run/a b", "/c"}},
			" --add-dir=/run/a b --add-dir=/c --model=maker-2-high --resume=s-1",
			[]runtime.ControlName{runtime.ControlReadOnly, runtime.ControlModel},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Access, c.req.Dir, c.req.Prompt = runtime.AccessRead, checkout(t), "look"
			cmd, err := cursor.New().Command(c.req, p)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(cmd.Argv, " "); got != always+c.want+" -- look" {
				t.Errorf("argv\n%s\nwant\n%s", got, always+c.want+" -- look")
			}
			if !slices.Equal(cmd.Controls, c.controls) || len(cmd.Limits) != 3 || cmd.Stdin != nil || cmd.Decoder.Runtime != "agent" {
				t.Errorf("controls %v, limits %q, stdin %q, decoder %+v", cmd.Controls, cmd.Limits, cmd.Stdin, cmd.Decoder)
			}
		})
	}
}

// A prompt that no command line takes goes by way of a file, and that is said.
func TestLongPrompt(t *testing.T) {
	req := runtime.Request{Access: runtime.AccessRead, Dir: checkout(t), Prompt: strings.Repeat("long ", 50_000)}
	cmd, err := cursor.New().Command(req, profile(t))
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Argv[0] != "/bin/sh" || string(cmd.Stdin) != req.Prompt || !strings.HasSuffix(strings.Join(cmd.Argv, " "), always) {
		t.Errorf("argv %q", cmd.Argv)
	}
	if !strings.Contains(strings.Join(cmd.Limits, "; "), "from a file") {
		t.Errorf("limits %q", cmd.Limits)
	}
	old := cursor.New().Probe(context.Background(), lacking(t, "--add-dir"))
	if _, err := cursor.New().Command(req, old); err == nil || !strings.Contains(err.Error(), "--add-dir") {
		t.Errorf("error %v", err)
	}
}

func TestAPromptAboutAFlagIsNoFlag(t *testing.T) {
	req := runtime.Request{Access: runtime.AccessRead, Dir: checkout(t), Prompt: "Explain what --yolo does."}
	if cmd, err := cursor.New().Command(req, profile(t)); err != nil || runtime.Bypass(cmd.Argv) != "" {
		t.Errorf("argv %q, %v", cmd.Argv, err)
	}
}

func TestCommandRefusesWhatTheEvidenceDoesNotSupport(t *testing.T) {
	p := profile(t)
	for _, c := range []struct {
		name string
		req  runtime.Request
		says string
	}{
		{"edits", runtime.Request{Access: runtime.AccessEdit}, "--force"},
		{"a shell", runtime.Request{Access: runtime.AccessShell}, "--force"},
		{"an unknown access", runtime.Request{Access: "all"}, "no access"},
		{"an agent", runtime.Request{Access: runtime.AccessRead, Agent: "x"}, "names an agent"},
		{"an effort", runtime.Request{Access: runtime.AccessRead, Effort: "low"}, "part of a model's name"},
		{"tools by name", runtime.Request{Access: runtime.AccessRead, AllowedTools: []string{"read"}}, "tools by name"},
		{"tools taken away", runtime.Request{Access: runtime.AccessRead, DisallowedTools: []string{"shell"}}, "tools by name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Dir = checkout(t)
			_, err := cursor.New().Command(c.req, p)
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v, want it to say %q", err, c.says)
			}
		})
	}
	if _, err := cursor.New().Command(runtime.Request{Access: runtime.AccessRead}, runtime.Profile{}); err == nil {
		t.Error("a command was built without a program")
	}
}

// Hooks are looked for in the folder and above it, up to the project's root.
func TestFolderThatBringsHooks(t *testing.T) {
	p := profile(t)
	for _, name := range []string{".cursor/hooks.json", ".claude/settings.json"} {
		root := checkout(t)
		below := filepath.Join(root, "a", "b")
		file := filepath.Join(root, filepath.FromSlash(name))
		for _, dir := range []string{below, filepath.Dir(file)} {
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := cursor.New().Command(runtime.Request{Access: runtime.AccessRead, Dir: below}, p)
		if err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// For each flag: a program whose help does not show it is not given it.
func TestAFlagThatHelpDoesNotShowIsNeverUsed(t *testing.T) {
	for _, req := range []runtime.Request{{}, {Model: "m", Resume: "s", ReadDirs: []string{"/in"}}} {
		req.Access, req.Dir = runtime.AccessRead, checkout(t)
		for _, flag := range []string{"--print", "--output-format", "--mode", "--trust", "--add-dir", "--model", "--resume", "--list-models"} {
			h := lacking(t, flag)
			cmd, err := cursor.New().Command(req, cursor.New().Probe(context.Background(), h))
			words := cmd.Argv
			for _, q := range h.Asked {
				words = append(words, q.Argv...)
			}
			if slices.ContainsFunc(words, func(arg string) bool { return arg == flag || strings.HasPrefix(arg, flag+"=") }) {
				t.Errorf("%s is used (%v): %q", flag, err, words)
			}
		}
	}
}
