package mcp

import (
	"context"
	"encoding/json"
	"slices"

	"orchestrate/internal/engine"
	"orchestrate/internal/shellword"
)

// PlanIn is what plan is asked.
type PlanIn struct {
	Where
	Fully
	OfSpec
}

// PlanOut is what would happen.
type PlanOut struct {
	Said
	Spec        string         `json:"spec" jsonschema:"path of the spec; give it to start"`
	Root        string         `json:"root" jsonschema:"the workspace"`
	Blocked     bool           `json:"blocked" jsonschema:"a job, or the arbiter, has no route"`
	Jobs        []PlannedJob   `json:"jobs"`
	JobsNotIn   int            `json:"jobsLeftOut,omitempty"`
	Notes       []string       `json:"notes"`
	Published   map[string]any `json:"published,omitempty" jsonschema:"what plan --json prints; only when asked for and not too long"`
	WholeByHand string         `json:"whole" jsonschema:"the command that prints all of it"`
}

// PlannedJob is one job of a plan.
type PlannedJob struct {
	ID        string   `json:"id"`
	Task      string   `json:"task"`
	DependsOn []string `json:"dependsOn,omitempty"`
	Runtime   string   `json:"runtime,omitempty"`
	Model     string   `json:"model,omitempty"`
	Agent     string   `json:"agent,omitempty"`
	Floor     string   `json:"capabilityFloor,omitempty"`
	Risk      string   `json:"risk,omitempty"`
	Why       string   `json:"why,omitempty"`
	Effects   string   `json:"sideEffects,omitempty"`
	Blocked   string   `json:"blocked,omitempty" jsonschema:"reason and detail; absent when it has a route"`
	NextStep  string   `json:"nextStep,omitempty"`
}

func plan(ctx context.Context, c call, in PlanIn) (out PlanOut, err error) {
	path, made, err := in.file(c)
	if err != nil {
		return out, err
	}
	more, agents, err := in.args()
	if err != nil {
		return out, err
	}
	o := c.host.Call(ctx, Command{Args: append([]string{"plan", "--json"}, more...), Of: []string{path}, Cwd: c.cwd, In: agents})
	var p engine.Preview
	if json.Unmarshal([]byte(o.Out), &p) != nil || p.Root == "" {
		return out, refused("plan", o, path, made)
	}
	out = PlanOut{Spec: path, Root: p.Root, Blocked: p.Blocked, Published: in.published(o.Out), WholeByHand: "orchestrate plan " + shellword.Quote(path) + " --json"}
	all := p.Jobs
	if p.Arbiter != nil {
		all = append(slices.Clone(all), *p.Arbiter)
	}
	var jobs []PlannedJob
	for _, j := range all {
		jobs = append(jobs, plannedJob(j))
	}
	out.Jobs, out.JobsNotIn = few(jobs, mostList)
	out.Notes, _ = few(p.Notes, mostMessages)
	out.Said = said(o, "every job has a route", "tell the user what would run, then call start with the same spec")
	if o.Exit == exitBlocked {
		out.Said = said(o, "something is blocked: see blocked and nextStep of each job", "do what nextStep says, or change the spec; a job that only waits for an approval can be started and is then asked about with approve")
	}
	out.add(in.missing(out.Published, out.WholeByHand))
	return out, nil
}

func plannedJob(j engine.JobPreview) PlannedJob {
	p := PlannedJob{
		ID: j.ID, Task: j.Task, DependsOn: j.DependsOn, Runtime: j.Route.Runtime, Model: j.Route.Model, Agent: j.Route.Agent,
		Floor: j.Route.CapabilityFloor, Risk: j.Route.Risk, Why: short(j.Route.Why), Effects: short(j.SideEffects),
	}
	if b := j.Blocked; b != nil {
		p.Blocked, p.NextStep = short(string(b.Reason)+": "+b.Detail), short(b.NextStep)
	}
	return p
}

// short bounds one of many texts.
func short(text string) string {
	const most = 300
	text, _ = cut(text, most, "explain")
	return text
}
