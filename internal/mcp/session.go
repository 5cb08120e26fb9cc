package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"orchestrate/internal/handoff"
	engreport "orchestrate/internal/report"
)

// NextIn is what next is asked.
type NextIn struct {
	Where
	OfRun
	Seconds *float64 `json:"seconds,omitempty" jsonschema:"how long to wait for a request to come; left out: 50"`
	Lease   string   `json:"lease,omitempty" jsonschema:"how long the request is yours, such as 20m; left out: the job's timeout"`
	By      string   `json:"by,omitempty" jsonschema:"how you call yourself, for people who look at the run"`
}

// NextOut is one request, or that there is none.
type NextOut struct {
	Said
	RunID   string           `json:"runId,omitempty"`
	Request *handoff.Request `json:"request,omitempty" jsonschema:"what the agent is to do; absent when there is nothing to take"`
	Lease   *handoff.Lease   `json:"lease,omitempty" jsonschema:"until when the request is yours"`
	Others  []handoff.Other  `json:"others,omitempty" jsonschema:"jobs that are with the session and that somebody else has, or whose end is not proven"`
	Cut     string           `json:"cut,omitempty" jsonschema:"said when the request was too long for this result, and where all of it is"`
}

func next(ctx context.Context, c call, in NextIn) (out NextOut, err error) {
	run := c.named(in.Run)
	args := []string{"next", "--json", "--wait", seconds(in.Seconds).String()}
	if in.Lease != "" {
		args = append(args, "--lease="+in.Lease)
	}
	if in.By != "" {
		args = append(args, "--by="+in.By)
	}
	o := c.command(ctx, args, run)
	var got handoff.Handout
	if json.Unmarshal([]byte(o.Out), &got) != nil {
		return out, failed("next", o, "")
	}
	run = c.meant(run, got.RunID)
	out.RunID, out.Request, out.Lease = got.RunID, got.Request, got.Lease
	out.Others, _ = few(got.Others, mostMessages)
	r := out.Request
	switch {
	case r == nil && (o.Exit == exitAwaiting || o.Exit == exitRunning && got.Standing == engreport.Awaiting):
		out.Said = said(o, "nothing to take: "+allTaken, handIn(run)...)
		return out, nil
	case r == nil:
		out.Said = said(o, "nothing to take: "+ofRun(o.Exit, ""), then(o.Exit, run)...)
		return out, nil
	}
	what := "do exactly request.prompt"
	prompt, lists := slim(r)
	if prompt {
		what = fmt.Sprintf("read the file %s and do exactly what it says", r.PromptFile)
		out.Cut = "the prompt is too long for this result: it is the file " + r.PromptFile + ". "
	}
	if lists {
		out.Cut += "Lists of the request were shortened: all of it is in request.json beside " + r.PromptFile
	}
	out.Said = said(o, "one request is yours until the lease ends",
		fmt.Sprintf("let agent %q %s, working in request.cwd and writing only where request.mayWrite says", r.Agent, what),
		fmt.Sprintf("then call submit {run: %q, job: %q, attempt: %q, result: its final answer}, or with failed: why it could not", run, r.Job, r.Attempt))
	return out, nil
}

// slim makes a request fit into a result. A long prompt becomes one that names the file it
// is in, never one with a hole: whoever is given it does all of it. lists says that
// something else was shortened.
func slim(r *handoff.Request) (prompt, lists bool) {
	const most = 2 << 10
	if size(r) > mostText && size(r.Prompt) > mostText/2 {
		prompt, r.Prompt = true, fmt.Sprintf("Read the file %s and do exactly what it says.", r.PromptFile)
	}
	if size(r) <= mostText {
		return prompt, false
	}
	var more int
	for _, list := range []*[]string{&r.MayRead, &r.MayWrite, &r.AllowedTools, &r.DisallowedTools, &r.Outputs, &r.Checks, &r.Controls, &r.Constrained} {
		if *list != nil {
			*list, more = few(*list, most)
			lists = lists || more > 0
		}
	}
	var long bool
	r.ExpectedOutput, long = cut(r.ExpectedOutput, most, r.PromptFile)
	return prompt, lists || long
}

