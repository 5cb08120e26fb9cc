//go:build linux

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is a hosting session that has started `orchestrate mcp` in a scratch repository.
type session struct {
	*sdk.ClientSession
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

// host starts the server; asked is what its client does about a question, nil = it cannot
// be asked any.
func host(t *testing.T, asked func(message string) *sdk.ElicitResult) *session {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	cmd := exec.Command("orchestrate", "mcp")
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0", "TMPDIR=" + t.TempDir()}
	complaints := &bytes.Buffer{}
	cmd.Stderr = complaints
	git := exec.Command("sh", "-c", "git init -q && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first")
	git.Dir, git.Env = dir, cmd.Env
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	opts := &sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}
	if asked != nil {
		opts.ElicitationHandler = func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
			return asked(r.Params.Message), nil
		}
		opts.Capabilities.Elicitation = &sdk.ElicitationCapabilities{Form: &sdk.FormElicitationCapabilities{}}
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opts)
	s, err := client.Connect(t.Context(), &sdk.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v: %s", err, complaints)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
		if complaints.Len() > 0 {
			t.Errorf("the server complained: %s", complaints)
		}
	})
	return &session{s, t, dir, cmd}
}

// use calls a tool and returns its typed result, or what the model reads of an error.
func (s *session) use(tool string, args map[string]any) (doc map[string]any, refusal string) {
	s.t.Helper()
	res, err := s.CallTool(s.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		s.t.Fatalf("%s: %v", tool, err)
	}
	text := res.Content[0].(*sdk.TextContent).Text
	if res.IsError {
		return nil, text
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		s.t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return doc, ""
}

// must is use of a tool that works.
func (s *session) must(tool string, args map[string]any) map[string]any {
	s.t.Helper()
	doc, refusal := s.use(tool, args)
	if refusal != "" {
		s.t.Fatalf("%s: %s", tool, refusal)
	}
	return doc
}

// ended waits for the end of a run.
func (s *session) ended(run any) map[string]any {
	s.t.Helper()
	for {
		doc := s.must("wait", map[string]any{"run": run})
		if doc["exitStatus"] != float64(5) {
			return doc
		}
	}
}

const twoKinds = `version: 1
defaults: {timeout: 1m, expected_output: x}
arbiter: {mode: checks-only}
jobs:
  - {id: think, runtime: internal, task: research, prompt: What is the answer?}
  - {id: hello, runtime: exec, effect: observe, command: [echo, hello]}
`

// A session that knows nothing but the tools drives a run to its end.
func TestASessionDrivesARun(t *testing.T) {
	t.Parallel()
	s := host(t, nil)
	spec := map[string]any{"specYaml": twoKinds, "agents": []any{map[string]any{"name": "reader", "tools": []any{"Read"}, "access": "read"}}}
	if doc := s.must("plan", spec); doc["blocked"] != false {
		t.Errorf("plan: %v", doc)
	}
	run := s.must("start", spec)["runId"]
	doc := s.must("next", map[string]any{"run": run})
	request, _ := doc["request"].(map[string]any)
	if request["job"] != "think" || request["agent"] != "reader" || !strings.Contains(fmt.Sprint(request["prompt"]), "What is the answer?") {
		t.Fatalf("next: %v", doc)
	}
	if doc := s.ended(run); doc["exitStatus"] != float64(4) || fmt.Sprint(doc["awaiting"]) != "[think]" || !takenAll(doc) {
		t.Errorf("wait: %v", doc)
	}
	if doc := s.must("next", map[string]any{"run": run, "seconds": 0}); doc["exitStatus"] != float64(5) || !takenAll(doc) {
		t.Errorf("next: %v", doc)
	}
	doc = s.must("submit", map[string]any{"run": run, "job": "think", "attempt": request["attempt"], "result": "It is 42.", "usage": map[string]any{"inputTokens": 7}})
	if doc["takenIn"] != true || doc["status"] != "success" {
		t.Errorf("submit: %v", doc)
	}
	if doc := s.ended(run); doc["exitStatus"] != float64(0) || doc["verdict"] != "unreviewed" {
		t.Errorf("wait: %v", doc)
	}
	if doc := s.must("output", map[string]any{"run": run, "job": "think"}); doc["text"] != "It is 42.\n" && doc["text"] != "It is 42." {
		t.Errorf("output: %v", doc)
	}
	if doc := s.must("explain", map[string]any{"run": run, "job": "think"}); doc["status"] != "success" || !strings.Contains(fmt.Sprint(doc["story"]), "reader") {
		t.Errorf("explain: %v", doc)
	}
	doc = s.must("report", map[string]any{"run": run})
	if doc["verdict"] != "unreviewed" || !strings.HasPrefix(fmt.Sprint(doc["completion"]), "**Orchestrate Result**") {
		t.Errorf("report: %v", doc)
	}
	onDisk, err := os.ReadFile(filepath.Join(s.dir, "plans", "reports", "orchestrate-"+run.(string), "report.md"))
	read, err2 := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "orchestrate://run/" + run.(string) + "/report.md"})
	if err != nil || err2 != nil || read.Contents[0].Text != string(onDisk) || doc["text"] != string(onDisk) {
		t.Errorf("%v, %v: the resource is not what is on disk", err, err2)
	}
	git := exec.Command("git", "status", "--porcelain")
	git.Dir = s.dir
	if out, err := git.Output(); err != nil || len(out) > 0 {
		t.Errorf("git shows %q, %v", out, err)
	}
	if _, refusal := s.use("explain", map[string]any{"run": run, "job": "--json"}); !strings.Contains(refusal, `no job "--json"`) {
		t.Errorf("a job that looks like a flag: %s", refusal)
	}
	if _, refusal := s.use("submit", map[string]any{"run": run, "job": "think", "attempt": "think.a9.00000000", "result": "x"}); !strings.Contains(refusal, "next: ") {
		t.Errorf("a stale submit: %s", refusal)
	}
}

