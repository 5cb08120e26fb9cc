//go:build e2e && linux

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// inspection is a workspace whose server the protocol's public inspector talks to.
type inspection struct{ *lab }

// inspect has the inspector do one thing; each time it starts a server of its own.
func (i inspection) inspect(args ...string) (out, complaint string, exit int) {
	i.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	inspector := filepath.Join(need(i.t, "ORCHESTRATE_E2E_CLIS"), "mcp-inspector")
	cmd := exec.CommandContext(ctx, node(i.t), append([]string{inspector, "--cli", i.program(), "mcp"}, args...)...)
	cmd.Dir, cmd.Env = i.dir, i.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		i.t.Fatalf("%q: %v", args, err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// use calls a tool with arguments (name=value) and returns its typed result, or what a
// model reads of an error.
func (i inspection) use(tool string, args ...string) (doc map[string]any, refusal string) {
	i.t.Helper()
	all := []string{"--method", "tools/call", "--tool-name", tool}
	for _, a := range args {
		all = append(all, "--tool-arg", a)
	}
	out, complaint, exit := i.inspect(all...)
	var result struct {
		Content           []struct{ Text string }
		StructuredContent map[string]any
		IsError           bool
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil || len(result.Content) == 0 {
		i.t.Fatalf("%s %q: exit %d, %v\n%s%s", tool, args, exit, err, out, complaint)
	}
	if result.IsError {
		return nil, result.Content[0].Text
	}
	if exit != 0 || result.StructuredContent == nil {
		i.t.Errorf("%s %q: exit %d\n%s%s", tool, args, exit, out, complaint)
	}
	return result.StructuredContent, ""
}

const inspected = `version: 1
defaults: {timeout: 1m, expected_output: x}
arbiter: {mode: checks-only}
jobs:
  - {id: think, runtime: internal, task: research, prompt: What is the answer?}
  - {id: send, runtime: exec, effect: scoped-write, approval: require, command: [touch, sent], owned_paths: [sent]}
`

// The inspector finds nothing wrong with the tools, and calls each of them.
func TestTheInspectorCallsEveryTool(t *testing.T) {
	t.Parallel()
	i := inspection{bareLab(t, idle, nil)}
	i.repository("jobs.yaml", inspected)

	out, complaint, exit := i.inspect("--method", "tools/list", "--strict")
	var list struct{ Tools []struct{ Name string } }
	ok(t, json.Unmarshal([]byte(out), &list))
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	if want := "approve cancel doctor explain next output plan report start status submit wait"; exit != 0 || strings.Join(names, " ") != want || strings.Contains(complaint, "Warning") {
		t.Errorf("tools/list: exit %d, %v\n%s", exit, names, complaint)
	}

	spec := []string{"spec=jobs.yaml", `agents=[{"name": "reader", "tools": ["Read"], "access": "read"}]`}
	if doc, no := i.use("doctor", `runtimes=["exec"]`); doc["exitStatus"] != 0.0 {
		t.Errorf("doctor: %v %s", doc, no)
	}
	if doc, no := i.use("plan", spec...); doc["exitStatus"] != 3.0 { // it needs an approval
		t.Errorf("plan: %v %s", doc, no)
	}
	doc, no := i.use("start", spec...)
	id, _ := doc["runId"].(string)
	run := "run=" + id
	if id == "" {
		t.Fatalf("start: %v %s", doc, no)
	}
	doc, no = i.use("next", run, "seconds=50")
	request, _ := doc["request"].(map[string]any)
	attempt, _ := request["attempt"].(string)
	if doc["runId"] != id || attempt == "" {
		t.Fatalf("next: %v %s", doc, no)
	}
	if doc, no := i.use("submit", run, "job=think", "attempt="+attempt, "result=It is so."); doc["takenIn"] != true {
		t.Errorf("submit: %v %s", doc, no)
	}
	if doc, no := i.use("wait", run); doc["exitStatus"] != 3.0 {
		t.Errorf("wait: %v %s", doc, no)
	}
	if doc, no := i.use("status", run); doc["phase"] != "ended" {
		t.Errorf("status: %v %s", doc, no)
	}
	if doc, no := i.use("output", run, "job=think"); !strings.HasPrefix(text(doc["text"]), "It is so.") {
		t.Errorf("output: %v %s", doc, no)
	}
	if doc, no := i.use("explain", run, "job=send"); doc["reason"] != "approval" {
		t.Errorf("explain: %v %s", doc, no)
	}
	if doc, no := i.use("report", run); !strings.Contains(text(doc["text"]), "Orchestrate report") {
		t.Errorf("report: %v %s", doc, no)
	}
	if _, no := i.use("approve", run); !strings.Contains(no, "ask the user") || !strings.Contains(no, "orchestrate resume "+id) {
		t.Errorf("approve: %s", no)
	}
	if doc, no := i.use("cancel", run); !strings.Contains(text(doc["text"]), "had ended already") {
		t.Errorf("cancel: %v %s", doc, no)
	}
	out, complaint, _ = i.inspect("--method", "resources/read", "--uri", "orchestrate://run/"+id+"/think/output.md")
	if !strings.Contains(out, "It is so.") {
		t.Errorf("resources/read: %s%s", out, complaint)
	}
	if out, complaint, _ = i.inspect("--method", "resources/templates/list"); !strings.Contains(out, "changes.patch") {
		t.Errorf("resources/templates/list: %s%s", out, complaint)
	}
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