// SubmitIn is what submit is asked.
type SubmitIn struct {
	Where
	OfRun
	Job     string  `json:"job" jsonschema:"as the request says"`
	Attempt string  `json:"attempt" jsonschema:"as the request says"`
	Result  *string `json:"result,omitempty" jsonschema:"the agent's final answer, whole; either this or failed"`
	Failed  string  `json:"failed,omitempty" jsonschema:"why it could not be done, or that the agent has ended without an answer"`
	Agent   string  `json:"agent,omitempty" jsonschema:"who did it, if not the agent of the request"`
	Model   string  `json:"model,omitempty" jsonschema:"the model that answered, if you know"`
	Usage   *Usage  `json:"usage,omitempty" jsonschema:"what it used, if you know"`
}

// Usage is what an agent used; what is left out is unknown.
type Usage struct {
	InputTokens  *int64   `json:"inputTokens,omitempty"`
	OutputTokens *int64   `json:"outputTokens,omitempty"`
	CostUSD      *float64 `json:"costUsd,omitempty"`
}

// SubmitOut is what came of it.
type SubmitOut struct {
	Said
	Job      string   `json:"job"`
	Attempt  string   `json:"attempt"`
	TakenIn  bool     `json:"takenIn" jsonschema:"the engine has it; else it waits in the run directory and is taken in when an engine is there"`
	Repeated bool     `json:"repeated,omitempty" jsonschema:"the same was handed in before, which changes nothing"`
	Status   string   `json:"status,omitempty" jsonschema:"of the job now"`
	Reason   string   `json:"reason,omitempty" jsonschema:"why, when it failed"`
	Phase    string   `json:"phase,omitempty" jsonschema:"of the run now"`
	Redacted []string `json:"redacted,omitempty" jsonschema:"kinds of secrets that were taken out of the result"`
}

// command is the command line that hands it in.
func (in SubmitIn) command(c call, run string) (cmd Command, err error) {
	cmd = Command{Args: []string{"submit", "--json", "--attempt=" + in.Attempt}, Of: []string{run, in.Job}, Cwd: c.cwd}
	switch {
	case (in.Result == nil) == (in.Failed == ""):
		return cmd, errors.New("give either result (the final answer) or failed (why there is none)")
	case in.Result != nil:
		cmd.In, cmd.Args = *in.Result, append(cmd.Args, "--result=-")
	default:
		cmd.Args = append(cmd.Args, "--failed="+in.Failed)
	}
	if in.Agent != "" {
		cmd.Args = append(cmd.Args, "--agent="+in.Agent)
	}
	if in.Model != "" {
		cmd.Args = append(cmd.Args, "--model="+in.Model)
	}
	if in.Usage == nil {
		return cmd, nil
	}
	usage, err := json.Marshal(in.Usage)
	cmd.Args = append(cmd.Args, "--usage="+string(usage))
	return cmd, err
}

func submit(ctx context.Context, c call, in SubmitIn) (out SubmitOut, err error) {
	run := c.named(in.Run)
	cmd, err := in.command(c, run)
	if err != nil {
		return out, err
	}
	o := c.host.Call(ctx, cmd)
	var got handoff.Receipt
	if json.Unmarshal([]byte(o.Out), &got) != nil || o.Exit != exitOK {
		return out, failed("submit", o, fmt.Sprintf("call status {run: %q} to see where the job stands; a result of another attempt id is never taken", run))
	}
	out = SubmitOut{Job: in.Job, Attempt: in.Attempt, TakenIn: got.TakenIn, Repeated: got.Repeated, Status: string(got.Status), Reason: short(got.Reason), Phase: got.Phase}
	out.Redacted, _ = few(got.Redacted, mostMessages)
	out.Said = said(o, "it is handed in; the engine checks it as any other result: see status",
		fmt.Sprintf("call next {run: %q, seconds: 0} for another request, else wait {run: %q}", run, run))
	return out, nil
}
