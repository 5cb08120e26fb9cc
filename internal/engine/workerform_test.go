package engine

import (
	"slices"
	"strings"
	"testing"

	"orchestrate/internal/ledger"
	"orchestrate/internal/runtime"
	"orchestrate/internal/spec"
	"orchestrate/internal/untrusted"
)

// A task's prompt is the person's own text byte for byte; only what other jobs left for
// it is named after it.
func TestPromptAsItIs(t *testing.T) {
	answer := handed{From: "scout", Label: "final answer", Path: "/run/inputs/scout/output.md", Text: untrusted.From("found it")}
	before := &earlier{n: 1, status: ledger.JobStatus{Status: ledger.Failed}}
	at := placing{OutDir: "/out", Writable: []string{"src/**"}}
	for _, text := range []string{"--help", "---\nfront: matter\n---\n", "- a\n", "  blanks \n\n", "no newline", strings.Repeat("x", 200<<10)} {
		for name, w := range map[string]*spec.Worker{"an agent": {AsIs: true}, "a command": {Command: "cat"}} {
			j := &spec.Job{ID: "w", Prompt: text, ExpectedOutput: "x", Outputs: []spec.Output{{Path: "a.md"}}, Worker: w}
			if got := assemble(j, nil, before, at); got != text {
				t.Errorf("%s: %.40q became %.80q", name, text, got)
			}
			got := assemble(j, []handed{answer}, nil, at)
			if !strings.HasPrefix(got, text) || strings.Contains(got, "What is expected") {
				t.Errorf("%s: %.40q became %.200q", name, text, got)
			}
			inOrder(t, got[len(text):], "What earlier jobs left", "/run/inputs/scout/output.md", "found it")
		}
	}
	asked := &spec.Job{ID: "w", Prompt: "Do it.", ExpectedOutput: "A list.", Worker: &spec.Worker{}}
	inOrder(t, assemble(asked, nil, nil, at), "Do it.", "What is expected", "A list.")
}

// Whoever goes on with a session is not told what that session did, and who mends in it
// only what was found, which is the prompt.
func TestASessionThatGoesOnIsToldWhatIsNew(t *testing.T) {
	got := []handed{
		{From: "draft", Label: "final answer", Path: "/in/draft/output.md"},
		{From: "other", Label: "final answer", Path: "/in/other/output.md"},
	}
	for name, c := range map[string]struct {
		job   spec.Job
		tells []string
	}{
		"a fresh session":         {spec.Job{}, []string{"draft", "other"}},
		"one that goes on":        {spec.Job{Continue: "draft"}, []string{"other"}},
		"a later round of search": {spec.Job{Round: &spec.Round{Rule: spec.RuleNotDry}}, []string{"draft", "other"}},
	} {
		c.job.Prompt = "Go on."
		text := assemble(&c.job, got, nil, placing{})
		for _, from := range []string{"draft", "other"} {
			if told := strings.Contains(text, "/in/"+from+"/output.md"); told != slices.Contains(c.tells, from) {
				t.Errorf("%s: tells of %s: %t", name, from, told)
			}
		}
	}
	if len(got) != 2 || got[0].From != "draft" {
		t.Errorf("what is handed over was changed: %v", got)
	}
}

func TestAPromptThatDoesNotFitItsCommandIsRefused(t *testing.T) {
	long := strings.Repeat("x", 200<<10)
	for name, c := range map[string]struct {
		job    spec.Job
		refuse bool
	}{
		"by its variable": {spec.Job{ID: "t", Prompt: long, Worker: &spec.Worker{Command: `cli "$WORKER_PROMPT"`}}, true},
		"by its file":     {spec.Job{ID: "t", Prompt: long, Worker: &spec.Worker{Command: `cli "$WORKER_PROMPT_FILE"`}}, false},
		"short":           {spec.Job{ID: "t", Prompt: "x", Worker: &spec.Worker{Command: `cli "$WORKER_PROMPT"`}}, false},
		"an agent's":      {spec.Job{ID: "t", Prompt: long, Worker: &spec.Worker{AsIs: true}}, false},
		"of a spec":       {spec.Job{ID: "t", Prompt: long, Command: []string{"sh", "-c", "echo $WORKER_PROMPT"}}, false},
	} {
		if c.job.Worker != nil && c.job.Worker.Command != "" {
			c.job.Command = []string{"sh", "-c", c.job.Worker.Command}
		}
		errs := unfit(2, &c.job)
		if (len(errs) > 0) != c.refuse {
			t.Errorf("%s: %v", name, errs)
		}
		if c.refuse && (errs[0].Field != "jobs[2].worker.command" || !strings.Contains(errs[0].Message, "use $WORKER_PROMPT_FILE, or read standard input")) {
			t.Errorf("%s: %+v", name, errs[0])
		}
	}
}

// That a limit of turns holds nobody is said of the route, and of nothing that has no turns.
func TestALimitOfTurnsThatDoesNotHoldIsSaid(t *testing.T) {
	agent, program := ledger.Route{Runtime: "codex", Capability: "C2"}, ledger.Route{Runtime: "exec"}
	capped := &spec.Job{MaxTurns: 9}
	for name, c := range map[string]struct {
		job   *spec.Job
		route ledger.Route
		cmd   runtime.Command
		want  string
	}{
		"it holds":        {capped, agent, runtime.Command{MaxTurns: 9}, ""},
		"it does not":     {capped, agent, runtime.Command{}, "max_turns 9 does not hold: codex has no limit of turns"},
		"nobody asked":    {&spec.Job{}, agent, runtime.Command{}, ""},
		"a plain program": {capped, program, runtime.Command{}, ""},
	} {
		if got := strings.Join(constrained(c.job, c.route, c.cmd), "; "); !strings.HasPrefix(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// command.txt leads to the prompt and does not repeat it.
func TestACommandForAPromptCanBePasted(t *testing.T) {
	c := runtime.Command{Argv: []string{"sh", "-c", "cli"}, Env: []string{"WORKER_PROMPT_FILE=/r/p.md", "WORKER_PROMPT=it's long"}, Stdin: []byte("it's long")}
	if got, want := commandText("/w", nil, c, "/r/p.md"), `cd /w && WORKER_PROMPT_FILE=/r/p.md WORKER_PROMPT="$(cat /r/p.md)" sh -c cli </r/p.md`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
}