// takenAll reports whether a result says that all jobs of the session are in somebody's
// hands, and that they are to be handed in.
func takenAll(doc map[string]any) bool {
	next := fmt.Sprint(doc["next"])
	return strings.Contains(fmt.Sprint(doc["meaning"]), "each of them is taken") && strings.Contains(next, "submit {run") && !strings.Contains(next, "wait {run") &&
		strings.Contains(fmt.Sprint(doc["messages"]), "job think was taken")
}

// A run that waits for the session has not ended, whatever else is blocked in it.
func TestARunThatWaitsHasNotEnded(t *testing.T) {
	t.Parallel()
	s := host(t, nil)
	run := s.must("start", map[string]any{
		"specYaml": twoKinds + "  - {id: send, runtime: exec, effect: scoped-write, approval: require, command: [touch, sent], owned_paths: [sent]}\n",
		"agents":   []any{map[string]any{"name": "reader", "tools": []any{"Read"}, "access": "read"}},
	})["runId"]
	doc := s.ended(run)
	for doc["phase"] != "awaiting" { // it is wanted before it parks
		doc = s.ended(run)
	}
	if doc["exitStatus"] != float64(3) || !strings.Contains(fmt.Sprint(doc["meaning"]), "await you") || !strings.Contains(fmt.Sprint(doc["next"]), "call next {run") {
		t.Errorf("wait: %v", doc)
	}
}

// What a call in another workspace than the session's says to do next can be done as it
// is, without saying the folder again.
func TestARunOfAnotherWorkspaceIsNamedByItsPath(t *testing.T) {
	t.Parallel()
	s, other := host(t, nil), host(t, nil)
	run := s.must("start", map[string]any{"specYaml": needsApproval})
	where := map[string]any{"run": run["runId"], "cwd": s.dir}
	for _, tool := range []string{"status", "wait", "report"} {
		if doc := other.must(tool, where); !strings.Contains(fmt.Sprint(doc["next"]), fmt.Sprintf("{run: %q}", run["runDir"])) && tool != "report" || doc["resource"] != nil {
			t.Errorf("%s: %v", tool, doc)
		}
	}
	if doc := other.ended(run["runDir"]); doc["exitStatus"] != float64(3) {
		t.Errorf("wait: %v", doc)
	}
	begun := other.must("start", map[string]any{"specYaml": needsApproval + "# another\n", "cwd": s.dir})
	if !strings.Contains(fmt.Sprint(begun["next"]), fmt.Sprintf("{run: %q}", begun["runDir"])) {
		t.Errorf("start: %v", begun)
	}
	other.ended(begun["runDir"])
	if doc := s.must("status", map[string]any{"run": run["runId"], "cwd": s.dir}); strings.Contains(fmt.Sprint(doc["next"]), s.dir) {
		t.Errorf("its own: %v", doc)
	}
}

