package registry

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/runtime"
	"orchestrate/internal/runtime/custom"
)

// follows describes a runtime of the operator's that can go on with a session.
var follows = map[string]custom.Definition{
	"mine": {Argv: []string{"mine"}, Output: "text", ResumeArgs: []string{"--thread", "{session}"}},
}

// flagNamed finds a flag in an adapter's complaint.
var flagNamed = regexp.MustCompile(`does not show (\S+)`)

// commandOf builds a command for a program whose help shows whatever the adapter asks
// for.
func commandOf(a runtime.Adapter, req runtime.Request) (runtime.Command, error) {
	p := runtime.Profile{
		Runtime: a.Name(), State: runtime.StateAvailable, Executable: &runtime.Executable{Path: "/bin/x"}, Flags: map[string]string{},
	}
	for _, c := range []runtime.ControlName{
		runtime.ControlReadOnly, runtime.ControlEditsOnly, runtime.ControlOSSandbox, runtime.ControlToolLimits,
		runtime.ControlModel, runtime.ControlEffort, runtime.ControlAgent, runtime.ControlNoProject,
	} {
		p.Controls = append(p.Controls, runtime.Control{Name: c, Verified: true, Evidence: "shown"})
	}
	for {
		cmd, err := a.Command(req, p)
		if err == nil {
			return cmd, nil
		}
		missing := flagNamed.FindStringSubmatch(err.Error())
		if missing == nil || p.Shows(missing[1]) {
			return cmd, err
		}
		p.Flags[missing[1]] = "shown"
	}
}

// TestAFollowUpCarriesItsOwnSession: whatever goes on with a session names the one that
// was recorded for it, and nothing ever asks for the newest, which may be a sibling's.
func TestAFollowUpCarriesItsOwnSession(t *testing.T) {
	for _, a := range All("/bin/orchestrate", follows) {
		goesOn := 0
		for _, id := range []string{"", "ses_0a1b2c3d4e5f", "01a228d8-0000-7000-8000-000000000001"} {
			req := runtime.Request{Job: "j", Attempt: 2, Task: "scout", Prompt: "go on", Argv: []string{"true"}, Dir: "/w", Out: "/o", Access: runtime.AccessRead, Resume: id}
			cmd, err := commandOf(a, req)
			switch {
			case err != nil && id == "":
				t.Errorf("%s: %v", a.Name(), err)
			case err == nil && id != "" && strings.Contains(strings.Join(cmd.Argv, "\n"), id):
				goesOn++
			case err == nil && id != "" && !slices.Contains([]string{"exec", "standin"}, a.Name()):
				t.Errorf("%s begins anew instead of going on with %s: %q", a.Name(), id, cmd.Argv)
			}
			if arg := takesNewest(cmd.Argv); arg != "" {
				t.Errorf("%s, session %q: %s takes whichever is the newest: %q", a.Name(), id, arg, cmd.Argv)
			}
		}
		if goesOn == 0 && slices.Contains([]string{"claude", "codex", "gemini", "opencode", "kilo", "qwen", "copilot", "pi", "command-code", "mine"}, a.Name()) {
			t.Errorf("%s goes on with no session", a.Name())
		}
	}
}

// takesNewest is the word of a command line by which a program chooses a session itself.
func takesNewest(argv []string) string {
	for i, arg := range argv {
		name, value, has := strings.Cut(arg, "=")
		resumes := slices.Contains([]string{"--resume", "--session", "-r"}, name)
		last := i+1 == len(argv) || strings.HasPrefix(argv[i+1], "-")
		if slices.Contains([]string{"--last", "--continue", "--latest"}, name) || value == "latest" || resumes && !has && last {
			return arg
		}
	}
	return ""
}
