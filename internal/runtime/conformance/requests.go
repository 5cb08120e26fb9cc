package conformance

import (
	"cmp"
	"path/filepath"
	"testing"

	"orchestrate/internal/runtime"
)

// prompt is one that would be read as flags anywhere but on standard input.
const prompt = "--version -p conformance-prompt\n@/etc/passwd second line"

// session is the id of a session as every program would take it.
const session = "01234567-89ab-4cde-8f01-23456789abcd"

// answerSchema is one as the engine gives it.
const answerSchema = `{"type":"object","additionalProperties":false,"required":["ok"],"properties":{"ok":{"type":"string","enum":["yes","no"]}}}`

// requests are one of every kind that the engine makes, as far as the profile says
// that it is possible.
func requests(t *testing.T, p runtime.Profile) (all []runtime.Request) {
	t.Helper()
	dir, out, in := t.TempDir(), t.TempDir(), t.TempDir()
	for _, access := range []runtime.Access{runtime.AccessRead, runtime.AccessEdit, runtime.AccessShell} {
		plain := runtime.Request{Job: "j", Attempt: 1, Task: "scout", Prompt: prompt, Dir: dir, Out: out, Access: access}
		all = append(all, plain)
		add := func(change func(*runtime.Request)) {
			req := plain
			change(&req)
			all = append(all, req)
		}
		add(func(r *runtime.Request) { r.Task = "research" })
		add(func(r *runtime.Request) { r.Resume = session })
		add(func(r *runtime.Request) { r.ReadDirs = []string{in} })
		add(func(r *runtime.Request) { r.AllowedTools = []string{} })
		add(func(r *runtime.Request) { r.Project = true })
		add(func(r *runtime.Request) { r.MaxTurns = 7 })
		add(func(r *runtime.Request) { r.Leaves = access == runtime.AccessRead && p.Has(runtime.ControlArtifacts) })
		add(func(r *runtime.Request) {
			r.AnswerSchema, r.AnswerSchemaAt = []byte(answerSchema), filepath.Join(in, "answer.schema.json")
		})
		add(func(r *runtime.Request) { r.Model = modelOf(p) })
		add(func(r *runtime.Request) { r.Model, r.Effort = effortOf(p) })
		for _, agent := range p.Agents {
			add(func(r *runtime.Request) { r.Agent = agent.Name })
		}
	}
	return all
}

func modelOf(p runtime.Profile) string {
	if len(p.Models) > 0 {
		return cmp.Or(p.DefaultModel, p.Models[0].ID)
	}
	return cmp.Or(p.DefaultModel, "some-model")
}

// effortOf is a model that has reasoning depths, with one of them.
func effortOf(p runtime.Profile) (model, effort string) {
	for _, m := range p.Models {
		if len(m.Efforts) > 0 {
			return m.ID, m.Efforts[0]
		}
	}
	return "", ""
}