// What the workspace's .env files hold is not written down with a spec, whatever its form.
func TestAWorkerRunStandsForOneOfItsCalls(t *testing.T) {
	s := host(t, nil)
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("orchestrate", args...)
		cmd.Dir, cmd.Env = s.dir, s.cmd.Env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	dir := command("new-run")
	id := filepath.Base(dir)
	told := func(tool string, args map[string]any, call string) map[string]any {
		t.Helper()
		of := filepath.Join(dir, "calls", "orchestrate-"+id+"-"+call)
		doc, refusal := s.use(tool, args)
		if tool != "output" && doc["runDir"] != of || tool != "status" && doc["file"] != nil && !strings.HasPrefix(fmt.Sprint(doc["file"]), of) {
			t.Errorf("%s of %v: %v %s", tool, args, doc, refusal)
		}
		return doc
	}
	command("dispatch", dir, "a", "--worker-cmd", "echo answer of a", "--prompt", "x")
	for _, run := range []string{id, dir} {
		told("report", map[string]any{"run": run}, "c1")
	}
	command("dispatch", dir, "b", "--worker-cmd", "echo answer of b", "--prompt", "x")
	for _, run := range []string{id, dir} {
		doc := told("status", map[string]any{"run": run}, "c2")
		if next := fmt.Sprint(doc["next"]); !strings.Contains(next, id+"-c2") {
			t.Errorf("what is next is said of %s", next)
		}
		doc = told("output", map[string]any{"run": run, "job": "a"}, "c1")
		if !strings.Contains(fmt.Sprint(doc["text"]), "answer of a") || doc["resource"] != "orchestrate://run/"+id+"-c1/a/output.md" {
			t.Errorf("the answer is %v", doc)
		}
	}
	if _, refusal := s.use("report", map[string]any{"run": id}); !strings.Contains(refusal, "2 calls that could be meant; name one: "+id+"-c2, "+id+"-c1") {
		t.Errorf("where several can be meant: %s", refusal)
	}
	if _, refusal := s.use("output", map[string]any{"run": id, "job": "none"}); !strings.Contains(refusal, "has no task") {
		t.Errorf("a task that is not there: %s", refusal)
	}
}

func TestASpecWithAValueOfADotenvIsNotKept(t *testing.T) {
	t.Parallel()
	s := host(t, nil)
	const value = "correct horse battery"
	if err := os.WriteFile(filepath.Join(s.dir, ".env"), []byte("DB_PASSWORD=\""+value+"\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(s.dir, "below")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, cwd := range []string{s.dir, below} {
		for _, tool := range []string{"plan", "start"} {
			_, refusal := s.use(tool, map[string]any{"specYaml": strings.Replace(twoKinds, "What is the answer?", "Log in with "+value, 1), "cwd": cwd})
			if !strings.Contains(refusal, "was not written down: line 5, column") || strings.Contains(refusal, value) {
				t.Errorf("%s: %s", tool, refusal)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(s.dir, "plans")); err == nil {
		t.Error("something was written")
	}
	if doc := s.must("plan", map[string]any{"specYaml": twoKinds}); doc["exitStatus"] == nil {
		t.Errorf("plan: %v", doc)
	}
}

const needsApproval = `version: 1
defaults: {timeout: 1m, expected_output: x}
arbiter: {mode: checks-only}
jobs:
  - {id: send, runtime: exec, effect: scoped-write, approval: require, command: [touch, sent], owned_paths: [sent]}
`

// blocked starts a run that only an approval is missing for.
func (s *session) blocked() (run any) {
	s.t.Helper()
	run = s.must("start", map[string]any{"specYaml": needsApproval})["runId"]
	if doc := s.ended(run); doc["exitStatus"] != float64(3) {
		s.t.Fatalf("wait: %v", doc)
	}
	return run
}

func TestTheUserApprovesInTheirClient(t *testing.T) {
	t.Parallel()
	var shown string
	s := host(t, func(message string) *sdk.ElicitResult {
		shown = message
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": true}}
	})
	run := s.blocked()
	doc := s.must("approve", map[string]any{"run": run})
	if !strings.Contains(shown, "job send needs your approval") || !strings.Contains(shown, "touch sent") || len(doc["approved"].([]any)) != 1 {
		t.Errorf("shown %q: %v", shown, doc)
	}
	if doc := s.ended(run); doc["exitStatus"] != float64(0) {
		t.Errorf("wait: %v", doc)
	}
	given, err := os.ReadFile(filepath.Join(s.dir, "plans", "reports", "orchestrate-"+run.(string), "approvals.json"))
	if err != nil || !strings.Contains(string(given), `"by": "elicitation"`) && !strings.Contains(string(given), `"by":"elicitation"`) {
		t.Errorf("%v: %s", err, given)
	}
	if _, refusal := s.use("approve", map[string]any{"run": run}); !strings.Contains(refusal, "no job of run") {
		t.Errorf("once more: %s", refusal)
	}
}

// Whatever is not a clear yes of the user leaves the job blocked, and says what they type.
func TestWithoutAYesNothingIsApproved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		asked func(string) *sdk.ElicitResult
		says  string
	}{
		"unsupported": {nil, "cannot ask its user"},
		"declined":    {func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "decline"} }, "did not approve"},
		"cancelled":   {func(string) *sdk.ElicitResult { return &sdk.ElicitResult{Action: "cancel"} }, "did not approve"},
		"unticked": {func(string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": false}}
		}, "did not approve"},
		"nonsense": {func(string) *sdk.ElicitResult {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"approve": "yes"}}
		}, "could not ask its user"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := host(t, c.asked)
			run := s.blocked()
			_, refusal := s.use("approve", map[string]any{"run": run})
			for _, want := range []string{c.says, "ask the user", "sent", fmt.Sprintf("orchestrate resume %s", run)} {
				if !strings.Contains(refusal, want) {
					t.Errorf("no %q in %s", want, refusal)
				}
			}
			if doc := s.ended(run); doc["exitStatus"] != float64(3) {
				t.Errorf("wait: %v", doc)
			}
			if _, err := os.Stat(filepath.Join(s.dir, "sent")); err == nil {
				t.Error("it was done all the same")
			}
		})
	}
}

// A run goes on when the session that began it is gone, and is stopped by another one.
func TestARunOutlivesItsSession(t *testing.T) {
	t.Parallel()
	s := host(t, nil)
	run := s.must("start", map[string]any{"specYaml": strings.Replace(needsApproval, "approval: require, command: [touch, sent]", "command: [sleep, '60']", 1)})["runId"]
	if doc := s.must("wait", map[string]any{"run": run, "seconds": 0}); doc["exitStatus"] != float64(5) {
		t.Errorf("wait: %v", doc)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again := host(t, nil)
	where := map[string]any{"run": run, "cwd": s.dir}
	if doc := again.must("status", where); doc["exitStatus"] != float64(5) {
		t.Errorf("status: %v", doc)
	}
	if doc := again.must("cancel", where); !strings.Contains(fmt.Sprint(doc["text"]), "was stopped") {
		t.Errorf("cancel: %v", doc)
	}
	if doc := again.must("wait", where); doc["exitStatus"] != float64(130) {
		t.Errorf("wait: %v", doc)
	}
	if _, refusal := again.use("approve", where); !strings.Contains(refusal, "for the user to say") {
		t.Errorf("approve: %s", refusal)
	}
}
